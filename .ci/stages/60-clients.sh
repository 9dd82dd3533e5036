# The clients people use, against the server on recordings: openai for Python and Node, openai-go.
set -euo pipefail
root=$PWD
work=$(mktemp -d)
source .ci/clients/serve.sh
trap 'stop_server; rm -rf "$work"' EXIT
start_server "$work" --replay .ci/clients/recordings --responses-store none

python3 -m venv "$work/python"
"$work/python/bin/pip" install --quiet --disable-pip-version-check openai==3.57.0
"$work/python/bin/python" .ci/clients/chat.py "$url" .ci/clients

mkdir "$work/node"
cp .ci/clients/chat.mjs "$work/node"
(cd "$work/node" && npm install --silent --no-audit --no-fund openai@6.49.0 && node chat.mjs "$url" "$root/.ci/clients")

# A module of its own, so that this repository does not depend on the client.
mkdir "$work/go"
cp .ci/clients/chat.go.in "$work/go/main.go"
cd "$work/go"
go mod init example.com/clients 2> get.log
go get github.com/openai/openai-go/v3@v3.99.0 2>> get.log || { cat get.log; exit 1; }
go run . "$url" "$root/.ci/clients"

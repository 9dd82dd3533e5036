# The clients people use, against the server on recordings: openai for Python and Node, openai-go.
set -euo pipefail
root=$PWD
work=$(mktemp -d)
server=
cleanup() {
  if [[ -n $server ]]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
  rm -rf "$work"
}
trap cleanup EXIT

go build -o "$work/parlance" ./cmd/parlance
"$work/parlance" serve --host 127.0.0.1 --port 0 --replay .ci/clients/recordings --log-format json 2> "$work/log" &
server=$!
url=
for _ in $(seq 100); do
  url=$(grep -o '"address":"[^"]*"' "$work/log" | head -1 | cut -d'"' -f4 || true)
  [[ -n $url ]] && break
  sleep 0.1
done
[[ -n $url ]] || { cat "$work/log"; exit 1; }
url=http://$url

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

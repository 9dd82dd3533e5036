#!/usr/bin/env bash
# Runs the scripts of this folder against `parlance serve` in front of the engine at PARLANCE_LLAMACPP_URL. The template is
# one that shows tools, since the model's own knows none; and every call is held to its schema, since the model is small.
set -euo pipefail
clients=$(bash .ci/clients/install.sh)
work=$(mktemp -d)
source .ci/clients/serve.sh
trap 'stop_server; rm -rf "$work"' EXIT
mkdir "$work/node"
ln -s "$clients/node_modules" "$work/node/node_modules"
cp .ci/engine-clients/*.mjs "$work/node"

serve() {
  start_server "$work" --engine llamacpp --engine-url "$PARLANCE_LLAMACPP_URL" --engine-timeout 10m --served-model-name smollm2 \
    --tool-call-parser hermes --enable-auto-tool-choice --tool-strict-level parameter --chat-template hermes \
    --responses-store "sqlite:$work/store/responses.db" "$@"
}
run() {
  timeout 900 "$clients/python/bin/python" ".ci/engine-clients/$1.py" "$url" smollm2 || failed=1
  if grep '"msg":"panic"' "$work/log"; then
    failed=1
  fi
}
failed=0
export PYTHONDONTWRITEBYTECODE=1
serve --reasoning-parser qwen3
run thinking
stop_server
serve
for script in chat responses messages loops; do
  run "$script"
done
cd "$work/node"
for script in messages loops; do
  timeout 900 node "$script.mjs" "$url" smollm2 || failed=1
done
if grep '"msg":"panic"' "$work/log"; then
  failed=1
fi
exit $failed

#!/usr/bin/env bash
# Runs the scripts of this folder against `parlance serve` in front of the engine at PARLANCE_LLAMACPP_URL. The template is
# one that shows tools, since the model's own knows none; and every call is held to its schema, since the model is small.
set -euo pipefail
source .ci/clients/scripts.sh

serve() {
  start_server "$work" --engine llamacpp --engine-url "$PARLANCE_LLAMACPP_URL" --engine-timeout 10m --served-model-name smollm2 \
    --tool-call-parser hermes --enable-auto-tool-choice --tool-strict-level parameter --chat-template hermes \
    --responses-store "sqlite:$work/store/responses.db" "$@"
}
serve --reasoning-parser qwen3
run_script .ci/engine-clients/thinking.py smollm2
stop_server
serve
for script in chat.py responses.py messages.py loops.py messages.mjs loops.mjs; do
  run_script ".ci/engine-clients/$script" smollm2
done
exit $failed

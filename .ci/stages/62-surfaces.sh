# The Responses and the Messages interface with the clients that people use, on recordings: openai and anthropic for Python,
# Anthropic's for TypeScript, agents of the OpenAI Agents SDK, pydantic-ai and the Vercel AI SDK on every interface; and
# every event of every stream against the types that the official clients publish. The stage engine-clients has the same
# clients in front of a real engine.
set -euo pipefail
clients=$(bash .ci/clients/install.sh)
work=$(mktemp -d)
source .ci/clients/serve.sh
trap 'stop_server; rm -rf "$work"' EXIT
mkdir "$work/node"
ln -s "$clients/node_modules" "$work/node/node_modules"
cp .ci/clients/messages.mjs .ci/clients/loops.mjs "$work/node"

start_server "$work" --replay .ci/clients/recordings --responses-store "sqlite:$work/store/responses.db"
failed=0
for script in events responses messages loops; do
  "$clients/python/bin/python" ".ci/clients/$script.py" "$url" || failed=1
done
cd "$work/node"
for script in messages loops; do
  node "$script.mjs" "$url" || failed=1
done
if grep -q '"msg":"panic"' "$work/log"; then
  grep '"msg":"panic"' "$work/log"
  failed=1
fi
exit $failed

# The Responses and the Messages interface with the clients that people use, on recordings: openai and anthropic for Python,
# Anthropic's for TypeScript, agents of the OpenAI Agents SDK, pydantic-ai and the Vercel AI SDK on every interface; and
# every event of every stream against the types that the official clients publish.
set -euo pipefail
root=$PWD
work=$(mktemp -d)
source .ci/clients/serve.sh
trap 'stop_server; rm -rf "$work"' EXIT

python3 -m venv "$work/python"
"$work/python/bin/pip" install --quiet --disable-pip-version-check openai==3.57.0 anthropic==2.14.0 openai-agents==0.24.0 \
  'pydantic-ai-slim[openai,anthropic]==2.68.0'
mkdir "$work/node"
cp .ci/clients/messages.mjs .ci/clients/loops.mjs "$work/node"
(cd "$work/node" && npm install --silent --no-audit --no-fund @anthropic-ai/sdk@1.14.0 ai@6.0.326 @ai-sdk/openai@3.0.141 \
  @ai-sdk/openai-compatible@2.0.92 @ai-sdk/anthropic@3.0.140 zod@4.4.3)

start_server "$work" --replay .ci/clients/recordings --responses-store "sqlite:$work/store/responses.db"
failed=0
for script in events responses messages loops; do
  "$work/python/bin/python" ".ci/clients/$script.py" "$url" || failed=1
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

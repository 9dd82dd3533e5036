# The Responses and the Messages interface with the clients that people use, on recordings: openai and anthropic for Python,
# Anthropic's for TypeScript, agents of the OpenAI Agents SDK, pydantic-ai and the Vercel AI SDK on every interface; and
# every event of every stream against the types that the official clients publish. The stage engine-clients has the same
# clients in front of a real engine.
set -euo pipefail
source .ci/clients/scripts.sh
start_server "$work" --replay .ci/clients/recordings --responses-store "sqlite:$work/store/responses.db"
for script in events.py responses.py messages.py loops.py messages.mjs loops.mjs; do
  run_script ".ci/clients/$script"
done
exit $failed

# The clients that people use, in front of a real engine: llama.cpp's server with a small model. The openai and anthropic
# clients for Python, Anthropic's for TypeScript, and agents of the OpenAI Agents SDK, pydantic-ai and the Vercel AI SDK that
# are made to call a tool in their first step and are then left to themselves.
set -euo pipefail
bash .ci/engine/with-engine.sh bash .ci/engine-clients/run.sh

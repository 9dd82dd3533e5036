# Coding agents, offline, against a model that is a script in a real wire format: Codex CLI on Responses (three ways in which
# it declares its tools), Claude Code on Messages, Qwen Code on chat, opencode on all three. Each must read a file, mend it
# and report in exactly as many requests as the script has steps. They run in a network namespace with the loopback alone.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

export DEBIAN_FRONTEND=noninteractive
if ! command -v ip > /dev/null; then
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends iproute2 > /dev/null
fi
mkdir "$work/node"
(cd "$work/node" && npm install --silent --no-audit --no-fund @openai/codex@0.171.0 @anthropic-ai/claude-code@2.1.332 \
  @qwen-code/qwen-code@0.24.4 opencode-ai@1.18.33)
go build -o "$work/parlance" ./cmd/parlance
python3 .ci/agents/agents.py prepare "$work"
unshare --net --mount bash .ci/agents/offline.sh "$work" "$work/node/node_modules/.bin"

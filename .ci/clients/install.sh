#!/usr/bin/env bash
# Installs the clients and agents that people use, for Python and Node, into a folder outside the repository, once. Prints
# the folder: python/bin/python has the one half, and node_modules/ the other. PARLANCE_CLIENTS_CACHE says where.
set -euo pipefail
folder=${PARLANCE_CLIENTS_CACHE:-${TMPDIR:-/tmp}/parlance-clients}
python=(openai==3.57.0 anthropic==2.14.0 openai-agents==0.24.0 'pydantic-ai-slim[openai,anthropic]==2.68.0')
node=(@anthropic-ai/sdk@1.14.0 ai@6.0.326 @ai-sdk/openai@3.0.141 @ai-sdk/openai-compatible@2.0.92 @ai-sdk/anthropic@3.0.140 zod@4.4.3)
mkdir -p "$folder"
exec 9> "$folder/lock"
flock 9
if [[ $(cat "$folder/installed" 2> /dev/null) != "${python[*]} ${node[*]}" ]]; then
  rm -rf "$folder/python" "$folder/node_modules" "$folder/installed" "$folder"/package*.json
  python3 -m venv "$folder/python"
  "$folder/python/bin/pip" install --quiet --disable-pip-version-check "${python[@]}" >&2
  (cd "$folder" && npm install --silent --no-audit --no-fund --prefix "$folder" "${node[@]}") >&2
  echo "${python[*]} ${node[*]}" > "$folder/installed"
fi
echo "$folder"

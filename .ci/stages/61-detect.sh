# The detector on public chat templates: those that the llama-cpp-python package carries. They are fetched, and not kept.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: -d "$work" 'llama-cpp-python==0.3.36' > "$work/log" 2>&1 || true
archive=$(find "$work" -name '*.tar.gz' | head -1)
if [[ -z $archive ]]; then
  cat "$work/log"
  exit 1
fi
tar -xzf "$archive" -C "$work" --wildcards '*/models/templates/*.jinja'
folder=$(dirname "$(find "$work" -name '*.jinja' | head -1)")
PARLANCE_TEMPLATES="$folder" go test ./detect -count=1 -run TestPublicTemplates -v

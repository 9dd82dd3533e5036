# Our chat templates against transformers: every template with every conversation prints the same bytes, or both refuse;
# and a conversation of 40 messages with 20 tools takes at most two thirds of the time that transformers takes, measured
# in this run. Installs transformers in a folder of its own.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check 'transformers==5.20.2' 'jinja2==3.1.6'
go build -o "$work/renderchats" ./internal/cmd/renderchats
"$work/venv/bin/python" .ci/compare_templates.py "$work/renderchats"

# The ground-truth calls of BFCL through every format, whole and in three random splits: no difference but the counted
# exceptions, whose figures stand in docs/round-trip.md. The data come with the package bfcl-eval; only its files are used.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps bfcl-eval==2026.3.23
data=$("$folder/venv/bin/python" -c 'import importlib.util, pathlib; print(pathlib.Path(importlib.util.find_spec("bfcl_eval").origin).parent / "data")')
"$folder/venv/bin/python" .ci/round-trip/calls.py "$data" > "$folder/calls.jsonl"
go run ./internal/cmd/roundtrip "$folder/calls.jsonl"

# What is written against what the chat templates write, byte for byte: equal, or a listed reason.
go test ./render -run 'Test(Turns|Templates|PublicTemplates|EveryFormatHasATurn)$' -count=1 -v | sed -n 's/^ *style_test.go:[0-9]*: //p; /^\(ok\|FAIL\|---\)/p'

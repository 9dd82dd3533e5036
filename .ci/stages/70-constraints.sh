#!/usr/bin/env bash
# The constraints against the engines' own acceptors, xgrammar and llguidance in the releases that vLLM 0.33.0 asks for:
# each compiles what we write for it, accepts what satisfies it and refuses what does not. And the tool schemas of the
# Berkeley Function Calling Leaderboard, read back in every format. And how long xgrammar takes to compile our structural
# tags, against the reference's for the same tools.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
pip() { "$work/venv/bin/pip" install --quiet --disable-pip-version-check "$@" 2>"$work/pip" || { cat "$work/pip" >&2; return 1; }; }
# xgrammar and bfcl-eval name torch and much else that neither compiling nor the data needs.
pip --no-deps xgrammar==0.2.8 'llguidance>=1.7,<1.8' bfcl-eval==2026.3.23
pip apache-tvm-ffi 'numpy<3' pydantic typing-extensions
python="$work/venv/bin/python"

go build -o "$work/samples" ./internal/cmd/constraintsamples
"$python" .ci/constraints/bfcl.py >"$work/bfcl.jsonl"

"$work/samples" -texts 5 constraint/testdata/tools.json >"$work/formats.jsonl"
"$work/samples" -texts 3 -ugly 245 >"$work/ugly.jsonl"
"$work/samples" -texts 2 -sets "$work/bfcl.jsonl" -every 10 >"$work/leaderboard.jsonl"
for set in formats ugly leaderboard; do
  echo "$set:"
  "$python" .ci/constraints/acceptors.py "$work/$set.jsonl"
done

# Over all tags ours may not take longer than the reference's. Those of one key may, by as much as machines differ in. With
# few tools it may be more, as what stands around the calls weighs more then: kimi_k3 holds two texts against longer
# markers than the reference, which forbids any of its markers in them.
model=$(find "$(bash .ci/engine/install.sh)/venv" -name '*.gguf')
for limits in '1 1.75' '13 1.25'; do
  read -r copies most <<<"$limits"
  "$work/samples" -reference constraint/testdata/reference.jsonl -copies "$copies" constraint/testdata/tools.json >"$work/pairs.jsonl"
  "$python" .ci/constraints/compiling.py "$work/pairs.jsonl" "$model" "$most"
done

PARLANCE_BFCL_TOOLS="$work/bfcl.jsonl" go test ./constraint -run 'TestBFCL$' -count=1 -v

# Valid calls of all schemas as every format renders them, and calls against them.
PARLANCE_EVERY_FORMAT=1 go test ./constraint -run 'TestRenderedCalls$' -count=1 -v | grep -v '^ *=== \|--- PASS: TestRenderedCalls/'

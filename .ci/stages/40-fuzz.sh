# Every fuzz target for a few seconds. FUZZ_TIME makes it longer.
set -euo pipefail
for package in $(go list ./...); do
  for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
    printf '%s %s: ' "$package" "$target"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZ_TIME:-2s}" "$package" > fuzz.log 2>&1 || { cat fuzz.log; rm -f fuzz.log; exit 1; }
    grep -o 'execs: [0-9]*' fuzz.log | tail -1
    rm -f fuzz.log
  done
done

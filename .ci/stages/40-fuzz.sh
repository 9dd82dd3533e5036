# Every fuzz target for some hundreds of inputs. FUZZ_TIME makes it longer, for example 60s. Each package is built once.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for package in $(go list ./...); do
  path=$(go list -f '{{.Dir}}' "$package")
  grep -qs '^func Fuzz' "$path"/*_test.go || continue
  for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz'); do
    printf '%s %s: ' "$package" "$target"
    if ! go test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZ_TIME:-500x}" "$package" > "$folder/log" 2>&1; then
      cat "$folder/log"
      exit 1
    fi
    # A target whose seeds alone are more than that many inputs runs only its seeds.
    { grep -o 'execs: [0-9]*' "$folder/log" || grep -o 'baseline coverage: [0-9]* *[0-9/]*' "$folder/log"; } | tail -1 | grep . || { cat "$folder/log"; exit 1; }
  done
done

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
    grep -o 'execs: [0-9]*' "$folder/log" | tail -1 || { cat "$folder/log"; exit 1; }
  done
done

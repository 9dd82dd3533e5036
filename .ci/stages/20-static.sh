# Formatting, vet, staticcheck, a build without C, and what is generated being current.
set -euo pipefail
unformatted=$(gofmt -l .)
if [[ -n $unformatted ]]; then
  printf 'not formatted:\n%s\n' "$unformatted"
  exit 1
fi
go vet ./...
go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...
CGO_ENABLED=0 go build ./...
go mod tidy -diff

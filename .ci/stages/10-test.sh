# The README's test command, word for word, in a build without C.
set -euo pipefail
command=$(grep -m1 -o 'GOTOOLCHAIN=auto go test [^`]*' README.md)
echo "$command"
export CGO_ENABLED=0
eval "$command"

# The README's test command, word for word.
set -euo pipefail
command=$(grep -m1 -o 'GOTOOLCHAIN=auto go test [^`]*' README.md)
echo "$command"
eval "$command"

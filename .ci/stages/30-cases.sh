# Every case in every chunking, and a million random splits.
set -euo pipefail
CGO_ENABLED=0 go run ./cmd/parlance check --splits 1100 conformance/cases

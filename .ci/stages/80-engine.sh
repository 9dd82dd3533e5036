# A real engine: llama.cpp's server with a small model. Streams, stop strings, special tokens, calls under a grammar, clients
# that leave.
set -euo pipefail
bash .ci/engine/with-engine.sh go test -count=1 -timeout 20m -run '^TestReal' -v ./engine ./server ./constraint

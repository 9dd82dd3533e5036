# Started in a network namespace of its own: server and agents see the loopback and nothing else.
# Usage: offline.sh WORK BINARIES [NAME…]
set -euo pipefail
work=$1
source .ci/clients/serve.sh
trap stop_server EXIT
ip link set lo up
echo 'nameserver 127.0.0.1' > "$work/resolv.conf"
mount --bind "$work/resolv.conf" /etc/resolv.conf
start_server "$work" --replay "$work/recordings" --responses-store none
python3 .ci/agents/agents.py run "$work" "$url" "$work/log" "${@:2}"

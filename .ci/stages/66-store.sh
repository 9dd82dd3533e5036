# Stored responses outlive their server: it is killed (SIGKILL) in the middle of 1,000 of them, on SQLite and on PostgreSQL,
# and none that a client was told of is lost, none is there by half. The tests of the store run on PostgreSQL too. Installs
# PostgreSQL from Debian's packages, and runs a server of its own.
set -euo pipefail
work=$(mktemp -d)
data=
cleanup() {
  if [[ -n $data ]]; then runuser -u postgres -- "$bin/pg_ctl" -D "$data" -m immediate -s stop || true; fi
  rm -rf "$work"
}
trap cleanup EXIT

if ! ls /usr/lib/postgresql/*/bin/initdb > /dev/null 2>&1; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends postgresql-common > "$work/apt.log" 2>&1 || { cat "$work/apt.log"; exit 1; }
  # The package would start a server.
  sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf
  apt-get install -y -qq --no-install-recommends postgresql > "$work/apt.log" 2>&1 || { cat "$work/apt.log"; exit 1; }
fi
bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | tail -1)
mkdir -m 700 "$work/postgres"
chmod 711 "$work"
chown postgres "$work/postgres"
runuser -u postgres -- "$bin/initdb" -D "$work/postgres/data" -A trust -U postgres > "$work/initdb.log" || { cat "$work/initdb.log"; exit 1; }
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
runuser -u postgres -- "$bin/pg_ctl" -D "$work/postgres/data" -s -w -l "$work/postgres/log" \
  -o "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories=$work/postgres" start || { cat "$work/postgres/log"; exit 1; }
data=$work/postgres/data

export PARLANCE_TEST_POSTGRES="postgres://postgres@127.0.0.1:$port/postgres?sslmode=disable"
go test -count=1 ./server/store

go build -o "$work/parlance" ./cmd/parlance
go build -o "$work/killstore" ./internal/cmd/killstore
runuser -u postgres -- "$bin/createdb" -h 127.0.0.1 -p "$port" -U postgres kill
for store in "sqlite:$work/store/responses.db" "postgres://postgres@127.0.0.1:$port/kill?sslmode=disable"; do
  printf '%s: ' "${store%%:*}"
  "$work/killstore" -parlance "$work/parlance" -replay .ci/clients/recordings -store "$store"
done

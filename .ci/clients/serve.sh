# Sourced by the stages that need a server: start_server FOLDER ARGUMENT… builds parlance into FOLDER (unless it is there),
# starts `parlance serve` on a free port with the arguments, and sets url and server (its process). Its log is FOLDER/log,
# one JSON object a line. stop_server ends it.
server=

start_server() {
  local folder=$1
  shift
  [[ -x $folder/parlance ]] || go build -o "$folder/parlance" ./cmd/parlance
  : > "$folder/log"
  "$folder/parlance" serve --host 127.0.0.1 --port 0 --log-format json "$@" 2>> "$folder/log" &
  server=$!
  url=
  for _ in $(seq 100); do
    url=$(grep -o '"address":"[^"]*"' "$folder/log" | head -1 | cut -d'"' -f4 || true)
    [[ -n $url ]] && break
    sleep 0.1
  done
  [[ -n $url ]] || { cat "$folder/log"; return 1; }
  url=http://$url
}

stop_server() {
  if [[ -n $server ]]; then
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
    server=
  fi
}

# Sourced by the stages that run scripts of clients against a server: installs the clients, makes a folder for the run (work),
# which is removed at its end like the server, and gives start_server and stop_server of serve.sh and what is below. After the
# scripts, `exit $failed`.
source .ci/clients/serve.sh
clients=$(bash .ci/clients/install.sh)
work=$(mktemp -d)
trap 'stop_server; rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1
mkdir "$work/node"
ln -s "$clients/node_modules" "$work/node/node_modules"
failed=0

# run_script FILE ARGUMENT… runs a script for Python or Node with the server's address and the arguments. A script that fails
# and a handler of the server that panicked make the run fail; the others go on.
run_script() {
  local file=$1
  shift
  case $file in
    *.py) timeout 900 "$clients/python/bin/python" "$file" "$url" "$@" || failed=1 ;;
    *.mjs)
      cp "$file" "$work/node" # where its packages are
      (cd "$work/node" && timeout 900 node "${file##*/}" "$url" "$@") || failed=1
      ;;
  esac
  if grep '"msg":"panic"' "$work/log"; then
    failed=1
  fi
}

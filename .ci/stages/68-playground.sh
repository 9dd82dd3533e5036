# The playground in a real browser (headless Chromium): what it shows, the keyboard, the link, contrast, a long text.
set -euo pipefail
root=$PWD
work=$(mktemp -d)
server=
cleanup() {
  if [[ -n $server ]]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
  rm -rf "$work"
}
trap cleanup EXIT

if [[ -z ${CHROMIUM:-} ]]; then
  if ! command -v chromium > /dev/null; then
    apt-get update -qq > "$work/apt" 2>&1 && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core >> "$work/apt" 2>&1 || { tail -20 "$work/apt"; exit 1; }
  fi
  CHROMIUM=$(command -v chromium)
fi
export CHROMIUM

go build -o "$work/parlance" ./cmd/parlance
"$work/parlance" serve --host 127.0.0.1 --port 0 --responses-store memory --playground --log-format json 2> "$work/log" &
server=$!
url=
for _ in $(seq 100); do
  url=$(grep -o '"address":"[^"]*"' "$work/log" | head -1 | cut -d'"' -f4 || true)
  [[ -n $url ]] && break
  sleep 0.1
done
[[ -n $url ]] || { cat "$work/log"; exit 1; }

cp "$root/.ci/playground/playground.mjs" "$work"
cd "$work"
PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm install --silent --no-audit --no-fund playwright-core@1.65.1
timeout 300 node playground.mjs "http://$url"

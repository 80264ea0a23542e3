#!/usr/bin/env bash
# Starts a Redis server, runs a program, and stops the server when the program ends. An argument that
# is exactly URI is replaced by the URI of the server.
#
#   examples/with_redis.sh <program> [argument|URI]...
set -euo pipefail

server=${LATCHKEY_REDIS_SERVER:-$(command -v redis-server valkey-server | head -1)} || true
[[ -n ${server:-} ]] || { echo "no redis-server: make deps installs it" >&2; exit 1; }
folder=$(mktemp -d)
finish() {
  kill "$id" 2>/dev/null && wait "$id" 2>/dev/null || true
  rm -rf "$folder"
}
"$server" --port 0 --unixsocket "$folder/socket" --save '' --appendonly no --dir "$folder" \
  >"$folder/log" 2>&1 &
id=$!
trap finish EXIT
for _ in $(seq 200); do
  [[ -S $folder/socket ]] && break
  kill -0 "$id" 2>/dev/null || { cat "$folder/log" >&2; exit 1; }
  sleep 0.05
done
words=()
for word in "$@"; do
  [[ $word != URI ]] || word=redis+unix://$folder/socket
  words+=("$word")
done
"${words[@]}"

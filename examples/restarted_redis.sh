# A Redis server that keeps its data while it is down: sourced by tests of outages.
#
#   start_redis     starts it, or starts it again; sets uri
#   stop_redis      ends it
#   needs `folder`, a temporary folder of the test, and `fail`, which ends the test with a sentence.
redis_program=${LATCHKEY_REDIS_SERVER:-$(command -v redis-server valkey-server | head -1)} || true
[[ -n ${redis_program:-} ]] || { echo "no redis-server: make deps installs it" >&2; exit 1; }
redis=
uri=redis+unix://$folder/socket

start_redis() {
  "$redis_program" --port 0 --unixsocket "$folder/socket" --save '' --appendonly yes \
    --dir "$folder" >>"$folder/redis" 2>&1 &
  redis=$!
  until [[ $(redis-cli -s "$folder/socket" PING 2>&1) == PONG ]]; do
    kill -0 "$redis" 2>/dev/null || { cat "$folder/redis" >&2; fail "the server did not start"; }
    sleep 0.05
  done
}

stop_redis() {
  kill "$redis" && wait "$redis" || true
}

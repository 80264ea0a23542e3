#!/usr/bin/env bash
# Measures how long `latchkey run` takes from its start until it holds its lock and runs a command,
# compared with `redis-cli ping` to the same server: the least that a tool can do that asks Redis
# something. Each round runs both; the result is the difference of the medians.
#
#   bench/cli_start.sh [latchkey]      default: build/release/latchkey
set -euo pipefail
export LC_ALL=C  # a decimal point in EPOCHREALTIME

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tool=${1:-$root/build/release/latchkey}
rounds=50
limit_ms=20

[[ -x $tool ]] || { echo "cli_start: no program $tool; expected a build with LATCHKEY_CLI" >&2; exit 1; }
work=$(mktemp -d)
server=
stop_server() {
  [[ -z $server ]] || { kill "$server" && wait "$server" || true; } 2>/dev/null
  rm -rf "$work"
}
trap stop_server EXIT

redis-server --port 0 --unixsocket "$work/socket" --save '' --dir "$work" >"$work/log" 2>&1 &
server=$!
until redis-cli -s "$work/socket" ping >/dev/null 2>&1; do
  kill -0 "$server" 2>/dev/null || { cat "$work/log" >&2; exit 1; }
done

# The command notes the time at which it runs: from then on the lock is held. What comes after, its
# release, is not measured.
cat >"$work/held" <<'SCRIPT'
#!/bin/bash
echo "$EPOCHREALTIME" >"$1"
SCRIPT
chmod +x "$work/held"

microseconds() { local time=${1/./}; printf '%s' "$((10#$time))"; }

for ((round = 0; round < rounds; ++round)); do
  before=$EPOCHREALTIME
  redis-cli -s "$work/socket" ping >/dev/null
  "$work/held" "$work/ping_end"
  between=$EPOCHREALTIME
  "$tool" run --key bench "redis+unix://$work/socket" -- "$work/held" "$work/held_at"
  echo "$(($(microseconds "$(<"$work/held_at")") - $(microseconds "$between")))" \
    "$(($(microseconds "$(<"$work/ping_end")") - $(microseconds "$before")))"
done >"$work/times"

# Both times contain the start of the script that notes the time.
median() { cut -d' ' -f"$1" "$work/times" | sort -n | sed -n "$(((rounds + 1) / 2))p"; }
awk -v ours="$(median 1)" -v peer="$(median 2)" -v limit="$limit_ms" -v rounds="$rounds" 'BEGIN {
  over = (ours - peer) / 1000
  printf "start of latchkey run to lock held: %.2f ms; redis-cli ping: %.2f ms (medians of %d)\n",
         ours / 1000, peer / 1000, rounds
  printf "difference: %.2f ms (limit %d ms)\n", over, limit
  if (over > limit) { print "the limit is missed"; exit 1 }
}'

#!/usr/bin/env bash
# Runs the payments service while its server is down for five seconds, and compares its log with what
# its callers got: one line for each thing that happened, and no other line.
#
#   examples/payments_outage.sh <payments>
set -euo pipefail
fail() { echo "payments_outage: $*" >&2; exit 1; }
folder=$(mktemp -d)
service=
finish() {
  [[ -z $service ]] || kill "$service" 2>/dev/null || true
  [[ -z ${redis:-} ]] || kill "$redis" 2>/dev/null || true
  wait || true
  rm -rf "$folder"
}
trap finish EXIT
# shellcheck source=restarted_redis.sh
source "$(dirname "${BASH_SOURCE[0]}")/restarted_redis.sh"

start_redis
"$1" --backend "$uri" --seconds 11 >"$folder/callers" 2>"$folder/log" &
service=$!
sleep 2
stop_redis
sleep 5
start_redis
wait "$service" || { cat "$folder/log" "$folder/callers"; fail "the service failed"; }
service=
cat "$folder/log" "$folder/callers"

lines() { grep -c "^$1 " "$folder/log" || true; }
got() { grep -oE "$1 [0-9]+" "$folder/callers" | grep -oE '[0-9]+'; }
same() {
  [[ $2 == "$3" ]] || fail "$1: the log has $2 lines, and it happened $3 times"
}
same "the server went" "$(lines 'error connection_lost')" 1
same "the server came back" "$(lines 'warning connection_restored')" 1
same "a call got no answer" "$(lines 'error unavailable')" "$(got unavailable)"
(($(got unavailable) > 0)) || fail "the outage harmed nobody"
(($(got lost) == 0)) || fail "locks were lost in an outage shorter than their lease"
same "a call waited in vain" "$(lines 'warning timeout')" "$(got busy)"
# What was held when the server went: a payment or a report has two keys. A call that had only the first
# of them could not tell its caller that this one may stay locked: that is an unlock_error.
unconfirmed=$(($(lines 'error release_unconfirmed') + $(lines 'error unlock_error')))
((unconfirmed <= 2 * 3 + 1)) || fail "$unconfirmed releases are unconfirmed, of four callers"
same "anything else" "$(wc -l <"$folder/log")" $((2 + $(got unavailable) + $(got busy) + unconfirmed))
echo "payments_outage: $(wc -l <"$folder/log") lines, each for one thing that happened"

#!/usr/bin/env bash
# Which of the shipped alerts fire for two busy payments services (KEYS, READ, and a job that is skipped
# if another process runs it) whose server is down for five seconds: exactly those that somebody has to
# act on.
#
#   examples/check_alerts.sh <payments>
#
# PROMETHEUS: the folder of the programs prometheus and promtool; if it is empty, PATH.
set -euo pipefail
fail() { echo "check_alerts: $*" >&2; exit 1; }
here=$(dirname "${BASH_SOURCE[0]}")
folder=$(mktemp -d)
children=()
finish() {
  for child in "${children[@]}" ${redis:-} ${server:-}; do kill "$child" 2>/dev/null || true; done
  wait || true
  rm -rf "$folder"
}
trap finish EXIT
# shellcheck source=prometheus.sh
source "$here/prometheus.sh"
# shellcheck source=restarted_redis.sh
source "$here/restarted_redis.sh"
find_prometheus || {
  echo "check_alerts: no Prometheus: nothing was tested"
  exit 0
}

start_redis
targets=()
for name in one other; do
  "$1" --backend "$uri" --seconds 100 --metrics 127.0.0.1:0 >"$folder/$name" 2>"$folder/$name.log" &
  children+=($!)
  until url=$(grep -oE 'http://[^ ]*/metrics' "$folder/$name"); do
    kill -0 "${children[-1]}" || { cat "$folder/$name.log"; fail "a service failed"; }
    sleep 0.05
  done
  url=${url#http://}
  targets+=("${url%/metrics}")
done
start_prometheus "$(realpath "$here/../ops/prometheus/latchkey.rules.yaml")" payments "${targets[@]}"

value() { query "$1" | jq -r '.data.result[0].value[1] // 0'; }
at_least() { awk -v is="$(value "$1")" -v least="$2" 'BEGIN { exit !(is >= least) }'; }
# The alerts that fire or are about to, each once.
alerts() {
  curl --silent --max-time 10 "$api/alerts" |
    jq -r '.data.alerts[] | "\(.labels.alertname) \(.labels.method // .labels.kind // "-") \(.state)"' | sort -u
}
say() { sed 's/^/  /' <<<"$1" >&2; }

# Contended keys and a job that the other service runs are no trouble.
await 60 "the services do not pay" at_least 'min(count_over_time(latchkey_holds[1m]))' 16
await 60 "no settlement was skipped" at_least 'sum(latchkey_attempts_total{outcome="busy"})' 5
calm=$(alerts)
[[ -z $calm ]] || { say "$calm"; fail "alerts without an outage"; }

stop_redis
sleep 5
start_redis

# Back at work: each service has its connection, and pays.
paid='sum(latchkey_attempts_total{outcome="granted"})'
before=$(value "$paid")
await 60 "the services do not pay again" at_least "$paid - $before" 50
await 60 "a connection is not reported as restored" at_least 'min(latchkey_backend_up)' 1
is_down() { alerts | grep -q LatchkeyServerDown; }
is_up() { ! is_down; }
await 60 "the server counts as down" is_up

# Payments, reports and settlements failed: somebody has to know. What was held when the server went
# may have stayed locked: it is told too, for those methods that met it. So is a key that a failed call
# gave back meanwhile, as an unlock_error.
expected=$(
  for method in pay report settle; do echo "LatchkeyUnavailable Payments::$method firing"; done
  query 'sum by (method) (latchkey_releases_unconfirmed_total) > 0' |
    jq -r '.data.result[].metric.method | "LatchkeyReleasesUnconfirmed \(.) firing"'
  query 'sum by (kind) (latchkey_reports_total{kind="unlock_error"}) > 0' |
    jq -r '.data.result[].metric.kind | "LatchkeyReports \(.) firing"'
)
expected=$(sort -u <<<"$expected")
actual() { [[ $(alerts) == "$expected" ]]; }
deadline=$((SECONDS + 20))
until actual; do
  ((SECONDS < deadline)) || {
    echo "expected:" >&2; say "$expected"; echo "fired:" >&2; say "$(alerts)"
    tail -5 "$folder"/*.log >&2
    fail "other alerts fire than an operator needs"
  }
  sleep 0.2
done
echo "check_alerts: after 5 s without the server exactly these fire:"
sed 's/^/  /' <<<"$expected"

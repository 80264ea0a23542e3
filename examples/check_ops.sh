#!/usr/bin/env bash
# Checks ops/ against a real scrape: runs the bank on a Redis server, reads its metrics, and expects
# every metric and label there that the dashboard and the alert rules name. Where there is a
# Prometheus (`make deps`), that loads the rules, scrapes the bank, and evaluates every rule and every
# panel.
#
#   examples/with_redis.sh examples/check_ops.sh <bank> --backend URI
set -euo pipefail
ops=$(cd "$(dirname "${BASH_SOURCE[0]}")/../ops" && pwd)
dashboard=$ops/grafana/latchkey.json
rules=$ops/prometheus/latchkey.rules.yaml
fail() { echo "check_ops: $*" >&2; exit 1; }
# shellcheck source=prometheus.sh
source "$(dirname "${BASH_SOURCE[0]}")/prometheus.sh"

folder=$(mktemp -d)
children=()
finish() {
  ((${#children[@]} == 0)) || { kill "${children[@]}" 2>/dev/null && wait "${children[@]}"; } || true
  rm -rf "$folder"
}
trap finish EXIT

# --- the bank, and one reading of its metrics ---
"$@" --seconds 60 --metrics 127.0.0.1:0 >"$folder/bank" 2>&1 &
children+=($!)
bank=$!
until url=$(grep -oE 'http://[^ ]*/metrics' "$folder/bank"); do
  kill -0 "$bank" || { cat "$folder/bank"; fail "the bank failed"; }
  sleep 0.05
done
scrape=$folder/scrape
until grep -q '^latchkey_backend_up' "$scrape" 2>/dev/null; do
  curl --silent --show-error --max-time 10 "$url" >"$scrape" || fail "nothing at $url"
done

# --- every metric and label of one expression stands in the scrape ---
checked=0
check_expression() {
  local metrics labels metric label
  mapfile -t metrics < <(grep -oE 'latchkey_[a-z_]+' <<<"$1" | sort -u)
  # Labels stand before a matcher, or in the list of by, on and group_left.
  mapfile -t labels < <({
    grep -oE '[a-z_]+ *(=~|!~|!=|=)"' <<<"$1" | grep -oE '^[a-z_]+'
    grep -oE '(by|on) *\([a-z_, ]*\)' <<<"$1" | sed -E 's/^(by|on)//' | grep -oE '[a-z_]+'
  } | grep -vxE 'job|instance' | sort -u)  # these two are Prometheus's own
  ((${#metrics[@]})) || fail "an expression without a metric: $1"
  for metric in "${metrics[@]}"; do
    grep -qE "^$metric(\{| )" "$scrape" || fail "no metric $metric, which this names: $1"
    for label in "${labels[@]}"; do
      grep -qE "^$metric\{(.*,)?$label=" "$scrape" ||
        fail "the metric $metric has no label $label, which this names: $1"
    done
  done
  checked=$((checked + 1))
}
mapfile -t panels < <(jq -r '.panels[].targets[].expr' "$dashboard")
# An alert's expression: from `expr:` to the next key of the rule.
mapfile -t alerts < <(awk '
  /^ *(for|labels|annotations|- alert):/ { if (text != "") print text; text = ""; inside = 0 }
  /^ *expr:/ { inside = 1; sub(/^ *expr: *\|?/, "") }
  inside { gsub(/^ +/, " "); text = text $0 }' "$rules")
((${#panels[@]} > 10 && ${#alerts[@]} > 5)) || fail "too few expressions were found in $ops"
for expression in "${panels[@]}" "${alerts[@]}"; do check_expression "$expression"; done
echo "check_ops: $checked expressions, all metrics and labels found"

# --- the same by Prometheus itself ---
find_prometheus || {
  echo "check_ops: no Prometheus: its part is left out"
  exit 0
}
"$promtool" check rules "$rules" || fail "promtool rejects $rules"
"$promtool" test rules "$ops/prometheus/latchkey_test.yaml" || fail "an alert does not fire as it should"

target=${url#http://}
start_prometheus "$rules" bank "${target%/metrics}"
children+=("$server")

# Rates need some scrapes.
is_scraped() {
  [[ $(query 'min(count_over_time(latchkey_holds[1m]))' | jq -r '.data.result[0].value[1] // 0') -ge 8 ]]
}
await 60 "Prometheus does not scrape $url" is_scraped
for expression in "${panels[@]}"; do
  # What Grafana does: all values of each variable, and an interval of some scrapes.
  expression=$(sed -E 's/\$__rate_interval/30s/g; s/\$(job|instance|method)/.*/g' <<<"$expression")
  answer=$(query "$expression")
  [[ $(jq -r '.status' <<<"$answer") == success ]] || fail "$(jq -r .error <<<"$answer"): $expression"
  [[ $(jq '.data.result | length' <<<"$answer") -gt 0 ]] || fail "nothing to show for: $expression"
done
until curl --silent "$api/rules" >"$folder/rules" &&
  [[ $(jq '[.data.groups[].rules[] | select(.health == "unknown")] | length' "$folder/rules") == 0 ]]; do
  sleep 0.1
done
unwell=$(jq -r '.data.groups[].rules[] | select(.health != "ok") | .name + ": " + .lastError' "$folder/rules")
[[ -z $unwell ]] || fail "$unwell"
evaluated=$(jq '[.data.groups[].rules[]] | length' "$folder/rules")
echo "check_ops: Prometheus evaluated ${#panels[@]} expressions of panels and $evaluated alerts"

#!/usr/bin/env bash
# Runs the bank and reads its metrics over HTTP while it works. Checks that every metric in
# docs/events.md exists and has a plausible value.
#
#   examples/with_metrics.sh <bank> [argument]...
set -euo pipefail
page=$(dirname "${BASH_SOURCE[0]}")/../docs/events.md
fail() { echo "with_metrics: $*" >&2; exit 1; }

exec {output}< <(exec "$@" --metrics 127.0.0.1:0 2>&1)
bank=$!
url=
while read -r line <&"$output"; do
  url=$(grep -oE 'http://[^ ]*/metrics' <<<"$line") && break
done
[[ -n $url ]] || fail "the bank says no address"

metrics=$(mktemp) later=$(mktemp)
trap 'rm -f "$metrics" "$later"' EXIT
look() { curl --silent --show-error --max-time 10 "$url" >"$1" || fail "nothing at $url"; }
deposits='^latchkey_hold_seconds_count\{method="Bank::deposit",.*\} [1-9]'
until grep -qE "$deposits" "$metrics"; do
  look "$metrics"
done
look "$later"
cat <&"$output" >/dev/null  # until it is done
wait "$bank" || fail "the bank failed"

# Locks in memory have no connection.
names=$(grep -v '| backend, server |' "$page" | grep -oE '^\| `latchkey_[a-z_]+`' | tr -d '|` ')
[[ -n $names ]] || fail "$page names no metrics"
for name in $names; do
  grep -qE "^# TYPE $name (histogram|counter|gauge)$" "$metrics" || fail "no $name"
done

# number <series> [<file>]: the value of the only series that the expression names.
number() { grep -E "^$1 " "${2:-$metrics}" | awk '{ print $NF }'; }
labels='{method="Bank::deposit",template="account:{account.id}"}'
grep -qF "latchkey_hold_seconds_count$labels" "$metrics" || fail "not the labels of a deposit"
quoted=$(sed 's/[{}.]/\\&/g' <<<"$labels")
holds=$(number "latchkey_hold_seconds_count$quoted")
# The bank works while its metrics are read, one after the other: everything that had ended at the
# first reading has begun at the second.
grants=$(number "latchkey_acquire_seconds_count$quoted" "$later")
held=$(number "latchkey_hold_seconds_sum$quoted")
awk -v holds="$holds" -v grants="$grants" -v held="$held" \
  'BEGIN { exit !(grants >= holds && held > 0 && held / holds < 1) }' ||
  fail "$grants grants, $holds holds of $held s: that cannot be"
[[ $(number "latchkey_lost_total$quoted") == 0 ]] || fail "locks were lost"
if grep -qE 'account:[^{]' "$metrics"; then fail "a key is among the labels"; fi
echo "with_metrics: $(wc -w <<<"$names") metrics, $holds deposits so far"

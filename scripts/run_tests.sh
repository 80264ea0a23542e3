#!/usr/bin/env bash
# Runs ctest. If tests fail while the machine stalled, they run once more, one after the other; what the
# first run said is then in LastTest.log.first.
#
#   scripts/run_tests.sh BUILD [ctest option...]
#
# Many tests use real servers and real time. On a machine whose processors are taken away for a
# second, as it happens to virtual machines, a healthy server looks dead, and a failure proves
# nothing. So a failure counts at once if the machine did not stall, or if a sanitizer reported
# something; otherwise it counts if it happens again.
set -uo pipefail
export LC_ALL=C
build=$1
shift

readonly tick_us=50000 stall_us=250000
longest=$(mktemp)
trap 'kill "$watcher" 2>/dev/null; rm -f "$longest"' EXIT

# Writes the longest time by which a sleep of 50 ms was late.
watch() {
  local most=0 before late never
  exec {never}<> <(:)
  echo 0 >"$longest"
  while :; do
    before=${EPOCHREALTIME/./}
    read -rt 0.05 -u "$never"
    late=$((${EPOCHREALTIME/./} - before - tick_us))
    ((late > most)) && most=$late && echo "$most" >"$longest"
  done
}
watch &
watcher=$!

log="$build/Testing/Temporary/LastTest.log"
rm -f "$log.first"
ctest --test-dir "$build" --output-on-failure --no-tests=error -j3 "$@" && exit 0

if grep -qE 'ERROR: (Address|Leak)Sanitizer|WARNING: ThreadSanitizer|: runtime error: ' "$log"; then
  echo "A sanitizer reported something: nothing is repeated."
  exit 1
fi
stall=$(<"$longest")
if ((stall < stall_us)); then
  echo "The machine did not stall for $((stall_us / 1000)) ms: nothing is repeated."
  exit 1
fi
cp "$log" "$log.first"
printf '\nThe machine stalled for up to %d ms. What failed runs once more, alone.\n' $((stall / 1000))
ctest --test-dir "$build" --output-on-failure --rerun-failed -j1

#!/usr/bin/env bash
# Runs ctest. Tests that failed while the machine stalled run once more, one after the other; what the
# first run said is then in LastTest.log.first.
#
#   scripts/run_tests.sh BUILD [ctest option...]
#
# Many tests use real servers and real time. On a machine whose processors are taken away for a
# second, as it happens to virtual machines, a healthy server looks dead, and a failure proves
# nothing. So a failure counts at once if the machine did not stall while that test ran, or if a
# sanitizer reported something; otherwise it counts if it happens again.
set -uo pipefail
export LC_ALL=C
build=$1
shift

readonly tick_us=50000 stall_us=250000
folder=$(mktemp -d)
trap 'kill "$watcher" 2>/dev/null; rm -rf "$folder"' EXIT

# Writes when a sleep of 50 ms was late, in microseconds since 1970: from when, until when.
watch() {
  local before now never
  exec {never}<> <(:)
  while :; do
    before=${EPOCHREALTIME/./}
    read -rt 0.05 -u "$never"
    now=${EPOCHREALTIME/./}
    ((now - before - tick_us < stall_us)) || echo "$((before + tick_us)) $now"
  done
}
: >"$folder/stalls"
watch >>"$folder/stalls" &
watcher=$!

# Copies the output of ctest, and writes when each test began, and when each one that failed ended.
note_times() {
  local line
  while IFS= read -r line; do
    printf '%s\n' "$line"
    if [[ $line =~ ^\ *Start\ +[0-9]+:\ (.+)$ ]]; then
      echo "began ${BASH_REMATCH[1]} ${EPOCHREALTIME/./}" >>"$folder/times"
    elif [[ $line =~ Test\ +#[0-9]+:\ ([^\ ]+)\ .*(\*\*\*|Not\ Run) ]]; then
      echo "failed ${BASH_REMATCH[1]} ${EPOCHREALTIME/./}" >>"$folder/times"
    fi
  done
}

# The failed tests during which the machine did not stall.
failed_without_stall() {
  awk 'FILENAME ~ /stalls$/ { from[NR] = $1; until[NR] = $2; next }
       $1 == "began" { began[$2] = $3; next }
       { for (each in from) if (from[each] <= $3 && until[each] >= began[$2]) next
         print $2 }' "$folder/stalls" "$folder/times"
}

log="$build/Testing/Temporary/LastTest.log"
rm -f "$log.first"
ctest --test-dir "$build" --output-on-failure --no-tests=error -j6 "$@" 2>&1 | note_times && exit 0

if grep -qE 'ERROR: (Address|Leak)Sanitizer|WARNING: ThreadSanitizer|: runtime error: ' "$log"; then
  echo "A sanitizer reported something: nothing is repeated."
  exit 1
fi
grep -q '^failed ' "$folder/times" || exit 1
mapfile -t certain < <(failed_without_stall)
if ((${#certain[@]} > 0)); then
  echo "The machine did not stall for $((stall_us / 1000)) ms during ${certain[*]}: nothing is repeated."
  exit 1
fi
cp "$log" "$log.first"
printf '\nThe machine stalled while each of these tests ran. They run once more, alone.\n'
ctest --test-dir "$build" --output-on-failure --rerun-failed -j1

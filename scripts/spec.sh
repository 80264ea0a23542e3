#!/usr/bin/env bash
# Checks the promises of docs/guarantees.md with TLC, the model checker of TLA+: docs/spec has them as
# mathematics.
#
#   scripts/spec.sh <build dir> [seeds]     default: 300 seeds of the simulator
#
# 1. Protocol.tla keeps the promises, for small constants; two models run only with 1000 seeds or
#    more. Each planted mistake breaks one.
# 2. Histories of the simulator keep them. Each planted violation is found, and TLC names the promise.
#
# Prints the number of states of each model and the number of histories. Without Java or TLC it
# reports that it was skipped, and why. The last history and TLC's words are in build/spec.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1
seeds=${2:-300}
work=build/spec
batch=100  # seeds of one run of TLC, whose start costs as much as a few seeds do
first=1

reason=$(scripts/tlc.sh "$work") || { echo "spec skipped: $reason"; exit 0; }
cmake --build "$build" --target latchkey_histories -- --quiet
histories=$build/tests/latchkey_histories
failed=0
fail() { printf 'FAILED: %s\n' "$*"; failed=1; }

# tlc <name> <module> <configuration>: the output of TLC is in $work/<name>.log.
tlc() {
  local folder=$work/$1
  rm -rf "$folder"
  mkdir -p "$folder"
  cp docs/spec/*.tla "$3" "$folder"
  [[ ! -e $work/Histories.tla ]] || cp "$work/Histories.tla" "$folder"
  (cd "$folder" &&
     java -XX:+UseParallelGC -Xss16m -Djava.io.tmpdir="$PWD" -cp "$OLDPWD/$work/*" tlc2.TLC -nowarning \
       -workers auto -metadir states -config "$(basename "$3")" "$2.tla") >"$work/$1.log" 2>&1 || true
  rm -rf "$folder"
}
is_clean() { grep -q '^Model checking completed. No error has been found' "$work/$1.log"; }
finds() { grep -qE "^Error: (Invariant|Action property) $2 is violated" "$work/$1.log"; }
states_of() { sed -nE 's/^[0-9]+ states generated, ([0-9]+) distinct.*/\1/p' "$work/$1.log"; }
depth_of() { sed -nE 's/^The depth of the complete state graph search is ([0-9]+).*/\1/p' "$work/$1.log"; }
seconds_of() { sed -nE 's/^Finished in (.*) at .*/\1/p' "$work/$1.log"; }

# is_step <promise>: the promise is about a step, and not about a state.
is_step() { grep -qE "^  \[\]\[|^$1 == \[\]\[" < <(grep -A 1 "^$1 ==" docs/spec/Promises.tla); }

# protocol <name> <mistake> <promise>... -- <kind> <clients> <quiet> <permits> <time> <holds> <faults>
# <requests> <lease> <grants>: Protocol.tla with these constants.
protocol() {
  local name=$1 mistake=$2 promise
  local promises=()
  shift 2
  while [[ $1 != -- ]]; do promises+=("$1"); shift; done
  {
    printf 'SPECIFICATION Spec\nCHECK_DEADLOCK FALSE\nCONSTANTS\n  LeastMargin = 1\n  Drift = 1\n'
    printf '  Kind = "%s"\n  Clients = {%s}\n  Quiet = {%s}\n  Permits = %s\n' "${@:2:4}"
    printf '  EndOfTime = %s\n  MostHolds = %s\n  MostFaults = %s\n  MostRequests = %s\n' "${@:6:4}"
    printf '  Lease = %s\n  MostGrants = %s\n  Mistake = "%s"\nCONSTRAINT Bounded\n' "${@:10:2}" "$mistake"
    for promise in "${promises[@]}"; do
      if is_step "$promise"; then printf 'PROPERTY %s\n' "$promise"
      else printf 'INVARIANT %s\n' "$promise"; fi
    done
  } >"$work/$name.cfg"
  tlc "$name" Protocol "$work/$name.cfg"
}

mapfile -t all_promises < <(sed -nE 's/^((Promise[1-4]|Fair)_[A-Za-z]+) ==.*/\1/p' docs/spec/Promises.tla)

# model <name> <constants of protocol>
model() {
  protocol "$1" none "${all_promises[@]}" -- "${@:2}"
  if is_clean "$1"; then
    printf 'model %-14s %9s states, depth %s, %s\n' "$1" "$(states_of "$1")" "$(depth_of "$1")" \
      "$(seconds_of "$1")"
  else
    fail "the model $1 breaks a promise: $work/$1.log"
  fi
}

# mistake <mistake> <promise> <constants of protocol>: only that promise is checked, as another one may
# be broken sooner.
mistake() {
  local name="mistake-${1// /-}"
  protocol "$name" "$1" "$2" -- "${@:3}"
  if finds "$name" "$2"; then
    printf 'mistake "%s": %s is violated, after %s states\n' "$1" "$2" "$(states_of "$name")"
  else
    fail "TLC does not find the mistake '$1': $work/$name.log"
  fi
}

rm -f "$work/Histories.tla"
#     name        kind       clients quiet permits time holds faults requests lease grants
model exclusive   FENCED     1,2     ''    1       3    1     1      1        2     9
model renewals    FENCED     1       ''    1       3    1     1      2        3     2
model undisturbed FENCED     1,2     1,2   1       3    1     1      3        3     9
model fair        FAIR       1,2     ''    1       2    1     0      1        2     9
model read_write  READ_WRITE 1,2,3   ''    1       2    1     0      1        2     9
model permits     PERMIT     1,2,3   ''    2       2    1     0      1        2     9
if ((seeds >= 1000)); then  # at night
  model releases  FENCED     1,2     ''    1       2    1     0      2        2     2
  model queue     FAIR       1,2     ''    1       2    1     0      2        2     2
fi

mistake 'deadline from the reply' Promise1_Exclusion               FENCED 1,2 '' 1 2 1 0 1 2 9
mistake 'no margin'               Promise1_Exclusion               FENCED 1,2 '' 1 2 1 0 1 2 9
mistake 'one permit more'         Promise1_Permits                 PERMIT 1,2 '' 1 1 1 0 1 2 9
mistake 'shorter again'           Promise2_DeadlineNeverMovesBack  FENCED 1   '' 1 3 1 0 3 3 9
mistake 'late renewal revives'    Promise2_LostForEver             FENCED 1   '' 1 3 1 0 2 3 9
mistake 'release lies'            Promise2_AnswerOfALostHoldIsFalse FENCED 1  '' 1 2 1 0 2 2 9
mistake 'gone is ignored'         Promise3_NoticedInTime           FENCED 1   1  1 5 1 1 4 6 9
mistake 'token used again'        Promise4_TokensRise              FENCED 1   '' 1 1 1 1 1 2 9
mistake 'out of turn'             Fair_FirstComeFirstServed        FAIR   1,2 '' 1 1 2 0 3 2 9

checked=0
events=0
for ((seed = first; seed < first + seeds; seed += batch)); do
  count=$((first + seeds - seed < batch ? first + seeds - seed : batch))
  "$histories" "$seed" "$count" >"$work/Histories.tla" 2>"$work/count" ||
    { cat "$work/count"; fail "the simulator breaks a promise"; break; }
  tlc histories Trace docs/spec/Trace.cfg
  if ! is_clean histories; then
    grep -E '^Error: (Invariant|Action property)' "$work/histories.log" || true
    fail "the page does not allow a history of the seeds $seed to $((seed + count - 1)): $work/histories.log"
    break
  fi
  read -r these _ more _ <"$work/count"
  checked=$((checked + these))
  events=$((events + more))
done
printf '%d histories of %d seeds, %d events: all of them keep the promises\n' "$checked" "$seeds" "$events"

while read -r name promise; do
  "$histories" --plant "$name" >"$work/Histories.tla"
  tlc planted Trace docs/spec/Trace.cfg
  if finds planted "$promise"; then
    printf 'planted "%s": %s is violated\n' "$name" "$promise"
  else
    cp "$work/planted.log" "$work/planted-$name.log"
    fail "TLC does not reject the planted violation '$name': $work/planted-$name.log"
  fi
done < <("$histories" --planted)
exit "$failed"

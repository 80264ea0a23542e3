#!/usr/bin/env bash
# Puts known defects back, one at a time, and prints as a table how long `make chaos` needs to find
# each, and how many seeds the simulator needs for each of its mutations.
#
#   scripts/defects.sh [NAME...]    default: all of tests/chaos/defects; `simulator`: the mutations
#   scripts/defects.sh --check      whether each still applies
#
# A copy of the last commit is changed and built in build/defects, so the working tree stays as it
# is. LATCHKEY_DEFECTS is the longest time for each (default 10min).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly root=$PWD
readonly copy=$root/build/defects
readonly longest=${LATCHKEY_DEFECTS:-10min}

if [[ ${1-} == --check ]]; then
  for patch in tests/chaos/defects/*.patch; do
    git apply --check "$patch" || { echo "make it anew: $patch" >&2 && exit 1; }
  done
  exit 0
fi

names=("$@")
if ((${#names[@]} == 0)); then
  for patch in tests/chaos/defects/*.patch; do names+=("$(basename "$patch" .patch)"); done
  names+=(simulator)
fi

prepare() {
  rm -rf "$copy/source" && mkdir -p "$copy/source/build"
  git archive HEAD | tar -x -C "$copy/source"
  [[ -e $copy/source/build/deps ]] || ln -s "$root/build/deps" "$copy/source/build/deps"
  (cd "$copy/source" && cmake --preset test >"$copy/configure.log")
}

# The name of the rule that was broken, or nothing.
rule_in() { sed -nE 's/^[0-9]+ times: (.*)/\1/p' "$1" | paste -sd ';' | sed 's/;/; /g'; }

find_by_campaign() {
  local name=$1 patch=$root/tests/chaos/defects/$1.patch log=$copy/$1.log
  local -a options
  read -ra options <<<"$(sed -n 's/^Options: //p' "$patch")"
  (cd "$copy/source" && patch --quiet -p1 <"$patch" &&
    cmake --build build/test --target latchkey_chaos >"$copy/build.log")
  local start=$SECONDS result=0
  "$copy/source/build/test/tests/latchkey_chaos" --for "$longest" --shorten 0 "${options[@]}" >"$log" ||
    result=$?
  local found="not within $longest"
  if ((result == 1)); then found="after $((SECONDS - start)) s: $(rule_in "$log")"; fi
  if ((result > 1)); then found="the campaign failed: see $log"; fi
  printf '| %s | `make chaos` %s | %s |\n' "$(head -1 "$patch")" "${options[*]}" "$found"
  (cd "$copy/source" && patch --quiet -R -p1 <"$patch")
}

find_by_simulator() {
  cmake --build build/test --target latchkey_sim_mutations >"$copy/build.log"
  build/test/tests/latchkey_sim_mutations --gtest_output="json:$copy/mutations.json" >"$copy/sim.log"
  python3 - "$copy/mutations.json" <<'PYTHON'
import json, pathlib, sys
for suite in json.load(open(sys.argv[1]))["testsuites"]:
    for test in suite["testsuite"]:
        if "seed" not in test: continue
        name = test["name"].split("/")[-1]
        text = pathlib.Path("tests/sim/mutations", name + ".mutation").read_text().splitlines()[0]
        seeds = "1 seed" if test["seed"] == "1" else test["seed"] + " seeds"
        print(f"| {text} | simulator | after {seeds}: {test['violation']} |")
PYTHON
}

mkdir -p "$copy"
[[ ${names[*]} == simulator ]] || prepare
printf '| defect | looked for by | found |\n|---|---|---|\n'
for name in "${names[@]}"; do
  if [[ $name == simulator ]]; then find_by_simulator; else find_by_campaign "$name"; fi
done

#!/usr/bin/env bash
# Fuzzes for a given time, then measures the coverage of the corpus in the repository.
#
#   scripts/fuzz.sh <build dir of the fuzz preset> <time for each fuzzer, such as 600s>
#
# Each fuzzer lists its subjects in lines `// Covers: <path>...`: the corpus must reach 95 % of the
# lines of these files. A finding is kept in <build dir>/<name>/ and fails the run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1
time=${2%s}
least=95
status=0

for source in tests/fuzz/*_fuzz.cpp; do
  name=$(basename "$source" _fuzz.cpp)
  program=$build/tests/fuzz/fuzz_$name
  corpus=tests/fuzz/${name}_corpus
  work=$build/$name
  mkdir -p "$work/corpus"

  echo "== $name: $time s"
  LLVM_PROFILE_FILE=/dev/null "$program" -max_total_time="$time" -max_len=256 -timeout=10 \
    -print_final_stats=1 -artifact_prefix="$work/" "$work/corpus" "$corpus" >"$work/log" 2>&1 ||
    { tail -40 "$work/log"; status=1; continue; }
  grep -E 'stat::number_of_executed_units|DONE|Done' "$work/log"

  LLVM_PROFILE_FILE=$work/profile "$program" -runs=0 "$corpus" >"$work/log" 2>&1
  llvm-profdata-19 merge -sparse "$work/profile" -o "$work/merged"
  mapfile -t covers < <(sed -n 's|^// Covers: ||p' "$source" | tr ' ' '\n')
  llvm-cov-19 report "$program" -instr-profile="$work/merged" "${covers[@]}" |
    awk -v least=$least '
      NR == 1 || /\.(cpp|hpp) / || /^TOTAL/ { print $1, ($1 == "Filename" ? "Lines" : $10) }
      /^TOTAL/ { reached = $10 + 0 }
      END {
        if (reached >= least) exit 0
        print "the corpus reaches " reached " % of the lines, not " least
        exit 1
      }' ||
    status=1
done
exit $status

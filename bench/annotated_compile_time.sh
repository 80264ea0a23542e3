#!/usr/bin/env bash
# Measures what 100 annotated methods cost at compile time, compared with 100 methods under LOCKED in
# the same compiler with the same options: the CPU time of the whole file, that without its headers,
# and the bytes of the object. Times are the least of all rounds, which alternate.
#
#   bench/annotated_compile_time.sh [compiler [level [rounds]]]      default: g++ -O2 5
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
compiler=${1:-g++}
level=${2:--O2}
rounds=${3:-5}
limit=1.0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# service <count> <method>: `@` stands for the number of a method.
service() {
  local number
  printf 'using namespace std::chrono_literals;\nusing latchkey::LockType;\n'
  printf 'struct Account { int id; };\n\nclass Service {\n public:\n'
  for number in $(seq "$1"); do printf '%s\n' "${2//@/$number}"; done
  printf '\n private:\n  long sum_ = 0;\n};\n'
  printf '\nlong all(Service& service, const Account& account) {\n  long sum = 0;\n'
  for number in $(seq "$1"); do printf '  sum += service.method_%d(account, 1);\n' "$number"; done
  printf '  return sum;\n}\n'
}

annotated='  [[=latchkey::locked("thing@:{account.id}", LockType::WRITE, 3s, 30s)]]
  long method_@(const Account& account, long amount) {
    LOCK_ANNOTATED;
    return sum_ += amount + account.id + @;
  }'
locked='  long method_@(const Account& account, long amount) {
    return LOCKED("thing@:{account.id}", LockType::WRITE, 3s, 30s) AROUND(account, amount) {
      return sum_ += amount + account.id + @;
    };
  }'
for count in 0 100; do
  { printf '#include <latchkey/annotations.hpp>\n'; service "$count" "$annotated"; } \
    >"$work/word.$count.cpp"
  { printf '#include <latchkey/latchkey.hpp>\n'; service "$count" "$locked"; } \
    >"$work/macro.$count.cpp"
done

# Compiles $1 and prints the seconds of user time.
seconds() {
  local TIMEFORMAT=%U
  { time "$compiler" -std=c++26 -freflection "$level" -I"$root/include" -c "$work/$1.cpp" \
      -o "$work/$1.o"; } 2>&1
}

for _ in $(seq "$rounds"); do
  for name in word.0 word.100 macro.0 macro.100; do echo "$name $(seconds "$name")"; done
done >"$work/times"
for kind in word macro; do
  size "$work/$kind.100.o" | awk -v kind=$kind 'NR == 2 { print kind ".text", $1 }'
  echo "$kind.file $(stat -c %s "$work/$kind.100.o")"
done >>"$work/times"

awk -v options="$compiler $level" -v limit=$limit '
  { if (!($1 in least) || $2 < least[$1]) least[$1] = $2 }
  function print_line(what, ours, macros, unit, demanded,   held) {
    held = ours <= limit * macros
    printf "%-44s %9.2f %-2s %9.2f %-2s  %5.2f%s\n", what, ours, unit, macros, unit, ours / macros,
      demanded ? sprintf("  <= %.2f %s", limit, held ? "ok" : "MISSED") : ""
    missed = missed || (demanded && !held)
  }
  END {
    printf "%-44s %12s %12s  ratio\n", options, "annotations", "LOCKED"
    print_line("100 methods with their headers", least["word.100"], least["macro.100"], "s", 1)
    print_line("without the headers", least["word.100"] - least["word.0"],
      least["macro.100"] - least["macro.0"], "s", 0)
    print_line("text of the object", least["word.text"] / 1e3, least["macro.text"] / 1e3, "KB", 1)
    print_line("file of the object", least["word.file"] / 1e3, least["macro.file"] / 1e3, "KB", 0)
    exit missed
  }' "$work/times"

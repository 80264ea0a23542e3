#!/usr/bin/env bash
# Measures the compile time of 100 decorated methods in one file, compared with the same methods
# written with the mutex map and fmt; headers included. Each round compiles both; the result is the
# median of the ratios.
#
#   bench/compile_time.sh [compiler...]      default: g++
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
rounds=5
limit=3.0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Prints a service of 100 methods. $1 and $2 are the texts around the key of method N and around its
# body.
service() {
  local number
  printf 'struct Account { int id; };\n\nclass Service {\n public:\n'
  for number in $(seq 100); do
    printf '  long method_%d(const Account& account, long amount) {\n' "$number"
    printf "$1" "$number"
    printf ' return sum_ += amount + account.id + %d; %s\n  }\n' "$number" "$2"
  done
  printf '\n private:\n  long sum_ = 0;\n%s};\n' "$3"
  printf '\nlong all(Service& service, const Account& account) {\n  long sum = 0;\n'
  for number in $(seq 100); do printf '  sum += service.method_%d(account, 1);\n' "$number"; done
  printf '  return sum;\n}\n'
}

{
  printf '#include <latchkey/latchkey.hpp>\nusing namespace std::chrono_literals;\n'
  printf 'using latchkey::LockType;\n'
  service '    return LOCKED("thing%d:{account.id}", LockType::WRITE, 3s, 30s) AROUND(account, amount) {' \
    '};' ''
} >"$work/ours.cpp"
{
  printf '#include <fmt/format.h>\n#include "mutex_map.hpp"\n'
  service '    return map_.with(fmt::format("thing%d:{}", account.id), [&] {' '});' \
    '  latchkey::bench::MutexMap map_;
'
} >"$work/peer.cpp"

# Prints the CPU seconds for compiling $1; the other arguments are the compiler and its options.
seconds() {
  local file=$1 TIMEFORMAT='%U %S'
  shift
  { time "$@" -std=c++20 -c -I"$root/include" -I"$root/bench" -isystem "$root/build/deps/include" \
      -o "$work/object.o" "$work/$file.cpp"; } 2>&1 | awk '{ print $1 + $2 }'
}

((${#@})) || set -- g++
status=0
for compiler in "$@"; do
  for level in -O0 -O2; do
    for _ in $(seq $rounds); do
      ours=$(seconds ours "$compiler" "$level")
      peer=$(seconds peer "$compiler" "$level")
      echo "$ours $peer"
    done | awk -v what="100 methods, $compiler $level" -v limit=$limit '
      function sort(list, size,   i, j, held) {
        for (i = 2; i <= size; ++i) {
          held = list[i]
          for (j = i - 1; j > 0 && list[j] > held; --j) list[j + 1] = list[j]
          list[j + 1] = held
        }
      }
      { ours[NR] = $1; peer[NR] = $2; ratio[NR] = $1 / $2 }
      END {
        sort(ours, NR); sort(peer, NR); sort(ratio, NR)
        middle = int((NR + 1) / 2)
        held = ratio[middle] <= limit
        printf "%-44s %9.2f s %9.2f s   %5.2f (%.2f-%.2f)  <= %.2f %s\n", what, ours[middle],
          peer[middle], ratio[middle], ratio[1], ratio[NR], limit, held ? "ok" : "MISSED"
        exit !held
      }' || status=1
  done
done
exit $status

#!/usr/bin/env bash
# Measures what decorated methods cost at compile time:
#
# * 100 of them in one file, compared with the same methods written with the mutex map and fmt;
#   headers included. Each round compiles both; the result is the median of the ratios.
# * One of them, without optimisation and with debug information: the time and the object bytes that
#   200 methods take more than 100 of them. Bytes are for 100 methods.
#
#   bench/compile_time.sh [compiler...]      default: g++
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
rounds=5
ratio_limit=3.0
method_limit=15.0 # milliseconds
object_limit=1.0  # megabytes
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Prints a service of $1 methods. $2 and $3 are the texts around the key of method N and around its
# body, $4 is a member.
service() {
  local number
  printf 'struct Account { int id; };\n\nclass Service {\n public:\n'
  for number in $(seq "$1"); do
    printf '  long method_%d(const Account& account, long amount) {\n' "$number"
    printf "$2" "$number"
    printf ' return sum_ += amount + account.id + %d; %s\n  }\n' "$number" "$3"
  done
  printf '\n private:\n  long sum_ = 0;\n%s};\n' "$4"
  printf '\nlong all(Service& service, const Account& account) {\n  long sum = 0;\n'
  for number in $(seq "$1"); do printf '  sum += service.method_%d(account, 1);\n' "$number"; done
  printf '  return sum;\n}\n'
}

# Prints a service of $1 decorated methods.
decorated() {
  printf '#include <latchkey/latchkey.hpp>\nusing namespace std::chrono_literals;\n'
  printf 'using latchkey::LockType;\n'
  service "$1" \
    '    return LOCKED("thing%d:{account.id}", LockType::WRITE, 3s, 30s) AROUND(account, amount) {' \
    '};' ''
}

decorated 100 >"$work/ours.cpp"
decorated 200 >"$work/twice.cpp"
{
  printf '#include <fmt/format.h>\n#include "mutex_map.hpp"\n'
  service 100 '    return map_.with(fmt::format("thing%d:{}", account.id), [&] {' '});' \
    '  latchkey::bench::MutexMap map_;
'
} >"$work/peer.cpp"

# Compiles $1 to an object of that name and prints the CPU seconds; the other arguments are the
# compiler and its options.
seconds() {
  local file=$1 TIMEFORMAT='%U %S'
  shift
  { time "$@" -std=c++20 -c -I"$root/include" -I"$root/bench" -isystem "$root/build/deps/include" \
      -o "$work/$file.o" "$work/$file.cpp"; } 2>&1 | awk '{ print $1 + $2 }'
}

# awk: sorts a list, whose first element is 1.
sort_list='function sort(list, size,   i, j, held) {
  for (i = 2; i <= size; ++i) {
    held = list[i]
    for (j = i - 1; j > 0 && list[j] > held; --j) list[j + 1] = list[j]
    list[j + 1] = held
  }
}'

# compare <compiler> <level>: 100 methods and the peer.
compare() {
  local ours peer
  for _ in $(seq $rounds); do
    ours=$(seconds ours "$1" "$2")
    peer=$(seconds peer "$1" "$2")
    echo "$ours $peer"
  done | awk -v what="100 methods, $1 $2" -v limit=$ratio_limit "$sort_list"'
    { ours[NR] = $1; peer[NR] = $2; ratio[NR] = $1 / $2 }
    END {
      sort(ours, NR); sort(peer, NR); sort(ratio, NR)
      middle = int((NR + 1) / 2)
      held = ratio[middle] <= limit
      printf "%-44s %9.2f s %9.2f s   %5.2f (%.2f-%.2f)  <= %.2f %s\n", what, ours[middle],
        peer[middle], ratio[middle], ratio[1], ratio[NR], limit, held ? "ok" : "MISSED"
      exit !held
    }'
}

# one_method <compiler>: the time of one method, and the object of 100.
one_method() {
  local once twice
  for _ in $(seq $rounds); do
    once=$(seconds ours "$1" -O0 -g)
    twice=$(seconds twice "$1" -O0 -g)
    echo "$once $twice $(($(stat -c %s "$work/twice.o") - $(stat -c %s "$work/ours.o")))"
  done | awk -v options="$1 -O0 -g" -v method_limit=$method_limit -v object_limit=$object_limit \
    "$sort_list"'
    function print_line(what, value, unit, spread, limit) {
      printf "%-44s %9.2f %-2s %27s  <= %.2f %s\n", what ", " options, value, unit, spread, limit,
        value <= limit ? "ok" : "MISSED"
      missed = missed || value > limit
    }
    { time[NR] = ($2 - $1) * 10; object = $3 / 1e6 }
    END {
      sort(time, NR)
      print_line("one method", time[int((NR + 1) / 2)], "ms",
        sprintf("(%.2f-%.2f)", time[1], time[NR]), method_limit)
      print_line("object of 100 methods", object, "MB", "", object_limit)
      exit missed
    }'
}

((${#@})) || set -- g++
status=0
for compiler in "$@"; do
  compare "$compiler" -O0 || status=1
  compare "$compiler" -O2 || status=1
  one_method "$compiler" || status=1
done
exit $status

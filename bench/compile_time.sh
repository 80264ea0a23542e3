#!/usr/bin/env bash
# Measures what decorated methods cost at compile time:
#
# * 100 of them in one file, compared with the same methods written with the mutex map and fmt;
#   headers included. Each round compiles both; the result is the median of the ratios.
# * One of them, without optimisation and with debug information: the time and the object bytes that
#   200 methods take more than 100 of them. Bytes are for 100 methods.
# * 100 methods with annotations of C++26, compared with 100 decorated ones in that language, if the
#   compiler has annotations.
#
#   bench/compile_time.sh [compiler...]      default: g++
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
rounds=5
ratio_limit=3.0
method_limit=15.0 # milliseconds
object_limit=1.0  # megabytes
annotation_limit=1.0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# service <count> <method> [member]: `@` stands for the number of a method.
service() {
  local number
  printf 'struct Account { int id; };\n\nclass Service {\n public:\n'
  for number in $(seq "$1"); do printf '%s\n' "${2//@/$number}"; done
  printf '\n private:\n  long sum_ = 0;\n%s};\n' "${3:-}"
  printf '\nlong all(Service& service, const Account& account) {\n  long sum = 0;\n'
  for number in $(seq "$1"); do printf '  sum += service.method_%d(account, 1);\n' "$number"; done
  printf '  return sum;\n}\n'
}

# with_latchkey <count> <header> <method>: a service that uses latchkey.
with_latchkey() {
  printf '#include <latchkey/%s.hpp>\nusing namespace std::chrono_literals;\n' "$2"
  printf 'using latchkey::LockType;\n'
  service "$1" "$3"
}

readonly decorated='  long method_@(const Account& account, long amount) {
    return LOCKED("thing@:{account.id}", LockType::WRITE, 3s, 30s) AROUND(account, amount) {
      return sum_ += amount + account.id + @;
    };
  }'
readonly annotated='  [[=latchkey::locked("thing@:{account.id}", LockType::WRITE, 3s, 30s)]]
  long method_@(const Account& account, long amount) {
    LOCK_ANNOTATED;
    return sum_ += amount + account.id + @;
  }'
readonly by_hand='  long method_@(const Account& account, long amount) {
    return map_.with(fmt::format("thing@:{}", account.id), [&] {
      return sum_ += amount + account.id + @;
    });
  }'
with_latchkey 100 latchkey "$decorated" >"$work/ours.cpp"
with_latchkey 200 latchkey "$decorated" >"$work/twice.cpp"
with_latchkey 100 annotations "$annotated" >"$work/annotated.cpp"
{
  printf '#include <fmt/format.h>\n#include "mutex_map.hpp"\n'
  service 100 "$by_hand" $'  latchkey::bench::MutexMap map_;\n'
} >"$work/peer.cpp"

# Compiles $1 to an object of that name and prints the CPU seconds; the other arguments are the
# compiler and its options. Fails with the errors if the file does not compile.
seconds() {
  local file=$1 TIMEFORMAT='%U %S'
  shift
  { time "$1" -std=c++20 "${@:2}" -c -I"$root/include" -I"$root/bench" \
      -isystem "$root/build/deps/include" -o "$work/$file.o" "$work/$file.cpp" 2>"$work/errors"; } 2>"$work/time" ||
    { head -n 15 "$work/errors" >&2; return 1; }
  awk '{ print $1 + $2 }' "$work/time"
}

# awk: sorts a list, whose first element is 1.
sort_list='function sort(list, size,   i, j, held) {
  for (i = 2; i <= size; ++i) {
    held = list[i]
    for (j = i - 1; j > 0 && list[j] > held; --j) list[j + 1] = list[j]
    list[j + 1] = held
  }
}'

# compare <file> <peer> <limit> <compiler> [option...]: the time of 100 methods and of the peer's.
compare() {
  local file=$1 peer=$2 limit=$3 ours theirs
  shift 3
  for _ in $(seq $rounds); do
    ours=$(seconds "$file" "$@") || exit
    theirs=$(seconds "$peer" "$@") || exit
    echo "$ours $theirs"
  done | awk -v what="100 methods, $*" -v limit="$limit" "$sort_list"'
    { ours[NR] = $1; peer[NR] = $2; ratio[NR] = $1 / $2 }
    END {
      if (!NR) exit 1
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
    once=$(seconds ours "$1" -O0 -g) || exit
    twice=$(seconds twice "$1" -O0 -g) || exit
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
      if (!NR) exit 1
      sort(time, NR)
      print_line("one method", time[int((NR + 1) / 2)], "ms",
        sprintf("(%.2f-%.2f)", time[1], time[NR]), method_limit)
      print_line("object of 100 methods", object, "MB", "", object_limit)
      exit missed
    }'
}

# annotations <compiler>: 100 annotated methods and 100 under LOCKED; the text and the size of both
# objects.
annotations() {
  local status=0
  compare annotated ours $annotation_limit "$1" -std=c++26 -freflection -O2 || status=1
  {
    size "$work/annotated.o" "$work/ours.o" | awk 'NR > 1 { print $1 }'
    stat -c %s "$work/annotated.o" "$work/ours.o"
  } | awk -v limit=$annotation_limit '
    function compare(what, ours, peer,   ratio) {
      ratio = ours / peer
      printf "%-44s %9.2f KB %8.2f KB  %5.2f %13s <= %.2f %s\n", what, ours / 1e3, peer / 1e3, ratio,
        "", limit, ratio <= limit ? "ok" : "MISSED"
      missed = missed || ratio > limit
    }
    { bytes[NR] = $1 }
    END {
      compare("text of their objects", bytes[1], bytes[2])
      compare("their objects", bytes[3], bytes[4])
      exit missed
    }' || status=1
  return $status
}

has_annotations() { "$1" -std=c++26 -freflection -fsyntax-only -x c++ /dev/null 2>/dev/null; }

((${#@})) || set -- g++
status=0
for compiler in "$@"; do
  compare ours peer $ratio_limit "$compiler" -O0 || status=1
  compare ours peer $ratio_limit "$compiler" -O2 || status=1
  one_method "$compiler" || status=1
  ! has_annotations "$compiler" || annotations "$compiler" || status=1
done
exit $status

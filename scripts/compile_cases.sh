#!/usr/bin/env bash
# Compiles programs that must not compile, and reads what the compiler says about them.
#
#   [STD=c++23] [JOBS=2] [MEMORY=folder] scripts/compile_cases.sh --all <compiler> [<argument>...]
#   scripts/compile_cases.sh <folder> <gcc|clang> <compiler> [<argument>...]
#
# The first form compiles all cases of the repository and needs no configured build: it gives the
# compiler its standard (c++20), its warnings and its include folders. Boost.PFR comes from
# LATCHKEY_PFR_INCLUDE, or else from LATCHKEY_DEPS (build/deps), or from the system's Boost >= 1.84.
# As ccache does for programs that compile, it remembers in the folder MEMORY what it printed for the same
# headers, cases and compiler if each case was correct, and prints that again.
#
# Each <folder>/*.cpp begins with `// expect: <regex>` lines; `// expect-gcc:` and
# `// expect-clang:` apply to one compiler. It must fail to compile, and each (extended) regex must
# be found in the first 15 lines that the compiler prints. Each <folder>/pass/*.cpp must compile.
#
# Nearly all of the time is that of latchkey's headers. So the header that a case of the repository
# includes first is precompiled, once for all cases.
set -uo pipefail

visible_lines=15

# Prints the header of latchkey that the case $1 includes first, such as `key.hpp`; nothing if
# anything but comments comes before.
first_header() { sed -nE '/^(\/\/|$)/d; s/^#include <latchkey\/([a-z]+\.hpp)>.*/\1/p; q' "$1"; }

# Prints nothing if the case is correct, else one paragraph that names it.
check_case() {
  local source=$1 family=$2 output failed=0 pattern found=0 header
  shift 2
  header=$(first_header "$source")
  if [[ -n $header && -f ${PRECOMPILED:-}/$header.gch ]]; then set -- "$@" -include "$PRECOMPILED/$header"; fi
  output=$("$@" -fsyntax-only "$source" 2>&1) || failed=1
  if [[ $source == */pass/*.cpp ]]; then
    ((failed)) && printf '%s: must compile, but:\n%s\n' "$source" "$output"
    return 0
  fi
  if ((!failed)); then
    printf '%s: compiles, but must not\n' "$source"
    return 0
  fi
  output=$(head -n "$visible_lines" <<<"$output")
  while IFS= read -r pattern; do
    found=1
    grep -qE -- "$pattern" <<<"$output" ||
      printf '%s: expected /%s/ within the first %d lines of:\n%s\n' \
        "$source" "$pattern" "$visible_lines" "$output"
  done < <(sed -nE "/^\/\/ expect/!q; s/^\/\/ expect(-$family)?: ?//p" "$source")
  ((found)) || printf '%s: has no line "// expect: <regex>" for %s\n' "$source" "$family"
}

if [[ ${1:-} == --case ]]; then
  shift
  report=$(check_case "$1" "${@:2}")
  name=${1##*/compile_fail/}
  if [[ -n $report ]]; then
    printf 'FAIL %s\n%s\n' "$name" "$report"
    exit 1
  fi
  printf 'ok   %s\n' "$name"
  exit 0
fi

# Prints the folder of <latchkey/third_party/pfr.hpp>. Writes its files into $1 if they exist
# nowhere.
pfr_include() {
  local deps=${LATCHKEY_DEPS:-$root/build/deps}/include
  if [[ -n ${LATCHKEY_PFR_INCLUDE:-} ]]; then
    printf '%s\n' "$LATCHKEY_PFR_INCLUDE"
  elif [[ -f $deps/latchkey/third_party/pfr.hpp ]]; then
    printf '%s\n' "$deps"
  elif [[ -f /usr/include/boost/pfr/core_name.hpp ]]; then
    cmake -DFROM=/usr/include "-DTO=$1" -P "$root/cmake/rewrite_pfr.cmake" >&2 && printf '%s\n' "$1"
  else
    echo "compile_cases: no Boost.PFR: run scripts/deps.sh, or set LATCHKEY_DEPS" >&2
    return 1
  fi
}

if [[ ${1:-} == --all ]]; then
  shift
  root=$(cd "$(dirname "$0")/.." && pwd)
  written=$(mktemp -d)
  trap 'rm -rf "$written"' EXIT
  pfr=$(pfr_include "$written") || exit 1
  family=gcc
  "$@" -dM -E -x c++ /dev/null | grep -q __clang__ && family=clang
  set -- "$root/tests/compile_fail" "$family" "$@" "-std=${STD:-c++20}" -Wall -Wextra -Wpedantic \
    -Wshadow -Wconversion -Werror "-I$root/include" -isystem "$pfr"
fi

# The inputs of all cases: latchkey's headers, the cases, this script, the command and its compiler.
hash_of_inputs() {
  { find "$root/include" "$root/tests/compile_fail" "$pfr/latchkey" "$0" -type f -print0 | sort -z |
      xargs -0 sha256sum
    "${@:3}" -v 2>&1 </dev/null
    printf '%s\n' "$@"; } | sha256sum | cut -d ' ' -f 1
}
if [[ -n ${MEMORY:-} ]]; then
  mkdir -p "$MEMORY"
  known=$MEMORY/$(hash_of_inputs "$@")
  if [[ -e $known ]]; then
    cat "$known"
    exit 0
  fi
  exec > >(tee "$known.new")
fi

folder=$1
shift
shopt -s nullglob
cases=("$folder"/*.cpp "$folder"/pass/*.cpp)
((${#cases[@]})) || { echo "no cases in $folder"; exit 1; }
if [[ -n ${written:-} ]]; then
  export PRECOMPILED=$written/precompiled
  mkdir "$PRECOMPILED"
  for case in "${cases[@]}"; do first_header "$case"; done | sort -u | while IFS= read -r header; do
    printf '#include <latchkey/%s>\n' "$header" >"$PRECOMPILED/$header"
    printf '%s\0' "$header"
  done | xargs -0 -P "${JOBS:-$(nproc)}" -I{} "${@:2}" -x c++-header "$PRECOMPILED/{}" -o "$PRECOMPILED/{}.gch"
fi
printf '%s\0' "${cases[@]}" | xargs -0 -P "${JOBS:-$(nproc)}" -I{} "$0" --case {} "$@" || exit
[[ -z ${known:-} ]] || mv "$known.new" "$known"

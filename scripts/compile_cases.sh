#!/usr/bin/env bash
# Compiles programs that must not compile, and reads what the compiler says about them.
#
#   scripts/compile_cases.sh <folder> <gcc|clang> <compiler> [<argument>...]
#
# Each <folder>/*.cpp begins with `// expect: <regex>` lines; `// expect-gcc:` and
# `// expect-clang:` apply to one compiler. It must fail to compile, and each (extended) regex must
# be found in the first 15 lines that the compiler prints. Each <folder>/pass/*.cpp must compile.
set -uo pipefail

visible_lines=15

# Prints nothing if the case is correct, else one paragraph that names it.
check_case() {
  local source=$1 family=$2 output failed=0 pattern found=0
  shift 2
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

folder=$1
shift
shopt -s nullglob
cases=("$folder"/*.cpp "$folder"/pass/*.cpp)
((${#cases[@]})) || { echo "no cases in $folder"; exit 1; }
printf '%s\0' "${cases[@]}" | xargs -0 -P "$(nproc)" -I{} "$0" --case {} "$@"

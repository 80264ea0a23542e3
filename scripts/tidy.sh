#!/usr/bin/env bash
# Runs clang-tidy over the library and the command line tool, one process per core. It reads the
# sources of a module as one (a unity build), so that it reads the headers once for each module.
#
#   scripts/tidy.sh <build dir with compile_commands.json, configured with clang and LATCHKEY_UNITY>
#
# As ccache does for a compiler, it remembers in the build folder which inputs had no finding: what the
# preprocessor makes of them, the checks, and the version of clang-tidy.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1
export clean=$PWD/$build/tidy_clean
mkdir -p "$clean"

# check <unity source>: reads its command line in compile_commands.json.
check() {
  local unity=$1 command input
  command=$(jq -r --arg file "$unity" '.[] | select(.file == $file) | "cd \(.directory) && \(.command)"' \
    "$build/compile_commands.json" | sed -E 's/ -o [^ ]+ -c / -E -C /')
  input=$({ bash -c "$command" && cat .clang-tidy && clang-tidy-19 --version; } | sha256sum | cut -d ' ' -f 1)
  [[ ! -e $clean/$input ]] || return 0
  clang-tidy-19 --quiet -p "$build" "$unity" || return
  touch "$clean/$input"
}
export -f check
export build
jq -r '.[].file | select(contains("/Unity/"))' "$build/compile_commands.json" |
  xargs -P "$(nproc)" -I {} bash -c 'check {}' 2>&1 |
  { grep -vE '^[0-9]+ warnings? (generated|treated as error)|^Suppressed|^Use -(header|system)|^$' || true; }

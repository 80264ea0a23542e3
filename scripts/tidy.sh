#!/usr/bin/env bash
# Runs clang-tidy over the library and the command line tool, one process per core. It reads the
# sources of a folder as one (a unity build), so that it reads the headers once for each folder.
#
#   scripts/tidy.sh <build dir with compile_commands.json, configured with clang and LATCHKEY_UNITY>
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1
sed -nE 's/^ *"file": "(.*\/Unity\/.*)",?$/\1/p' "$build/compile_commands.json" |
  xargs -P "$(nproc)" -n 1 clang-tidy-19 --quiet -p "$build" 2>&1 |
  { grep -vE '^[0-9]+ warnings? (generated|treated as error)|^Suppressed|^Use -(header|system)|^$' || true; }

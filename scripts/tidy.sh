#!/usr/bin/env bash
# Runs clang-tidy over the library's sources, one process per core.
#
#   scripts/tidy.sh <build dir with compile_commands.json, configured with clang>
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1
git ls-files -co --exclude-standard 'src/*.cpp' |
  xargs -P "$(nproc)" -n 1 clang-tidy-19 --quiet -p "$build" 2>&1 |
  { grep -vE '^[0-9]+ warnings? (generated|treated as error)|^Suppressed|^Use -(header|system)|^$' || true; }

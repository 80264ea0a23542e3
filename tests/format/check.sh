#!/usr/bin/env bash
# Formats sample.txt with what docs/operate.md tells users to put into their .clang-format, beside
# Google's style: nothing may change. Without those lines it must, or they are not needed any more.
#
#   tests/format/check.sh <clang-format> <work folder>
set -euo pipefail
clang_format=$1
work=$2
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

rm -rf "$work"
mkdir -p "$work"
cp "$folder/sample.txt" "$work/sample.cpp"
style() { printf 'BasedOnStyle: Google\nColumnLimit: 100\n'; }
format() { "$clang_format" --style="file:$work/$1" "$work/sample.cpp"; }

style >"$work/without"
if format without | cmp -s "$work/sample.cpp" -; then
  echo "$("$clang_format" --version) needs none of it: docs/operate.md may drop it"
  exit 1
fi
{
  style
  awk '/^### / { here = /clang-format$/ } here && /^```yaml$/ { inside = 1; next } /^```/ { inside = 0 } inside' \
    "$folder/../../docs/operate.md"
} >"$work/with"
grep -q '^Macros:' "$work/with" || { echo "docs/operate.md has no Macros"; exit 1; }
format with | diff "$work/sample.cpp" -

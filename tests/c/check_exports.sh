#!/usr/bin/env bash
# The library exports the functions that the header declares, and nothing else.
#
#   tests/c/check_exports.sh <header> <library>
set -euo pipefail
declared=$(grep -oE '\blatchkey_[a-z_]+\(' "$1" | tr -d '(' | sort -u)
exported=$(nm -D --defined-only "$2" | awk '$2 != "A" { print $3 }' | sort -u)
(($(wc -l <<<"$declared") > 30)) || { echo "the functions of $1 were not found"; exit 1; }
diff <(echo "$declared") <(echo "$exported") || { echo "'<': declared only; '>': exported only"; exit 1; }

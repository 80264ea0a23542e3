#!/usr/bin/env bash
# A program for the version before does not compile until scripts/migrate.py has rewritten it; and the
# changelog names everything that the script replaces.
#
#   tests/migrate/migrate_test.sh <source folder> <folder of Boost.PFR> <compiler>
set -euo pipefail
root=$1 pfr=$2 compiler=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
program=$folder/program.cpp
cp "$root/tests/migrate/old_program.cpp.txt" "$program"

compiles() {
  "$compiler" -std=c++20 -Wall -Wextra -Werror -fsyntax-only "-I$root/include" -isystem "$pfr" "$program"
}
if compiles 2>/dev/null; then
  echo "the old program compiles as it is: it tests nothing"
  exit 1
fi
notes=$("$root/scripts/migrate.py" "$program")
compiles
grep -q 'acquire() waits for 3 s at most' <<<"$notes" || { echo "not told of acquire(): $notes"; exit 1; }
[[ -z $("$root/scripts/migrate.py" --check "$program" | grep rewritten) ]] || { echo "not idempotent"; exit 1; }

missing=0
while IFS=$'\t' read -r old new; do
  grep -qF -- "| \`$old\` | \`$new\` |" "$root/CHANGELOG.md" && continue
  [[ $new == nothing ]] && grep -qF -- "| \`$old\` | nothing |" "$root/CHANGELOG.md" && continue
  echo "CHANGELOG.md lacks | \`$old\` | \`$new\` |"
  missing=1
done < <("$root/scripts/migrate.py" --list)
exit "$missing"

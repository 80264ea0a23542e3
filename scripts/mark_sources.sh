#!/usr/bin/env bash
# Gives every source of the library what all of them have; does nothing to those that have it already.
#
#   1. The licence, as the last line of the first comment. REUSE.toml names it for all other files.
#   2. The namespace of the ABI, `inline v1`: another one lets two versions live in one program.
#   3. In public headers, the visibility of what leaves the shared library, which hides all else.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# change <file> <awk program>: in place.
change() {
  awk "$2" "$1" >"$1.new"
  if cmp -s "$1" "$1.new"; then rm "$1.new"; else mv "$1.new" "$1"; fi
}

git ls-files -co --exclude-standard 'include/*.hpp' 'src/*.hpp' 'src/*.cpp' | while read -r file; do
  grep -q '^// SPDX-License-Identifier: ' "$file" || change "$file" '
    !done && !/^\/\// { print "// SPDX-License-Identifier: BSL-1.0"; done = 1 }
    { print }'
  sed -E -i.old -e 's/^namespace latchkey((::[a-z_0-9]+)*) \{/namespace latchkey::inline v1\1 {/' \
    -e 's/^(\}  \/\/ namespace latchkey)((::[a-z_0-9]+)*)$/\1::inline v1\2/' "$file"
  cmp -s "$file" "$file.old" && mv "$file.old" "$file" || rm "$file.old"
  case $file in
    include/latchkey/testing* | include/latchkey/adapters/* | include/latchkey/asio* | \
      include/latchkey/detail/testing/* | include/latchkey/detail/asio/*) continue ;;
    include/*) ;;
    *) continue ;;
  esac
  if grep -q '^namespace latchkey' "$file" && ! grep -q '^#pragma GCC visibility' "$file"; then
    change "$file" '
      !done && /^namespace latchkey/ { print "#pragma GCC visibility push(default)"; done = 1 }
      { print }
      END { print "#pragma GCC visibility pop" }'
  fi
done

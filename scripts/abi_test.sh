#!/usr/bin/env bash
# Shows that `scripts/packages.sh abi` finds a broken ABI: in a copy of this checkout with a history
# of its own, whose last tag is the state before the change. Takes minutes: the copy is built twice.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
copy=$root/build/abi_test
export LATCHKEY_DEPS=${LATCHKEY_DEPS:-$root/build/deps}

say() { printf 'abi_test: %s\n' "$*"; }

rm -rf "$copy"
mkdir -p "$copy"
cd "$root"
git ls-files -co --exclude-standard -z | xargs -0 cp --parents -t "$copy"
cd "$copy"
git init --quiet
commit() {
  git add --all
  git -c user.name=test -c user.email=test@localhost commit --quiet --allow-empty --message "$1"
}

# expect <exit status> <words>: what `scripts/packages.sh abi` says.
expect() {
  local said status=0
  said=$(scripts/packages.sh abi 2>&1) || status=$?
  if [[ $status == "$1" && $said == *"$2"* ]]; then
    say "as expected: ${said##*$'\n'}"
    return
  fi
  printf '%s\n' "$said"
  say "expected status $1 and '$2'; the status is $status"
  exit 1
}

commit "before"
expect 0 "There is no release yet to compare with."

git tag v0.0.1
commit "no change"
expect 0 "the ABI is that of v0.0.1"

# A member of a class that functions of the library take.
sed -i '/^struct Options {/a int added_by_the_test = 0;' include/latchkey/options.hpp
grep -q added_by_the_test include/latchkey/options.hpp
commit "another member"
expect 1 "the ABI differs from that of v0.0.1, and the shared library has the same name"

sed -i 's/^\(#define LATCHKEY_VERSION_MINOR\) .*/\1 999/' include/latchkey/version.hpp
commit "another version"
expect 0 "the ABI differs from that of v0.0.1, and the shared library has another name"
rm -rf "$copy"

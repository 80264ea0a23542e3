#!/usr/bin/env bash
# Makes the packages of latchkey and tries them as a new user would.
#
#   scripts/packages.sh deb      .deb packages in build/packages/packages; lintian must be silent
#   scripts/packages.sh root     a clean Debian 12 in build/roots/bookworm.tar.gz; as root
#   scripts/packages.sh routes [route]...   in copies of the clean root, from nothing to a running
#                                program: add_subdirectory fetch_content find_package pkg_config conan
#                                deb wheel stores opentelemetry; prints the minutes and the commands of each; as root.
#                                The last one needs Debian 13, and makes build/roots/trixie.tar.gz
#   scripts/packages.sh conan    `conan create .` without a remote
#   scripts/packages.sh abi [commit]   compares the shared library with that of the last tag, by abidiff
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
work=$root/build/packages
deps=${LATCHKEY_DEPS:-$root/build/deps}
mkdir -p build
. scripts/roots.sh

say() { printf 'packages: %s\n' "$*"; }
skip() { say "$* The step is left out."; exit 0; }
fail() { say "$*"; exit 1; }
quietly() { local log=$1; shift; "$@" >"$log" 2>&1 || { cat "$log"; exit 1; }; }

# What Debian's dpkg-buildflags calls hardening=+all, with the stronger checks of buffers that GCC 12 has.
hardening=(-fstack-protector-strong -fstack-clash-protection -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
           -Wformat -Werror=format-security)
case $(uname -m) in
  x86_64) hardening+=(-fcf-protection) ;;
  aarch64) hardening+=(-mbranch-protection=standard) ;;
esac

# hardened <program or library>: its symbols are bound when it is loaded, and are read-only then.
hardened() {
  readelf -d "$1" | grep 'FLAGS.*NOW' >/dev/null && readelf -lW "$1" | grep GNU_RELRO >/dev/null
}

make_deb() {
  quietly build/packages.log cmake -G Ninja -S . -B "$work" -DCMAKE_BUILD_TYPE=Release \
    "-DCMAKE_CXX_FLAGS=${hardening[*]}" -DCMAKE_EXE_LINKER_FLAGS=-Wl,-z,relro,-z,now \
    -DCMAKE_SHARED_LINKER_FLAGS=-Wl,-z,relro,-z,now \
    -DCMAKE_INSTALL_PREFIX=/usr -DLATCHKEY_PACKAGES=ON -DLATCHKEY_SHARED=ON -DLATCHKEY_UNITY=ON \
    -DLATCHKEY_TESTS=OFF -DLATCHKEY_EXAMPLES=OFF
  cmake --build "$work" -- --quiet
  local file
  for file in "$work/latchkey" "$work"/liblatchkey.so; do
    hardened "$file" || fail "$file was not linked with -z relro -z now"
  done
  rm -rf "$work/packages"
  (cd "$work" && quietly "$work/cpack.log" cpack)
  command -v lintian >/dev/null || fail "There is no lintian: make deps installs it."
  # A package that is never uploaded closes no bug of Debian's; everything else is an error.
  lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$work"/packages/*.deb
  say "$(find "$work/packages" -maxdepth 1 -name '*.deb' | wc -l) packages, nothing for lintian to say"
}

clean_root() {
  [[ $(id -u) == 0 ]] || skip "debootstrap needs root."
  make_root bookworm
}

# opentelemetry-cpp is newer than Debian 12.
suite_of() { [[ $1 == opentelemetry ]] && echo trixie || echo bookworm; }

# In a copy of the clean root with the sources in /latchkey.
try_route() {
  local route=$1 clean=$root/build/clean_$1 status=0 suite
  suite=$(suite_of "$route")
  make_root "$suite"
  copy_root "$suite" "$clean"
  if [[ $route == deb ]]; then cp "$work"/packages/*.deb "$clean/latchkey"; fi
  in_root "$clean" /latchkey/scripts/try_route.sh "$route" >"build/route_$route.log" 2>&1 || status=$?
  remove_root "$clean"
  ((status == 0)) || { tail -n 40 "build/route_$route.log"; say "the route $route failed"; return 1; }
  say "$route works"
}

# The routes of this run, the minutes of each, and the commands that a user would type.
table_of_routes() {
  local minutes='{ printf "%-18s %13.1f %9.1f %9.1f\n", $2, $3 / 60, $4 / 60, ($3 + $4) / 60 }' route
  printf '\n%-18s %13s %9s %9s\n' minutes "what it needs" latchkey together
  for route in "$@"; do awk "/^route: / $minutes" "build/route_$route.log"; done
  for route in "$@"; do
    printf '\n%s\n' "$route"
    sed -n 's/^step: /  /p' "build/route_$route.log"
  done
}

make_conan() {
  command -v conan >/dev/null || skip "There is no conan (pip install conan)."
  local CONAN_HOME=$root/build/conan_home
  export CONAN_HOME LATCHKEY_DEPS=$deps
  quietly build/conan_profile.log conan profile detect --exist-ok
  conan remote disable '*' >/dev/null 2>&1
  quietly build/conan.log conan create . --no-remote -s compiler.cppstd=20 -s build_type=Release
  grep '^latchkey ' build/conan.log
}

# library_of <source folder> <build folder>: builds its shared library with debug information.
library_of() {
  quietly "$2.log" cmake -G Ninja -S "$1" -B "$2" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g" -DLATCHKEY_UNITY=ON -DLATCHKEY_SHARED=ON \
    -DLATCHKEY_TESTS=OFF -DLATCHKEY_EXAMPLES=OFF -DLATCHKEY_CLI=OFF "-DLATCHKEY_DEPS=$deps"
  cmake --build "$2" --target latchkey_shared -- --quiet
}

# The last tag v<version> or, in a clone without tags, the commit "Version <version>".
last_release() {
  git describe --tags --abbrev=0 --match 'v[0-9]*' "$1" 2>/dev/null ||
    git log -1 --format=%h --extended-regexp --grep='^Version [0-9]+\.[0-9]+\.[0-9]+$' "$1" \
      2>/dev/null || true
}

compare_abi() {
  command -v abidiff >/dev/null || fail "There is no abidiff: make deps installs abigail-tools."
  local before=${1:-} now=HEAD
  git diff --quiet HEAD && now=HEAD^  # this may be a tagged commit itself
  [[ -n $before ]] || before=$(last_release "$now")
  [[ -n $before ]] || skip "There is no release yet to compare with."
  git cat-file -e "$before:cmake/SharedLibrary.cmake" 2>/dev/null ||
    skip "$before has no shared library to compare with."
  rm -rf build/abi_before
  mkdir build/abi_before
  git archive "$before" | tar -x -C build/abi_before
  library_of build/abi_before build/abi_before/build
  library_of . build/abi_now
  # Additions are fine; what is removed or changed needs a new major version (0.x: minor).
  if abidiff --no-added-syms --headers-dir1 build/abi_before/include --headers-dir2 include \
       build/abi_before/build/liblatchkey.so build/abi_now/liblatchkey.so; then
    say "the ABI is that of $before"
    return
  fi
  local soname
  soname() { readelf -d "$1" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p'; }
  [[ $(soname build/abi_before/build/liblatchkey.so) != $(soname build/abi_now/liblatchkey.so) ]] ||
    { say "the ABI differs from that of $before, and the shared library has the same name"; exit 1; }
  say "the ABI differs from that of $before, and the shared library has another name"
}

case ${1:-} in
  deb) make_deb ;;
  root) clean_root ;;
  routes)
    shift
    (($#)) || set -- add_subdirectory fetch_content find_package pkg_config conan deb wheel stores opentelemetry
    clean_root
    [[ " $* " != *" deb "* || -d $work/packages ]] || make_deb
    for route in "$@"; do try_route "$route"; done
    table_of_routes "$@"
    ;;
  conan) make_conan ;;
  abi) compare_abi "${2:-}" ;;
  *) sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' "${BASH_SOURCE[0]}"; exit 2 ;;
esac

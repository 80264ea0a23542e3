#!/usr/bin/env bash
# Makes the packages of latchkey and tries them as a new user would.
#
#   scripts/packages.sh deb      .deb packages in build/packages/packages; lintian must be silent
#   scripts/packages.sh root     a clean Debian 12 in build/clean_root.tar.gz, by debootstrap; as root
#   scripts/packages.sh routes [route]...   in copies of the clean root, from nothing to a running
#                                program: add_subdirectory fetch_content find_package pkg_config conan
#                                deb; prints the minutes and the commands of each; as root
#   scripts/packages.sh conan    `conan create .` without a remote
#   scripts/packages.sh abi [commit]   compares the shared library with that of the last tag, by abidiff
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
work=$root/build/packages
deps=${LATCHKEY_DEPS:-$root/build/deps}
mkdir -p build

say() { printf 'packages: %s\n' "$*"; }
skip() { say "$* The step is left out."; exit 0; }
fail() { say "$*"; exit 1; }
quietly() { local log=$1; shift; "$@" >"$log" 2>&1 || { cat "$log"; exit 1; }; }

make_deb() {
  quietly build/packages.log cmake -G Ninja -S . -B "$work" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_INSTALL_PREFIX=/usr -DLATCHKEY_PACKAGES=ON -DLATCHKEY_SHARED=ON -DLATCHKEY_UNITY=ON \
    -DLATCHKEY_TESTS=OFF -DLATCHKEY_EXAMPLES=OFF
  cmake --build "$work" -- --quiet
  rm -rf "$work/packages"
  (cd "$work" && quietly "$work/cpack.log" cpack)
  command -v lintian >/dev/null || fail "There is no lintian: make deps installs it."
  # A package that is never uploaded closes no bug of Debian's; everything else is an error.
  lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$work"/packages/*.deb
  say "$(find "$work/packages" -maxdepth 1 -name '*.deb' | wc -l) packages, nothing for lintian to say"
}

make_root() {
  [[ $(id -u) == 0 ]] || skip "debootstrap needs root."
  command -v debootstrap >/dev/null || fail "There is no debootstrap: make deps installs it."
  [[ -e build/clean_root.tar.gz ]] && return
  rm -rf build/clean_root
  quietly build/debootstrap.log debootstrap --variant=minbase --include=ca-certificates \
    bookworm build/clean_root
  tar -C build/clean_root -czf build/clean_root.tar.new .
  mv build/clean_root.tar.new build/clean_root.tar.gz
  rm -rf build/clean_root
}

# In a copy of the clean root with the sources in /latchkey. It reaches the network as this machine
# does: by the same name servers and proxies, with the same certificate authorities.
try_route() {
  local route=$1 clean=$root/build/clean_$1 status=0
  rm -rf "$clean"
  mkdir "$clean"
  tar -C "$clean" -xzf build/clean_root.tar.gz
  cp /etc/resolv.conf "$clean/etc/resolv.conf"
  cp /etc/apt/sources.list "$clean/etc/apt/" 2>/dev/null || true
  cp /etc/ssl/certs/ca-certificates.crt "$clean/etc/ssl/certs/"
  mkdir "$clean/latchkey"
  git ls-files -co --exclude-standard -z | xargs -0 cp --parents -t "$clean/latchkey"
  if [[ $route == deb ]]; then cp "$work"/packages/*.deb "$clean/latchkey"; fi
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    PIP_CERT=/etc/ssl/certs/ca-certificates.crt \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    chroot "$clean" /latchkey/scripts/try_route.sh "$route" >"build/route_$route.log" 2>&1 || status=$?
  rm -rf "$clean"
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
  root) make_root ;;
  routes)
    shift
    (($#)) || set -- add_subdirectory fetch_content find_package pkg_config conan deb
    make_root
    [[ " $* " != *" deb "* || -d $work/packages ]] || make_deb
    for route in "$@"; do try_route "$route"; done
    table_of_routes "$@"
    ;;
  conan) make_conan ;;
  abi) compare_abi "${2:-}" ;;
  *) sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' "${BASH_SOURCE[0]}"; exit 2 ;;
esac

#!/usr/bin/env bash
# Builds and tests latchkey on the systems and with the compilers of today, each in a clean root.
#
#   scripts/lanes.sh [lane...]     default: all; as root; prints a table, and writes it to docs/installing.md
#   scripts/lanes.sh list          the names of the lanes
#
# A lane runs the unit tests, the simulator, the programs that must not compile, and the tests of latchkey
# on that system's Redis; everything else is built. With the system's own compiler it also runs the tests of
# the other stores on that system's servers. The lanes `readme` do what README.md says, with nothing but git,
# make and apt: `make demo` and `make test` in a clone. A lane's log is build/lanes/<lane>.log. Roots with the
# packages of a lane installed are kept in build/roots, as is the cache of its compiler.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1
. scripts/roots.sh

say() { printf 'lanes: %s\n' "$*"; }
fail() { say "$*"; exit 1; }

# lane | suite | compiler: gcc, a package, or newest-clang | C++ | kind
lanes='
bookworm-gcc     bookworm  gcc           20  all
bookworm-clang   bookworm  clang-19      20  all
trixie-gcc       trixie    gcc           20  stores
trixie-clang     trixie    clang-19      20  all
trixie-newest    trixie    newest-clang  20  all
forky-gcc        forky     gcc           20  stores
forky-gcc-23     forky     gcc           23  all
forky-gcc-26     forky     gcc           26  all
forky-clang      forky     newest-clang  20  all
forky-libc++     forky     newest-clang  20  libc++
bookworm-readme  bookworm  gcc           20  readme
trixie-readme    trixie    gcc           20  readme
aarch64          trixie    gcc           20  aarch64
flags            trixie    gcc           20  flags
'
names() { awk 'NF { print $1 }' <<<"$lanes"; }

# --- within the root -----------------------------------------------------------------------------

build=build/lane
newest_clang() { apt-cache pkgnames clang- | sed -nE '/^clang-[0-9]+$/p' | sort -V | tail -n 1; }
install_packages() { apt-get install -y -qq --no-install-recommends "$@" >>build/apt.log 2>&1; }
version_of() { dpkg-query -W -f '${Version}' "$1" 2>/dev/null | sed -E 's/^[0-9]+://; s/[-+].*//'; }

# Installs the compiler that a lane names, and sets `cxx`.
provide_compiler() {
  local compiler=$1
  cxx=g++
  [[ $compiler != gcc ]] || return 0
  [[ $compiler != newest-clang ]] || compiler=$(newest_clang)
  install_packages "$compiler" || return 1
  cxx=${compiler/clang/clang++}
}

configure() {
  local folder=$1
  shift
  cmake -G Ninja -S . -B "$folder" -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1" \
    -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_COMPILE_WARNING_AS_ERROR=ON -DLATCHKEY_UNITY=ON "$@"
}

# Runs ctest and leaves what the tests said in $build/Testing/Temporary.
run_tests() { scripts/run_tests.sh "$build" "$@"; }

# report <passed> <failed> <remark>: the line that the host reads. The tests are counted as GoogleTest and
# scripts/compile_cases.sh count them; a program that ends before it can say so is one that failed.
report() {
  local system compiler
  system=$(. /etc/os-release && printf '%s' "${PRETTY_NAME#Debian GNU/Linux }")
  compiler=$("$cxx" -dumpfullversion -dumpversion 2>/dev/null | head -n 1)
  [[ $cxx == *clang* ]] && compiler="clang $compiler" || compiler="GCC $compiler"
  printf 'lane: Debian %s | %s | %s | Redis %s%s | %s | %s | %s\n' \
    "$system" "$compiler" "$standard" "$(version_of redis-server)" "$stores" "$1" "$2" "$3"
}
stores=
# The servers of the other stores, for report.
name_stores() {
  local valkey=build/deps/valkey/usr/bin/valkey-server postgresql
  postgresql=$(ls /usr/lib/postgresql | sort -V | tail -n 1)
  [[ -x $valkey ]] || valkey=valkey-server
  stores=$(printf ', Valkey %s, PostgreSQL %s, MariaDB %s, etcd %s, ZooKeeper %s' \
    "$("$valkey" --version | sed -E 's/.* v=([0-9.]+).*/\1/')" "$(version_of "postgresql-$postgresql")" \
    "$(version_of mariadb-server-core)" "$(version_of etcd-server)" "$(version_of zookeeper)")
}
count() {
  local log=$build/Testing/Temporary/LastTest.log first
  first=$log.first
  [[ -e $first ]] || first=$log
  passed=$(awk '/^\[  PASSED  \] [0-9]+ test/ { n += $4 } /^ok   / { ++n } END { print n + 0 }' "$first")
  failed=$(awk '/^\[  FAILED  \] .* \([0-9]+ ms\)$/ || /^FAIL / { ++n; ++here }
                /^Test (Failed|Passed)\.$/ { if ($2 == "Failed." && !here) ++n; here = 0 }
                END { print n + 0 }' "$log")
  names_of_failed=$(sed -nE 's/^\[  FAILED  \] ([A-Za-z_0-9\/.]+)[ ,].*$/\1/p; s/^FAIL ([^ ]+)$/\1/p' "$log" |
                      sort -u | tr '\n' ' ')
}

readonly tests_of_all='unit|opentelemetry|example_opentelemetry|sim|asio|redis_[0-9]+|compile_fail'
readonly tests_of_stores='(postgresql|mysql|zookeeper|etcd|kubernetes|mongodb)_[0-9]+'

# build_and_test <tests> [cmake option...]
build_and_test() {
  local status=0 tests=$1
  shift
  configure "$build" "-DCMAKE_CXX_STANDARD=$standard" "$@" && cmake --build "$build" -- --quiet || return 1
  if [[ $tests == *"|$tests_of_stores" ]]; then
    cmake --build "$build" --target store_tests -- --quiet || return 1
  fi
  run_tests -R "^($tests)$" || status=1
  count
  report "$passed" "$failed" "$names_of_failed"
  return $status
}
lane_all() { build_and_test "$tests_of_all"; }

# With the servers of the other stores that the system has, and its libraries for them.
lane_stores() {
  scripts/deps.sh stores && name_stores && build_and_test "$tests_of_all|valkey|$tests_of_stores"
}

# Without the libraries of the other stores, which a reader of README.md does not have.
lane_readme() {
  local status=0
  apt-get update -qq && install_packages git make || { cat build/apt.log; return 1; }
  build=build/test cxx=g++
  make demo && make test || status=1
  count
  report "$passed" "$failed" "make demo, make test $names_of_failed"
  return $status
}

# Debian's yaml-cpp, fmt and GoogleTest are made for libstdc++: the library without policy files, and a
# program that uses it.
lane_libcxx() {
  local version=${cxx##*-}
  install_packages "libc++-$version-dev" "libc++abi-$version-dev" || return 1
  configure "$build" -DCMAKE_CXX_FLAGS=-stdlib=libc++ -DLATCHKEY_POLICIES=OFF -DLATCHKEY_CLI=OFF \
    -DLATCHKEY_TESTS=OFF || return 1
  cmake --build "$build" --target latchkey example_lock_action -- --quiet || return 1
  "$build/examples/lock_action" || return 1
  report 1 0 "library and example, libc++"
}

# The programs of the tests run under qemu, which the kernel need not know: each is started by it.
lane_aarch64() {
  dpkg --add-architecture arm64
  # The manual pages of libpsl-dev differ between architectures, which keeps the second one out.
  echo 'path-exclude=/usr/share/man/*' >/etc/dpkg/dpkg.cfg.d/no-manual-pages
  apt-get update -qq >>build/apt.log 2>&1
  install_packages crossbuild-essential-arm64 qemu-user file libssl-dev:arm64 libnghttp2-dev:arm64 \
    libyaml-cpp-dev:arm64 libfmt-dev:arm64 libgtest-dev:arm64 libgmock-dev:arm64 libhiredis-dev:arm64 \
    libspdlog-dev:arm64 prometheus-cpp-dev:arm64 ||
    return 1
  cxx=aarch64-linux-gnu-g++
  cat >build/aarch64.cmake <<'TOOLCHAIN'
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
TOOLCHAIN
  export PKG_CONFIG_LIBDIR=/usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig
  configure "$build" "-DCMAKE_TOOLCHAIN_FILE=$PWD/build/aarch64.cmake" || return 1
  cmake --build "$build" --target latchkey_tests latchkey_sim latchkey_cli -- --quiet || return 1
  local status=0
  run_tests -R '^(unit|sim)$' || status=1
  count
  configure build/arm64 "-DCMAKE_TOOLCHAIN_FILE=$PWD/build/aarch64.cmake" -DCMAKE_INSTALL_PREFIX=/usr \
    -DLATCHKEY_PACKAGES=ON -DLATCHKEY_SHARED=ON -DLATCHKEY_TESTS=OFF -DLATCHKEY_EXAMPLES=OFF || return 1
  cmake --build build/arm64 -- --quiet && (cd build/arm64 && cpack) || return 1
  [[ -n $(find build/arm64/packages -name '*arm64.deb') ]] || return 1
  report "$passed" "$failed" "qemu-user; .deb for arm64 $names_of_failed"
  return $status
}

# Each set of flags builds the library and the tool once, and the tool says its version.
lane_flags() {
  local name flags linker options passed=0 failed=0 wrong=
  while IFS='|' read -r name flags linker options; do
    rm -rf "$build"
    # shellcheck disable=SC2086  # several options
    if configure "$build" -DLATCHKEY_TESTS=OFF -DLATCHKEY_EXAMPLES=OFF "-DCMAKE_CXX_FLAGS=$flags" \
         "-DCMAKE_EXE_LINKER_FLAGS=$linker" $options &&
         cmake --build "$build" --target latchkey_cli -- --quiet && "$build"/latchkey --version; then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      wrong+="$name "
    fi
  done <<'FLAGS'
assertions|-D_GLIBCXX_ASSERTIONS||
fortify|-O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3||
lto|||-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON
static-pie|-fPIE|-static-pie|-DLATCHKEY_POLICIES=OFF -DLATCHKEY_CLI_STORES=OFF -DOPENSSL_USE_STATIC_LIBS=ON
no-plt|-fno-plt||
c++23|||-DCMAKE_CXX_STANDARD=23
FLAGS
  report "$passed" "$failed" "$wrong"
  ((failed == 0))
}

# inside <lane>: what happens in the root.
inside() {
  local suite compiler kind
  read -r _ suite compiler standard kind < <(awk -v lane="$1" '$1 == lane' <<<"$lanes")
  export CCACHE_DIR=/root/ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
  mkdir -p build
  if [[ $kind != readme ]]; then
    scripts/deps.sh test || return 1
    provide_compiler "$compiler" || { cat build/apt.log; return 1; }
  fi
  "lane_${kind/libc++/libcxx}"
}

# --- on the host ---------------------------------------------------------------------------------

# The root of a suite keeps its packages and its compiler's cache from run to run; the sources are new.
prepare() {
  local suite=$1 folder=$2
  make_root "$suite" || return 1
  [[ -d $folder ]] || copy_root "$suite" "$folder" || return 1
  find "$folder/latchkey" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
  git ls-files -co --exclude-standard -z | xargs -0 cp --parents -t "$folder/latchkey"
}

# A new root with a clone of what is committed.
prepare_clone() {
  local suite=$1 folder=$2
  make_root "$suite" && copy_root "$suite" "$folder" || return 1
  rm -rf "$folder/latchkey"
  git clone -q --no-hardlinks "$root" "$folder/latchkey"
}

run_lane() {
  local lane=$1 suite folder prepare=prepare start=$SECONDS log=build/lanes/$1.log status=0 line
  suite=$(awk -v lane="$lane" '$1 == lane { print $2 }' <<<"$lanes")
  [[ -n $suite ]] || fail "no lane named '$lane'; expected one of $(names | tr '\n' ' ')"
  folder=$roots/lane-$suite
  case $lane in
    aarch64) folder=$roots/lane-$lane ;;  # another architecture's packages change a root for good
    *-readme) folder=$roots/lane-$lane prepare=prepare_clone ;;
  esac
  say "$lane"
  "$prepare" "$suite" "$folder" >"$log" 2>&1 || { tail -n 20 "$log"; return 1; }
  rm -rf "$folder/latchkey/build/lane" "$folder/latchkey/build/arm64"
  in_root "$folder" /latchkey/scripts/lanes.sh inside "$lane" >>"$log" 2>&1 || status=1
  line=$(sed -n 's/^lane: //p' "$log" | tail -n 1)
  [[ -n $line ]] || line='| | | | 0 | 1 | it does not build'
  local minutes=$(((SECONDS - start + 30) / 60))
  printf '| %s | %s | %s | %s |\n' "$lane" "$line" "$minutes" "$(date +%F)" >"build/lanes/$lane.row"
  ((status == 0)) || tail -n 40 "$log"
  return $status
}

# Puts the rows of this run between the markers of docs/installing.md, and keeps those of other lanes.
write_table() {
  local page=docs/installing.md lane rows=
  for lane in $(names); do
    if [[ -e build/lanes/$lane.row ]]; then rows+=$(cat "build/lanes/$lane.row")$'\n'
    else rows+=$(sed -n "/<!-- lanes: begin/,/<!-- lanes: end/{/^| $lane |/p}" "$page")$'\n'
    fi
  done
  rows=$(sed '/^$/d' <<<"$rows")
  cat build/lanes/*.row
  awk -v rows="$rows" '
    /<!-- lanes: end -->/ { inside = 0 }
    !inside { print }
    /<!-- lanes: begin -->/ {
      inside = 1
      print "| lane | system | compiler | C++ | with | passed | failed | remarks | minutes | date |"
      print "|---|---|---|---|---|---|---|---|---|---|"
      print rows
    }' "$page" >build/lanes/page && cp build/lanes/page "$page"
}

case ${1:-} in
  list) names ;;
  inside) inside "$2"; exit ;;
  *)
    mkdir -p build/lanes
    rm -f build/lanes/*.row
    (($#)) || mapfile -t wanted < <(names)
    (($#)) && wanted=("$@")
    failed=0
    for lane in "${wanted[@]}"; do run_lane "$lane" || failed=$((failed + 1)); done
    write_table
    ((failed == 0)) || fail "$failed lanes failed"
    ;;
esac

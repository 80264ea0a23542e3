#!/usr/bin/env bash
# Installs what a make target needs on Debian 12 or newer; does nothing if it is installed already.
#
#   scripts/deps.sh [build|wheel|demo|test|bench|peers|clang|fuzz|docs|shots|stores|packages|all]...  default: all
#   scripts/deps.sh libstdcxx  headers of GCC 14's standard library, into build/deps, unless the system
#                              has that or a newer one: needs no root
#   scripts/deps.sh newer      only what is newer than Debian 12, into build/deps: needs no root
#
# hiredis >= 1.1 and Boost.PFR >= 2.2 are newer than Debian 12. A newer Debian has them, and its own
# packages are installed. On Debian 12 they are downloaded from Debian 13's archive into build/deps
# with a separate apt configuration, so that the system is not changed. apt checks their signatures
# with the system's keyring. For the tests, the headers of opentelemetry-cpp, Valkey (on Debian 12 that of
# its backports) and Redis 6 from Debian 11 are downloaded too; if they are not available, their tests are
# left out.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
deps=${LATCHKEY_DEPS:-$root/build/deps}
codename=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
# The suites of Debian from which packages are unpacked into build/deps: from Debian 13 on, the
# system's own.
newer_suite=trixie
valkey_suite=bookworm-backports
redis6_suite=bullseye
# Debian's testing has no number.
is_debian_after_12() (
  . /etc/os-release
  [[ ${ID:-} == debian && -n ${VERSION_CODENAME:-} ]] && ((${VERSION_ID:-99} > 12))
)
if is_debian_after_12; then
  newer_suite=$codename
  valkey_suite=$codename
fi

# Words in the lists below that stand for packages whose names the archive must be asked for.
boost=boost          # Boost >= 1.81 with all of its headers
own_libraries=newer  # hiredis >= 1.1 and Boost >= 1.84, where the archive has them
telemetry=telemetry  # opentelemetry-cpp >= 1.9 and what its CMake package looks for, where the archive has them

base=(build-essential cmake ninja-build ccache librange-v3-dev libyaml-cpp-dev libssl-dev
      libcli11-dev libfmt-dev nlohmann-json3-dev systemtap-sdt-dev "$own_libraries")
demo=(prometheus-cpp-dev)
testing=(libgtest-dev libgmock-dev "$boost" "$telemetry" libhiredis-dev redis-server libspdlog-dev curl
         catch2 doctest-dev gdb jq pkg-config python3 tmux valgrind)
bench=(libbenchmark-dev "$boost" libfmt-dev redis-server)
# What the plots of docs/benchmarks.md and the programs in Java need. Go must be newer than Debian's.
peers=(default-jdk-headless maven python3-matplotlib)
clang=(clang-19 clang-tidy-19 clang-format-19 libclang-rt-19-dev)
fuzz=(llvm-19)
docs=(python3 python3-venv doxygen)
shots=(chromium)
telemetry_packages=(opentelemetry-cpp-dev libabsl-dev libgrpc++-dev libprotobuf-dev protobuf-compiler
                    protobuf-compiler-grpc libcurl4-openssl-dev python3)
# The client libraries and the servers of other stores.
stores=(libgtest-dev libgmock-dev pkg-config libpq-dev postgresql pgbouncer libmariadb-dev mariadb-server
        libzookeeper-st-dev zookeeper default-jre-headless libnghttp2-dev etcd-server etcd-client
        libmongoc-dev)
packages=(libgtest-dev libgmock-dev libspdlog-dev lintian debootstrap abigail-tools)

say() { printf 'deps: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

as_root() {
  if [[ $(id -u) == 0 ]]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else fail "installing packages needs root or sudo"; fi
}

wanted() {
  local group
  [[ $* == docs || $* == shots ]] || printf '%s\n' "${base[@]}"  # the site is built without a compiler
  for group in "$@"; do
    case $group in
      build) ;;
      wheel) printf 'python3\n' ;;
      demo) printf '%s\n' "${demo[@]}" ;;
      test) printf '%s\n' "${demo[@]}" "${testing[@]}" ;;
      bench) printf '%s\n' "${bench[@]}" ;;
      peers) printf '%s\n' "${bench[@]}" "${peers[@]}" ;;
      clang) printf '%s\n' "${demo[@]}" "${testing[@]}" "${clang[@]}" ;;
      fuzz) printf '%s\n' "${demo[@]}" "${testing[@]}" "${clang[@]}" "${fuzz[@]}" ;;
      docs) printf '%s\n' "${docs[@]}" ;;
      shots) printf '%s\n' "${shots[@]}" ;;
      stores) printf '%s\n' "${demo[@]}" "${testing[@]}" "${stores[@]}" ;;
      packages) printf '%s\n' "${demo[@]}" "${packages[@]}" ;;
      all)
        printf '%s\n' "${demo[@]}" "${testing[@]}" "${bench[@]}" "${clang[@]}" "${fuzz[@]}" \
          "${docs[@]}" "${stores[@]}" "${packages[@]}"
        ;;
      *)
        fail "no group '$group' (build, wheel, demo, test, bench, peers, clang, fuzz, docs, shots, stores, packages, all)"
        ;;
    esac
  done
}

# The system's headers are found in /usr, or in /usr/local.
system_has_new_pfr() {
  grep -qs get_name /usr/include/boost/pfr/core_name.hpp \
    /usr/local/include/boost/pfr/core_name.hpp
}
system_has_new_hiredis() {
  grep -qsE '#define HIREDIS_MAJOR [1-9]' /usr/include/hiredis/hiredis.h \
    /usr/local/include/hiredis/hiredis.h
}
system_has_boost() {
  local version
  version=$(sed -n 's/^#define BOOST_VERSION //p' /usr/include/boost/version.hpp \
              /usr/local/include/boost/version.hpp 2>/dev/null | sort -n | tail -n 1)
  ((${version:-0} >= 108100))
}

# version_of <package>: the version that apt would install; nothing if there is none.
version_of() { apt-cache policy "$1" 2>/dev/null | sed -n 's/^  Candidate: \([0-9].*\)$/\1/p'; }
is_at_least() { [[ -n $1 ]] && dpkg --compare-versions "$1" ge "$2"; }

# boost_package <least version>: the newest package with Boost's headers; nothing if it is too old.
boost_package() {
  local newest
  newest=$(apt-cache pkgnames libboost1 2>/dev/null |
             sed -nE '/^libboost1\.[0-9]+-dev$/p' | sort -V | tail -n 1)
  if is_at_least "$(version_of "$newest")" "$1"; then printf '%s\n' "$newest"; fi
}

# resolved <package or word>...: the packages that the words of the lists stand for, by what the
# archive has now. Packages with different versions of Boost exclude each other, so a Boost that is
# installed stays; PFR may then come from build/deps.
resolved() {
  local name
  for name in "$@"; do
    case $name in
      "$boost") system_has_boost || boost_package 1.81 ;;
      "$telemetry")
        if is_at_least "$(version_of opentelemetry-cpp-dev)" 1.9; then
          printf '%s\n' "${telemetry_packages[@]}"
        fi
        ;;
      "$own_libraries")
        if ! system_has_new_hiredis && is_at_least "$(version_of libhiredis-dev)" 1.1; then
          printf 'libhiredis-dev\n'
        fi
        system_has_boost || boost_package 1.84
        ;;
      *) printf '%s\n' "$name" ;;
    esac
  done | sort -u
}

# Prints those of the named packages that are not installed.
missing() {
  local package
  for package in "$@"; do
    case $package in
      "$boost") system_has_boost && continue ;;
      "$telemetry")
        # build/deps has its headers where this system's archive does not have it.
        [[ $newer_suite != "$codename" ]] && continue
        [[ -z $(missing "${telemetry_packages[@]}") ]] && continue
        ;;
      "$own_libraries")
        # build/deps may have what this system's archive does not.
        [[ $newer_suite != "$codename" ]] && continue
        system_has_new_hiredis && system_has_boost && continue
        ;;
    esac
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      printf '%s\n' "$package"
  done
}

# The servers are for the tests, which start their own: their installation must not start one on the
# usual port, now or at the next boot. Debian runs the policy script, if there is one.
policy=/usr/sbin/policy-rc.d
keep_services_stopped() {
  [[ ! -e $policy ]] || return 0
  trap 'as_root rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
  as_root chmod +x "$policy"
}
keep_disabled() {
  if command -v systemctl >/dev/null; then
    as_root systemctl disable --quiet "$1" >/dev/null 2>&1 || true
  fi
}

install_system_packages() {
  local needed log
  mapfile -t needed < <(wanted "$@" | sort -u)
  mapfile -t needed < <(missing "${needed[@]}")
  ((${#needed[@]})) || return 0
  log=$(mktemp)
  as_root apt-get update -qq >"$log" 2>&1 || { cat "$log" >&2; fail "apt-get could not update its lists"; }
  mapfile -t needed < <(resolved "${needed[@]}")
  ((${#needed[@]})) || return 0
  say "installing ${needed[*]}"
  keep_services_stopped
  if ! as_root env DEBIAN_FRONTEND=noninteractive \
         apt-get install -y -qq --no-install-recommends "${needed[@]}" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    fail "apt-get could not install them"
  fi
  rm -f "$log"
  local service
  for service in redis-server postgresql pgbouncer mariadb zookeeper etcd; do
    [[ " ${needed[*]} " != *" $service"* ]] || keep_disabled "$service"
  done
}

# The archive that this system uses for Debian: the mirror that its administrator chose.
debian_mirror() {
  local uri
  uri=$(apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' \
          'Created-By: Packages' 2>/dev/null |
        awk -v suite="$codename" '$1 == suite && $2 == "main" { print $3; exit }')
  printf '%s' "${uri:-http://deb.debian.org/debian}"
}

# A separate apt configuration: it has one suite, and keeps only the system's proxy settings.
configure_private_apt() {
  local apt=$1 suite=$2
  mkdir -p "$apt"/{conf.d,sources.d,lists/partial,cache/archives/partial,state}
  : >"$apt/state/status"
  apt-config dump | grep '^Acquire::' | grep -viE 'insecure|weak|downgrade|check' \
    >"$apt/conf.d/acquire" || true
  cat >"$apt/sources.d/newer.sources" <<EOF
Types: deb
URIs: $(debian_mirror)
Suites: $suite
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
EOF
  cat >"$apt/apt.conf" <<EOF
Dir::Etc::parts "$apt/conf.d";
Dir::Etc::main "/dev/null";
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$apt/sources.d";
Dir::Etc::preferencesparts "/dev/null";
Dir::State "$apt/state";
Dir::State::lists "$apt/lists";
Dir::State::status "$apt/state/status";
Dir::Cache "$apt/cache";
Dir::Log "$apt/state";
APT::Sandbox::User "";
APT::Get::AllowUnauthenticated "false";
Acquire::AllowInsecureRepositories "false";
Acquire::Retries "3";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
EOF
}

private_apt_get() { APT_CONFIG=$deps/apt/apt.conf apt-get -q "$@" >>"$deps/apt.log" 2>&1; }

# The names with the newest package of Boost >= 1.84 in the place of the word for Boost.
resolved_newest() {
  local name
  for name in "$@"; do
    if [[ $name == "$boost" ]]; then boost_package 1.84; else printf '%s\n' "$name"; fi
  done
}

# unpack <suite> <folder> <package>...: downloads packages and unpacks them there, without
# installing them. The system's own suite is read as the system reads it. If it fails, apt's output is
# in $deps/apt.log.
unpack() {
  local suite=$1 folder=$2 apt=$deps/apt package config=$deps/apt/apt.conf
  shift 2
  say "taking $* from Debian's $suite into build/deps"
  rm -rf "$apt" "$deps/apt.log"
  if [[ $suite == "$codename" ]]; then
    config=/dev/null
  else
    configure_private_apt "$apt" "$suite"
    update_private_apt || return 1
  fi
  mkdir -p "$folder" "$apt/debs"
  local packages
  mapfile -t packages < <(APT_CONFIG=$config resolved_newest "$@")
  (cd "$apt/debs" && APT_CONFIG=$config apt-get -q download "${packages[@]}") >>"$deps/apt.log" 2>&1 ||
    return 1
  for package in "$apt"/debs/*.deb; do
    dpkg -x "$package" "$folder"
  done
  rm -rf "$apt" "$deps/apt.log"
}

update_private_apt() {
  if ! private_apt_get update; then
    # A keyring older than the suite lacks the key of its signature; an upgraded one has it.
    { as_root apt-get update -qq; as_root apt-get install -y -qq debian-archive-keyring; } \
      >>"$deps/apt.log" 2>&1 || true
    private_apt_get update
  fi
}

provide_newer_libraries() {
  local packages=()
  system_has_new_hiredis || [[ -e $deps/root/usr/include/hiredis/hiredis.h ]] ||
    packages+=(libhiredis-dev)
  system_has_new_pfr || [[ -e $deps/include/latchkey/third_party/pfr.hpp ]] ||
    packages+=("$boost")
  ((${#packages[@]})) || return 0
  unpack "$newer_suite" "$deps/root" "${packages[@]}" ||
    { cat "$deps/apt.log" >&2; fail "cannot take ${packages[*]} from Debian's $newer_suite"; }
  if [[ " ${packages[*]} " == *" $boost "* ]]; then
    cmake -DFROM="$deps/root/usr/include" -DTO="$deps/include.new" \
      -P "$root/cmake/rewrite_pfr.cmake"
    # Without the headers, what CMake reads would say that there is a Boost.
    rm -rf "$deps/include" "$deps"/root/usr/include/boost "$deps"/root/usr/share \
      "$deps"/root/usr/lib/*/cmake/*oost*
    mv "$deps/include.new" "$deps/include"
  fi
}

# For scripts/newer_compiler.sh.
provide_libstdcxx() {
  local newest
  newest=$(find /usr/include/c++ -mindepth 1 -maxdepth 1 -printf '%f\n' 2>/dev/null | sort -n | tail -n 1)
  if ((${newest%%.*} >= 14)) || [[ -d $deps/libstdcxx/usr/include/c++/14 ]]; then return 0; fi
  unpack trixie "$deps/libstdcxx" libstdc++-14-dev libgcc-14-dev ||
    { cat "$deps/apt.log" >&2; fail "cannot take libstdc++-14-dev from Debian's trixie"; }
}

wants_tests() { [[ " $(wanted "$@" | tr '\n' ' ') " == *" libgtest-dev "* ]]; }

# Its dependencies are installed with redis-server.
provide_valkey() {
  if command -v valkey-server >/dev/null || [[ -x $deps/valkey/usr/bin/valkey-server ]]; then
    return 0
  fi
  unpack "$valkey_suite" "$deps/valkey" valkey-server valkey-tools ||
    say "no Valkey: the tests run on Redis only"
}

# With the libraries of its Debian release, which nothing else uses.
provide_redis6() {
  local folder=$deps/redis6
  [[ -x $folder/redis-server ]] && return 0
  if ! unpack "$redis6_suite" "$folder" redis-server redis-tools libhiredis0.14 libssl1.1 \
         liblua5.1-0 lua-bitop lua-cjson libjemalloc2 liblzf1; then
    say "no Redis 6: the tests run on newer ones only"
    return 0
  fi
  printf '#!/bin/sh\nLD_LIBRARY_PATH=%q exec %q "$@"\n' \
    "$folder/usr/lib/$(uname -m)-linux-gnu" "$folder/usr/bin/redis-server" >"$folder/redis-server"
  chmod +x "$folder/redis-server"
}

# The headers of its API, which need no library: the adapter is compiled, and tested with a tracer of the
# tests. An older Debian has no packages of the SDK.
provide_opentelemetry() {
  local folder=$deps/opentelemetry
  if [[ $newer_suite == "$codename" || -e $folder/include/opentelemetry/version.h ]]; then return 0; fi
  if ! unpack "$newer_suite" "$folder.new" opentelemetry-cpp-dev; then
    say "no opentelemetry-cpp: its adapter is left out"
    return 0
  fi
  mkdir -p "$folder"
  mv "$folder.new/usr/include" "$folder/include"
  rm -rf "$folder.new"
}

# Its package would start a service; the tests need the two programs only. Debian 13 has promtool in a package
# of its own.
provide_prometheus() {
  local programs=$deps/prometheus/usr/bin packages=(prometheus)
  if command -v prometheus >/dev/null || [[ -x $programs/prometheus && -x $programs/promtool ]]; then
    return 0
  fi
  if apt-cache show promtool >/dev/null 2>&1; then packages+=(promtool); fi
  unpack "$codename" "$deps/prometheus" "${packages[@]}" ||
    say "no Prometheus: its part of the test of ops/ is left out"
}

command -v apt-get >/dev/null ||
  fail "this script knows Debian only; README.md lists what latchkey needs"
(($#)) || set -- all
if [[ $* == newer ]]; then
  provide_newer_libraries
  exit
fi
if [[ $* == libstdcxx ]]; then
  provide_libstdcxx
  exit
fi
install_system_packages "$@"
[[ $* != docs ]] || exit 0
provide_newer_libraries
if wants_tests "$@"; then
  provide_valkey
  provide_redis6
  provide_opentelemetry
  provide_prometheus
fi

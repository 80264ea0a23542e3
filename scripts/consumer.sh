#!/usr/bin/env bash
# Builds and runs a program that uses latchkey, in one of the ways in which programs take it:
#
#   add_subdirectory  the checkout as it is after `make deps`
#   fetch_content     a copy of the sources without dependencies, by FetchContent; LATCHKEY_DEPS says
#                     where those are, and yaml-cpp and OpenSSL are left out; one of the programs has
#                     another version of latchkey beside it
#   find_package      after installation
#   pkg_config        after installation, without CMake: the program that README.md prints
#   readme            after installation: the project that README.md prints
#   thread_order      after installation: a program under ThreadSanitizer
#
#   scripts/consumer.sh <one of these> <work dir> <latchkey's build dir> <C++ compiler> [configure]
#
# With `configure`, a project that builds latchkey is configured only.
set -euo pipefail
kind=$1
work=$2
build=$3
export CXX=$4
configure_only=${5:-}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
log=$work/log

# Prints the fenced block of README.md that follows the line `<!-- consumer: $1 -->`.
readme_block() {
  awk -v marker="<!-- consumer: $1 -->" '
    $0 == marker { marked = 1; next }
    marked && /^```/ { if (inside) exit; inside = 1; next }
    inside' "$root/README.md"
}

# Writes the project that README.md prints into the folder $1.
readme_project() {
  mkdir "$1"
  for file in CMakeLists.txt main.cpp output; do
    readme_block "$file" >"$1/$file"
    [[ -s $1/$file ]] || { echo "README.md: no block after '<!-- consumer: $file -->'"; exit 1; }
  done
}

# needs <program> <library>: whether the program is linked with that shared library.
needs() { readelf -d "$1" | grep -q "NEEDED.*\[lib$2\.so"; }

mkdir -p "$work"
rm -rf "$work/build" "$work/prefix" "$work/project" "$work/source"
project=$root/tests/consumer/$kind
flags=${LATCHKEY_CONSUMER_FLAGS:-}
# They are compiled without optimisation and debug information, which these programs do not need. Those that
# build latchkey compile it module by module, as most tests do. All of it takes a third of the time.
arguments=() targets=()
case $kind in
  add_subdirectory) arguments=(-DLATCHKEY_UNITY=ON) ;;
  fetch_content)
    mkdir "$work/source"
    cp -r "$root"/{CMakeLists.txt,LICENSE,cmake,debug,include,lua,modules,ops,src} "$work/source"
    export LATCHKEY_DEPS=${LATCHKEY_DEPS:-$root/build/deps}
    targets=(--target memory_only two_versions)
    arguments=(-DLATCHKEY_UNITY=ON "-DLATCHKEY_FOLDER=$work/source"
      "-DLATCHKEY_OTHER_VERSION=$build/liblatchkey.a"
      -DCMAKE_DISABLE_FIND_PACKAGE_yaml-cpp=ON -DCMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON)
    ;;
  *)
    cmake --install "$build" --prefix "$work/prefix" >"$log"
    # CMAKE_PREFIX_PATH stands for a prefix the system knows; the consumer needs no other variable.
    arguments=("-DCMAKE_PREFIX_PATH=$work/prefix")
    ;;
esac
if [[ $kind == readme || $kind == pkg_config ]]; then
  project=$work/project
  flags="-Wall -Wextra -Werror $flags"
  readme_project "$project"
fi

if [[ $kind == fetch_content ]]; then
  # A library that *_ROOT names is looked for there and nowhere else.
  if hiredis_ROOT=/nowhere cmake -G Ninja -S "$project" -B "$work/build" "${arguments[@]}" >"$log" 2>&1; then
    echo "hiredis_ROOT=/nowhere was ignored"
    exit 1
  fi
  tr -s ' \n' ' ' <"$log" |
    grep -q 'latchkey needs hiredis >= 1.1 .* looked in /nowhere: .* or set hiredis_ROOT to the folder' ||
    { cat "$log"; exit 1; }
  rm -rf "$work/build"
fi
if [[ $kind == pkg_config ]]; then
  PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name latchkey.pc)")
  library_dir=$(dirname "$PKG_CONFIG_PATH")
  export PKG_CONFIG_PATH
  version=$("$root/scripts/version.sh")
  pkg-config --exact-version="$version" latchkey
  # The shared library is taken if it is there; the static one is named by its file.
  read -ra shared < <(pkg-config --cflags --libs latchkey)
  read -ra static < <(pkg-config --static --cflags --libs latchkey | sed 's/-llatchkey/-l:liblatchkey.a/')
  for linkage in shared static; do
    declare -n libraries=$linkage
    # shellcheck disable=SC2086  # several flags
    "$CXX" -std=c++20 $flags "$project/main.cpp" -o "$work/project/$linkage" "${libraries[@]}"
    echo "running $linkage"
    LD_LIBRARY_PATH=$library_dir "$work/project/$linkage" | diff "$project/output" -
  done
  if [[ -e $library_dir/liblatchkey.so ]]; then
    needs "$project/shared" latchkey || { echo "liblatchkey.so was not taken"; exit 1; }
    if needs "$project/shared" ssl; then echo "the program itself links OpenSSL"; exit 1; fi
  fi
  if needs "$project/static" latchkey; then echo "liblatchkey.a was not taken"; exit 1; fi
  if pkg-config --exists latchkey_c; then
    read -ra of_c < <(pkg-config --cflags --libs latchkey_c)
    cc -std=c99 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror "$root/tests/c/docs_program.c" \
      -o "$work/project/in_c" "${of_c[@]}"
    echo "running in_c"
    LD_LIBRARY_PATH=$library_dir "$work/project/in_c" memory:
  fi
  exit
fi
{
  cmake -G Ninja -S "$project" -B "$work/build" \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0 \
    "-DCMAKE_CXX_FLAGS=$flags" \
    ${CCACHE:+"-DCMAKE_CXX_COMPILER_LAUNCHER=$CCACHE"} "${arguments[@]}"
  [[ -n $configure_only ]] || cmake --build "$work/build" "${targets[@]}"
} >>"$log" 2>&1 || { cat "$log"; exit 1; }
if [[ -n $configure_only ]]; then exit; fi
if [[ $kind == readme ]]; then
  echo "running bank"
  "$work/build/bank" | diff "$project/output" -
  exit
fi
if [[ $kind == thread_order ]]; then
  export TSAN_OPTIONS=halt_on_error=1:exitcode=66
  for run in 1 2 3 4 5; do "$work/build/thread_order" || { echo "run $run"; exit 1; }; done
  status=0
  "$work/build/thread_order" unlocked >"$work/unlocked" 2>&1 || status=$?
  [[ $status == 66 ]] || { echo "a race that no lock orders was not reported"; exit 1; }
  exit
fi
if [[ $kind == fetch_content ]]; then
  cd "$work"
  "$work/build/memory_only"
  "$work/build/two_versions"
  for library in ssl crypto yaml-cpp hiredis; do
    if needs "$work/build/memory_only" $library; then echo "the program links $library"; exit 1; fi
  done
  exit
fi
# The testing kit without GoogleMock neither reads nor links it.
for kind in doctest catch2; do
  [[ -x $work/build/consumer_$kind ]] || continue
  used=$(ninja -C "$work/build" -t deps | sed -n "/consumer_$kind\.cpp\.o:/,/^$/p")
  [[ $used == *latchkey/testing/core.hpp* ]] || { echo "what does consumer_$kind.cpp include?"; exit 1; }
  used+=$(ninja -C "$work/build" -t commands "consumer_$kind")
  if grep -E 'gtest|gmock|googletest' <<<"$used"; then echo "consumer_$kind uses GoogleMock"; exit 1; fi
done
for program in "$work"/build/consumer*; do
  [[ -x $program && -f $program ]] || continue
  echo "running ${program##*/}"
  "$program"
done

#!/usr/bin/env bash
# Builds and tests the annotations of C++26 and the module latchkey with GCC 16, and the module with
# clang 22 too, in a root of Debian's testing; as root.
#
#   scripts/annotations.sh [gtest filter]
#
# The root is kept in build/roots/annotations with its packages and the compiler's cache; the sources are
# new in each run. The library is compiled as C++20 and the tests of it as C++26: one binary serves both.
# The tests run a second time under AddressSanitizer and UndefinedBehaviorSanitizer. The examples with
# annotations and the programs that import the module run once. clang uses the library that GCC made.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
# shellcheck source=scripts/roots.sh
. scripts/roots.sh

# inside [filter]: what happens in the root.
inside() {
  export CCACHE_DIR=/root/ccache GTEST_FILTER=${1:-*}
  local kind options
  mkdir -p build
  scripts/deps.sh test
  while read -r kind options; do
    cmake --fresh -G Ninja -S . -B "build/$kind" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
      "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1" "-DCMAKE_CXX_FLAGS=$options" \
      -DCMAKE_COMPILE_WARNING_AS_ERROR=ON -DLATCHKEY_UNITY=ON \
      -DCMAKE_CXX_COMPILER_LAUNCHER=ccache >"build/$kind.log" </dev/null || { cat "build/$kind.log"; return 1; }
    grep -q 'LATCHKEY_HAS_REFLECTION:INTERNAL=1' "build/$kind/CMakeCache.txt" ||
      { printf 'annotations: this compiler has no reflection: %s\n' "$(g++ --version | head -n 1)"; return 1; }
    cmake --build "build/$kind" --target latchkey_annotations_tests -- --quiet </dev/null
  done <<'KINDS'
plain
sanitized -fsanitize=address,undefined -fno-sanitize-recover=undefined
KINDS
  cmake --build build/plain --target annotated_examples module_programs -- --quiet
  scripts/run_tests.sh build/plain -R '^annotations|^module_|^example_.*_annotated$'
  scripts/run_tests.sh build/sanitized -R '^annotations$'
  module_with_clang
}

# The installed module, as a project of its own imports it.
module_with_clang() {
  command -v clang++-22 >/dev/null || apt-get install -qy --no-install-recommends clang-22 clang-tools-22
  local libraries component
  mapfile -t libraries < <(ninja -C build/plain -t targets all | grep -oE '^liblatchkey[a-z0-9_]*\.(a|so[0-9.]*)')
  ninja -C build/plain --quiet "${libraries[@]}"
  for component in runtime dev; do
    cmake --install build/plain --component $component --prefix build/prefix
  done >build/install.log
  cmake -G Ninja -S tests/module -B build/module_clang -DCMAKE_CXX_COMPILER=clang++-22 \
    "-DCMAKE_PREFIX_PATH=$PWD/build/prefix" "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror" >build/module_clang.log
  cmake --build build/module_clang -- --quiet
  ctest --test-dir build/module_clang --output-on-failure
}

if [[ ${1:-} == inside ]]; then
  inside "${2:-}"
  exit
fi

folder=$roots/annotations
make_root forky
[[ -d $folder ]] || copy_root forky "$folder"
find "$folder/latchkey" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
git ls-files -co --exclude-standard -z | xargs -0 cp --parents -t "$folder/latchkey"
in_root "$folder" /latchkey/scripts/annotations.sh inside "${1:-}"

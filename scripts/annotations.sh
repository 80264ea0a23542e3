#!/usr/bin/env bash
# Builds and tests the annotations of C++26 with GCC 16, in a root of Debian's testing; as root.
#
#   scripts/annotations.sh [gtest filter]
#
# The root is kept in build/roots/annotations with its packages and the compiler's cache; the sources are
# new in each run. The library is compiled as C++20 and the tests of it as C++26: one binary serves both.
# The tests run a second time under AddressSanitizer and UndefinedBehaviorSanitizer.
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
    cmake -G Ninja -S . -B "build/$kind" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
      "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1" "-DCMAKE_CXX_FLAGS=$options" \
      -DCMAKE_COMPILE_WARNING_AS_ERROR=ON -DLATCHKEY_UNITY=ON -DLATCHKEY_EXAMPLES=OFF \
      -DCMAKE_CXX_COMPILER_LAUNCHER=ccache >"build/$kind.log" </dev/null || { cat "build/$kind.log"; return 1; }
    grep -q 'LATCHKEY_HAS_REFLECTION:INTERNAL=1' "build/$kind/CMakeCache.txt" ||
      { printf 'annotations: this compiler has no reflection: %s\n' "$(g++ --version | head -n 1)"; return 1; }
    cmake --build "build/$kind" --target latchkey_annotations_tests -- --quiet </dev/null
  done <<'KINDS'
plain
sanitized -fsanitize=address,undefined -fno-sanitize-recover=undefined
KINDS
  scripts/run_tests.sh build/plain -R '^annotations'
  scripts/run_tests.sh build/sanitized -R '^annotations$'
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

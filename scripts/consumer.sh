#!/usr/bin/env bash
# Builds and runs the two consumer projects: by add_subdirectory, and by find_package after install.
#
#   scripts/consumer.sh <add_subdirectory|find_package> <work dir> <latchkey's build dir> <C++ compiler>
set -euo pipefail
kind=$1
work=$2
build=$3
export CXX=$4
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
log=$work/log

mkdir -p "$work"
rm -rf "$work/build" "$work/prefix"
arguments=()
if [[ $kind == find_package ]]; then
  cmake --install "$build" --prefix "$work/prefix" >"$log"
  # CMAKE_PREFIX_PATH stands for a prefix the system knows; nothing else is told to the consumer.
  arguments=("-DCMAKE_PREFIX_PATH=$work/prefix")
fi
{
  cmake -G Ninja -S "$root/tests/consumer/$kind" -B "$work/build" \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g" \
    "-DCMAKE_CXX_FLAGS=${LATCHKEY_CONSUMER_FLAGS:-}" \
    ${CCACHE:+"-DCMAKE_CXX_COMPILER_LAUNCHER=$CCACHE"} "${arguments[@]}"
  cmake --build "$work/build"
} >>"$log" 2>&1 || { cat "$log"; exit 1; }
for program in "$work"/build/consumer*; do
  [[ -x $program && -f $program ]] || continue
  echo "running ${program##*/}"
  "$program"
done

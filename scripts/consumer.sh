#!/usr/bin/env bash
# Builds and runs a consumer project: by add_subdirectory, by find_package after install, or the
# program that README.md prints, also by find_package after install; and a program under
# ThreadSanitizer.
#
#   scripts/consumer.sh <add_subdirectory|find_package|readme|thread_order> <work dir> <latchkey's build dir> <C++ compiler>
set -euo pipefail
kind=$1
work=$2
build=$3
export CXX=$4
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
log=$work/log

# Prints the fenced block of README.md that follows the line `<!-- consumer: $1 -->`.
readme_block() {
  awk -v marker="<!-- consumer: $1 -->" '
    $0 == marker { marked = 1; next }
    marked && /^```/ { if (inside) exit; inside = 1; next }
    inside' "$root/README.md"
}

mkdir -p "$work"
rm -rf "$work/build" "$work/prefix" "$work/project"
project=$root/tests/consumer/$kind
flags=${LATCHKEY_CONSUMER_FLAGS:-}
arguments=()
if [[ $kind == readme ]]; then
  project=$work/project
  flags="-Wall -Wextra -Werror $flags"
  mkdir "$project"
  for file in CMakeLists.txt main.cpp output; do
    readme_block "$file" >"$project/$file"
    [[ -s $project/$file ]] || { echo "README.md: no block after '<!-- consumer: $file -->'"; exit 1; }
  done
fi
if [[ $kind != add_subdirectory ]]; then
  cmake --install "$build" --prefix "$work/prefix" >"$log"
  # CMAKE_PREFIX_PATH stands for a prefix the system knows; the consumer needs no other variable.
  arguments=("-DCMAKE_PREFIX_PATH=$work/prefix")
else
  arguments=(-DLATCHKEY_UNITY=ON)  # the library is built once more
fi
{
  cmake -G Ninja -S "$project" -B "$work/build" \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g" \
    "-DCMAKE_CXX_FLAGS=$flags" \
    ${CCACHE:+"-DCMAKE_CXX_COMPILER_LAUNCHER=$CCACHE"} "${arguments[@]}"
  cmake --build "$work/build"
} >>"$log" 2>&1 || { cat "$log"; exit 1; }
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
for program in "$work"/build/consumer*; do
  [[ -x $program && -f $program ]] || continue
  echo "running ${program##*/}"
  "$program"
done

#!/usr/bin/env bash
# Builds a program twice, after a change in a comment of its precompiled header: in a new folder, where
# what ccache remembers of the first header is not the second one, whose bytes `#pragma once` compares,
# and where the first one was built, after which a new folder finds the second one in the cache.
#
#   precompiled_header.sh SOURCE_DIR COMPILER
set -euo pipefail
source=$1 compiler=$2
command -v ccache >/dev/null || { echo "there is no ccache"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export CCACHE_DIR=$folder/cache CCACHE_BASEDIR=$folder CCACHE_NOHASHDIR=1

cat >CMakeLists.txt <<'PROJECT'
cmake_minimum_required(VERSION 3.25)
project(launcher LANGUAGES CXX)
include(Launcher)
add_executable(program main.cpp)
target_precompile_headers(program PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/value.hpp")
PROJECT
build() {
  printf '#pragma once\n// %s\nstruct Value { int value = 0; };\n' "$1" >value.hpp
  printf '#include "value.hpp"\nint main() { return Value().value * %s; }\n' "${#1}" >main.cpp
  # ccache caches nothing that is new, and ninja makes what is older than its sources.
  touch -d '10 seconds ago' value.hpp main.cpp
  [[ ! -d build ]] || find build -type f -exec touch -d '1 minute ago' {} +
  cmake -G Ninja -S . -B build -DCMAKE_MODULE_PATH="$source/cmake" -DCMAKE_CXX_COMPILER="$compiler" >log
  cmake --build build >log || { cat log; exit 1; }
}
misses() { ccache --print-stats | awk '$1 == "cache_miss" { print $2 }'; }

build one
rm -rf build
build another
build "a third"
[[ $compiler != *clang* ]] || exit 0  # which writes the times of the headers into what it makes of them
known=$(misses)
rm -rf build
build "a third"
[[ $(misses) == "$known" ]] || { echo "a new folder found nothing of what was built before"; exit 1; }

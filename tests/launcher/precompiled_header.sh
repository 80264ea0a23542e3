#!/usr/bin/env bash
# Builds a program twice, after a change in a comment of its precompiled header. What ccache remembers
# of the first header is not the second one, whose bytes `#pragma once` compares.
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
for comment in one another; do
  printf '#pragma once\n// %s\nstruct Value { int value = 0; };\n' "$comment" >value.hpp
  printf '#include "value.hpp"\nint main() { return Value().value * %s; }\n' "${#comment}" >main.cpp
  cmake -G Ninja -S . -B build -DCMAKE_MODULE_PATH="$source/cmake" -DCMAKE_CXX_COMPILER="$compiler" >log
  cmake --build build >log || { cat log; exit 1; }
  rm -rf build
done
ccache -s | grep -qE 'Misses: +[1-9]' || { echo "ccache was not used"; exit 1; }

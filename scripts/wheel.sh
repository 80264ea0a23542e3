#!/usr/bin/env bash
# Builds the package latchkey for Python: build/wheel/latchkey-*.whl, with the C interface in it.
#
#   scripts/wheel.sh
#
# yaml-cpp and the C++ runtime are linked in; OpenSSL, which gets security updates, is the system's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=build/wheel_library
mkdir -p build

cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_SHARED_LINKER_FLAGS=-Wl,-z,relro,-z,now \
  -DLATCHKEY_C=ON -DLATCHKEY_C_STATIC=ON -DLATCHKEY_UNITY=ON -DLATCHKEY_CLI=OFF -DLATCHKEY_TESTS=OFF \
  -DLATCHKEY_EXAMPLES=OFF >build/wheel.log 2>&1 || { cat build/wheel.log; exit 1; }
cmake --build "$build" --target latchkey_c -- --quiet
library=$(readlink -f "$build/liblatchkey_c.so")
strip --strip-unneeded -o "$build/stripped.so" "$library"
rm -rf build/wheel
/usr/bin/env python3 python/build_wheel.py "$build/stripped.so" build/wheel

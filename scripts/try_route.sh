#!/usr/bin/env bash
# Goes one way from nothing to a running program, as a new user would: in a clean Debian 12, of which
# this is the only script that runs, with latchkey in /latchkey and libraries newer than Debian 12 in
# /deps. scripts/packages.sh calls it; it prints `route: <name>: <times>`.
set -euo pipefail
route=$1
export DEBIAN_FRONTEND=noninteractive LATCHKEY_DEPS=/deps
say() { printf 'route: %s\n' "$*"; }

install_packages() {
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "$@"
}
compiler=(g++ cmake ninja-build)
libraries=(librange-v3-dev libyaml-cpp-dev libssl-dev)

# The project of README.md.
mkdir /bank
for file in CMakeLists.txt main.cpp; do
  awk -v marker="<!-- consumer: $file -->" '
    $0 == marker { marked = 1; next }
    marked && /^```/ { if (inside) exit; inside = 1; next }
    inside' /latchkey/README.md >/bank/$file
done
cd /bank

build_and_run() {
  cmake -G Ninja -B build -DCMAKE_BUILD_TYPE=Release "$@"
  cmake --build build
  [[ $(./build/bank) == 2000 ]]
}

# A new version must not need what only this machine has.
case $route in
  add_subdirectory | fetch_content | find_package) install_packages "${compiler[@]}" "${libraries[@]}" ;;
  pkg_config) install_packages "${compiler[@]}" "${libraries[@]}" pkg-config ;;
  conan) install_packages "${compiler[@]}" make "${libraries[@]}" python3-venv ;;
  deb) install_packages g++ pkg-config ;;
esac
prepared=$SECONDS

case $route in
  add_subdirectory)
    sed -i 's|find_package(latchkey REQUIRED)|add_subdirectory(/latchkey latchkey)|' CMakeLists.txt
    build_and_run
    ;;
  fetch_content)
    sed -i 's|find_package(latchkey REQUIRED)|include(FetchContent)\
FetchContent_Declare(latchkey SOURCE_DIR /latchkey)\
FetchContent_MakeAvailable(latchkey)|' CMakeLists.txt
    build_and_run
    ;;
  find_package | pkg_config)
    cmake -G Ninja -S /latchkey -B /tmp/latchkey -DCMAKE_BUILD_TYPE=Release -DLATCHKEY_UNITY=ON \
      -DLATCHKEY_CLI=OFF -DLATCHKEY_TESTS=OFF -DLATCHKEY_EXAMPLES=OFF
    cmake --build /tmp/latchkey
    cmake --install /tmp/latchkey
    if [[ $route == find_package ]]; then
      build_and_run
    else
      # shellcheck disable=SC2046  # several words
      g++ -std=c++20 -O2 main.cpp -o bank $(pkg-config --cflags --libs latchkey)
      [[ $(./bank) == 2000 ]]
    fi
    ;;
  conan)
    python3 -m venv /venv
    /venv/bin/pip --quiet install conan
    PATH=/venv/bin:$PATH
    conan profile detect
    conan create /latchkey --no-remote -s compiler.cppstd=20
    ;;
  deb)
    apt-get install -y -qq --no-install-recommends /latchkey/*.deb
    g++ -std=c++20 -O2 main.cpp -o bank $(pkg-config --cflags --libs latchkey)
    [[ $(./bank) == 2000 ]]
    latchkey --version
    apt-get install -y -qq --no-install-recommends cmake ninja-build
    build_and_run
    ;;
esac
say "$route: $((SECONDS - prepared)) s, after $prepared s for the compiler and Debian's libraries"

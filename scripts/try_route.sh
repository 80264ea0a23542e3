#!/usr/bin/env bash
# Goes one way from nothing to a running program, as a new user would: in a clean Debian 12, or 13 for the
# route opentelemetry, with latchkey in /latchkey. scripts/packages.sh calls it; it prints `step: <command>`
# before each command that a user would type, and `route: <name> <seconds for what latchkey needs> <seconds
# for the rest>` at the end.
set -euo pipefail
route=$1
export DEBIAN_FRONTEND=noninteractive

step() {
  printf 'step: %s\n' "$*"
  "$@"
}
install_packages() {
  apt-get update -qq
  step apt-get install -y -qq --no-install-recommends "$@"
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
  step cmake -G Ninja -B build -DCMAKE_BUILD_TYPE=Release
  step cmake --build build
  runs build/bank
}
build_without_cmake() {
  echo "step: g++ -std=c++20 -O2 main.cpp -o bank \$(pkg-config --cflags --libs latchkey)"
  # shellcheck disable=SC2046  # several words
  g++ -std=c++20 -O2 main.cpp -o bank $(pkg-config --cflags --libs latchkey)
  runs ./bank
}
# take <CMake command>...: instead of find_package in the project's CMakeLists.txt.
take() {
  printf "step: CMakeLists.txt: '%s' instead of 'find_package(latchkey REQUIRED)'\n" "$*"
  printf '%s\n' "$@" >taken
  sed -i -e '/^find_package(latchkey REQUIRED)$/{r taken' -e 'd}' CMakeLists.txt
}
# Its program prints the span of its call.
trace_a_call() {
  step cmake -G Ninja -S /latchkey/tests/consumer/opentelemetry -B traced -DCMAKE_BUILD_TYPE=Release
  step cmake --build traced
  echo "step: traced/traced_bank"
  traced/traced_bank | tee spans
  grep -q 'name *: Bank::deposit' spans && grep -q 'latchkey.outcome: granted' spans
}
runs() {
  echo "step: $1"
  [[ $("$1") == 2000 ]]
}

case $route in
  add_subdirectory | fetch_content | find_package) install_packages "${compiler[@]}" "${libraries[@]}" ;;
  pkg_config) install_packages "${compiler[@]}" "${libraries[@]}" pkg-config ;;
  opentelemetry)
    install_packages "${compiler[@]}" "${libraries[@]}" opentelemetry-cpp-dev libabsl-dev libgrpc++-dev \
      libprotobuf-dev protobuf-compiler protobuf-compiler-grpc libcurl4-openssl-dev
    ;;
  conan) install_packages "${compiler[@]}" make "${libraries[@]}" python3-venv ;;
  deb) install_packages g++ pkg-config ;;
  wheel) install_packages make ;;
esac
# The .deb packages bring hiredis and Boost.PFR; for all others they are newer than Debian 12.
[[ $route == deb || $route == wheel ]] || step /latchkey/scripts/deps.sh newer
prepared=$SECONDS

case $route in
  add_subdirectory)
    take "add_subdirectory(/latchkey latchkey)"
    build_and_run
    ;;
  fetch_content)
    take "include(FetchContent)" "FetchContent_Declare(latchkey SOURCE_DIR /latchkey)" \
      "FetchContent_MakeAvailable(latchkey)"
    build_and_run
    ;;
  find_package | pkg_config | opentelemetry)
    step cmake -G Ninja -S /latchkey -B /tmp/latchkey -DCMAKE_BUILD_TYPE=Release -DLATCHKEY_UNITY=ON \
      -DLATCHKEY_CLI=OFF -DLATCHKEY_TESTS=OFF -DLATCHKEY_EXAMPLES=OFF
    step cmake --build /tmp/latchkey
    step cmake --install /tmp/latchkey
    case $route in
      find_package) build_and_run ;;
      pkg_config) build_without_cmake ;;
      opentelemetry) trace_a_call ;;
    esac
    ;;
  conan)
    step python3 -m venv /venv
    step /venv/bin/pip --quiet install conan
    PATH=/venv/bin:$PATH
    step conan profile detect
    export LATCHKEY_DEPS=/latchkey/build/deps
    echo "step: export LATCHKEY_DEPS=$LATCHKEY_DEPS"
    step conan create /latchkey --no-remote -s compiler.cppstd=20
    ;;
  deb)
    step apt-get install -y -qq --no-install-recommends /latchkey/*.deb
    build_without_cmake
    step latchkey --version
    step apt-get install -y -qq --no-install-recommends cmake ninja-build
    build_and_run
    ;;
  wheel)
    step make -C /latchkey wheel
    step apt-get install -y -qq --no-install-recommends python3-venv redis-server
    step python3 -m venv /venv
    step /venv/bin/pip --quiet install /latchkey/build/wheel/latchkey-*.whl
    cd /latchkey/examples
    step ./with_redis.sh /venv/bin/python python/transfers.py URI
    ;;
esac
echo "route: $route $prepared $((SECONDS - prepared))"

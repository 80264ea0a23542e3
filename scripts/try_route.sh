#!/usr/bin/env bash
# Goes one way from nothing to a running program, as a new user would: in a clean Debian 12, or 13 for the
# route opentelemetry, with latchkey in /latchkey. scripts/packages.sh calls it; it prints `step: <command>`
# before each command that a user would type, and `route: <name> <seconds for what latchkey needs> <seconds
# for the rest>` at the end.
set -euo pipefail
route=$1
export DEBIAN_FRONTEND=noninteractive
export PATH=/usr/local/bin:$PATH
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT  # a server that a route has started

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
# The tool takes a lock in etcd, and one in a Lease of Kubernetes. The API server keeps Leases in memory, as in
# the tests: a cluster needs more than a root has.
lock_in_stores() {
  etcd --data-dir /tmp/etcd >/tmp/etcd.log 2>&1 &
  timeout 60 sh -c 'until latchkey ping etcd://127.0.0.1; do sleep 0.2; done' >/tmp/ping.log 2>&1
  step latchkey run --type write --key account:42 etcd://127.0.0.1 -- echo held
  kill $!

  mkdir /api
  cd /api
  cp /latchkey/tests/stores/kubernetes/go/server.go .
  printf 'package main\nimport "os"\nfunc main() { serve(os.Args[1], os.Args[2], os.Args[3]) }\n' >main.go
  printf a.token >token
  openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out ca.pem -subj /CN=api \
    -addext subjectAltName=IP:127.0.0.1 2>openssl.log
  go mod init api 2>/dev/null
  go build -o api_server .
  mkfifo port
  ./api_server ca.pem key.pem a.token >port 2>log &
  local server
  read -r server <port
  step latchkey run --type fenced --key billing-leader \
    "k8s://billing?server=https://127.0.0.1:$server&token_file=/api/token&tls_ca=/api/ca.pem" -- \
    sh -c 'echo held, term $LATCHKEY_FENCE'
  kill $!
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
  stores)
    install_packages "${compiler[@]}" "${libraries[@]}" libcli11-dev libfmt-dev nlohmann-json3-dev libnghttp2-dev \
      etcd-server golang-go openssl
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
  find_package | pkg_config | opentelemetry | stores)
    tool=OFF
    [[ $route != stores ]] || tool=ON
    step cmake -G Ninja -S /latchkey -B /tmp/latchkey -DCMAKE_BUILD_TYPE=Release -DLATCHKEY_UNITY=ON \
      -DLATCHKEY_CLI=$tool -DLATCHKEY_TESTS=OFF -DLATCHKEY_EXAMPLES=OFF
    step cmake --build /tmp/latchkey
    step cmake --install /tmp/latchkey
    case $route in
      find_package) build_and_run ;;
      pkg_config) build_without_cmake ;;
      opentelemetry) trace_a_call ;;
      stores) lock_in_stores ;;
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

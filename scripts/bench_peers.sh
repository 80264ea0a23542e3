#!/usr/bin/env bash
# Measures latchkey beside Redisson, rueidislock and redsync, and writes the tables and plots of
# docs/benchmarks.md.
#
#   scripts/bench_peers.sh <build dir> [--rounds N] [--measure-ms N] [--jvm-warm-up-ms N]
#                          [--groups own,hot,hand-off,mixed] [--page FILE] [--plots FOLDER]
#
# Without Java, Maven, Go or the libraries it reports that it was skipped, and why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1
shift
jars=build/interop
peers=build/peers
go_log=$peers/go.log

declare -A option=(
  [rounds]=5 [measure-ms]=1000 [jvm-warm-up-ms]=8000 [groups]=own,hot,hand-off,mixed
  [page]=docs/benchmarks.md [plots]=docs/benchmarks)
while (($#)); do
  name=${1#--}
  [[ -n ${option[$name]:-} && $# -ge 2 ]] ||
    { echo "bench_peers.sh: unexpected '$1'; expected one of ${!option[*]} and its value"; exit 1; }
  option[$name]=$2
  shift 2
done

skip() { echo "bench-peers skipped: $*"; exit 0; }
command -v go >/dev/null || skip "there is no go (1.26 or newer)"
command -v javac >/dev/null || skip "there is no javac (Debian: default-jdk-headless)"
reason=$(scripts/maven_jars.sh tests/interop/pom.xml "$jars") || skip "$reason"
mkdir -p "$peers/classes"
# -mod=readonly: the versions are those of go.mod and go.sum.
go build -C bench/peers/go -mod=readonly -o "$PWD/$peers/go_worker" . >"$go_log" 2>&1 ||
  skip "go could not build the worker, see $go_log"
javac -d "$peers/classes" -cp "$jars/*" bench/peers/redisson/RedissonWorker.java
cmake --build "$build" --target latchkey_peer compare_peers -- --quiet

# Such as 4.7.0, from redisson-4.7.0.jar.
redisson=$(basename "$jars"/redisson-[0-9]*.jar .jar)
go_version() { go list -C bench/peers/go -mod=readonly -m -f '{{.Version}}' "$1"; }
java_version=$(java --version | awk 'NR == 1 { print $2 }')
commit=$(git rev-parse --short HEAD 2>/dev/null || echo "without git")
printf '%s\n' "latchkey $commit (GCC $(g++ -dumpfullversion)), Redisson ${redisson#redisson-} \
(Java $java_version), rueidislock $(go_version github.com/redis/rueidis), redsync \
$(go_version github.com/go-redsync/redsync/v4) on rueidis ($(go env GOVERSION))" >"$peers/versions"

arguments=(--latchkey "$build/bench/peers/latchkey_peer" --go "$peers/go_worker"
           --classpath "$peers/classes:$jars/*" --versions "$peers/versions")
for name in "${!option[@]}"; do
  [[ $name == plots ]] || arguments+=("--$name" "${option[$name]}")
done
"$build/bench/peers/compare_peers" "${arguments[@]}"
bench/peers/plots.py "${option[page]}" "${option[plots]}"

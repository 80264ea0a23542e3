#!/usr/bin/env bash
# Measures pairs of acquire and release per second of redis+set:// beside redsync, each with keys of
# its own for every thread, on one server.
#
#   bench/peers/redis_set.sh [build dir] [rounds] [measure-ms]
#
# The workers are those of scripts/bench_peers.sh, which README.md beside this file describes. Server
# and workers have a processor each. Ends with 1 if the median of the rounds' ratios is below
# 1, and is skipped where there is no Go.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=${1:-build/release}
rounds=${2:-5}
measure_ms=${3:-1000}
peers=build/peers

skip() { echo "redis_set.sh skipped: $*"; exit 0; }
command -v go >/dev/null || skip "there is no go (1.26 or newer)"
mkdir -p "$peers"
go build -C bench/peers/go -mod=readonly -o "$PWD/$peers/go_worker" . >"$peers/go.log" 2>&1 ||
  skip "go could not build the worker, see $peers/go.log"
cmake --build "$build" --target latchkey_peer -- --quiet

folder=$(mktemp -d)
port=$((20000 + RANDOM % 10000))
taskset -c 0 redis-server --port "$port" --bind 127.0.0.1 --save '' --dir "$folder" \
  --loglevel warning >"$folder/log" 2>&1 &
server=$!
trap 'kill "$server"; wait "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
until redis-cli -p "$port" ping >/dev/null 2>&1; do kill -0 "$server" && sleep 0.05; done

monotonic_ns() { python3 -c 'import time; print(time.clock_gettime_ns(time.CLOCK_MONOTONIC))'; }

# pairs <threads> <worker> [argument]...: pairs per second of that worker.
pairs() {
  local threads=$1 line
  shift
  coproc WORKER { taskset -c 1 "$@"; }
  local worker=$WORKER_PID in=${WORKER[1]} out=${WORKER[0]}
  echo "--workload own --type REENTRANT --threads $threads --inside-us 0 --warm-up-ms 300" \
    "--measure-ms $measure_ms --key bench" >&"$in"
  read -r line <&"$out"
  echo "start $(monotonic_ns)" >&"$in"
  read -r line <&"$out"
  exec {in}>&-
  wait "$worker"
  sed -E "s/.*\"grants\":([0-9]+).*/\1/" <<<"$line" | awk -v ms="$measure_ms" '{print int($1 * 1000 / ms)}'
}

median() { sort -n | awk '{all[NR] = $1} END {print all[int((NR + 1) / 2)]}'; }

missed=0
for threads in 1 8 32; do
  results=""
  for ((round = 0; round < rounds; ++round)); do
    ours=$(pairs "$threads" "$build/bench/peers/latchkey_peer" \
      --uri "redis+set://127.0.0.1:$port?format=redsync")
    theirs=$(pairs "$threads" "$peers/go_worker" --library redsync --uri "redis://127.0.0.1:$port")
    results+="$ours $theirs"$'\n'
  done
  our_median=$(awk 'NF {print $1}' <<<"$results" | median)
  their_median=$(awk 'NF {print $2}' <<<"$results" | median)
  # Of each round, so that other work on the machine affects both.
  ratio=$(awk 'NF {print $1 / $2}' <<<"$results" | median)
  printf '%3d threads: latchkey %6d pairs/s, redsync %6d pairs/s, ratio %.2f (limit 1.0)\n' \
    "$threads" "$our_median" "$their_median" "$ratio"
  awk -v ratio="$ratio" 'BEGIN {exit ratio < 1}' || missed=1
done
exit "$missed"

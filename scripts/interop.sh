#!/usr/bin/env bash
# Runs the interop tests: the same locks from C++ and from real Redisson.
#
#   scripts/interop.sh <build dir>
#
# Without Java or Redisson it reports that it was skipped, and why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1
jars=build/interop

reason=$(scripts/redisson_peer.sh "$jars") || { echo "interop skipped: $reason"; exit 0; }
# Another target may be built in this folder at the same time.
flock "$build.lock" cmake --build "$build" --target latchkey_interop -- --quiet

# The tests mostly wait, so they run in two halves in parallel.
half() {
  GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=$1 \
    LATCHKEY_INTEROP_CLASSPATH="$jars/classes:$jars/*" LATCHKEY_INTEROP_PEER=RedissonPeer \
    "$build/tests/latchkey_interop" --gtest_brief=1
}
half 0 >"$jars/half.log" 2>&1 &
other=$!
result=0
half 1 || result=1
wait "$other" || result=1
cat "$jars/half.log"
exit "$result"

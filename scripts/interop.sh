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

skip() { echo "interop skipped: $*"; exit 0; }
for tool in java mvn; do
  command -v "$tool" >/dev/null || skip "there is no $tool (Debian: default-jdk-headless maven)"
done
if [[ ! -e $jars/complete || tests/interop/pom.xml -nt $jars/complete ]]; then
  mkdir -p "$jars"
  mvn -q -B -f tests/interop/pom.xml dependency:copy-dependencies \
    -DoutputDirectory="$PWD/$jars" >"$jars/log" 2>&1 ||
    skip "Maven could not get Redisson, see $jars/log"
  touch "$jars/complete"
fi
cmake --build "$build" --target latchkey_interop -- --quiet

# The tests mostly wait, so they run in two halves in parallel.
half() {
  GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=$1 \
    LATCHKEY_INTEROP_CLASSPATH="$jars/*" LATCHKEY_INTEROP_PEER=tests/interop/RedissonPeer.java \
    "$build/tests/latchkey_interop" --gtest_brief=1
}
half 0 >"$jars/half.log" 2>&1 &
other=$!
result=0
half 1 || result=1
wait "$other" || result=1
cat "$jars/half.log"
exit "$result"

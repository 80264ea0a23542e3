#!/usr/bin/env bash
# Runs the campaign of faults on a server that one of the workers locks on with Redisson.
#
#   scripts/chaos_redisson.sh <build dir> [options of latchkey_chaos]
#
# Without Java or Redisson it reports that it was skipped, and why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1
shift
jars=build/interop

reason=$(scripts/redisson_peer.sh "$jars") || { echo "chaos-redisson skipped: $reason"; exit 0; }
LATCHKEY_INTEROP_CLASSPATH="$jars/classes:$jars/*" LATCHKEY_INTEROP_PEER=RedissonPeer \
  "$build/tests/latchkey_chaos" --deployment redisson "$@"

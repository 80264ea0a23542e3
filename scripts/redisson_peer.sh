#!/usr/bin/env bash
# Downloads Redisson and compiles the program that locks with it (tests/interop/RedissonPeer.java).
#
#   scripts/redisson_peer.sh <folder>
#
# Run the program with `java -cp "<folder>/classes:<folder>/*" RedissonPeer`. If it cannot be had,
# the script prints why in one sentence and fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
jars=$1
sources=(tests/interop/*.java)

scripts/maven_jars.sh tests/interop/pom.xml "$jars"
command -v javac >/dev/null || { echo "there is no javac (Debian: default-jdk-headless)"; exit 1; }
outdated=$(find "${sources[@]}" "$jars/complete" -newer "$jars/classes/RedissonPeer.class" 2>&1) || true
[[ -n $outdated ]] || exit 0
javac -cp "$jars/*" -d "$jars/classes" "${sources[@]}" >"$jars/log" 2>&1 ||
  { echo "the Java peer does not compile, see $jars/log"; exit 1; }

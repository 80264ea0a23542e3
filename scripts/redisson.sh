#!/usr/bin/env bash
# Downloads Redisson and what it needs, in the version of tests/interop/pom.xml, into a folder.
#
#   scripts/redisson.sh <folder>
#
# Does nothing if they are there. If they cannot be had, prints why in one sentence and fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
jars=$1
pom=tests/interop/pom.xml

for tool in java mvn; do
  command -v "$tool" >/dev/null ||
    { echo "there is no $tool (Debian: default-jdk-headless maven)"; exit 1; }
done
[[ ! -e $jars/complete || $pom -nt $jars/complete ]] || exit 0
mkdir -p "$jars"
mvn -q -B -f "$pom" dependency:copy-dependencies -DoutputDirectory="$PWD/$jars" \
  >"$jars/log" 2>&1 || { echo "Maven could not get Redisson, see $jars/log"; exit 1; }
touch "$jars/complete"

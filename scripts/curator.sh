#!/usr/bin/env bash
# Downloads Curator and what it needs, in the version of tests/stores/zookeeper/curator/pom.xml, into
# a folder.
#
#   scripts/curator.sh <folder>
#
# Does nothing if they are there. If they cannot be had, prints why in one sentence and fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
jars=$1
pom=tests/stores/zookeeper/curator/pom.xml

for tool in java mvn; do
  command -v "$tool" >/dev/null ||
    { echo "there is no $tool (Debian: default-jdk-headless maven)"; exit 1; }
done
[[ ! -e $jars/complete || $pom -nt $jars/complete ]] || exit 0
mkdir -p "$jars"
mvn -q -B -f "$pom" dependency:copy-dependencies -DoutputDirectory="$jars" \
  >"$jars/log" 2>&1 || { echo "Maven could not get Curator, see $jars/log"; exit 1; }
touch "$jars/complete"

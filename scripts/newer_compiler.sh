#!/usr/bin/env bash
# Compiles the library, its stores and the tool by clang 19 with the newest standard library at hand, and
# generates no code: finds what a GCC newer than this machine's would reject. A few sources at once, as a
# unity build has them.
#
#   scripts/newer_compiler.sh <build dir with compile_commands.json, configured with clang and LATCHKEY_UNITY>
#
# The standard library is the system's if that is GCC 14's or newer, otherwise Debian 13's, which
# `scripts/deps.sh libstdcxx` unpacks into build/deps; its headers need no newer libc.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1
unpacked=${LATCHKEY_DEPS:-$PWD/build/deps}/libstdcxx
options=(-fsyntax-only)
for newer in "$unpacked"/usr/lib/gcc/*/14; do
  [[ ! -d $newer ]] || options+=("--gcc-install-dir=$newer")
done
# Warnings are the business of the other builds: other sets of them come with every compiler.
sed -nE 's/^ *"command": "(.*)",?$/\1/p' "$build/compile_commands.json" | grep '/Unity/' |
  sed -E 's/\\"/"/g; s/ -Werror / /; s/ -o [^ ]+ / /' |
  (cd "$build" && xargs -P "$(nproc)" -d '\n' -I{} sh -c "{} ${options[*]}")
printf 'newer compiler: clang %s with libstdc++ %s compiles every source\n' \
  "$(clang++-19 -dumpversion)" \
  "$(printf '#include <version>\n_GLIBCXX_RELEASE\n' | clang++-19 "${options[@]:1}" -xc++ -E -P - | tail -n 1)"

#!/usr/bin/env bash
# Shows that the runner of compile_fail accepts what is right and names what is wrong.
#
#   check.sh <compile_cases.sh> <compiler>
set -euo pipefail
runner=$1
compiler=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

run() { "$runner" "$folder" gcc "$compiler" -std=c++20 2>&1; }
fail() { printf 'runner: %s\n' "$*"; exit 1; }
# expect_failure <file> <text>: with this file among the cases the runner fails and says so.
expect_failure() {
  local output
  if output=$(run); then fail "$1 was accepted"; fi
  grep -qF "FAIL" <<<"$output" || fail "$1 was not named: $output"
  grep -qF "$2" <<<"$output" || fail "no '$2' in: $output"
  rm "$folder/$1"
  run >/dev/null || fail "still failing without $1"
}

mkdir "$folder/pass"
printf '// expect: a readable sentence\nstatic_assert(false, "a readable sentence");\n' >"$folder/good.cpp"
printf 'int main() {}\n' >"$folder/pass/good.cpp"
run >/dev/null || fail "a right case was refused"

printf '// expect: error\nint main() {}\n' >"$folder/compiles.cpp"
expect_failure compiles.cpp "compiles, but must not"
printf '// expect: another sentence\nstatic_assert(false, "a sentence");\n' >"$folder/other.cpp"
expect_failure other.cpp "expected /another sentence/"
printf 'static_assert(false, "a sentence");\n' >"$folder/silent.cpp"
expect_failure silent.cpp "has no line"
printf 'int main() { return nothing; }\n' >"$folder/pass/broken.cpp"
expect_failure pass/broken.cpp "must compile"
for _ in 1 2 3 4 5 6 7 8; do printf 'int f() { return nothing; }\n'; done >"$folder/late.cpp"
printf 'static_assert(false, "too late to be read");\n' >>"$folder/late.cpp"
sed -i '1i // expect: too late to be read' "$folder/late.cpp"
expect_failure late.cpp "expected /too late"

#!/usr/bin/env bash
# Fuzzes for a given time, then measures the coverage of the corpora in the repository.
#
#   scripts/fuzz.sh <build dir of the fuzz preset> <time for each fuzzer, such as 600s>
#   scripts/fuzz.sh --keep <build dir>     adds to the corpora what earlier runs have found
#   scripts/fuzz.sh --minimise <build dir> [name...]  leaves in the corpora what covers anything of its own
#
# Each fuzzer lists its subjects in lines `// Covers: <path>...`: the corpus must reach 95 % of the
# lines of these files. A finding is put in <build dir>/<name>/findings/ and fails the run.
#
# A corpus is one archive, tests/fuzz/corpora/<name>.tar.xz, of the folder <name>_corpus. --keep adds
# each finding to it, for every build replays the corpus as a test, and of the other new inputs those
# that cover more. --minimise merges a corpus into an empty one, which prefers small inputs. The same
# inputs make the same archive, whoever packs them, and when.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
shopt -s nullglob
archives=$PWD/tests/fuzz/corpora

# unpack <name> <folder>: the corpus as <folder>/<name>_corpus; that of a new fuzzer is empty.
unpack() {
  rm -rf "$2/$1_corpus"
  mkdir -p "$2/$1_corpus"
  [[ ! -e $archives/$1.tar.xz ]] || tar -C "$2" -xf "$archives/$1.tar.xz"
}

# pack <name> <folder>: makes the archive of <folder>/<name>_corpus. With several threads xz would
# write other bytes.
pack() {
  tar -C "$2" --format=ustar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner \
    --mode=a-xst,u=rwX,go=rX --use-compress-program='xz -6 --threads=1' -cf "$2/$1.tar.xz" "$1_corpus"
  mv "$2/$1.tar.xz" "$archives/$1.tar.xz"
}

# number <corpus>: names the inputs 001, 002 and so on; names by content take more room than most inputs.
number() {
  local file count=0
  for file in "$1"/*; do
    mv "$file" "$1.$((++count))"
  done
  for ((file = 1; file <= count; ++file)); do
    mv "$1.$file" "$1/$(printf '%03d' "$file")"
  done
}

inputs_in() { find "$1" -type f | wc -l; }

keep() {
  local build=$1 source name work corpus file before after
  for source in tests/fuzz/*_fuzz.cpp; do
    name=$(basename "$source" _fuzz.cpp)
    work=$build/$name
    corpus=$work/${name}_corpus
    [[ -d $work/new ]] || continue
    unpack "$name" "$work"
    before=$(inputs_in "$corpus")
    LLVM_PROFILE_FILE=/dev/null "$build/tests/fuzz/fuzz_$name" -merge=1 -timeout=10 \
      -artifact_prefix="$work/findings/" "$corpus" "$work/new" >"$work/log" 2>&1 ||
      { tail -40 "$work/log"; exit 1; }
    for file in "$work"/findings/*; do  # libFuzzer names an input by its SHA-1, too
      cp "$file" "$corpus/$(sha1sum <"$file" | cut -d ' ' -f 1)"
    done
    after=$(inputs_in "$corpus")
    echo "$name: $((after - before)) more inputs, $after in all"
    if ((after > before)); then pack "$name" "$work"; fi
  done
}

minimise() {
  local build=$1 name work corpus before
  shift
  for name in "$@"; do
    work=$build/$name
    corpus=$work/${name}_corpus
    mkdir -p "$work/findings"
    unpack "$name" "$work"
    before=$(inputs_in "$corpus")
    rm -rf "$work/whole"
    mv "$corpus" "$work/whole"
    mkdir "$corpus"
    LLVM_PROFILE_FILE=/dev/null "$build/tests/fuzz/fuzz_$name" -merge=1 -timeout=10 \
      -artifact_prefix="$work/findings/" "$corpus" "$work/whole" >"$work/log" 2>&1 ||
      { tail -40 "$work/log"; exit 1; }
    number "$corpus"
    pack "$name" "$work"
    echo "$name: $(inputs_in "$corpus") of $before inputs, $(stat -c %s "$archives/$name.tar.xz") bytes"
  done
}

if [[ $1 == --minimise ]]; then
  build=$2
  shift 2
  if (($# == 0)); then
    for source in tests/fuzz/*_fuzz.cpp; do set -- "$@" "$(basename "$source" _fuzz.cpp)"; done
  fi
  minimise "$build" "$@"
  exit
fi
if [[ $1 == --keep ]]; then
  keep "$2"
  exit
fi

build=$1
time=${2%s}
least=95
status=0

for source in tests/fuzz/*_fuzz.cpp; do
  name=$(basename "$source" _fuzz.cpp)
  program=$build/tests/fuzz/fuzz_$name
  work=$build/$name
  corpus=$work/${name}_corpus
  mkdir -p "$work/new" "$work/findings"
  unpack "$name" "$work"

  echo "== $name: $time s"
  LLVM_PROFILE_FILE=/dev/null "$program" -max_total_time="$time" -max_len=256 -timeout=10 \
    -print_final_stats=1 -artifact_prefix="$work/findings/" "$work/new" "$corpus" >"$work/log" 2>&1 ||
    { tail -40 "$work/log"; status=1; continue; }
  grep -E 'stat::number_of_executed_units|DONE|Done' "$work/log"

  LLVM_PROFILE_FILE=$work/profile "$program" -runs=0 "$corpus" >"$work/log" 2>&1
  llvm-profdata-19 merge -sparse "$work/profile" -o "$work/merged"
  mapfile -t covers < <(sed -n 's|^// Covers: ||p' "$source" | tr ' ' '\n')
  llvm-cov-19 report "$program" -instr-profile="$work/merged" "${covers[@]}" |
    awk -v least=$least '
      NR == 1 || /\.(cpp|hpp) / || /^TOTAL/ { print $1, ($1 == "Filename" ? "Lines" : $10) }
      /^TOTAL/ { reached = $10 + 0 }
      END {
        if (reached >= least) exit 0
        print "the corpus reaches " reached " % of the lines, not " least
        exit 1
      }' ||
    status=1
done
exit $status

#!/usr/bin/env bash
# Runs programs that each show a defect: against latchkey as it is installed, from outside the tree.
#
#   scripts/proofs.sh BUILD FOLDER [name...]
#
# BUILD is a build of the preset `test`. FOLDER has the folders core, stores and daily; each program exits
# with 0 if its defect is absent, with 1 if it is present, and with 77 if it cannot run. Prints a line
# for each, and fails if a defect is present. Some measure times and memory, which a busy machine makes
# larger: a defect counts as present if three runs in a row show it.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$(realpath "$1")
folder=$(realpath "$2")
shift 2
readonly only=" $* "

say() { printf 'proofs: %s\n' "$*"; }
work=$PWD/build/proofs
prefix=$work/prefix
mkdir -p "$work"
temporary=$(mktemp -d /tmp/latchkey-proofs.XXXXXX)
redis=
finish() {
  [[ -z $redis ]] || kill "$redis"
  wait
  rm -rf "$temporary"
}
trap finish EXIT

wanted() { [[ $only == "  " || $only == *" $1 "* ]]; }

cmake --install "$build" --prefix "$prefix" >"$work/install.log" 2>&1 ||
  { tail -n 20 "$work/install.log"; say "latchkey cannot be installed"; exit 1; }

# Builds the programs of one CMakeLists.txt into $work/<name>: optimised as latchkey is, without debug
# information, and through ccache if it is installed.
launcher=()
! type ccache >/dev/null 2>&1 || launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
build_programs() {
  cmake -G Ninja -S "$1" -B "$work/$2" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -DNDEBUG" "${launcher[@]}" \
    >"$work/$2.log" 2>&1 && cmake --build "$work/$2" >>"$work/$2.log" 2>&1 && return
  tail -n 30 "$work/$2.log"
  say "the programs in $1 cannot be built"
  exit 1
}
build_programs "$folder/core" core
build_programs "$folder/stores" stores
for source in "$folder"/daily/*/CMakeLists.txt; do
  name=$(basename "$(dirname "$source")")
  build_programs "$(dirname "$source")" "daily_$name"
done

redis-server --port 0 --unixsocket "$temporary/redis.sock" --save '' --dir "$temporary" \
  >"$temporary/redis.log" 2>&1 &
redis=$!
readonly uri=redis+unix://$temporary/redis.sock
export LATCHKEY=$prefix/bin/latchkey
for program in pairs ghost streams section; do
  export "${program^^}=$work/stores/$program"
done

# attempt <name> <command>...: leaves the status in $work/<name>.status
attempt() {
  local name=$1 status
  shift
  : >"$work/$name.out"
  for _ in 1 2 3; do
    status=0
    timeout 300 "$@" >>"$work/$name.out" 2>&1 || status=$?
    ((status != 0 && status != 77)) || break
  done
  echo "$status" >"$work/$name.status"
}

running=() names=()
await_running() {
  ((${#running[@]} == 0)) || wait "${running[@]}"
  running=()
}
# run <name> <command>...: alone
run() {
  await_running
  run_beside "$@"
  await_running
}
# The same beside three more: for what measures no time, and mostly waits.
run_beside() {
  wanted "$1" || return 0
  names+=("$1")
  ((${#running[@]} < 4)) || { wait "${running[0]}"; running=("${running[@]:1}"); }
  attempt "$@" &
  running+=($!)
}

for source in "$folder"/core/*.cpp; do
  name=$(basename "$source" .cpp)
  arguments=()
  [[ $name != run_* ]] || arguments=("$LATCHKEY")
  case $name in
    outage_claims | queue_herd | quorum_one_down) run "$name" "$work/core/$name" ;;
    *) run_beside "$name" "$work/core/$name" "${arguments[@]}" ;;
  esac
done
# The programs were written for the version before, in which options of TLS had other names.
rm -rf "$work/scripts"
cp -r "$folder/stores" "$work/scripts"
sed -i -E 's/([?&])cafile=/\1tls_ca=/g; s/([?&])(cert|key)=/\1tls_\2=/g' "$work"/scripts/[0-9]*.sh
for script in $(printf '%s\n' "$work"/scripts/[0-9]*.sh | sort -V); do
  run_beside "$(basename "$script" .sh)" bash "$script"
done

daily() { find "$work/daily_$1" -maxdepth 1 -type f -executable -not -name '*.so*' | head -n 1; }
run asio_or_hides_errors "$(daily asio_or_hides_errors)"
run cron_is_not_quiet sh "$folder/daily/cron_is_not_quiet/check.sh" "$LATCHKEY" "$uri"
run holds_lock_of_keys "$(daily holds_lock_of_keys)"
run lease_used_of_handed_on "$(daily lease_used_of_handed_on)" "$uri"
run ubsan_gcc12 sh "$folder/daily/ubsan_gcc12/check.sh" "$prefix"
run multi_key_events_memory "$(daily multi_key_events)" memory:
run multi_key_events_redis "$(daily multi_key_events)" "$uri"
often() { local i; for ((i = 0; i < 100; ++i)); do "$@" || return; done; }
export -f often
for life in static local; do
  run "listener_at_exit_$life" bash -c 'often "$@"' often "$(daily listener_at_exit)" "$life"
done

await_running
present=0 absent=0 skipped=0
for name in "${names[@]}"; do
  status=$(<"$work/$name.status")
  case $status in
    0) absent=$((absent + 1)) ;;
    77) skipped=$((skipped + 1)); say "$name cannot run: $(tail -n 1 "$work/$name.out")" ;;
    *) present=$((present + 1)); say "$name: PRESENT (status $status): $(tail -n 1 "$work/$name.out")" ;;
  esac
done
printf '%d passed, %d failed, %d skipped\n' "$absent" "$present" "$skipped"
((present == 0))

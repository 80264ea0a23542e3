#!/usr/bin/env bash
# Prints latchkey's types in gdb, and steps into the body of a decorated call but not into latchkey.
#
#   tests/gdb/check.sh <program of printed.cpp>
set -euo pipefail
program=$1
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
debug=$folder/../../debug

# line_of <words>: the line of printed.cpp with the comment `// gdb: <words>`.
line_of() { grep -n "// gdb: $1" "$folder/printed.cpp" | cut -d: -f1; }

commands=(
  "set confirm off" "set pagination off" "set debuginfod enabled off" "set print thread-events off"
  "source $debug/latchkey_printers.py" "source $debug/latchkey.skip"
  "break printed.cpp:$(line_of 'all of them exist')" "run"
)
names=(lock hold long_hold several empty wait endless lease renewed nobody)
for name in "${names[@]}"; do commands+=("echo $name: \\" "output $name" 'echo \n'); done
commands+=(
  # wait.is_forever(), which is called first, is skipped.
  "delete" "step" "latchkey-body" 'echo body at:\n' "frame" "kill"
)
arguments=()
for command in "${commands[@]}"; do arguments+=(-ex "$command"); done
said=$(gdb -batch -nx "${arguments[@]}" "$program" 2>&1) || { echo "$said"; exit 1; }

bad=0
expect() { grep -qF -- "$1" <<<"$said" || { echo "gdb did not print: $1"; bad=1; }; }
expect 'lock: Lock("order:42", FAIR)'
expect 'hold: Hold("order:43", REENTRANT)'
expect "long_hold: Hold(\"$(printf 'k%.0s' {1..80})\", REENTRANT)"
expect 'several: Hold('
expect 'empty: Hold(empty)'
expect 'wait: Wait(3000 ms)'
expect 'endless: Wait(forever)'
expect 'lease: Lease(30000 ms)'
expect 'renewed: Lease(watchdog)'
expect 'nobody: Owner(nobody)'
expect "printed.cpp:$(line_of 'a decorated call')"
expect "printed.cpp:$(line_of 'its body')"
if grep -q 'wait.hpp' <<<"$said"; then echo "gdb stepped into latchkey"; bad=1; fi
((bad == 0)) || { echo "$said"; exit 1; }

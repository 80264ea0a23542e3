#!/usr/bin/env bash
# Reads the notes of the static probes, and stops at each probe in gdb.
#
#   tests/gdb/check_probes.sh <program of probed.cpp>
set -euo pipefail
program=$1
probes=(attempt waiting granted released lost handed_over)

bad=0
complain() { echo "$*"; bad=1; }

# Five arguments each: a space stands between two of them.
notes=$(readelf -n "$program" 2>/dev/null | grep -A 3 'Provider: latchkey')
for probe in "${probes[@]}"; do
  arguments=$(grep -A 2 "Name: $probe\$" <<<"$notes" | grep -m 1 Arguments: || true)
  [[ $(wc -w <<<"$arguments") == 6 ]] || complain "the probe $probe has not five arguments: $arguments"
done
# The code has one `nop` for each, and nothing that is called.
mapfile -t places < <(grep -oE 'Location: 0x[0-9a-f]+' <<<"$notes" | cut -d' ' -f2)
bytes=$(gdb -batch -nx "${places[@]/#/-ex=x/1xb }" "$program" | awk '{ print $NF }')
[[ $(sort -u <<<"$bytes") == 0x90 || $(uname -m) != x86_64 ]] || complain "a probe is no nop: $bytes"

commands=("set confirm off" "set pagination off" "set debuginfod enabled off"
          "set print thread-events off" "set breakpoint pending on")
script=$(mktemp)
trap 'rm -f "$script"' EXIT
printf '%s\n' "${commands[@]}" >"$script"
for probe in "${probes[@]}"; do
  cat >>"$script" <<EOF
break -probe-stap latchkey:$probe
commands
silent
printf "$probe %d ", \$_probe_argc
output *(const char*)\$_probe_arg0@\$_probe_arg1
printf " type %d owner %d", \$_probe_arg2, \$_probe_arg3 > 0
if \$_probe_arg4 != 0
  printf " in %s", *((const char**)\$_probe_arg4 + 1)
end
echo \n
continue
end
EOF
done
echo run >>"$script"
said=$(gdb -batch -nx -x "$script" "$program" 2>&1) || { echo "$said"; exit 1; }

# expect <words>: the probes of one key, in their order.
expect() {
  local key=$1 expected=$2 found
  found=$(grep -F " 5 \"$key\" type " <<<"$said" | cut -d' ' -f1 | tr '\n' ' ')
  [[ $found == "$expected " ]] || complain "key $key: expected '$expected', found '$found'"
}
expect plain 'attempt granted released'
expect a 'attempt granted released'
expect b 'attempt granted released'
expect account:7 'attempt granted released'
expect short 'attempt granted lost released'
expect handed 'attempt granted attempt waiting released handed_over granted released'
grep -q '^granted 5 "account:7" type 3 owner 1 in .*deposit' <<<"$said" ||
  complain "the probe of the decorated call does not name its type, its owner and its method"
((bad == 0)) || { echo "$said"; exit 1; }

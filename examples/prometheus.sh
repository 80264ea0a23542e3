# A real Prometheus: sourced by the tests of ops/.
#
#   find_prometheus              sets promtool and prometheus; false: there is none
#   start_prometheus RULES JOB TARGET...   scrapes and evaluates four times a second; sets server, api
#   query EXPRESSION             what Prometheus answers to it now
#   needs `folder`, a temporary folder of the test, and `fail`, which ends the test with a sentence.
#
# PROMETHEUS: the folder of the programs prometheus and promtool; if it is empty, PATH.
find_prometheus() {
  prometheus=$(PATH=${PROMETHEUS:-$PATH} command -v prometheus) || return
  promtool=${prometheus%/*}/promtool
}

start_prometheus() {
  local rules=$1 job=$2 target targets=
  shift 2
  for target in "$@"; do targets+="${targets:+, }\"$target\""; done
  cat >"$folder/prometheus.yml" <<YAML
global: {scrape_interval: 250ms, scrape_timeout: 250ms, evaluation_interval: 250ms}
rule_files: [$rules]
scrape_configs:
  - {job_name: $job, static_configs: [{targets: [$targets]}]}
YAML
  local port
  for _ in 1 2 3 4 5; do  # until a port is free
    port=$((20000 + RANDOM % 20000))
    "$prometheus" --config.file="$folder/prometheus.yml" --storage.tsdb.path="$folder/data" \
      --web.listen-address="127.0.0.1:$port" >"$folder/prometheus" 2>&1 &
    server=$!
    until grep -q 'Server is ready' "$folder/prometheus" || ! kill -0 "$server" 2>/dev/null; do
      sleep 0.05
    done
    kill -0 "$server" 2>/dev/null && break
  done
  kill -0 "$server" 2>/dev/null || { cat "$folder/prometheus" >&2; fail "Prometheus did not start"; }
  api=http://127.0.0.1:$port/api/v1
}

query() { curl --silent --max-time 10 --get --data-urlencode "query=$1" "$api/query"; }

# await SECONDS SENTENCE COMMAND...: until the command succeeds.
await() {
  local deadline=$((SECONDS + $1)) sentence=$2
  shift 2
  until "$@"; do
    ((SECONDS < deadline)) || { cat "$folder/prometheus" >&2; fail "$sentence"; }
    sleep 0.2
  done
}

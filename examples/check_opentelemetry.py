#!/usr/bin/env python3
"""Runs the example opentelemetry with a collector, and checks the spans and metrics that arrive.

    examples/check_opentelemetry.py PROGRAM [ARGUMENT]...

The collector takes OTLP over HTTP as JSON, on 127.0.0.1.
"""
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import threading


class Collector(http.server.BaseHTTPRequestHandler):
    spans = {}  # by id
    metrics = {}  # by name: the data points of the last export

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.take(body)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def take(self, body):
        for resource in get(body, "resourceSpans") or []:
            for scope in get(resource, "scopeSpans") or []:
                for span in get(scope, "spans") or []:
                    self.spans[get(span, "spanId")] = span
        for resource in get(body, "resourceMetrics") or []:
            for scope in get(resource, "scopeMetrics") or []:
                for metric in get(scope, "metrics") or []:
                    self.metrics[metric["name"]] = metric

    def log_message(self, *_):
        pass


def get(record, name):
    """A field by its name in JSON, or in protobuf."""
    return record.get(name, record.get(re.sub("([A-Z])", lambda match: "_" + match[1].lower(), name)))


def attributes(record):
    return {each["key"]: next(iter(each["value"].values())) for each in record.get("attributes", [])}


def fail(sentence):
    sys.exit(f"check_opentelemetry: {sentence}")


def expect(holds, sentence):
    if not holds:
        fail(sentence)


def check_spans(spans):
    named = {}
    for span in spans.values():
        named.setdefault(span["name"], []).append(span)
    expect(set(named) == {"Bank::deposit", "Bank::audit", "Bank::print", "ledger.write"},
           f"the spans are {sorted(named)}")

    deposits = sorted(named["Bank::deposit"], key=lambda span: int(get(span, "startTimeUnixNano")))
    first, second = deposits
    events = [event["name"] for event in first["events"]]
    expect(events == ["lock.acquired", "lock.released"], f"the events of the first deposit are {events}")
    events = [event["name"] for event in second["events"]]
    expect(events == ["lock.wait.begin", "lock.wait.end", "lock.acquired", "lock.released"],
           f"the events of the second deposit are {events}")
    times = [int(get(event, "timeUnixNano")) for event in second["events"]]
    expect(times == sorted(times), f"the times of the second deposit are {times}")

    of_first, of_second = attributes(first), attributes(second)
    expect(of_first["latchkey.key.template"] == "account:{account}", f"its attributes are {of_first}")
    expect(of_first["latchkey.lock.type"] == "FENCED" and of_first["latchkey.outcome"] == "granted",
           f"its attributes are {of_first}")
    expect("latchkey.key" not in of_first, "a key was exported")
    expect(int(of_second["latchkey.fence"]) > int(of_first["latchkey.fence"]), "the fence does not rise")
    holder = (of_second["latchkey.holder.method"], int(of_second["latchkey.holder.pid"]) > 0)
    expect(holder == ("Bank::deposit", True) and of_second["latchkey.holder.host"],
           f"the holder is {of_second}")
    expect(float(of_second["latchkey.wait.duration"]) > 0, f"the wait is {of_second}")

    audit = named["Bank::audit"][0]
    expect(get(audit["status"], "code") in (2, "STATUS_CODE_ERROR"), f"the status is {audit['status']}")
    expect(attributes(audit)["error.type"] == "timeout", f"the attributes are {attributes(audit)}")

    parents = {}
    for write in named["ledger.write"]:
        parent = spans.get(get(write, "parentSpanId"))
        expect(parent is not None, "a span of a body has no parent")
        expect(get(parent, "traceId") == get(write, "traceId"), "a span is in another trace than its parent")
        parents[parent["name"]] = parents.get(parent["name"], 0) + 1
    expect(parents == {"Bank::deposit": 2, "Bank::print": 10}, f"the parents are {parents}")


def check_metrics(metrics):
    page = pathlib.Path(__file__).parent.parent / "docs" / "opentelemetry.md"
    documented = set(re.findall(r"^\| `(latchkey\.[a-z_.]+)` \|", page.read_text(), re.MULTILINE))
    unknown = {name for name in metrics if name.startswith("latchkey.")} - documented
    expect(not unknown, f"docs/opentelemetry.md does not have {sorted(unknown)}")

    def points(name, kind):
        expect(name in metrics, f"there is no {name}: {sorted(metrics)}")
        return get(get(metrics[name], kind), "dataPoints")

    def of_method(name, kind, method):
        found = [each for each in points(name, kind)
                 if attributes(each).get("code.function.name") == method]
        expect(found, f"{name} has no {method}")
        return found

    grants = sum(int(get(each, "asInt")) for each in of_method("latchkey.lock.attempts", "sum", "Bank::deposit")
                 if attributes(each)["latchkey.outcome"] == "granted")
    expect(grants == 2, f"{grants} deposits were granted")
    held = of_method("latchkey.lock.hold.duration", "histogram", "Bank::deposit")[0]
    expect(int(held["count"]) == 2 and 0.15 < float(held["sum"]) < 60, f"the holds are {held}")
    waited = of_method("latchkey.lock.wait.duration", "histogram", "Bank::deposit")[0]
    expect(int(waited["count"]) == 1 and float(waited["sum"]) > 0, f"the waits are {waited}")
    now = [int(get(each, "asInt")) for each in points("latchkey.lock.holds", "sum")]
    expect(all(number == 0 for number in now), f"{now} locks are still held")
    expect(metrics["latchkey.lock.hold.duration"]["unit"] == "s", "durations are in seconds")


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    environment |= {
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json",
    }
    ran = subprocess.run(sys.argv[1:], env=environment, timeout=100, check=False)
    server.shutdown()
    expect(ran.returncode == 0, f"the program failed: {ran.returncode}")
    check_spans(Collector.spans)
    check_metrics(Collector.metrics)
    print(f"check_opentelemetry: {len(Collector.spans)} spans and {len(Collector.metrics)} metrics arrived")


if __name__ == "__main__":
    main()

#!/usr/bin/env bash
# Adds up what runs of `make chaos` printed, and writes the tables of docs/reliability.md.
#
#   make chaos | tee build/chaos-1.log     as often as you like
#   scripts/reliability.sh [--write] build/chaos-*.log
#   scripts/reliability.sh --nightly step...        the rows that .ci/run has left in build/nightly
#
# Without --write it prints the tables. A run that found a violation, or did not end, is an error.
# --nightly writes the rows of these steps into the page; a step without a new row keeps the one it has.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

exec python3 - "$@" <<'PYTHON'
import pathlib, re, sys

PAGE = pathlib.Path("docs/reliability.md")
CAMPAIGN, NIGHTLY = "<!-- generated: campaign -->\n", "<!-- generated: nightly -->\n"
END = "<!-- end -->\n"

def write(begin, text):
    before, rest = PAGE.read_text().split(begin)
    PAGE.write_text(before + begin + "\n" + text + "\n" + END + rest.split(END, 1)[1])
# What is not a sum of the runs.
is_most = lambda name: name.startswith(("longest", "commands of scripts"))

def tables_of(log, path):
    """{deployment: ({figure: (number, unit)}, {fault: times})}, and the seed."""
    found, deployment, table, seed = {}, None, None, None
    for line in log.splitlines():
        if match := re.match(r"seed (\d+), deployment ([\w-]+)$", line):
            deployment = match[2]
            seed = seed or match[1]  # each deployment has the next one
            found[deployment] = ({}, {})
        elif line.startswith("| figure |"):
            table = found[deployment][0]
        elif line.startswith("| fault |"):
            table = found[deployment][1]
        elif match := re.match(r"\| (.*) \| (\d+)( .*)? \|$", line):
            name, number, unit = match.groups()
            table[name] = (int(number), unit or "")
    whole = log.count("\nno violation\n")
    if not found or whole != len(found):
        sys.exit(f"{path}: {len(found)} deployments, {whole} without a violation")
    return found, seed

def add(total, table):
    for name, (number, unit) in table.items():
        before = total.get(name, (0, unit))[0]
        total[name] = (max(before, number) if is_most(name) else before + number, unit)

def row(words): return "| " + " | ".join(words) + " |\n"

def lines_of(names, columns, heads):
    text = row(heads) + "|---" * len(heads) + "|\n"
    for name in names:
        cells = [column.get(name) for column in columns]
        text += row([name] + ["-" if cell is None else f"{cell[0]}{cell[1]}" for cell in cells])
    return text

if sys.argv[1:2] == ["--nightly"]:
    page = PAGE.read_text().split(NIGHTLY)[1].split(END)[0]
    text = row(["step", "seconds", "result", "commit", "date"]) + "|---" * 5 + "|\n"
    for step in sys.argv[2:]:
        new = pathlib.Path("build/nightly", step + ".row")
        before = re.search(rf"^\| {re.escape(step)} \|.*\n", page, re.M)
        text += row(new.read_text().split()) if new.exists() else before[0] if before else ""
    write(NIGHTLY, text)
    sys.exit()
paths = [word for word in sys.argv[1:] if word != "--write"]
if not paths: sys.exit("no log of a run was given")
totals, seeds = {}, []
for path in paths:
    found, seed = tables_of(pathlib.Path(path).read_text(), path)
    seeds.append(seed)
    for deployment, (figures, faults) in found.items():
        total = totals.setdefault(deployment, ({}, {}))
        add(total[0], figures)
        add(total[1], faults)
everything = ({}, {})
for figures, faults in totals.values():
    figures["kinds of faults"] = (sum(times > 0 for times, _ in faults.values()), "")
    add(everything[0], figures)
    add(everything[1], faults)
everything[0]["kinds of faults"] = (sum(times > 0 for times, _ in everything[1].values()), "")

names, columns = list(totals) + ["together"], list(totals.values()) + [everything]
figures = lines_of(everything[0], [column[0] for column in columns], ["figure"] + names)
drawn = [name for name, (times, _) in everything[1].items() if times > 0]
faults = lines_of(drawn, [column[1] for column in columns], ["fault"] + names)
runs = f"{len(paths)} run" + ("s" if len(paths) != 1 else "")
text = f"{runs}, without a violation. Seeds: {', '.join(seeds)}.\n\n{figures}\n{faults}"
if "--write" not in sys.argv:
    print(text, end="")
    sys.exit()
write(CAMPAIGN, text)
PYTHON

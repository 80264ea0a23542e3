#!/usr/bin/python3
"""Draws the plots of docs/benchmarks.md from its tables, as SVG.

    bench/peers/plots.py <page> <folder of the plots>
"""

import pathlib
import re
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plot  # noqa: E402

COLOURS = ["#0b6e99", "#d9730d", "#6b9e3f", "#8f6bb3"]
MIXED = ["latchkey 1", "latchkey 2", "Redisson 1", "Redisson 2"]
TITLES = {"own": "Own keys: each thread locks a key of its own",
          "hot": "One hot key: grants per second (logarithmic), by processes × threads, time inside",
          "hand-off": "Hand-off from one process to another, in round trips (logarithmic)",
          "mixed": "Two latchkey and two Redisson processes on one key: part of all grants, in %"}
LOAD = "processes × threads, inside"


def table(page: str, name: str) -> list[dict[str, str]]:
    """The rows of a generated table, by the names of its columns."""
    part = page.split(f"<!-- generated: {name} -->\n")[1].split("<!-- end -->")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in part.splitlines() if line.startswith("|")]
    return [dict(zip(rows[0], row)) for row in rows[2:]]


def panels(name: str, rows: list[dict[str, str]]) -> dict[str, dict[str, dict[str, float]]]:
    """Title of a panel -> series -> group of bars -> value."""
    result: dict[str, dict[str, dict[str, float]]] = {}
    for row in rows:
        if name == "mixed":
            values = {each: float(row[each]) for each in MIXED}
            whole = sum(values.values()) or 1
            for each, value in values.items():
                result.setdefault(row["type"], {}).setdefault(each, {})[row[LOAD]] = 100 * value / whole
            continue
        title, group, column = {
            "own": ("acquire and release pairs per second", f"{row.get('threads')} threads", "pairs/s"),
            "hot": (row.get("type", ""), row.get(LOAD, ""), "pairs/s"),
            "hand-off": ("median of the hand-offs", row.get("type", ""), "in round trips")}[name]
        series = result.setdefault(title, {}).setdefault(row["library"], {})
        series["1 thread" if group == "1 threads" else group] = float(row[column] or 0)
    return result


def short(value: float) -> str:
    if value >= 1e6:
        return f"{value / 1e6:.1f} M"
    if value >= 1e3:
        return f"{value / 1e3:.{0 if value >= 1e4 else 1}f} k"
    return f"{value:.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"


def draw(name: str, page: str, file: pathlib.Path) -> None:
    found = panels(name, table(page, name))
    figure, axes = plot.subplots(len(found), 1, figsize=(9, 0.7 + 2.2 * len(found)), squeeze=False)
    for axis, (title, series) in zip(axes[:, 0], found.items()):
        groups = list(dict.fromkeys(group for values in series.values() for group in values))
        for at, group in enumerate(groups):
            drawn = [(place, each) for place, each in enumerate(series) if series[each].get(group)]
            for bar, (place, each) in enumerate(drawn):
                x = at + (bar - (len(drawn) - 1) / 2) * 0.2
                bars = axis.bar(x, series[each][group], 0.19, color=COLOURS[place], zorder=2)
                axis.bar_label(bars, [short(series[each][group])], fontsize=6.5, padding=1)
        axis.set_title(title, loc="left", fontsize=9)
        axis.set_xticks(range(len(groups)), groups)
        if name in ("hot", "hand-off"):
            axis.set_yscale("log")
        axis.yaxis.set_major_formatter(lambda value, _: short(value))
        axis.tick_params(labelsize=8, length=0, which="both")
        axis.grid(axis="y", color="#dddddd", zorder=0)
        axis.margins(y=0.15)
        axis.spines[:].set_visible(False)
    names = list(dict.fromkeys(each for series in found.values() for each in series))
    figure.suptitle(TITLES[name], x=0.01, ha="left", fontsize=11)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.3 / figure.get_figheight()))
    figure.legend([plot.Rectangle((0, 0), 1, 1, color=COLOURS[at]) for at in range(len(names))], names,
                  loc="upper right", bbox_to_anchor=(0.99, 1 - 0.28 / figure.get_figheight()),
                  ncols=len(names), fontsize=8, frameon=False)
    figure.savefig(file, metadata={"Date": None}, facecolor="white")
    # Not every viewer of SVG has matplotlib's font.
    file.write_text(re.sub(r"DejaVu Sans[^;']*", "sans-serif", file.read_text()))
    plot.close(figure)


def main() -> None:
    page, folder = pathlib.Path(sys.argv[1]).read_text(), pathlib.Path(sys.argv[2])
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "latchkey"})
    folder.mkdir(parents=True, exist_ok=True)
    for name in TITLES:
        draw(name, page, folder / f"{name}.svg")


if __name__ == "__main__":
    main()

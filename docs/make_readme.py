"""Make the picture and the tables of the README: the demo's own run, and a home on Wi-Fi 6.

Knows: which examples these are, the markers in README.md between which the tables stand, and from
which pages two of them are taken: where the models hold, and what peers take for the same.
Knows no numbers: scenario and seed decide them, so that whoever runs this gets the same table.

    .venv/bin/python docs/make_readme.py
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import tables
from airtcp import compare, load
from airtcp.amounts import quantity_with_interval
from airtcp.present import drawing, plot, summary
from airtcp.results import Comparison

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "README.md"
PICTURE = ROOT / "docs" / "images" / "web-hotspot.png"
EXAMPLES = ROOT / "python" / "airtcp" / "examples"
SCENARIO = EXAMPLES / "web-hotspot.toml"
HOME = EXAMPLES / "home-wifi6.toml"
SCHEDULERS = ("oldest", "round-robin")

ACCURACY = ROOT / "docs" / "laboratory" / "model-accuracy.md"
BENCHES = ROOT / "benches" / "README.md"


@cache
def demo() -> Comparison:
    """Computes the result of `make demo`."""
    return compare(load(SCENARIO))


def cells(result: Comparison) -> list[list[str]]:
    """Shows the comparison as the demo does: the head, then a list of texts for each line."""
    head = ["metric", "model", "source", f"simulation, {100 * result.simulation.confidence:g} %"]
    lines = [
        [line.metric, line.model, line.source, line.simulation, line.difference, line.verdict]
        for line in summary.comparison_lines(result)
    ]
    return [[*head, "difference", ""], *lines]


def table() -> str:
    """Writes the comparison of the demo in Markdown."""
    head, *lines = cells(demo())
    return tables.markdown(head, lines)


def home() -> str:
    """Lists the goodput of each of the home's stations, by the access point's scheduler."""
    rows = []
    for scheduler in SCHEDULERS:
        result = compare(load(HOME).vary({"ap.scheduler": scheduler}))
        simulation = result.simulation
        everything = simulation.metrics["goodput_bps"]
        best = next(row for row in result.comparison if row.metric == "goodput_bps")
        groups = [
            quantity_with_interval(group["download"]["flow_goodput_bps"], "b/s")
            for group in simulation.groups.values()
        ]
        model = f"{best.model / 1e6:.1f} Mb/s"
        rows.append([scheduler, model, quantity_with_interval(everything, "b/s"), *groups])
    names = [group.name for group in load(HOME).stations]
    return tables.markdown(["scheduler", "model, all", "simulated, all", *names], rows)


def holds() -> str:
    """Copies the list of where models hold from the beginning of its page."""
    short = ACCURACY.read_text(encoding="utf-8").partition("In short:")[2].partition("\n## ")[0]
    return short.strip()


def peers() -> str:
    """Sums up the table that `make peers` writes: answers and CPU time of ns-2 and ns-3."""
    text = BENCHES.read_text(encoding="utf-8").partition("side by side: begins")[2]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.partition("side by side: ends")[0].splitlines()
        if line.startswith("| ns-")
    ]
    made = []
    for peer in ("ns-2", "ns-3"):
        points = [row for row in rows if row[0] == peer and row[1] != "all"]
        (whole,) = (row for row in rows if row[0] == peer and row[1] == "all")
        largest = max((row[4] for row in points), key=lambda cell: abs(float(cell[:-2])))
        told = re.fullmatch(r"(.*?); airtcp (.*?): \*\*(\d+) times\*\*", whole[5])
        assert told is not None
        theirs, ours, times = told.groups()
        stations = f"{points[0][1]} to {points[-1][1]}"
        made.append(
            [peer, stations, whole[4].split(" (")[0], largest.lstrip("+"), theirs, ours, times]
        )
    head = ["peer", "downloads", "median difference", "largest", "its CPU for 1 s", "ours", "times"]
    return tables.markdown(head, made)


TABLES = {"demo": table, "home": home, "holds": holds, "peers": peers}

if __name__ == "__main__":
    tables.remake(PAGE, TABLES)
    PICTURE.write_bytes(drawing.png(plot.pictures(demo())["comparison"]))

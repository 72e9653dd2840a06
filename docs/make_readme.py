"""Make the picture and tables of the README, and those of the demo in models.md.

Scenario and seed determine the numbers, so every run gives the same results.

    .venv/bin/python docs/make_readme.py
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import tables
from airtcp import compare, load, simulate
from airtcp.judge.targets import EXPECTED
from airtcp.present import drawing, plot, summary
from airtcp.results import Comparison

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "README.md"
MODELS = ROOT / "docs" / "explanation" / "models.md"
TUTORIAL = ROOT / "docs" / "tutorial" / "run-screen.md"
IMAGES = ROOT / "docs" / "images"
EXAMPLES = ROOT / "python" / "airtcp" / "examples"
SCENARIO = EXAMPLES / "web-hotspot.toml"
OFFICE = EXAMPLES / "office-wifi6.toml"
BENCHES = ROOT / "benches" / "README.md"

#: Terminal width of the README.
COLUMNS = 100
#: The variants in the picture: the office, and two changes of its access point.
WAYS: dict[str, dict[str, str]] = {
    "as it is": {},
    "calls in the voice category": {"mac.classify.udp": "AC_VO"},
    "FQ-CoDel and airtime fairness": {"ap.profile": "openwrt"},
}
DESKS = (10, 20, 30, 40)
#: The panels: group, metric, its label, its scale, the ticks, and the target in seconds.
PANELS = (
    (
        *("caller", "packet_delay_p95_s", "delay of calls, 95th percentile (ms)"),
        *(1e3, (0, 50, 100, 150), EXPECTED["call"][0].value),
    ),
    (
        *("desk", "page_time_p90_s", "page time, 90th percentile (s)"),
        *(1.0, (1, 2, 4, 10, 20, 40), EXPECTED["web"][0].value),
    ),
)


@cache
def demo() -> Comparison:
    """Compute the result of `make demo`."""
    return compare(load(SCENARIO))


def cells(result: Comparison) -> list[list[str]]:
    """Return the comparison as the demo prints it: the heading, then the cells of each line."""
    head = ["metric", "model", "source", f"simulation, {100 * result.simulation.confidence:g} %"]
    lines = [
        [line.metric, line.model, line.source, line.simulation, line.difference, line.verdict]
        for line in summary.comparison_lines(result)
    ]
    return [[*head, "difference", ""], *lines]


def table() -> str:
    """Write the comparison of the demo in Markdown."""
    head, *lines = cells(demo())
    return tables.markdown(head, lines)


@cache
def printed() -> str:
    """Return the printed result of the office at the README's width."""
    command = [sys.executable, "-m", "airtcp", "run", str(OFFICE), "--quiet"]
    wide = os.environ | {"COLUMNS": str(COLUMNS)}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=wide).stdout


def whole_screen() -> str:
    """Return the screen of the office without its last line, which has the run time."""
    shown = printed().rstrip().rpartition("\n")[0].rstrip()
    return f"```text\n{shown}\n```"


def screen() -> str:
    """Return the decision on the screen of the office."""
    decision, *_ = printed().split("\n\n")
    return "\n".join(["```text", decision, "...", "```"])


def office() -> bytes:
    """Draw call delay and page time over the number of desks, before and after two changes.

    A triangle is a lower bound: few pages end because they take so long.
    """
    length = {"run.duration": "120 s", "run.warmup": "20 s", "run.replications": 4}
    with drawing.styled():
        figure, axes = drawing.new_figure(9.6, 3.6)
        axes.remove()
        panels = figure.subplots(1, len(PANELS))
        for label, changes in WAYS.items():
            runs = [
                simulate(load(OFFICE).vary({"stations.desk.count": desks, **changes, **length}))
                for desks in DESKS
            ]
            for axes, (group, metric, _, scale, _, _) in zip(panels, PANELS, strict=True):
                found = [run.simulation.groups[group]["download"][metric] for run in runs]
                known = [scale * ((one.mean or one.low) or 0.0) for one in found]
                (line,) = axes.plot(DESKS, known, "-", label=label)
                for desks, one, value in zip(DESKS, found, known, strict=True):
                    axes.plot(desks, value, "o" if one.mean else "^", color=line.get_color())
        for axes, (_, _, label, scale, ticks, target) in zip(panels, PANELS, strict=True):
            axes.axhline(scale * target, linestyle="--", color=drawing.MUTED, label="target")
            axes.set_xlabel("desks")
            axes.set_ylabel(label)
            if ticks[0]:
                axes.set_yscale("log")
                axes.minorticks_off()
            axes.set_yticks(ticks, [str(one) for one in ticks])
        drawing.legend_above(figure, panels[0])
        return drawing.png(figure)


def peers() -> str:
    """Summarize the table of `make peers`: results and CPU time of ns-2 and ns-3."""
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


TABLES = {"screen": screen, "peers": peers, "demo": table, "run-screen": whole_screen}
PAGES = {"screen": PAGE, "peers": PAGE, "demo": MODELS, "run-screen": TUTORIAL}

if __name__ == "__main__":
    for name, page in PAGES.items():
        tables.remake(page, TABLES, [name])
    (IMAGES / "web-hotspot.png").write_bytes(drawing.png(plot.pictures(demo())["comparison"]))
    (IMAGES / "office.png").write_bytes(office())

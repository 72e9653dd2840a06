"""Make the pictures and the table of howto/cells.md: three stories, and their fixes.

Uses the unchanged examples with fixed seeds, and the changes described on the page. Which of the
two hidden uploads wins is random, so the larger and the smaller of each replication are
reported.

    .venv/bin/python docs/make_cells.py   # half a minute
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import airtcp
import tables
from airtcp.examples import directory
from airtcp.present.drawing import (
    BLUE,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    PURPLE,
    VERMILION,
    png,
    styled,
)
from airtcp.stats import Interval, student_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DOCS = Path(__file__).parent
PAGE = DOCS / "howto" / "cells.md"
IMAGES = DOCS / "images"
RTS = {"mac.rts_threshold": "0 B"}
#: Which office dominates is random, so this needs more than the example's five replications.
REPLICATIONS = {"three-offices": 20}
COLOURS = (VERMILION, ORANGE, PURPLE, BLUE, GREEN)


@dataclass(frozen=True)
class Story:
    """An example: its nodes, who hears whom, and the changes to try.

    `nodes` have positions in a drawing. `heard` are pairs that hear each other; `deaf` are pairs
    whose inability to hear each other matters. `bars` are the labels under the chart.
    """

    example: str
    title: str
    nodes: Mapping[str, tuple[float, float]]
    heard: Sequence[tuple[str, str]]
    deaf: Sequence[tuple[str, str]]
    variants: Mapping[str, Mapping[str, Any]]
    bars: Sequence[str]


def row_of(names: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Place names in a row."""
    return {name: (float(place), 0.0) for place, name in enumerate(names)}


_ROW, _OFFICES = ("left", "middle", "right"), ("law", "tax", "art")
STORIES = {
    "middle": Story(
        "three-cells",
        "The middle cell",
        row_of(_ROW),
        [("left", "middle"), ("middle", "right")],
        [("left", "right")],
        {
            "as it is": {},
            "RTS/CTS": RTS,
            "middle on a channel of its own": {
                "cells.left.channel": 36,
                "cells.middle.channel": 40,
                "cells.right.channel": 36,
                "air.heard": [],
            },
        },
        _ROW,
    ),
    "hidden": Story(
        "hidden-uploads",
        "The hidden uploader",
        row_of(("near-wall", "access point", "behind-wall")),
        [("near-wall", "access point"), ("access point", "behind-wall")],
        [("near-wall", "behind-wall")],
        {"as it is": {}, "RTS/CTS": RTS},
        ("the larger", "the smaller"),
    ),
    "offices": Story(
        "three-offices",
        "Three offices",
        row_of(_OFFICES),
        [("law", "tax"), ("tax", "art")],
        [("law", "art")],
        {
            "as it is": {},
            "RTS/CTS": RTS,
            "spatial reuse from -72 dBm": {"air.obss_pd": "-72 dBm"},
            "spatial reuse from -62 dBm": {"air.obss_pd": "-62 dBm"},
            "middle on a channel of its own": {"cells.tax.channel": 40},
        },
        _OFFICES,
    ),
}


@cache
def goodputs(name: str) -> dict[str, list[Interval]]:
    """Simulate the variants of a story, and return the goodput of each bar in b/s."""
    story = STORIES[name]
    found = {}
    for variant, changes in story.variants.items():
        scenario = airtcp.load(Path(str(directory())) / f"{story.example}.toml").vary(changes)
        runs = airtcp.simulate(
            scenario, replications=REPLICATIONS.get(story.example)
        ).simulation.runs
        values = []
        for run in runs:
            if name == "hidden":
                values.append(
                    sorted((one["goodput_bps"] for one in run.answer["flows"]), reverse=True)
                )
            else:
                values.append([cell["goodput_bps"] for cell in run.answer["cells"]])
        found[variant] = [student_interval(bar) for bar in zip(*values, strict=True)]
    return found


def table(name: str) -> str:
    """Return the goodputs of a story in Mb/s."""
    rows = [
        [variant, *(tables.shown(bar, 1, 1e6) for bar in bars)]
        for variant, bars in goodputs(name).items()
    ]
    return tables.markdown(["goodput, Mb/s", *STORIES[name].bars], rows)


def picture(name: str) -> Figure:
    """Draw who hears whom, and the goodputs."""
    from matplotlib.figure import Figure

    story = STORIES[name]
    with styled():
        figure = Figure(figsize=(8.4, 3.0), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(0.8, 1.2))
        graph(left, story)
        chart(right, story, goodputs(name))
    return figure


def graph(axes: Axes, story: Story) -> None:
    """Draw nodes, lines for pairs that hear each other, and dashed lines for `deaf` pairs."""
    for one, other in story.heard:
        (x, y), (u, v) = story.nodes[one], story.nodes[other]
        axes.plot([x, u], [y, v], color=INK, linewidth=2.2, zorder=1)
    for one, other in story.deaf:
        (x, y), (u, v) = story.nodes[one], story.nodes[other]
        bow = [x + (u - x) * step / 20 for step in range(21)]
        height = [y + 2.4 * (step / 20) * (1 - step / 20) for step in range(21)]
        axes.plot(bow, height, color=MUTED, linewidth=1.3, linestyle=(0, (4, 3)), zorder=1)
        axes.text((x + u) / 2, 0.68, "do not hear each other", ha="center", fontsize=8, color=MUTED)
    for node, (x, y) in story.nodes.items():
        axes.plot([x], [y], "o", markersize=17, color=BLUE, zorder=2)
        axes.text(x, y - 0.32, node, ha="center", va="top", fontsize=9)
    axes.set_xlim(-0.5, max(x for x, _ in story.nodes.values()) + 0.5)
    axes.set_ylim(-0.8, 1.0)
    axes.set_axis_off()
    axes.set_title(story.title, fontsize=10.5, loc="left")


def chart(axes: Axes, story: Story, found: Mapping[str, Sequence[Interval]]) -> None:
    """Draw the goodput of each bar by variant, with its confidence interval."""
    width = 0.8 / len(found)
    for place, (variant, bars) in enumerate(found.items()):
        xs = [bar + width * (place - (len(found) - 1) / 2) for bar in range(len(bars))]
        means = [(bar.mean or 0.0) / 1e6 for bar in bars]
        above = [(bar.half_width or 0.0) / 1e6 for bar in bars]
        # Goodput is never negative, though Student's interval may be.
        below = [min(mean, half) for mean, half in zip(means, above, strict=True)]
        axes.bar(
            xs,
            means,
            width=0.92 * width,
            color=COLOURS[place if len(found) > 3 else (0, 1, 3)[place]],
            label=variant,
            yerr=[below, above],
            error_kw={"elinewidth": 0.9, "ecolor": INK, "capsize": 1.5},
        )
    axes.set_xticks(range(len(story.bars)), story.bars)
    axes.grid(visible=False, axis="x")
    axes.set_ylabel("goodput, Mb/s")
    axes.set_ylim(bottom=0)
    axes.legend(
        loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=2, fontsize=7.5, handlelength=1
    )


TABLES: Mapping[str, Callable[[], str]] = {
    "middle": lambda: table("middle"),
    "hidden": lambda: table("hidden"),
    "offices": lambda: table("offices"),
}

if __name__ == "__main__":
    tables.remake(PAGE, TABLES)
    for story in STORIES:
        (IMAGES / f"cells-{story}.png").write_bytes(png(picture(story)))

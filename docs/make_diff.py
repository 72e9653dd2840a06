"""Make the table of results.md on pairs: the widths of paired differences (a minute or two).

.venv/bin/python docs/make_diff.py
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final

from airtcp import diff, load
from airtcp.results.differences import Change
from tables import markdown, remake, shown

ROOT = Path(__file__).parents[1]
PAGE = Path(__file__).parent / "explanation" / "intervals.md"
SCENARIO = ROOT / "python" / "airtcp" / "examples" / "web-hotspot.toml"

#: The changes of the hot spot, in words and as keys.
CHANGES: Final[dict[str, dict[str, Any]]] = {
    "an ACK for every segment": {"flows.laptop.tcp.delayed_ack": {"every": 1}},
    "a receive window of 4 segments": {"flows.laptop.tcp.receive_window": {"segments": 4}},
    "flows take turns in the AP's queue": {"ap.queue.discipline": "per-flow"},
    "RTS/CTS before every frame": {"mac.rts_threshold": "0 B"},
    "the short preamble": {"phy.preamble": "short"},
}

METRICS: Final = {"transfer_time_s": "mean", "transfer_time_p90_s": "90th percentile"}


def pairs() -> str:
    """Return differences of transfer times, with the half width for two independent runs."""
    scenario = load(SCENARIO)
    head = ["change", *(f"{name} (s)" for name in METRICS.values())]
    head += [f"unpaired ±, {name}" for name in METRICS.values()]
    head += [f"times narrower, {name}" for name in METRICS.values()]
    rows = []
    for words, keys in CHANGES.items():
        found = diff(scenario, scenario.vary(keys))
        changes = [found.metrics[name] for name in METRICS]
        rows.append(
            [
                words,
                *(shown(change.difference) for change in changes),
                *(f"{unpaired(change):.3f}" for change in changes),
                *(f"{narrower(change):.1f}" for change in changes),
            ]
        )
    return markdown(head, rows)


def unpaired(change: Change) -> float:
    """Return the half width of a difference of independent means, the root sum of squares."""
    assert change.a.half_width is not None
    assert change.b.half_width is not None
    return math.hypot(change.a.half_width, change.b.half_width)


def narrower(change: Change) -> float:
    """Return the factor by which the paired interval is narrower."""
    assert change.difference.half_width is not None
    return unpaired(change) / change.difference.half_width


TABLES = {"pairs": pairs}

if __name__ == "__main__":
    remake(PAGE, TABLES)

"""Make the tables of docs/papers/acks.md: methods that send fewer TCP ACKs, or send them first.

The scenarios are those of validation/acks. Seeds are fixed, so every run gives the same
tables.

    .venv/bin/python docs/make_acks.py
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import tables
from airtcp.scenario import loads
from airtcp.stats import student_interval

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "papers" / "acks.md"

sys.path.insert(0, str(ROOT / "validation"))
from acks.ways import (  # noqa: E402
    BASE,
    BBR,
    COUNTS,
    DIRECTIONS,
    MEASURED,
    STANDARDS,
    WAYS,
    gain_percent,
    goodputs,
    without_acks_bps,
    written,
)


def gains(standard: str) -> str:
    """List the goodput with an ACK per two segments, and the paired gain of each method."""
    points = [(direction, count) for direction in DIRECTIONS for count in COUNTS]
    base = {point: goodputs(standard, *point, BASE) for point in points}
    head = ["", *_columns(points)]
    rows = []
    for way in WAYS:
        cells = [way]
        for point in points:
            if way == BASE:
                cells.append(f"{tables.shown(student_interval(base[point], 0.95), 2, 1e6)} Mb/s")
                continue
            cells.append(_gain(goodputs(standard, *point, way), base[point]))
        rows.append(cells)
    return tables.markdown(head, rows)


def _columns(points: Sequence[tuple[str, int]]) -> list[str]:
    return [f"{direction}, {count} station{'s'[: count - 1]}" for direction, count in points]


def _gain(ours: Sequence[float], base: Sequence[float]) -> str:
    found = gain_percent(ours, base)
    assert found.mean is not None
    assert found.half_width is not None
    return f"{found.mean:+.1f} ± {found.half_width:.1f} %"


def with_bbr() -> str:
    """List the goodput of BBR version 3, and the gains of TACK and of an ACK per eight segments."""
    points = [(direction, count) for direction in DIRECTIONS for count in COUNTS]
    rows = []
    for standard in STANDARDS:
        base = {point: goodputs(standard, *point, BASE, BBR) for point in points}
        shown = [student_interval(base[point], 0.95) for point in points]
        rows.append(
            [f"{standard}, {BASE}", *(f"{tables.shown(one, 2, 1e6)} Mb/s" for one in shown)]
        )
        for way in ("an ACK for every eight", "TACK, four in a least round trip"):
            cells = [_gain(goodputs(standard, *one, way, BBR), base[one]) for one in points]
            rows.append([f"{standard}, {way}", *cells])
    return tables.markdown(["BBR, version 3", *_columns(points)], rows)


def limits() -> str:
    """List the maximum gain over an ACK per two segments, and measured gains."""
    rows = []
    for standard in STANDARDS:
        bound = without_acks_bps(loads(written(standard, "download", 1, BASE)))
        base = student_interval(goodputs(standard, "download", 1, BASE), 0.95)
        assert base.mean is not None
        tack, bbr = MEASURED[standard]
        rows.append(
            [
                standard,
                f"{base.mean / 1e6:.2f} Mb/s",
                f"{bound / 1e6:.2f} Mb/s",
                f"{100.0 * (bound / base.mean - 1.0):+.0f} %",
                f"{bbr:g} and {tack:g} Mb/s",
                f"{100.0 * (tack / bbr - 1.0):+.0f} %",
            ]
        )
    head = ["", BASE, "no ACKs at all", "at most", "measured: BBR, TACK", "gain"]
    return tables.markdown(head, rows)


TABLES: Mapping[str, Callable[[], str]] = {
    "limits": limits,
    "bbr": with_bbr,
    **{standard: partial(gains, standard) for standard in STANDARDS},
}


if __name__ == "__main__":
    tables.remake(PAGE, TABLES, sys.argv[1:])

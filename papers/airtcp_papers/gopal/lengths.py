"""Reproduce paper G, section IV.C: the gains of short and long uploads from skipping."""

from __future__ import annotations

from statistics import correlation, fmean
from typing import Final

from airtcp.stats import Interval, student_interval

from airtcp_papers.common.bench import Bench, Changes
from airtcp_papers.common.chart import Series
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.item import Value
from airtcp_papers.common.measure import words
from airtcp_papers.gopal.observed import Uploads, observe

_SKIPS: Final = (0, 1, 2, 3, 4)
_FLOWS: Final = (1, 3)
#: The jackknife leaves out one of this many parts of the replications at a time.
_PARTS: Final = 20
_SMALL: Final[Changes] = {"flows.node.tcp.receive_window": "20 kB"}
#: Figures 3 and 4, 5 and 6, and the latter with ns-2's default window.
_PANELS: Final[tuple[tuple[str, str, bool, Changes], ...]] = (
    ("none", "no MAC retries", False, {}),
    ("retries", "MAC retries", True, {}),
    ("retries_small_window", "MAC retries, window of 20 kB", True, _SMALL),
)

#: Runs of short and of long uploads, by number of flows and of skipped ACKs.
_Cases = dict[tuple[int, int], tuple[Uploads, Uploads]]


def _gains(cases: _Cases, without: int | None) -> tuple[list[float], list[float]]:
    """Return relative gains of short and long uploads, without one part of the replications."""

    def goodput(one: Uploads) -> float:
        runs = enumerate(one.simulation.runs)
        return fmean(one.goodput(run.answer) for at, run in runs if at % _PARTS != without)

    short, long = (
        [
            goodput(cases[flows, skip][size]) / goodput(cases[flows, 0][size]) - 1.0
            for flows in _FLOWS
            for skip in _SKIPS[1:]
        ]
        for size in (0, 1)
    )
    return short, long


def _alike(cases: _Cases) -> Interval:
    """Return the correlation of the gains of short and long uploads, by jackknife."""
    whole = correlation(*_gains(cases, None))
    return student_interval(
        _PARTS * whole - (_PARTS - 1) * correlation(*_gains(cases, part)) for part in range(_PARTS)
    )


@item("G.lengths")
def lengths(bench: Bench) -> Found:
    series, values, told = [], dict[str, Value](), []
    for number, (name, how, retries, varied) in enumerate(_PANELS):
        cases: _Cases = {}
        for flows in _FLOWS:
            for skip in _SKIPS:
                short, long = (
                    observe(
                        bench, skip, megabytes=size, flows=flows, retries=retries, varied=varied
                    )
                    for size in (1, 10)
                )
                cases[flows, skip] = short, long
        x, y = _gains(cases, None)
        series.append(Series(how, x, y, "points", number))
        values[f"alike_{name}"] = _alike(cases)
        told.append(f"{words(values[f'alike_{name}'])} ({how})")
    return Found(series, values=values, told={"each": " and ".join(told)})

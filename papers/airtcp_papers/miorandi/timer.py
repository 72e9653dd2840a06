"""Paper M, section 4.3: what acknowledging only every fourth or fifth segment gains many users.

The paper gives a delayed-ACK timer of 40 ms with Table 3, for one station. For many stations it
names none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from airtcp.stats import Interval

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.chart import Series
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.item import Value
from airtcp_papers.common.measure import least, words
from airtcp_papers.miorandi.users import LARGE, PARETO, Users, every, web

_MANY: Final = 50
#: Timers of Table 3, of BSD's heartbeat, and the longest that RFC 1122 4.2.3.2 allows, ms.
_TIMERS_MS: Final = (40, 200, 500)
_LONGEST: Final = _TIMERS_MS[-1]
_QUICK: Final[Mapping[str, Any]] = {"run.duration": "5000 s", "run.replications": 5}
#: The claim is about the paper's timer. Longer timers and d = 2 decide nothing.
_QUICK_BESIDE: Final = {**_QUICK, "run.duration": "2000 s"}


def _users(bench: Bench, d: int, timer_ms: int, quick: Mapping[str, Any]) -> Users:
    return web(bench, _MANY, LARGE, PARETO, every(d, f"{timer_ms} ms"), quick=quick)


def _beyond(bench: Bench, timer_ms: int) -> dict[int, Interval]:
    """Return the mean times with d = 4 and 5 over the mean time with d = 3."""
    quick = _QUICK if timer_ms == _TIMERS_MS[0] else _QUICK_BESIDE
    three = _users(bench, 3, timer_ms, quick)
    return {d: _users(bench, d, timer_ms, quick).over(three) for d in (4, 5)}


@item("M.timer")
def timer(bench: Bench) -> Found:
    beyond = {ms: _beyond(bench, ms) for ms in _TIMERS_MS}
    ends = (_TIMERS_MS[0], _LONGEST)
    two = [
        _users(bench, 2, ms, _QUICK_BESIDE).over(_users(bench, 1, ms, _QUICK_BESIDE)) for ms in ends
    ]
    series = []
    for d in (4, 5):
        ratios: list[Value] = [some[d] for some in beyond.values()]
        series.append(Series(f"d = {d} over d = 3", _TIMERS_MS, ratios, "simulation"))
    series.append(Series("d = 2 over d = 1", ends, [*two], "simulation"))
    # The paper's sentence names no timer, so it is drawn over all of them.
    series.append(Series("paper, d above 3", _TIMERS_MS, [1.0] * len(_TIMERS_MS), "paper"))
    return Found(
        series,
        values={
            "beyond_three": least(beyond[_TIMERS_MS[0]].values()),
            "beyond_three_longest": least(beyond[_LONGEST].values()),
            "two_over_one_longest": two[1],
        },
        told={
            "each": "; ".join(
                f"with {ms} ms d = 4 takes {words(some[4])} and d = 5 {words(some[5])} of the "
                "time of d = 3"
                for ms, some in beyond.items()
            ),
            "two": two,
            "ends": ends,
            "longest": _LONGEST,
        },
    )

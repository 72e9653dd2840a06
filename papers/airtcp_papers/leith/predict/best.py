"""Predict the CWmin of stations that maximizes paper L's throughput of uploads.

Predictions for the scenario as it is are in `uploads`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from airtcp.predict.answers import Answers

from airtcp_papers.leith.model import PAPER, best_window
from airtcp_papers.leith.predict import CARDS, uploads

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario

_WINDOW: Final = CARDS["best_window"]


def window(scenario: ResolvedScenario, answers: Answers) -> str | None:
    """Find the best CWmin for the stations' data, if paper L applies to their uploads."""
    found = uploads.prioritised(scenario)
    if found is None or isinstance(found, str):
        return None
    _, doublings, hold = found.windows
    broken: list[str] | None = None
    with answers.attempt("L (9), best CWmin"):
        # No CWmin helps stations whose frames are not delivered.
        broken = list(uploads.breaks(found, found.throughput()))
    if broken is None:
        return None
    kinds: tuple[tuple[Literal["any", "powers of two"], str], ...] = (
        ("powers of two", "L (9), best CWmin, CWmin + 1 a power of two"),
        ("any", "L (9), best CWmin"),
    )
    for windows, source in kinds:
        with answers.attempt(source):
            best = best_window(
                found.count,
                doublings,
                hold,
                found.parameters,
                PAPER,
                d=found.every,
                windows=windows,
            )
            # `w0` is W, which is CWmin + 1 in terms of scenario keys.
            answers.add(
                _WINDOW.origin(source, broken), {"best_cw_min_stations": float(best.w0) - 1.0}
            )
    return None

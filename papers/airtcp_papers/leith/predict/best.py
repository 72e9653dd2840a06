"""Predict the CWmin of stations that maximizes paper L's throughput of uploads.

Predictions for the scenario as it is are in `uploads`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from airtcp.predict.answers import Answers
from airtcp.predict.card import Assumption, Card

from airtcp_papers.leith.model import PAPER, best_window
from airtcp_papers.leith.predict import uploads

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario

_WINDOW: Final = Card(
    name="paper L, best CWmin",
    by="models.leith.throughput",
    asked="endless TCP uploads, EDCA with priority for TCP ACKs",
    answers=("best_cw_min_stations",),
    reads=uploads.CARDS[0].reads,
    assumes=(
        *uploads.CARDS[0].assumes,
        Assumption("CWmax is the same multiple of CWmin + 1 as in the scenario", ("mac.edca",)),
    ),
    needs=uploads.CARDS[0].needs,
    harmless=uploads.CARDS[0].harmless,
)
CARDS: Final = (_WINDOW,)


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

"""`plot()` of any result: selects the package that draws it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from airtcp.exceptions import QuestionError
from airtcp.results import Comparison, Results, SimulationResult
from airtcp.results.channel_plans import ChannelPlan
from airtcp.results.differences import Difference
from airtcp.results.plans import Plan

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The pictures of a result, the best first.
_FIRST: Final = ("comparison", "transfer-times", "stations", "airtime")


def figure(result: Any, /, **options: Any) -> Figure:
    """Return a picture of a result.

    Raises QuestionError if there is none, TypeError for an object that is not a result.
    """
    if isinstance(result, Results):
        from airtcp.present import plot_table

        return plot_table.picture(result, **options)[0]
    return _named(_all(result), **options)


def _all(result: Any) -> dict[str, Figure]:
    if isinstance(result, Comparison | SimulationResult):
        from airtcp.present import plot

        found = plot.pictures(result)
        return {name: found[name] for name in sorted(found, key=_place)}
    if isinstance(result, Difference):
        from airtcp.present import difference

        drawn = difference.picture(result)
        return {} if drawn is None else {"difference": drawn}
    if isinstance(result, Plan):
        from airtcp.present import plan

        return plan.pictures(result)
    if isinstance(result, ChannelPlan):
        from airtcp.present import channel_plan

        return channel_plan.pictures(result)
    raise TypeError(f"a {type(result).__name__} has no pictures")


def _place(name: str) -> int:
    return _FIRST.index(name) if name in _FIRST else len(_FIRST)


def _named(figures: dict[str, Figure], name: str | None) -> Figure:
    if not figures:
        raise QuestionError("plot: the result has no numbers to draw")
    if name is None:
        return next(iter(figures.values()))
    if name not in figures:
        raise QuestionError(
            f"plot: there is no picture {name!r} of this result; allowed: {', '.join(figures)}"
        )
    return figures[name]

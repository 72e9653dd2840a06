"""The target precision of a run: which intervals count, and whether the cap allows it.

Uses the improved estimates of the headline metrics; half widths shrink as 1/sqrt(n).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from airtcp.amounts import duration
from airtcp.distributions import Pareto
from airtcp.estimates.parts import estimate
from airtcp.phrases import phrase
from airtcp.run import HEADLINES
from airtcp.stats import Interval

if TYPE_CHECKING:
    from airtcp.estimates.traffic import Run
    from airtcp.scenario import ResolvedScenario

#: From this many replications on, the intervals predict how many more are needed.
_TELLING: Final = 10


def headlines(
    runs: Sequence[Run], scenario: ResolvedScenario, confidence: float | None = None
) -> list[Interval]:
    """Return the interval of each headline metric that the runs have.

    An interval without a mean, from runs too short for their traffic, is included and counts as
    imprecise.
    """
    if not runs:
        return []
    known = [
        name
        for name in HEADLINES
        if any(run.answer["metrics"].get(name) is not None for run in runs)
    ]
    return [estimate(runs, scenario, name, confidence=confidence).interval for name in known]


def beforehand(scenario: ResolvedScenario) -> str | None:
    """Warn about a distribution that makes the precision hard to reach; None without one.

    This is not an error: sizes without a variance still give a variance to means over a finite
    time, but a few large transfers dominate them.
    """
    if scenario.run.precision is None:
        return None
    for flow in scenario.flows:
        size = getattr(flow.application, "size", None)
        if isinstance(size, Pareto) and math.isinf(size.scv()):
            return phrase(
                "run.precision.infinite_variance",
                name=flow.name,
                shape=size.shape,
                precision=scenario.run.precision,
            )
    return None


def outlook(known: Sequence[Interval], scenario: ResolvedScenario, n: int) -> str | None:
    """Return how many replications the precision needs, if that exceeds the cap.

    None if `n` are too few to predict it, or if it can be reached.
    """
    run = scenario.run
    widths = [one.relative_half_width for one in known]
    if run.precision is None or n < min(_TELLING, run.max_replications) or None in widths:
        return None
    widest = max((width for width in widths if width is not None), default=0.0)
    if not math.isfinite(widest):
        return None
    # So few runs determine no more than two digits.
    wanted = int(float(f"{n * (widest / run.precision) ** 2:.2g}"))
    if wanted <= run.max_replications:
        return None
    there = widest * math.sqrt(n / run.max_replications)
    each_s = run.whole_s
    return phrase(
        "run.precision.many",
        precision=run.precision,
        wanted=wanted,
        wanted_2=duration(wanted * each_s),
        most=run.max_replications,
        there=there,
    )

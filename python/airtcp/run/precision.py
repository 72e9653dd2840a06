"""The precision that a run is to reach: by which intervals, and whether it can within its cap.

Knows the headline metrics, their improved estimates, and that half widths shrink as 1/sqrt(n). Does
not run anything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from airtcp.amounts import duration, percent
from airtcp.distributions import Pareto
from airtcp.estimates.parts import estimate
from airtcp.run import HEADLINES
from airtcp.stats import Interval

if TYPE_CHECKING:
    from airtcp.estimates.traffic import Run
    from airtcp.scenario import ResolvedScenario

#: From so many replications on their intervals say how many more it takes.
_TELLING: Final = 10


def headlines(
    runs: Sequence[Run], scenario: ResolvedScenario, confidence: float | None = None
) -> list[Interval]:
    """The intervals that are to be narrow: of each headline metric that the runs have.

    An interval without a mean, which is what runs have that are too short for their traffic, is
    among them: it is not narrow.
    """
    if not runs:
        return []
    known = [name for name in HEADLINES if _has(runs, name)]
    return [estimate(runs, scenario, name, confidence=confidence).interval for name in known]


def _has(runs: Sequence[Run], name: str) -> bool:
    return any(run.answer["metrics"].get(name) is not None for run in runs)


def beforehand(scenario: ResolvedScenario) -> str | None:
    """Say which law makes the precision of a scenario hard to reach, None if there is none.

    No error: sizes without a variance leave means of a measured time with one, but such that few
    large transfers decide.
    """
    if scenario.run.precision is None:
        return None
    for flow in scenario.flows:
        size = getattr(flow.application, "size", None)
        if isinstance(size, Pareto) and math.isinf(size.scv()):
            return (
                f"flows.{flow.name}.application.size: has a Pareto law of shape {size.shape:g}, "
                f"which has no variance: few large transfers decide the mean transfer time, and "
                f"run.precision ({percent(scenario.run.precision)}) may take very many "
                "replications; goodput and percentiles take fewer. Allowed: a shape above 2, "
                "another law, or run.replications instead"
            )
    return None


def outlook(known: Sequence[Interval], scenario: ResolvedScenario, n: int) -> str | None:
    """Say how many replications the precision would take if that is more than the cap.

    None where `n` are too few to tell, or it can be reached.
    """
    run = scenario.run
    widths = [one.relative_half_width for one in known]
    if run.precision is None or n < min(_TELLING, run.max_replications) or None in widths:
        return None
    widest = max((width for width in widths if width is not None), default=0.0)
    if not math.isfinite(widest):
        return None
    # Two digits are more than so few runs know.
    wanted = int(float(f"{n * (widest / run.precision) ** 2:.2g}"))
    if wanted <= run.max_replications:
        return None
    there = widest * math.sqrt(n / run.max_replications)
    each_s = ((run.warmup_ns or 0) + run.duration_ns) / 1e9
    return (
        f"run.precision: {percent(run.precision)} would take about {wanted} replications "
        f"({duration(wanted * each_s)} simulated), and run.max_replications is "
        f"{run.max_replications}, which gives about {percent(there)}"
    )

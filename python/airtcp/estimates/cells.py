"""Estimate the goodput of each cell as the sum over its groups.

`parts` estimates the groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from airtcp.estimates.told import Estimate, gain_of, plain_estimate, wider
from airtcp.stats import student_interval

if TYPE_CHECKING:
    from airtcp.estimates.parts import GroupEstimates
    from airtcp.estimates.traffic import Run
    from airtcp.scenario import ResolvedScenario

GOODPUT: Final = "goodput_bps"


def groups_by_cell(scenario: ResolvedScenario) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each cell and the names of its groups, in the order of the scenario."""
    for place, cell in enumerate(scenario.cells or ()):
        yield cell.name, [one.name for one in scenario.stations if (one.cell or 0) == place]


def of_cells(
    runs: Sequence[Run], scenario: ResolvedScenario, known: GroupEstimates, confidence: float
) -> dict[str, Estimate]:
    """Estimate the goodput of each cell from estimates of its groups; else the plain estimate.

    Empty if the core reports no cells, as for a single cell whose stations all hear each other.
    """
    if not runs or not runs[0].answer.get("cells"):
        return {}
    found = {}
    for place, (cell, groups) in enumerate(groups_by_cell(scenario)):
        plain = plain_estimate(
            GOODPUT, [run.answer["cells"][place][GOODPUT] for run in runs], confidence
        )
        own = [known.get(name, {}).get("all", {}).get(GOODPUT) for name in groups]
        found[cell] = _together(own, plain, confidence)
    return found


def _together(own: Sequence[Estimate | None], plain: Estimate, confidence: float) -> Estimate:
    """Add up the estimates of a cell's groups; return the plain one if a group has no interval.

    The excess of the groups' half widths over Student's adds to the half width of the sum.
    """
    known = [one for one in own if one is not None and one.interval.half_width is not None]
    if len(known) < len(own) or all(one.estimator == "plain" for one in known):
        return plain
    if len(known) == 1:
        return replace(known[0], plain=plain.interval)
    doubt = 0.0
    sums = np.zeros(len(plain.values))
    for one in known:
        chance = student_interval(one.values, confidence).half_width or 0.0
        doubt += max(0.0, (one.interval.half_width or 0.0) - chance)
        sums += np.array(one.values, dtype=float)
    if not np.isfinite(sums).all():
        return plain
    values = sums.tolist()
    interval = wider(student_interval(values, confidence), doubt)
    return replace(
        known[0],
        interval=interval,
        plain=plain.interval,
        gain=gain_of(plain.interval, interval),
        values=tuple(values),
    )

"""The end as models see it, or glances where these have no answer: the first value that is beyond.

Knows how a model and a glance are asked about a condition. The simulator begins to look
at what they say, and no more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from airtcp.exceptions import AirtcpError
from airtcp.predict import predict
from airtcp.results.glance import SOURCE
from airtcp.run.glance import glance

if TYPE_CHECKING:
    from airtcp.conditions import Condition
    from airtcp.plan.axis import Axis
    from airtcp.scenario import ResolvedScenario


@dataclass
class Guess:
    """The guess: the index of the last value without a condition, None if nobody can tell.

    `seen` has, by index, the metrics that were predicted, or the texts of conditions that a glance
    was asked about, with their values and the sources that these come from.
    """

    index: int | None = None
    seen: dict[int, dict[str, tuple[float, str]]] = field(default_factory=dict)


def guess(axis: Axis, conditions: Sequence[Condition]) -> Guess:
    """Ask along an axis: where a line through logarithms is zero, and in the middle, in turns.

    Of models a percentile, of which they say nothing, is guessed by the mean, and what is of one
    group by what is of all: the simulator will see. A glance is asked about conditions on which no
    model has a word, and about the group and percentile that they name. There is no guess where
    nobody has an answer, or where the axis has no end for those who have.
    """
    found = Guess()

    def height(index: int) -> float | None:
        seen = found.seen[index] = _predicted(axis, index, conditions)
        heights = [
            _height(one, seen[name][0])
            for one in conditions
            for name in (one.metric, one.mean_metric, one.text)
            if name in seen and (one.cell is None or name == one.text)
        ]
        return max(heights, default=None)

    good, bad = 0, len(axis) - 1
    below, above = height(good), height(bad)
    if below is None or above is None or below > 0.0 or above <= 0.0:
        return found
    on_line = False
    while bad - good > 1:
        index = _between(axis, good, bad)
        if on_line and math.isfinite(above - below):
            index = good + round((bad - good) * -below / (above - below))
            index = min(max(index, good + 1), bad - 1)
        on_line = not on_line
        seen = height(index)
        if seen is None:
            return found
        if seen > 0.0:
            bad, above = index, seen
        else:
            good, below = index, seen
    found.index = good
    return found


def _height(condition: Condition, value: float) -> float:
    """Measure how far a value is beyond a condition: a logarithm, infinite where there is none."""
    excess = condition.excess(value)
    if value > 0.0 and condition.bound > 0.0:
        height = math.log(value / condition.bound)
        return height if condition.above else -height
    return math.copysign(math.inf, excess) if excess else 0.0


def _predicted(
    axis: Axis, index: int, conditions: Sequence[Condition]
) -> dict[str, tuple[float, str]]:
    """Say what the best models say of the metrics that matter, else a glance, with the sources."""
    scenario = axis.at(index)
    try:
        model = predict(scenario).model
    except AirtcpError:
        return {}
    # Models of cells have a list of goodputs: a glance is asked about one of them.
    of_all = [one for one in conditions if one.cell is None]
    wanted = {name for one in of_all for name in (one.metric, one.mean_metric) if name}
    seen = {
        name: (entries[0].value, entries[0].source)
        for name, entries in model.items()
        if name in wanted and entries and not isinstance(entries[0].value, list)
    }
    open_ = [
        one
        for one in conditions
        if one.cell is not None or not {one.metric, one.mean_metric} & seen.keys()
    ]
    return seen | _glanced(scenario, open_)


def _glanced(
    scenario: ResolvedScenario, conditions: Sequence[Condition]
) -> dict[str, tuple[float, str]]:
    """Say what a glance says of conditions, by their texts; nothing of what it has no value for."""
    if not conditions:
        return {}
    try:
        seen = glance(scenario, alone=False)
    except AirtcpError:
        # Too much to look at: the search begins where it would without a guess.
        return {}
    values = {}
    for one in conditions:
        if one.cell is not None:
            goodput = seen.interval(one.metric, cell=one.cell).mean
            if goodput is not None:
                values[one.text] = goodput, SOURCE
            continue
        told, plain = (
            of.metrics if one.group is None else of.groups[one.group][one.part]
            for of in (seen, seen.simulation)
        )
        interval = told[one.metric]
        known = [interval.mean]
        if interval.mean is None:
            # Both of these lie below where transfers take too long for a glance.
            known = [interval.low, plain[one.metric].mean]
        if numbers := [number for number in known if number is not None]:
            values[one.text] = max(numbers), SOURCE
    return values


def _between(axis: Axis, good: int, bad: int) -> int:
    """The middle of two indices; of whole numbers that are far apart the geometric one."""
    if axis.whole:
        low, high = sorted((axis.numbers[good], axis.numbers[bad]))
        if low >= 1 and high > 2 * low:
            middle = axis.nearest(round((low * high) ** 0.5))
            return min(max(middle, min(good, bad) + 1), max(good, bad) - 1)
    return (good + bad) // 2

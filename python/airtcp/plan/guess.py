"""The end as models see it: the first value of an axis at which the best model is beyond.

Knows how a model is asked about a condition. Does not simulate; what models say is where the
simulator begins to look, and no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from airtcp.exceptions import AirtcpError
from airtcp.predict import predict

if TYPE_CHECKING:
    from airtcp.conditions import Condition
    from airtcp.plan.axis import Axis


@dataclass
class Guess:
    """The models' guess: the index of the last value without a condition, None if they cannot tell.

    `seen` has, by index, the metrics that were predicted and the sources that they come from.
    """

    index: int | None = None
    seen: dict[int, dict[str, tuple[float, str]]] = field(default_factory=dict)


def guess(axis: Axis, conditions: Sequence[Condition]) -> Guess:
    """Ask the models along an axis, by bisection.

    A percentile, of which models say nothing, is guessed by the mean, and what is of one group by
    what is of all: the simulator will see. There is no guess where no model has any such answer, or
    where the axis has no end for the models.
    """
    found = Guess()

    def beyond(index: int) -> bool | None:
        metrics = found.seen.setdefault(index, _predicted(axis, index, conditions))
        verdicts = [
            one.excess(metrics[name][0]) > 0.0
            for one in conditions
            for name in (one.metric, one.mean_metric)
            if name in metrics
        ]
        return any(verdicts) if verdicts else None

    good, bad = 0, len(axis) - 1
    if beyond(good) is not False or beyond(bad) is not True:
        return found
    while bad - good > 1:
        middle = _between(axis, good, bad)
        verdict = beyond(middle)
        if verdict is None:
            return found
        good, bad = (good, middle) if verdict else (middle, bad)
    found.index = good
    return found


def _predicted(
    axis: Axis, index: int, conditions: Sequence[Condition]
) -> dict[str, tuple[float, str]]:
    """Say what the best models say of the metrics that matter, with the sources."""
    try:
        model = predict(axis.at(index)).model
    except AirtcpError:
        return {}
    wanted = {name for one in conditions for name in (one.metric, one.mean_metric) if name}
    return {
        name: (entries[0].value, entries[0].source)
        for name, entries in model.items()
        if name in wanted and entries and not isinstance(entries[0].value, list)
    }


def _between(axis: Axis, good: int, bad: int) -> int:
    """The middle of two indices; of whole numbers that are far apart the geometric one."""
    if axis.whole:
        low, high = sorted((axis.numbers[good], axis.numbers[bad]))
        if low >= 1 and high > 2 * low:
            middle = axis.nearest(round((low * high) ** 0.5))
            return min(max(middle, min(good, bad) + 1), max(good, bad) - 1)
    return (good + bad) // 2

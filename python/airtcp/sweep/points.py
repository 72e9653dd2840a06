"""The points of a sweep: every combination of steps, each with its resolved form."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from airtcp.exceptions import ScenarioError
from airtcp.scenario import Scenario
from airtcp.scenario.resolved import hash_of
from airtcp.scenario.vary import key_paths
from airtcp.sweep.axes import Axis, Label
from airtcp.sweep.spec import Sweep

#: The most steps of an axis to check in advance, next to the last one.
_CHECKED: Final = 16


@dataclass(frozen=True)
class Points:
    """The points of a sweep, by number; the last axis varies fastest."""

    sweep: Sweep
    base: Scenario

    def __len__(self) -> int:
        return count_of(self.sweep)

    def labels(self, number: int) -> tuple[Label, ...]:
        """Return the values of a point in the axis columns."""
        steps = zip(self.sweep.axes, _steps(self.sweep.axes, number), strict=True)
        return tuple(label for axis, step in steps for label in axis.steps[step].labels)

    def json(self, number: int) -> str:
        """Return the resolved form of a point. Raises ScenarioError if the point is invalid."""
        steps = zip(self.sweep.axes, _steps(self.sweep.axes, number), strict=True)
        changes = {key: at for axis, step in steps for key, at in axis.steps[step].changes.items()}
        told = ", ".join(
            f"{key} = {json.dumps(value, ensure_ascii=False, default=str)}"
            for key, value in changes.items()
        )
        return _vary(self.sweep, self.base, changes, told).to_json()

    def hashes(self) -> list[str]:
        """Return the scenario hash of each point. Raises ScenarioError."""
        return [hash_of(self.json(number)) for number in range(len(self))]

    def told(self, number: int) -> str:
        """Describe a point for messages: `stations.laptop.count = 5, remedy = none`."""
        columns = [column.name for axis in self.sweep.axes for column in axis.columns]
        pairs = zip(columns, self.labels(number), strict=True)
        return ", ".join(f"{column} = {label}" for column, label in pairs)


def count_of(sweep: Sweep) -> int:
    """Return the number of points of a sweep."""
    return math.prod(len(axis.steps) for axis in sweep.axes)


def points_of(sweep: Sweep) -> Points:
    """Return the points of a sweep.

    Checks the ends of each axis and some steps between, with the other axes at their first step;
    `Points.json` checks the rest. Raises ScenarioError for an invalid step.
    """
    # The number of replications is not part of a point, so that more of them extend a store.
    often = {"run.replications": 1, "run.precision": None, "run.max_replications": None}
    points = Points(sweep, _vary(sweep, sweep.base, often, "run"))
    stride = len(points)
    for axis in sweep.axes:
        steps = len(axis.steps)
        stride //= steps
        for step in {*range(0, steps, math.ceil(steps / _CHECKED)), steps - 1}:
            points.json(step * stride)
    return points


def _vary(sweep: Sweep, base: Scenario, changes: Mapping[str, Any], told: str) -> Scenario:
    try:
        return base.vary(changes)
    except ScenarioError as error:
        if error.key in changes and error.key not in key_paths(base.written):
            raise ScenarioError(sweep.name, f"axes.{error.key}", error.message) from None
        more = [(f"axes ({told}): {key}", message) for key, message in error.more]
        raise ScenarioError(
            sweep.name, f"axes ({told}): {error.key}", error.message, more
        ) from None


def _steps(axes: Sequence[Axis], number: int) -> tuple[int, ...]:
    """Return the steps of the point with this number."""
    steps = []
    for axis in reversed(axes):
        number, step = divmod(number, len(axis.steps))
        steps.append(step)
    return tuple(reversed(steps))

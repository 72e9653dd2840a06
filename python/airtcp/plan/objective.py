"""The objective of a channel plan: the lowest cell, the sum, a metric, or targets.

The objective is computed for a replication, and guessed from the results of isolated cells and the
shares that they keep.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from airtcp.conditions import Condition, ConditionError, read_measure
from airtcp.exceptions import QuestionError
from airtcp.judge.targets import targets_of
from airtcp.phrases import phrase
from airtcp.results.cells import SHARE_OF_ALONE
from airtcp.results.objects import metric_in
from airtcp.scenario.keys.traffic import is_endless
from airtcp.scenario.measured import check

if TYPE_CHECKING:
    from airtcp.scenario import Scenario

LEAST: Final = "least"
SUM: Final = "sum"
TARGETS: Final = "targets"
#: The smallest share that a guess divides by.
_LEAST_SHARE: Final = 1e-3

Answer = Mapping[str, Any]


@dataclass(frozen=True)
class Objective:
    """A number for each replication. `sign` is 1 if more is better, otherwise -1.

    `conditions` are the targets, or one condition that carries the metric.
    """

    name: str
    label: str
    unit: str
    sign: int
    conditions: tuple[Condition, ...]
    duration_s: float
    cell_of: Mapping[str, int]
    cells: tuple[str, ...] = ()

    def value(self, answer: Answer) -> float:
        """Return the objective of a replication.

        If no transfer ended, its time counts as the length of the run. The margin of a target is
        the distance from its bound, divided by the bound; several targets count with the smallest
        margin.
        """
        if self.name == LEAST:
            return min(float(cell["goodput_bps"]) for cell in answer["cells"])
        if self.name == SUM:
            return math.fsum(cell["goodput_bps"] for cell in answer["cells"])
        measured = [self._measured(answer, one) for one in self.conditions]
        if self.name != TARGETS:
            return measured[0]
        return self._margin(measured)

    def guess(self, alone: Sequence[Answer], shares: Sequence[float]) -> float:
        """Guess the objective from results of isolated cells, and the shares that they keep."""
        if self.name in (LEAST, SUM):
            kept = [
                answer["cells"][0]["goodput_bps"] * share
                for answer, share in zip(alone, shares, strict=True)
            ]
            return min(kept) if self.name == LEAST else math.fsum(kept)
        guessed = [self._guessed(alone, shares, one) for one in self.conditions]
        return self._margin(guessed) if self.name == TARGETS else guessed[0]

    def _margin(self, values: Sequence[float]) -> float:
        return min(
            (value - one.bound if one.above else one.bound - value) / (one.bound or 1.0)
            for value, one in zip(values, self.conditions, strict=True)
        )

    def _measured(self, answer: Answer, one: Condition) -> float:
        if one.cell is not None:
            cells = answer["cells"]
            # The result of an isolated cell contains only this cell.
            place = self.cells.index(one.cell) if len(cells) > 1 else 0
            return float(cells[place][one.metric])
        found = metric_in(answer, one.group, one.part, one.metric)
        if found is None:
            return self.duration_s if one.about.unit == "s" else 0.0
        return float(found)

    def _guessed(self, alone: Sequence[Answer], shares: Sequence[float], one: Condition) -> float:
        """Guess a metric: if the share of a cell halves, times double and goodputs halve."""
        cells: Sequence[int] = range(len(alone))
        if one.cell is not None:
            cells = [self.cells.index(one.cell)]
        elif one.group is not None:
            cells = [self.cell_of[one.group]]
        grows = one.about.better == "lower"
        values = [
            self._measured(alone[cell], one) / max(shares[cell], _LEAST_SHARE)
            if grows
            else self._measured(alone[cell], one) * shares[cell]
            for cell in cells
        ]
        return max(values) if grows else min(values)


def objective_of(scenario: Scenario, text: str | None) -> Objective:
    """Return the objective of a text. The default is the targets, or the lowest cell.

    Without `[targets]`, the default targets of the traffic apply if some flows end or have a fixed
    rate, so that no channel gives them more goodput.

    Raises:
        QuestionError: the objective is unknown, or the scenario lacks the group, metric or targets.
    """
    targets = _targets(scenario, is_asked=text == TARGETS)
    name = text or (TARGETS if targets else LEAST)
    seconds = scenario.run.duration_ns / 1e9
    groups = {group.name: group.cell or 0 for group in scenario.stations}
    cells = tuple(cell.name for cell in scenario.cells or ())
    if name in (LEAST, SUM):
        label = phrase("plan.objective.least") if name == LEAST else "goodput of all cells"
        return Objective(name, label, "b/s", 1, (), seconds, groups)
    if name == TARGETS:
        if not targets:
            raise QuestionError(phrase("plan.objective.no_targets"))
        for one in targets:
            if one.metric == SHARE_OF_ALONE:
                raise QuestionError(phrase("plan.objective.isolated_target", text=one.text))
        usual = "" if scenario.targets else "usual "
        label = phrase("plan.objective.margin", usual=usual)
        return Objective(name, label, "%", 1, targets, seconds, groups, cells)
    try:
        metric, group, part, cell = read_measure(name)
        if metric.name == SHARE_OF_ALONE:
            raise ConditionError(phrase("plan.objective.isolated", short=metric.short))
        if metric.better is None:
            raise ConditionError(phrase("plan.objective.no_direction", short=metric.short))
        condition = Condition(name, metric.name, metric.better == "higher", 0.0, group, part, cell)
        check(scenario, condition)
    except ConditionError as error:
        raise QuestionError(phrase("plan.objective.unknown", name=name, error=error)) from None
    sign = 1 if metric.better == "higher" else -1
    return Objective(name, condition.label, metric.unit, sign, (condition,), seconds, groups, cells)


def _targets(scenario: Scenario, *, is_asked: bool) -> tuple[Condition, ...]:
    """Return the targets of a file, or else the defaults for its traffic.

    If all flows are endless, default targets are used only on request: such flows need no bound.
    """
    targets, is_written = targets_of(scenario)
    if not is_written and not is_asked and all(map(is_endless, scenario.flows)):
        return ()
    return tuple(target.condition for target in targets)

"""The places along an axis that were simulated, and what they say of conditions.

Knows the values of the axis that have runs, and the estimates of these. Does not know which values
are to be looked at (`search`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from airtcp.estimates import Estimate, estimate, improved_groups
from airtcp.estimates.cells import of_cells
from airtcp.estimates.drift import Drift

if TYPE_CHECKING:
    from airtcp.conditions import Condition
    from airtcp.plan.axis import Axis
    from airtcp.results import Replication
    from airtcp.run.points import Points
    from airtcp.scenario import ResolvedScenario


class Places:
    """The indices of `axis` at which a scenario was simulated. `name` is what its points go by."""

    def __init__(
        self,
        name: str,
        axis: Axis,
        points: Points[tuple[str, int]],
        *,
        warmup_ns: int,
        confidence: float,
        tell: Callable[[str], None] | None,
    ) -> None:
        """Take what runs there, each after a warm-up of `warmup_ns`."""
        self.axis = axis
        self._name = name
        self._points = points
        self._warmup_ns = warmup_ns
        self._level = confidence
        self._tell = tell
        self._scenarios: dict[int, ResolvedScenario] = {}
        self._known: dict[tuple[Condition, int, int], dict[int, float]] = {}

    @property
    def places(self) -> list[int]:
        """The indices that were simulated."""
        return sorted(place for place in self._scenarios if self._points.ended((self._name, place)))

    def runs(self, place: int) -> list[Replication]:
        """The replications at an index that have ended."""
        return self._points.ended((self._name, place))

    def scenario(self, place: int) -> ResolvedScenario:
        """The scenario at an index that was simulated, with the warm-up of all."""
        return self._scenarios[place]

    def samples(self, condition: Condition, place: int) -> dict[int, float]:
        """Tell how far each replication at an index is beyond a condition.

        By the values of the improved estimate: their mean is what is known of the metric.
        """
        runs = self.runs(place)
        key = condition, place, len(runs)
        if key not in self._known:
            self._known[key] = self._samples(condition, place, runs)
        return self._known[key]

    def by_chance(self, condition: Condition, place: int) -> Estimate:
        """The estimate of the metric of a condition at an index that was simulated.

        Its interval is that of replications which begin to measure in their steady state.
        """
        return self._estimated(condition, place, None)

    def estimated(self, condition: Condition, place: int) -> Estimate:
        """The estimate as it is known to be of replications that may drift."""
        drift = Drift(self.runs(place), self._scenarios[place], self._level)
        return self._estimated(condition, place, drift)

    def _estimated(self, condition: Condition, place: int, drift: Drift | None) -> Estimate:
        runs, scenario = self.runs(place), self._scenarios[place]
        metric, group, part = condition.metric, condition.group, condition.part
        if condition.cell is not None:
            known = improved_groups(runs, scenario, self._level)
            cells = of_cells(runs, scenario, known, self._level)
            return (cells if drift is None else drift.of_cells(cells))[condition.cell]
        told = estimate(runs, scenario, metric, group=group, part=part, confidence=self._level)
        return told if drift is None else drift.of(told, group, part)

    def simulate(self, places: Mapping[int, int]) -> None:
        """Give each place so many replications, as far as it has fewer."""
        wanted = self._wanted(places)
        if self._tell is not None:
            values = ", ".join(self.axis.text(self.axis.numbers[place]) for place in places)
            self._tell(f"{max(places.values())} replications at {values} {self.axis.label}")
        self._points.run(wanted)

    @staticmethod
    def simulate_together(searches: Sequence[tuple[Places, int]], n: int) -> None:
        """`n` replications of each of several searches at an index, all under way at a time."""
        wanted: dict[tuple[str, int], int] = {}
        for one, place in searches:
            wanted |= one._wanted({place: n})
        if searches:
            searches[0][0]._points.run(wanted)

    def _samples(
        self, condition: Condition, place: int, runs: Sequence[Replication]
    ) -> dict[int, float]:
        if not runs:
            return {}
        values = self.by_chance(condition, place).values
        return {
            run.index: condition.excess(value)
            for run, value in zip(runs, values, strict=True)
            if value is not None
        }

    def _wanted(self, places: Mapping[int, int]) -> dict[tuple[str, int], int]:
        """Say what the points are asked for; places that are new become known to them."""
        for place in places:
            if place not in self._scenarios:
                scenario = self.axis.at(place).with_run(warmup_ns=self._warmup_ns)
                self._points.add((self._name, place), scenario)
                self._scenarios[place] = scenario
        return {(self._name, place): n for place, n in places.items()}

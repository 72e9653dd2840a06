"""The result of a quick simulation, from a few short replications.

`airtcp.run.glance` chooses their length, and `airtcp.estimates.short` decides which values they
allow.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from airtcp.amounts import quantity
from airtcp.estimates.limits import within_limits
from airtcp.estimates.short import Short
from airtcp.metrics import METRICS
from airtcp.results.cells import CellResult, interval_of, known_share
from airtcp.results.least import metric_text
from airtcp.results.notebook import html_table
from airtcp.results.objects import HEADLINES, Simulation
from airtcp.results.plain import plain
from airtcp.results.provenance import Provenance, Result, head
from airtcp.stats import Interval

if TYPE_CHECKING:
    from airtcp.results.averages import Groups
    from airtcp.scenario import ResolvedScenario

#: The source shown for values of a quick simulation, in place of a model's equation.
SOURCE: Final = "quick simulation"


@dataclass(frozen=True, repr=False)
class Glance(Result):
    """The result of `airtcp.glance`: a simulation with a budget in events instead of a length.

    `scenario` is the scenario that was run: its warm-up and measured time are those of one
    replication in `simulation`. `metrics` and `groups` have intervals, bounds, or nothing,
    depending on what such short replications allow; those of `simulation` do not account for that.
    `events` is the work, including pilots. `alone` has the quick simulations of cells with all
    other cells silent. `reached` is False if the budget did not cover the scenario's own warm-up
    and measured time although the scenario has no steady state, such as the transfers of a log:
    then only its first part was simulated.

    With the `cafe` of `airtcp.load`:

    >>> seen = airtcp.glance(cafe)
    >>> round(seen.metrics["goodput_bps"].mean / 1e6), seen.source
    (25, 'quick simulation')
    """

    scenario: ResolvedScenario
    provenance: Provenance
    simulation: Simulation
    events: int
    reached: bool = True
    alone: Mapping[str, Glance] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """The source of its values in tables."""
        return SOURCE

    @cached_property
    def metrics(self) -> dict[str, Interval]:
        """The interval of each metric, as in `Simulation.metrics`.

        If replications are too short for their transfers, the `mean` of a time is None, and `low`
        is its lower bound.
        """
        return self._told(self.simulation.metrics, None, "all")

    @cached_property
    def groups(self) -> Groups:
        """The metrics of station groups and directions, as in `Simulation.groups`."""
        return {
            group: {
                part: intervals if part == "airtime" else self._told(intervals, group, part)
                for part, intervals in parts.items()
            }
            for group, parts in self.simulation.groups.items()
        }

    def _told(
        self, metrics: Mapping[str, Interval], group: str | None, part: str
    ) -> dict[str, Interval]:
        told = {name: self._short.told(name, one, group, part) for name, one in metrics.items()}
        return within_limits(
            told, self.simulation.runs, self.scenario, group, part, are_linear=False
        )

    @cached_property
    def cells(self) -> dict[str, CellResult]:
        """The results of cells as in `Simulation.cells`, with intervals as in `metrics`.

        Empty if all nodes of one cell hear each other. The cells in `alone` have `share_of_alone`,
        with the interval of a ratio of two goodputs with independent random numbers.
        """
        found = self.simulation.cells
        return {name: self._seen_beside(name, cell) for name, cell in found.items()}

    @property
    def disturbed(self) -> tuple[str, ...]:
        """The cells that wait for others, or fail under their frames, for a tenth or more."""
        return self._short.disturbed

    @property
    def seldom(self) -> tuple[str, ...]:
        """The cells that transmit too seldom for a quick simulation, as others take the channel.

        If there is such a cell, a longer run may rank the cells differently, so no cell has
        `share_of_alone`.
        """
        return self._short.seldom

    def _seen_beside(self, name: str, cell: CellResult) -> CellResult:
        """Return a cell with the intervals of a quick simulation."""
        goodput = self._short.of_cell(name, cell.goodput_bps)
        share = None
        if name in self.alone:
            alone = self.alone[name].at(self.scenario.run.confidence)
            of_alone = alone.interval("goodput_bps")
            found = _ratio(goodput, of_alone)
            share = None if found is None else known_share(found, of_alone)
        return replace(cell, goodput_bps=goodput, share_of_alone=share)

    def interval(
        self, metric: str, group: str | None = None, part: str = "all", cell: str | None = None
    ) -> Interval:
        """Return one interval of `metrics`, `groups` or `cells`, without computing the others.

        For a cell these are its goodput and its share of the isolated goodput, without a mean if
        that was not simulated.
        """
        if cell is not None:
            return interval_of(self.cells, cell, metric)
        metrics = self.metrics if group is None else self._of_part(group, part)
        if metric not in metrics:
            raise KeyError(f"{metric!r} is not a metric; metrics: {', '.join(metrics)}")
        return metrics[metric]

    def _of_part(self, group: str, part: str) -> dict[str, Interval]:
        try:
            return self.groups[group][part]
        except KeyError as error:
            raise KeyError(f"group {group!r} has no {part}") from error

    def at(self, confidence: float) -> Glance:
        """Return the result with intervals of another level."""
        run = self.scenario.run.model_copy(update={"confidence": confidence})
        scenario = self.scenario.model_copy(update={"run": run})
        known = self.simulation
        simulation = Simulation.gather(
            known.runs,
            confidence=confidence,
            simulated_s=known.simulated_s,
            wall_s=known.wall_s,
            cpu_s=known.cpu_s,
            stopped=known.stopped,
            scenario=scenario,
        )
        return replace(self, scenario=scenario, simulation=simulation)

    @property
    def settled(self) -> bool:
        """Whether transfers are short compared with the run, so that their number is known."""
        return self._short.is_settled

    @property
    def short_for(self) -> tuple[str, ...]:
        """Why the run is too short to know delays and losses, as words.

        `transfers`: they take long compared with the run. `windows`: those of endless connections
        are still growing. `sawteeth`: two sawteeth of the windows take longer than the run, or nine
        with connections of several kinds. `readers`: it saw few of them.
        """
        return self._short.short_for

    @cached_property
    def _short(self) -> Short:
        return Short(self.simulation.runs, self.scenario, self.reached)

    def shown(self) -> list[tuple[str, str]]:
        """Return the metrics for tables, by name, and their values as text."""
        return [
            (name, self._words(name))
            for name, metric in METRICS.items()
            if not metric.detail and name in self.metrics and self.metrics[name].is_known
        ]

    def _words(self, name: str) -> str:
        """Format a metric; a lower bound as "at least 17 s"."""
        interval = self.metrics[name]
        if interval.high is None and interval.low is not None:
            return f"at least {quantity(interval.low, METRICS[name].unit, 2)}"
        return metric_text(name, interval, self.simulation.runs, self.scenario)

    def __repr__(self) -> str:
        told = [f"{METRICS[name].label} {text}" for name, text in self.shown() if name in HEADLINES]
        return f"<Glance at {self.scenario.title!r}: {'; '.join(told)}>"

    def _repr_html_(self) -> str:
        """Return the metrics as HTML for notebooks."""
        rows = [(METRICS[name].label, text) for name, text in self.shown()]
        return html_table(repr(self)[1:-1], (), rows)

    def part(self) -> dict[str, Any]:
        """Return the value of the key `glance` of a prediction, without any clock times."""
        run = self.scenario.run
        return {
            "source": SOURCE,
            "metrics": plain(self.metrics),
            "groups": plain(self.groups),
            **self._told_cells(),
            "confidence": self.simulation.confidence,
            "batches": self.simulation.replications,
            "warmup_s": (run.warmup_ns or 0) / 1e9,
            "batch_s": run.duration_ns / 1e9,
            "simulated_s": self.simulation.simulated_s,
            "events": self.events,
            "seed": run.seed,
            "reached": self.reached,
            "settled": self.settled,
            "short_for": list(self.short_for),
        }

    def _told_cells(self) -> dict[str, Any]:
        """Return the keys of cells; empty if all nodes of one cell hear each other."""
        if not self.cells:
            return {}
        return {"cells": plain(self.cells), "seldom": list(self.seldom)}

    def to_dict(self) -> dict[str, Any]:
        """Return the keys `scenario`, `provenance`, `glance`."""
        return head(self.scenario, self.provenance) | {"glance": self.part()}


def _ratio(one: Interval, other: Interval) -> Interval | None:
    """Return the interval of the ratio of two independent means; None if the second is 0.

    The half width follows from the linear part of the ratio's error.
    """
    if one.mean is None or not other.mean:
        return None
    share = one.mean / other.mean
    if one.half_width is None or other.half_width is None:
        return None
    half = math.hypot(one.half_width, share * other.half_width) / other.mean
    return Interval(share, share - half, share + half, one.n)

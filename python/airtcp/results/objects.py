"""Results of simulations. Attributes are the keys of their JSON.

Combines replications. Values come from the simulator (`airtcp.run`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from airtcp.amounts import quantity_with_interval
from airtcp.estimates import Estimate, improved, improved_groups
from airtcp.estimates.cells import of_cells
from airtcp.estimates.drift import Drift
from airtcp.estimates.limits import confined, of_category, within_limits
from airtcp.estimates.parts import GroupEstimates
from airtcp.estimates.traffic import RECURRENT, is_done
from airtcp.metrics import METRICS
from airtcp.pictured import Pictured
from airtcp.results.averages import (
    Flow,
    Groups,
    Station,
    brought_to,
    categories,
    combined,
    groups,
    mean_of,
    of_flows,
)
from airtcp.results.cells import Alone, CellResult, cells
from airtcp.results.jobs import Jobs, jobs
from airtcp.results.notebook import html_table
from airtcp.results.plain import ByMetric, plain
from airtcp.results.provenance import Provenance, Result, head
from airtcp.stats import Interval, student_interval

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

    from airtcp.estimates.accounts import Accounts
    from airtcp.results.trace import Trace
    from airtcp.results.transfers import Transfers
    from airtcp.scenario import ResolvedScenario

_T = TypeVar("_T")

#: The metrics in a one-line summary of a result.
HEADLINES: Final = ("goodput_bps", "transfer_time_s")

#: Why a simulation ended: all requested replications ran, the precision was reached, the cap on
#: replications was reached first, or the user interrupted it.
Stopped = Literal["replications", "precision", "cap", "interrupted"]


@dataclass(frozen=True, slots=True, repr=False)
class Replication:
    """The core's result for one replication, described in docs/reference/resolved-form.md.

    `transfer_times_s` holds the times of transfers that ended in the measured time, in order of
    their end. `trace` and `transfers` are set if `airtcp.simulate` kept them. `accounts` has the
    data for estimates; it is None for real-time runs.
    """

    index: int
    answer: Mapping[str, Any]
    transfer_times_s: NDArray[np.float64]
    trace: Trace | None = None
    transfers: Transfers | None = None
    accounts: Accounts | None = None

    def __repr__(self) -> str:
        traced = "" if self.trace is None else ", traced"
        return f"<Replication {self.index}: {self.answer['counts']['transfers']} transfers{traced}>"


@dataclass(frozen=True, repr=False)
class Simulation:
    """The measurements of the packet simulator, over all replications.

    `metrics` has an interval per metric, taken from `estimates` if there is one. `counts` has sums
    over replications, `airtime` mean fractions of the measured time (sum 1),
    `active_flows_distribution` the fraction of time with 0, 1, 2, ... transfers in progress, and
    `goodput_series_bps` the goodput in 100 equal intervals of the measured time (means over
    replications). Goodputs of `flows`, of `stations` and over time add up to the estimate.
    `simulated_s` is all simulated time, warm-up included. `runs` has the single replications,
    `scenario` the scenario that estimates need, and `alone` the goodputs of cells simulated alone;
    these three are not part of the JSON.

    With the `cafe` of `airtcp.load`:

    >>> simulation = airtcp.simulate(cafe).simulation
    >>> sorted(simulation.groups["laptop"])
    ['airtime', 'all', 'download']
    >>> len(simulation.values("goodput_bps"))
    3
    """

    metrics: dict[str, Interval]
    airtime: dict[str, float]
    counts: dict[str, int]
    active_flows_distribution: list[float]
    replications: int
    simulated_s: float
    wall_s: float
    cpu_s: float
    stopped: Stopped
    confidence: float
    runs: tuple[Replication, ...] = field(default=(), compare=False)
    scenario: ResolvedScenario | None = field(default=None, compare=False)
    alone: Alone = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        return f"<Simulation: {self._in_short()}>"

    def _in_short(self) -> str:
        n = self.replications
        replications = f"{n} replication{'s' if n > 1 else ''}"
        known = {name: self.metrics.get(name) for name in HEADLINES}
        told = [
            f"{METRICS[name].label} {quantity_with_interval(one, METRICS[name].unit)}"
            for name, one in known.items()
            if one and one.is_known
        ]
        return "; ".join([*told, replications])

    @classmethod
    def gather(
        cls,
        runs: Sequence[Replication],
        *,
        confidence: float,
        simulated_s: float,
        wall_s: float,
        cpu_s: float,
        stopped: Stopped,
        scenario: ResolvedScenario | None = None,
    ) -> Simulation:
        """Combine replications in the order of their index. Raises ValueError if there are none.

        With the scenario, intervals are those of `airtcp.estimates` where available; without it,
        all are of means over replications.
        """
        if not runs:
            raise ValueError("there are no replications to combine")
        runs = tuple(sorted(runs, key=lambda run: run.index))
        answers = [run.answer for run in runs]
        plain = ByMetric(
            (name, student_interval([answer["metrics"][name] for answer in answers], confidence))
            for name in answers[0]["metrics"]
        )
        simulation = cls(
            metrics=plain,
            airtime={
                part: mean_of([answer["airtime"] for answer in answers], part)
                for part in answers[0]["airtime"]
            },
            counts={
                name: sum(answer["counts"][name] for answer in answers)
                for name in answers[0]["counts"]
            },
            active_flows_distribution=_mean_columns(
                [answer["active_flows_distribution"] for answer in answers]
            ),
            replications=len(runs),
            simulated_s=simulated_s,
            wall_s=wall_s,
            cpu_s=cpu_s,
            stopped=stopped,
            confidence=confidence,
            runs=runs,
            scenario=scenario,
        )
        # Computed here once and cached for later uses of `estimates`.
        plain.update({name: one.interval for name, one in simulation.estimates.items()})
        plain.update(within_limits(plain, runs, scenario))
        return simulation

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """The metrics whose interval is not, or may not be, that of a mean over replications.

        Each has its estimator, the plain interval, the gain and the verdict about the steady state:
        `airtcp.estimates.Estimate`. Empty if simulations kept no data for estimates.
        """
        known = improved(self.runs, self.scenario, self.confidence)
        return self._drift.of_everything(known)

    @property
    def precision(self) -> dict[str, dict[str, Any]]:
        """The estimator of each metric that does not use the plain one, and its gain.

        Keys `estimator` and `gain`: the variance reduction, as the equivalent factor of
        replications.
        """
        return {
            name: {"estimator": one.estimator, "gain": one.gain}
            for name, one in self.estimates.items()
            if one.estimator != "plain"
        }

    @cached_property
    def steadiness(self) -> dict[str, Any] | None:
        """Why runs are too short for their traffic; None if they are not.

        Keys `state`, `reason`, `simulate_s` (a sufficient measured time in seconds, or None), and
        `at_least`: the lower bounds of metrics without a mean.
        """
        told = [one for one in self.estimates.values() if one.steadiness.state == "unsteady"]
        if not told:
            return None
        first = told[0].steadiness
        bounds = {
            one.metric: one.steadiness.at_least if one.interval.mean else one.interval.low
            for one in told
        }
        return {
            "state": first.state,
            "reason": first.reason,
            "simulate_s": first.simulate_s,
            "at_least": {name: low for name, low in bounds.items() if low is not None},
        }

    @cached_property
    def groups(self) -> Groups:
        """The measurements of each station group, computed from `runs` on first access.

        Each group has the part `all` (its flows in both directions, and its stations), `download`
        and `upload` if it has such flows, each with an interval per metric, and `airtime`: the
        shares of the measured time with `data`, `tcp_ack` and `control` of its exchanges. Goodputs
        of groups add up to the total, and those of directions to that of their group.
        """
        told = groups(self._answers, self.confidence)
        for name, parts in self._of_groups.items():
            for part, known in parts.items():
                told[name][part] |= {metric: one.interval for metric, one in known.items()}
        for name, of_group in told.items():
            for part, of_part in of_group.items():
                if part == "airtime":
                    of_group[part] = {key: confined(key, one, 1.0) for key, one in of_part.items()}
                    continue
                bounded = within_limits(of_part, self.runs, self.scenario, name, part)
                of_group[part] = ByMetric(bounded)
        return told

    @cached_property
    def flows(self) -> list[Flow]:
        """The measurements of each flow. Goodputs add up to the goodput of group and direction."""
        flows = combined(Flow, self._answers, "flows")
        if self.scenario is None or not self._of_groups:
            return flows
        random = {flow.name for flow in self.scenario.flows if flow.application.kind in RECURRENT}
        return brought_to(self.groups, flows, random)

    @cached_property
    def stations(self) -> list[Station]:
        """The measurements of each node. Its goodput is the sum over its flows."""
        stations = combined(Station, self._answers, "stations")
        if not self._of_groups or self.scenario is None:
            return stations
        groups = [group.name for group in self.scenario.stations]
        through = {name: self.scenario.access_point(name) for name in groups}
        return of_flows(stations, self.flows, through)

    @cached_property
    def goodput_series_bps(self) -> list[float]:
        """The goodput in 100 equal intervals. Their mean is the estimate."""
        series = _mean_columns([answer["goodput_series_bps"] for answer in self._answers])
        told = self.estimates.get("goodput_bps")
        if told is None or not told.plain.mean or told.interval.mean is None:
            return series
        factor = told.interval.mean / told.plain.mean
        return [factor * value for value in series]

    @property
    def _answers(self) -> list[Mapping[str, Any]]:
        return [run.answer for run in self.runs]

    @cached_property
    def _of_groups(self) -> GroupEstimates:
        return self._drift.of_groups(self._improved_groups)

    @cached_property
    def _improved_groups(self) -> GroupEstimates:
        return improved_groups(self.runs, self.scenario, self.confidence)

    @cached_property
    def _drift(self) -> Drift:
        return Drift(self.runs, self.scenario, self.confidence)

    @cached_property
    def jobs(self) -> list[Jobs]:
        """The jobs of groups and directions whose jobs all ended in every replication."""
        return jobs(self.runs, self.scenario, self.confidence)

    @property
    def is_done(self) -> bool:
        """Whether all traffic consists of jobs that have ended, so that the rest is idle."""
        return self.scenario is not None and is_done(self.runs, self.scenario)

    @cached_property
    def cells(self) -> dict[str, CellResult]:
        """The measurements of each cell; empty if all nodes of one cell hear each other.

        Goodputs of the groups of a cell add up to the cell's goodput.
        """
        if self.scenario is None or not self._answers[0].get("cells"):
            return {}
        known = of_cells(self.runs, self.scenario, self._improved_groups, self.confidence)
        goodputs = self._drift.of_cells(known)
        return cells(self.scenario, self._answers, self.confidence, self.alone, goodputs)

    @cached_property
    def categories(self) -> dict[str, dict[str, Interval]]:
        """The measurements of the queues of each access category; empty with the DCF."""
        known = categories(self._answers, self.confidence)
        return {
            name: {metric: of_category(metric, one) for metric, one in of_one.items()}
            for name, of_one in known.items()
        }

    def values(
        self, metric: str, group: str | None = None, part: str = "all"
    ) -> list[float | None]:
        """Return the metric of each replication, in the order of `runs`; None without a value.

        The scope is all flows, or a station group and one of its parts as in `groups`: `"all"`,
        `"download"`, `"upload"`, or `"airtime"`, whose metrics are `data`, `tcp_ack`, `control`.
        Plain intervals are computed from these values; estimates have their own
        (`estimates[metric].values`). Raises KeyError, with the available names, for an unknown
        metric, group or part.
        """
        return [metric_in(run.answer, group, part, metric) for run in self.runs]

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each replication and a column for each metric, indexed by replication.

        Plain intervals are computed from these values. Needs pandas, which airtcp does not require.
        """
        import pandas

        rows = [run.answer["metrics"] for run in self.runs]
        index = pandas.Index([run.index for run in self.runs], name="replication")
        return pandas.DataFrame(rows, index=index, columns=list(self.metrics), dtype="float64")

    def _repr_html_(self) -> str:
        """Return the metrics with a value as HTML for notebooks."""
        rows = [
            (METRICS[name].label, quantity_with_interval(self.metrics[name], METRICS[name].unit))
            for name in self.shown
        ]
        return html_table(self._in_short(), (), rows)

    @property
    def shown(self) -> list[str]:
        """The metrics for tables: those with a value that are not details."""
        return [
            name
            for name, metric in METRICS.items()
            if name in self.metrics and self.metrics[name].is_known and not metric.detail
        ]

    def _plain(self, metric: str) -> dict[str, Any]:
        """Return the mean over replications for the JSON, if the estimate differs from it."""
        known = self.estimates.get(metric)
        if known is None or known.interval == known.plain:
            return {}
        plain = known.plain
        return {"plain": {"mean": plain.mean, "low": plain.low, "high": plain.high}}

    def transfers(self) -> pa.Table:
        """Return a row for each transfer that ended in the measured time, if they were kept.

        Columns are `replication`, `flow`, `start_s` (from the start of the run, warm-up included),
        `size_bytes` of payload, and `time_s`. The result is an Arrow table, with `to_pandas`.
        Raises ValueError if `airtcp.simulate` did not keep transfers.
        """
        from airtcp.results.transfers import table

        return table(self.runs)

    def transfer_times_s(self) -> NDArray[np.float64]:
        """Return the times in seconds of all transfers of all replications, in any order."""
        import numpy as np

        if not self.runs:
            return np.empty(0)
        return np.concatenate([run.transfer_times_s for run in self.runs])

    def to_dict(self) -> dict[str, Any]:
        """Return the simulation as in results.json, with `cells` and `jobs` if there are any."""
        parts = {"cells": self.cells, "jobs": self.jobs}
        return {name: plain(part) for name, part in parts.items() if part} | self._all()

    def _all(self) -> dict[str, Any]:
        return {
            "metrics": {
                name: interval.to_dict() | self._plain(name)
                for name, interval in self.metrics.items()
            },
            "precision": self.precision,
            "steadiness": self.steadiness,
            "groups": plain(self.groups),
            "categories": plain(self.categories),
            "flows": plain(self.flows),
            "stations": plain(self.stations),
            "airtime": self.airtime,
            "counts": self.counts,
            "active_flows_distribution": self.active_flows_distribution,
            "goodput_series_bps": self.goodput_series_bps,
            "replications": self.replications,
            "simulated_s": self.simulated_s,
            "wall_s": self.wall_s,
            "cpu_s": self.cpu_s,
            "stopped": self.stopped,
            "confidence": self.confidence,
        }


class OfSimulation(Pictured, Result):
    """A result with a simulation."""

    simulation: Simulation

    @property
    def metrics(self) -> dict[str, Interval]:
        """Short for `simulation.metrics`."""
        return self.simulation.metrics

    def to_pandas(self) -> pd.DataFrame:
        """Short for `simulation.to_pandas`: a row for each replication."""
        return self.simulation.to_pandas()


@dataclass(frozen=True, repr=False)
class SimulationResult(OfSimulation):
    """The result of `airtcp.simulate`: the scenario as it was run, and the measurements.

    With the `cafe` of `airtcp.load`:

    >>> result = airtcp.simulate(cafe)
    >>> sorted(result.to_dict())
    ['provenance', 'scenario', 'simulation']
    >>> result.metrics["goodput_bps"] == result.simulation.metrics["goodput_bps"]
    True
    """

    scenario: ResolvedScenario
    provenance: Provenance
    simulation: Simulation

    def __repr__(self) -> str:
        return f"<SimulationResult of {self.scenario.title!r}: {self.simulation._in_short()}>"

    def _repr_html_(self) -> str:
        """Return the metrics as HTML for notebooks."""
        return self.simulation._repr_html_()

    def to_dict(self) -> dict[str, Any]:
        """Return the keys `scenario`, `provenance`, `simulation`."""
        return head(self.scenario, self.provenance) | {"simulation": self.simulation.to_dict()}


def metric_in(answer: Mapping[str, Any], group: str | None, part: str, metric: str) -> float | None:
    """Return one value of the core's result. Raises KeyError."""
    metrics: Mapping[str, float | None] = answer["metrics"]
    if group is not None:
        parts = _chosen({one["name"]: one for one in answer["groups"]}, group, "group")
        has = {name: one for name, one in parts.items() if name != "name" and one is not None}
        metrics = _chosen(has, part, f"part of group {group}")
    return _chosen(metrics, metric, "metric")


def _chosen(there: Mapping[str, _T], name: str, what: str) -> _T:
    if name not in there:
        raise KeyError(f"{name!r} is not a {what}; known: {', '.join(there)}")
    return there[name]


def _mean_columns(rows: Sequence[Sequence[float]]) -> list[float]:
    """Return means by position; shorter rows count as zeros beyond their end."""
    if len(rows) == 1:
        return list(rows[0])
    width = max(len(row) for row in rows)
    return [
        math.fsum(row[column] for row in rows if column < len(row)) / len(rows)
        for column in range(width)
    ]

"""Two simulations side by side: the paired difference of every metric, with its interval.

Replication i of both draws the same random numbers as far as the scenarios allow, so that most of
the randomness cancels in the difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from airtcp.amounts import quantity, quantity_with_interval
from airtcp.estimates import Estimate, improved, improved_groups
from airtcp.estimates.cells import GOODPUT, of_cells
from airtcp.estimates.drift import Drift
from airtcp.estimates.parts import GroupEstimates
from airtcp.estimates.steadiness import Steadiness
from airtcp.labels import PARTS
from airtcp.metrics import METRICS
from airtcp.pictured import Pictured
from airtcp.results.averages import Answer
from airtcp.results.notebook import frame, html_table
from airtcp.results.objects import Simulation, SimulationResult, Stopped
from airtcp.results.plain import ByMetric, plain
from airtcp.results.provenance import Result
from airtcp.stats import Interval, student_interval

if TYPE_CHECKING:
    import pandas as pd


_OF_THE_RUN: Final = ("title", "run.replications", "run.seed", "run.precision")

Samples = Mapping[str, float | None]

#: The smallest mean of `a`, by unit, for which a ratio is meaningful. Seconds: a millisecond, which
#: nobody notices. Rates: less than speech needs. Probabilities and shares: a hundredth, below which
#: few events are counted. Counts: one. R factor and Jain's index: any value.
WORTH: Final = {"s": 1e-3, "b/s": 10e3, "": 0.01}

#: A change below this fraction of `a` counts as neither better nor worse (a choice).
_HARDLY: Final = 0.001

#: The smallest change that users notice, as a fraction of `a`.
NOTICED: Final = 0.02

#: Metrics that users notice: delay and loss first, then waiting times, then throughput.
_FELT: Final = (
    ("packet_delay_p95_s", "packet_loss", "r_factor"),
    ("page_time_p90_s", "page_time_s", "transfer_time_p90_s", "transfer_time_s"),
    ("flow_goodput_bps", "goodput_bps"),
    ("path_rtt_s", "jain_index"),
)


@dataclass(frozen=True, slots=True)
class Change:
    """One metric in both scenarios, and the difference of `b` from `a`: means over replications.

    `difference` is the interval of the paired differences, over the replications in which both have
    a value. If `airtcp.estimates` has an estimate of the metric in both, its values per replication
    are used. `early` is set if the runs are too short for a conclusion; then the difference has no
    sign, whatever its interval.
    """

    a: Interval
    b: Interval
    difference: Interval
    early: Steadiness | None = None

    @property
    def unsteady(self) -> str | None:
        """Why the runs are too short, and which duration would suffice; None if they are not."""
        return None if self.early is None else self.early.advice

    @property
    def separated(self) -> bool:
        """Whether the interval of the difference excludes zero, in runs of sufficient length."""
        low, high = self.difference.low, self.difference.high
        if self.early is not None or low is None or high is None:
            return False
        return low > 0.0 or high < 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return `a`, `b`, `difference`, each with `mean`, `low`, `high`, `n`.

        The key `unsteady` is added if it is set.
        """
        record: dict[str, Any] = {
            "a": self.a.to_dict(),
            "b": self.b.to_dict(),
            "difference": self.difference.to_dict(),
        }
        return record if self.unsteady is None else record | {"unsteady": self.unsteady}


#: The change of each metric.
Changes = dict[str, Change]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A change with its scope: `group` and `part` as in `groups`, None for all flows.

    For a cell, `group` is its name, and `part` is "cell".
    """

    metric: str
    group: str | None
    part: str | None
    change: Change

    @property
    def relative(self) -> float | None:
        """The mean difference over the mean of `a` (0.1: 10 % more); None without both means.

        It is None as well if the mean of `a` is below `WORTH`, because a multiple of almost nothing
        is meaningless.
        """
        a, b, moved = (one.mean for one in (self.change.a, self.change.b, self.change.difference))
        if a is None or b is None or moved is None:
            return None
        if abs(a) < WORTH.get(METRICS[self.metric].unit, 1.0):
            return None
        return moved / abs(a)

    @property
    def is_felt(self) -> bool:
        """Whether users notice the metric; if not, it is a detail of queues, TCP or the MAC."""
        return _felt_rank(self.metric) < len(_FELT)

    @property
    def is_noticed(self) -> bool:
        """Whether users notice the metric, and its significant change exceeds `NOTICED`.

        A lower bound stands for a mean that is unknown, as where traffic still grows.
        """
        moved = self.change.difference.mean
        a, b = (one.low if one.mean is None else one.mean for one in (self.change.a, self.change.b))
        if a is None or b is None or moved is None or not (self.is_felt and self.change.separated):
            return False
        return abs(moved) > NOTICED * abs(a)

    @property
    def noticed_verdict(self) -> str:
        """The verdict, but "different" if a change for better or worse goes unnoticed."""
        judged = self.verdict
        return "different" if judged in ("better", "worse") and not self.is_noticed else judged

    @property
    def verdict(self) -> str:
        """Whether `b` is "better" or "worse", "different", or "not separated" from `a`.

        "hardly different": the change is significant but less than a thousandth of `a`. "cannot
        tell yet": the runs are too short for their traffic.
        """
        if self.change.early is not None:
            return "cannot tell yet"
        if not self.change.separated:
            return "not separated"
        if self.relative is not None and abs(self.relative) < _HARDLY:
            return "hardly different"
        better = METRICS[self.metric].better
        if better is None:
            return "different"
        rises = (self.change.difference.mean or 0.0) > 0.0
        return "better" if rises == (better == "higher") else "worse"


@dataclass(frozen=True, repr=False)
class Difference(Pictured, Result):
    """The result of `airtcp.diff`: how `b` differs from `a`, on the same seed.

    Replications are paired by index; those that only one scenario has are left out. `precision` is
    the target half width of the paired differences, relative to the means of `a`; None if the
    number of replications was given.
    """

    a: SimulationResult
    b: SimulationResult
    precision: float | None = None

    def __repr__(self) -> str:
        ranked = self.ranked()
        separated = sum(one.change.separated for one in ranked)
        n = self.replications
        about = f"{separated} of {len(ranked)} changes beyond chance"
        return f"<Difference over {n} pair{'s' if n > 1 else ''} of replications: {about}>"

    @property
    def replications(self) -> int:
        """The number of pairs."""
        return len(self._pairs)

    @cached_property
    def metrics(self) -> Changes:
        """The change of each metric, for all flows."""
        plain = self._changes([(a["metrics"], b["metrics"]) for a, b in self._pairs])
        known = [improved(one.runs, one.scenario, self.confidence) for one in self._both]
        told = [drift.of_everything(of) for drift, of in zip(self._drifts, known, strict=True)]
        return _with_ends(plain | self._improved(known, plain), told)

    @cached_property
    def groups(self) -> dict[str, dict[str, Changes]]:
        """The changes of each group that both have, by part, as in `Simulation.groups`.

        The parts are "all", and "download", "upload" and "airtime" if both have them.
        """
        found: dict[str, dict[str, Changes]] = {}
        known = self._improved_groups
        told = [drift.of_groups(of) for drift, of in zip(self._drifts, known, strict=True)]
        for name in self.a.simulation.groups:
            if name in self.b.simulation.groups:
                pairs = [(_named(a, name), _named(b, name)) for a, b in self._pairs]
                parts = {
                    part: self._changes([(a[part], b[part]) for a, b in pairs])
                    for part in (*PARTS, "airtime")
                    if pairs[0][0][part] is not None and pairs[0][1][part] is not None
                }
                for part, plain in parts.items():
                    of_part, told_of = (
                        [one.get(name, {}).get(part, {}) for one in of] for of in (known, told)
                    )
                    changes = plain | self._improved(of_part, plain)
                    found.setdefault(name, {})[part] = _with_ends(changes, told_of)
        return found

    @cached_property
    def cells(self) -> dict[str, Changes]:
        """The changes of each cell that both have: its goodput, and its share of failures."""
        both = [one.scenario.cells or () for one in (self.a, self.b)]
        places = [{cell.name: place for place, cell in enumerate(cells)} for cells in both]
        found = {}
        for name in places[0].keys() & places[1].keys():
            pairs = [
                (_of_cell(a, places[0][name]), _of_cell(b, places[1][name])) for a, b in self._pairs
            ]
            plain = self._changes(pairs)
            known, told = (
                [{GOODPUT: one[name]} if name in one else {} for one in both]
                for both in self._goodputs_of_cells
            )
            found[name] = _with_ends(plain | self._improved(known, plain), told)
        return {name: found[name] for name in places[0] if name in found}

    @cached_property
    def _goodputs_of_cells(self) -> tuple[list[dict[str, Estimate]], list[dict[str, Estimate]]]:
        """The estimates of cells in both, and the same after allowing for drift in the runs."""
        known = [
            {}
            if one.scenario is None
            else of_cells(one.runs, one.scenario, groups, self.confidence)
            for one, groups in zip(self._both, self._improved_groups, strict=True)
        ]
        return known, [drift.of_cells(of) for drift, of in zip(self._drifts, known, strict=True)]

    @cached_property
    def _improved_groups(self) -> list[GroupEstimates]:
        return [improved_groups(one.runs, one.scenario, self.confidence) for one in self._both]

    @cached_property
    def changed(self) -> dict[str, tuple[Any, Any]]:
        """The keys of the resolved scenario that differ, with both values.

        A value is None if the key does not exist. Title, seed and replications are left out.
        """
        a, b = (dict(_leaves(one.scenario.model_dump(mode="json"), "")) for one in (self.a, self.b))
        keys = [*a, *(key for key in b if key not in a)]
        return {
            key: (a.get(key), b.get(key))
            for key in keys
            if a.get(key) != b.get(key) and key not in _OF_THE_RUN
        }

    def ranked(self) -> list[Ranked]:
        """Return every change once: significant ones first, noticed by users before details.

        Within these, the largest come first, relative to `a`. Metrics without a value in one
        scenario are left out, and so are changes of a group or direction that repeat one of a
        larger scope.
        """
        found: list[Ranked] = []
        said: dict[str, list[Change]] = {}
        for group, part, changes in self._scopes():
            for name, change in changes.items():
                known = said.setdefault(name, [])
                if change.difference.n > 0 and change not in known:
                    known.append(change)
                    found.append(Ranked(name, group, part, change))

        def order(one: Ranked) -> tuple[bool, int, float]:
            size = abs(one.relative or 0.0)
            separated = one.change.separated
            return (not separated, _felt_rank(one.metric), -size if separated else 0.0)

        return sorted(found, key=order)

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each change as in `ranked`: its scope, both means, and the difference.

        `low` and `high` are the ends of the interval of the paired difference. Needs pandas, which
        airtcp does not require.
        """
        rows = []
        for one in self.ranked():
            means = one.change.a.mean, one.change.b.mean
            moved = one.change.difference
            ends = moved.mean, moved.low, moved.high
            rows.append((one.metric, one.group, one.part, *means, *ends, one.verdict))
        names = ("metric", "group", "part", "a", "b", "difference", "low", "high", "verdict")
        return frame(names, rows)

    def _repr_html_(self) -> str:
        """Return the significant changes as HTML for notebooks, largest first."""
        rows = []
        for one in self.ranked():
            about, change = METRICS[one.metric], one.change
            if not change.separated or change.a.mean is None or change.b.mean is None:
                continue
            of = "" if one.group is None else f"{one.group}, {one.part}"
            means = (quantity(mean, about.unit, 4) for mean in (change.a.mean, change.b.mean))
            moved = quantity_with_interval(change.difference, about.unit)
            rows.append((about.label, of, *means, moved, one.verdict))
        head = ("metric", "of", "A", "B", "difference", "")
        return html_table(repr(self)[1:-1], head, rows)

    def to_dict(self) -> dict[str, Any]:
        """Return `a`, `b` (scenario and provenance), `metrics`, `groups` and the number of pairs.

        With several cells also `cells`.
        """
        kept = self.a.to_dict(), self.b.to_dict()
        a, b = ({key: one[key] for key in ("scenario", "provenance")} for one in kept)
        told = {"cells": plain(self.cells)} if self.cells else {}
        return told | {
            "a": a,
            "b": b,
            "metrics": plain(self.metrics),
            "groups": plain(self.groups),
            "replications": self.replications,
            "precision": self.precision,
            "stopped": self.stopped,
            "confidence": self.confidence,
        }

    @property
    def stopped(self) -> Stopped:
        """Why there are no more pairs, as for a simulation."""
        second = self.b.simulation.stopped
        return second if second == "interrupted" else self.a.simulation.stopped

    @property
    def confidence(self) -> float:
        """The confidence level of the intervals, taken from `a`."""
        return self.a.simulation.confidence

    def _scopes(self) -> Iterator[tuple[str | None, str | None, Changes]]:
        yield None, None, self.metrics
        for group, parts in self.groups.items():
            for part in PARTS:
                if part in parts:
                    yield group, part, parts[part]
        for cell, changes in self.cells.items():
            yield cell, "cell", changes

    @cached_property
    def _pairs(self) -> list[tuple[Answer, Answer]]:
        others = {run.index: run.answer for run in self.b.simulation.runs}
        return [
            (run.answer, others[run.index]) for run in self.a.simulation.runs if run.index in others
        ]

    def _changes(self, pairs: Sequence[tuple[Samples, Samples]]) -> Changes:
        names = [name for name in pairs[0][0] if name in pairs[0][1]] if pairs else []
        return {name: self._change([(a[name], b[name]) for a, b in pairs]) for name in names}

    @property
    def _both(self) -> tuple[Simulation, Simulation]:
        return self.a.simulation, self.b.simulation

    @cached_property
    def _drifts(self) -> list[Drift]:
        """The drifts of both; differences are of the observed values."""
        return [Drift(one.runs, one.scenario, self.confidence) for one in self._both]

    def _improved(self, known: Sequence[Mapping[str, Estimate]], plain: Changes) -> Changes:
        """Return the changes of metrics with estimates in both, from the estimates' values."""
        runs = [one.runs for one in self._both]
        found = {}
        for name in known[0].keys() & known[1].keys() & plain.keys():
            both = [one[name] for one in known]
            values = [
                {run.index: value for run, value in zip(made, one.values, strict=True)}
                for made, one in zip(runs, both, strict=True)
            ]
            pairs = [(value, values[1].get(index)) for index, value in values[0].items()]
            moved = [b - a for a, b in pairs if a is not None and b is not None]
            early = [one.steadiness for one in both if one.steadiness.state == "unsteady"]
            found[name] = Change(
                both[0].interval,
                both[1].interval,
                student_interval(moved, self.confidence),
                # A metric that is equal in all pairs does not change, even in short runs.
                early[0] if early and any(moved) else None,
            )
        return {name: found[name] for name in plain if name in found}

    def _change(self, pairs: Sequence[tuple[float | None, float | None]]) -> Change:
        differences = [b - a for a, b in pairs if a is not None and b is not None]
        return Change(
            student_interval((a for a, _ in pairs), self.confidence),
            student_interval((b for _, b in pairs), self.confidence),
            student_interval(differences, self.confidence),
        )


def _with_ends(changes: Changes, told: Sequence[Mapping[str, Estimate]]) -> Changes:
    """Replace the intervals of each scenario by the intervals in `told`, which allow for drift.

    The intervals of differences stay as they are: a drift that both runs share cancels there.
    """
    first, second = told
    return ByMetric(
        (
            name,
            replace(
                one,
                a=first[name].interval if name in first else one.a,
                b=second[name].interval if name in second else one.b,
            ),
        )
        for name, one in changes.items()
    )


def _felt_rank(metric: str) -> int:
    """Return the rank of a metric among those that users notice; others come last."""
    return next((place for place, names in enumerate(_FELT) if metric in names), len(_FELT))


def _named(answer: Answer, group: str) -> Mapping[str, Any]:
    return next(record for record in answer["groups"] if record["name"] == group)


def _of_cell(answer: Answer, place: int) -> dict[str, float | None]:
    """Return the metrics of a cell in one replication."""
    record = answer["cells"][place]
    failed = sum(record["failures"].values())
    share = failed / record["attempts"] if record["attempts"] else None
    return {"goodput_bps": record["goodput_bps"], "failed_ppdu_ratio": share}


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the values of a resolved scenario by key path, with groups and flows by name."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _leaves(one, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        for index, one in enumerate(value):
            yield from _leaves(one, f"{path}.{one.get('name', index)}")
    else:
        yield path, value

"""Explain a gap: try causes on the run's random numbers and rank them by how much they close.

Each cause first runs one replication at a few strengths. The best causes are refined at strengths
in between. The best cause of each kind runs several replications. The result depends only on
scenario, measurement and seed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

from airtcp.exceptions import ScenarioError
from airtcp.gaps.causes import KINDS, Cause, Change, causes
from airtcp.gaps.distance import Axis, axes_of, carried, total, value_in
from airtcp.phrases import phrase
from airtcp.remedies import as_written, named
from airtcp.results.measured import Explanation, Gap
from airtcp.run.points import Points

if TYPE_CHECKING:
    from airtcp.results import Comparison, Replication
    from airtcp.scenario import Scenario

#: How many causes are refined, and how often.
_CLOSER: Final = 8
_ROUNDS: Final = 3
#: Replications of the best cause of each kind, at most: with two, the wrong kind led more often.
_PAIRS: Final = 8


@dataclass
class _Try:
    """A cause at one strength."""

    cause: Cause
    strength: float
    change: Change
    scenario: Scenario


@dataclass
class _Tried:
    """A cause, its trials, and the share of the gap closed at each strength."""

    cause: Cause
    tries: dict[float, _Try] = field(default_factory=dict)
    shares: dict[float, float] = field(default_factory=dict)

    @property
    def best(self) -> float:
        """The strength that closes the largest share."""
        return max(self.shares, key=lambda one: self.shares[one])

    def closer(self) -> list[float]:
        """Return strengths between the best and its neighbours, or the adjacent steps."""
        known, best = sorted(self.shares), self.best
        if self.cause.steps:
            steps = list(self.cause.steps)
            at = steps.index(best)
            return [one for one in steps[max(at - 1, 0) : at + 2] if one not in self.shares]
        at = known.index(best)
        below = known[at - 1] if at else 0.0
        above = known[at + 1] if at + 1 < len(known) else 1.0
        return [(below + best) / 2.0, (best + above) / 2.0]


class _Search:
    """The trials for one gap."""

    def __init__(
        self, base: Scenario, axes: list[Axis], runs: tuple[Replication, ...], points: Points[str]
    ) -> None:
        self._base = base
        self._axes = axes
        self._runs = {run.index: run for run in runs}
        self._points = points
        self._none = total(axes, [axis.base for axis in axes])

    def try_(self, wanted: list[tuple[_Tried, float]]) -> None:
        """Run one replication for causes at strengths.

        Causes that yield no valid scenario are skipped.
        """
        added: list[tuple[_Tried, _Try]] = []
        for tried, strength in wanted:
            one = self._changed(tried.cause, strength)
            if one is not None:
                self._points.add(_key(one), one.scenario)
                tried.tries[strength] = one
                added.append((tried, one))
        self._points.run({_key(one): 1 for _, one in added})
        for tried, one in added:
            tried.shares[one.strength] = self.share(one)

    def again(self, tries: list[_Try]) -> None:
        """Run more replications, at most as many as the run itself has."""
        self._points.run({_key(one): min(_PAIRS, len(self._runs)) for one in tries})

    def values(self, one: _Try) -> list[float | None]:
        """Return the measured metrics with a change, over its replications."""
        found: list[float | None] = []
        runs = self._points.ended(_key(one))
        for axis in self._axes:
            moved = [
                carried(
                    axis,
                    value_in(self._runs[run.index], axis),
                    value_in(run, axis, one.change.added),
                )
                for run in runs
                if run.index in self._runs
            ]
            known = [value for value in moved if value is not None]
            found.append(sum(known) / len(known) if known else None)
        return found

    def share(self, one: _Try) -> float:
        """Return the share of the gap that a change closes."""
        return 1.0 - total(self._axes, self.values(one)) / self._none

    def _changed(self, cause: Cause, strength: float) -> _Try | None:
        try:
            change = cause.at(strength)
            scenario = self._base.rewritten(change.data)
        except ScenarioError:
            return None
        if scenario.hash() == self._base.hash():
            return None
        return _Try(cause, strength, change, scenario)


def _key(one: _Try) -> str:
    return f"{one.cause.kind} {one.scenario.hash()}"


def explain(
    result: Comparison,
    *,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Gap:
    """Find the gap between a measurement and its simulation, and what would explain it.

    Without a gap, nothing is tried. Trials use the random numbers of the simulation's first
    replications. Ctrl-C returns the explanations found so far.

    Raises ValueError if the result has no measurement, SimulationError if a trial breaks a
    conservation law.
    """
    if result.measured is None:
        raise ValueError(phrase("gaps.explain.not_measured"))
    axes = axes_of(result.measured)
    rows = tuple((axis.metric, axis.of) for axis in axes if axis.is_gap)
    if not rows:
        return Gap(())
    if not hasattr(result.scenario, "vary") or not result.simulation.runs:
        return Gap(rows, untried=dict.fromkeys(KINDS, phrase("gaps.explain.resolved_only")))
    base = named(cast("Scenario", result.scenario))
    found, untried = causes(base, _share(axes))
    all_ = [_Tried(cause) for cause in found]
    best: list[_Tried] = []
    with Points[str](result.provenance.seed or 0, threads=threads) as points:
        search = _Search(base, axes, tuple(result.simulation.runs), points)
        with suppress(KeyboardInterrupt):
            _run(search, all_, progress)
        for kind in KINDS:
            of_kind = [one for one in all_ if one.cause.kind == kind and one.shares]
            if of_kind:
                best.append(max(of_kind, key=lambda one: one.shares[one.best]))
        told = [_told(search, one.tries[one.best], base, result, axes) for one in best]
    for kind in {one.cause.kind for one in all_} - {one.cause.kind for one in best}:
        untried[kind] = phrase("gaps.explain.unfit")
    told.sort(key=lambda one: (-one.share, list(KINDS).index(one.kind)))
    return Gap(rows, tuple(told), untried, interrupted=points.interrupted)


def _run(search: _Search, all_: list[_Tried], progress: Callable[[float], None] | None) -> None:
    """Try all causes at a few strengths, then refine the best ones."""
    tell = progress or (lambda _: None)
    waves = [[(one, strength) for strength in one.cause.grid] for one in all_]
    for n, wave in enumerate(waves):
        search.try_(wave)
        tell(0.7 * (n + 1) / len(waves))
    for n in range(_ROUNDS):
        ranked = sorted((one for one in all_ if one.shares), key=lambda one: -one.shares[one.best])
        search.try_([(one, at) for one in ranked[:_CLOSER] for at in one.closer()])
        tell(0.7 + 0.2 * (n + 1) / _ROUNDS)
    by_kind: dict[str, _Tried] = {}
    for one in ranked:
        by_kind.setdefault(one.cause.kind, one)
    search.again([one.tries[one.best] for one in by_kind.values()])
    tell(1.0)


def _told(
    search: _Search, one: _Try, base: Scenario, result: Comparison, axes: list[Axis]
) -> Explanation:
    scenario = cast("Scenario", result.scenario)
    values = search.values(one)
    return Explanation(
        kind=one.cause.kind,
        title=f"{KINDS[one.cause.kind]}: {one.change.title}",
        share=search.share(one),
        set=as_written(scenario, base, one.change.set),
        written=one.change.written,
        values=tuple(
            (axis.metric, axis.of, value) for axis, value in zip(axes, values, strict=True)
        ),
        against=tuple(
            (axis.metric, axis.of)
            for axis, value in zip(axes, values, strict=True)
            if axis.is_against(value)
        ),
    )


def _share(axes: list[Axis]) -> float:
    """Return the lowest ratio of measured to simulated goodput."""
    known: Mapping[tuple[str, str], float] = {
        (axis.metric, axis.of): axis.measured / axis.base
        for axis in axes
        if axis.metric in ("goodput_bps", "flow_goodput_bps") and axis.base > 0.0
    }
    return min(known.values(), default=0.1)

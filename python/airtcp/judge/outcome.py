"""The outcome of a variant: the state of every target, and the goodput and delay of each group.

Two variants of a scenario are compared by the targets that they miss, by the targets that are
undecided, by the worst ratio of a measured value to its bound, and by the groups that they harm. A
ratio above one means that the target is missed, also for targets with a lower bound. The outcome
follows only from replications.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

from airtcp.conditions import read_condition
from airtcp.estimates.percentiles import PERCENTILES, distribution
from airtcp.estimates.traffic import Traffic
from airtcp.judge.targets import targets_of
from airtcp.judge.verdicts import is_out_of_range, joint_level, judged_by, verdict
from airtcp.results import Comparison, Provenance, Replication, Simulation, SimulationResult
from airtcp.results.cells import Alone
from airtcp.results.verdict import Judged, State, Target
from airtcp.stats import Interval, student_quantile

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario

#: Goodput below `HARM` times its earlier value counts as harm. No recommendation may cause a loss
#: to below `HALF` times the earlier value.
HARM: Final = 0.9
HALF: Final = 0.5
#: A delay of more than this many times its earlier value counts as harm.
DOUBLE: Final = 2.0
#: A change improves a scenario if it has at least this many fewer expected misses, or if the worst
#: ratio shrinks at least by this factor.
FEWER: Final = 0.3
SMALLER: Final = 0.8
#: Ratio of a target if nothing was delivered although the unchanged scenario delivered something.
NOTHING: Final = 10.0
#: Ratio of a goodput target if nothing was delivered, and of any target out of range.
UNREACHED: Final = 1e6
#: Relative distance from its bound within which a value is likely to be on either side.
NEAR: Final = 0.05
#: Relative standard error assumed of a single short replication, which has no interval.
_SINGLE: Final = 0.15
#: The fewest replications whose intervals decide.
_INTERVALS: Final = 2
#: The times of pages and transfers, which short runs cut off.
_LASTING: Final = ("page_time", "transfer_time")
#: An undecided target counts as met or missed if the other is less likely than this.
_SURELY: Final = 0.1
#: The largest factor by which the run's own value corrects a ratio of a short run, up or down.
_CORRECTED: Final = 2.0
#: The delays that users feel, in order of preference: calls and pages before round trips under
#: load.
_FELT: Final = ("packet_delay_p95_s", "page_time_p90_s", "transfer_time_p90_s", "path_rtt_s")
_GOODPUTS: Final = ("goodput_bps", "flow_goodput_bps")
_NORMAL: Final = NormalDist()


@dataclass(frozen=True)
class TargetOutcome:
    """One target in one variant.

    `ratio` is the measured value over the bound, or the bound over the measured value for targets
    with a lower bound. Above one the target is missed. It is None if nothing was measured. `spread`
    is the standard error of its logarithm.
    """

    text: str
    state: State
    ratio: float | None
    spread: float

    @cached_property
    def miss(self) -> float:
        """The probability that the target is missed, estimated from the replications."""
        if self.ratio is None:
            return 0.5
        if self.ratio <= 0.0:
            return 0.0
        return _NORMAL.cdf(math.log(self.ratio) / math.hypot(self.spread, NEAR))

    @property
    def likely(self) -> State:
        """The state; if intervals do not decide, by the miss probability."""
        if self.state != "unknown" or _SURELY <= self.miss <= 1.0 - _SURELY:
            return self.state
        return "holds" if self.miss < _SURELY else "fails"

    @property
    def is_of_transfers(self) -> bool:
        """True for a target of page or transfer times."""
        return read_condition(self.text).metric.startswith(_LASTING)

    def times(self, factors: Mapping[str, float]) -> TargetOutcome:
        """Return this target with its ratio multiplied by the factor of its text, if it has one."""
        if not self.ratio or self.text not in factors:
            return self
        ratio = self.ratio * factors[self.text]
        contradicts = self.state == ("holds" if ratio > 1.0 else "fails")
        return replace(self, ratio=ratio, state="unknown" if contradicts else self.state)


@dataclass(frozen=True)
class Outcome:
    """All targets of a variant, and the goodput and delay of every group per direction.

    `promised` are the pairs (group, direction) with a target for goodput. `goodputs` has the mean
    goodput in b/s by (group, direction). `delays` has the delay in seconds that its users feel
    (95th percentile of packet delays, 90th of page or transfer times, else round trips).
    `delay_metrics` says which delay that is.
    """

    targets: tuple[TargetOutcome, ...]
    promised: frozenset[tuple[str, str]]
    goodputs: Mapping[tuple[str, str], float]
    delays: Mapping[tuple[str, str], float]
    delay_metrics: Mapping[tuple[str, str], str]

    @property
    def met(self) -> int:
        """The number of targets that are surely met."""
        return sum(one.state == "holds" for one in self.targets)

    @property
    def missed(self) -> int:
        """The number of targets that are surely missed."""
        return sum(one.state == "fails" for one in self.targets)

    @property
    def counted(self) -> tuple[int, int, int]:
        """The numbers of targets that are likely met, likely missed, and open."""
        states = [one.likely for one in self.targets]
        return states.count("holds"), states.count("fails"), states.count("unknown")

    @property
    def measured_misses(self) -> float:
        """The expected number of missed targets among those that were measured."""
        return sum(one.miss for one in self.targets if one.ratio is not None)

    @property
    def expected_misses(self) -> float:
        """The expected number of missed targets: the sum of their probabilities."""
        return sum(one.miss for one in self.targets)

    @property
    def worst(self) -> float:
        """The largest ratio of a value to its bound; 0 if there is no target."""
        return max((one.ratio for one in self.targets if one.ratio is not None), default=0.0)

    def corrections(self, known: Outcome) -> dict[str, float]:
        """Return by target of page or transfer times how much larger a ratio is in `known`.

        `known` is the same variant in longer runs. Short runs cut off the longest pages.
        """
        here = {one.text: one.ratio for one in self.targets if one.is_of_transfers}
        return {
            one.text: min(max(one.ratio / ratio, 1.0 / _CORRECTED), _CORRECTED)
            for one in known.targets
            if one.ratio and one.ratio < UNREACHED and (ratio := here.get(one.text))
        }

    def corrected(self, factors: Mapping[str, float]) -> Outcome:
        """Return this outcome with the ratio of each target multiplied by its factor.

        This is the ratio estimate of Cochran (1977), Sampling Techniques, 6.3: on common random
        numbers a change and the unchanged scenario err alike. A state that the corrected ratio
        contradicts becomes unknown.
        """
        return replace(self, targets=tuple(one.times(factors) for one in self.targets))

    @property
    def readers(self) -> frozenset[tuple[str, str]]:
        """The groups that fetch pages or files now and then: they get the goodput they ask for."""
        return frozenset(who for who, one in self.delay_metrics.items() if one.startswith(_LASTING))

    def calmer(self, known: Outcome) -> Outcome:
        """Return this outcome with delays no longer than those of the same variant in longer runs.

        So a gain is not the luck of short runs.
        """
        delays = {
            who: min(before, known.delays.get(who, before))
            if known.delay_metrics.get(who) == self.delay_metrics[who]
            else before
            for who, before in self.delays.items()
        }
        return replace(self, delays=delays)

    def for_as_many(self, factors: Mapping[str, float]) -> Outcome:
        """Return this outcome with the goodput of each group multiplied by its factor.

        Half of the stations at a second access point get half of the goodput, and so do the others.
        """
        goodputs = {who: bps * factors[who[0]] for who, bps in self.goodputs.items()}
        return replace(self, goodputs=goodputs)

    def score(self, base: Outcome) -> float:
        """Return a score for elimination in a race; lower is better.

        A target that was met and is now missed counts once more. So does a group that loses half of
        its goodput. The worst ratio decides between equals.
        """
        worst = math.log(min(max(self.worst, 1e-2), 1e2))
        return (
            self.expected_misses
            + sum(self.breaks(base).values())
            + len(self.halved(base))
            + 0.05 * worst
        )

    def improves(self, base: Outcome) -> bool:
        """Return True if fewer targets are missed than in `base`, or by a much smaller ratio.

        A smaller worst ratio does not count if another missed target is as much farther away.
        """
        fewer = base.expected_misses - self.expected_misses
        nearer = base.worst > 1.0 and self.worst < SMALLER * base.worst
        return fewer > FEWER or (fewer > -0.1 and nearer and not self._is_farther(base))

    def meets_more(self, base: Outcome) -> bool:
        """Return True if more targets are likely met than in `base`."""
        return self.counted[0] > base.counted[0]

    def _is_farther(self, base: Outcome) -> bool:
        """Return True if a missed target is much farther from its bound than in `base`."""
        return any(
            mine.ratio > max(its.ratio, 1.0) / SMALLER
            for mine, its in zip(self.targets, base.targets, strict=True)
            if mine.ratio is not None and its.ratio is not None
        )

    def breaks(self, base: Outcome) -> dict[str, float]:
        """Return targets likely met in `base` and likely missed here, with miss probability."""
        return {
            mine.text: mine.miss
            for mine, its in zip(self.targets, base.targets, strict=True)
            if its.miss < 0.5 < mine.miss and mine.miss - its.miss > 0.25
        }

    def halved(self, base: Outcome) -> dict[tuple[str, str], float]:
        """Return the groups that get less than half the goodput of `base`, with the ratio.

        Groups with a target for goodput are excluded: the target says how much they need.
        """
        lost = self.below_half(base)
        return {who: ratio for who, ratio in lost.items() if who not in self.promised}

    def below_half(self, base: Outcome) -> dict[tuple[str, str], float]:
        """Return all groups that get less than half the goodput of `base`, with the ratio."""
        return self._lower(base, HALF)

    def harmed(self, base: Outcome) -> dict[tuple[str, str], float]:
        """Return groups that lose more than a tenth of their goodput, with the ratio to `base`.

        Readers are not among them if their pages take no longer and they get at least half: they
        asked for less by chance.
        """
        calm = {
            who
            for who in self.readers & base.readers
            if self.delay_metrics[who] == base.delay_metrics[who]
            and self.delays[who] <= base.delays[who]
        }
        lost = self._lower(base, HARM)
        return {who: ratio for who, ratio in lost.items() if ratio < HALF or who not in calm}

    def delayed(self, base: Outcome) -> dict[tuple[str, str], float]:
        """Return the groups whose delay more than doubles, with the ratio to `base`."""
        return {
            who: self.delays[who] / before
            for who, before in base.delays.items()
            if before > 0.0 and self.delays.get(who, 0.0) > DOUBLE * before
        }

    def harm(self, base: Outcome) -> int:
        """Return the number of groups that lose a tenth of their goodput or wait twice as long."""
        return len(self.harmed(base)) + len(self.delayed(base))

    def gains(self, base: Outcome) -> dict[tuple[str, str], float]:
        """Return the groups that get more goodput, with the ratio to `base`."""
        return {
            who: self.goodputs.get(who, 0.0) / before
            for who, before in base.goodputs.items()
            if before > 0.0 and self.goodputs.get(who, 0.0) > before
        }

    def _lower(self, base: Outcome, part: float) -> dict[tuple[str, str], float]:
        return {
            who: self.goodputs.get(who, 0.0) / before
            for who, before in base.goodputs.items()
            if before > 0.0 and self.goodputs.get(who, 0.0) < part * before
        }


def outcome(
    scenario: ResolvedScenario,
    provenance: Provenance,
    runs: Sequence[Replication],
    *,
    confidence: float,
    alone: Alone | None = None,
    base: Outcome | None = None,
    targets: Sequence[Target] | None = None,
    careful: bool = False,
) -> Outcome:
    """Judge a variant by its replications.

    With `careful` a ratio comes from the estimate that a run prints, or from its lower bound, which
    also counts transfers in progress. Without `careful` it comes from plain means.

    `targets` replaces the scenario's own targets or the defaults of its traffic.

    `alone` has the goodput of cells that were simulated in isolation. `base` is the outcome of the
    unchanged scenario on the same random numbers; it shows whether this change stops all delivery.
    """
    plain = gathered(scenario, provenance, runs, confidence=confidence, alone=alone)
    return outcome_of(plain, base, targets, careful=careful)


def outcome_of(
    result: SimulationResult | Comparison,
    base: Outcome | None = None,
    targets: Sequence[Target] | None = None,
    *,
    careful: bool = False,
) -> Outcome:
    """Judge a simulation: its targets, and the goodput and delay of each group.

    Ratios come from plain means over replications, which compare best on common random numbers.
    States come from the intervals that a run prints.
    """
    wanted = targets_of(result.scenario)[0] if targets is None else targets
    level = joint_level(result.simulation.confidence, max(len(wanted), 1))
    # One object for targets and groups: its groups are computed once.
    means = replace(result.simulation, scenario=None, confidence=level)
    judged = judged_by(means, wanted, result.scenario) if means.runs else ()
    states: Sequence[State] = [one.state for one in judged]
    if judged and (careful or len(result.simulation.runs) >= _INTERVALS):
        whole = replace(result.simulation, scenario=result.scenario)
        told = verdict(replace(result, simulation=whole), targets=targets)
        states = states if told is None else [one.state for one in told.targets]
        if careful and told is not None:
            judged = tuple(map(_more_careful, judged, told.targets))
    known = {} if base is None else {one.text: one for one in base.targets}
    goodputs, delays, delay_metrics = _shares(means)
    promised = frozenset(
        (condition.group, part)
        for condition in (one.target.condition for one in judged)
        if condition.group is not None and condition.metric in _GOODPUTS
        for part in (("download", "upload") if condition.part == "all" else (condition.part,))
    )
    return Outcome(
        tuple(
            TargetOutcome(one.target.condition.text, "fails", UNREACHED, _SINGLE)
            if is_out_of_range(result.scenario, one.target.condition)
            else _target(
                one,
                state,
                known.get(one.target.text),
                level,
                _lasting(one, result, careful=careful),
            )
            for one, state in zip(judged, states, strict=True)
            # A change of the traffic may bring default targets of its own.
            if base is None or one.target.text in known
        ),
        promised,
        goodputs,
        delays,
        delay_metrics,
    )


def gathered(
    scenario: ResolvedScenario,
    provenance: Provenance,
    runs: Sequence[Replication],
    *,
    confidence: float,
    alone: Alone | None = None,
) -> SimulationResult:
    """Return replications of a variant as a result.

    `alone` has the goodput of each cell that was simulated in isolation, replication by
    replication.
    """
    length_s = scenario.run.whole_s
    simulation = Simulation.gather(
        runs,
        confidence=confidence,
        simulated_s=length_s * len(runs),
        wall_s=0.0,
        cpu_s=0.0,
        stopped="replications",
    )
    return SimulationResult(scenario, provenance, replace(simulation, alone=alone or {}))


def _more_careful(plain: Judged, longer: Judged) -> Judged:
    """Return `longer` if it has a mean, or a lower bound above the plain mean; else `plain`."""
    one = longer.interval
    if one.mean is not None:
        return longer
    mean = plain.interval.mean
    if one.low is None or longer.target.condition.above or (mean is not None and mean > one.low):
        return plain
    return longer


def _lasting(
    judged: Judged, result: SimulationResult | Comparison, *, careful: bool
) -> tuple[float | None, float]:
    """Return a percentile of page or transfer times with those in progress, and its spread.

    The percentile of ended transfers is too small in a short run, which cuts off the longest. If
    none has ended, those in progress give a lower bound, which says nothing unless it exceeds the
    target's. None if the judged interval already counts transfers in progress, and for targets of
    other metrics, whose spread is 0.

    The spread is the standard error of the logarithm of a sample percentile (David and Nagaraja,
    Order Statistics, 3rd edition, 10.2), of times with an exponential tail.
    """
    condition, interval = judged.target.condition, judged.interval
    base, q = PERCENTILES.get(condition.metric, ("", 0.0))
    if base not in _LASTING:
        return None, 0.0
    traffic = Traffic(result.simulation.runs, result.scenario, condition.group, condition.part)
    found = distribution(traffic, base)
    if found is None:
        return None, 0.0
    spread = math.sqrt(q / ((1.0 - q) * max(found.number, 1.0))) / -math.log1p(-q)
    # The values that a run prints, and all lower bounds, count transfers in progress.
    is_counted = interval.low is not None if interval.mean is None else careful
    if interval.mean is not None:
        return None if is_counted else found.reached_s(q), spread
    # A bound does not vary.
    least_s = None if is_counted else found.outlasted_s(q)
    return least_s if least_s is not None and least_s > condition.bound else None, 0.0


def _target(
    judged: Judged,
    state: State,
    before: TargetOutcome | None,
    level: float,
    lasting: tuple[float | None, float],
) -> TargetOutcome:
    condition, interval = judged.target.condition, judged.interval
    value = interval.low if interval.mean is None else interval.mean
    lasting_s, least_spread = lasting
    value = value if lasting_s is None else lasting_s
    ratio: float | None
    if value is None:
        ratio = None if before is None or before.ratio is None else NOTHING
    elif condition.above:
        ratio = condition.bound / value if value > 0.0 else UNREACHED
    else:
        ratio = max(value, 0.0) / condition.bound
    spread = max(_spread(interval, level), least_spread)
    return TargetOutcome(condition.text, state, ratio, spread)


def _spread(interval: Interval, level: float) -> float:
    """Return the relative standard error of a mean, from its confidence interval at a level."""
    if interval.mean is None or interval.half_width is None or interval.mean <= 0.0:
        return _SINGLE
    error = interval.half_width / student_quantile(level, max(interval.n - 1, 1))
    return min(error / interval.mean, 1.0)


def _shares(
    means: Simulation,
) -> tuple[dict[tuple[str, str], float], dict[tuple[str, str], float], dict[tuple[str, str], str]]:
    goodputs: dict[tuple[str, str], float] = {}
    delays: dict[tuple[str, str], float] = {}
    names: dict[tuple[str, str], str] = {}
    for group, parts in means.groups.items():
        for part in ("download", "upload"):
            metrics = parts.get(part)
            if metrics is None:
                continue
            goodput = metrics["goodput_bps"].mean
            if goodput is not None:
                goodputs[group, part] = goodput
            for name in _FELT:
                one = metrics.get(name)
                if one is not None and one.mean is not None:
                    delays[group, part] = one.mean
                    names[group, part] = name
                    break
    return goodputs, delays, names

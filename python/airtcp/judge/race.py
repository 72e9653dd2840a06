"""Race candidates: find the best change on common random numbers and within a budget.

The race is sequential halving (Karnin, Koren, Somekh 2013, "Almost optimal exploration in
multi-armed bandits", algorithm 1), with a larger factor of elimination. Each round has a part of
the budget. It simulates all remaining candidates on the random numbers of the unchanged scenario,
for as long as that part allows, and drops the worse ones by `Outcome.score`. Budgets count the
core's work, never time, so the result depends only on scenario and seed. Short runs flatter
changes, so a final of long runs decides, and its best single change is paired with every other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import combinations, islice, product
from typing import TYPE_CHECKING, Final

from airtcp.judge.candidates import BOUGHT, COSTS, EASY, Candidate, once, pair
from airtcp.judge.outcome import FEWER, Outcome, outcome
from airtcp.scenario.alone import cell_alone

if TYPE_CHECKING:
    from airtcp.results import Provenance, Replication
    from airtcp.results.verdict import Target
    from airtcp.run.points import Points
    from airtcp.scenario import Scenario

#: The parts of the budget: every single change; the best of them; the final; pairs.
_PARTS: Final = (0.30, 0.22, 0.22, 0.26)
#: The part of the work for pairs in which all are simulated.
_FIRST: Final = 0.6
#: Survivors of the first round: at least `_KEPT`, and at least this part of all candidates.
_KEPT: Final = 6
_KEPT_PART: Final = 0.25
#: Number of pairs that race beside those with the best change.
_PAIRS: Final = 7
#: Number of pairs with hardware that join the finalists if these miss a target.
_BOUGHT_PAIRS: Final = 3
#: Number of candidates in the final, and of pairs that join; the unchanged scenario runs, too.
_FINAL: Final = 3
#: Replications of the final, and their maximum length relative to the scenario's own.
_RUNS: Final = 3
_LONGEST: Final = 3.0
#: The most candidates that are reconsidered after the final.
_RECONSIDERED: Final = 6
#: Shortest measured time of a race in seconds, and the part of a short run that is warm-up.
_SHORTEST_S: Final = 2.0
_WARMUP_PART: Final = 0.25
#: Below these expected misses and this worst ratio all targets are met with a margin: no pair is
#: needed.
_NO_MISS: Final = 0.2
_ROOM: Final = 0.85
#: Variants whose expected misses differ by less than this are equally good.
INDIFFERENT: Final = 0.5
#: Variants are alike if expected misses differ by at most `_NO_WORSE` and the worst ratio is within
#: this factor, or both are below `_ROOM`.
_NO_WORSE: Final = 0.15
_ALIKE: Final = 1.1
#: A change is as good as a pair that contains it up to this factor of the worst ratio, and if their
#: expected misses differ by less than `INDIFFERENT`: the other change may gain by chance.
_PART: Final = 1.25
AS_IS: Final = ""


def cost(run: Replication) -> float:
    """Count the core's work for a replication: transmission attempts, segments, events."""
    counts = run.answer["counts"]
    return float(counts["mac_attempts"] + counts["tcp_segments"] + counts["events"])


@dataclass
class Standing:
    """The result of a candidate so far: its outcome in its longest runs."""

    candidate: Candidate | None
    outcome: Outcome
    runs: tuple[Replication, ...]
    length_s: float
    scenario: Scenario

    def score(self, base: Outcome) -> float:
        """Return a score; lower is better."""
        return self.outcome.score(base)

    def corrected(self, factors: Mapping[str, float]) -> Standing:
        """Return this standing with the ratios of its targets multiplied."""
        return replace(self, outcome=self.outcome.corrected(factors))


@dataclass
class Race:
    """A race of candidates against the unchanged scenario.

    `base` is the scenario after its warm-up was found. `asked` are the cells with a target for
    their share of the goodput that they have in isolation. `targets` replaces the scenario's own
    targets. `place` distinguishes races on the same `points`. `limit` is the work up to which
    candidates join the final; with 0 only the budget limits it. `known` is the outcome of the
    unchanged scenario in the whole run, which corrects short runs, and `own` are its replications.
    `standings` has the results by name (`AS_IS` for the unchanged scenario). `left_out` has the
    names for which the budget had no room.
    """

    base: Scenario
    provenance: Provenance
    points: Points[str]
    budget: float
    rate: float
    confidence: float
    whole: bool
    asked: frozenset[str] = frozenset()
    targets: Sequence[Target] | None = None
    place: str = ""
    limit: float = 0.0
    known: Outcome | None = None
    own: Sequence[Replication] = ()
    standings: dict[str, Standing] = field(default_factory=dict)
    bases: dict[str, Standing] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    final: list[str] = field(default_factory=list)
    _spent: float = 0.0

    def run(self, candidates: Sequence[Candidate]) -> None:
        """Race candidates. On Ctrl-C complete results are kept. Raises SimulationError."""
        with suppress(KeyboardInterrupt):
            self.run_to_end(candidates)

    def run_to_end(self, candidates: Sequence[Candidate]) -> None:
        """Race candidates. Raises KeyboardInterrupt, TimeIsOver and SimulationError."""
        tried = self._round("one", list(candidates), 1, self._share(0), most=1.0, fit=True)
        self.left_out += [one.name for one in candidates[len(tried) :]]
        better = self._better(tried)
        self._round("two", better, 1, self._share(1), most=1.0)
        finalists = self._best(better, _FINAL)
        # A setting that does as well as other kinds of changes comes first, so one is a finalist.
        if all(one.cost != "setting" for one in finalists):
            finalists += self._best([one for one in self._tried if one.cost == "setting"], 1)
        self.final = [one.name for one in finalists]
        # The final has its share even if earlier rounds took more work than expected. Short runs
        # measure few pages, so it lasts as long as the scenario's own run if the limit has room.
        left = max(self.budget - self._spent - self._share(3), self._share(2))
        whole = self.own_s * (self.rate + sum(map(self._rate, finalists)))
        room = 0.5 * (self.limit - self._spent)
        self._round("final", finalists, _RUNS, max(left, min(whole, room)), most=_LONGEST)
        self._reconsider()
        self._combine()

    def _reconsider(self) -> None:
        """Simulate dropped candidates as long as finalists, while they looked better than these.

        Short runs flatter what makes a network slow down later, so a finalist may turn out worse
        than a candidate that was dropped.
        """
        for _ in range(_RECONSIDERED):
            finalists = [self.standings[name] for name in self.final]
            dropped = [
                one for name, one in self.standings.items() if name not in (AS_IS, *self.final)
            ]
            if not finalists or not dropped:
                return
            best = min(self._score(one) for one in finalists)
            next_one = min(dropped, key=self._score)
            if best < FEWER or self._score(next_one) > best - FEWER:
                return
            assert next_one.candidate is not None
            self.challenge([next_one.candidate])

    def _combine(self) -> None:
        """Race pairs against the finalists, unless the best one leaves room to all bounds.

        The best finalist is paired with every other change: what it removes may have hidden what
        the other change removes. Other pairs are those whose parts meet most targets together.
        """
        best = self.best_finalist()
        if best is None:
            return
        found = self._standing(best).outcome
        if found.expected_misses <= _NO_MISS and found.worst <= _ROOM:
            return
        changes = self._effective
        others = [(best, one) for one in self._tried if one is not best]
        pairs = [*self._pairs(combinations(changes, 2), _PAIRS), *self._pairs(others, len(others))]
        tried = self._round("pairs", once(pairs), 1, _FIRST * self._share(3), most=1.0, fit=True)
        better = self._better(tried)
        self._round("better pairs", better, 1, (1.0 - _FIRST) * self._share(3), most=1.0)
        self.challenge(self._best(better, _FINAL))
        self._reconsider()

    def buy(self) -> None:
        """Add the most promising pairs with hardware, if the best finalist misses a target."""
        best = self.best_finalist()
        if best is None or self._standing(best).outcome.measured_misses < INDIFFERENT:
            return
        changes = self._effective
        bought = [one for one in changes if one.cost in BOUGHT]
        free = [one for one in changes if one.cost in EASY]
        pairs = self._pairs(product([best], bought), 1, bought=True)
        pairs += self._pairs(product(free, bought), _BOUGHT_PAIRS, bought=True)
        self.challenge(once(pairs))

    def best_finalist(self) -> Candidate | None:
        """Return the best finalist: hardware only if there is no other."""
        finalists = self.finalists()
        return next((one for one in finalists if one.cost in EASY), next(iter(finalists), None))

    def finalists(self) -> list[Candidate]:
        """Return the finalists, best first."""
        return self._in_order([one for one in self._tried if one.name in self.final])

    def challenge(self, candidates: Iterable[Candidate]) -> None:
        """Simulate candidates as long as the finalists, and add them to these.

        Candidates beyond the work limit are left out.
        """
        new = [one for one in candidates if one.name not in self.final]
        if not new or not self.final:
            return
        first = self.standings[self.final[0]]
        whole_s = first.scenario.run.whole_s
        if self.limit:
            each = sum(map(cost, first.runs))
            new = new[: max(0, int((self.limit - self._spent) / each))]
        if new:
            self.final += [one.name for one in new]
            self._simulate("final", new, len(first.runs), whole_s)

    @property
    def _effective(self) -> list[Candidate]:
        """The single changes that have an effect."""
        return [one for one in self._tried if len(one.remedies) == 1 and self._has_effect(one)]

    def _has_effect(self, one: Candidate) -> bool:
        """Return True if a candidate has another outcome than the unchanged scenario."""
        base, now = self.change(one)
        return now != base

    def ranked(self) -> list[Candidate]:
        """Return all tried candidates, finalists first.

        In each part, the cheapest of several similar candidates comes first.
        """
        rest = [one for one in self._tried if one.name not in self.final]
        return [*self.finalists(), *self._in_order(rest)]

    @property
    def _tried(self) -> list[Candidate]:
        return [one.candidate for one in self.standings.values() if one.candidate is not None]

    def _in_order(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        left, found = list(candidates), []
        while left:
            best = min(left, key=self._key)
            alike = [one for one in left if one is best or self._is_alike(one, best)]
            found.append(min(alike, key=self._price))
            left.remove(found[-1])
        return found

    def _key(self, one: Candidate) -> tuple[float, float, int, float]:
        """Sort key of candidates: fewest missed and broken targets, worst ratio, harm, score."""
        base, now = self.change(one)
        return self.misses(one), now.worst, now.harm(base), now.score(base)

    def _price(self, one: Candidate) -> tuple[int, int, int, int]:
        """Sort key of similar candidates: cost, harm, and the effort of the change."""
        base, now = self.change(one)
        return COSTS.index(one.cost), now.harm(base), *one.effort

    def misses(self, one: Candidate) -> int:
        """Return the missed and broken targets of a candidate, in halves of a target."""
        base, now = self.change(one)
        broken = len(now.breaks(base)) + len(now.halved(base))
        return round(2.0 * (now.expected_misses + broken))

    def _is_alike(self, one: Candidate, best: Candidate) -> bool:
        """Return True if a candidate equals the best, within noise, and nobody loses half."""
        (base, mine), (its_base, its) = self.change(one), self.change(best)
        if one.is_part_of(best):
            more, factor = INDIFFERENT, _PART
            is_sure = mine.counted[1] <= its.counted[1]
        else:
            more, factor = _NO_WORSE, _ALIKE
            is_sure = mine.counted[0] >= its.counted[0]
        return (
            is_sure
            and mine.expected_misses <= its.expected_misses + more
            and mine.worst <= max(factor * its.worst, _ROOM)
            and len(mine.below_half(base)) <= len(its.below_half(its_base))
            and not mine.breaks(base)
            and not mine.halved(base)
        )

    def improves(self, one: Candidate) -> bool:
        """Return True if a candidate improves on the unchanged scenario and breaks no target."""
        base, now = self.change(one)
        return now.improves(base) and not now.breaks(base)

    def halves(self, one: Candidate) -> bool:
        """Return True if a candidate costs a group half of its goodput."""
        base, now = self.change(one)
        return bool(now.halved(base))

    def look(self, candidates: Sequence[Candidate], runs: int, share: float) -> None:
        """Simulate candidates once without a race, and add them to `standings`."""
        self._round(f"look {runs}", candidates, runs, share, most=1.0)

    def change(self, one: Candidate) -> tuple[Outcome, Outcome]:
        """Return the outcomes without and with a candidate, on the same random numbers."""
        return self.bases[one.name].outcome, self._standing(one).outcome

    def _share(self, place: int) -> float:
        return _PARTS[place] * self.budget

    def _standing(self, one: Candidate) -> Standing:
        return self.standings[one.name]

    def _rate(self, one: Candidate) -> float:
        """Return the core's work for a simulated second of a candidate, as far as it is known."""
        known = self.standings.get(one.name)
        if known is None:
            return self.rate
        return sum(map(cost, known.runs)) / (len(known.runs) * known.scenario.run.whole_s)

    def _score(self, one: Standing) -> float:
        """Return the score of a candidate against the unchanged scenario of the same round."""
        assert one.candidate is not None
        return one.score(self.bases[one.candidate.name].outcome)

    def _best(self, candidates: Sequence[Candidate], number: int) -> list[Candidate]:
        """Return the best candidates, scored against the unchanged scenario of the same round."""

        def key(one: Candidate) -> tuple[float, int]:
            return self._score(self._standing(one)), len(one.remedies)

        known = [one for one in candidates if one.name in self.standings]
        return sorted(known, key=key)[:number]

    def _better(self, tried: Sequence[Candidate]) -> list[Candidate]:
        """Return the survivors of a first round."""
        return self._best(tried, max(_KEPT, math.ceil(_KEPT_PART * len(tried))))

    def _round(
        self,
        name: str,
        candidates: Sequence[Candidate],
        runs: int,
        share: float,
        *,
        most: float,
        fit: bool = False,
    ) -> list[Candidate]:
        """Simulate candidates and the unchanged scenario, as long as a share of the budget allows.

        `most` is the maximum length relative to the scenario's own. With `fit`, candidates for
        which the share has no room are left out.
        """
        candidates = list(candidates)
        if not candidates:
            return []
        own_s = self.own_s
        rate = self.rate + sum(map(self._rate, candidates))
        room_s = share / (rate * runs)
        if fit and room_s < _SHORTEST_S and not self.whole:
            room = max(1, int(share / (self.rate * _SHORTEST_S)) - 1)
            candidates = candidates[:room]
            room_s = _SHORTEST_S
        while runs > 1 and room_s < own_s:
            runs -= 1
            room_s = share / (rate * runs)
        length_s = own_s if self.whole else min(max(room_s, min(_SHORTEST_S, own_s)), most * own_s)
        self._simulate(name, candidates, runs, length_s)
        return candidates

    def _simulate(
        self, name: str, candidates: Sequence[Candidate], runs: int, length_s: float
    ) -> None:
        """Simulate candidates and the unchanged scenario, and store how they stand."""
        keys = {f"{self.place}{name}: {one.name}": one for one in candidates}
        base_key = f"{self.place}{name}: unchanged"
        scenarios = {base_key: self.of_length(self.base, length_s)}
        for key, one in keys.items():
            scenarios[key] = self.of_length(one.changed.scenario, length_s)
        for key, scenario in scenarios.items():
            self.points.add(key, scenario)
        if scenarios[base_key].run == self.base.run and len(self.own) >= runs:
            self.points.know(base_key, self.own[:runs])
        alone = {key: self._alone(key, one) for key, one in scenarios.items()}
        wanted = dict.fromkeys(scenarios, runs)
        for cells in alone.values():
            wanted |= dict.fromkeys(cells.values(), runs)
        before = self._work(wanted)
        self.points.run(wanted)
        self._spent += self._work(wanted) - before
        base = self._judged(base_key, None, scenarios[base_key], alone[base_key], None)
        found = {
            one.name: self._judged(key, one, scenarios[key], alone[key], base.outcome)
            for key, one in keys.items()
        }
        factors = self.corrections(base.outcome)
        base = base.corrected(factors)
        self.standings[AS_IS] = base
        for name, standing in found.items():
            self.standings[name] = standing.corrected(factors)
            self.bases[name] = base

    def _work(self, keys: Iterable[str]) -> float:
        """Return the work of the runs that are there."""
        return sum(cost(run) for key in keys for run in self.points.ended(key))

    def corrections(self, base: Outcome) -> dict[str, float]:
        """Return by target the factor from a short run of the scenario to the whole run."""
        return {} if self.known is None else base.corrections(self.known)

    def _judged(
        self,
        key: str,
        candidate: Candidate | None,
        scenario: Scenario,
        alone: Mapping[str, str],
        base: Outcome | None,
    ) -> Standing:
        runs = self.points.ended(key)
        goodputs = {
            cell: [
                float(run.answer["metrics"]["goodput_bps"] or 0.0)
                for run in self.points.ended(of_cell)
            ]
            for cell, of_cell in alone.items()
        }
        found = outcome(
            scenario,
            self.provenance,
            runs,
            confidence=self.confidence,
            alone=goodputs,
            base=base,
            targets=self.targets,
        )
        of_base = {group.name: group.count for group in self.base.stations}
        found = found.for_as_many(
            {group.name: of_base[group.name] / group.count for group in scenario.stations}
        )
        run = scenario.run
        return Standing(candidate, found, tuple(runs), run.duration_ns / 1e9, scenario)

    def _alone(self, key: str, scenario: Scenario) -> dict[str, str]:
        """Add runs of the cells in `asked`, each in isolation, and return their keys."""
        names = [cell.name for cell in scenario.cells or ()]
        found = {}
        for place, cell in enumerate(names):
            if cell in self.asked and len(names) > 1:
                found[cell] = f"{key}, {cell} alone"
                self.points.add(found[cell], cell_alone(scenario, place))
        return found

    @property
    def own_s(self) -> float:
        """The length of the scenario's own runs in seconds, including warm-up."""
        return self.base.run.whole_s

    def of_length(self, scenario: Scenario, length_s: float) -> Scenario:
        """Return a scenario that is simulated for `length_s` seconds, including warm-up."""
        own = self.base.run
        warmup_ns = own.warmup_ns or 0
        if length_s < own.whole_s:
            warmup_ns = min(warmup_ns, round(_WARMUP_PART * length_s * 1e9))
        if self.whole:
            return scenario.with_run(warmup_ns=own.warmup_ns, duration_ns=own.duration_ns)
        return scenario.with_run(
            warmup_ns=warmup_ns, duration_ns=max(1, round(length_s * 1e9) - warmup_ns)
        )

    def _pairs(
        self, pairs: Iterable[tuple[Candidate, Candidate]], number: int, *, bought: bool = False
    ) -> list[Candidate]:
        """Return the most promising pairs, if each target had the better value of the two.

        Without `bought` those with hardware are left out.
        """
        allowed = (*EASY, *BOUGHT) if bought else EASY
        known = [both for both in pairs if all(one.cost in allowed for one in both)]
        known.sort(key=lambda both: self._promise(*both))
        found = (pair(self.base, one, other) for one, other in known)
        return list(islice((one for one in found if one is not None), number))

    def _promise(self, one: Candidate, other: Candidate) -> tuple[float, float]:
        """Return expected misses and worst ratio if each target had the better value of the two."""
        mine, its = self._standing(one).outcome, self._standing(other).outcome
        both = list(zip(mine.targets, its.targets, strict=True))
        misses = sum(min(a.miss, b.miss) for a, b in both)
        worst = max(
            (min(a.ratio, b.ratio) for a, b in both if a.ratio is not None and b.ratio is not None),
            default=0.0,
        )
        alone = min(
            self._standing(each).score(self.bases[each.name].outcome) for each in (one, other)
        )
        return round(misses, 1), worst + 0.1 * alone

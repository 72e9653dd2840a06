"""Find the cause of missed targets: the smallest set of counterfactuals that restores them.

Each counterfactual is simulated once, on the random numbers of the unchanged scenario. If none
restores every target, pairs of the best ones are simulated, too. The leading cause is simulated
again, as long as the finalists of the race, with whose outcomes users compare it. Endless transfers
without a target have a limit instead: the counterfactual that raises their goodput most.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from airtcp.judge.candidates import EASY, Candidate, once, pair
from airtcp.judge.counterfactual import PROBLEMS, RANK, Counterfactual, counterfactuals
from airtcp.judge.outcome import FEWER, SMALLER, Outcome, outcome
from airtcp.results.advice import Cause

if TYPE_CHECKING:
    from airtcp.judge.race import Race
    from airtcp.scenario import Scenario

    _Found = tuple[Counterfactual, Cause]

#: Number of counterfactuals tried in pairs, and number of causes listed.
_PAIRED: Final = 4
_LISTED: Final = 3
_SHORTEST_S: Final = 2.0
#: The number of finalists that a change which removes a cause joins.
_JOINED: Final = 2
#: The most leading causes that are simulated as long as the finalists.
_CONFIRMED: Final = 4
#: A standing queue hides other causes, such as a window that is too small. So each of the best
#: counterfactuals is also paired with these.
_QUEUES: Final = frozenset({"ap-queue", "link-queue"})
#: Causes that are traffic, which limits no transfer by a mechanism.
_TRAFFIC: Final = frozenset({"without", "load"})
#: Causes whose gains are within this factor of the largest one are similar.
_SIMILAR: Final = 0.9


def causes(race: Race, budget: float) -> tuple[Cause, ...]:
    """Return the counterfactuals that restore most targets, the best first.

    `budget` is the core's work for all of them together. Raises the errors of `Points.run`.
    """
    tried = counterfactuals(race.base)
    if not tried:
        return ()
    length_s = _length_s(race, tried, budget)
    base, seen = _seen(race, "cause", tried, length_s)
    found = [(one, cause) for one in tried if (cause := _cause(one, base, seen[one.key]))]
    if all(cause.met < cause.of for _, cause in found):
        best = [one for one, _ in _in_order(found)]
        best += [one for one in tried if one not in best and _restores(base, seen[one.key])]
        pairs = list(_pairs(best[:_PAIRED]))
        if pairs:
            _, both = _seen(race, "causes", pairs, length_s)
            found += [(one, cause) for one in pairs if (cause := _cause(one, base, both[one.key]))]
    return tuple(cause for _, cause in _confirmed(race, found)[:_LISTED])


def _confirmed(race: Race, found: list[_Found]) -> list[_Found]:
    """Sort causes, after the leading one has been simulated as long as the finalists."""
    order = _in_order(found)
    if race.whole or not race.final:
        return order
    finalist = race.standings[race.final[0]]
    length_s, runs = finalist.scenario.run.whole_s, len(finalist.runs)
    confirmed: set[str] = set()
    while order and order[0][0].key not in confirmed and len(confirmed) < _CONFIRMED:
        leading = order[0][0]
        confirmed.add(leading.key)
        base, seen = _seen(race, "confirm", [leading], length_s, runs)
        cause = _cause(leading, base, seen[leading.key])
        order = _in_order(([(leading, cause)] if cause else []) + order[1:])
    return order


def limits(
    race: Race, budget: float, transfers: Collection[tuple[str, str]], least: float
) -> tuple[Cause, ...]:
    """Return what limits endless transfers: counterfactuals by the gain in their goodput.

    `transfers` are groups with directions. Gains below `least` do not count. Others' traffic and
    the number of stations are no limits. Raises the errors of `Points.run`.
    """
    tried = [one for one in counterfactuals(race.base) if one.problem not in _TRAFFIC]
    if not tried:
        return ()
    base, seen = _seen(race, "limit", tried, _length_s(race, tried, budget))
    found = []
    for one in tried:
        after = seen[one.key].goodputs
        kept = [who for who in transfers if who in after]
        before_bps, after_bps = (sum(each[who] for who in kept) for each in (base.goodputs, after))
        gain = after_bps / before_bps if before_bps else 0.0
        if gain > least:
            limit = Cause(one.problem, one.each, 0, 0, 0, 0.0, 0.0, gain, before_bps, after_bps)
            found.append(limit)
    most = max((one.gain for one in found), default=0.0)
    # Of similar limits, the more specific one comes first.
    found.sort(key=lambda one: (one.gain < _SIMILAR * most, RANK[one.problem]))
    return tuple(found[:_LISTED])


def fixes(found: Sequence[Cause], race: Race) -> Iterator[Candidate]:
    """Yield the changes that remove causes which cost more targets than the best finalist does.

    A change of one of two causes may look bad as long as the other one remains, so it also joins
    the best single settings of the final, which may remove that.
    """
    least = min((race.standings[name].outcome.measured_misses for name in race.final), default=0.0)
    easy = [one for one in race.finalists() if len(one.remedies) == 1 and one.cost in EASY]
    for cause in found:
        if cause.of - cause.met + FEWER > least:
            continue
        names = [PROBLEMS[problem].get("fix", "") for problem in cause.problem.split(" + ")]
        tried = [race.standings[name].candidate for name in names if name in race.standings]
        singles = [one for one in tried if one is not None]
        if len(names) == 1:
            yield from singles
            continue
        parts = [singles] if len(singles) == len(names) else []
        parts += [[best, one] for one in singles for best in easy[:_JOINED] if best is not one]
        both = (pair(race.base, *each) for each in parts)
        yield from once(one for one in both if one is not None)


def _length_s(race: Race, tried: Sequence[Counterfactual], budget: float) -> float:
    """Return the length of runs for which a budget has room."""
    room_s = budget / (race.rate * (len(tried) + 2))
    return race.own_s if race.whole else min(race.own_s, max(room_s, _SHORTEST_S))


def _seen(
    race: Race, name: str, tried: Sequence[Counterfactual], length_s: float, runs: int = 1
) -> tuple[Outcome, dict[str, Outcome]]:
    """Simulate counterfactuals; return the outcome of the unchanged scenario and of each."""
    scenarios: dict[str, Scenario] = {"": race.base} | {one.key: one.scenario for one in tried}
    cut: Mapping[str, Scenario] = {
        key: race.of_length(one, length_s) for key, one in scenarios.items()
    }
    for key, scenario in cut.items():
        race.points.add(f"{name}: {key}", scenario)
    race.points.run({f"{name}: {key}": runs for key in cut})
    seen = {
        key: outcome(
            scenario,
            race.provenance,
            race.points.ended(f"{name}: {key}"),
            confidence=race.confidence,
        )
        for key, scenario in cut.items()
    }
    factors = race.corrections(seen[""])
    seen = {key: one.corrected(factors) for key, one in seen.items()}
    return seen.pop(""), seen


def _pairs(best: Sequence[Counterfactual]) -> Iterator[Counterfactual]:
    """Yield pairs: for each of the best, the others applied to its scenario."""
    for place, one in enumerate(best):
        wanted = {other.key for other in best[place + 1 :]} | _QUEUES
        for two in counterfactuals(one.scenario, wanted - {one.key}):
            if "load" not in (one.problem, two.problem):
                yield Counterfactual(
                    f"{one.problem} + {two.problem}", (*one.each, *two.each), two.scenario
                )


def _in_order(found: Sequence[_Found]) -> list[_Found]:
    """Sort causes: most targets restored first, then single causes, then the more specific ones.

    Of single causes that restore no target, those with the largest gain come first.
    """
    singles = [one for _, one in found if "+" not in one.problem and one.problem != "load"]
    most = max((one.gain for one in singles if one.met <= one.met_before), default=0.0)

    def key(one: _Found) -> tuple[int, bool, int, bool, int, float]:
        cause = one[1]
        parts = cause.problem.split(" + ")
        return (
            cause.met_before - cause.met,
            "load" in parts,
            len(parts),
            cause.met <= cause.met_before and cause.gain < _SIMILAR * most,
            max(RANK[part] for part in parts),
            cause.worst,
        )

    return sorted(found, key=key)


def _restores(base: Outcome, now: Outcome) -> bool:
    """Return True if a missed target is met, whatever happens to the other targets."""
    missed = {one.text for one in base.targets if one.miss > 0.5}
    return any(one.text in missed and one.miss < 0.5 for one in now.targets)


def _cause(one: Counterfactual, base: Outcome, now: Outcome) -> Cause | None:
    """Return which targets a counterfactual restores, or None if it restores none."""
    before = {each.text: each for each in base.targets}
    both = [(before[each.text], each) for each in now.targets if each.text in before]
    if not both:
        return None
    met_before = sum(old.miss < 0.5 for old, _ in both)
    met = sum(new.miss < 0.5 for _, new in both)
    # A target that one of the two did not measure says nothing about the distance to bounds.
    known = [
        (old.ratio, new.ratio)
        for old, new in both
        if old.ratio is not None and new.ratio is not None
    ]
    worst_before, worst = (max(each) for each in zip(*known, strict=True)) if known else (0.0, 0.0)
    if met < met_before or (met == met_before and worst >= SMALLER * worst_before):
        return None
    gain = min(worst_before / worst, 1e6) if worst > 0.0 else 1.0
    return Cause(one.problem, one.each, met_before, met, len(both), worst_before, worst, gain)

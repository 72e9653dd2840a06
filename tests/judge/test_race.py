"""The race between changes: the same on any number of threads, within its budget, with pairs."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import airtcp
import pytest
from airtcp.judge.candidates import Candidate, singles
from airtcp.judge.causes import fixes
from airtcp.judge.outcome import Outcome
from airtcp.judge.race import Race, Standing, cost
from airtcp.judge.recommend import odds
from airtcp.remedies import catalogue, named
from airtcp.results import SimulationResult
from airtcp.results.advice import Cause
from airtcp.run.points import Points
from airtcp.scenario import Scenario
from test_causes import BULK, LINUX, SPEECH, flow
from test_outcome import of

#: Calls next to downloads through a long queue.
DESK = flow("desk", "download", BULK, tcp=LINUX, path=[{"delay": "10 ms"}])
OFFICE: dict[str, Any] = {
    "phy": {"standard": "802.11g"},
    "ap": {"queue": {"limit": 1000}},
    "stations": [{"name": "desk", "count": 2}, {"name": "caller", "count": 1}],
    "flows": [DESK, flow("caller", "both", SPEECH)],
    "targets": {"caller p95 packet_delay": "< 50 ms", "desk goodput": "> 10 Mb/s"},
    "run": {"warmup": "500 ms", "duration": "4 s", "replications": 2},
}
#: Calls and downloads through a slow link that loses packets.
SLOW: dict[str, Any] = OFFICE | {
    "phy": {"standard": "802.11ax", "channel_width": "20 MHz"},
    "links": {"line": {"rate": "40 Mb/s", "loss": "1 %"}},
    "flows": [DESK | {"path": ["line"]}, OFFICE["flows"][1]],
}


@pytest.fixture(scope="module")
def office() -> SimulationResult:
    return airtcp.simulate(airtcp.load(OFFICE))


@pytest.fixture(scope="module")
def slow() -> Scenario:
    return named(airtcp.load(SLOW))


def written(result: SimulationResult) -> Scenario:
    base: Any = result.scenario
    return named(base)


def every(result: SimulationResult) -> list[Candidate]:
    return singles(written(result))[0]


def raced(result: SimulationResult, budget: float, threads: int | None = None) -> Race:
    base = written(result)
    rate = sum(map(cost, result.simulation.runs)) / (4.5 * len(result.simulation.runs))
    with Points[str](1, threads=threads) as points:
        race = Race(base, result.provenance, points, budget, rate, 0.95, whole=False)
        race.run(every(result))
    return race


@pytest.fixture(scope="module")
def race(office: SimulationResult) -> Race:
    return raced(office, 4e6)


@pytest.mark.slow
def test_the_order_is_the_same_on_any_number_of_threads(office, race):
    other = raced(office, 4e6, threads=1)

    assert [one.name for one in other.ranked()] == [one.name for one in race.ranked()]
    one, two = ({name: one.outcome for name, one in of.standings.items()} for of in (race, other))
    assert one == two


def test_everything_is_tried_once_and_the_final_has_the_longest_runs(office, race):
    assert race.left_out == []
    assert {one.name for one in every(office)} <= set(race.standings)
    assert 1 <= len(race.final) <= 3
    lengths_s = [one.length_s for one in race.standings.values()]
    assert {race.standings[name].length_s for name in race.final} == {max(lengths_s)}
    # Changes that dropped out have shorter runs.
    assert min(lengths_s) < max(lengths_s)


def test_what_the_budget_has_no_room_for_is_left_out(office: SimulationResult) -> None:
    """The cheapest kinds of changes are tried first."""
    small = raced(office, 4e5)
    names = [one.name for one in every(office)]

    assert small.left_out
    tried = set(names) - set(small.left_out)
    assert tried == set(names[: len(tried)])
    assert tried <= set(small.standings)
    assert not set(small.left_out) & set(small.standings)


def ended(outcomes: dict[str, Outcome], base: Outcome, finalists: int = 9) -> Race:
    """Return a race whose changes and pairs have these outcomes; the first were in the final."""
    remedies = {one.name: one for one in catalogue()}
    anything: Any = None
    race: Race = Race.__new__(Race)
    race.final = list(outcomes)[:finalists]
    race.standings, race.bases = {}, {}
    for name, found in outcomes.items():
        one = Candidate(tuple(remedies[each] for each in name.split(" + ")), anything)
        race.standings[name] = Standing(one, found, (), 1.0, anything)
        race.bases[name] = Standing(None, base, (), 1.0, anything)
    return race


@pytest.mark.parametrize(
    ("longer", "final"),
    [
        (0.2, ["codel", "red"]),  # the favourite is as good as it looked: nothing else is tried
        (2.0, ["codel", "red", "airtime"]),  # the favourite is worse, so the next best is tried
    ],
)
def test_a_dropped_candidate_is_reconsidered_if_it_looked_better_than_all_finalists(
    longer: float, final: list[str], slow: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    race = ended({name: of(0.9) for name in ("codel", "red", "airtime", "txop")}, of(3.0), 1)
    race.standings["codel"].outcome = of(1.5)
    race.limit, race._spent = 0.0, 0.0
    outcomes = {"red": of(longer), "airtime": of(0.1)}

    def simulate(_: Race, __: str, new: list[Candidate], *___: float) -> None:
        for one in new:
            race.standings[one.name].outcome = outcomes[one.name]

    monkeypatch.setattr(Race, "_simulate", simulate)
    for one in race.standings.values():
        one.scenario = slow
    race._reconsider()

    assert race.final == final


def pages(ratio: float | None) -> Outcome:
    """Return an outcome with one target, on page times."""
    (one,) = of(ratio).targets
    return replace(of(), targets=(replace(one, text="desk p90 page_time < 4 s"),))


@pytest.mark.parametrize(
    ("short", "factor"),
    [(0.75, 2.0), (1.5, 1.0), (2.0, 0.75), (0.1, 2.0), (30.0, 0.5), (0.0, None), (None, None)],
)
def test_the_whole_run_corrects_short_runs_by_a_factor_of_at_most_two(short, factor):
    found = pages(short).corrections(pages(1.5))

    assert list(found.values()) == ([] if factor is None else [factor])
    if factor is not None:
        assert pages(short).corrected(found).worst == short * factor
    # Goodput is not corrected: either of two hidden stations may win, also in a short run.
    assert of(short).corrections(of(1.5)) == {}


SETTING, SPECTRUM = "fq-codel", "wider-channel"
EVERYWHERE, HERE = "window-8-everywhere", "managed-queue"
PART, PAIR = "codel", "codel + wider-channel"


@pytest.mark.parametrize(
    ("one", "ratios", "kept", "other", "others", "first"),
    [
        # The setting is as good: both changes leave 15 % to every bound, and no group loses half of
        # its goodput.
        (SETTING, (0.5, 0.5), 0.8, SPECTRUM, (0.2, 0.2), SETTING),
        (SETTING, (0.84, 0.5), 0.8, SPECTRUM, (0.2, 0.2), SETTING),
        (SETTING, (0.86, 0.5), 0.8, SPECTRUM, (0.2, 0.2), SPECTRUM),
        (SETTING, (2.0, 0.5), 0.8, SPECTRUM, (0.2, 0.2), SPECTRUM),  # misses one more
        # Odds of a miss of .72 and of .34 are no small difference.
        (SETTING, (1.03, 0.5), 0.8, SPECTRUM, (0.98, 0.5), SPECTRUM),
        # If both miss a target, a difference of a tenth does not count.
        (SETTING, (1.64, 0.5), 0.8, SPECTRUM, (1.5, 0.5), SETTING),
        (SETTING, (1.66, 0.5), 0.8, SPECTRUM, (1.5, 0.5), SPECTRUM),
        (SETTING, (0.5, 0.5), 0.51, SPECTRUM, (0.2, 0.2), SETTING),
        (SETTING, (0.5, 0.5), 0.49, SPECTRUM, (0.2, 0.2), SPECTRUM),
        # Of equally good settings, one of the access point comes before one of all clients and
        # servers.
        (EVERYWHERE, (0.5, 0.5), 1.0, HERE, (0.84, 0.5), HERE),
        (EVERYWHERE, (0.5, 0.5), 1.0, HERE, (0.86, 0.5), EVERYWHERE),
        # A pair must be better by a quarter than its part, and by a tenth than another change.
        (PAIR, (1.4, 0.5), 1.0, PART, (1.74, 0.5), PART),
        (PAIR, (1.4, 0.5), 1.0, PART, (1.76, 0.5), PAIR),
        (PAIR, (1.4, 0.5), 1.0, PART, (1.6, 1.4), PAIR),  # misses one more
        (PAIR, (1.4, 0.5), 1.0, SETTING, (1.6, 0.5), PAIR),
    ],
)
def test_the_order_of_changes_that_do_nearly_as_well(one, ratios, kept, other, others, first):
    who = ("backup", "upload")
    finalists = {
        name: of(*each, goodputs={who: bps}, promised=(who,))
        for name, each, bps in ((one, ratios, kept * 1e6), (other, others, 1e6))
    }
    base = of(2.0, 2.0, goodputs={who: 1e6}, promised=(who,))
    assert ended(finalists, base).ranked()[0].name == first


REMOVE_BOTH = ["sound-wire + wire-fq-codel", "codel + sound-wire", "codel + wire-fq-codel"]


@pytest.mark.parametrize(
    ("problem", "misses", "tried"),
    [
        ("link-loss + link-queue", 2.0, REMOVE_BOTH),
        ("link-loss", 2.0, ["sound-wire"]),
        ("link-loss + link-queue", 0.5, []),  # a finalist meets both targets
        ("without", 2.0, []),  # no change removes users
        ("without + link-queue", 2.0, ["codel + wire-fq-codel"]),
    ],
)
def test_what_removes_a_cause_is_tried_if_all_finalists_miss_more(problem, misses, tried, slow):
    """A link without losses fills its queue, so on its own the change looks bad."""
    known = {one.name: one for one in singles(slow)[0]}
    names = ("codel", "sound-wire", "wire-fq-codel")
    race = ended(dict.fromkeys(names, of(misses, misses)), of(3.0, 3.0))
    race.base = slow
    for name, one in race.standings.items():
        one.candidate = known[name]

    # The counterfactual meets both targets; without it neither is met.
    cause = Cause(problem, (), 0, 2, 2, 2.0, 0.5, 4.0)
    assert [one.name for one in fixes([cause], race)] == tried


#: Pairs of the best change, and pairs of the most promising other changes.
BOUGHT = [f"{one} + second-access-point" for one in ("managed-queue", "ap-priority", "codel")]


@pytest.mark.parametrize(
    ("best", "both", "hardware"),
    [
        (2.0, 0.5, []),  # the pair meets all targets
        (2.0, 1.9, BOUGHT),
        (0.5, 0.5, None),  # all targets are met with a margin: no pair is tried
    ],
)
def test_the_best_change_is_paired_with_every_other_and_hardware_comes_last(
    best: float,
    both: float,
    hardware: list[str] | None,
    slow: Scenario,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The link's queue only matters once the access point's queue is managed."""
    known = {one.name: one for one in singles(slow)[0]}
    # CoDel changes the same key as the best change.
    others = {"ap-priority": 2.4, "codel": 2.4, "wire-fq-codel": 3.0, "second-access-point": 2.8}
    outcomes = {name: of(ratio, ratio) for name, ratio in others.items()}
    race = ended({"managed-queue": of(best, 0.5)} | outcomes, of(3.1, 3.1), finalists=1)
    counts = {"mac_attempts": 1e6, "tcp_segments": 0, "events": 0}
    run: Any = SimpleNamespace(answer={"counts": counts})
    for name, one in race.standings.items():
        one.candidate, one.scenario, one.runs = known[name], slow, (run,)
    race.base, race.limit, race.budget, race.rate = slow, 1e9, 1e9, 1.0
    race._spent, race.whole = 0.0, False
    rounds: dict[str, list[str]] = {}

    def simulate(_: Race, name: str, new: list[Candidate], *__: float) -> None:
        rounds.setdefault(name, []).extend(one.name for one in new)
        for one in new:
            found = of(both, 0.5) if "wire-fq-codel" in one.name else of(2.5, 2.5)
            race.standings[one.name] = Standing(one, found, (run,), 1.0, slow)
            race.bases[one.name] = Standing(None, of(3.1, 3.1), (run,), 1.0, slow)

    monkeypatch.setattr(Race, "_simulate", simulate)
    race._combine()
    race.buy()

    if hardware is None:
        assert rounds == {}
        return
    assert {"managed-queue + ap-priority", "managed-queue + wire-fq-codel"} <= {*rounds["pairs"]}
    assert "managed-queue + codel" not in rounds["pairs"]
    assert not [one for one in rounds["pairs"] if "second-access-point" in one]
    assert rounds["final"][0] == "managed-queue + wire-fq-codel"
    assert [one for one in rounds["final"] if "second-access-point" in one] == hardware


@pytest.mark.parametrize(
    ("winner", "others", "low", "high"),
    [
        ((0.5, 0.5), [(2.0, 2.0)], 0.99, 1.0),
        ((1.0, 1.0), [(0.99, 1.0)], 0.0, 0.9),
        ((0.5, 0.5), [], 1.0 - 1e-6, 1.0 + 1e-6),
    ],
)
def test_odds_are_high_only_where_the_winner_is_far_ahead(winner, others, low, high):
    anything: Any = None
    one, *more = (Standing(None, of(*each), (), 1.0, anything) for each in (winner, *others))
    assert low <= odds(one, more, of(2.0, 2.0)) <= high

"""The race: the same on any number of threads, within its budget, with pairs."""

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
from test_outcome import of

#: Calls beside downloads through a long queue, and uploads through a slow link.
OFFICE: dict[str, Any] = {
    "phy": {"standard": "802.11g"},
    "ap": {"queue": {"limit": 1000}},
    "stations": [{"name": "desk", "count": 2}, {"name": "caller", "count": 1}],
    "flows": [
        {
            "stations": "desk",
            "direction": "download",
            "application": {"kind": "bulk"},
            "tcp": {"preset": "linux"},
            "path": [{"delay": "10 ms"}],
        },
        {"stations": "caller", "direction": "both", "application": {"kind": "call"}},
    ],
    "targets": {"caller p95 packet_delay": "< 50 ms", "desk goodput": "> 10 Mb/s"},
    "run": {"warmup": "500 ms", "duration": "4 s", "replications": 2},
}


@pytest.fixture(scope="module")
def office() -> SimulationResult:
    return airtcp.simulate(airtcp.load(OFFICE))


def written(result: SimulationResult) -> Scenario:
    assert isinstance(result.scenario, Scenario)
    return named(result.scenario)


def raced(result: SimulationResult, budget: float, threads: int | None = None) -> Race:
    base = written(result)
    rate = sum(map(cost, result.simulation.runs)) / (4.5 * len(result.simulation.runs))
    with Points[str](1, threads=threads) as points:
        race = Race(base, result.provenance, points, budget, rate, 0.95, whole=False)
        race.run(singles(base)[0])
    return race


@pytest.fixture(scope="module")
def race(office: SimulationResult) -> Race:
    return raced(office, 4e6)


@pytest.mark.slow
def test_the_order_is_the_same_on_any_number_of_threads(
    office: SimulationResult, race: Race
) -> None:
    other = raced(office, 4e6, threads=1)

    assert [one.name for one in other.ranked()] == [one.name for one in race.ranked()]
    assert {name: one.outcome for name, one in other.standings.items()} == {
        name: one.outcome for name, one in race.standings.items()
    }


def test_everything_is_tried_once_and_the_final_has_the_longest_runs(
    office: SimulationResult, race: Race
) -> None:
    tried = {one.name for one in singles(written(office))[0]}

    assert race.left_out == []
    assert tried <= set(race.standings)
    assert 1 <= len(race.final) <= 3
    longest = max(one.length_s for one in race.standings.values())
    assert {race.standings[name].length_s for name in race.final} == {longest}
    # Those that dropped out were not simulated for as long.
    assert min(one.length_s for one in race.standings.values()) < longest


def test_what_the_budget_has_no_room_for_is_left_out(office: SimulationResult) -> None:
    small = raced(office, 4e5)
    every = [one.name for one in singles(written(office))[0]]

    assert small.left_out
    assert set(small.left_out) <= set(every)
    # The cheapest kinds are tried first.
    assert set(every[: len(every) - len(small.left_out)]) <= set(small.standings)
    assert not set(small.left_out) & set(small.standings)


def ended(outcomes: dict[str, Outcome], base: Outcome, finalists: int = 9) -> Race:
    """A race of changes and pairs that had these outcomes; the first ones were in the final."""
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
        (0.2, ["codel", "red"]),  # as good as it looked: nothing else is better
        (2.0, ["codel", "red", "airtime"]),  # worse, so what looked second best is tried
    ],
)
def test_a_dropped_candidate_is_reconsidered_if_it_looked_better_than_all_finalists(
    longer: float, final: list[str]
) -> None:
    race = ended({name: of(0.9) for name in ("codel", "red", "airtime", "txop")}, of(3.0), 1)
    race.standings["codel"].outcome = of(1.5)
    race.limit, race._spent = 0.0, 0.0
    outcomes = {"red": of(longer), "airtime": of(0.1)}

    def simulate(_: Race, __: str, new: list[Candidate], *___: float) -> None:
        for one in new:
            race.standings[one.name].outcome = outcomes[one.name]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Race, "_simulate", simulate)
        for one in race.standings.values():
            one.scenario = named(airtcp.load(SLOW))
        race._reconsider()

    assert race.final == final


def pages(ratio: float | None) -> Outcome:
    """An outcome with one target, of page times."""
    (one,) = of(ratio).targets
    return replace(of(), targets=(replace(one, text="desk p90 page_time < 4 s"),))


@pytest.mark.parametrize(
    ("short", "factor"),
    [(0.75, 2.0), (1.5, 1.0), (2.0, 0.75), (0.1, 2.0), (30.0, 0.5), (0.0, None), (None, None)],
)
def test_the_whole_run_corrects_short_runs_by_a_factor_of_at_most_two(
    short: float | None, factor: float | None
) -> None:
    found = pages(short).corrections(pages(1.5))

    assert list(found.values()) == ([] if factor is None else [factor])
    if short is not None and factor is not None:
        assert pages(short).corrected(found).worst == short * factor
    # Not of goodput: of two hidden stations either may win, and a short run may show the other one.
    assert of(short).corrections(of(1.5)) == {}


@pytest.mark.parametrize(
    ("setting", "kept", "first"),
    [
        ((0.5, 0.5), 0.8, "fq-codel"),  # as good: both leave 15 % to every bound
        ((0.84, 0.5), 0.8, "fq-codel"),
        ((0.95, 0.5), 0.8, "wider-channel"),  # nearer to a bound than the room of 15 %
        ((2.0, 0.5), 0.8, "wider-channel"),  # misses one more
        ((0.5, 0.5), 0.51, "fq-codel"),
        ((0.5, 0.5), 0.49, "wider-channel"),  # a group loses more than half of its goodput
    ],
)
def test_a_setting_comes_first_if_it_does_as_well_and_nobody_loses_half(
    setting: tuple[float, float], kept: float, first: str
) -> None:
    who = ("backup", "upload")
    kept_bps = {who: kept * 1e6}
    finalists = {
        "fq-codel": of(*setting, goodputs=kept_bps, promised=(who,)),
        "wider-channel": of(0.2, 0.2, goodputs=kept_bps | {who: 1e6}, promised=(who,)),
    }
    base = of(2.0, 2.0, goodputs={who: 1e6}, promised=(who,))
    assert ended(finalists, base).ranked()[0].name == first


@pytest.mark.parametrize(
    ("ratio", "first"),
    [
        (0.80, "managed-queue"),  # as good: both leave 15 % to every bound
        (0.90, "window-8-everywhere"),
    ],
)
def test_of_settings_that_do_as_well_that_of_one_access_point_comes_first(
    ratio: float, first: str
) -> None:
    """The other changes every client and server."""
    finalists = {"window-8-everywhere": of(0.5, 0.5), "managed-queue": of(ratio, 0.5)}
    assert ended(finalists, of(2.0, 2.0)).ranked()[0].name == first


@pytest.mark.parametrize(
    ("part", "first"),
    [
        ((1.6, 0.5), "codel"),  # less than a quarter farther from its bound
        ((1.8, 0.5), "codel + wider-channel"),
        ((1.6, 1.4), "codel + wider-channel"),  # misses one more
    ],
)
def test_a_pair_gains_more_than_chance_over_its_part(part: tuple[float, float], first: str) -> None:
    outcomes = {"codel + wider-channel": of(1.4, 0.5), "codel": of(*part)}
    order = [one.name for one in ended(outcomes, of(2.0, 2.0)).ranked()]
    assert order[0] == first
    # Another change has to be nearer.
    other = {"codel + wider-channel": of(1.4, 0.5), "fq-codel": of(1.6, 0.5)}
    assert ended(other, of(2.0, 2.0)).ranked()[0].name == "codel + wider-channel"


SLOW: dict[str, Any] = OFFICE | {
    "phy": {"standard": "802.11ax", "channel_width": "20 MHz"},
    "links": {"line": {"rate": "40 Mb/s", "loss": "1 %"}},
    "flows": [OFFICE["flows"][0] | {"path": ["line"]}, OFFICE["flows"][1]],
}


@pytest.mark.parametrize(
    ("problem", "met", "misses", "tried"),
    [
        (
            "link-loss + link-queue",
            2,
            2.0,
            ["sound-wire + wire-fq-codel", "codel + sound-wire", "codel + wire-fq-codel"],
        ),
        ("link-loss", 2, 2.0, ["sound-wire"]),
        ("link-loss + link-queue", 2, 0.5, []),  # a finalist meets both targets
        ("without", 2, 2.0, []),  # no change removes users
        ("without + link-queue", 2, 2.0, ["codel + wire-fq-codel"]),
    ],
)
def test_what_removes_a_cause_is_tried_if_all_finalists_miss_more(
    problem: str, met: int, misses: float, tried: list[str]
) -> None:
    """A link without losses fills its queue, so alone it looks bad."""
    base = named(airtcp.load(SLOW))
    every = {one.name: one for one in singles(base)[0]}
    race = ended(
        dict.fromkeys(("codel", "sound-wire", "wire-fq-codel"), of(misses, misses)), of(3.0, 3.0)
    )
    race.base = base
    for name, one in race.standings.items():
        one.candidate = every[name]

    # A counterfactual with which `met` of two targets are met, and none without it.
    cause = Cause(problem, (), 0, met, 2, 2.0, 0.5, 4.0)
    assert [one.name for one in fixes([cause], race)] == tried


@pytest.mark.parametrize(
    ("best", "both", "hardware"),
    [
        (2.0, 0.5, []),  # with the pair all targets are met
        (
            2.0,
            1.9,
            [
                "managed-queue + second-access-point",
                # It joins the most promising others, too.
                "ap-priority + second-access-point",
                "codel + second-access-point",
            ],
        ),
        (0.5, 0.5, None),  # all targets are met with a margin: no pair is tried
    ],
)
def test_the_best_change_is_paired_with_every_other_and_hardware_comes_last(
    best: float, both: float, hardware: list[str] | None
) -> None:
    """What the link's queue costs shows only once that of the access point is managed."""
    base = named(airtcp.load(SLOW))
    every = {one.name: one for one in singles(base)[0]}
    others = {
        "ap-priority": of(2.4, 2.4),
        "codel": of(2.4, 2.4),  # it changes the same key as the best
        "wire-fq-codel": of(3.0, 3.0),
        "second-access-point": of(2.8, 2.8),
    }
    race = ended({"managed-queue": of(best, 0.5)} | others, of(3.1, 3.1), finalists=1)
    run: Any = SimpleNamespace(answer={"counts": {"mac_attempts": 1e6}})
    run.answer["counts"] |= {"tcp_segments": 0, "events": 0}
    for name, one in race.standings.items():
        one.candidate, one.scenario, one.runs = every[name], base, (run,)
    race.base, race.limit, race.budget, race.rate = base, 1e9, 1e9, 1.0
    race._spent, race.whole = 0.0, False
    rounds: dict[str, list[str]] = {}

    def simulate(_: Race, name: str, new: list[Candidate], *__: float) -> None:
        rounds.setdefault(name, []).extend(one.name for one in new)
        for one in new:
            found = of(both, 0.5) if "wire-fq-codel" in one.name else of(2.5, 2.5)
            race.standings[one.name] = Standing(one, found, (run,), 1.0, base)
            race.bases[one.name] = Standing(None, of(3.1, 3.1), (run,), 1.0, base)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Race, "_simulate", simulate)
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


def test_odds_are_high_only_where_the_winner_is_far_ahead() -> None:
    anything: Any = None

    def standing(*ratios: float) -> Standing:
        return Standing(None, of(*ratios), (), 1.0, anything)

    base = of(2.0, 2.0)
    assert odds(standing(0.5, 0.5), [standing(2.0, 2.0)], base) > 0.99
    assert odds(standing(1.0, 1.0), [standing(0.99, 1.0)], base) < 0.9
    assert odds(standing(0.5, 0.5), [], base) == pytest.approx(1.0)

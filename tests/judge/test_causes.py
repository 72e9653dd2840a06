"""Causes of missed targets, each in a network where it is the only one, and candidates."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import airtcp
import pytest
from airtcp.judge.candidates import COSTS, Candidate, pair, singles
from airtcp.judge.causes import _cause, _in_order, _pairs, causes
from airtcp.judge.counterfactual import PROBLEMS, counterfactuals
from airtcp.judge.outcome import Outcome, TargetOutcome
from airtcp.judge.race import Race, cost
from airtcp.remedies import catalogue, named
from airtcp.results.advice import Cause
from airtcp.run.points import Points
from airtcp.scenario import Scenario

RUN = {"warmup": "500 ms", "duration": "4 s", "replications": 1}
BULK = {"kind": "bulk"}
CALL = {"kind": "udp", "packet": "200 B", "rate": "80 kb/s"}
SPEECH = {"kind": "call"}
LINUX = {"preset": "linux"}


def flow(stations: str, direction: str, application: Any, **keys: Any) -> dict[str, Any]:
    return {"stations": stations, "direction": direction, "application": application} | keys


def network(
    flows: list[dict[str, Any]],
    targets: dict[str, str],
    *,
    counts: dict[str, int] | None = None,
    groups: dict[str, dict[str, Any]] | None = None,
    **tables: Any,
) -> dict[str, Any]:
    names = dict.fromkeys(one["stations"] for one in flows)
    stations = [
        {"name": name, "count": (counts or {}).get(name, 2)} | (groups or {}).get(name, {})
        for name in names
    ]
    plain: dict[str, Any] = {"phy": {"standard": "802.11g"}, "ap": {"queue": {"limit": 100}}}
    return plain | {"stations": stations, "flows": flows, "targets": targets, "run": RUN} | tables


def linked(**link: Any) -> dict[str, Any]:
    return {"links": {"line": {"delay": "5 ms"} | link}}


OLD = {"standard": "802.11b"}
DOWN = [flow("desk", "download", BULK)]
LATE = {"caller p95 packet_delay": "< 50 ms"}
#: Two cells that hear each other, with downloads in each.
TWO_CELLS: dict[str, Any] = {
    "groups": {"mine": {"cell": "here"}, "theirs": {"cell": "there"}},
    "cells": {"here": {}, "there": {}},
    "air": {"heard": [["here", "there"]]},
}
BURSTS = {
    "queue": {"limit": 50},
    "access": {"scheme": "adaptive-burst", "window_slots": 32, "target_active": 8},
}
ONE_SLOT = {"stations": {"AC_BE": {"cw_min": 1, "cw_max": 1, "txop_limit": "0 us"}}}
ONE_SEGMENT = {"receive_window": {"segments": 1}, "delayed_ack": {"every": 2}}


def fast(*names: str, **keys: Any) -> list[dict[str, Any]]:
    """Return downloads with Linux TCP."""
    return [flow(name, "download", BULK, tcp=LINUX, **keys) for name in names]


def both(*names: str) -> list[dict[str, Any]]:
    return [flow(name, "download", BULK) for name in names]


def least(mbps: int, whose: str = "desk ") -> dict[str, str]:
    return {f"{whose}goodput": f"> {mbps} Mb/s"}


NETWORKS: dict[str, dict[str, Any]] = {
    "bursts": network(
        [*DOWN, flow("caller", "upload", CALL)],
        {"caller p95 packet_delay": "< 60 ms"},
        counts={"desk": 6},
        phy=OLD,
        ap=BURSTS,
    ),
    "rts": network(DOWN, least(5), phy=OLD, mac={"rts_threshold": "0 B"}),
    "protection": network(
        DOWN, least(20), phy={"standard": "802.11g", "protection": "cts-to-self"}
    ),
    "beacons": network(
        DOWN, least(20), mac={"beacon": {"interval": "5 ms", "rate": "1 Mb/s", "size_bits": 2000}}
    ),
    "ofdma": network(
        fast("desk"),
        least(100),
        counts={"desk": 8},
        phy={"standard": "802.11ax", "channel_width": "20 MHz"},
        ap={"queue": {"limit": 1000}},
        mac={"ofdma": {}},
    ),
    "aggregation": network(
        fast("desk"),
        least(40),
        phy={"standard": "802.11n"},
        mac={"aggregation": {"ampdu": "2 kB"}},
    ),
    "edca": network(
        [flow("desk", "upload", {"kind": "udp", "packet": "1200 B", "rate": "5 Mb/s"})],
        least(15),
        counts={"desk": 12},
        mac={"edca": ONE_SLOT},
    ),
    "hidden": network(
        [flow(name, "upload", BULK) for name in ("left", "right")],
        {"jain_index": "> 0.9"},
        counts={"left": 1, "right": 1},
        groups={"left": {"hears": []}, "right": {"hears": []}},
    ),
    "neighbour": network(both("mine", "theirs"), least(15, "mine "), **TWO_CELLS),
    # If one cell is silent, the other one gets 22 Mb/s.
    "cells": network(both("mine", "theirs"), least(30, ""), **TWO_CELLS),
    "delayed-acks": network([flow("desk", "download", BULK, tcp=ONE_SEGMENT)], least(2)),
    "windows": network(
        [DOWN[0] | {"path": [{"delay": "50 ms"}], "tcp": {"receive_window": {"segments": 4}}}],
        least(5),
    ),
    "link-loss": network(
        fast("desk", path=["line"]), least(15), **linked(rate="100 Mb/s", loss="5 %")
    ),
    "frame-errors": network(
        DOWN, least(15), groups={"desk": {"frame_errors": {"rate": "40 %", "of": "1500 B"}}}
    ),
    "link-queue": network(
        [*fast("desk", path=["line"]), flow("caller", "download", CALL, path=["line"])],
        LATE,
        **linked(rate="5 Mb/s", queue=200),
    ),
    "ap-queue-small": network(
        fast("desk", path=[{"delay": "20 ms"}]),
        least(18),
        counts={"desk": 1},
        ap={"queue": {"limit": 4}},
    ),
    "ap-queue": network(
        [*fast("desk", path=[{"delay": "10 ms"}]), flow("caller", "download", CALL)],
        LATE,
        ap={"queue": {"limit": 1000}},
    ),
    "link": network(fast("desk", path=["line"]), least(12), **linked(rate="4 Mb/s")),
    "old-standard": network(
        fast("new", "old"),
        least(400, ""),
        counts={"new": 3, "old": 1},
        groups={"old": {"standard": "802.11n"}},
        phy={"standard": "802.11ax"},
        ap={"queue": {"limit": 1000}},
    ),
    "distance": network(
        both("near", "far"), least(15, ""), groups={"far": {"data_rate": "6 Mb/s"}}
    ),
    "without": network(
        [
            flow("caller", "upload", CALL),
            flow("camera", "upload", {"kind": "udp", "packet": "1200 B", "rate": "9 Mb/s"}),
        ],
        {"caller p95 packet_delay": "< 2 ms"},
        counts={"camera": 4},
    ),
    "load": network(
        [flow("caller", "both", {"kind": "udp", "packet": "200 B", "rate": "400 kb/s"})],
        LATE,
        counts={"caller": 20},
    ),
}


@contextmanager
def racing(scenario: dict[str, Any]) -> Iterator[Race]:
    result = airtcp.simulate(airtcp.load(scenario))
    rate = sum(map(cost, result.simulation.runs)) / 4.5
    base: Any = result.scenario
    with Points[str](1) as points:
        yield Race(named(base), result.provenance, points, 1e6, rate, 0.95, whole=False)


def found(scenario: dict[str, Any]) -> tuple[Cause, ...]:
    with racing(scenario) as race:
        return causes(race, 5e6)


@pytest.mark.parametrize("problem", NETWORKS)
def test_the_counterfactual_that_restores_the_target_is_the_cause(problem: str) -> None:
    first = found(NETWORKS[problem])[0]

    assert first.problem == problem
    assert (first.met_before, first.met, first.of) == (0, 1, 1)
    assert first.worst < 1.0 < first.worst_before
    assert first.gain == pytest.approx(first.worst_before / first.worst, rel=1e-6)
    # The concerned groups are named.
    if problem in ("distance", "neighbour"):
        assert first.groups == {"distance": ("far",), "neighbour": ("there",)}[problem]


def test_the_leading_cause_is_measured_as_long_as_the_finalists() -> None:
    with racing(NETWORKS["link-queue"]) as race:
        changes = [one for one in singles(race.base)[0] if one.name == "wire-fq-codel"]
        race.run_to_end(changes)
        finalist = race.standings["wire-fq-codel"]
        # A budget for two seconds each; the final was three times as long as the scenario.
        leading = causes(race, 1.0)[0]

    # The counterfactual has the same queue as the change, on the same random numbers.
    assert finalist.scenario.run.whole_s > 4.5
    assert leading.problem == "link-queue"
    assert leading.worst == finalist.outcome.worst


def test_a_pair_of_causes_keeps_the_groups_of_each() -> None:
    base = named(airtcp.load(NETWORKS["distance"]))
    wanted = {"distance far", "without near"}
    one, two = counterfactuals(base, wanted)

    groups = {pair.problem: pair.each for pair in _pairs([one, two])}

    assert groups["distance + without"] == (("far",), ("near",))


def outcome(ratios: tuple[float | None, ...]) -> Outcome:
    """Return an outcome with targets of these ratios and different texts."""
    targets = (TargetOutcome(str(n), "unknown", one, 0.0) for n, one in enumerate(ratios))
    return Outcome(tuple(targets), frozenset(), {}, {}, {})


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ((2.0,), (0.5,), (0, 1, 4.0)),
        # The target must come nearer to its bound by a fifth or more.
        ((2.0,), (1.59,), (0, 0, 2.0 / 1.59)),
        ((2.0,), (1.61,), None),
        ((0.5, 2.0), (0.5, 0.4), (1, 2, 4.0)),
        ((0.5, 2.0), (2.0, 0.5), None),
        ((0.5, 0.5), (2.0, 0.1), None),
        # A target without a measured value has no distance from its bound.
        ((2.0, None), (0.5, 3.0), (0, 1, 4.0)),
        ((2.0,), (0.0,), (0, 1, 1.0)),
    ],
)
def test_a_cause_restores_targets_or_brings_them_nearer(before, after, told):
    anything: Any = SimpleNamespace(problem="link", each=())
    found = _cause(anything, outcome(before), outcome(after))
    seen = None if found is None else (found.met_before, found.met, pytest.approx(found.gain))
    assert seen == told


@pytest.mark.parametrize(
    ("found", "order"),
    [
        ([("link", 1, 4.0), ("distance", 2, 4.0)], ["distance", "link"]),
        ([("load", 2, 4.0), ("link + distance", 2, 4.0)], ["link + distance", "load"]),
        ([("link + distance", 2, 4.0), ("distance", 2, 4.0)], ["distance", "link + distance"]),
        # If two causes restore as many targets, the more specific one comes first. If no cause
        # restores a target, causes with much larger gains come first.
        ([("distance", 1, 4.0), ("rts", 1, 1.1)], ["rts", "distance"]),
        ([("rts", 0, 1.1), ("distance", 0, 4.0)], ["distance", "rts"]),
        ([("rts", 0, 3.5), ("distance", 0, 4.0)], ["distance", "rts"]),
        ([("distance", 0, 4.0), ("rts", 0, 3.7)], ["rts", "distance"]),
        # A pair is as specific as its less specific cause.
        (
            [("bursts + distance", 1, 4.0), ("rts + edca", 1, 4.0)],
            ["rts + edca", "bursts + distance"],
        ),
    ],
)
def test_the_order_of_causes(found, order):
    causes = [Cause(name, (), 0, met, 2, 2.0, 0.5, gain) for name, met, gain in found]
    anything: Any = None
    assert [one.problem for _, one in _in_order([(anything, one) for one in causes])] == order


def test_a_network_that_meets_its_targets_has_no_cause() -> None:
    calls = network([flow("caller", "both", SPEECH)], {"caller p95 packet_delay": "< 100 ms"})

    assert all(one.met_before == one.of for one in found(calls))


def test_every_problem_has_a_network_that_shows_it() -> None:
    assert set(PROBLEMS) == set(NETWORKS)
    # No counterfactual equals the scenario or another counterfactual.
    for scenario in NETWORKS.values():
        base = named(airtcp.load(scenario))
        hashes = [one.scenario.hash() for one in counterfactuals(base)]
        assert len({base.hash(), *hashes}) == len(hashes) + 1


@pytest.mark.parametrize(
    ("best", "far", "is_slow"),
    [("54 Mb/s", "24 Mb/s", True), ("48 Mb/s", "24 Mb/s", False), ("54 Mb/s", "36 Mb/s", False)],
)
def test_a_group_below_half_of_the_best_rate_is_slow(best: str, far: str, is_slow: bool) -> None:
    rates = {"near": {"data_rate": best}, "far": {"data_rate": far}}
    phy = {"standard": "802.11g", "data_rate": best}
    base = airtcp.load(network(both("near", "far"), least(1, ""), groups=rates, phy=phy))
    found = [one.groups for one in counterfactuals(named(base)) if one.problem == "distance"]

    assert found == ([("far",)] if is_slow else [])


@pytest.mark.parametrize(
    ("station", "links", "problem"),
    [
        ({"place": "edge"}, {}, "distance"),
        ({"path": ["dsl"]}, {"dsl": {"rate": "20 Mb/s", "delay": "8 ms"}}, "link"),
        ({}, {}, None),  # only the channel is occupied
    ],
)
def test_endless_transfers_without_a_target_have_a_limit(station, links, problem):
    me = {"profile": "office-laptop", "name": "me", "traffic": ["download"]} | station
    phy = {"standard": "802.11ax", "channel_width": "80 MHz"}

    run = {"warmup": "2 s", "duration": "4 s", "replications": 2}
    alone = {"phy": phy, "stations": [me], "links": links, "run": run}

    limits = airtcp.run(airtcp.load(alone)).advice.causes

    assert [one.problem for one in limits[:1]] == ([] if problem is None else [problem])
    assert all(one.of == 0 for one in limits)
    for one in limits[:1]:
        assert one.gain == pytest.approx(one.goodput_after_bps / one.goodput_before_bps)
        assert one.gain > 1.33


@pytest.fixture(scope="module")
def desks() -> Scenario:
    flows = [flow("desk", "download", BULK), flow("desk", "both", SPEECH)]
    phy = {"standard": "802.11ac", "mcs": 5}
    return named(airtcp.load(network(flows, {}, counts={"desk": 3}, phy=phy)))


@pytest.fixture(scope="module")
def known(desks: Scenario) -> dict[str, Candidate]:
    return {one.name: one for one in singles(desks)[0]}


def test_every_remedy_is_a_candidate_or_has_a_reason_why_not(desks: Scenario) -> None:
    found, unfit = singles(desks)
    names = [one.name for one in found]

    assert len(names) > 10
    assert not set(names) & set(unfit)
    assert set(names) | set(unfit) <= {one.name for one in catalogue()}
    assert all(unfit.values())
    hashes = [one.changed.scenario.hash() for one in found]
    assert len({desks.hash(), *hashes}) == len(hashes) + 1
    # The cheapest kind comes first.
    costs = [COSTS.index(one.cost) for one in found]
    assert costs == sorted(costs)


def test_a_pair_has_the_changes_of_both_and_the_higher_cost(desks, known):
    one, other = known["managed-queue"], known["calls-first"]
    both = pair(desks, one, other)

    assert both.name == "managed-queue + calls-first"
    assert set(both.changes) == set(one.changes) | set(other.changes)
    assert COSTS.index(both.cost) == max(COSTS.index(each.cost) for each in (one, other))
    # Changes of the same keys are not paired.
    assert pair(desks, one, known["larger-buffer"]) is None
    assert pair(desks, one, one) is None


def test_only_a_cell_that_shares_spectrum_is_a_cause() -> None:
    """Of three cells two are on channel 36: silencing the one on 100 frees no airtime."""
    channels = {"a": 36, "b": 36, "c": 100}
    groups = {f"of_{cell}": {"cell": cell} for cell in channels}
    cells = {name: {"channel": channel} for name, channel in channels.items()}
    flows = [flow(group, "download", BULK) for group in groups]
    written = network(flows, {"goodput": "> 1 Gb/s"}, groups=groups, cells=cells)
    scenario = airtcp.load(
        written | {"phy": {"standard": "802.11a"}, "air": {"heard": [["a", "b"]]}}
    )
    found = {one.groups for one in counterfactuals(scenario) if one.problem == "neighbour"}
    assert found == {("a",), ("b",)}

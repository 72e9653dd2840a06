"""Causes: each counterfactual where it is what a target is missed for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import airtcp
import pytest
from airtcp.judge.candidates import singles
from airtcp.judge.causes import _pairs, causes
from airtcp.judge.counterfactual import PROBLEMS, counterfactuals
from airtcp.judge.race import Race, cost
from airtcp.remedies import named
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


def over_line(name: str, direction: str, **keys: Any) -> dict[str, Any]:
    return flow(name, direction, BULK, path=["line"], tcp=LINUX, **keys)


NETWORKS: dict[str, dict[str, Any]] = {
    "bursts": network(
        [flow("desk", "download", BULK), flow("caller", "upload", CALL)],
        {"caller p95 packet_delay": "< 60 ms"},
        counts={"desk": 6},
        phy={"standard": "802.11b"},
        ap={
            "queue": {"limit": 50},
            "access": {"scheme": "adaptive-burst", "window_slots": 32, "target_active": 8},
        },
    ),
    "rts": network(
        [flow("desk", "download", BULK)],
        {"desk goodput": "> 5 Mb/s"},
        phy={"standard": "802.11b"},
        mac={"rts_threshold": "0 B"},
    ),
    "protection": network(
        [flow("desk", "download", BULK)],
        {"desk goodput": "> 20 Mb/s"},
        phy={"standard": "802.11g", "protection": "cts-to-self"},
    ),
    "beacons": network(
        [flow("desk", "download", BULK)],
        {"desk goodput": "> 20 Mb/s"},
        mac={"beacon": {"interval": "5 ms", "rate": "1 Mb/s", "size_bits": 2000}},
    ),
    "ofdma": network(
        [flow("desk", "download", BULK, tcp=LINUX)],
        {"desk goodput": "> 100 Mb/s"},
        counts={"desk": 8},
        phy={"standard": "802.11ax", "channel_width": "20 MHz"},
        ap={"queue": {"limit": 1000}},
        mac={"ofdma": {}},
    ),
    "aggregation": network(
        [flow("desk", "download", BULK, tcp=LINUX)],
        {"desk goodput": "> 40 Mb/s"},
        phy={"standard": "802.11n"},
        mac={"aggregation": {"ampdu": "2 kB"}},
    ),
    "edca": network(
        [flow("desk", "upload", {"kind": "udp", "packet": "1200 B", "rate": "5 Mb/s"})],
        {"desk goodput": "> 15 Mb/s"},
        counts={"desk": 12},
        mac={"edca": {"stations": {"AC_BE": {"cw_min": 1, "cw_max": 1, "txop_limit": "0 us"}}}},
    ),
    "hidden": network(
        [flow("left", "upload", BULK), flow("right", "upload", BULK)],
        {"jain_index": "> 0.9"},
        counts={"left": 1, "right": 1},
        groups={"left": {"hears": []}, "right": {"hears": []}},
    ),
    "neighbour": network(
        [flow("mine", "download", BULK), flow("theirs", "download", BULK)],
        {"mine goodput": "> 15 Mb/s"},
        groups={"mine": {"cell": "here"}, "theirs": {"cell": "there"}},
        cells={"here": {}, "there": {}},
        air={"heard": [["here", "there"]]},
    ),
    # Silence of one cell leaves 22 Mb/s of the other.
    "cells": network(
        [flow("mine", "download", BULK), flow("theirs", "download", BULK)],
        {"goodput": "> 30 Mb/s"},
        groups={"mine": {"cell": "here"}, "theirs": {"cell": "there"}},
        cells={"here": {}, "there": {}},
        air={"heard": [["here", "there"]]},
    ),
    "delayed-acks": network(
        [
            flow(
                "desk",
                "download",
                BULK,
                tcp={"receive_window": {"segments": 1}, "delayed_ack": {"every": 2}},
            )
        ],
        {"desk goodput": "> 2 Mb/s"},
    ),
    "windows": network(
        [
            flow(
                "desk",
                "download",
                BULK,
                path=[{"delay": "50 ms"}],
                tcp={"receive_window": {"segments": 4}},
            )
        ],
        {"desk goodput": "> 5 Mb/s"},
    ),
    "link-loss": network(
        [over_line("desk", "download")],
        {"desk goodput": "> 15 Mb/s"},
        **linked(rate="100 Mb/s", loss="5 %"),
    ),
    "frame-errors": network(
        [flow("desk", "download", BULK)],
        {"desk goodput": "> 15 Mb/s"},
        groups={"desk": {"frame_errors": {"rate": "40 %", "of": "1500 B"}}},
    ),
    "link-queue": network(
        [over_line("desk", "download"), flow("caller", "download", CALL, path=["line"])],
        {"caller p95 packet_delay": "< 50 ms"},
        **linked(rate="5 Mb/s", queue=200),
    ),
    "ap-queue-small": network(
        [flow("desk", "download", BULK, tcp=LINUX, path=[{"delay": "20 ms"}])],
        {"desk goodput": "> 18 Mb/s"},
        counts={"desk": 1},
        ap={"queue": {"limit": 4}},
    ),
    "ap-queue": network(
        [
            flow("desk", "download", BULK, tcp=LINUX, path=[{"delay": "10 ms"}]),
            flow("caller", "download", CALL),
        ],
        {"caller p95 packet_delay": "< 50 ms"},
        ap={"queue": {"limit": 1000}},
    ),
    "link": network(
        [over_line("desk", "download")],
        {"desk goodput": "> 12 Mb/s"},
        **linked(rate="4 Mb/s"),
    ),
    "old-standard": network(
        [flow(name, "download", BULK, tcp=LINUX) for name in ("new", "old")],
        {"goodput": "> 400 Mb/s"},
        counts={"new": 3, "old": 1},
        groups={"old": {"standard": "802.11n"}},
        phy={"standard": "802.11ax"},
        ap={"queue": {"limit": 1000}},
    ),
    "distance": network(
        [flow("near", "download", BULK), flow("far", "download", BULK)],
        {"goodput": "> 15 Mb/s"},
        groups={"far": {"data_rate": "6 Mb/s"}},
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
        {"caller p95 packet_delay": "< 50 ms"},
        counts={"caller": 20},
    ),
}


@contextmanager
def racing(scenario: dict[str, Any]) -> Iterator[Race]:
    result = airtcp.simulate(airtcp.load(scenario))
    runs = result.simulation.runs
    assert isinstance(result.scenario, Scenario)
    base = named(result.scenario)
    with Points[str](1) as points:
        yield Race(
            base,
            result.provenance,
            points,
            budget=1e6,
            rate=sum(map(cost, runs)) / 4.5,
            confidence=0.95,
            whole=False,
        )


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
    # Who is concerned is named.
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


def test_a_network_that_meets_its_targets_has_no_cause() -> None:
    calls = network([flow("caller", "both", SPEECH)], {"caller p95 packet_delay": "< 100 ms"})

    assert all(one.met_before == one.of for one in found(calls))


def test_every_problem_has_a_network_that_shows_it() -> None:
    assert set(PROBLEMS) == set(NETWORKS)
    # No counterfactual is the scenario itself, or another one.
    for scenario in NETWORKS.values():
        base = named(airtcp.load(scenario))
        hashes = [one.scenario.hash() for one in counterfactuals(base)]
        assert len({base.hash(), *hashes}) == len(hashes) + 1


@pytest.mark.parametrize(
    ("rates", "slow"),
    [
        (("54 Mb/s", "24 Mb/s"), ("far",)),
        (("48 Mb/s", "24 Mb/s"), ()),
        (("54 Mb/s", "36 Mb/s"), ()),
    ],
)
def test_a_group_below_half_of_the_best_rate_is_slow(
    rates: tuple[str, str], slow: tuple[str, ...]
) -> None:
    names = ("near", "far")
    groups = {name: {"data_rate": rate} for name, rate in zip(names, rates, strict=True)}
    flows = [flow(name, "download", BULK) for name in names]
    phy = {"standard": "802.11g", "data_rate": rates[0]}
    base = airtcp.load(network(flows, {"goodput": "> 1 Mb/s"}, groups=groups, phy=phy))
    found = [one.groups for one in counterfactuals(named(base)) if one.problem == "distance"]

    assert found == ([slow] if slow else [])


@pytest.mark.parametrize(
    ("name", "scenario", "problem"),
    [
        (
            "a station at the edge",
            {"stations": [{"profile": "office-laptop", "name": "me", "place": "edge"}]},
            "distance",
        ),
        (
            "a slow link",
            {
                "links": {"dsl": {"rate": "20 Mb/s", "delay": "8 ms"}},
                "stations": [{"profile": "office-laptop", "name": "me", "path": ["dsl"]}],
            },
            "link",
        ),
        (
            "nothing but the channel",
            {"stations": [{"profile": "office-laptop", "name": "me"}]},
            None,
        ),
    ],
)
def test_endless_transfers_without_a_target_have_a_limit(
    name: str, scenario: dict[str, Any], problem: str | None
) -> None:
    scenario["stations"][0]["traffic"] = ["download"]
    phy = {"standard": "802.11ax", "channel_width": "80 MHz"}
    network = airtcp.load({"title": name, "phy": phy, **scenario})

    limits = airtcp.run(network).advice.causes

    assert [one.problem for one in limits[:1]] == ([] if problem is None else [problem])
    assert all(one.of == 0 for one in limits)
    for one in limits[:1]:
        assert one.goodput_before_bps is not None
        assert one.goodput_after_bps is not None
        assert one.gain == pytest.approx(one.goodput_after_bps / one.goodput_before_bps)
        assert one.gain > 1.33

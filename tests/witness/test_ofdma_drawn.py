"""Random networks with OFDMA: schedules, cells on separate channels, long TXOPs."""

from __future__ import annotations

import random
from typing import Any

import airtcp
import pytest

UDP = {"kind": "udp", "packet": "1500 B", "rate": "saturated"}
TRAFFIC: tuple[dict[str, Any], ...] = (
    {"kind": "bulk"},
    {"kind": "web", "size": "30 kB", "think_time": "50 ms"},
    {"kind": "call", "profile": "call"},
    {"kind": "udp", "packet": "200 B", "rate": "100 kb/s"},
    UDP,
)
BANDS = (("5 GHz", 20), ("5 GHz", 40), ("5 GHz", 80), ("6 GHz", 160), ("2.4 GHz", 20))
QUEUES: tuple[dict[str, Any], ...] = (
    {},
    {"limit": 5},
    {"limit": 2000, "ack_filter": True},
    {"discipline": "fq-codel"},
    {"discipline": "codel"},
)


def drawn(seed: int, *, uplink: bool = False) -> dict[str, Any]:
    """Return a network of one to three groups, each with one or two kinds of traffic."""
    pick = random.Random(seed)
    band, width = pick.choice(BANDS)
    groups: list[dict[str, Any]] = []
    flows: list[dict[str, Any]] = []
    for name in "abc"[: pick.randint(1, 3)]:
        group = {"name": name, "count": pick.randint(1, 12), "mcs": pick.randint(0, 11)}
        errors = pick.choice(["", "", "1 %", "70 %"])
        groups.append(group | ({"frame_errors": errors} if errors else {}))
        for _ in range(pick.randint(1, 2)):
            application = pick.choice(TRAFFIC)
            is_tcp = application["kind"] in ("bulk", "web")
            direction = pick.choice(["download", "upload", *([] if is_tcp else ["both"])])
            flows.append(
                {
                    "name": f"flow{len(flows)}",
                    "stations": name,
                    "direction": direction,
                    "application": application,
                }
            )
    mac: dict[str, Any] = {
        "ofdma": {"acknowledgment": pick.choice(["mu-bar", "bar-sequence"])},
        "rules": {"preset": pick.choice(["standard", "ns-3"])},
        "aggregation": pick.choice([{}, {}, {"amsdu": "7935 B"}, {"block_ack_window": 2}]),
    }
    if pick.random() < 0.4:
        mac["edca"] = {"ap": {one: {"txop_limit": "0 us"} for one in ("AC_VO", "AC_BE")}}
        # Triggers only request packets of one access category.
        everything = ["tcp_data", "tcp_ack"] if uplink else []
        mac["classify"] = dict.fromkeys(["udp", *everything], "AC_VO")
    if uplink:
        mac["ofdma"]["uplink"] = "trigger"
        interval = pick.choice(["", "200 us", "1 ms", "20 ms"])
        mac["ofdma"] |= {"access_interval": interval} if interval else {}
        mac |= pick.choice([{}, {}, {"beacon": {"interval": "10 ms"}}])
        for group in groups:
            group["spatial_streams"] = pick.randint(1, 4)
    return {
        "phy": {
            "standard": pick.choice(["802.11ax", "802.11be"]),
            "band": band,
            "channel_width": f"{width} MHz",
        },
        "mac": mac,
        "ap": {"queue": pick.choice(QUEUES)},
        "stations": groups,
        "flows": flows,
        "run": {"warmup": "0 s", "duration": "300 ms", "replications": 2, "seed": seed},
    }


def _as_scheduled(network: dict[str, Any]) -> None:
    """Round robin, and a fixed schedule of the same choices, have results equal to the bit."""
    network["run"] |= {"replications": 1}
    turns = airtcp.simulate(airtcp.load(network), trace=True).simulation.runs[0]
    schedule: list[list[str]] = []
    then = None
    assert turns.trace is not None
    ppdus = turns.trace.ppdus()
    for time_s, queue, receiver in zip(ppdus.time_s, ppdus.queue, ppdus.receiver, strict=True):
        if not str(queue).startswith("ap"):
            continue
        if time_s != then:
            schedule.append([])
        schedule[-1].append(str(receiver))
        then = time_s
    # Stations that are never served come after the last turn.
    stations = [f"{one['name']}/{at}" for one in network["stations"] for at in range(one["count"])]
    schedule += [[one] for one in stations]
    network["mac"]["ofdma"] |= {"scheduler": "fixed", "schedule": schedule}
    fixed = airtcp.simulate(airtcp.load(network)).simulation.runs[0]
    assert len(schedule) > len(stations) + 20
    assert fixed.answer["metrics"] == turns.answer["metrics"]
    assert fixed.answer["airtime"] == turns.answer["airtime"]


def test_a_schedule_of_round_robins_choices_gives_the_same_bits() -> None:
    """Traces mix in PPDUs after Block ACK requests, and of other categories: those do not fit."""
    networks = [drawn(seed) for seed in range(32)]
    fit = [one for one in networks if "edca" not in one["mac"]]
    fit = [one for one in fit if one["mac"]["ofdma"]["acknowledgment"] == "mu-bar"]
    assert len(fit) == 8
    for one in fit:
        _as_scheduled(one)


def test_stations_that_also_send_long_txops_do_not_lend_theirs_to_the_access_point() -> None:
    """A trigger after a collision ends an access of the access point, whatever the last TXOP was.

    With more stations than resource units, queues of stations fill and empty in turns.
    """
    calls = {"stations": "a", "direction": "both", "application": TRAFFIC[3]}
    scenario = airtcp.load(
        {
            "phy": {"standard": "802.11ax", "channel_width": "20 MHz", "mcs": 7},
            "mac": {
                "ofdma": {},
                "rules": {"preset": "ns-3"},
                "edca": {"ap": {"AC_VO": {"txop_limit": "0 us"}}},
                "classify": {"udp": "AC_VO"},
            },
            "stations": [{"name": "a", "count": 64}],
            "flows": [calls],
            "run": {"warmup": "0 s", "duration": "3 s", "replications": 4, "seed": 1},
        }
    )

    metrics = airtcp.simulate(scenario).metrics

    assert metrics["packet_delay_s"].mean is not None


@pytest.mark.parametrize("uplink", [False, True])
def test_a_cell_on_its_own_channel_has_what_it_has_alone(uplink: bool) -> None:
    """Equal to the last bit, next to a cell on another channel, and with more threads."""
    for seed in range(6):
        alone = drawn(seed, uplink=uplink)
        alone["mac"].pop("beacon", None)
        other = drawn(1000 + seed, uplink=uplink)
        low, high = {"2.4 GHz": (1, 11), "5 GHz": (36, 149), "6 GHz": (1, 161)}[
            alone["phy"]["band"]
        ]
        both = alone | {
            "ap": {},
            "cells": {"left": {"channel": low, "ap": alone["ap"]}, "right": {"channel": high}},
            "stations": [one | {"cell": "left"} for one in alone["stations"]]
            + [one | {"cell": "right", "name": f"r{one['name']}"} for one in other["stations"]],
            "flows": alone["flows"]
            + [
                one | {"name": f"r{one['name']}", "stations": f"r{one['stations']}"}
                for one in other["flows"]
            ],
        }
        single = airtcp.simulate(airtcp.load(alone), threads=1).simulation.runs
        for threads in (1, 2):
            apart = airtcp.simulate(airtcp.load(both), threads=threads).simulation.runs
            for one, all_ in zip(single, apart, strict=True):
                flows = one.answer["flows"]
                assert all_.answer["flows"][: len(flows)] == flows, seed
                assert sum(all_.answer["airtime"].values()) == pytest.approx(1.0), seed

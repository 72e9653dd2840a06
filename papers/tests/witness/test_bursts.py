"""The access point of paper B, section 3.2, against arithmetic and against a slow, plain cell.

The slow cell has no time: the smallest counter sends next, all wait equally long after every
transmission (the rules "bianchi"), and a transmission is one virtual slot. It shares no code with
the core; both must have the same distributions.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import cache

import pytest
from airtcp.models.airtime import Phy, exchange_time_ns
from airtcp.scenario import loads
from airtcp_papers.bruno.model import burst_size
from peers.samples import answers, interval

CONFIDENCE = 0.999

CELL = """
[phy]
standard = "802.11b"
[mac]
rules = {{ preset = "bianchi" }}
[ap]
access = {{ scheme = "adaptive-burst", window_slots = {window}, target_active = {target} }}
[[stations]]
name = "station"
count = {n}
[run]
warmup = "1 s"
duration = "{duration} s"
replications = {replications}
seed = 5
[[flows]]
name = "down"
stations = "station"
direction = "download"
application = {{ kind = "udp", packet = "1500 B", rate = "saturated" }}
"""
UPLINK = """
[[flows]]
name = "up"
stations = "station"
direction = "upload"
application = { kind = "udp", packet = "1500 B", rate = "saturated" }
"""


@pytest.mark.parametrize(
    ("window", "target", "bursts"), [(32, 8, (2, 14)), (5, 1, (2, 2)), (64, 16, (2, 30))]
)
def test_nobody_answers(window: int, target: int, bursts: tuple[int, int]) -> None:
    """Packets a DIFS apart, then a DIFS and the window of idle slots, repeated.

    The rule assumes that the l/2 stations that it woke still wait: after the minimum of two packets
    come 2 (m* - 1), and after those two again.
    """
    text = CELL.format(n=1, window=window, target=target, duration=20, replications=1)
    phy = Phy.of(loads(text).phy)
    packet = int(exchange_time_ns(phy, 8 * 1500, rts=False)) + phy.difs_ns
    assert [int(burst_size(burst, 0, 0, target)) for burst in bursts] == list(bursts[::-1])
    cycle = sum(bursts) * packet + 2 * window * phy.slot_time_ns

    (run,) = answers(text)

    counts = run["counts"]
    # A cycle may be cut off at either end.
    whole = 20e9 / cycle * sum(bursts)
    assert counts["mac_exchanges"] == pytest.approx(whole, abs=sum(bursts))
    assert sum(bursts) < 0.004 * whole
    assert counts["collisions"] == 0


@dataclass
class Sender:
    """A saturated station: a backoff counter, and its window."""

    draws: random.Random
    cw: int = 31
    tries: int = 0
    left: int = field(init=False)

    def __post_init__(self) -> None:
        self.left = self.draws.randint(0, self.cw)

    def sent(self, collided: bool) -> None:
        self.tries = self.tries + 1 if collided else 0
        if self.tries == 7:
            self.tries = 0
        self.cw = min(32 * 2**self.tries - 1, 1023)
        self.left = self.draws.randint(0, self.cw)


@cache
def next_burst(sent: int, successes: int, collisions: int, target: int) -> int:
    """The model's array function for one count, cached because few counts recur."""
    return int(burst_size(sent, successes, collisions, target))


def slow_cell(n: int, window: int, target: int, accesses: int, seed: int) -> dict[str, float]:
    """Return shares of a cell whose access point sends in bursts; all nodes are saturated."""
    draws = random.Random(seed)
    stations = [Sender(draws) for _ in range(n)]
    left = 0  # virtual slots of the window
    burst = sent = tries = 0
    successes = collisions = 0
    ap = {"attempts": 0, "collisions": 0}
    all_stations = {"attempts": 0, "collisions": 0}
    packets = 2 * target
    for _ in range(accesses):
        idle = min(left, *(station.left for station in stations))
        senders = [station for station in stations if station.left == idle]
        ap_sends = left == idle
        collided = len(senders) + ap_sends > 1
        for station in stations:
            station.left -= idle
        if ap_sends:
            if burst == 0:
                burst, sent, successes, collisions = packets, 0, 0, 0
            ap["attempts"] += 1
            ap["collisions"] += collided
            left = 0
            tries = tries + 1 if collided else 0
            if not collided or tries == 7:
                sent += not collided
                tries = 0
                burst -= 1
                if burst == 0:
                    left = window
        else:
            left -= idle + 1
            successes += not collided
            collisions += collided
            packets = next_burst(sent, successes, collisions, target)
        for station in senders:
            all_stations["attempts"] += 1
            all_stations["collisions"] += collided
            station.sent(collided)
        if ap_sends and burst == 0:
            # The next burst if the window passes without a station's frame.
            packets = next_burst(sent, 0, 0, target)
    exchanges = sum(one["attempts"] - one["collisions"] for one in (ap, all_stations))
    return {
        "ap": (ap["attempts"] - ap["collisions"]) / exchanges,
        "collision_probability_ap": ap["collisions"] / ap["attempts"],
        "collision_probability_stations": all_stations["collisions"] / all_stations["attempts"],
    }


@pytest.mark.parametrize(
    ("n", "window", "target"), [(2, 32, 8), (5, 32, 8), (10, 16, 4), (3, 64, 32), (20, 32, 8)]
)
def test_a_slow_cell_agrees(n: int, window: int, target: int) -> None:
    slow = [slow_cell(n, window, target, accesses=10_000, seed=seed) for seed in range(10)]
    text = CELL.format(n=n, window=window, target=target, duration=100, replications=10) + UPLINK
    runs = answers(text)
    core = {
        "ap": [run["stations"][0]["successes"] / run["counts"]["mac_exchanges"] for run in runs],
        **{
            name: [run["metrics"][name] for run in runs]
            for name in ("collision_probability_ap", "collision_probability_stations")
        },
    }

    for name, values in core.items():
        mean, half = interval(values, CONFIDENCE)
        other, other_half = interval([one[name] for one in slow], CONFIDENCE)
        assert half < 0.05 * mean + 0.002
        assert mean == pytest.approx(other, abs=half + other_half), name

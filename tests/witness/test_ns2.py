"""The real ns-2 (2.35, unmodified) on paper M's scenarios: endless downloads and web users.

`tests/reference/ns2.csv` holds the rows and its README how they were made. ns-2 departs from the
standard in ways that are keys here (`[mac.rules] preset = "ns-2"`, `cw_min = 30`, frames that last
bits / rate), and in two ways that are not, and that the bounds have to hold:

- About every second freeze it loses one slot to floating point: throughput is 0.3 % lower. Packets
  spend 25 us in its link layer on the way up and down, and each station begins with ARP. What is
  measured: goodput here is 0.1 to 0.3 % higher; transfer times of exponential sizes, whose
  intervals are narrow, differ by 0.7 % at most.
- NAVs are rounded to microseconds. Below some 27 m between nodes third parties then lose ties
  within a slot and do not collide (endless downloads: 0.056 where 0.077 is right). Rows with
  `r=100m` are free of it and are the ones to trust for collision probabilities. Those of web users
  at `r=10m` are compared as well, since there collisions are rare anyway: what the rounding takes
  away with W = 1 is 0.002 of 0.005.

The bounds are those of the issue that asked for the comparison: goodput 1 %, collision probability
0.004 (access point and stations apart), mean transfer time the joint 95 % interval or 2 %,
whichever is wider. The joint interval is the root of the sum of the squares of both half widths.

How the downloads with W = 1000 begin is part of what is compared. With a slow-start threshold of W
every ACK releases two packets of one flow into the queue of the access point: trains of hundreds of
packets to one station, which then has the only ACKs, and a FIFO queue keeps their order for more
than 5000 s. In congestion avoidance trains stay short and dissolve. The rows are of the second
kind: an ns-2 agent whose window is set after it was made has a threshold of 20 packets. The Jain
index says so too, and that the downloads began together, within 0.1 s: starts spread over ten
seconds would leave 0.993.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import fmean

import pytest
from peers.ns2 import COLLISION_PROBABILITIES, ROWS, endless, samples
from peers.references import Point, Reference
from peers.samples import Answer, interval, metric

GROUPS = ("persistent", "web")
COMPARED = [point for point in ROWS if point.group in GROUPS]


def bound(name: str, reference: Reference, half: float) -> float:
    """How far apart the means may be."""
    joint = math.hypot(reference.half_width, half)
    if name in COLLISION_PROBABILITIES:
        return 0.004
    if name == "goodput_bps":
        return 0.01 * reference.mean
    if name == "jain_index":
        # Equal starts leave 10^-4 to 10^-3 of inequality; starts over 10 s would leave 7 * 10^-3.
        return max(joint, 0.001)
    assert name.startswith("transfer_time")
    return max(joint, 0.02 * reference.mean)


def disagreements(point: Point, rows: dict[str, Reference]) -> Iterator[str]:
    found = samples(point)
    for name, reference in rows.items():
        mean, half = interval(found[name])
        allowed = bound(name, reference, half)
        if abs(mean - reference.mean) > allowed:
            yield f"{name}: {mean:.6g} +- {half:.2g}, ns-2 {reference}, allowed {allowed:.2g}"


@pytest.mark.parametrize("point", COMPARED, ids="-".join)
def test_every_row_of_the_table(point: Point) -> None:
    assert list(disagreements(point, ROWS[point])) == []


def test_a_lost_slot_is_all_that_goodput_differs_by() -> None:
    """One sign, and 0.35 % at most: 0.3 slots of 20 us for each of two packets in 3.43 ms.

    A station alone with W = 1 has 13.1 slots before a frame in ns-2 (validation/ns2), 12.8 without
    the slots that get lost. With more nodes slots are shared, and the loss is smaller.
    """
    for point in COMPARED:
        if point.group == "persistent":
            mean = fmean(samples(point)["goodput_bps"])
            assert 0.0 < mean / ROWS[point]["goodput_bps"].mean - 1.0 < 0.0035


def test_a_threshold_of_the_window_leaves_trains() -> None:
    """What the introduction says of slow start, with five downloads and W = 1000."""
    rows = ROWS[Point("persistent", "nc=5 W=1000 d=1 r=100m")]
    short, long = endless(5, 1000), endless(5, 1000, ssthresh=1000)

    def mean(runs: list[Answer], name: str) -> float:
        return fmean(metric(runs, name))

    # Stations that have an ACK when the access point has had its turn: one in a train.
    active = "active_stations_after_ap_success"
    assert mean(short, active) > 1.45
    assert mean(long, active) < 1.35
    stations = "collision_probability_stations"
    assert rows[stations].mean - mean(long, stations) > 0.008
    assert abs(rows[stations].mean - mean(short, stations)) < 0.002
    assert mean(long, "jain_index") < 0.7
    assert rows["jain_index"].mean > 0.999

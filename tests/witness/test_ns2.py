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
every ACK releases two packets of the same flow, side by side into the queue of the access point,
again and again: trains of hundreds of packets to one station. While such a train is served, that
station alone has ACKs to send and the cell is one of two nodes: the stations' collisions become as
rare as the access point's. A FIFO queue keeps its order from round to round, a round lasts up to
16 s, and order is lost only where trains meet: after 5000 s the trace is still there. In
congestion avoidance windows grow by one packet per round, trains stay short and dissolve, and one
and a half stations on average have something to send when the access point has had its turn.
The rows are of the second kind. Beside the collisions the Jain index says so: 0.9997 with five
downloads, where a threshold of W gives windows, and shares, that differ by factors. An ns-2 agent
whose window is set after it was made has a threshold of 20 packets, and with that everything fits.
The Jain index also says that the downloads began together, within 0.1 s: starts spread over ten
seconds would leave 0.993, with the same collisions and the same goodput.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean

import pytest
from witness_tools import (
    Answer,
    answers,
    interval,
    metric,
    packets_per_transfer,
    ratio_adjusted,
)

TESTS = Path(__file__).parent.parent
TABLE = TESTS / "reference" / "ns2.csv"
MORE = TESTS.parent / "validation" / "ns2" / "rows.csv"

MSS_BYTES = 1000
COLLISION_PROBABILITIES = (
    "collision_probability",
    "collision_probability_ap",
    "collision_probability_stations",
)

SCENARIO = """
[phy]
standard = "802.11b"
data_rate = "11 Mb/s"
control_rate = "2 Mb/s"
preamble = "long"
symbol_rounding = false
cw_min = 30
mac_header_bits = 272
llc_bits = 0
rts_bits = 160
[mac]
rts_threshold = "0 B"
short_retry_limit = 7
rules = {{ preset = "ns-2" }}
[[stations]]
name = "node"
count = {stations}
[[flows]]
stations = "node"
direction = "download"
application = {application}
[flows.tcp]
variant = "newreno"
mss = "1000 B"
receive_window = {{ segments = {window} }}
initial_window = 1
initial_ssthresh = {{ segments = {ssthresh} }}
delayed_ack = {{ every = {ack_every} }}
handshake = "two-way"
min_rto = "200 ms"
initial_rto = "3 s"
clock_granularity = "10 ms"
pad_last_segment = true
[run]
warmup = "{warmup} s"
duration = "{duration} s"
replications = {replications}
seed = 1
"""

# Sizes of files, and the exact mean of their whole packets.
SIZES = {
    "pareto": ('{ distribution = "pareto", mean = "30 kB", shape = 1.5 }', 30.512),
    "exp": ('{ distribution = "exponential", mean = "30 kB" }', 30.503),
}
DEFAULT_SSTHRESH = 20
ENDLESS_S, WEB_S = 200, 3_000


@dataclass(frozen=True)
class Reference:
    mean: float
    half_width: float


Point = tuple[str, str]


def read(path: Path) -> dict[Point, dict[str, Reference]]:
    """The rows of the groups compared here, by group and parameters, and by metric."""
    points: dict[Point, dict[str, Reference]] = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            if row["group"] in ("persistent", "web"):
                found = Reference(float(row["mean"]), float(row["ci95_half_width"]))
                point = points.setdefault((row["group"], row["parameters"]), {})
                point[row["metric"]] = found
    return points


def settings(parameters: str) -> dict[str, str]:
    """`nc=5 W=1 d=1 r=100m` as a dictionary."""
    return dict(re.findall(r"(\S+)=(\S+)", parameters))


@cache
def endless(
    stations: int, window: int, ack_every: int = 1, ssthresh: int | None = None
) -> list[Answer]:
    """Downloads as in the group `persistent`, that begin within 0.1 s."""
    start = '{ distribution = "uniform", low = "0 s", high = "0.1 s" }'
    text = SCENARIO.format(
        stations=stations,
        application=f'{{ kind = "bulk", start = {start} }}',
        window=window,
        ssthresh=ssthresh or min(window, DEFAULT_SSTHRESH),
        ack_every=ack_every,
        warmup=10 if window <= 8 else 60 + 15 * stations,
        duration=ENDLESS_S,
        replications=10,
    )
    return answers(text)


@cache
def web(stations: int, window: int, sizes: str, think: str) -> list[Answer]:
    """Users as in the group `web`; 3000 s are about the 300 files of each. Agents are reset."""
    think_time = f'{{ distribution = "exponential", mean = "{think} s" }}'
    text = SCENARIO.format(
        stations=stations,
        application=f'{{ kind = "web", size = {SIZES[sizes][0]}, think_time = {think_time} }}',
        window=window,
        ssthresh=window,
        ack_every=1,
        warmup=100,
        duration=WEB_S,
        replications=20,
    )
    return answers(text)


def simulated(point: Point) -> dict[str, list[float]]:
    """What the core says of a point, metric by metric, a number per replication."""
    group, parameters = point
    given = settings(parameters)
    if group == "persistent":
        runs = endless(int(given["nc"]), int(given["W"]), int(given["d"]))
        names = (*COLLISION_PROBABILITIES, "goodput_bps", "jain_index")
        return {name: metric(runs, name) for name in names}
    assert given["d"] == "1"
    runs = web(int(given["nsta"]), int(given["W"]), given["dist"], given["think"])
    names = (*COLLISION_PROBABILITIES, "transfer_time_s", "transfer_time_to_last_ack_s")
    packets = packets_per_transfer(MSS_BYTES, WEB_S)
    expected = SIZES[given["dist"]][1]
    adjusted = ratio_adjusted(runs, "transfer_time_to_last_ack_s", packets, expected)
    samples = {name: metric(runs, name) for name in names}
    return samples | {"transfer_time_to_last_ack_adjusted_s": adjusted}


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
    samples = simulated(point)
    for name, reference in rows.items():
        mean, half = interval(samples[name], 0.95)
        allowed = bound(name, reference, half)
        if abs(mean - reference.mean) > allowed:
            yield f"{name}: {mean:.6g} +- {half:.2g}, ns-2 {reference}, allowed {allowed:.2g}"


ROWS = read(TABLE)


@pytest.mark.parametrize("point", ROWS, ids="-".join)
def test_every_row_of_the_table(point: Point) -> None:
    assert list(disagreements(point, ROWS[point])) == []


def test_the_table_is_the_one_that_is_meant() -> None:
    """Six endless points and eight of the web, and all that the issue asks for is in them."""
    groups = [group for group, _ in ROWS]
    assert groups.count("persistent") == 6
    assert groups.count("web") == 8
    for (group, _), rows in ROWS.items():
        if group == "persistent":
            assert set(rows) == {*COLLISION_PROBABILITIES, "goodput_bps", "jain_index"}
        else:
            assert {"collision_probability", "transfer_time_s"} <= set(rows)


@pytest.mark.verify
@pytest.mark.skipif(not MORE.exists(), reason="needs the rows of validation/ns2")
def test_further_points() -> None:
    """Points between those of the table, made by validation/ns2/make_rows.sh."""
    rows = read(MORE)
    assert rows
    found = {point: list(disagreements(point, rows[point])) for point in rows}
    assert {point: texts for point, texts in found.items() if texts} == {}


def test_a_lost_slot_is_all_that_goodput_differs_by() -> None:
    """One sign, and 0.35 % at most: 0.3 slots of 20 us for each of two packets in 3.43 ms.

    A station alone with W = 1 has 13.1 slots before a frame in ns-2 (validation/ns2), 12.8 without
    the slots that get lost. With more nodes slots are shared, and the loss is smaller.
    """
    for (group, parameters), rows in ROWS.items():
        if group == "persistent":
            mean = fmean(simulated((group, parameters))["goodput_bps"])
            assert 0.0 < mean / rows["goodput_bps"].mean - 1.0 < 0.0035


def test_a_threshold_of_the_window_leaves_trains() -> None:
    """What the introduction says of slow start, with five downloads and W = 1000."""
    rows = ROWS["persistent", "nc=5 W=1000 d=1 r=100m"]
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

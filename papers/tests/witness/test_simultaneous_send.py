"""Simultaneous sends: two nodes that transmit to each other in one slot. Paper G, (1).

(1) is 1/CW for two nodes that always have a frame and draw from CW = 32 slots: 3.125 %. It is exact
for an access point and its one station if windows do not double: after every transmission at least
one of the two draws, uniformly over 0 .. 31, and meets the rest of the other's backoff with 1/32.
If windows double, a second collision in a row has 1/64, as the paper says, and the rest of a long
backoff is met less often: their Markov chain (`two_senders`) has it exactly.
"""

from __future__ import annotations

import pytest
from airtcp_papers.gopal.model import simultaneous_send
from peers.samples import Answer, answers, interval, metric
from two_senders import two_senders, windows

CONFIDENCE = 0.999

CELL = """
[phy]
standard = "802.11b"
cw_max = {cw_max}
[mac]
rules = {{ preset = "bianchi" }}
short_retry_limit = {retry_limit}
rts_threshold = "{rts_threshold} B"
[[stations]]
name = "station"
count = {n}
[run]
warmup = "1 s"
duration = "100 s"
replications = 20
seed = 3
"""
DATAGRAMS = """
[[flows]]
name = "{direction}"
stations = "station"
direction = "{direction}"
application = {{ kind = "udp", packet = "1500 B", rate = "saturated" }}
"""
BOTH_WAYS = DATAGRAMS.format(direction="download") + DATAGRAMS.format(direction="upload")
UPLOAD = """
[[flows]]
stations = "station"
direction = "upload"
application = { kind = "bulk" }
tcp = { delayed_ack = { every = 1 } }
"""


def cell(
    traffic: str, *, n: int = 1, cw_max: int = 1023, retry_limit: int = 7, rts: bool = False
) -> list[Answer]:
    text = CELL.format(
        n=n, cw_max=cw_max, retry_limit=retry_limit, rts_threshold=0 if rts else 3000
    )
    return answers(text + traffic)


def probability(runs: list[Answer]) -> tuple[float, float]:
    mean, half = interval(metric(runs, "simultaneous_send_probability"), CONFIDENCE)
    # With doubled windows 1/32 becomes 0.0303: the interval must show that.
    assert half < 0.0009
    return mean, half


@pytest.mark.parametrize("rts", [False, True])
def test_one_transmission_in_thirty_two_with_one_window(rts: bool) -> None:
    mean, half = probability(cell(BOTH_WAYS, cw_max=31, rts=rts))

    paper = simultaneous_send(1, 32)
    assert float(paper.any_two) == pytest.approx(1 / 32, rel=1e-12)
    assert float(paper.next_transmission) == pytest.approx(1 / 32, rel=1e-12)
    assert mean == pytest.approx(1 / 32, abs=half)


def test_without_retries_windows_do_not_double_either() -> None:
    """Paper G's "no MAC retries": a limit of one transmission."""
    mean, half = probability(cell(BOTH_WAYS, retry_limit=1))

    assert mean == pytest.approx(1 / 32, abs=half)


def test_less_when_windows_double() -> None:
    mean, half = probability(cell(BOTH_WAYS))

    exact = two_senders(windows(31, 1023, 7)).collision
    assert 1 / 64 < exact < 1 / 32 - half
    assert mean == pytest.approx(exact, abs=half)


@pytest.mark.parametrize("traffic", [BOTH_WAYS, UPLOAD])
def test_with_one_station_every_collision_is_one(traffic: str) -> None:
    for run in cell(traffic):
        assert run["counts"]["simultaneous_sends"] == run["counts"]["collisions"] > 100


def test_most_collisions_of_several_stations_are_none() -> None:
    """The access point's frame is for one of four; a station's is for the access point.

    Of the pairs among five equal nodes, 4 of 10 contain the access point, and 1 in 4 of these the
    station that it sends to: a tenth of the collisions of two. Collisions of three or more never
    count. Stations that have just collided wait as long as the others here, and each next frame is
    for the same node. So repeated meetings change the share by less than a fifth of it.
    """
    runs = cell(BOTH_WAYS, n=4)
    collisions = sum(run["counts"]["collisions"] for run in runs)
    both = sum(run["counts"]["simultaneous_sends"] for run in runs)

    assert both / collisions == pytest.approx(0.1, rel=0.2)


def test_no_access_point_no_simultaneous_send() -> None:
    runs = cell(DATAGRAMS.format(direction="upload"), n=4)

    assert all(run["counts"]["collisions"] > 100 for run in runs)
    assert all(run["counts"]["simultaneous_sends"] == 0 for run in runs)

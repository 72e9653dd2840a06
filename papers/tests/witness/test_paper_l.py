"""Paper L, section 5: who gets how much, with the bottleneck on the wire and in the air.

Two uploads with prioritised TCP ACKs share a wired link of B Mb/s and 10 ms behind the access
point; the second one's server may be further away (the topology of Fig. 6; the queue of the link
has 10 B packets, which is erratum L9's reading). Below 5 Mb/s the link is the bottleneck, and
shares follow round-trip times and AIMD parameters; above, the air is, each station has a queue of
its own, and shares are those of the MAC: equal, whatever TCP does.
"""

from __future__ import annotations

from functools import cache

import pytest
from airtcp_papers.leith.aimd import wired_shares
from peers.samples import Answer, answers, interval, metric

SCENARIO = """
[phy]
standard = "802.11b"
data_rate = "11 Mb/s"
control_rate = "2 Mb/s"
[mac.edca.ap.AC_VO]
aifs = "50 us"
cw_min = 0
cw_max = 0
txop_limit = "0 us"
[mac.edca.stations.AC_BE]
aifs = "90 us"
cw_min = 31
cw_max = 1023
txop_limit = "0 us"
[mac.classify]
tcp_ack = "AC_VO"
[ap]
queue = {{ limit = 100 }}
[links.wired]
rate = "{rate} Mb/s"
delay = "10 ms"
queue = {queue}
{flows}
[run]
warmup = "50 s"
duration = "600 s"
replications = 10
seed = 1
"""
UPLOAD = """
[[stations]]
name = "{name}"
count = 1
queue = {{ limit = 40 }}
[[flows]]
stations = "{name}"
direction = "upload"
application = {{ kind = "bulk" }}
path = ["wired", {{ delay = "{delay} ms" }}]
[flows.tcp]
variant = "sack"
mss = "1460 B"
receive_window = "1 MB"
delayed_ack = {{ every = 1 }}
min_rto = "200 ms"
aimd = {{ increase = {increase}, decrease = {decrease} }}
"""
WIRE, AIR = 4, 10
#: Half widths of ten runs are 0.001 to 0.01; windows that wait at stations differ by a little more.
EQUAL = 0.02


@cache
def both(rate: int, delay: int = 0, increase: float = 1.0, decrease: float = 0.5) -> list[Answer]:
    """The first upload is the standard one; the arguments are the second one's."""
    first = UPLOAD.format(name="first", delay=0, increase=1.0, decrease=0.5)
    second = UPLOAD.format(name="second", delay=delay, increase=increase, decrease=decrease)
    return answers(SCENARIO.format(rate=rate, queue=10 * rate, flows=first + second))


def share_of_second(rate: int, **second: float) -> tuple[float, float]:
    """Mean share of the goodput, and half width of its interval."""
    shares = []
    for run in both(rate, **second):
        first, other = run["flows"]
        shares.append(other["goodput_bps"] / (first["goodput_bps"] + other["goodput_bps"]))
    return interval(shares)


@pytest.mark.parametrize(
    "second",
    [
        {"delay": 100},
        {"increase": 0.5},
        {"decrease": 0.75},
        *(
            pytest.param(one, marks=pytest.mark.verify)
            for one in ({"delay": 0}, {"delay": 40}, {"increase": 2.0}, {"decrease": 0.25})
        ),
    ],
    ids=str,
)
def test_in_the_air_shares_are_equal_whatever_tcp_does(second: dict[str, float]) -> None:
    """Fig. 7 and 8(b). A timeout that doubled its own overshoot once broke this for 0.75."""
    mean, half = share_of_second(AIR, **second)

    assert mean == pytest.approx(0.5, abs=EQUAL)
    assert half < EQUAL


def test_on_the_wire_like_uploads_share_alike() -> None:
    mean, half = share_of_second(WIRE)
    assert mean == pytest.approx(0.5, abs=max(half, EQUAL))


def test_on_the_wire_the_nearer_server_gets_more() -> None:
    """Fig. 8(a). The inverse square of the RTTs is the bound for flows that lose together.

    20 ms and 100 ms, and up to 120 ms in the queue for both: between equal shares and that bound.
    """
    mean, half = share_of_second(WIRE, delay=40)
    together = wired_shares(increase=1.0, beta=0.5, rtt_s=[0.020 + 0.120, 0.100 + 0.120])

    assert mean + half < 0.45
    assert mean - half > together.flow_share[1]


@pytest.mark.parametrize(
    ("parameters", "least", "most"),
    [
        ({"increase": 0.5}, 0.33, 0.47),
        ({"increase": 2.0}, 0.53, 0.67),
        ({"decrease": 0.25}, 0.25, 0.47),
        ({"decrease": 0.75}, 0.53, 0.75),
    ],
    ids=str,
)
def test_on_the_wire_shares_follow_alpha_and_beta(
    parameters: dict[str, float], least: float, most: float
) -> None:
    """Fig. 7, in kind: off one half to the side that the parameter says.

    Flows that always lose together would have windows between beta and 1 times peaks that go as
    alpha / (1 - beta): shares of 0.33, 0.67, 0.36 and 0.70. With drop-tail they do not (L10).
    """
    mean, half = share_of_second(WIRE, **parameters)

    assert least < mean - half
    assert mean + half < most


def test_the_bottleneck_moves_near_five_megabits() -> None:
    """Below, goodput is the link's rate less headers; above, it is the air's."""
    wired = interval(metric(both(WIRE), "goodput_bps"))[0]
    air = interval(metric(both(AIR), "goodput_bps"))[0]

    assert wired == pytest.approx(WIRE * 1e6 * 1460 / 1500, rel=0.01)
    assert 4.6e6 < air < 5.0e6

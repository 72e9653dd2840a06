"""The scenarios of paper M: one window of one segment, and two nodes that always have a packet.

D. Miorandi, A. A. Kherani, E. Altman, "A queueing model for HTTP traffic over IEEE 802.11 WLANs",
Computer Networks 50(1), 2006. 802.11b, data 11 Mb/s, control 2 Mb/s, RTS/CTS before every packet,
1000 bytes of payload and 40 of headers, an ACK for every packet, 34 bytes of MAC header and FCS.

Two witnesses, neither of which needs a tolerance:
- One connection with W* = 1 has only one packet in the whole cell, so there is no contention under
  any access rules; without post-backoff its throughput follows from a sum of known times.
- Two nodes that always have a packet (one connection with W* = 1000) are the Markov chain of two
  saturated senders: frames differ in length, but an RTS is an RTS. The model's P_C is 0.060.
"""

from __future__ import annotations

import pytest
from airtcp.models.airtime import Phy, exchange_time_ns
from airtcp.scenario import loads
from airtcp_papers.miorandi.model import Parameters, collision_probability
from peers.samples import answers, interval, metric
from two_senders import two_senders, windows

MSS_BYTES, HEADER_BYTES = 1000, 40

SCENARIO = """
[phy]
standard = "802.11b"
data_rate = "11 Mb/s"
control_rate = "2 Mb/s"
preamble = "long"
symbol_rounding = false
mac_header_bits = 272
llc_bits = 0
rts_bits = 160
[mac]
rts_threshold = "0 B"
rules = {{ preset = "{rules}" }}
[[stations]]
name = "laptop"
count = {stations}
[[flows]]
stations = "laptop"
direction = "{direction}"
application = {application}
[flows.tcp]
mss = "1000 B"
receive_window = {{ segments = {window} }}
initial_window = 1
initial_ssthresh = {{ segments = {window} }}
delayed_ack = {{ every = 1 }}
handshake = "two-way"
min_rto = "200 ms"
initial_rto = "3 s"
pad_last_segment = true
[run]
warmup = "{warmup} s"
duration = "{duration} s"
replications = {replications}
seed = 3
"""


def endless(window: int, rules: str, direction: str = "download") -> str:
    return SCENARIO.format(
        rules=rules,
        stations=1,
        direction=direction,
        application='{ kind = "bulk" }',
        window=window,
        warmup=5,
        duration=200,
        replications=20,
    )


@pytest.mark.parametrize("direction", ["download", "upload"])
@pytest.mark.parametrize("rules", ["standard", "ns-2", "ns-3", "bianchi"])
def test_one_station_with_a_window_of_one_never_collides(rules: str, direction: str) -> None:
    """Data and ACK alternate: each sender waits for the other's packet."""
    runs = answers(endless(1, rules, direction), replications=5)

    for run in runs:
        assert run["counts"]["mac_exchanges"] > 100_000 // 1.5
        assert run["counts"]["collisions"] == 0
        assert run["metrics"]["collision_probability_ap"] == 0.0
        assert run["metrics"]["collision_probability_stations"] == 0.0
        assert run["airtime"]["collision"] == 0.0


def test_its_throughput_is_a_sum_of_times() -> None:
    """Without post-backoff every packet waits DIFS plus 15.5 slots on average, then is sent."""
    text = endless(1, "bianchi")
    phy = Phy.of(loads(text).phy)
    packets = [8 * (MSS_BYTES + HEADER_BYTES), 8 * HEADER_BYTES]
    exchanges = int(exchange_time_ns(phy, packets, rts=True).sum())
    round_trip_ns = 2 * (phy.difs_ns + phy.cw_min / 2 * phy.slot_time_ns) + exchanges
    mean, half = interval(metric(answers(text), "goodput_bps"), 0.999)

    assert half < 0.001 * mean
    assert mean == pytest.approx(8 * MSS_BYTES / round_trip_ns * 1e9, abs=half)


def test_two_backlogged_nodes() -> None:
    """The chain gives 0.0588; the model 0.060, because it uses 1/b for tau (erratum M6)."""
    runs = answers(endless(1000, "bianchi"))
    exact = two_senders(windows(31, 1023, 7)).collision_probability
    model = float(collision_probability(2, Parameters.table_1()))

    assert model == pytest.approx(0.060, abs=0.0005)
    for name in ("collision_probability_ap", "collision_probability_stations"):
        mean, half = interval(metric(runs, name), 0.999)
        assert half < 0.002
        assert mean == pytest.approx(exact, abs=half)
        # The paper's figure is precise to two digits.
        assert mean == pytest.approx(model, abs=0.002)

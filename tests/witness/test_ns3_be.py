"""The real ns-3 (3.44) on 802.11be: one link, endless TCP and UDP over A-MPDUs to one user.

`tests/reference/ns3_be.csv` holds the rows and its README how they were made. The rules are the
preset `ns-3`. ns-3 3.44 has no channel of 320 MHz: arithmetic stands in for it below, and the row
of 160 MHz with two streams, whose symbols hold as many bits.
"""

from __future__ import annotations

from statistics import fmean

import airtcp
import pytest
from airtcp.high_rate import HighRate
from airtcp.scenario import loads
from peers.ns3_modern import ROWS_BE, at, beyond
from peers.references import Point
from peers.samples import metric

LONE_SENDERS = [
    point
    for point in ROWS_BE
    if point.settings.get("udp") == "1" and point.settings["stations"] == "1"
]


@pytest.mark.parametrize("point", ROWS_BE, ids=lambda point: point.parameters)
def test_goodput_is_ns3s(point: Point) -> None:
    """Within 2 % and the interval of the row; the runs of the rows last for .24 to 1.6 s."""
    found = fmean(metric(at(point), "goodput_bps"))

    assert beyond("goodput_bps", ROWS_BE[point]["goodput_bps"], found) == 0.0


@pytest.mark.parametrize("point", LONE_SENDERS, ids=lambda point: point.parameters)
def test_a_lone_sender_is_ns3s(point: Point) -> None:
    """Nothing but the noise of backoffs: .2 %, or the interval of the row; each PPDU alike."""
    runs, rows = at(point), ROWS_BE[point]
    goodput = rows["goodput_bps"]

    found = fmean(metric(runs, "goodput_bps"))
    assert abs(found - goodput.mean) <= max(0.002 * goodput.mean, goodput.half_width)
    if "mpdus_per_data_ppdu_ap" in rows:
        assert set(metric(runs, "mpdus_per_ppdu_ap")) == {rows["mpdus_per_data_ppdu_ap"].mean}


def test_rates_and_preambles_by_arithmetic() -> None:
    """3920 subcarriers of 12 bits, 5/6 of them data: 39,200 bits in 13.6 us.

    Before the data L-STF, L-LTF, L-SIG and RL-SIG of 24 us, U-SIG of 8 us, EHT-SIG of 52 bits in
    one symbol at MCS 1 and in two at MCS 0, EHT-STF of 4 us and one EHT-LTF of 7.2 us.
    """
    rate = HighRate(
        format="eht", mcs=13, spatial_streams=1, channel_width_mhz=320, guard_interval_ns=800
    )
    assert rate.bps / 1e6 == pytest.approx(2882.4, abs=0.05)
    assert rate.preamble_time_ns() == 47_200
    slowest = HighRate(
        format="eht", mcs=0, spatial_streams=1, channel_width_mhz=20, guard_interval_ns=800
    )
    assert slowest.preamble_time_ns() == 51_200


# 320 MHz, one stream, ns-3's rules: 48 us, then 1538 bytes each, 1544 with delimiter and padding.
# MCS 7: 19600 bits a symbol, 400 of 13.6 us in 5484 us: 634 MPDUs. MCS 11 and 13: the window of
# 1024. With AIFS 43 us, 7.5 slots of 9 us, SIFS 16 us and a Block ACK of 72 us.
@pytest.mark.parametrize(("mcs", "mbps"), [(7, 1314.00), (11, 2183.23), (13, 2599.23)])
def test_320_mhz_by_hand(mcs: int, mbps: float) -> None:
    text = f"""
[phy]
standard = "802.11be"
channel_width = "320 MHz"
mcs = {mcs}
[mac]
rules = {{ preset = "ns-3" }}
[mac.edca]
ap.AC_BE = {{ cw_min = 15, cw_max = 1023, aifsn = 3, txop_limit = "0 us" }}
[[stations]]
name = "laptop"
count = 1
[[flows]]
stations = "laptop"
direction = "download"
application = {{ kind = "udp", packet = "1500 B", rate = "saturated" }}
[run]
warmup = "0.5 s"
duration = "20 s"
replications = 1
"""
    found = airtcp.simulate(loads(text)).metrics["goodput_bps"].mean

    # Of 3,600 backoffs the mean is off by 15 / sqrt(12 * 3600) slots, .02 % of the cycle.
    assert found / 1e6 == pytest.approx(mbps, rel=1e-3)

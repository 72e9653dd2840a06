"""The lone sender against the published coefficients and INET's analytic numbers."""

import dataclasses

import numpy as np
import pytest
from airtcp.models.airtime import Phy, Rate
from airtcp.models.max_throughput import lone_sender


@pytest.mark.parametrize(
    ("mbps", "rts", "a", "b"),
    [
        (1, False, 8.0, 1138.0),  # 50 + 310 + 192 + 272 + 10 + 304
        (11, False, 0.72727, 890.73),  # 50 + 310 + 192 + 272/11 + 10 + 304
        (11, True, 0.72727, 1566.73),  # plus 352 + 10 + 304 + 10
    ],
)
def test_jun_coefficients(phy_80211b: Phy, mbps: int, rts: bool, a: float, b: float) -> None:
    """8x/(ax + b) Mb/s: control frames at 1 Mb/s, no LLC, no rounding of the payload."""
    phy = dataclasses.replace(
        phy_80211b,
        data_rate=Rate(mbps * 1_000_000, "dsss"),
        control_rate=Rate(1_000_000, "dsss"),
        mac_header_bits=272,
        llc_bits=0,
        symbol_rounding=False,
    )
    sizes = np.array([100, 1000, 1500])
    result = lone_sender(phy, 8 * sizes, rts=rts)
    assert result.throughput_bps / 1e6 == pytest.approx(8 * sizes / (a * sizes + b), rel=1e-5)


@pytest.mark.parametrize(("mbps", "expected"), [(24, 15.3404), (48, 23.1548), (54, 24.5776)])
def test_inet_80211g(phy_80211g: Phy, mbps: int, expected: float) -> None:
    """1000 bytes in a frame of 1064: 28 of IP and UDP, 8 of LLC, 28 of MAC. ACK at 24 Mb/s."""
    result = lone_sender(
        phy_80211g,
        8 * 1028,
        rts=False,
        payload_bits=8 * 1000,
        data_rate=Rate(mbps * 1_000_000, "ofdm"),
    )
    assert result.throughput_bps / 1e6 == pytest.approx(expected, abs=5e-5)
    assert result.backoff_s == pytest.approx(67.5e-6)
    assert result.cycle_s == pytest.approx(28e-6 + 67.5e-6 + result.exchange_s)

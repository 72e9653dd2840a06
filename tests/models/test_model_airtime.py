"""Airtimes follow the standard, exactly."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import ceil

import pytest
from airtcp.models.airtime import (
    DsssTiming,
    OfdmTiming,
    Phy,
    Rate,
    collision_time_ns,
    exchange_time_ns,
    frame_time_ns,
    mpdu_bits,
    ppdu_time_ns,
)
from hypothesis import given
from hypothesis import strategies as st
from phys import PHY_80211B

DSSS_11 = Rate(11_000_000, "dsss")
DSSS_1 = Rate(1_000_000, "dsss")
OFDM_54 = Rate(54_000_000, "ofdm")


def test_frames_and_exchanges(phy_80211b: Phy) -> None:
    """Basic: 1310 + 10 + 248. RTS/CTS adds 272 + 10 + 248 + 10. Propagation adds 1 us per frame."""
    far = replace(phy_80211b, propagation_delay_ns=1000)
    assert mpdu_bits(phy_80211b, 8 * 1500) == 8 * 1536
    assert frame_time_ns(phy_80211b, 8 * 1500) == 1_310_000
    assert frame_time_ns(phy_80211b, 8 * 1500, data_rate=DSSS_1) == 12_480_000
    for phy, rts, expected in (
        (phy_80211b, False, 1_568_000),
        (phy_80211b, True, 1_568_000 + 540_000),
        (far, False, 1_570_000),
        (far, True, 1_568_000 + 540_000 + 4_000),
    ):
        assert exchange_time_ns(phy, 12000, rts=rts) == expected
    slow_us = (192 + 160) + 10 + (192 + 112) + 10 + 1310 + 10 + (192 + 112)
    slow = exchange_time_ns(phy_80211b, 12000, rts=True, control_rate=DSSS_1)
    assert slow == slow_us * 1000
    assert collision_time_ns(far, 12000, rts=False) == 1_311_000
    assert collision_time_ns(far, [320, 12000], rts=True).tolist() == [273_000, 273_000]


@given(
    bits=st.integers(0, 100_000),
    bps=st.integers(1, 600_000_000),
    symbol_ns=st.integers(1, 10_000),
    service=st.integers(0, 64),
    rounding=st.booleans(),
)
def test_equal_to_exact_fractions(
    bits: int, bps: int, symbol_ns: int, service: int, rounding: bool
) -> None:
    """A second computation in rationals, with rates and symbols that do not divide evenly."""
    ofdm_timing = OfdmTiming(11, 13, symbol_ns, service, 6, 17)
    phy = replace(PHY_80211B, dsss=DsssTiming(5, 7), ofdm=ofdm_timing, symbol_rounding=rounding)
    payload = Fraction(bits * 10**9, bps)
    coded = Fraction((bits + service + 6) * 10**9, bps)
    dsss = 1000 * ceil(payload / 1000) if rounding else ceil(payload)
    ofdm = symbol_ns * ceil(coded / symbol_ns) if rounding else ceil(coded)
    assert ppdu_time_ns(phy, Rate(bps, "dsss"), bits) == 12 + dsss
    assert ppdu_time_ns(phy, Rate(bps, "ofdm"), bits) == 41 + ofdm


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda phy: ppdu_time_ns(phy, DSSS_11, -1), r"^bits must be at least 0"),
        (lambda phy: frame_time_ns(phy, [8.0, 8.5]), r"^msdu_bits must be a whole number"),
        (lambda phy: ppdu_time_ns(phy, DSSS_11, 10**18), r"^bits must be at most"),
        (lambda phy: ppdu_time_ns(phy, OFDM_54, 8), "phy has no ofdm section"),
        (lambda phy: ppdu_time_ns(replace(phy, dsss=None), DSSS_1, 8), "phy has no dsss section"),
        (lambda phy: Rate(0, "dsss"), r"^bps must be greater than 0"),
        (lambda phy: Rate(1.5, "dsss"), r"^bps must be .*, whole"),  # type: ignore[arg-type]
        (lambda phy: Rate(1, "fhss"), r"^modulation must be one of"),
        (lambda phy: Rate(72_222_222, "ht"), r"^high is only for 802.11n and later"),
        (lambda phy: replace(phy, sifs_ns=-1), r"^sifs_ns must be at least 0"),
        (lambda phy: replace(phy, cw_max=15), r"^cw_max must be at least 31"),
        (lambda phy: replace(phy, rts_bits="160"), r"^rts_bits must be a real number"),
        (lambda phy: replace(phy, dsss=DsssTiming(1, -1)), r"^plcp_header_time_ns must be at"),
        (lambda phy: replace(phy, ofdm=OfdmTiming(0, 0, 0, 0, 0, 0)), r"^symbol_time_ns must be g"),
    ],
)
def test_bad_input_is_named(phy_80211b: Phy, call: Callable[[Phy], object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        call(phy_80211b)

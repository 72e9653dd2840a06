"""Airtimes are those of the standard, and exact."""

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
from hypothesis import given, settings
from hypothesis import strategies as st

DSSS_11 = Rate(11_000_000, "dsss")
DSSS_1 = Rate(1_000_000, "dsss")
OFDM_54 = Rate(54_000_000, "ofdm")


@pytest.mark.parametrize(
    ("size_bytes", "rate", "microseconds"),
    [
        (1536, DSSS_11, 1310),  # 192 + ceil(12288 / 11) = 192 + ceil(1117.1)
        (14, DSSS_11, 203),  # 192 + ceil(10.2)
        (14, DSSS_1, 304),  # 192 + 112
    ],
)
def test_80211b_long_and_short_preamble(
    phy_80211b: Phy, size_bytes: int, rate: Rate, microseconds: int
) -> None:
    short = replace(phy_80211b, dsss=DsssTiming(72_000, 24_000))

    assert ppdu_time_ns(phy_80211b, rate, 8 * size_bytes) == microseconds * 1000
    assert ppdu_time_ns(short, rate, 8 * size_bytes) == (microseconds - 96) * 1000


@pytest.mark.parametrize(
    ("size_bytes", "microseconds"),
    [
        (1536, 248),  # 20 + 4 ceil((22 + 12288) / 216) = 20 + 4 * 57
        (76, 32),  # 20 + 4 ceil(630 / 216) = 20 + 4 * 3
        (14, 24),  # 20 + 4 ceil(134 / 216)
    ],
)
def test_ofdm_at_54_and_6_us_more_in_80211g(
    phy_80211a: Phy, phy_80211g: Phy, size_bytes: int, microseconds: int
) -> None:
    bits = 8 * size_bytes

    assert ppdu_time_ns(phy_80211a, OFDM_54, bits) == microseconds * 1000
    assert ppdu_time_ns(phy_80211g, OFDM_54, bits) == (microseconds + 6) * 1000


def test_mpdu_adds_mac_header_and_llc(phy_80211b: Phy) -> None:
    assert mpdu_bits(phy_80211b, 8 * 1500) == 8 * 1536
    assert frame_time_ns(phy_80211b, 8 * 1500) == 1_310_000
    assert frame_time_ns(phy_80211b, 8 * 1500, data_rate=DSSS_1) == 12_480_000


def test_exchanges(phy_80211b: Phy) -> None:
    """Basic: 1310 + 10 + 248. RTS/CTS: 272 + 10 + 248 + 10 before it. Each frame travels 1 us."""
    far = replace(phy_80211b, propagation_delay_ns=1000)

    assert exchange_time_ns(phy_80211b, 12000, rts=False) == 1_568_000
    assert exchange_time_ns(phy_80211b, 12000, rts=True) == 1_568_000 + 540_000
    assert exchange_time_ns(far, 12000, rts=False) == 1_570_000
    assert exchange_time_ns(far, 12000, rts=True) == 1_568_000 + 540_000 + 4_000
    assert (
        exchange_time_ns(phy_80211b, 12000, rts=True, control_rate=DSSS_1)
        == ((192 + 160) + 10 + (192 + 112) + 10 + 1310 + 10 + (192 + 112)) * 1000
    )


def test_collisions(phy_80211b: Phy) -> None:
    far = replace(phy_80211b, propagation_delay_ns=1000)

    assert collision_time_ns(far, 12000, rts=False) == 1_311_000
    assert collision_time_ns(far, [320, 12000], rts=True).tolist() == [273_000, 273_000]


@settings(deadline=None)
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
    """A second computation, in rationals, for rates and symbols that divide nothing evenly."""
    phy = Phy(
        data_rate=Rate(bps, "dsss"),
        control_rate=Rate(bps, "ofdm"),
        slot_time_ns=0,
        sifs_ns=0,
        difs_ns=0,
        eifs_ns=0,
        dsss=DsssTiming(5, 7),
        ofdm=OfdmTiming(11, 13, symbol_ns, service, 6, 17),
        symbol_rounding=rounding,
        propagation_delay_ns=0,
        cw_min=0,
        cw_max=0,
        rts_bits=0,
        cts_bits=0,
        ack_bits=0,
        mac_header_bits=0,
        llc_bits=0,
    )
    payload = Fraction(bits * 10**9, bps)
    coded = Fraction((bits + service + 6) * 10**9, bps)
    dsss = 1000 * ceil(payload / 1000) if rounding else ceil(payload)
    ofdm = symbol_ns * ceil(coded / symbol_ns) if rounding else ceil(coded)

    assert ppdu_time_ns(phy, phy.data_rate, bits) == 12 + dsss
    assert ppdu_time_ns(phy, phy.control_rate, bits) == 41 + ofdm


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
        (
            lambda phy: replace(phy, ofdm=OfdmTiming(0, 0, 0, 0, 0, 0)),
            r"^symbol_time_ns must be greater than 0",
        ),
    ],
)
def test_bad_input_is_named(phy_80211b: Phy, call: Callable[[Phy], object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        call(phy_80211b)

"""PHYs of the standards, for the tests of models here and in papers."""

import dataclasses

import pytest
from airtcp.models.airtime import DsssTiming, OfdmTiming, Phy, Rate

PHY_80211B = Phy(
    data_rate=Rate(11_000_000, "dsss"),
    control_rate=Rate(2_000_000, "dsss"),
    slot_time_ns=20_000,
    sifs_ns=10_000,
    difs_ns=50_000,
    eifs_ns=364_000,
    dsss=DsssTiming(preamble_time_ns=144_000, plcp_header_time_ns=48_000),
    ofdm=None,
    symbol_rounding=True,
    propagation_delay_ns=0,
    cw_min=31,
    cw_max=1023,
    rts_bits=160,
    cts_bits=112,
    ack_bits=112,
    mac_header_bits=224,
    llc_bits=64,
)
PHY_80211A = dataclasses.replace(
    PHY_80211B,
    data_rate=Rate(54_000_000, "ofdm"),
    control_rate=Rate(24_000_000, "ofdm"),
    slot_time_ns=9_000,
    sifs_ns=16_000,
    difs_ns=34_000,
    eifs_ns=94_000,
    dsss=None,
    ofdm=OfdmTiming(16_000, 4_000, 4_000, 16, 6, 0),
    cw_min=15,
)
PHY_80211G = dataclasses.replace(
    PHY_80211A, sifs_ns=10_000, difs_ns=28_000, ofdm=OfdmTiming(16_000, 4_000, 4_000, 16, 6, 6_000)
)


@pytest.fixture
def phy_80211b() -> Phy:
    return PHY_80211B


@pytest.fixture
def phy_80211a() -> Phy:
    return PHY_80211A


@pytest.fixture
def phy_80211g() -> Phy:
    return PHY_80211G

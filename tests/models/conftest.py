"""PHYs as resolved scenarios have them, for the tests of the models."""

import copy
from typing import Any

import pytest
from airtcp.models.airtime import Phy

DSSS = {"preamble_time_ns": 144_000, "plcp_header_time_ns": 48_000}
OFDM = {
    "preamble_time_ns": 16_000,
    "plcp_header_time_ns": 4_000,
    "symbol_time_ns": 4_000,
    "service_bits": 16,
    "tail_bits": 6,
    "signal_extension_ns": 0,
}
SECTION_80211B: dict[str, Any] = {
    "standard": "802.11b",
    "data_rate": {"bps": 11_000_000, "modulation": "dsss"},
    "control_rate": {"bps": 2_000_000, "modulation": "dsss"},
    "slot_time_ns": 20_000,
    "sifs_ns": 10_000,
    "difs_ns": 50_000,
    "eifs_ns": 364_000,
    "ack_timeout_ns": 222_000,
    "dsss": DSSS,
    "ofdm": None,
    "symbol_rounding": True,
    "propagation_delay_ns": 0,
    "cw_min": 31,
    "cw_max": 1023,
    "rts_bits": 160,
    "cts_bits": 112,
    "ack_bits": 112,
    "mac_header_bits": 224,
    "llc_bits": 64,
}
SECTION_80211A: dict[str, Any] = SECTION_80211B | {
    "standard": "802.11a",
    "data_rate": {"bps": 54_000_000, "modulation": "ofdm"},
    "control_rate": {"bps": 24_000_000, "modulation": "ofdm"},
    "slot_time_ns": 9_000,
    "sifs_ns": 16_000,
    "difs_ns": 34_000,
    "eifs_ns": 94_000,
    "dsss": None,
    "ofdm": OFDM,
    "cw_min": 15,
}
SECTION_80211G: dict[str, Any] = SECTION_80211A | {
    "standard": "802.11g",
    "sifs_ns": 10_000,
    "difs_ns": 28_000,
    "ofdm": OFDM | {"signal_extension_ns": 6_000},
}


@pytest.fixture
def section_80211b() -> dict[str, Any]:
    """A copy, so that a test may change it."""
    return copy.deepcopy(SECTION_80211B)


@pytest.fixture
def phy_80211b() -> Phy:
    return Phy.from_resolved(SECTION_80211B)


@pytest.fixture
def phy_80211a() -> Phy:
    return Phy.from_resolved(SECTION_80211A)


@pytest.fixture
def phy_80211g() -> Phy:
    return Phy.from_resolved(SECTION_80211G)

"""Timing that follows from other keys: DIFS, EIFS, ACK timeouts, symbols, control rates."""

from pathlib import Path

import pytest
from airtcp.scenario import ResolvedScenario, load, loads

VALID = Path(__file__).parents[1] / "scenarios" / "valid"
US = 1000


def valid(name: str) -> ResolvedScenario:
    return load(VALID / f"{name}.toml")


@pytest.mark.parametrize(
    ("name", "difs_us", "eifs_us", "ack_timeout_us"),
    [
        ("minimal", 50, 364, 222),
        # An ACK at 1 Mb/s still has the long preamble: EIFS as above. 10 + 20 + 96.
        ("short_preamble", 50, 364, 126),
        # ACK: 20 + 4 ceil(134/24) = 44, 16 + 44 + 34; 16 + 9 + 25.
        ("ofdm", 34, 94, 50),
        # 10 + 304 + 28; 10 + 9 + 24.
        ("erp", 28, 342, 43),
        # Long slots: 10 + 304 + 50; a station responds in DSSS: 10 + 20 + 192.
        ("erp_mixed", 50, 364, 222),
        # 20 + 2 x 10; ACK 32 + 8 + 4 ceil(150/24) = 68, 20 + 68 + 40; 20 + 10 + 40 + 5.
        ("derived_timing", 40, 128, 75),
        # 28 + 128 + 112 + 128 us.
        ("bianchi_fhss", 128, 396, 300),
    ],
)
def test_derived_timing(name: str, difs_us: int, eifs_us: int, ack_timeout_us: int) -> None:
    phy = valid(name).phy
    assert phy.difs_ns == difs_us * US
    assert phy.eifs_ns == eifs_us * US
    assert phy.ack_timeout_ns == ack_timeout_us * US


def test_eifs_without_rounding_is_rounded_up_to_nanoseconds() -> None:
    text = (VALID / "derived_timing.toml").read_text()
    phy = loads(text.replace("ack_bits = 128", "ack_bits = 128\nsymbol_rounding = false")).phy
    # 150 bits at 6 Mb/s are exactly 25 us; with 127 bits of ACK 149/6 = 24.8333... us.
    assert phy.eifs_ns == 20 * US + 40 * US + 25 * US + 40 * US
    phy = loads(text.replace("ack_bits = 128", "ack_bits = 127\nsymbol_rounding = false")).phy
    assert phy.eifs_ns == 20 * US + 40 * US + 24_834 + 40 * US


def test_overridden_preambles_belong_to_the_modulation_of_the_data_rate() -> None:
    text = (VALID / "erp.toml").read_text()
    header = 'standard = "802.11g"\npreamble_time = "10 us"\nplcp_header_time = "1 us"'
    ofdm = loads(text.replace('standard = "802.11g"', header)).phy
    dsss = loads(text.replace('standard = "802.11g"', header + '\ndata_rate = "11 Mb/s"')).phy
    assert (ofdm.ofdm.preamble_time_ns, ofdm.dsss.preamble_time_ns) == (10 * US, 144 * US)
    assert ofdm.eifs_ns == 342 * US  # an ACK in DSSS, as before
    assert ofdm.ack_timeout_ns == (10 + 9 + 11 + 4) * US
    assert (dsss.ofdm.preamble_time_ns, dsss.dsss.preamble_time_ns) == (16 * US, 10 * US)
    # With 802.11b stations the slot is long.
    assert dsss.eifs_ns == (10 + 11 + 112 + 50) * US
    assert dsss.ack_timeout_ns == (10 + 20 + 11) * US


def test_control_rates_of_groups() -> None:
    found = [
        (name, group.name, group.control_rate.bps / 1e6, group.control_rate.modulation)
        for name in ("ofdm", "erp_mixed", "short_preamble")
        for group in valid(name).stations
    ]
    assert found == [
        ("ofdm", "near", 24, "ofdm"),
        ("ofdm", "far", 12, "ofdm"),
        ("erp_mixed", "new", 24, "ofdm"),
        ("erp_mixed", "old", 2, "dsss"),
        ("short_preamble", "near", 2, "dsss"),
        ("short_preamble", "far", 2, "dsss"),
    ]

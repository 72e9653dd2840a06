"""Paper H's radios: Tables I and II, symbols, and any other PHY instead."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from airtcp.models import airtime
from airtcp.models.airtime import Phy, Rate
from airtcp_papers.hoekstra.model import (
    TABLE_1,
    TABLE_1_PROVENANCE,
    TIME_UNIT_S,
    Beacon,
    Dialogue,
    Parameters,
    Radio,
    acknowledged_time,
    data_time,
    effective_service_time,
    frame_time,
)

TESTBED = Parameters.testbed()
STANDARDS: list[Any] = ["802.11a", "802.11b", "802.11g", "802.11n"]


def test_table_1_as_printed() -> None:
    """Rows of a, b, g, n: integers in us, bits and Mb/s."""
    rows = {
        name: (
            radio.cw_min,
            radio.mac_bits,
            *(round(x * 1e6, 6) for x in (radio.slot_s, radio.sifs_s, radio.difs_s, radio.eifs_s)),
            round(radio.phy_s * 1e6, 6),
            radio.ack_bits,
            round(radio.propagation_s * 1e6, 6),
            radio.data_rate_bps / 1e6,
            radio.control_rate_bps / 1e6,
            radio.symbol_s,
        )
        for name, radio in TABLE_1.items()
    }

    assert rows == {
        "802.11a": (15, 246, 9, 16, 34, 90, 20, 134, 1, 54, 24, 4e-6),
        "802.11b": (31, 224, 20, 10, 50, 364, 192, 112, 1, 11, 1, None),
        "802.11g": (15, 246, 9, 10, 28, 342, 26, 134, 1, 54, 24, 4e-6),
        "802.11n": (15, 246, 9, 16, 34, 90, 20, 134, 1, 54, 24, 4e-6),
    }
    assert set(TABLE_1_PROVENANCE) == {field.name for field in dataclasses.fields(Radio)}
    assert all(r.management_rate_bps == r.control_rate_bps for r in TABLE_1.values())


def test_table_2() -> None:
    assert dataclasses.astuple(Dialogue())[:5] == (48, 392, 272, 704, 184)
    assert (TESTBED.mss_bits, TESTBED.upper_bits) == (8 * 1460, 320 + 64)
    assert TESTBED.propagation_s == 1e-9
    assert TESTBED.beacon is not None
    assert TESTBED.beacon.frame_s * 1e6 == pytest.approx(192 + 584)
    assert TESTBED.beacon.interval_s == pytest.approx(100 * TIME_UNIT_S)
    assert pytest.approx(1024e-6) == TIME_UNIT_S  # H1


def test_whole_symbols() -> None:
    """H7: T_d(11680) of 802.11a is 20 us and 12310/216 or 57 symbols of 4 us; T_c 134/96 or 2."""
    printed, rounded = (
        Parameters.table_1("802.11a", symbols=symbols) for symbols in ("ignored", "rounded")
    )

    assert data_time(11680, printed) * 1e6 == pytest.approx(20 + 4 * 12310 / 216)
    assert data_time(11680, rounded) * 1e6 == pytest.approx(20 + 4 * 57)
    assert printed.mac_ack_s * 1e6 == pytest.approx(20 + 4 * 134 / 96)
    assert rounded.mac_ack_s * 1e6 == pytest.approx(28)
    assert Parameters.table_1("802.11b", symbols="rounded") == Parameters.table_1("802.11b")


def test_a_whole_number_of_symbols_is_not_one_more() -> None:
    """86.4 bits a symbol: 432 bits are 5, although 24e6 * 3.6e-6 is less than 86.4 in doubles."""
    k = np.arange(1, 5000)

    assert frame_time(432 * k, 0.0, 24e6, 3.6e-6) / 3.6e-6 == pytest.approx(5 * k)
    assert frame_time(432 * k + 1, 0.0, 24e6, 3.6e-6) / 3.6e-6 == pytest.approx(5 * k + 1)


@pytest.mark.parametrize("fixture", ["phy_80211a", "phy_80211b", "phy_80211g"])
@pytest.mark.parametrize("rounding", [True, False])
def test_frames_of_a_phy_last_as_long_as_airtime_says(
    request: pytest.FixtureRequest, fixture: str, rounding: bool
) -> None:
    """To the nanosecond (without symbol rounding, `airtime` rounds up to whole nanoseconds)."""
    phy: Phy = dataclasses.replace(request.getfixturevalue(fixture), symbol_rounding=rounding)
    sizes = np.array([0, 40, 536, 1459, 1460])
    parameters = Parameters.from_phy(phy, mss_bytes=1460, header_bits=320)
    frames = airtime.frame_time_ns(phy, 320 + 8 * sizes)
    exchanges = airtime.exchange_time_ns(phy, 320 + 8 * sizes, rts=False) + phy.difs_ns

    slack = 1e-3 if rounding else 1.0
    assert data_time(8 * sizes, parameters) * 1e9 == pytest.approx(frames, abs=slack)
    assert acknowledged_time(8 * sizes, parameters) * 1e9 == pytest.approx(exchanges, abs=slack)


def test_testbed_as_a_phy(phy_80211b: Phy) -> None:
    phy = dataclasses.replace(
        phy_80211b,
        control_rate=Rate(11_000_000, "dsss"),
        symbol_rounding=False,
        propagation_delay_ns=1,
    )
    beacon = Beacon.from_phy(phy, Rate(1_000_000, "dsss"), interval_s=0.1024)
    scenario = Parameters.from_phy(phy, mss_bytes=1460, header_bits=320, beacon=beacon)

    ours, paper = (effective_service_time(2e5, p) for p in (scenario, TESTBED))
    assert ours.est_with_beacons_s == pytest.approx(paper.est_with_beacons_s, rel=1e-6)
    slow = Parameters.from_phy(
        phy, mss_bytes=1460, header_bits=320, data_rate=Rate(1_000_000, "dsss")
    )
    assert slow.data_rate_bps == 1e6
    assert slow.beacon is None

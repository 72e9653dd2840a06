"""Stations of several standards on one access point: the common features and airtimes of a pair.

The goodput of mixed networks is compared with ns-3 in `witness/test_ns3_rows.py`.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any

import pytest
from airtcp import ScenarioError, _core
from airtcp.airtime import ppdu_ns
from airtcp.amendments import AMENDMENTS, block_ack_bits
from airtcp.run.simulate import simulate
from airtcp.scenario import ResolvedScenario, Scenario
from airtcp.scenario.load import resolve
from networks import BANDS

PAIRS = [
    (band, newer, older)
    for band, standards in BANDS.items()
    for older, newer in itertools.combinations(standards, 2)
    if newer in AMENDMENTS
]

UDP = {"kind": "udp", "packet": "1500 B", "rate": "saturated"}
UPLOAD = {"direction": "upload", "start_spread": "0 s", "application": UDP}
NEAR = {"name": "near", "count": 1, "standard": "802.11b"}


def scenario(
    standard: str,
    band: str,
    own: dict[str, Any],
    others: Sequence[dict[str, Any]] = (),
    **tables: dict[str, Any],
) -> Scenario:
    """One station that uploads UDP, with its own keys, and idle others."""
    tables["phy"] = {"standard": standard, "band": band, **tables.get("phy", {})}
    stations = [{"name": "one", "count": 1, **own}, *others]
    return resolve(tables | {"stations": stations, "flows": [{"stations": "one", **UPLOAD}]})


@pytest.mark.parametrize(("band", "newer", "older"), PAIRS)
def test_the_older_standard_decides(band: str, newer: str, older: str) -> None:
    own = scenario(older, band, {}) if older in AMENDMENTS else None
    (group,) = scenario(newer, band, {"standard": older}).stations
    pair = group.pair
    assert pair.standard == older
    if own is None:
        assert (pair.high_rate, pair.aggregation) == (None, None)
        assert group.data_rate.bps == (11_000_000 if older == "802.11b" else 54_000_000)
        return
    # A newer station uses what an older access point supports.
    assert scenario(older, band, {"standard": newer}) == own
    amendment = AMENDMENTS[older]
    assert pair.high_rate == own.phy.high_rate
    assert pair.aggregation.block_ack_window == amendment.window
    assert pair.aggregation.block_ack_bits == block_ack_bits(amendment.window)
    assert pair.aggregation.ampdu_bytes == amendment.ampdu_bytes
    assert group.data_rate.modulation == amendment.format
    high = group.data_rate.high
    cell = scenario(newer, band, {}).phy.data_rate.high
    assert high.channel_width_mhz == min(cell.channel_width_mhz, widest(older, band))


@pytest.mark.parametrize(
    ("band", "own", "path", "said"),
    [
        ("2.4 GHz", {"standard": "802.11ac"}, "standard", "no channel in 2.4 GHz"),
        ("2.4 GHz", {"standard": "802.11a"}, "standard", "no channel in 2.4 GHz"),
        ("5 GHz", {"standard": "802.11b"}, "standard", "no channel in 5 GHz"),
        ("5 GHz", {"standard": "802.11g"}, "standard", "no channel in 5 GHz"),
        ("6 GHz", {"standard": "802.11n"}, "standard", "no channel in 6 GHz"),
        ("5 GHz", {"standard": "802.11a", "mcs": 3}, "mcs", "not a key of 802.11a"),
        ("5 GHz", {"standard": "802.11n", "data_rate": "54 Mb/s"}, "data_rate", "not a key of"),
        ("5 GHz", {"standard": "802.11n", "mcs": 9}, "mcs", "not in 802.11n"),
        ("5 GHz", {"standard": "802.11n", "channel_width": "80 MHz"}, "channel_width", "not in 8"),
    ],
)
def test_what_a_station_cannot_do_is_refused(
    band: str, own: dict[str, Any], path: str, said: str
) -> None:
    with pytest.raises(ScenarioError) as refused:
        scenario("802.11ax", band, own)
    assert f"stations[0] (one).{path}" in str(refused.value)
    assert said in str(refused.value)


def test_values_of_the_cell_hold_as_far_as_the_older_standard_has_them() -> None:
    phy = {"mcs": 11, "spatial_streams": 6, "guard_interval": "1600 ns", "channel_width": "80 MHz"}
    (group,) = scenario("802.11ax", "5 GHz", {"standard": "802.11n"}, phy=phy).stations
    high = group.data_rate.high
    assert (high.mcs, high.spatial_streams) == (7, 4)
    assert (high.channel_width_mhz, high.guard_interval_ns) == (40, 400)


def rates(older: str, band: str) -> list[dict[str, Any]]:
    """Keys for about sixty rates of a standard."""
    amendment = AMENDMENTS.get(older)
    if amendment is None:
        mbps = ["1", "2", "5.5", "11"] if older == "802.11b" else ["6", "24", "54"]
        return [{"data_rate": f"{rate} Mb/s"} for rate in mbps]
    axes = itertools.product(
        (width for width in amendment.subcarriers if width <= widest(older, band)),
        range(1, amendment.most_streams + 1),
        range(amendment.highest_mcs + 1),
        amendment.guard_intervals_ns,
    )
    own = [
        {"channel_width": f"{width} MHz", "spatial_streams": streams, "mcs": mcs}
        | {"guard_interval": f"{guard} ns"}
        for width, streams, mcs, guard in axes
        if (width, streams, mcs) not in amendment.missing
    ]
    return own[:: max(1, len(own) // 60)]


def widest(standard: str, band: str) -> int:
    return AMENDMENTS[standard].widest_mhz[float(band.partition(" ")[0])]


@pytest.mark.parametrize(("band", "newer", "older"), PAIRS)
def test_frames_of_a_pair_last_equally_long_in_both(band: str, newer: str, older: str) -> None:
    """At the older standard's rates, in the core and in Python, which share no code."""
    phy = {"channel_width": f"{widest(newer, band)} MHz"}
    for keys in rates(older, band):
        mixed = scenario(newer, band, {"standard": older, **keys}, phy=phy)
        (group,) = mixed.stations
        text = json.dumps(mixed.to_dict())
        for bits in (8 * 40, 8 * 1_538, 8 * 60_000):
            expected = ppdu_ns(mixed.phy_of(group), bits, group.data_rate)
            assert _core.airtime_ns(text, bits, group.data_rate.bps) == expected, keys


@pytest.mark.parametrize("beside", ["nobody", "802.11b"])
@pytest.mark.parametrize(("band", "newer", "older"), PAIRS)
def test_a_whole_exchange_lasts_what_the_standard_says(
    band: str, newer: str, older: str, beside: str
) -> None:
    """A lone sender has a fixed period: AIFS, CTS if 802.11b stations are near, data, SIFS, ACK."""
    if beside == "802.11b" and band != "2.4 GHz":
        return
    tables: dict[str, dict[str, Any]] = {
        "phy": {"cw_min": 0, "cw_max": 0},
        "mac": {"aggregation": {"block_ack_window": 1}},
    }

    def of(duration_ns: int) -> ResolvedScenario:
        run = {"warmup": "0 s", "duration": f"{duration_ns} ns", "replications": 1}
        others = [NEAR] if beside == "802.11b" else []
        return scenario(newer, band, {"standard": older}, others, run=run, **tables)

    def exchanges(duration_ns: int) -> int:
        (run,) = simulate(of(duration_ns)).simulation.runs
        return int(run.answer["counts"]["mac_exchanges"])

    mixed = of(10**6)
    group, phy = mixed.stations[0], mixed.phy_of(mixed.stations[0])
    has_delimiter = older in AMENDMENTS and AMENDMENTS[older].lone_delimiter
    bits = 8 * 1_500 + phy.mac_header_bits + phy.llc_bits + (32 if has_delimiter else 0)
    period = 10_000 if band == "2.4 GHz" else 16_000
    period += 3 * (20_000 if "802.11b" in (older, beside) else 9_000)
    if beside == "802.11b" and older != "802.11b":
        # 192 us and 14 bytes at 2 Mb/s, and SIFS.
        period += 192_000 + 56_000 + 10_000
    period += ppdu_ns(phy, bits, group.data_rate) + phy.sifs_ns
    period += ppdu_ns(phy, phy.ack_bits, group.control_rate)
    assert exchanges(1000 * period) == 999
    assert exchanges(1000 * period + 1) == 1000


@pytest.mark.parametrize(
    ("rule", "width", "received"),
    [("received", "20 MHz", 1), ("lost", "20 MHz", 0), ("received", "40 MHz", 0)],
)
def test_a_narrow_a_mpdu_that_outlasts_a_collision(rule: str, width: str, received: int) -> None:
    """Next to 64 MPDUs at 80 MHz (1.86 ms) it is 6 dB stronger at 20 MHz, and 3 dB at 40 MHz.

    AIFS of 43 us, 5338.8 us of 31 MPDUs (3495.6 us of 42 at 40 MHz), SIFS, Block ACK of 32 us.
    """
    access = {"AC_BE": {"aifsn": 3, "cw_min": 15, "cw_max": 1023, "txop_limit": "0 us"}}
    rules = {"preset": "ns-3", "narrow_collider": rule}
    tables: dict[str, Any] = {
        "phy": {"standard": "802.11ax", "band": "5 GHz", "channel_width": "80 MHz"},
        "mac": {"rules": rules, "edca": {"ap": access, "stations": access}},
        "stations": [
            {"name": "old", "count": 1, "standard": "802.11n", "channel_width": width},
            {"name": "new", "count": 1, "standard": "802.11ac", "mcs": 9},
        ],
        "flows": [{"stations": name, **UPLOAD} for name in ("old", "new")],
    }

    def exchanges(duration_ns: int) -> int:
        run = {"warmup": "0 s", "duration": f"{duration_ns} ns", "replications": 1}
        (one,) = simulate(resolve(tables | {"run": run})).simulation.runs
        assert one.answer["counts"]["collisions"] == 1
        return int(one.answer["counts"]["mac_exchanges"])

    data_ns = 5_338_800 if width == "20 MHz" else 3_495_600
    end_ns = 43_000 + data_ns + 16_000 + 32_000
    assert (exchanges(end_ns), exchanges(end_ns + 1)) == (0, received)


def test_a_data_rate_without_a_standard_is_refused_with_what_is_missing() -> None:
    old = {"data_rate": "11 Mb/s"}
    with pytest.raises(ScenarioError, match=r'standard = "802\.11g"'):
        scenario("802.11n", "2.4 GHz", old)
    scenario("802.11n", "2.4 GHz", old | {"standard": "802.11b"})

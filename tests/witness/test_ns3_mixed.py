"""The real ns-3 (3.44) on stations of several standards at one access point.

`tests/reference/ns3_mixed.csv` and `validation/ns3/mixed.csv` hold the rows, and the README of each
how they were made. Beside the
interval of the row the goodput of each flow has to be met within 3 %, the sum within 2 %, shares of
failed PPDUs within 0.02 and MPDUs in a PPDU within 3 %.
"""

from __future__ import annotations

from statistics import fmean

import pytest
from peers.ns3_modern import ROWS_MIXED, scenario
from peers.references import Point
from peers.samples import answers, metric

#: How near each metric of theirs has to be to ours of another name, beside the interval of the row.
NEAR = {
    "goodput_bps": ("goodput_bps", 0.02, 0.0),
    "mpdus_per_data_ppdu_ap": ("mpdus_per_ppdu_ap", 0.03, 0.0),
    "failed_ppdu_ratio_ap": ("failed_ppdu_ratio_ap", 0.0, 0.02),
    "failed_ppdu_ratio_stations": ("failed_ppdu_ratio_stations", 0.0, 0.02),
}


@pytest.mark.parametrize("point", ROWS_MIXED, ids="-".join)
def test_each_flow_has_the_goodput_of_ns3(point: Point) -> None:
    rows = ROWS_MIXED[point]
    text = scenario(point).replace('duration = "6 s"', 'duration = "20 s"')
    runs = answers(text.replace("replications = 2", "replications = 4"))

    flows = [row for name, row in rows.items() if name.startswith("flow_goodput_bps")]
    assert len(flows) == len(runs[0]["flows"])
    for place, row in enumerate(flows):
        found = fmean(run["flows"][place]["goodput_bps"] for run in runs)
        assert abs(found - row.mean) <= row.half_width + 0.03 * row.mean
    for theirs, (ours, share, least) in NEAR.items():
        known = rows.get(theirs)
        if known is None or None in [run["metrics"][ours] for run in runs]:
            continue
        apart = abs(fmean(metric(runs, ours)) - known.mean)
        assert apart <= known.half_width + share * known.mean + least, theirs

"""The figures of "Ending the anomaly", and the meaning of airtime shares."""

import numpy as np
import pytest
from airtcp.models.airtime_fairness import aggregate_time_s, shares, station_rate

RATES = np.array([144.4e6, 144.4e6, 7.2e6])
#: Measured mean aggregates in bytes, and a station's throughput alone with them in Mb/s.
FIFO = np.array([6892, 7833, 2914]), (97.3, 101.1, 6.5)
FAIR = np.array([28434, 28557, 2914]), (126.7, 126.8, 6.5)


@pytest.mark.parametrize(("payload", "alone"), [FIFO, FAIR])
def test_what_a_station_gets_alone(payload: np.ndarray, alone: tuple[float, ...]) -> None:
    assert station_rate(payload, RATES) / 1e6 == pytest.approx(alone, rel=0.01)


@pytest.mark.parametrize(
    ("payload", "sharing", "total"), [(FIFO[0], "ppdus", 26), (FAIR[0], "airtime", 87)]
)
def test_the_sum_with_and_without_airtime_fairness(
    payload: np.ndarray, sharing: str, total: float
) -> None:
    alone = station_rate(payload, RATES)
    said = shares(8 * payload, aggregate_time_s(payload, RATES), 8 * payload / alone, sharing)  # type: ignore[arg-type]
    assert said.total_bps / 1e6 == pytest.approx(total, rel=0.01)
    assert said.airtime.sum() == pytest.approx(1.0)
    assert said.rate_bps == pytest.approx(said.airtime * alone)


def test_what_is_shared_is_shared_equally() -> None:
    payload, cycle, packets = np.array([3e4, 8e3]), np.array([2e-3, 5e-3]), np.array([30.0, 8.0])
    by = {
        sharing: shares(payload, cycle, cycle, sharing, packets=packets)
        for sharing in ("packets", "ppdus", "airtime")
    }
    ppdus = by["ppdus"].rate_bps / payload
    assert ppdus[0] == pytest.approx(ppdus[1])
    each = by["packets"].rate_bps / payload * packets
    assert each[0] == pytest.approx(each[1])
    assert by["airtime"].airtime == pytest.approx([0.5, 0.5])
    assert by["packets"].total_bps < by["ppdus"].total_bps < by["airtime"].total_bps

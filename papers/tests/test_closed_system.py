"""Flow-level simulation against paper M's closed system: stations that think between transfers."""

import pytest
from airtcp.distributions import Deterministic, Distribution, Exponential, Pareto
from airtcp_papers.common.flows import closed_processor_sharing
from airtcp_papers.miorandi import model
from test_flows import CONFIDENCE, assert_distribution, contains

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("sizes", "think_times"),
    [
        (Exponential(mean=30_000), Exponential(mean=2.0)),
        (Pareto(shape=1.5, scale=10_000), Deterministic(value=2.0)),
        # With a shape of 1.5 the start, in which all think, would bias the system for too long.
        (Deterministic(value=30_000), Pareto(shape=2.5, scale=1.2)),
    ],
    ids=["exponential", "pareto sizes", "pareto think times"],
)
def test_closed_system_is_that_of_paper_m(sizes: Distribution, think_times: Distribution) -> None:
    # (16) and (17) with C_k of (10), for 25 stations.
    stations = 25
    capacity_bps = model.capacity(stations, model.Parameters.table_1(), model.CORRECTED)
    expected = model.active_distribution(capacity_bps, 2.0, 30_000)
    said = model.processor_sharing(stations, capacity_bps, 2.0, 30_000)
    result = closed_processor_sharing(
        sizes, sources=stations, think_times=think_times, capacity=capacity_bps / 8,
        jobs=200_000, confidence=CONFIDENCE, replications=20,
    )  # fmt: skip

    assert_distribution(result, expected, width=0.2)
    assert contains(result.active, float(said.mean_active), width=0.06)
    assert contains(result.completed_per_s, float(said.arrival_rate_per_s), width=0.02)
    assert contains(result.sojourn_s, float(said.transfer_s), width=0.06)
    # Capacities matter: several transfers run at once most of the time.
    assert expected[:2].sum() < 0.6
    assert result.counts["blocked"] == 0

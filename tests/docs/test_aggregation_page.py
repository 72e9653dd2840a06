"""Docs/explanation/aggregation.md and the cautions of the model agree with the tables."""

import make_aggregation
import pytest
from airtcp import predict, simulate
from airtcp.scenario import loads


@pytest.mark.parametrize(
    ("window", "delay_ms", "every"),
    [(72, 12, 2), (88, 12, 2), (88, 20, 1), (112, 20, 1), (112, 16, 2), (136, 20, 2)],
)
def test_off_the_grid_it_is_within_2_per_cent_or_says_that_it_is_too_high(
    window: int, delay_ms: float, every: int
) -> None:
    scenario = loads(make_aggregation.wired("802.11n", window, delay_ms, every))
    best = predict(scenario).best("goodput_bps")
    assert isinstance(best.value, float)

    off = 100.0 * (best.value / simulate(scenario).metrics["goodput_bps"].mean - 1.0)

    said = any("goodput is too high, by up to 25 %" in text for text in best.broken)
    assert 0.0 < off <= 25.0 if said else abs(off) <= 2.0

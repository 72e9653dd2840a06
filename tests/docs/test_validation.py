"""The text of docs/explanation/accuracy.md holds of its tables."""

import make_validation
from airtcp import simulate
from airtcp.scenario import loads


def test_timers_expire_without_a_loss_at_the_beginning() -> None:
    """A queue without limit drops nothing, and no frame reaches the retry limit."""
    scenario = make_validation.beginning(1000, 0.2, warmup_s=0, duration_s=60)

    counts = simulate(loads(scenario)).simulation.counts

    assert counts["tcp_timeouts"] > 0
    assert counts["tcp_retransmissions"] > 0
    for place in ("mac_drops", "ap_queue_drops", "station_queue_drops", "wired_drops"):
        assert counts[place] == 0

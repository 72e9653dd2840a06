"""Downloads whose TCP ACKs are sent at once, as by ns-3's rules: model against simulations."""

from __future__ import annotations

from statistics import fmean

import pytest
from airtcp.predict import predict
from airtcp.run.simulate import simulate
from airtcp.scenario import loads
from bases import cell

RULES = '[mac.rules]\npreset = "ns-3"'
RUN = {"warmup": "2 s", "duration": "20 s"}


@pytest.mark.parametrize(
    ("standard", "count", "d", "most"),
    [
        ("a", 1, 2, 0.003),
        ("a", 5, 2, 0.003),
        ("a", 1, 4, 0.003),
        ("a", 5, 1, 0.01),
        ("g", 3, 2, 0.005),
        ("b", 1, 2, 0.005),
        ("b", 8, 2, 0.005),
    ],
)
def test_goodput_is_met(standard: str, count: int, d: int, most: float) -> None:
    tcp = f"tcp = {{ delayed_ack = {{ every = {d} }}, receive_window = {{ segments = 64 }} }}"
    where = {"standard": f"802.11{standard}", "tables": RULES, "name": "sta"}
    scenario = loads(cell(count, **where, flow=tcp, **RUN, replications=2, seed=31007))
    best = predict(scenario).best("goodput_bps")
    runs = [run.answer["metrics"]["goodput_bps"] for run in simulate(scenario).simulation.runs]

    assert best is not None
    assert best.by == "models.replies"
    assert best.value == pytest.approx(fmean(runs), rel=most)

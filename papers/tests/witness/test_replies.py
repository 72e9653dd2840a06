"""Downloads whose TCP ACKs are sent at once, as by ns-3's rules: model against simulations."""

from __future__ import annotations

from statistics import fmean

import pytest
from airtcp.predict import predict
from airtcp.run.simulate import simulate
from airtcp.scenario import loads

SCENARIO = """
phy = {{ standard = "802.11{standard}" }}
mac = {{ rules = {{ preset = "ns-3" }} }}
stations = [{{ name = "sta", count = {count} }}]
run = {{ warmup = "2 s", duration = "20 s", replications = 2, seed = 31007 }}
[[flows]]
stations = "sta"
direction = "download"
application = {{ kind = "bulk" }}
tcp = {{ delayed_ack = {{ every = {d} }}, receive_window = {{ segments = 64 }} }}
"""


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
    scenario = loads(SCENARIO.format(standard=standard, count=count, d=d))
    best = predict(scenario).best("goodput_bps")
    runs = [run.answer["metrics"]["goodput_bps"] for run in simulate(scenario).simulation.runs]

    assert best is not None
    assert best.by == "models.replies"
    assert best.value == pytest.approx(fmean(runs), rel=most)

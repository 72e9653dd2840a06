"""Throughput of endless transfers over lossy links: RFC 9438 and Mathis against simulations."""

import math
from typing import Any

import pytest
from airtcp.predict import predict
from airtcp.run.simulate import simulate
from airtcp.scenario import ResolvedScenario, loads
from bases import cell
from wing import with_papers


def scenario(loss: str, congestion: str = "reno", **told: Any) -> ResolvedScenario:
    keys: dict[str, Any] = {"standard": "ac", "count": 1, "delay": "25 ms", "every": 1} | told
    tcp = 'mss = "1000 B", receive_window = { segments = 5000 }, variant = "sack", '
    tcp += f'delayed_ack = {{ every = {keys["every"]} }}, congestion = "{congestion}"'
    link = f'[links.up]\ndelay = "{keys["delay"]}"\nloss = {loss}'
    flow = f'path = ["up"]\ntcp = {{ {tcp} }}'
    run: dict[str, Any] = {"warmup": "20 s", "duration": "100 s", "replications": 2}
    of: dict[str, Any] = {"standard": f"802.11{keys['standard']}", "name": "sta"}
    return loads(cell(keys["count"], tables=link, flow=flow, **of, **run))


@pytest.mark.parametrize(
    ("loss", "congestion", "every", "source", "window"),
    [
        # 38.73 segments; with an ACK for two segments a window grows half as fast.
        (1000, "reno", 1, "Mathis et al. (1997)", math.sqrt(1.5 / 0.001)),
        (1000, "reno", 2, "Mathis et al. (1997)", math.sqrt(1.5 / 2 / 0.001)),
        # 627 segments: more than Reno's 379.
        (100000, "cubic", 1, "RFC 9438, 5.1", (0.4 * 3.7 / 1.2) ** 0.25 * (0.05 / 1e-5) ** 0.75),
    ],
)
def test_windows_by_hand(
    loss: int, congestion: str, every: int, source: str, window: float
) -> None:
    """Segments of 8000 bits in 50 ms."""
    asked = scenario(f"{{ every = {loss} }}", congestion, every=every)
    best = predict(asked).best("goodput_bps")
    assert best.source == source
    assert best.value == pytest.approx(window * 8000 / 0.05)


# Regular losses: the window does not grow during recovery, one of some 15 round trips at a window
# of 38 segments. Random losses leave a window some 7 % larger; a run has few rare ones.
@pytest.mark.parametrize("loss", ["{ every = 1000 }", "{ every = 3000 }", '"0.3 %"', '"0.1 %"'])
@pytest.mark.parametrize("congestion", ["reno", "cubic"])
def test_simulations_are_near(loss: str, congestion: str) -> None:
    asked = scenario(loss, congestion)
    best = predict(asked).best("goodput_bps")
    measured = simulate(asked).metrics["goodput_bps"].mean
    assert best.value == pytest.approx(measured, rel=0.15)


@with_papers
def test_what_the_air_carries_comes_first_where_it_is_less() -> None:
    said = predict(scenario("{ every = 1000000 }", standard="b", count=10))
    sources = [one.source for one in said.model["goodput_bps"]]
    assert sources[0] == "M (10), corrected"
    assert "Mathis et al. (1997)" in sources


def test_without_a_delay_nothing_is_told() -> None:
    asked = scenario('"1 %"', standard="n", delay="0 s")
    assert "losses and a delay" in predict(asked).unanswered["losses on wired links"]

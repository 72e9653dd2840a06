"""What losses on wires leave of endless transfers: RFC 9438 and Mathis, beside simulations."""

import math

import pytest
from airtcp.predict import predict
from airtcp.run.simulate import simulate
from airtcp.scenario import ResolvedScenario, loads
from bases import cell
from wing import with_papers


def scenario(
    loss: str,
    congestion: str = "reno",
    *,
    standard: str = "ac",
    count: int = 1,
    delay: str = "25 ms",
    every: int = 1,
) -> ResolvedScenario:
    tcp = (
        'mss = "1000 B", receive_window = { segments = 5000 }, variant = "sack", '
        f'delayed_ack = {{ every = {every} }}, congestion = "{congestion}"'
    )
    return loads(
        cell(
            count,
            standard=f"802.11{standard}",
            tables=f'[links.up]\ndelay = "{delay}"\nloss = {loss}',
            name="sta",
            flow=f'path = ["up"]\ntcp = {{ {tcp} }}',
            warmup="20 s",
            duration="100 s",
            replications=2,
        )
    )


def test_reno_by_hand() -> None:
    """sqrt(1.5 / 0.001) = 38.73 segments of 8000 bits in 50 ms."""
    best = predict(scenario("{ every = 1000 }")).best("goodput_bps")

    assert best.source == "Mathis et al. (1997)"
    assert best.value == pytest.approx(math.sqrt(1.5 / 0.001) * 8000 / 0.05)


def test_cubic_by_hand() -> None:
    """(0.4 * 3.7 / 1.2)^(1/4) (0.05 / 1e-5)^(3/4) = 627 segments: more than Reno's 379."""
    best = predict(scenario("{ every = 100000 }", "cubic")).best("goodput_bps")

    assert best.source == "RFC 9438, 5.1"
    window = (0.4 * 3.7 / 1.2) ** 0.25 * (0.05 / 1e-5) ** 0.75
    assert best.value == pytest.approx(window * 8000 / 0.05)


# Regular losses: a window does not grow while a loss is mended, a round trip of some 15 at a window
# of 38 segments. Drawn losses leave a window some 7 % larger; of rare ones a run has few.
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


def test_a_window_grows_by_an_ack_for_d_segments() -> None:
    """With an ACK for two segments a window grows half as fast: sqrt(1.5 / 2 / 0.001)."""
    best = predict(scenario("{ every = 1000 }", every=2)).best("goodput_bps")

    assert best.value == pytest.approx(math.sqrt(0.75 / 0.001) * 8000 / 0.05)

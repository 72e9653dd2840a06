"""A mean over flows of which one gets next to nothing names that one, too."""

from pathlib import Path

import pytest
from airtcp import simulate
from airtcp.messages.run import observations
from airtcp.present.summary import simulation_lines
from airtcp.results.least import endless_goodputs, least_bps
from airtcp.results.objects import SimulationResult
from airtcp.run.glance import glance
from airtcp.scenario import loads
from bases import SATURATED, cell

EXAMPLES = Path(__file__).parents[1] / "python" / "airtcp" / "examples"


@pytest.fixture(scope="module")
def hidden() -> SimulationResult:
    """Two uploads that do not hear each other: in each run one of them has the channel."""
    return simulate(EXAMPLES / "hidden-uploads.toml", replications=4)


def test_a_quick_simulation_names_the_flow_that_starves() -> None:
    seen = glance(EXAMPLES / "hidden-uploads.toml", times=1)
    least = least_bps(seen.simulation.runs, seen.scenario)

    mean = seen.metrics["flow_goodput_bps"].mean
    assert least < 0.05 * mean
    assert ", least " in dict(seen.shown())["flow_goodput_bps"]


def test_a_run_names_the_flow_that_starves_in_each_replication(hidden: SimulationResult) -> None:
    """Over replications in which they take turns both get half."""
    lines = {line.metric: line.simulation for line in simulation_lines(hidden.simulation)}

    assert "goodput of the least flow" in lines
    assert any("1 of 2" in one for one in observations(hidden))
    for run in hidden.simulation.runs:
        goodputs = endless_goodputs(run.answer, hidden.scenario)
        assert min(goodputs) < 0.5 * max(goodputs)


def test_flows_that_are_alike_have_their_mean() -> None:
    result = simulate(
        loads(cell(3, direction="upload", application=SATURATED, duration="2 s")), replications=2
    )
    simulation = result.simulation

    assert least_bps(simulation.runs, result.scenario) is None
    assert not list(observations(result))

"""Models next to simulation: rows, differences, and the words for them."""

import pytest
from airtcp.compare import compare, difference, side_by_side, verdict, with_testbed
from airtcp.predict import predict
from airtcp.results import Lag, Predicted, Prediction, TestbedResult
from airtcp.run.simulate import simulate
from airtcp.scenario import ResolvedScenario, loads
from airtcp.stats import Interval, of_one_more
from bases import cell

DOWNLOADS = cell(5, title="Endless downloads", warmup="1 s", duration="10 s", replications=4)


@pytest.fixture(scope="module")
def scenario() -> ResolvedScenario:
    return loads(DOWNLOADS)


def around(mean: float, relative: float) -> Interval:
    return Interval(mean, mean * (1 - relative), mean * (1 + relative), 10)


@pytest.mark.parametrize(
    ("model", "simulated", "words"),
    [
        (1.00, around(1.0, 0.01), "agrees"),
        (1.04, around(1.0, 0.05), "agrees"),
        (1.015, around(1.0, 0.001), "close"),  # within 5 %, but outside of a narrow interval
        (1.08, around(1.0, 0.15), "undecided"),  # inside an interval that is too wide to tell
        (1.08, around(1.0, 0.05), "close"),
        (0.92, around(1.0, 0.05), "close"),
        (1.25, around(1.0, 0.05), "too high"),
        (0.75, around(1.0, 0.05), "too low"),
        (1.50, around(1.0, 0.05), "far too high"),
        (0.50, around(1.0, 0.05), "far too low"),
        (1.25, around(1.0, 0.30), "undecided"),  # inside an interval that is wide
        (1.25, Interval(1.0, None, None, 1), "too high"),
        (0.0, Interval(0.0, 0.0, 0.0, 5), "agrees"),
        (1e-9, Interval(0.0, 0.0, 0.0, 5), "agrees"),  # too rare to be seen
        (0.06, Interval(0.0, 0.0, 0.0, 5), "too high"),
        (0.06, Interval(None, None, None, 0), "not simulated"),
    ],
)
def test_verdicts(model: float, simulated: Interval, words: str) -> None:
    assert verdict(model, simulated) == words
    # Relative to the simulation, if that is not zero.
    relative = pytest.approx(model / simulated.mean - 1.0) if simulated.mean else None
    assert difference(model, simulated) == relative


def test_what_was_not_simulated_and_distributions_have_no_row(scenario: ResolvedScenario) -> None:
    said = predict(scenario)
    model = {
        "transfer_time_s": [Predicted(1.0, "models.m", "M")],  # endless: no transfer ends
        "active_flows_distribution": [Predicted([0.5, 0.5], "models.m", "M")],
        "unheard_of": [Predicted(1.0, "models.m", "M")],
    }
    prediction = Prediction(said.scenario, said.provenance, model, None)

    assert side_by_side(prediction, simulate(scenario, replications=1)).comparison == []


def test_a_testbed_has_a_row_for_each_metric_that_both_have(scenario: ResolvedScenario) -> None:
    """Another replication stands in for the testbed, so the result must agree."""
    compared = compare(scenario)
    other = simulate(scenario, seed=99, replications=1)
    lag = Lag(10, 1e-5, 1e-5, 1e-5, 5e-4, 0.0, True, 0, 0)
    testbed = TestbedResult(other.scenario, other.provenance, other.simulation, lag, ("told",))

    result = with_testbed(compared, testbed)

    assert result.comparison == compared.comparison
    rows = {row.metric: row for row in result.testbed.comparison}
    goodput = rows["goodput_bps"]
    assert goodput.testbed == other.metrics["goodput_bps"].mean
    assert goodput.simulation == compared.simulation.metrics["goodput_bps"]
    assert goodput.difference == difference(goodput.testbed, goodput.simulation)
    assert goodput.verdict == verdict(goodput.testbed, of_one_more(goodput.simulation)) == "agrees"
    # No transfer of an endless flow ends.
    assert "transfer_time_s" not in rows
    told = result.to_dict()["testbed"]
    assert (told["lag"]["trusted"], told["deviations"]) == (True, ["told"])
    assert told["comparison"][0]["metric"] in rows
    assert told["metrics"]["goodput_bps"]["mean"] == goodput.testbed

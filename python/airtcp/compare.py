"""Models beside simulation: the same scenario at both depths, and how far they are apart.

Knows how a prediction and a measured interval are compared. Computes neither.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

# `import airtcp` imports this module: what costs time is imported where it is used.
if TYPE_CHECKING:
    from airtcp.results import Comparison, Prediction, Row, SimulationResult, TestbedResult
    from airtcp.scenario import ResolvedScenario
    from airtcp.stats import Interval

#: Up to this relative difference a model within the interval agrees.
AGREES: Final = 0.05
#: Up to this one it is close, and up to `OFF` merely too high or too low.
CLOSE: Final = 0.10
OFF: Final = 0.30
#: What a model may say where the simulation saw nothing at all, and still agree.
RARE: Final = 1e-3


def compare(
    scenario: ResolvedScenario,
    *,
    seed: int | None = None,
    replications: int | None = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
    tell: Callable[[str], None] | None = None,
) -> Comparison:
    """Predict and simulate a scenario, and set the answers side by side.

    The arguments are those of `airtcp.simulate`, whose errors it raises; a model that does not
    converge raises ConvergenceError. `comparison` has a row for every model's value of a metric
    that was simulated too, best model first.

    With the `cafe` of `airtcp.load`:

    >>> row = airtcp.compare(cafe).comparison[0]
    >>> row.metric, row.source, row.verdict
    ('goodput_bps', 'M (12), corrected', 'agrees')
    """
    from airtcp.predict import predict
    from airtcp.run.simulate import simulate

    prediction = predict(scenario)
    result = simulate(
        scenario,
        seed=seed,
        replications=replications,
        threads=threads,
        progress=progress,
        tell=tell,
    )
    return side_by_side(prediction, result)


def side_by_side(prediction: Prediction, result: SimulationResult) -> Comparison:
    """The comparison of a prediction and a simulation of the same scenario."""
    from airtcp.results import Comparison

    return Comparison(
        scenario=result.scenario,
        provenance=result.provenance,
        model=prediction.model,
        uncovered=prediction.uncovered,
        simulation=result.simulation,
        comparison=_rows(prediction, result),
        unanswered=prediction.unanswered,
    )


def with_testbed(comparison: Comparison, testbed: TestbedResult) -> Comparison:
    """The comparison with what a testbed measured of the same scenario.

    Each metric that both have gets a row: how far the testbed is from the simulation, in the words
    for models. A testbed runs once: it agrees if one more replication might have said the same.
    """
    from dataclasses import replace

    from airtcp.results.testbed import Beside
    from airtcp.stats import of_one_more

    values = {name: one.mean for name, one in testbed.metrics.items() if one.mean is not None}
    rows = [
        Beside(
            metric=name,
            testbed=value,
            simulation=simulated,
            difference=difference(value, simulated),
            verdict=verdict(value, of_one_more(simulated)),
        )
        for name, value in values.items()
        if (simulated := comparison.simulation.metrics.get(name)) and simulated.mean is not None
    ]
    return replace(comparison, testbed=replace(testbed, comparison=tuple(rows)))


def difference(model: float, simulated: Interval) -> float | None:
    """Model over simulated mean, less one; None when there is no mean or it is zero."""
    if not simulated.mean:
        return None
    return model / simulated.mean - 1.0


def verdict(model: float, simulated: Interval) -> str:
    """In words how a model's value stands to a simulated interval.

    "agrees": inside the interval and within 5 % of its mean, and the interval is no wider than
    +-10 %; "undecided": inside, but further from the mean, or in a wider one, so that the interval
    does not tell; and where the runs were too short for their traffic, so that there is a lower
    bound at most. Outside: "close" within 10 %, "too high" and "too low" within 30 %, beyond that
    "far too ...".
    """
    if simulated.mean is None:
        return "undecided" if simulated.is_known else "not simulated"
    inside = (
        simulated.low is not None
        and simulated.high is not None
        and simulated.low <= model <= simulated.high
    )
    off = difference(model, simulated)
    if off is None:
        return "agrees" if inside or abs(model) <= RARE else "too high"
    if inside:
        width = simulated.relative_half_width
        tells = width is not None and width <= CLOSE
        return "agrees" if tells and abs(off) <= AGREES else "undecided"
    if abs(off) <= CLOSE:
        return "close"
    words = "too high" if off > 0 else "too low"
    return words if abs(off) <= OFF else f"far {words}"


def _rows(prediction: Prediction, result: SimulationResult) -> list[Row]:
    from airtcp.metrics import METRICS
    from airtcp.results import Row
    from airtcp.stats import joint

    order = list(METRICS)
    names = sorted(
        (name for name in prediction.model if name in result.metrics),
        key=lambda name: (order.index(name) if name in METRICS else len(order), name),
    )
    rows = []
    for name in names:
        simulated = result.metrics[name]
        # That of all metrics beside models at once: one in twenty would miss by chance alone.
        sure = joint(simulated, result.simulation.confidence, len(names))
        for predicted in prediction.model[name]:
            if isinstance(predicted.value, list) or not simulated.is_known:
                continue
            rows.append(
                Row(
                    metric=name,
                    model=predicted.value,
                    by=predicted.by,
                    source=predicted.source,
                    simulation=simulated,
                    difference=difference(predicted.value, simulated),
                    verdict=verdict(predicted.value, sure),
                )
            )
    return rows

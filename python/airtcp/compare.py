"""Models beside simulation: the same scenario at both depths, and how far they are apart.

Knows how a prediction and a measured interval are compared. Computes neither.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, cast

# `import airtcp` imports this module: what costs time is imported where it is used.
if TYPE_CHECKING:
    from pathlib import Path

    from airtcp.results import Comparison, Prediction, Row, SimulationResult, TestbedResult
    from airtcp.results.measured import Answer, MeasuredRow, Measurement, Unfollowed
    from airtcp.scenario import ResolvedScenario, Scenario
    from airtcp.stats import Interval

#: Up to this relative difference a model within the interval agrees.
AGREES: Final = 0.05
#: Up to this one it is close, and up to `OFF` merely too high or too low.
CLOSE: Final = 0.10
OFF: Final = 0.30
#: The largest value of a model that agrees with a simulation that saw nothing at all.
RARE: Final = 1e-3


def compare(
    scenario: ResolvedScenario | str | Path,
    *,
    seed: int | None = None,
    replications: int | None = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
    tell: Callable[[str], None] | None = None,
) -> Comparison:
    """Predict and simulate a scenario, and set the answers side by side.

    `scenario` is one, or what `airtcp.load` takes; the other arguments are those of
    `airtcp.simulate`, whose errors it raises. A scenario without a table
    `[run]` is simulated until its targets are decided (`airtcp.judge.decide`). A model that does
    not converge raises ConvergenceError. `comparison` has a row for every model's value of a metric
    that was simulated too, best model first.

    With the `cafe` of `airtcp.load`:

    >>> row = airtcp.compare(cafe).comparison[0]
    >>> row.metric, row.source, row.verdict
    ('goodput_bps', 'M (12), corrected', 'agrees')
    """
    from airtcp.judge.decide import decide, is_open
    from airtcp.predict import predict
    from airtcp.run.simulate import simulate
    from airtcp.scenario import as_scenario

    scenario = as_scenario(scenario)
    if replications is None and is_open(scenario):
        decided = decide(cast("Scenario", scenario), seed=seed, threads=threads, progress=progress)
        return side_by_side(predict(decided.scenario), decided)
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


def with_measured(comparison: Comparison, measurement: Measurement) -> Comparison:
    """The comparison with what was measured in a real network.

    Each measured metric that was simulated too gets a row, of a direction if one group has flows
    of it: how far simulation and models are from the measured value, in the words for models.
    Numbers of events are those of as long a time as the simulation measured.
    """
    from dataclasses import replace

    from airtcp.results.measured import Measured, MeasuredRow
    from airtcp.stats import Interval, joint

    found: list[tuple[str, str, Interval, Interval]] = []
    without: list[str] = []
    counted = dict(measurement.values)
    if measurement.counts and measurement.duration_s:
        longer = comparison.scenario.run.duration_ns / 1e9 / measurement.duration_s
        counts = {
            name: Interval(count * longer, None, None, 1)
            for name, count in measurement.counts.items()
        }
        counted[""] = {**counted.get("", {}), **counts}
    for direction, values in counted.items():
        of, simulated = _scope(comparison, direction)
        for name, measured in values.items():
            beside = simulated.get(name)
            if beside is None or beside.mean is None:
                without.append(f"{name}{_plural(direction)}")
            else:
                found.append((name, of, measured, beside))
    rows = []
    for name, of, measured, beside in found:
        sure = joint(beside, comparison.simulation.confidence, len(found))
        around = _around(measured, joint(measured, comparison.simulation.confidence, len(found)))
        both = _around(measured, around, sure)
        told = [("simulation", beside.mean, both)]
        if not of:
            told += [
                (one.source, one.value, _around(measured, around, None if measured.n > 1 else sure))
                for one in comparison.model.get(name, [])
                if not isinstance(one.value, list)
            ]
        answers = tuple(_answer(by, value, width) for by, value, width in told if value is not None)
        rows.append(MeasuredRow(name, of, measured, beside, answers))
    measured_beside = Measured(
        measurement,
        tuple(rows),
        (*without, *measurement.others),
        unfollowed=_unfollowed(measurement, rows),
    )
    return replace(comparison, measured=measured_beside)


def _unfollowed(measurement: Measurement, rows: Sequence[MeasuredRow]) -> tuple[Unfollowed, ...]:
    """The conditions of a measurement that the scenario does not have."""
    goodputs = [row.simulation.mean or 0.0 for row in rows if row.metric == "goodput_bps"]
    most = max(goodputs, default=0.0)
    return tuple(one for one in measurement.unfollowed if one.holds_at(most))


def _scope(comparison: Comparison, of: str) -> tuple[str, Mapping[str, Interval]]:
    """The simulated metrics of everything, of a group, or of a direction of one group.

    A direction alone is that of the one group with flows of it; nothing where there are several.
    """
    if not of:
        return "", comparison.metrics
    groups = comparison.simulation.groups
    group, _, part = of.rpartition("/")
    if group or of in groups:
        group, part = (group, part) if group else (of, "all")
        return of, groups.get(group, {}).get(part, {})
    having = [name for name, parts in groups.items() if of in parts]
    if len(having) != 1:
        return "", {}
    return f"{having[0]}/{of}", groups[having[0]][of]


def _plural(of: str) -> str:
    """Return what a value is of, in words: "of uploads", "of laptop/download"."""
    if not of:
        return ""
    return f" of {of}s" if of in ("download", "upload") else f" of {of}"


def _around(measured: Interval, own: Interval, simulated: Interval | None = None) -> Interval:
    """The measured value, as far as chance goes in it and in the simulation.

    The variances of independent means add up. One value without an interval is one run: it is as
    far from its mean as one more replication would be.
    """
    from airtcp.stats import Interval, of_one_more

    mean = measured.mean
    if mean is None:
        return measured
    widths = [own.half_width]
    if simulated is not None:
        alone = own.half_width is None
        widths.append((of_one_more(simulated) if alone else simulated).half_width)
    known = [width for width in widths if width is not None]
    if not known:
        return Interval(mean, None, None, 1)
    half = math.hypot(*known)
    return Interval(mean, mean - half, mean + half, measured.n)


def _answer(by: str, value: float, around: Interval) -> Answer:
    from airtcp.results.measured import Answer

    # Without any interval nothing tells chance from a difference.
    told = "undecided" if around.half_width is None else verdict(value, around)
    return Answer(by, value, difference(value, around), told)


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

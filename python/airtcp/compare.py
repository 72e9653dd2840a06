"""Compare models with simulation, and simulation with measurements."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, cast

# `import airtcp` imports this module, so slow imports are local.
if TYPE_CHECKING:
    from pathlib import Path

    from airtcp.results import Comparison, Prediction, Row, SimulationResult, TestbedResult
    from airtcp.results.measured import Answer, MeasuredRow, Measurement, Unfollowed
    from airtcp.scenario import ResolvedScenario, Scenario
    from airtcp.stats import Interval

#: A model within the interval agrees up to this relative difference.
AGREES: Final = 0.05
#: A model is close up to `CLOSE`; up to `OFF` it is too high or too low, not "far too".
CLOSE: Final = 0.10
OFF: Final = 0.30
#: The largest model value that agrees with a simulation that saw no event.
RARE: Final = 1e-3
_DIRECTIONS: Final = ("download", "upload")


def compare(
    scenario: ResolvedScenario | str | Path,
    *,
    seed: int | None = None,
    replications: int | None = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
    tell: Callable[[str], None] | None = None,
) -> Comparison:
    """Predict and simulate a scenario, and compare the two.

    `scenario` is a scenario, or any argument of `airtcp.load`. The other arguments are passed to
    `airtcp.simulate`, which also defines the errors raised. A scenario without a table `[run]` is
    simulated until its targets are decided (`airtcp.judge.decide`). ConvergenceError is raised if a
    model does not converge. `comparison` has one row per model and simulated metric, best model
    first.

    With the `cafe` of `airtcp.load`, and airtcp-papers installed:

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
    """Return the comparison of a prediction and a simulation of the same scenario."""
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
    """Add the results of a testbed for the same scenario to a comparison.

    Each metric that both have gets a row with the difference and a verdict, as for models. A
    testbed runs once. It agrees if its value lies where one more replication could.
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
    """Add values measured in a real network to a comparison.

    Each measured metric that was also simulated gets a row: the difference of simulation and models
    from the measured value, with a verdict. A measurement of one direction is compared with the
    only group that has flows in it. Event counts are scaled to the simulated measurement time,
    unless all traffic is jobs that have ended: those have no means over time either.
    """
    from dataclasses import replace

    from airtcp.results.jobs import OF_IDLE_TIME
    from airtcp.results.measured import Measured, MeasuredRow
    from airtcp.stats import Interval, joint

    found: list[tuple[str, str, Interval, Interval]] = []
    without: list[str] = []
    counted = dict(measurement.values)
    if measurement.counts and measurement.duration_s:
        longer = comparison.scenario.run.duration_ns / 1e9 / measurement.duration_s
        longer = 1.0 if comparison.simulation.is_done else longer
        counts = {
            name: Interval(count * longer, None, None, 1)
            for name, count in measurement.counts.items()
        }
        counted[""] = {**counted.get("", {}), **counts}
    for direction, values in counted.items():
        of, simulated = _scope(comparison, direction)
        for name, measured in values.items():
            beside = simulated.get(name)
            if name in OF_IDLE_TIME and comparison.simulation.is_done:
                without.append(f"{name}{_plural(direction)}: the transfers end; their times count")
            elif beside is None or beside.mean is None:
                groups = comparison.simulation.groups
                group = direction.partition("/")[0]
                is_absent = group not in ("", *_DIRECTIONS, *groups)
                why = f": no such group; allowed: {', '.join(groups)}" if is_absent else ""
                without.append(f"{name}{_plural(direction)}{why}")
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
    """Return the conditions of the measurement that the scenario does not reproduce."""
    goodputs = [row.simulation.mean or 0.0 for row in rows if row.metric == "goodput_bps"]
    most = max(goodputs, default=0.0)
    return tuple(one for one in measurement.unfollowed if one.holds_at(most))


def _scope(comparison: Comparison, of: str) -> tuple[str, Mapping[str, Interval]]:
    """Return the scope and the simulated metrics of all flows, a group, or a group's direction.

    If only a direction is given, it must occur in exactly one group; otherwise the result is empty.
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
    """Return the scope of a value in words: " of uploads", " of laptop/download"."""
    if not of:
        return ""
    return f" of {of}s" if of in _DIRECTIONS else f" of {of}"


def _around(measured: Interval, own: Interval, simulated: Interval | None = None) -> Interval:
    """Return the measured value with an interval for the randomness of measurement and simulation.

    Variances of independent means add up. A single value without an interval counts as one run: its
    spread is that of one more replication.
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

    # Without an interval, a difference may be chance.
    text = "undecided" if around.half_width is None else verdict(value, around)
    return Answer(by, value, difference(value, around), text)


def difference(model: float, simulated: Interval) -> float | None:
    """Return a model's relative difference from the simulated mean; None if it is missing or 0."""
    if not simulated.mean:
        return None
    return model / simulated.mean - 1.0


def verdict(model: float, simulated: Interval) -> str:
    """Classify a model's value against a simulated interval.

    "agrees": the value is inside the interval and within 5 % of its mean, and the interval is no
    wider than ±10 %. "undecided": the value is inside, but farther from the mean, or the interval
    is wider; also if the runs were too short and only a lower bound is known. Outside: "close"
    within 10 %, "too high" or "too low" within 30 %, beyond that "far too high" or "far too low".
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
        # Joint intervals over all compared metrics: at 95 % each, one in twenty would miss by
        # chance.
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

"""A result in sentences, and its tables in short rows of text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeVar

from airtcp.amounts import duration, percent, quantity, quantity_with_interval
from airtcp.metrics import METRICS, metric
from airtcp.present.cells import sentences
from airtcp.results import (
    Comparison,
    Model,
    Predicted,
    Prediction,
    Row,
    Simulation,
)
from airtcp.results.glance import SOURCE, Glance
from airtcp.results.jobs import OF_IDLE_TIME
from airtcp.results.least import LEAST, metric_text

if TYPE_CHECKING:
    from airtcp.results.testbed import Beside

_Told = TypeVar("_Told", Comparison, Prediction)

#: Metrics shown even if no model has a value, provided the simulation has one.
HEADLINES: Final = (
    "goodput_bps",
    "flow_goodput_bps",
    "transfer_time_s",
    "transfer_time_to_last_ack_s",
    "transfer_time_p50_s",
    "transfer_time_p90_s",
    "transfer_time_p99_s",
    "page_time_s",
    "page_time_p50_s",
    "page_time_p90_s",
    "r_factor",
    "active_flows",
    "collision_probability",
    "ap_queue_drop_probability",
)

#: Further metrics of a quick simulation that the table shows.
_GLANCED: Final = ("packet_delay_s", "packet_loss", "rtt_s")

#: The label for the endless flow with the lowest goodput.
_LEAST_FLOW: Final = "goodput of the least flow"

#: The goodput of each cell; the table has a line per cell.
_OF_CELLS: Final = "cell_goodput_bps"

#: Probabilities of models up to this value count as zero.
NEGLIGIBLE: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a table. Metric and simulation are empty if they repeat the row above."""

    metric: str
    simulation: str
    model: str = ""
    source: str = ""
    difference: str = ""
    verdict: str = ""
    testbed: str = ""
    testbed_difference: str = ""
    testbed_verdict: str = ""

    @property
    def of_testbed(self) -> tuple[str, str, str]:
        """The cells for a testbed: its value, the difference and the verdict."""
        return self.testbed, self.testbed_difference, self.testbed_verdict


def comparison_rows(result: Comparison) -> list[tuple[str, ...]]:
    """Return `comparison_lines` as cells: model, simulation, and the testbed if one was asked for.

    The columns are metric, model, source, simulation, difference, verdict; then those of the
    testbed, or that it is missing.
    """
    rows = []
    for line in comparison_lines(result):
        of_models = (line.metric, line.model, line.source)
        beside: tuple[str, ...] = ()
        if result.testbed is not None:
            beside = line.of_testbed
        elif result.missing is not None:
            beside = ("missing" if line.metric else "",)
        rows.append((*of_models, line.simulation, line.difference, line.verdict, *beside))
    return rows


def comparison_lines(result: Comparison) -> list[Line]:
    """Return every model's value of each metric, and headline metrics without a model.

    The rows include the values of a testbed, if there was one. Events so rare that neither model
    nor simulation shows any are left out.
    """
    simulation = result.simulation
    rows = [row for row in result.comparison if row.simulation.mean or abs(row.model) > NEGLIGIBLE]
    testbed = (
        {} if result.testbed is None else {one.metric: one for one in result.testbed.comparison}
    )
    lines = [replace(line, model="–") for line in job_lines(simulation)]
    for name in _in_order(row.metric for row in rows):
        label, unit = metric(name).label, metric(name).unit
        shown, _, least = _text(simulation, name).partition(LEAST)
        for row in (row for row in rows if row.metric == name):
            lines.append(
                Line(
                    metric=label,
                    simulation=shown,
                    model=quantity(row.model, unit),
                    source=row.source,
                    difference=percent(row.difference, signed=True),
                    verdict=row.verdict,
                )
            )
            if label and name in testbed:
                lines[-1] = _beside(lines[-1], testbed[name])
            label, shown = "", ""
        if least:
            lines.append(Line(_LEAST_FLOW, least, model="–"))
    compared = {row.metric for row in result.comparison}
    for name in (name for name in headlines_of(simulation) if name not in compared):
        interval = simulation.metrics.get(name)
        if interval is not None and interval.is_known:
            first, *others = _lines(simulation, name)
            line = replace(first, model="–")
            lines.append(_beside(line, testbed[name]) if name in testbed else line)
            lines += [replace(one, model="–") for one in others]
    return lines


def headlines_of(simulation: Simulation) -> list[str]:
    """Return the headline metrics that are meaningful for this simulation."""
    if simulation.is_done:
        return [name for name in HEADLINES if name not in OF_IDLE_TIME]
    if simulation.counts["transfers"]:
        return list(HEADLINES)
    return [name for name in HEADLINES if name != "active_flows"]


def _beside(line: Line, row: Beside) -> Line:
    """Add the value of a testbed to a row."""
    return replace(
        line,
        testbed=quantity(row.testbed, metric(row.metric).unit),
        testbed_difference=percent(row.difference, signed=True),
        testbed_verdict=row.verdict,
    )


def prediction_lines(prediction: Prediction) -> list[Line]:
    """Return every model's values, then the values of a quick simulation; no distributions."""
    seen = {} if prediction.glance is None else dict(prediction.glance.shown())
    tabled = [name for name in seen if name in HEADLINES or name in _GLANCED]
    lines = []
    if prediction.glance is not None:
        simulation = prediction.glance.simulation
        lines += [
            Line(line.metric, "", model=line.simulation, source=SOURCE)
            for line in job_lines(simulation)
        ]
        if simulation.is_done:
            tabled = [name for name in tabled if name not in OF_IDLE_TIME]
    for name in _in_order([*prediction.model, *tabled, _OF_CELLS]):
        label = metric(name).label
        if name == _OF_CELLS:
            lines += _of_cells(prediction)
        for entry in prediction.model.get(name, ()):
            if isinstance(entry.value, list):
                continue
            value = quantity(entry.value, metric(name).unit)
            lines.append(Line(label, "", model=value, source=entry.source))
            label = ""
        if name in tabled:
            text, _, least = seen[name].partition(LEAST)
            lines.append(Line(label, "", model=text, source=SOURCE))
            if least:
                lines.append(Line(_LEAST_FLOW, "", model=least, source=SOURCE))
    return lines


def _of_cells(prediction: Prediction) -> list[Line]:
    """Return rows for the goodput of each cell: every model's, then a quick simulation's."""
    seen = {} if prediction.glance is None else prediction.glance.cells
    cells = prediction.scenario.cells or ()
    lines = []
    for place, cell in enumerate(cells if len(cells) > 1 else ()):
        values = [
            (quantity(entry.value[place], "b/s"), entry.source)
            for entry in prediction.model.get(_OF_CELLS, ())
            if isinstance(entry.value, list)
        ]
        if cell.name in seen:
            told = quantity_with_interval(seen[cell.name].goodput_bps, "b/s")
            values.append((told, SOURCE))
        labels = [f"goodput of cell {cell.name}", *("" for _ in values[1:])]
        lines += [
            Line(label, "", model=value, source=source)
            for label, (value, source) in zip(labels, values, strict=False)
        ]
    return lines


def glanced_cells(prediction: Prediction) -> list[str]:
    """Explain which cells get little in the quick simulation, and why; empty without one."""
    glance = prediction.glance
    return [] if glance is None else sentences(prediction.scenario, glance.cells, glanced=True)


def glanced(prediction: Prediction) -> str | None:
    """Describe why there was a quick simulation, and how long it was; None without one."""
    glance = prediction.glance
    if glance is None:
        return None
    why = ""
    if prediction.uncovered is not None:
        why = f"No analytical model applies: {prediction.uncovered}. "
    run = prediction.scenario.run
    own_s = run.whole_s
    of = "" if glance.reached else f" of the scenario's {duration(own_s)}"
    seen = f"{why}Quick simulation: {duration(glance.simulation.simulated_s)}{of} simulated, "
    seen += f"{100 * glance.simulation.confidence:g} % intervals.{_too_short(glance)}"
    if glance.seldom:
        names = " and ".join(glance.seldom[:3]) if len(glance.seldom) < 4 else "several cells"
        seen += f" {names} sent rarely; a longer run may rank cells differently."
    return f"{seen} airtcp simulate gives narrower intervals."


def _too_short(glance: Glance) -> str:
    """Describe what a quick simulation is too short for, and the consequence."""
    causes = {
        "transfers": "transfers take longer",
        "windows": "TCP windows still grow at its end",
        "sawteeth": "TCP windows need longer to rise and fall",
        "readers": "few pages or files were requested",
    }
    if not glance.short_for:
        return ""
    *others, last = (causes[word] for word in glance.short_for)
    why = ", ".join(others) + (" and " if others else "") + last
    seen = f" It is short ({why}): delays are lower bounds, and losses are not reported"
    if not glance.settled and glance.metrics["transfer_time_s"].low is None:
        seen += ", nor are transfer times"
    return f"{seen}."


def simulation_lines(simulation: Simulation) -> list[Line]:
    """Return every metric that has a value and is not a detail, with its interval.

    Without frame errors, every failure is a collision, so failed PPDUs are left out.
    """
    metrics = simulation.metrics
    hidden = {name for name in metrics if metric(name).detail or not metrics[name].is_known}
    if not metrics["mpdu_error_ratio"].mean:
        hidden |= {name for name in metrics if name.startswith("failed_ppdu_ratio")}
        hidden.add("mpdu_error_ratio")
    if simulation.is_done:
        hidden |= OF_IDLE_TIME
    return [
        *job_lines(simulation),
        *(
            line
            for name in _in_order(metrics)
            if name not in hidden
            for line in _lines(simulation, name)
        ),
    ]


def job_lines(simulation: Simulation) -> list[Line]:
    """Return rows for the time when the jobs of each group ended, and their goodput until then."""
    return [
        Line(f"{what} of {job.group} {job.part}s", quantity_with_interval(interval, unit))
        for job in simulation.jobs
        for what, interval, unit in (
            ("end", job.end_s, "s"),
            ("goodput until the end", job.goodput_bps, "b/s"),
        )
    ]


def _lines(simulation: Simulation, name: str) -> Iterator[Line]:
    """Yield the row of a metric; after goodput per flow, also the lowest flow if flows differ."""
    text, _, least = _text(simulation, name).partition(LEAST)
    yield Line(metric(name).label, text)
    if least:
        yield Line(_LEAST_FLOW, least)


def _text(simulation: Simulation, name: str) -> str:
    return metric_text(name, simulation.metrics[name], simulation.runs, simulation.scenario)


def best_alone(result: _Told) -> _Told:
    """Keep only the best model for each metric."""
    model = {name: entries[:1] for name, entries in result.model.items()}
    if isinstance(result, Prediction):
        return replace(result, model=model)
    rows: dict[str, Row] = {}
    for row in result.comparison:
        rows.setdefault(row.metric, row)
    return replace(result, model=model, comparison=list(rows.values()))


def in_short(sentence: str) -> str:
    """Return the first part of a sentence: what is broken, without its effect."""
    return sentence.partition("; ")[0]


def shortened(told: Iterable[tuple[str, list[str]]]) -> list[tuple[str, list[str]]]:
    """Shorten sentences with `in_short`, and merge those that become equal."""
    found: dict[str, list[str]] = {}
    for sentence, sources in told:
        known = found.setdefault(in_short(sentence), sources)
        more = [one for one in sources if one not in known]
        found[in_short(sentence)] = [*known, *more] if known and sources else []
    return list(found.items())


def broken(model: Model) -> list[tuple[str, list[str]]]:
    """Return the broken assumptions, each sentence once, with the sources that it concerns.

    The sources are empty if it concerns all of them.
    """
    return _collect(model, lambda entry: entry.broken)


def assumed(model: Model) -> list[tuple[str, list[str]]]:
    """Return the models' assumptions, each sentence once, with sources as in `broken`."""
    return _collect(model, lambda entry: entry.assumes)


def _collect(
    model: Model, told: Callable[[Predicted], Iterable[str]]
) -> list[tuple[str, list[str]]]:
    sources: dict[str, list[str]] = {}
    everyone = set()
    for name in _in_order(model):
        for entry in model[name]:
            everyone.add(entry.source)
            for sentence in told(entry):
                known = sources.setdefault(sentence, [])
                if entry.source not in known:
                    known.append(entry.source)
    return [
        (sentence, [] if set(known) == everyone else known) for sentence, known in sources.items()
    ]


def _in_order(names: Iterable[str]) -> list[str]:
    """Return names without repetition, in catalogue order; unknown ones last, by name."""
    order = {name: index for index, name in enumerate(METRICS)}
    return sorted(set(names), key=lambda name: (order.get(name, len(order)), name))

"""The definition of a sweep: base scenario, axes, replications per point, metrics to keep.

Reads sweep files in the style of scenario files: unknown keys and invalid values are rejected by
name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError

from airtcp.exceptions import ScenarioError
from airtcp.labels import PARTS, spellings
from airtcp.metrics import METRICS
from airtcp.phrases import phrase
from airtcp.results.cells import CELL_METRICS, SHARE_OF_ALONE
from airtcp.scenario import Scenario
from airtcp.scenario.errors import InvalidError, scenario_error
from airtcp.scenario.load import load, read
from airtcp.scenario.quantities import Percent, Written, needed, optional
from airtcp.scenario.toml_text import parse
from airtcp.sweep.axes import Axis, read_axes
from airtcp.sweep.work import Often
from airtcp.units import parse_percent


class _SweepFile(Written):
    """A sweep file."""

    scenario: str = needed("the base scenario: a file, relative to this one")
    replications: Annotated[int, Field(ge=1, le=10**6)] | None = optional(
        "Runs of each point.", default="the value of the scenario"
    )
    precision: Percent | None = optional(
        "Instead: go on until the intervals of each point are this narrow.",
        default="the value of the scenario",
    )
    max_replications: Annotated[int, Field(ge=2, le=10**6)] | None = optional(
        "Give up the wanted precision after so many.", default="the value of the scenario"
    )
    metrics: list[str] | None = optional("The metrics to keep.", default="all")
    axes: dict[str, Any] = needed('what varies, such as "stations.laptop.count" = [1, 2, 5]')


@dataclass(frozen=True)
class Sweep:
    """A base scenario, axes, replications per point, and metrics to keep.

    `name` is used in messages. `metrics` is None to keep all metrics of the simulator.
    """

    base: Scenario
    axes: tuple[Axis, ...]
    often: Often
    metrics: tuple[str, ...] | None = None
    name: str = "sweep"

    def with_replications(self, replications: int | None) -> Sweep:
        """Return the sweep with this many runs per point; None changes nothing."""
        if replications is None:
            return self
        return replace(self, often=replace(self.often, replications=replications, precision=None))


def load_sweep(path: Path, changes: Mapping[str, Any] | None = None) -> Sweep:
    """Load the sweep of a file, with other values at some key paths of its scenario.

    Raises ScenarioError, which names the file and the key.
    """
    name = str(path)
    text = read(path)
    try:
        data = parse(text)
    except ValueError as error:
        raise ScenarioError(name, "", phrase("sweep.file.not_toml", error=error)) from error
    except RecursionError:
        raise ScenarioError(name, "", phrase("sweep.file.too_deep")) from None
    if "phy" in data and "axes" not in data:
        told = phrase("sweep.file.scenario")
        raise ScenarioError(name, "", told)
    try:
        form = _SweepFile.model_validate(data)
    except ValidationError as error:
        raise scenario_error(name, data, error) from None
    base = load(path.parent / form.scenario)
    if changes:
        base = base.vary(changes)
    return _sweep(
        base,
        data["axes"],
        replications=form.replications,
        precision=form.precision,
        max_replications=form.max_replications,
        metrics=form.metrics,
        name=name,
    )


def sweep_of(
    base: Scenario,
    axes: Mapping[str, Any],
    *,
    replications: int | None = None,
    precision: str | float | None = None,
    max_replications: int | None = None,
    metrics: Sequence[str] | None = None,
) -> Sweep:
    """Return the sweep of a base scenario and axes in the form of a sweep file.

    `precision` is a fraction or a text such as "2 %". Without it and `replications`, those of the
    scenario apply. Raises ScenarioError, and ValueError for numbers out of bounds.
    """
    if isinstance(precision, str):
        precision = parse_percent(precision)
    for name, number, least in (("replications", replications, 1), ("max", max_replications, 2)):
        if number is not None and number < least:
            raise ValueError(phrase("sweep.file.too_few", name=name, least=least, number=number))
    return _sweep(
        base,
        axes,
        replications=replications,
        precision=precision,
        max_replications=max_replications,
        metrics=metrics,
        name="sweep",
    )


def _sweep(
    base: Scenario,
    axes: Mapping[str, Any],
    *,
    replications: int | None,
    precision: float | None,
    max_replications: int | None,
    metrics: Sequence[str] | None,
    name: str,
) -> Sweep:
    def parse(form: type[Written], table: dict[str, Any], axis: str) -> Any:
        try:
            return form.model_validate(table)
        except ValidationError as error:
            found = scenario_error(name, table, error)
            more = [(f"axes.{axis}.{key}", message) for key, message in found.more]
            raise ScenarioError(name, f"axes.{axis}.{found.key}", found.message, more) from None

    try:
        if replications is not None and precision is not None:
            raise InvalidError(("precision",), phrase("sweep.file.precision_or_replications"))
        if precision is not None and not 0 < precision < 1:
            raise InvalidError(("precision",), phrase("sweep.file.precision"))
        if not axes:
            raise InvalidError(("axes",), phrase("sweep.file.no_axis"))
        kept = None if metrics is None else _metrics(metrics, base)
        run = base.run
        if replications is None and precision is None:
            replications, precision = run.replications, run.precision
        often = Often(
            replications, precision, max_replications or run.max_replications, run.confidence
        )
        return Sweep(base, tuple(read_axes(axes, parse)), often, kept, name)
    except InvalidError as error:
        raise scenario_error(name, {}, error) from None


def _metrics(names: Sequence[str], base: Scenario) -> tuple[str, ...]:
    """Return the metrics to keep: of all flows, GROUP.PART.METRIC, or cells.CELL.METRIC."""
    if not names:
        raise InvalidError(("metrics",), phrase("sweep.file.no_metrics"))
    groups = [group.name for group in base.stations]
    cells = [f"cells.{cell.name}." for cell in base.cells or ()]
    of_cells = (*CELL_METRICS, SHARE_OF_ALONE) if len(cells) > 1 else CELL_METRICS
    kept: list[str] = []
    for index, name in enumerate(names):
        if any(name.removeprefix(cell) in of_cells for cell in cells if name.startswith(cell)):
            kept.append(name)
            continue
        *of, last = name.split(".")
        metric = spellings().get(last)
        of_group = len(of) == 2 and of[0] in groups and of[1] in PARTS
        if metric is None or (not of_group if of else metric.scopes == ("cell",)):
            near = _of_cell(name, base) or _nearest(last)
            text = phrase("sweep.file.not_a_metric", name=name, near=near)
            text += phrase("sweep.file.of_a_group", parts="|".join(PARTS))
            if cells:
                text += f", or of a cell: {cells[0]}{'|'.join(of_cells)}"
            raise InvalidError(("metrics", index), text)
        kept.append(".".join([*of, metric.name]))
    return tuple(dict.fromkeys(kept))


def _of_cell(name: str, base: Scenario) -> str:
    """Suggest the name for a cell's metric that is written as in a target, `cell hall goodput`."""
    words = name.split()
    if len(words) != 3 or words[0] != "cell" or words[1] not in {c.name for c in base.cells or ()}:
        return ""
    metric = spellings().get(words[2])
    return "" if metric is None else f" (did you mean cells.{words[1]}.{metric.name}?)"


def _nearest(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, METRICS, n=1)
    return f" (did you mean {near[0]}?)" if near else ""

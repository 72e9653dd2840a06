"""The axes of a sweep, each with its steps.

A step changes keys of the base scenario and has labels, which the columns of the store hold. There
are five kinds of axes: a list of values, a range, keys that change together (`zip`), named
alternatives, and Sobol points over several ranges.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationError, create_model

from airtcp import units
from airtcp.exceptions import UnitError
from airtcp.phrases import phrase
from airtcp.scenario.errors import InvalidError, scenario_error
from airtcp.scenario.quantities import Name, Written, needed, optional

#: The type of a cell in the column of an axis.
Label = int | float | str | bool | None

#: The written forms, as error messages describe them.
AXIS_FORMS: Final = phrase("sweep.axes.forms")
#: An axis with more steps is treated as a mistake.
MOST_STEPS: Final = 1_000_000
#: Columns of every store, which an axis cannot be named after.
RESERVED: Final = frozenset({"point", "replication", "seed", "version", "core"})


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the store that an axis fills; `unit` is "" for plain numbers and texts."""

    name: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """A step of an axis: a label for each of its columns, and values by key path."""

    labels: tuple[Label, ...]
    changes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis: its name in the sweep, its columns in the store, and its steps in order.

    The keys of a `free` axis (Sobol points) vary independently. In any other axis, the changes of a
    step belong together.
    """

    name: str
    columns: tuple[Column, ...]
    steps: tuple[Step, ...]
    free: bool = False


#: A range. Uses `create_model` because the field "from" is a Python keyword.
_Span: Final[Any] = create_model(  # type: ignore[call-overload]
    "_Span",
    __base__=Written,
    **{
        "from": (Any, needed("the first value")),
        "to": (Any, needed("the last value")),
        "scale": (Literal["linear", "log"], "linear"),
    },
)


class _Range(_Span):
    """Values in a range."""

    points: Annotated[int, Field(ge=2, le=MOST_STEPS)] | None = optional(
        "How many values, both ends included.", default="none: `step` says it"
    )
    step: Any = optional("From one value to the next.", default="none: `points` says it")
    key: str | None = optional("The key that varies.", default="the name of the axis")


class _Values(Written):
    """A list of values with an explicit name."""

    key: str = needed("the key that varies")
    values: list[Any] = needed("its values")


class _Zip(Written):
    """Keys that change together."""

    zip: dict[str, list[Any]] = needed("lists of values by key, all of the same length")


class _Alternatives(Written):
    """Named sets of changes."""

    alternatives: dict[Name, dict[str, Any]] = needed("changes by name")


class _Sobol(Written):
    """Points that fill a space evenly."""

    sobol: dict[str, _Span] = needed("ranges by key")
    points: Annotated[int, Field(ge=1, le=MOST_STEPS)] = needed("how many points")


_FORMS: Final[dict[str, type[Written]]] = {
    "zip": _Zip,
    "alternatives": _Alternatives,
    "sobol": _Sobol,
    "values": _Values,
    "from": _Range,
}


def read_axes(
    data: Mapping[str, Any], parse: Callable[[type[Written], Any, str], Any]
) -> list[Axis]:
    """Return the axes of a table `[axes]`.

    `parse` reads a table as one of the written forms, and rejects invalid ones. Raises InvalidError
    for an invalid axis; its path begins with "axes" and the name of the axis.
    """
    axes = [_axis(name, value, parse) for name, value in data.items()]
    taken: dict[str, str] = {}
    for axis in axes:
        for column in axis.columns:
            if column.name in RESERVED:
                allowed = phrase("sweep.axes.other_name")
                raise InvalidError(
                    ("axes", axis.name), phrase("sweep.axes.is_a_column", allowed=allowed)
                )
            if column.name in taken:
                raise InvalidError(
                    ("axes", axis.name),
                    phrase("sweep.axes.varied_twice", name=column.name, taken=taken[column.name]),
                )
            taken[column.name] = axis.name
    return axes


def _axis(name: str, value: Any, parse: Callable[[type[Written], Any, str], Any]) -> Axis:
    where = ("axes", name)
    if isinstance(value, list | tuple):
        return _listed(name, name, list(value), where)
    if not isinstance(value, Mapping):
        raise InvalidError(where, phrase("sweep.axes.not_an_axis", axis_forms=AXIS_FORMS))
    form = next((form for key, form in _FORMS.items() if key in value), None)
    if form is None:
        raise InvalidError(where, phrase("sweep.axes.not_an_axis", axis_forms=AXIS_FORMS))
    table = parse(form, dict(value), name)
    if isinstance(table, _Values):
        return _listed(name, table.key, table.values, (*where, "values"))
    if isinstance(table, _Range):
        return _listed(name, table.key or name, _range(table, where), where)
    if isinstance(table, _Zip):
        return _zipped(name, table, where)
    if isinstance(table, _Alternatives):
        return _alternatives(name, table, where)
    return _sobol(name, table, where)


def _listed(name: str, key: str, values: list[Any], where: tuple[str, ...]) -> Axis:
    _refuse_empty(values, where)
    labels, unit = labels_of(values)
    _refuse_twice(labels, where)
    steps = (Step((label,), {key: value}) for label, value in zip(labels, values, strict=True))
    return Axis(name, (Column(name, unit),), tuple(steps))


def _zipped(name: str, table: _Zip, where: tuple[str, ...]) -> Axis:
    inside = (*where, "zip")
    if not table.zip:
        raise InvalidError(inside, phrase("sweep.axes.empty_zip"))
    lengths = {key: len(values) for key, values in table.zip.items()}
    for key, values in table.zip.items():
        _refuse_empty(values, (*inside, key))
    if len(set(lengths.values())) > 1:
        text = ", ".join(f"{key} has {length}" for key, length in lengths.items())
        raise InvalidError(inside, phrase("sweep.axes.lengths", text=text))
    columns, columned = [], []
    for key, values in table.zip.items():
        labels, unit = labels_of(values)
        columns.append(Column(key, unit))
        columned.append(labels)
    rows = list(zip(*columned, strict=True))
    _refuse_twice(rows, inside)
    changes = [
        dict(zip(table.zip, values, strict=True))
        for values in zip(*table.zip.values(), strict=True)
    ]
    steps = (Step(tuple(row), change) for row, change in zip(rows, changes, strict=True))
    return Axis(name, tuple(columns), tuple(steps))


def _alternatives(name: str, table: _Alternatives, where: tuple[str, ...]) -> Axis:
    _refuse_empty(list(table.alternatives), (*where, "alternatives"))
    steps = (Step((label,), changes) for label, changes in table.alternatives.items())
    return Axis(name, (Column(name),), tuple(steps))


def _sobol(name: str, table: _Sobol, where: tuple[str, ...]) -> Axis:
    # Importing SciPy takes a noticeable fraction of a second.
    from scipy.stats import qmc

    inside = (*where, "sobol")
    if not table.sobol:
        raise InvalidError(inside, phrase("sweep.axes.empty_sobol"))
    spans = {key: _read_span(span, (*inside, key)) for key, span in table.sobol.items()}
    # Not scrambled: the points are the same with every version of SciPy, and more points extend
    # them.
    power = max(0, math.ceil(math.log2(table.points)))
    unit_cube = qmc.Sobol(len(spans), scramble=False).random_base2(power)[: table.points]
    changes = [
        dict(zip(spans, _at(list(spans.values()), row.tolist()), strict=True)) for row in unit_cube
    ]
    columned, columns = [], []
    for key in spans:
        labels, unit = labels_of([change[key] for change in changes])
        columned.append(labels)
        columns.append(Column(key, unit))
    rows = zip(*columned, strict=True)
    # In ranges of few integers, some points coincide.
    steps = dict.fromkeys(rows)
    first = {row: changes[at] for at, row in reversed(list(enumerate(zip(*columned, strict=True))))}
    return Axis(name, tuple(columns), tuple(Step(row, first[row]) for row in steps), free=True)


@dataclass(frozen=True, slots=True)
class Bounds:
    """A range of numbers in a base unit, and a function that writes a number as in a file."""

    low: float
    high: float
    log: bool
    write: Callable[[float], Any]

    def at(self, share: float) -> Any:
        """Return the value at a relative position, 0 to 1."""
        if self.log:
            return self.write(self.low * (self.high / self.low) ** share)
        return self.write(self.low + (self.high - self.low) * share)


def _at(spans: Sequence[Bounds], shares: Sequence[float]) -> list[Any]:
    return [span.at(share) for span, share in zip(spans, shares, strict=True)]


def _read_span(span: Written, where: tuple[str, ...]) -> Bounds:
    low, kind = _number(getattr(span, "from"), (*where, "from"))
    high, other = _number(span.to, (*where, "to"))
    if kind is not other:
        raise InvalidError(where, phrase("sweep.axes.kinds"))
    if span.scale == "log" and min(low, high) <= 0:
        raise InvalidError(where, phrase("sweep.axes.log_of_zero"))
    if low == high:
        raise InvalidError(where, phrase("sweep.axes.no_range"))
    whole = isinstance(getattr(span, "from"), int) and isinstance(span.to, int)
    return Bounds(low, high, span.scale == "log", _writer(kind, whole))


def read_span(table: Mapping[str, Any], axis: str) -> tuple[Bounds, bool, str]:
    """Read a range. Return it, whether its values are integers, and their unit.

    Raises ScenarioError for an invalid range.
    """
    try:
        span = _Span.model_validate(dict(table))
        bounds = _read_span(span, (axis,))
    except (ValidationError, InvalidError) as error:
        raise scenario_error("--over", dict(table), error) from None
    low, high = table["from"], table["to"]
    return bounds, isinstance(low, int) and isinstance(high, int), labels_of([low])[1]


def _range(table: _Range, where: tuple[str, ...]) -> list[Any]:
    span = _read_span(table, where)
    if (table.points is None) == (table.step is None):
        raise InvalidError(where, phrase("sweep.axes.points_or_step"))
    if table.points is not None:
        values = [span.at(index / (table.points - 1)) for index in range(table.points)]
        # After rounding to integers, neighbours may be equal.
        return list(dict.fromkeys(values))
    step, kind = _number(table.step, (*where, "step"))
    if kind is not _number(getattr(table, "from"), where)[1] or span.log:
        raise InvalidError((*where, "step"), phrase("sweep.axes.step_of_another"))
    if step * (span.high - span.low) <= 0:
        raise InvalidError((*where, "step"), phrase("sweep.axes.step_away"))
    # Include the last value if a step ends within a millionth of it.
    count = math.floor((span.high - span.low) / step + 1e-6) + 1
    if count > MOST_STEPS:
        raise InvalidError(
            (*where, "step"), phrase("sweep.axes.many_values", count=count, most=MOST_STEPS)
        )
    return [span.write(span.low + index * step) for index in range(count)]


#: Kinds of quantities: base unit, parser, and formatter of a number.
_Kind = tuple[str, Callable[[object], float], Callable[[float], str]]
_KINDS: Final[tuple[_Kind, ...]] = (
    ("s", units.parse_time_s, lambda value: f"{round(value * units.NS_PER_S)} ns"),
    ("b/s", units.parse_rate_bps, lambda value: f"{round(value)} b/s"),
    ("B", units.parse_mean_size_bytes, lambda value: f"{round(value)} B"),
    # Twelve digits: 0.07 is 7 %, not 7.000000000000001 %.
    ("", units.parse_percent, lambda value: f"{100 * value:.12g} %"),
)


def _number(value: Any, where: tuple[str, ...]) -> tuple[float, _Kind | None]:
    """Return the number in a value, and its kind of quantity; None for a bare number."""
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return value, None
    for kind in _KINDS:
        try:
            return kind[1](value), kind
        except UnitError:
            continue
    raise InvalidError(where, phrase("sweep.axes.not_a_number"))


def _writer(kind: _Kind | None, whole: bool) -> Callable[[float], Any]:
    if kind is not None:
        return kind[2]
    return round if whole else float


def labels_of(values: Sequence[Any]) -> tuple[list[Label], str]:
    """Return the labels of values in a column, and their unit.

    The labels are numbers if all values are of one kind, otherwise texts.
    """
    found: list[tuple[float, _Kind | None]] = []
    for value in values:
        try:
            found.append(_number(value, ()))
        except InvalidError:
            return _texts(values), ""
    kinds = {None if kind is None else id(kind) for _, kind in found}
    if len(kinds) > 1:
        return _texts(values), ""
    kind = found[0][1]
    if kind is None:
        return list(values), ""
    return [float(number) for number, _ in found], kind[0]


def _texts(values: Sequence[Any]) -> list[Label]:
    if all(isinstance(value, bool) for value in values):
        return list(values)
    return [
        value if isinstance(value, str) or value is None else json.dumps(value, sort_keys=True)
        for value in values
    ]


def _refuse_empty(values: Sequence[Any], where: tuple[str, ...]) -> None:
    if not values:
        raise InvalidError(where, phrase("sweep.axes.no_value"))


def _refuse_twice(labels: Sequence[Any], where: tuple[str, ...]) -> None:
    seen = set()
    for label in labels:
        if label in seen:
            raise InvalidError(where, phrase("sweep.axes.twice", label=label))
        seen.add(label)

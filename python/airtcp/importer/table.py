"""Measured values in a CSV file: `metric,value`, and optionally `low,high,runs,of`.

Values are in the units of their metrics. Lines are counted from 1. A value of a group that the
scenario lacks is not compared.
"""

from __future__ import annotations

import csv
import io
import math
import re
from typing import Final

from airtcp.conditions import ConditionError, read_measure, read_value
from airtcp.importer.source import Source, phrase, shown
from airtcp.metrics import METRICS, Metric
from airtcp.results.measured import Measurement
from airtcp.stats import Interval

_NEEDED: Final = ("metric", "value")
_NUMBERS: Final = ("value", "low", "high", "runs")
_COLUMNS: Final = ("metric", *_NUMBERS, "of")
_MOST_RUNS: Final = 10**6
_DIRECTIONS: Final = ("download", "upload")


def is_table(source: Source) -> bool:
    """Whether the first line names the columns of measured values."""
    return set(_head(_lines(source))[1]) >= set(_NEEDED)


def _lines(source: Source) -> list[str]:
    """Return the lines, with comments empty."""
    lines = source.text.splitlines()
    return ["\n" if line.lstrip().startswith("#") else f"{line}\n" for line in lines]


def _head(lines: list[str]) -> tuple[str, list[str]]:
    """Return the delimiter, a comma, semicolon or tab, and the names of the columns."""
    first = next((line for line in lines if line.strip()), "")
    delimiter = max(",;\t", key=first.count)
    return delimiter, [one.strip().strip('"').lower() for one in first.split(delimiter)]


def read_table(source: Source) -> Measurement:
    """Return the measured values. Raises ScenarioError."""
    values: dict[str, dict[str, Interval]] = {}
    lines = _lines(source)
    delimiter, names = _head(lines)
    text = io.StringIO("".join(lines))
    reader = csv.DictReader(text, names, delimiter=delimiter, skipinitialspace=True)
    try:
        next(reader)
        for row in reader:
            place = f"line {reader.line_num}"
            unknown = [name for name in row if name not in _COLUMNS]
            if unknown:
                raise source.error(
                    place,
                    phrase("table.unknown_column", unknown=shown(unknown[0]), columns=_COLUMNS),
                )
            of = (row.get("of") or "").strip()
            _, slash, part = of.rpartition("/")
            if slash and part not in _DIRECTIONS:
                raise source.error(place, phrase("table.not_a_scope", of=shown(of)))
            metric, of = _metric(source, place, (row["metric"] or "").strip(), of)
            texts = [row.get(name) or "" for name in _NUMBERS]
            if delimiter != ",":
                # Spreadsheets whose language has a decimal comma.
                texts = [re.sub(r"^(\s*[+-]?\d*),(?=\d)", r"\1.", text) for text in texts]
            found = [
                _number(source, place, name, text, METRICS[metric])
                for name, text in zip(_NUMBERS, texts, strict=True)
            ]
            known = values.setdefault(of, {})
            if metric in known:
                about = f"{metric} of {of}" if of else metric
                raise source.error(place, phrase("table.twice", about=about))
            known[metric] = _interval(source, place, found)
    except csv.Error as error:
        raise source.error(
            f"line {reader.line_num}", phrase("table.not_csv", error=error)
        ) from error
    if not values:
        raise source.error("line 1", phrase("table.no_values"))
    return Measurement(source.short, values)


def _metric(source: Source, place: str, text: str, of: str) -> tuple[str, str]:
    """Return the name of a metric, written as in results or in conditions, and its scope."""
    if text in METRICS:
        return text, of
    try:
        metric, group, part, cell = read_measure(text)
    except ConditionError as error:
        raise source.error(place, f"metric: {error}") from error
    if cell is not None:
        raise source.error(place, phrase("table.of_a_cell"))
    scope = "" if group is None else group if part == "all" else f"{group}/{part}"
    if scope and of:
        raise source.error(place, phrase("table.of_and_metric", of=shown(of), text=shown(text)))
    return metric.name, scope or of


def _interval(source: Source, place: str, found: list[float | None]) -> Interval:
    value, low, high, runs = found
    if value is None:
        raise source.error(place, phrase("table.no_value"))
    if low is None and high is None:
        return Interval(value, None, None, 1)
    if low is None or high is None or not low <= value <= high:
        raise source.error(place, phrase("table.not_between"))
    if runs is not None and not (runs.is_integer() and 2 <= runs <= _MOST_RUNS):
        raise source.error(place, phrase("table.one_run", runs=runs, most=_MOST_RUNS))
    # Half a width does not give the number of runs; there were at least two.
    return Interval(value, low, high, 2 if runs is None else int(runs))


def _number(
    source: Source, place: str, name: str, text: str | None, metric: Metric
) -> float | None:
    """Return a number in the unit of the metric, or parse a quantity with a unit."""
    if text is None or not text.strip():
        return None
    try:
        value = float(text)
    except ValueError:
        try:
            value = math.nan if name == "runs" else read_value(metric, text.strip())
        except ConditionError as error:
            raise source.error(place, f"{name}: {error}") from error
    if not math.isfinite(value):
        raise source.error(place, phrase("table.not_a_number", name=name, text=shown(text)))
    if name == "value":
        # An interval of Student's t may reach below 0.
        _check(source, f"{place}: {name}", value, metric)
    return value


def _check(source: Source, place: str, value: float, metric: Metric) -> None:
    """Reject impossible values: below 0 (except R factors), and shares above 1."""
    if value < 0.0 and metric.name != "r_factor":
        raise source.error(place, phrase("table.negative", short=metric.short))
    if metric.kind == "ratio" and value > 1.0:
        raise source.error(place, phrase("table.above_one", short=metric.short))

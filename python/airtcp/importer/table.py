"""Measured values in a CSV file: `metric,value`, and as far as known `low,high,runs,of`.

Knows the names of metrics, whose units values have, and directions. Lines are counted from 1. Does
not know which groups a scenario has: a value of another group has no answer beside it.
"""

from __future__ import annotations

import csv
import difflib
import io
import math
from typing import Final

from airtcp.importer.source import Source, shown
from airtcp.metrics import METRICS
from airtcp.results.measured import Measurement
from airtcp.stats import Interval

_NEEDED: Final = ("metric", "value")
_COLUMNS: Final = (*_NEEDED, "low", "high", "runs", "of")
_MOST_RUNS: Final = 10**6
_DIRECTIONS: Final = ("download", "upload")


def is_table(source: Source) -> bool:
    """Tell whether the first line names the columns of measured values."""
    head = source.text.lstrip().partition("\n")[0].strip().split(",")
    return {one.strip() for one in head} >= set(_NEEDED)


def read_table(source: Source) -> Measurement:
    """The measured values. Raises ScenarioError."""
    values: dict[str, dict[str, Interval]] = {}
    reader = csv.DictReader(io.StringIO(source.text.lstrip()), skipinitialspace=True)
    try:
        for row in reader:
            place = f"line {reader.line_num}"
            unknown = [name for name in row if name not in _COLUMNS]
            if unknown:
                raise source.error(
                    place, f"column {shown(unknown[0])} is unknown; allowed: {', '.join(_COLUMNS)}"
                )
            of = (row.get("of") or "").strip()
            _, slash, part = of.rpartition("/")
            if slash and part not in _DIRECTIONS:
                raise source.error(
                    place,
                    f"of: {shown(of)} is none; allowed: download, upload, a group, or a group and "
                    "a direction, such as laptop/download",
                )
            metric = (row["metric"] or "").strip()
            if metric not in METRICS:
                near = difflib.get_close_matches(metric, METRICS, n=1)
                hint = f"did you mean {near[0]}?" if near else "such as goodput_bps, rtt_s"
                raise source.error(place, f"{shown(metric)} is no metric; allowed: {hint}")
            found = [
                _number(source, place, name, row.get(name))
                for name in ("value", "low", "high", "runs")
            ]
            values.setdefault(of, {})[metric] = _interval(source, place, found)
    except csv.Error as error:
        raise source.error(f"line {reader.line_num}", f"is no CSV: {error}") from error
    if not values:
        raise source.error("line 1", "has no values below it; allowed: one line for each metric")
    return Measurement(source.short, values)


def _interval(source: Source, place: str, found: list[float | None]) -> Interval:
    value, low, high, runs = found
    if value is None:
        raise source.error(place, "value is missing; allowed: a number in the metric's unit")
    if low is None and high is None:
        return Interval(value, None, None, 1)
    if low is None or high is None or not low <= value <= high:
        raise source.error(
            place, "low and high do not hold the value; allowed: low <= value <= high"
        )
    if runs is not None and not (runs.is_integer() and 2 <= runs <= _MOST_RUNS):
        raise source.error(
            place, f"runs: {runs:g} have no interval; allowed: 2 to {_MOST_RUNS}, whole"
        )
    # Half a width of its own says nothing of the number of runs: two at least.
    return Interval(value, low, high, 2 if runs is None else int(runs))


def _number(source: Source, place: str, name: str, text: str | None) -> float | None:
    if text is None or not text.strip():
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise source.error(place, f"{name}: {shown(text)} is no number; allowed: a finite number")
    return value

"""Conditions on metrics: `laptop/download p90 transfer_time > 2 s`, `cell hall goodput < 8 Mb/s`.

Stop conditions of a plan and targets share this grammar. `airtcp.scenario.measured` checks that a
scenario has the group and the metric.
"""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass
from typing import Final, Literal

from airtcp.amounts import quantity
from airtcp.exceptions import QuestionError, UnitError
from airtcp.labels import flows_of, label_of, spellings
from airtcp.metrics import METRICS, Metric
from airtcp.units import parse_percent, parse_rate_bps, parse_time_s

STATISTICS: Final = ("mean", "p50", "p90", "p95", "p99")
#: The word before the name of a cell.
CELL: Final = "cell"
_FORM: Final = "[GROUP[/DIRECTION] | cell NAME] [mean|p50|p90|p95|p99] METRIC"
#: The most words a metric can have. `cell NAME` needs one more than a group.
_MOST_WORDS: Final = 3
_GRAMMAR: Final = 'such as "p90 transfer_time > 2 s" or "laptop/download goodput < 2 Mb/s"'


#: The flows of a group that a condition covers.
Part = Literal["all", "download", "upload"]
_ALL: Final[Part] = "all"


class ConditionError(ValueError):
    """A text is not a condition. The message says what is allowed."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A bound on a metric: true if the metric is above `bound` (with `above`), or below it.

    `metric` is the key in results. `group` and `part` select flows as in `Simulation.values`;
    `cell` selects one of several cells instead. `bound` is in the unit of the metric.
    """

    text: str
    metric: str
    above: bool
    bound: float
    group: str | None = None
    part: Part = "all"
    cell: str | None = None

    @property
    def about(self) -> Metric:
        """The catalogue entry of the metric."""
        return METRICS[self.metric]

    @property
    def label(self) -> str:
        """The metric and its scope for people: "transfer time of laptop downloads"."""
        if self.cell is not None:
            return label_of(self.about, f"cell {self.cell}")
        if self.group is None:
            return self.about.label
        return label_of(self.about, flows_of(self.group, self.part))

    @property
    def bound_text(self) -> str:
        """The bound with its unit: "2 s"."""
        return bound_text(self.bound, self.about.read_in)

    @property
    def mean_metric(self) -> str | None:
        """The metric whose percentile this condition uses, or None if it uses no percentile."""
        mean = self.about.with_statistic("mean") if self.about.quantile else None
        return None if mean is None else mean.name

    def excess(self, value: float) -> float:
        """Return how far a value lies beyond the bound; negative if the condition is false."""
        return value - self.bound if self.above else self.bound - value


def bound_text(bound: float, unit: str) -> str:
    """Format a bound without trailing zeros: "2 s"."""
    number, space, unit = quantity(bound, unit, 3).partition(" ")
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    return f"{number}{space}{unit}"


def parse_condition(text: str) -> Condition:
    """Parse the condition of `--until` with `read_condition`. Raises QuestionError."""
    try:
        return read_condition(text)
    except ConditionError as error:
        raise QuestionError(f'--until "{text}": {error}') from None


def read_condition(text: str) -> Condition:
    """Parse `[GROUP[/DIRECTION]] [mean|p50|p90|p95|p99] METRIC (<|>) QUANTITY`.

    `cell NAME` instead of the group selects one of several cells. The unit suffix of the metric is
    optional. Raises ConditionError, with what is allowed, for any other text, and for a condition
    that is always or never true.
    """
    match = re.fullmatch(r"\s*([^<>]*?)\s*([<>])\s*([^<>=]+?)\s*", text)
    words = match[1].split() if match else []
    if match is None or not _has_form(words):
        raise ConditionError(
            f"is not a condition; allowed: {_FORM} (< or >) QUANTITY, {_GRAMMAR}",
        )
    metric, group, part, cell = _measure(words)
    above, bound = match[2] == ">", read_value(metric, match[3])
    _check_possible(metric, above, bound)
    return Condition(" ".join(text.split()), metric.name, above, bound, group, part, cell)


def read_measure(text: str) -> tuple[Metric, str | None, Part, str | None]:
    """Parse `[GROUP[/DIRECTION]] [mean|p50|p90|p95|p99] METRIC` into metric, group, part and cell.

    The cell is set if `cell NAME` takes the place of the group. Raises ConditionError, with what is
    allowed, for any other text.
    """
    words = text.split()
    if not _has_form(words):
        raise ConditionError(f'is not a metric; allowed: {_FORM}, such as "p90 transfer_time"')
    return _measure(words)


def _has_form(words: list[str]) -> bool:
    """Whether the number of words fits the grammar."""
    return 1 <= len(words) <= _MOST_WORDS + (words[0] == CELL)


def _measure(words: list[str]) -> tuple[Metric, str | None, Part, str | None]:
    *before, name = words
    statistic = before.pop() if before and before[-1] in STATISTICS else None
    # A group may be called "cell": "cell goodput" has no cell name after it.
    of_cell = before[0] == CELL and len(before) == 2 if before else False
    if len(before) > 1 and not of_cell:
        raise ConditionError(f'"{before[1]}" is not a statistic; allowed: {", ".join(STATISTICS)}')
    cell = before[1] if of_cell else None
    group, part = _scope(before[0]) if before and not of_cell else (None, _ALL)
    metric = _metric(name, statistic)
    scope = "all" if group is None else "group" if part == "all" else "direction"
    if cell is not None:
        if "cell" not in metric.scopes:
            known = ", ".join(one.short for one in METRICS.values() if "cell" in one.scopes)
            raise ConditionError(f"{metric.short} is not measured for a cell; allowed: {known}")
    elif scope not in metric.scopes:
        raise ConditionError(
            f"{metric.short} is not measured for "
            f"{'all flows' if group is None else 'a group'}; allowed: {', '.join(_of(metric))}",
        )
    return metric, group, part, cell


def _scope(scope: str) -> tuple[str, Part]:
    group, slash, direction = scope.partition("/")
    if not slash:
        return group, _ALL
    if direction == "download":
        return group, "download"
    if direction == "upload":
        return group, "upload"
    raise ConditionError(f'"{direction}" is not a direction; allowed: download, upload')


def _metric(name: str, statistic: str | None) -> Metric:
    names = spellings()
    if name not in names:
        short = [one.short for one in METRICS.values()]
        nearest = difflib.get_close_matches(name, short, n=1, cutoff=0.4)
        hint = f"the nearest is {nearest[0]}" if nearest else f"allowed: {', '.join(short)}"
        raise ConditionError(f'"{name}" is not a metric; {hint}')
    metric = names[name]
    if statistic is None or statistic == "mean":
        return metric
    quantile = None if metric.quantile else metric.with_statistic(statistic)
    if quantile is None:
        known = () if metric.quantile else filter(metric.with_statistic, STATISTICS[1:])
        allowed = ", ".join(["mean", *known])
        raise ConditionError(f"{metric.short} has no {statistic}; allowed: {allowed}")
    return quantile


def read_value(metric: Metric, value: str) -> float:
    """Parse a value of a metric, such as "2 s", into the metric's unit. Raises ConditionError."""
    try:
        if metric.unit == "s":
            return parse_time_s(value)
        if metric.unit == "b/s":
            return float(parse_rate_bps(value))
        if value.endswith("%"):
            if metric.unit:
                raise ConditionError(f"{metric.short} is in {metric.unit}, not in %")
            return parse_percent(value)
    except UnitError as error:
        raise ConditionError(str(error)) from error
    number = value.removesuffix(metric.unit).strip() if metric.unit else value
    try:
        bound = float(number)
    except ValueError:
        bound = math.nan
    if not math.isfinite(bound):
        unit = f" of {metric.unit}" if metric.unit else ", or a percentage"
        raise ConditionError(f'"{value}" is not a value of {metric.short}; allowed: a number{unit}')
    return bound


def _check_possible(metric: Metric, above: bool, bound: float) -> None:
    most = math.inf if metric.most is None else metric.most
    values = f"{metric.short} is {'never negative' if metric.most is None else f'0 to {most:g}'}"
    if (above and bound >= most) or (not above and bound <= 0.0):
        raise ConditionError(f"can never be met: {values}; allowed: a bound within")
    if (above and bound < 0.0) or (not above and bound > most):
        raise ConditionError(f"is always met: {values}; allowed: a bound within")


def _of(metric: Metric) -> list[str]:
    words = {"all": "everything", "group": "a group", "direction": "a group in one direction"}
    words["cell"] = "one of several cells (cell NAME)"
    return [words[scope] for scope in metric.scopes if scope in words]

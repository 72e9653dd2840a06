"""The axis of a plan: the number of stations or a key, on a grid of values from good to bad."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from airtcp.exceptions import QuestionError, ScenarioError, UnitError
from airtcp.phrases import phrase
from airtcp.scenario.vary import MOST_STATIONS
from airtcp.units import (
    format_rate,
    format_size,
    format_time_s,
    parse_length_m,
    parse_percent,
    parse_rate_bps,
    parse_size_bytes,
    parse_time_ns,
)

if TYPE_CHECKING:
    from airtcp.scenario import Scenario

#: The axis that varies the number of all stations, with groups in proportion.
STATIONS: Final = "stations"
#: The axis that varies the distance of stations from their access point.
DISTANCE: Final = "distance"
#: The default ends of that axis. Indoors no station hears an access point beyond 200 m.
_NEAREST, _FARTHEST = "1 m", "200 m"
#: The approximate spacing of values on a continuous grid.
_STEP: Final = 0.01
_MOST_STEPS: Final = 400
#: If the ends differ by a larger factor, the values form a geometric series, otherwise an
#: arithmetic one.
_GEOMETRIC: Final = 3.0


@dataclass(frozen=True)
class Axis:
    """The values of a key path, or of the number of stations, in order from good to bad.

    `numbers` are in the base unit (s, b/s, B, m, or none); `written` has the values as in a file.
    """

    scenario: Scenario
    path: str
    unit: str
    numbers: Sequence[float]
    written: Sequence[Any]

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def whole(self) -> bool:
        """Whether the grid contains every integer between its ends."""
        return isinstance(self.numbers, range)

    @property
    def label(self) -> str:
        """The name of what is varied, for people."""
        return "stations" if self.path == STATIONS else self.path

    def text(self, number: float) -> str:
        """Format a value."""
        if self.unit == "s":
            return format_time_s(number, 3)
        if self.unit == "b/s":
            return format_rate(number, 3)
        if self.unit == "B":
            return format_size(number, 3)
        if self.unit == "%":
            return f"{100.0 * number:g} %"
        if self.unit == "m":
            return f"{number:.3g} m"
        return f"{number:g}"

    def name(self, index: int) -> str:
        """Format a value with its name: "1 station", "ap.queue.limit = 20"."""
        text = self.text(self.numbers[index])
        if self.path != STATIONS:
            return f"{self.path} = {text}"
        return "1 station" if text == "1" else f"{text} {self.label}"

    def at(self, index: int) -> Scenario:
        """Return the scenario at a value of the grid. Raises ScenarioError if it is invalid."""
        if self.path == STATIONS:
            return self.scenario.with_stations(int(self.numbers[index]))
        if self.path == DISTANCE:
            return self.scenario.vary(_distances(self.scenario, self.written[index]))
        return self.scenario.vary({self.path: self.written[index]})

    def of(self, scenario: Scenario) -> Axis:
        """Return the axis with its values for another scenario."""
        return Axis(scenario, self.path, self.unit, self.numbers, self.written)

    def nearest(self, number: float) -> int:
        """Return the index of the value nearest to a number."""
        if isinstance(self.numbers, range):
            offset = round((number - self.numbers.start) / self.numbers.step)
            return min(max(offset, 0), len(self.numbers) - 1)
        return min(range(len(self)), key=lambda index: abs(self.numbers[index] - number))

    @cached_property
    def present(self) -> int | None:
        """The index of the scenario's own value; None if it is not known to be on the grid."""
        if self.path == STATIONS:
            return self.nearest(sum(group.count for group in self.scenario.stations))
        if self.path == DISTANCE:
            return None
        here: Any = self.scenario.written
        for part in self.path.split("."):
            if isinstance(here, list):
                here = next((e for e in here if part in (e.get("name"), e.get("stations"))), None)
            elif isinstance(here, dict):
                here = here.get(part)
        if isinstance(here, bool) or here is None:
            return None
        try:
            unit, number = _number(here)
        except ValueError:
            return None
        return self.nearest(number) if unit == self.unit else None


def axis_of(
    scenario: Scenario, path: str, begin: Any | None = None, end: Any | None = None
) -> Axis:
    """Return the axis of a key path, from the good end `begin` to the bad end `end`.

    A number of stations, total or of a group, needs no ends: it goes from one per group to 2007, or
    to as many as the air allows if stations hear differently. The distance of stations needs no
    ends either. Values are as in a file.

    Raises:
        QuestionError: an end is missing, or the two ends have different kinds or are equal.
        ScenarioError: the path is not a key of the scenario, or an end is not a valid value.
    """
    if path == STATIONS:
        least = len(scenario.stations)
        return _whole(scenario, path, begin, end, least)
    names = {f"stations.{group.name}.count" for group in scenario.stations}
    if path in names:
        return _whole(scenario, path, begin, end, 1)
    if f"{path}.count" in names:
        raise QuestionError(phrase("plan.axis.group", path=path))
    if path == DISTANCE:
        begin, end = begin or _NEAREST, end or _FARTHEST
        _check_distances(scenario, begin)
    else:
        # Report an unknown key before checking its values.
        _check_path(scenario, path)
    cell = re.fullmatch(r"cells\.[^.]+\.(channel|position)", path)
    if cell is not None:
        raise QuestionError(phrase("plan.axis.cell_key", path=path, cell=cell[1]))
    if begin is None or end is None:
        missing = " and ".join(
            option for option, one in (("--from", begin), ("--to", end)) if one is None
        )
        raise QuestionError(phrase("plan.axis.no_end", path=path, missing=missing))
    for one in (begin, end):
        scenario.vary(_distances(scenario, one) if path == DISTANCE else {path: one})
    try:
        (unit, first), (other, last) = _number(begin), _number(end)
    except ValueError as error:
        raise QuestionError(f"--vary {path}: {error}") from None
    if unit != other:
        raise QuestionError(phrase("plan.axis.other_quantity", path=path, begin=begin, end=end))
    if first == last:
        raise QuestionError(phrase("plan.axis.no_range", path=path, begin=begin))
    if type(begin) is int and type(end) is int:
        return _range(scenario, path, begin, end)
    numbers, written = _grid(unit, first, last)
    return Axis(scenario, path, unit, numbers, written)


def _distances(scenario: Scenario, distance: Any) -> dict[str, Any]:
    """Return the changes that put stations at a distance.

    They apply to the groups that have a distance, or to all groups if none has.
    """
    groups = scenario.written["stations"]
    having = [group for group in groups if "distance" in group] or groups
    # The distance decides the rate, so a place must not.
    keys = {"distance": distance, "place": None}
    return {f"stations.{one['name']}.{key}": value for one in having for key, value in keys.items()}


def _check_distances(scenario: Scenario, nearest: Any) -> None:
    try:
        scenario.vary(_distances(scenario, nearest))
    except ScenarioError as error:
        raise QuestionError(
            phrase("plan.axis.distance", distance=DISTANCE, nearest=nearest, message=error.message)
        ) from None


def _check_path(scenario: Scenario, path: str) -> None:
    try:
        scenario.vary({path: None})
    except ScenarioError as error:
        # The scenario may be invalid without the key. Only report that the key does not exist.
        if error.is_unknown_key:
            raise


def _whole(scenario: Scenario, path: str, begin: Any, end: Any, least: int) -> Axis:
    begin = least if begin is None else begin
    last = MOST_STATIONS if end is None else end
    if type(begin) is not int or type(last) is not int or begin < least or last < least:
        raise QuestionError(
            phrase("plan.axis.not_whole", path=path, begin=begin, last=last, least=least)
        )
    if begin == last:
        raise QuestionError(phrase("plan.axis.no_range_of_whole", path=path, begin=begin))
    axis = _range(scenario, path, begin, last)
    return _with_room(axis) if end is None else axis


def _with_room(axis: Axis) -> Axis:
    """Return the axis up to the last value with a valid scenario.

    The search goes from the end in growing steps, because a scenario's cost grows with its
    stations. Raises ScenarioError if there are fewer than two values.
    """
    none = len(axis) - 1
    if _is_there(axis, none):
        return axis
    axis.at(1)
    step = 1
    while none > step and not _is_there(axis, none - step):
        none, step = none - step, 2 * step
    there = max(0, none - step)
    while none - there > 1:
        middle = (there + none) // 2
        there, none = (middle, none) if _is_there(axis, middle) else (there, middle)
    numbers = axis.numbers[: there + 1]
    return Axis(axis.scenario, axis.path, axis.unit, numbers, numbers)


def _is_there(axis: Axis, index: int) -> bool:
    try:
        axis.at(index)
    except ScenarioError:
        return False
    return True


def _range(scenario: Scenario, path: str, begin: int, end: int) -> Axis:
    step = 1 if begin < end else -1
    numbers = range(begin, end + step, step)
    return Axis(scenario, path, "", numbers, numbers)


def _number(value: Any) -> tuple[str, float]:
    """Return the unit and number of a value in a file. Raises ValueError if it is not a number."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "", float(value)
    if isinstance(value, str):
        for unit, parse in _PARSERS.items():
            try:
                return unit, float(parse(value))
            except UnitError:
                pass
    raise ValueError(phrase("plan.axis.not_a_number", value=value))


_PARSERS: Final[dict[str, Any]] = {
    "s": lambda text: parse_time_ns(text) / 1e9,
    "b/s": parse_rate_bps,
    "B": parse_size_bytes,
    "%": parse_percent,
    "m": parse_length_m,
}


def _grid(unit: str, first: float, last: float) -> tuple[list[float], list[Any]]:
    """Return numbers with three significant digits between two ends (included), and their texts."""
    low, high = sorted((first, last))
    geometric = low > 0.0 and high / low >= _GEOMETRIC
    span = math.log(high / low) if geometric else (high - low) / max(abs(low), abs(high))
    steps = min(_MOST_STEPS, max(20, math.ceil(span / _STEP)))
    numbers = []
    for step in range(steps + 1):
        part = step / steps
        number = first * (last / first) ** part if geometric else first + (last - first) * part
        numbers.append(float(f"{number:.3g}") if 0 < step < steps else number)
    numbers = [_rounded(unit, number) for number in numbers]
    numbers = list(dict.fromkeys(numbers))
    return numbers, [_written(unit, number) for number in numbers]


def _rounded(unit: str, number: float) -> float:
    if unit == "s":
        return round(number * 1e9) / 1e9
    return float(round(number)) if unit in ("b/s", "B") else number


def _written(unit: str, number: float) -> Any:
    if unit == "s":
        return f"{round(number * 1e9)} ns"
    if unit in ("b/s", "B"):
        return f"{round(number)} {unit}"
    if unit == "m":
        return f"{number!r} m"
    return f"{100.0 * number!r} %" if unit == "%" else number

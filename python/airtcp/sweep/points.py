"""The points of a sweep: every combination of steps, each with its resolved form.

Resolving a scenario takes a millisecond, which is more than the run of a small scenario. So only
the base and each step of each axis are resolved. The parts that differ become holes of a template,
and a point is the template with the holes filled in. This is correct if no part of the resolved
form depends on two axes at once. Axes that affect the same part are therefore combined into one
axis with all their combinations. Independence of the rest is checked at corners of the grid and
other points by resolving them in full. If a check fails, every point is resolved in full.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

from airtcp.exceptions import ScenarioError, UnitError
from airtcp.scenario import Scenario
from airtcp.scenario.vary import key_paths
from airtcp.sweep.axes import Axis, Label
from airtcp.sweep.spec import Sweep
from airtcp.sweep.work import Filling, Template
from airtcp.units import (
    parse_percent,
    parse_rate_bps,
    parse_size_bits,
    parse_size_bytes,
    parse_time_ns,
    parse_time_s,
)

#: The path of a value in a resolved form.
_Path = tuple[str | int, ...]

#: Axes with more steps than this are first tried with a conversion rule instead of resolving each
#: step.
_EACH: Final = 16
#: Points at which the template is compared with the full resolution.
_TRIED: Final = 48


@dataclass(frozen=True)
class Points:
    """The points of a sweep, by number; the last axis varies fastest.

    `resolved_each` means that every point is resolved in full, because its keys depend on each
    other.
    """

    sweep: Sweep
    template: Template
    resolved_each: bool
    _fill: Callable[[tuple[int, ...]], Filling]

    def __len__(self) -> int:
        return count_of(self.sweep)

    def filling(self, number: int) -> Filling:
        """Return the values that fill the template for a point.

        Raises ScenarioError if the point is invalid, provided that every point is resolved in full.
        """
        return self._fill(_steps(self.sweep.axes, number))

    def fillings(self) -> list[Filling]:
        """Return the fillings of all points. Raises ScenarioError, as `filling` does."""
        lengths = (range(len(axis.steps)) for axis in self.sweep.axes)
        return list(map(self._fill, itertools.product(*lengths)))

    def labels(self, number: int) -> tuple[Label, ...]:
        """Return the values of a point in the axis columns."""
        steps = zip(self.sweep.axes, _steps(self.sweep.axes, number), strict=True)
        return tuple(label for axis, step in steps for label in axis.steps[step].labels)

    def json(self, number: int) -> str:
        """Return the resolved form of a point."""
        return self.template.filled(self.filling(number))

    def hashes(self) -> list[str]:
        """Return the scenario hash of each point."""
        return [point_hash(self.template.filled(filling)) for filling in self.fillings()]

    def told(self, number: int) -> str:
        """Describe a point for messages: `stations.laptop.count = 5, remedy = none`."""
        columns = [column.name for axis in self.sweep.axes for column in axis.columns]
        pairs = zip(columns, self.labels(number), strict=True)
        return ", ".join(f"{column} = {label}" for column, label in pairs)


def count_of(sweep: Sweep) -> int:
    """Return the number of points of a sweep."""
    return math.prod(len(axis.steps) for axis in sweep.axes)


def point_hash(resolved: str) -> str:
    """Return the scenario hash of a point, which is its key in the store."""
    return hashlib.sha256(resolved.encode()).hexdigest()


def points_of(sweep: Sweep, *, patch: bool = True) -> Points:
    """Return the points of a sweep. Without `patch`, every point is resolved in full.

    Raises ScenarioError if a step, or a checked point, is invalid.
    """
    resolver = _Resolver(sweep)
    resolver.of((0,) * len(sweep.axes))
    if patch:
        found = _patched(resolver)
        if found is not None:
            return found
    return Points(sweep, Template(("", "")), True, lambda steps: (resolver.of(steps).to_json(),))


class _Resolver:
    """Resolves points in full."""

    def __init__(self, sweep: Sweep) -> None:
        self.sweep = sweep
        # The number of replications is not part of a point, so that more of them extend a store.
        self.base = _vary(
            sweep,
            sweep.base,
            {"run.replications": 1, "run.precision": None, "run.max_replications": None},
            "run",
        )

    def of(self, steps: Sequence[int]) -> Scenario:
        """Return the scenario of a point. Raises ScenarioError."""
        chosen = [axis.steps[step] for axis, step in zip(self.sweep.axes, steps, strict=True)]
        changes = {key: value for step in chosen for key, value in step.changes.items()}
        return self.with_changes(changes)

    def with_changes(self, changes: Mapping[str, Any]) -> Scenario:
        """Return the base with values at some key paths. Raises ScenarioError."""
        text = ", ".join(f"{key} = {_shown(value)}" for key, value in changes.items())
        return _vary(self.sweep, self.base, changes, text)


def _vary(sweep: Sweep, base: Scenario, changes: Mapping[str, Any], told: str) -> Scenario:
    try:
        return base.vary(changes)
    except ScenarioError as error:
        if error.key in changes and error.key not in key_paths(base.written):
            raise ScenarioError(sweep.name, f"axes.{error.key}", error.message) from None
        more = [(f"axes ({told}): {key}", message) for key, message in error.more]
        raise ScenarioError(
            sweep.name, f"axes ({told}): {error.key}", error.message, more
        ) from None


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _steps(axes: Sequence[Axis], number: int) -> tuple[int, ...]:
    """Return the steps of the point with this number."""
    steps = []
    for axis in reversed(axes):
        number, step = divmod(number, len(axis.steps))
        steps.append(step)
    return tuple(reversed(steps))


@dataclass(frozen=True)
class _Part:
    """The part of the template that one axis, or several together, fill in.

    `paths` are its holes. `texts` returns their JSON for the steps of `axes` (numbers of axes).
    """

    axes: tuple[int, ...]
    paths: tuple[_Path, ...]
    texts: Callable[[tuple[int, ...]], Filling]


def _patched(resolver: _Resolver) -> Points | None:
    """Build points from a template; None if their keys depend on each other too much."""
    sweep = resolver.sweep
    first = resolver.of((0,) * len(sweep.axes)).to_dict()
    groups: list[tuple[int, ...]] = [(number,) for number in range(len(sweep.axes))]
    parts = [_learned(resolver, first, group) for group in groups]
    while (pair := _overlapping(parts)) is not None:
        one, other = pair
        group = tuple(sorted(parts[one].axes + parts[other].axes))
        if 2 * math.prod(len(sweep.axes[axis].steps) for axis in group) > count_of(sweep):
            # Nearly as many combinations as points: nothing is gained.
            return None
        rest = [part for index, part in enumerate(parts) if index not in pair]
        parts = [*rest, _each_step(resolver, first, group)]
    holes = sorted(
        ((path, part, index) for part in parts for index, path in enumerate(part.paths)),
        key=lambda hole: _order(hole[0]),
    )
    template = _template(first, [path for path, _, _ in holes])
    places = [(parts.index(part), index) for _, part, index in holes]

    def fill(steps: tuple[int, ...]) -> Filling:
        texts = [part.texts(tuple(steps[axis] for axis in part.axes)) for part in parts]
        return tuple(texts[part][index] for part, index in places)

    found = Points(sweep, template, False, fill)
    tried = all(
        template.filled(fill(steps)) == resolver.of(steps).to_json() for steps in _some(sweep)
    )
    return found if tried else None


def _some(sweep: Sweep) -> Iterator[tuple[int, ...]]:
    """Yield points to check: corners of the grid, and others drawn with a fixed seed."""
    lengths = [len(axis.steps) for axis in sweep.axes]
    count = math.prod(lengths)
    if count <= _TRIED:
        yield from itertools.product(*map(range, lengths))
        return
    draw = random.Random(1)
    corners = itertools.product(*((0, length - 1) for length in lengths))
    yield from itertools.islice(corners, _TRIED // 2)
    for _ in range(_TRIED // 2):
        yield _steps(sweep.axes, draw.randrange(count))


def _learned(resolver: _Resolver, first: Any, group: tuple[int, ...]) -> _Part:
    """Return what an axis fills in, with the other axes at their first step."""
    (number,) = group
    axis = resolver.sweep.axes[number]
    if len(axis.steps) > _EACH:
        ruled = _by_rules(resolver, first, number)
        if ruled is not None:
            return ruled
    return _each_step(resolver, first, group)


def _each_step(resolver: _Resolver, first: Any, group: tuple[int, ...]) -> _Part:
    """Return what some axes fill in, by resolving all combinations of their steps."""
    axes = resolver.sweep.axes
    forms = {}
    for steps in itertools.product(*(range(len(axes[axis].steps)) for axis in group)):
        whole = [0] * len(axes)
        for axis, step in zip(group, steps, strict=True):
            whole[axis] = step
        forms[steps] = resolver.of(whole).to_dict()
    paths = _shortest(path for form in forms.values() for path in _differences(first, form))
    texts = {
        steps: tuple(_text(_at(form, path)) for path in paths) for steps, form in forms.items()
    }
    return _Part(group, paths, texts.__getitem__)


#: Conversions of a value from a file to the resolved form that depend on no other key.
_RULES: Final[tuple[Callable[[Any], Any], ...]] = (
    lambda value: value,
    float,
    parse_time_ns,
    parse_time_s,
    parse_rate_bps,
    parse_size_bytes,
    parse_size_bits,
    parse_percent,
)


def _by_rules(resolver: _Resolver, first: Any, number: int) -> _Part | None:
    """Return what an axis with many steps fills in, with a rule per key; None if no rule fits."""
    axis = resolver.sweep.axes[number]
    keys = list(axis.steps[0].changes)
    if not (axis.free or len(keys) == 1) or any(list(s.changes) != keys for s in axis.steps):
        return None
    others = {
        key: value
        for index, other in enumerate(resolver.sweep.axes)
        if index != number
        for key, value in other.steps[0].changes.items()
    }
    at_first = dict(axis.steps[0].changes)
    found: list[tuple[_Path, Callable[[Any], Any]]] = []
    for key in keys:
        values = [step.changes[key] for step in axis.steps]
        if any(
            isinstance(value, bool) or not isinstance(value, int | float | str) for value in values
        ):
            return None
        try:
            samples = {
                value: resolver.with_changes({**others, **at_first, key: value}).to_dict()
                for value in _samples(values)
            }
        except ScenarioError:
            # The values of a free axis may be valid only together.
            if len(keys) == 1:
                raise
            return None
        paths = _shortest(path for form in samples.values() for path in _differences(first, form))
        if len(paths) != 1:
            return None
        rule = next((rule for rule in _RULES if _holds(rule, samples, paths[0])), None)
        if rule is None:
            return None
        found.append((paths[0], rule))
    if _overlap([path for path, _ in found]):
        return None
    texts = [
        tuple(_text(rule(step.changes[key])) for key, (_, rule) in zip(keys, found, strict=True))
        for step in axis.steps
    ]
    return _Part((number,), tuple(path for path, _ in found), lambda steps: texts[steps[0]])


def _samples(values: Sequence[Any]) -> list[Any]:
    """Return some of the values, with the smallest and the largest, to check bounds."""
    at = {0, 1, len(values) // 3, len(values) // 2, len(values) - 1}
    order = sorted(range(len(values)), key=lambda index: _size(values[index]))
    return [values[index] for index in sorted(at | {order[0], order[-1]})]


def _size(value: Any) -> float:
    if not isinstance(value, str):
        return float(value)
    for rule in (parse_time_s, parse_rate_bps, parse_size_bytes, parse_percent):
        try:
            return rule(value)
        except UnitError:
            continue
    return 0.0


def _holds(rule: Callable[[Any], Any], samples: Mapping[Any, Any], path: _Path) -> bool:
    try:
        return all(_text(rule(value)) == _text(_at(form, path)) for value, form in samples.items())
    except (UnitError, ValueError):
        return False


def _differences(one: Any, other: Any, at: _Path = ()) -> Iterator[_Path]:
    """Yield the deepest paths at which two resolved forms of the same shape differ."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from _differences(one[key], other[key], (*at, key))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from _differences(left, right, (*at, index))
    elif one != other or type(one) is not type(other):
        yield at


def _shortest(paths: Iterator[_Path]) -> tuple[_Path, ...]:
    """Drop paths that lead into another path of the list."""
    kept: set[_Path] = set()
    for path in sorted(set(paths), key=len):
        if not any(path[:length] in kept for length in range(len(path) + 1)):
            kept.add(path)
    return tuple(sorted(kept, key=_order))


def _order(path: _Path) -> list[tuple[bool, str | int]]:
    """Return the sort key of canonical JSON: keys sorted, list entries by number."""
    return [(isinstance(step, str), step) for step in path]


def _overlapping(parts: Sequence[_Part]) -> tuple[int, int] | None:
    for (one, left), (other, right) in itertools.combinations(enumerate(parts), 2):
        if _overlap([*left.paths, *right.paths]):
            return one, other
    return None


def _overlap(paths: Sequence[_Path]) -> bool:
    """Whether one of the paths equals another, or is the path of a table that contains it."""
    known = set(paths)
    return len(known) < len(paths) or any(
        path[:length] in known for path in paths for length in range(len(path))
    )


def _at(form: Any, path: _Path) -> Any:
    return reduce(lambda here, step: here[step], path, form)


def _text(value: Any) -> str:
    """Format a value as `ResolvedScenario.to_json` does."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def _template(form: Any, holes: Sequence[_Path]) -> Template:
    """Return the form as JSON, cut at the holes, which are in the order of the text."""
    marks = {path: f"\x00{number}\x00" for number, path in enumerate(holes)}

    def marked(value: Any, at: _Path) -> Any:
        if at in marks:
            return marks[at]
        if isinstance(value, dict):
            return {key: marked(inner, (*at, key)) for key, inner in value.items()}
        if isinstance(value, list):
            return [marked(inner, (*at, index)) for index, inner in enumerate(value)]
        return value

    text = _text(marked(form, ()))
    parts = []
    for mark in marks.values():
        # No text of a scenario has a null character before and after a number.
        part, _, text = text.partition(_text(mark))
        parts.append(part)
    return Template((*parts, text))

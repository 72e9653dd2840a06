"""The points of a sweep: every combination of steps, each with its resolved form.

Resolving a scenario takes a millisecond; a sweep of small scenarios has less for a point. So the
base is resolved once, and each step of each axis; what differs are the holes of a template, and a
point is the template with what its steps put into the holes. That is right as long as no part of
the resolved form follows from two axes at once. Axes that reach for the same part are therefore
taken together, as one that has all their combinations; and whether all else is independent is tried
at corners of the grid and at other points, by resolving these in full. Where that finds a
difference, every point is resolved in full.

Knows both forms of scenarios. Does not know what the keys mean, nor how points are run.
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

#: The place of a value in a resolved form.
_Path = tuple[str | int, ...]

#: Steps of an axis that are resolved one by one, before a rule for its values is looked for.
_EACH: Final = 16
#: Points at which the template is compared with the full resolution.
_TRIED: Final = 48


@dataclass(frozen=True)
class Points:
    """The points of a sweep, by number: the last axis runs fastest.

    `resolved_each` says that every point is resolved in full, for its keys depend on each other.
    """

    sweep: Sweep
    template: Template
    resolved_each: bool
    _fill: Callable[[tuple[int, ...]], Filling]

    def __len__(self) -> int:
        return count_of(self.sweep)

    def filling(self, number: int) -> Filling:
        """What makes the template the resolved form of a point.

        Raises ScenarioError if the point is wrong, where every point is resolved in full.
        """
        return self._fill(_steps(self.sweep.axes, number))

    def fillings(self) -> list[Filling]:
        """Those of all points. Raises ScenarioError, as `filling` does."""
        lengths = (range(len(axis.steps)) for axis in self.sweep.axes)
        return list(map(self._fill, itertools.product(*lengths)))

    def labels(self, number: int) -> tuple[Label, ...]:
        """What the axis columns of a point hold."""
        steps = zip(self.sweep.axes, _steps(self.sweep.axes, number), strict=True)
        return tuple(label for axis, step in steps for label in axis.steps[step].labels)

    def json(self, number: int) -> str:
        """The resolved form of a point."""
        return self.template.filled(self.filling(number))

    def hashes(self) -> list[str]:
        """The scenario hash of each point."""
        return [point_hash(self.template.filled(filling)) for filling in self.fillings()]

    def told(self, number: int) -> str:
        """A point as messages name it: `stations.laptop.count = 5, remedy = none`."""
        columns = [column.name for axis in self.sweep.axes for column in axis.columns]
        pairs = zip(columns, self.labels(number), strict=True)
        return ", ".join(f"{column} = {label}" for column, label in pairs)


def count_of(sweep: Sweep) -> int:
    """How many points a sweep has."""
    return math.prod(len(axis.steps) for axis in sweep.axes)


def point_hash(resolved: str) -> str:
    """The scenario hash of a point, by which the store knows it."""
    return hashlib.sha256(resolved.encode()).hexdigest()


def points_of(sweep: Sweep, *, patch: bool = True) -> Points:
    """The points of a sweep. Without `patch`, every point is resolved in full.

    Raises ScenarioError if a step, or a point that is tried, is no scenario.
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
        # The number of replications is no part of a point: more of them extend a store.
        self.base = _vary(
            sweep,
            sweep.base,
            {"run.replications": 1, "run.precision": None, "run.max_replications": None},
            "run",
        )

    def of(self, steps: Sequence[int]) -> Scenario:
        """The scenario of a point. Raises ScenarioError."""
        chosen = [axis.steps[step] for axis, step in zip(self.sweep.axes, steps, strict=True)]
        changes = {key: value for step in chosen for key, value in step.changes.items()}
        return self.with_changes(changes)

    def with_changes(self, changes: Mapping[str, Any]) -> Scenario:
        """The base with values at some key paths. Raises ScenarioError."""
        told = ", ".join(f"{key} = {_shown(value)}" for key, value in changes.items())
        return _vary(self.sweep, self.base, changes, told)


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
    """The steps of the point with this number."""
    steps = []
    for axis in reversed(axes):
        number, step = divmod(number, len(axis.steps))
        steps.append(step)
    return tuple(reversed(steps))


@dataclass(frozen=True)
class _Part:
    """What one axis, or several together, put into the template.

    `paths` are its holes; `texts` gives their JSON by the steps of `axes` (numbers of axes).
    """

    axes: tuple[int, ...]
    paths: tuple[_Path, ...]
    texts: Callable[[tuple[int, ...]], Filling]


def _patched(resolver: _Resolver) -> Points | None:
    """Points by a template; None if their keys depend on each other too much for one."""
    sweep = resolver.sweep
    first = resolver.of((0,) * len(sweep.axes)).to_dict()
    groups: list[tuple[int, ...]] = [(number,) for number in range(len(sweep.axes))]
    parts = [_learned(resolver, first, group) for group in groups]
    while (pair := _overlapping(parts)) is not None:
        one, other = pair
        group = tuple(sorted(parts[one].axes + parts[other].axes))
        if 2 * math.prod(len(sweep.axes[axis].steps) for axis in group) > count_of(sweep):
            # As many as there are points, or nearly: nothing is gained.
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
    """Points to try: corners of the grid, and others drawn by a fixed seed."""
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
    """What an axis puts into the template, the other axes being at their first step."""
    (number,) = group
    axis = resolver.sweep.axes[number]
    if len(axis.steps) > _EACH:
        ruled = _by_rules(resolver, first, number)
        if ruled is not None:
            return ruled
    return _each_step(resolver, first, group)


def _each_step(resolver: _Resolver, first: Any, group: tuple[int, ...]) -> _Part:
    """What some axes put into the template: all combinations of their steps, resolved."""
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


#: Conversions of a value of a file to one of the resolved form, where it depends on no other key.
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
    """What an axis of many steps puts into the template, each key by a rule; None if none holds."""
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
            # The keys of a free axis may be right together only.
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
    """Some of the values, the least and the greatest among them: bounds are tried at these."""
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
    """The paths at which two resolved forms differ, as deep as they are of the same shape."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from _differences(one[key], other[key], (*at, key))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from _differences(left, right, (*at, index))
    elif one != other or type(one) is not type(other):
        yield at


def _shortest(paths: Iterator[_Path]) -> tuple[_Path, ...]:
    """The paths without those that lead into one of the others."""
    kept: set[_Path] = set()
    for path in sorted(set(paths), key=len):
        if not any(path[:length] in kept for length in range(len(path) + 1)):
            kept.add(path)
    return tuple(sorted(kept, key=_order))


def _order(path: _Path) -> list[tuple[bool, str | int]]:
    """The order of paths in canonical JSON: keys sorted, entries of lists by number."""
    return [(isinstance(step, str), step) for step in path]


def _overlapping(parts: Sequence[_Part]) -> tuple[int, int] | None:
    for (one, left), (other, right) in itertools.combinations(enumerate(parts), 2):
        if _overlap([*left.paths, *right.paths]):
            return one, other
    return None


def _overlap(paths: Sequence[_Path]) -> bool:
    """Whether one of the paths is another, or leads into it; of one part they never do."""
    known = set(paths)
    return len(known) < len(paths) or any(
        path[:length] in known for path in paths for length in range(len(path))
    )


def _at(form: Any, path: _Path) -> Any:
    return reduce(lambda here, step: here[step], path, form)


def _text(value: Any) -> str:
    """As `ResolvedScenario.to_json` writes it."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def _template(form: Any, holes: Sequence[_Path]) -> Template:
    """The form as JSON, cut at the holes, which are in the order of the text."""
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
        # No text of a scenario has a null character in front of a number and behind it.
        part, _, text = text.partition(_text(mark))
        parts.append(part)
    return Template((*parts, text))

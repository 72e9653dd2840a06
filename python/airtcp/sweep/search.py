"""Search for the best values of some keys with Optuna, with all simulations kept in a store.

The search asks for a fixed number of points at a time, so that it depends on its seed and not on
the machine. It simulates them as a sweep does, all on common random numbers. Points in the store
are not run again, so an interrupted search can be resumed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from airtcp.exceptions import QuestionError
from airtcp.extras import needed
from airtcp.labels import spellings
from airtcp.phrases import phrase
from airtcp.results.query import open as opened
from airtcp.stats import Interval, student_interval
from airtcp.sweep.axes import Axis, Bounds, Column, Label, Step, labels_of, read_span
from airtcp.sweep.execute import execute
from airtcp.sweep.points import points_of
from airtcp.sweep.spec import Sweep, sweep_of
from airtcp.sweep.workers import Crew

#: Points to request at a time, independent of the machine.
_AT_A_TIME: Final = 8


@dataclass(frozen=True, slots=True)
class Goal:
    """The objective: the largest or smallest mean of a metric."""

    metric: str
    most: bool


@dataclass(frozen=True)
class Found:
    """The result of a search: the best changes, their metric, and the number of trials."""

    goal: Goal
    changes: Mapping[str, Any]
    value: Interval
    trials: int
    failed: int
    folder: Path


def goal_of(text: str) -> Goal:
    """Parse `max jain_index` or `min transfer_time_s`. Raises QuestionError."""
    word, _, name = text.strip().partition(" ")
    *of, last = name.strip().split(".")
    metric = spellings().get(last)
    if word not in ("max", "min") or metric is None:
        raise QuestionError(phrase("sweep.search.not_a_goal", text=text))
    return Goal(".".join([*of, metric.name]), word == "max")


@dataclass(frozen=True)
class _Steps:
    """The steps of an axis. `ordered` means that neighbouring steps are similar."""

    axis: Axis
    ordered: bool

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.axis.columns

    def asked(self, trial: Any) -> Step:
        """Return the step that Optuna suggests."""
        count = len(self.axis.steps)
        at: int = (
            trial.suggest_int(self.axis.name, 0, count - 1)
            if self.ordered
            else trial.suggest_categorical(self.axis.name, list(range(count)))
        )
        return self.axis.steps[at]


@dataclass(frozen=True)
class _Between:
    """Any value of a range."""

    key: str
    bounds: Bounds
    whole: bool
    columns: tuple[Column, ...]

    def asked(self, trial: Any) -> Step:
        """Return the value that Optuna suggests, as a step."""
        bounds = self.bounds
        suggest = trial.suggest_int if self.whole else trial.suggest_float
        value = bounds.write(suggest(self.key, bounds.low, bounds.high, log=bounds.log))
        labels, _ = labels_of([value])
        return Step((labels[0],), {self.key: value})


def search(
    base: Any,
    over: Mapping[str, Any],
    goal: Goal,
    folder: Path,
    *,
    crew: Crew,
    trials: int,
    replications: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Found:
    """Search the steps of `over` for the best, in `trials` trials.

    `over` is a table like `[axes]`, in which a range without points and step means all values in
    it. `progress` is called with the number of completed trials, and of all trials.

    Raises ScenarioError, OutputError, QuestionError if Optuna is missing or no trial had a value,
    KeyboardInterrupt if interrupted: completed runs are in the store.
    """
    optuna = needed("optuna", "search", "--optimise")
    space = [_part(base, name, value) for name, value in over.items()]
    wanted = sweep_of(base, {"run.seed": [base.run.seed]}, replications=replications)
    wanted = _keeping(wanted, goal.metric)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.TPESampler(seed=base.run.seed % 2**32, constant_liar=True)
    direction = "maximize" if goal.most else "minimize"
    study = optuna.create_study(direction=direction, sampler=sampler)
    best: tuple[float, Step, Interval] | None = None
    failed = 0
    while (done := len(study.trials)) < trials:
        asked = [study.ask() for _ in range(min(_AT_A_TIME, trials - done))]
        steps = [_step(space, trial) for trial in asked]
        values = _values(wanted, space, steps, goal, folder, crew)
        for trial, step, value in zip(asked, steps, values, strict=True):
            if value.mean is None:
                failed += 1
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
                continue
            study.tell(trial, value.mean)
            size = value.mean if goal.most else -value.mean
            if best is None or size > best[0]:
                best = size, step, value
        if progress is not None:
            progress(len(study.trials), trials)
    if best is None:
        raise QuestionError(phrase("sweep.search.no_value", metric=goal.metric))
    return Found(goal, best[1].changes, best[2], trials, failed, folder)


def _part(base: Any, name: str, value: Any) -> _Steps | _Between:
    is_span = isinstance(value, Mapping) and "from" in value
    if is_span and "points" not in value and "step" not in value:
        key = value.get("key", name)
        span = {entry: one for entry, one in value.items() if entry != "key"}
        bounds, whole, unit = read_span(span, name)
        return _Between(key, bounds, whole, (Column(key, unit),))
    (axis,) = sweep_of(base, {name: value}).axes
    numbers = all(
        isinstance(label, int | float) and not isinstance(label, bool)
        for step in axis.steps
        for label in step.labels
    )
    return _Steps(axis, numbers)


def _keeping(wanted: Sweep, metric: str) -> Sweep:
    """Return the sweep with the metric of the goal added to the others."""
    if "." not in metric:
        return wanted
    from airtcp.run.numbers import metric_names

    return replace(wanted, metrics=(*metric_names(), metric))


def _step(space: Sequence[_Steps | _Between], trial: Any) -> Step:
    """Return the changes of a trial, for all parts of the space."""
    labels: list[Label] = []
    changes: dict[str, Any] = {}
    for part in space:
        step = part.asked(trial)
        labels += step.labels
        changes |= step.changes
    return Step(tuple(labels), changes)


def _values(
    wanted: Sweep,
    space: Sequence[_Steps | _Between],
    steps: Sequence[Step],
    goal: Goal,
    folder: Path,
    crew: Crew,
) -> list[Interval]:
    """Return the goal's metric at some steps; without a value for a step that cannot run."""
    columns = tuple(column for part in space for column in part.columns)
    unique = {step.labels: step for step in steps}
    axis = Axis("search", columns, tuple(unique.values()))
    one = replace(wanted, axes=(axis,))
    hashes = points_of(one).hashes()
    done = execute(one, folder, crew=crew)
    if done.interrupted:
        raise KeyboardInterrupt
    table = opened(folder).table
    gathered: dict[str, dict[int, float | None]] = {}
    rows = zip(
        table["point"].to_pylist(),
        table["replication"].to_pylist(),
        table[goal.metric].to_pylist(),
        strict=True,
    )
    for point, replication, value in rows:
        if replication < (wanted.often.replications or wanted.often.most):
            gathered.setdefault(point, {})[replication] = value
    by_labels = dict(zip(unique, hashes, strict=True))
    return [
        student_interval(
            [value for _, value in sorted(gathered.get(by_labels[step.labels], {}).items())],
            wanted.often.confidence,
        )
        for step in steps
    ]

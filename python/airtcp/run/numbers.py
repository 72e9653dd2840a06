"""Single replications as rows of numbers: what a sweep makes of each of its points.

The same runs as `airtcp.simulate` makes, bit for bit, without what a result object takes. Knows the
core and the shape of its answers. Which replications are wanted is the business of its users.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from airtcp.exceptions import SimulationError
from airtcp.stats import FIRST_ROUND, is_precise, next_round, student_interval

#: The beginning of the table in canonical JSON.
_RUN: Final = '"run":{'
#: A row: a number for each metric as float64, little-endian; NaN where one does not exist.
Row = bytes
_NUMBER: Final = struct.Struct("<d")


class Numbers:
    """The replications of a scenario, each as a row of the metrics asked for."""

    def __init__(self, resolved: str, metrics: Sequence[str]) -> None:
        """Take the resolved form of a scenario, as JSON, and names of metrics.

        A name is that of a metric of everything, or GROUP.PART.METRIC. A warm-up that is left to us
        is found. Raises SimulationError if the core does not take the scenario.
        """
        from airtcp import _core

        try:
            run = _run_of(resolved)
            if run["warmup_ns"] is None:
                resolved = _with_warmup(resolved)
            self._core = _core.Simulation(resolved)
        except ValueError as error:
            raise SimulationError(f"the simulator does not take this scenario: {error}") from error
        self.seed: int = run["seed"]
        self._metrics = list(metrics)
        self._take = _taker(metrics)

    def row(self, replication: int, control: Any) -> Row:
        """The metrics of one replication.

        `control` is a `RunControl`. Raises SimulationError if the run fails, `_core.Cancelled`.
        """
        from airtcp import _core

        try:
            if self._take is None:
                return self._core.run_metrics(self.seed, replication, control, self._metrics)
            answer, *_ = self._core.run(self.seed, replication, control)
        except _core.SimulationFailed as error:
            raise SimulationError(
                f"replication {replication} with seed {self.seed} failed: {error}"
            ) from error
        return self._take(json.loads(answer))


def metric_names() -> tuple[str, ...]:
    """The metrics of everything, in the order of the catalogue."""
    from airtcp.metrics import metrics_of

    return tuple(metrics_of("all"))


def wanted(
    rows: Sequence[Row], at: Sequence[int], precision: float, confidence: float, most: int
) -> int:
    """Count the replications that there shall be, as far as the first of them tell.

    No more than there are `rows`, if these are enough. The rounds of `airtcp.simulate`, which are
    the same however often they are interrupted: `at` says where the headline metrics stand in a
    row.
    """
    target = min(FIRST_ROUND, most)
    while target <= len(rows):
        intervals = [
            student_interval([_number(row, index) for row in rows[:target]], confidence)
            for index in at
        ]
        known = [interval for interval in intervals if interval.n > 0]
        if is_precise(known, precision) or target >= most:
            break
        target = next_round(known, precision, target, most)
    return target


def _number(row: Row, index: int) -> float | None:
    (number,) = _NUMBER.unpack_from(row, index * _NUMBER.size)
    return None if math.isnan(number) else number


def _run_of(resolved: str) -> dict[str, Any]:
    """The table `run` of a resolved form. Raises ValueError.

    Only that is read: to read all takes as long as to simulate a little. Nothing behind it has a
    key of that name; what a text says has its quotes escaped.
    """
    begin = resolved.rindex(_RUN) + len(_RUN) - 1
    found: dict[str, Any] = json.JSONDecoder().raw_decode(resolved, begin)[0]
    return found


def _with_warmup(resolved: str) -> str:
    from airtcp.run.warmup import with_warmup
    from airtcp.scenario import ResolvedScenario

    return with_warmup(ResolvedScenario.from_json(resolved), threads=1).to_json()


def _taker(metrics: Sequence[str]) -> Callable[[Mapping[str, Any]], Row] | None:
    """Return a function that takes a row out of an answer; None if the core gives it.

    It does where no metric is of a group.
    """
    if not any("." in name for name in metrics):
        return None

    def take(answer: Mapping[str, Any]) -> Row:
        groups = {group["name"]: group for group in answer["groups"]}

        def one(name: str) -> float | None:
            if "." not in name:
                return answer["metrics"].get(name)  # type: ignore[no-any-return]
            group, part, metric = name.split(".")
            return (groups[group].get(part) or {}).get(metric)

        values = (one(name) for name in metrics)
        return b"".join(_NUMBER.pack(math.nan if value is None else value) for value in values)

    return take

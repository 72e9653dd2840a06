"""Single replications as rows of numbers: what a sweep makes of each of its points.

The same runs as `airtcp.simulate` makes, bit for bit, without what a result object takes. Knows the
core and the shape of its answers. Which replications are wanted is the business of its users.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from airtcp.exceptions import SimulationError
from airtcp.labels import PARTS
from airtcp.results.cells import SHARE_OF_ALONE, cell_value
from airtcp.run import HEADLINES
from airtcp.stats import FIRST_ROUND, next_round_by, widest

if TYPE_CHECKING:
    from airtcp import _core
    from airtcp.scenario import ResolvedScenario

#: The beginning of the table in canonical JSON.
_RUN: Final = '"run":{'
#: A row: a number for each metric as float64, little-endian; NaN where one does not exist.
Row = bytes
_NUMBER: Final = struct.Struct("<d")


@dataclass(frozen=True, slots=True)
class Booked:
    """The part of a replication that estimates of the headline metrics are made of.

    Values that go to other processes: `metrics` as measured, and the columns of its books.
    """

    metrics: dict[str, float | None]
    books: dict[str, bytes]


class Numbers:
    """The replications of a scenario, each as a row of the metrics asked for."""

    def __init__(self, resolved: str, metrics: Sequence[str]) -> None:
        """Take the resolved form of a scenario, as JSON, and names of metrics.

        A name is that of a metric of everything, GROUP.PART.METRIC or cells.CELL.METRIC, for the
        share of what it has alone of one cell of several. A warm-up that is left to us is found.
        Raises SimulationError if the core does not take the scenario.
        """
        from airtcp import _core

        try:
            run = _run_of(resolved)
            if run["warmup_ns"] is None:
                resolved = _with_warmup(resolved)
            self._resolved = resolved
            self._core = _core.Simulation(resolved)
        except ValueError as error:
            raise SimulationError(f"the simulator does not take this scenario: {error}") from error
        self.seed: int = run["seed"]
        self._metrics = list(metrics)
        cells = json.loads(resolved).get("cells") if any("." in one for one in metrics) else None
        self._cells = [cell["name"] for cell in cells or ()]
        self._take = _taker(metrics, self._cells)

    def row(self, replication: int, control: Any) -> Row:
        """The metrics of one replication.

        `control` is a `RunControl`. Raises SimulationError if the run fails, `_core.Cancelled`.
        """
        from airtcp import _core

        try:
            if all("." not in name for name in self._metrics):
                return self._core.run_metrics(self.seed, replication, control, self._metrics)
            answer, *_ = self._core.run(self.seed, replication, control)
        except _core.SimulationFailed as error:
            raise self._failed(replication, error) from error
        return self._take(json.loads(answer), self._goodputs_alone(replication, control))

    def booked(self, replication: int, control: Any) -> tuple[Row, Booked]:
        """The metrics of one replication, and what estimates need of it. Raises as `row`."""
        from airtcp import _core

        try:
            text, _, books = self._core.run(self.seed, replication, control)
        except _core.SimulationFailed as error:
            raise self._failed(replication, error) from error
        answer = json.loads(text)
        metrics = {name: answer["metrics"].get(name) for name in HEADLINES}
        # The transfers that ended are for percentiles, and as long as a run.
        row = self._take(answer, self._goodputs_alone(replication, control))
        return row, Booked(metrics, {**books, "scopes": b""})

    def width(self, booked: Sequence[Booked], confidence: float) -> float:
        """The relative half width of the widest headline interval, infinite if one is unknown."""
        from airtcp.run.precision import headlines

        return widest(headlines([_Run(one) for one in booked], self._scenario, confidence))

    def _goodputs_alone(self, replication: int, control: Any) -> dict[str, float]:
        """The goodput of cells with no other about, where metrics ask for shares of it."""
        from airtcp import _core

        found = {}
        for name, core in self._alone.items():
            try:
                row = core.run_metrics(self.seed, replication, control, ["goodput_bps"])
            except _core.SimulationFailed as error:
                raise self._failed(replication, error) from error
            (found[name],) = _NUMBER.unpack(row)
        return found

    @cached_property
    def _alone(self) -> dict[str, _core.Simulation]:
        """The core of each cell of whose share of what it has alone a metric is."""
        from airtcp import _core
        from airtcp.scenario.alone import cell_alone

        shares = (one for one in self._metrics if one.endswith(f".{SHARE_OF_ALONE}"))
        return {
            (name := one.split(".")[1]): _core.Simulation(
                cell_alone(self._scenario, self._cells.index(name)).to_json()
            )
            for one in shares
        }

    @cached_property
    def _scenario(self) -> ResolvedScenario:
        from airtcp.scenario import ResolvedScenario

        return ResolvedScenario.from_json(self._resolved)

    def _failed(self, replication: int, error: Exception) -> SimulationError:
        return SimulationError(f"replication {replication} with seed {self.seed} failed: {error}")


class _Run:
    """A replication, as estimates of the headline metrics read one."""

    def __init__(self, booked: Booked) -> None:
        import numpy as np

        from airtcp.estimates.books import Books

        self.answer: Mapping[str, Any] = {"metrics": booked.metrics}
        self.transfer_times_s = np.empty(0)
        self.books = Books.of_core(booked.books)


def metric_names() -> tuple[str, ...]:
    """The metrics of everything, in the order of the catalogue."""
    from airtcp.metrics import metrics_of

    return tuple(metrics_of("all"))


def wanted(widths: Mapping[int, float], precision: float, most: int) -> tuple[int, bool]:
    """Count the replications that there shall be, and tell whether these are enough.

    The rounds of `airtcp.simulate`, which are the same however often they are interrupted:
    `widths` has the relative half width of the widest headline interval by numbers of replications.
    They are not enough, or not known to be, where a width is to be found first.
    """
    target = min(FIRST_ROUND, most)
    while target in widths:
        if widths[target] <= precision or target >= most:
            return target, True
        target = next_round_by(widths[target], precision, target, most)
    return target, False


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


def _taker(
    metrics: Sequence[str], cells: Sequence[str]
) -> Callable[[Mapping[str, Any], Mapping[str, float]], Row]:
    """Return a function that takes a row out of an answer, whose cells have these names.

    Beside the answer it takes the goodput that cells have alone, by their names.
    """

    def take(answer: Mapping[str, Any], alone: Mapping[str, float]) -> Row:
        groups = {group["name"]: group for group in answer["groups"]}

        def one(name: str) -> float | None:
            if "." not in name:
                return answer["metrics"].get(name)  # type: ignore[no-any-return]
            group, part, metric = name.split(".", 2)
            if metric == SHARE_OF_ALONE:
                goodput: float = answer["cells"][cells.index(part)]["goodput_bps"]
                return goodput / alone[part] if alone[part] > 0.0 else None
            # A group may be called as the table of cells is.
            if group in groups and part in PARTS and "." not in metric:
                return (groups[group].get(part) or {}).get(metric)
            return cell_value(answer["cells"][cells.index(part)], metric)

        values = (one(name) for name in metrics)
        return b"".join(_NUMBER.pack(math.nan if value is None else value) for value in values)

    return take

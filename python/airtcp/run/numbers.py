"""Single replications as rows of numbers, for sweeps.

The runs equal `airtcp.simulate` bit for bit, without the cost of result objects. Callers
decide which replications to run.
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
from airtcp.phrases import phrase
from airtcp.results.cells import SHARE_OF_ALONE, cell_value
from airtcp.run import HEADLINES, core_of
from airtcp.stats import FIRST_ROUND, next_round_by, widest

if TYPE_CHECKING:
    from airtcp import _core
    from airtcp.scenario import ResolvedScenario

#: A row: one number per metric as float64, little-endian; NaN if the metric does not exist.
Row = bytes
_NUMBER: Final = struct.Struct("<d")


@dataclass(frozen=True, slots=True)
class Recorded:
    """The data of a replication that estimates of the headline metrics need.

    The values can be sent to other processes: `metrics` as measured, and the columns of its records
    in `accounts`.
    """

    metrics: dict[str, float | None]
    accounts: dict[str, bytes]


class Numbers:
    """The replications of a scenario, each as a row of the requested metrics."""

    def __init__(self, resolved: str, metrics: Sequence[str]) -> None:
        """Initialize from the resolved form of a scenario, as JSON, and names of metrics.

        A name is a metric of all flows, GROUP.PART.METRIC, or cells.CELL.METRIC; cells also have
        the share of their isolated goodput. A missing warm-up is detected. Raises SimulationError
        if the core rejects the scenario.
        """
        data = json.loads(resolved)
        if data["run"]["warmup_ns"] is None:
            resolved = _with_warmup(resolved)
        self._resolved = resolved
        self._core = core_of(resolved)
        self.seed: int = data["run"]["seed"]
        self._metrics = list(metrics)
        self._cells = [cell["name"] for cell in data.get("cells") or ()]
        self._take = _taker(metrics, self._cells)

    def row(self, replication: int, control: Any) -> Row:
        """Return the metrics of one replication.

        `control` is a `RunControl`. Raises SimulationError if the run fails, and `_core.Cancelled`.
        """
        from airtcp import _core

        try:
            if all("." not in name for name in self._metrics):
                return self._core.run_metrics(self.seed, replication, control, self._metrics)
            answer, *_ = self._core.run(self.seed, replication, control)
        except _core.SimulationFailed as error:
            raise self._failed(replication, error) from error
        return self._take(json.loads(answer), self._goodputs_alone(replication, control))

    def recorded(self, replication: int, control: Any) -> tuple[Row, Recorded]:
        """Return the metrics of one replication, and the data for estimates. Raises as `row`."""
        from airtcp import _core

        try:
            text, _, accounts = self._core.run(self.seed, replication, control)
        except _core.SimulationFailed as error:
            raise self._failed(replication, error) from error
        answer = json.loads(text)
        metrics = {name: answer["metrics"].get(name) for name in HEADLINES}
        # Drop the transfers ("scopes"): only percentiles need them, and they are large.
        row = self._take(answer, self._goodputs_alone(replication, control))
        return row, Recorded(metrics, {**accounts, "scopes": b""})

    def width(self, recorded: Sequence[Recorded], confidence: float) -> float:
        """Return the widest relative half width of the headline metrics, or infinity if unknown."""
        from airtcp.run.precision import headlines

        return widest(headlines([_Run(one) for one in recorded], self._scenario, confidence))

    def _goodputs_alone(self, replication: int, control: Any) -> dict[str, float]:
        """Return the isolated goodput of cells, if the metrics include shares of it."""
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
        """The core of each isolated cell whose share of its isolated goodput is requested."""
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
        return SimulationError(
            phrase("run.failed.replication", replication=replication, seed=self.seed, error=error)
        )


class _Run:
    """A replication in the form that estimates of the headline metrics read."""

    def __init__(self, recorded: Recorded) -> None:
        import numpy as np

        from airtcp.estimates.accounts import Accounts

        self.answer: Mapping[str, Any] = {"metrics": recorded.metrics}
        self.transfer_times_s = np.empty(0)
        self.accounts = Accounts.of_core(recorded.accounts)


def metric_names() -> tuple[str, ...]:
    """Return the metrics of all flows, in the order of the catalogue."""
    from airtcp.metrics import metrics_of

    return tuple(metrics_of("all"))


def wanted(widths: Mapping[int, float], precision: float, most: int) -> tuple[int, bool]:
    """Return the number of replications to reach, and whether they are enough.

    The rounds are the same as in `airtcp.simulate`, however often they are interrupted. `widths`
    has the relative half width of the widest headline interval by number of replications. False
    means that the width for the returned number must be computed first.
    """
    target = min(FIRST_ROUND, most)
    while target in widths:
        if widths[target] <= precision or target >= most:
            return target, True
        target = next_round_by(widths[target], precision, target, most)
    return target, False


def _with_warmup(resolved: str) -> str:
    from airtcp.run.warmup import with_warmup
    from airtcp.scenario import ResolvedScenario

    return with_warmup(ResolvedScenario.from_json(resolved), threads=1).to_json()


def _taker(
    metrics: Sequence[str], cells: Sequence[str]
) -> Callable[[Mapping[str, Any], Mapping[str, float]], Row]:
    """Return a function that extracts a row from a core result with these cell names.

    The function also takes the isolated goodput of cells, by name.
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
            # A group may be called "cells".
            if group in groups and part in PARTS and "." not in metric:
                return (groups[group].get(part) or {}).get(metric)
            return cell_value(answer["cells"][cells.index(part)], metric)

        values = (one(name) for name in metrics)
        return b"".join(_NUMBER.pack(math.nan if value is None else value) for value in values)

    return take

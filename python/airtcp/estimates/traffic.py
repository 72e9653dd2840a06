"""The sums of a group's traffic in windows of each replication, and controls whose mean is zero.

Knows which entries of a scenario's traffic belong to a group and direction, and what their draws
say. Does not know what is estimated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from airtcp.estimates.laws import pause_s, unit_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from airtcp.estimates.books import Books
    from airtcp.scenario import ResolvedScenario

    Array = NDArray[np.float64]

#: The squared coefficient of variation of sizes beyond which means of replications are skewed.
HEAVY: Final = 4.0
#: Applications whose transfers end and are followed by others.
RECURRENT: Final = frozenset({"web", "ftp", "replay"})


class Run(Protocol):
    """A replication, as `airtcp.results.Replication` is one."""

    @property
    def answer(self) -> Mapping[str, Any]:
        """Give the core's answer."""

    @property
    def transfer_times_s(self) -> Array:
        """Give the times of the transfers that ended."""

    @property
    def books(self) -> Books | None:
        """Give the books, if there are any."""


@dataclass(frozen=True, eq=False)
class Traffic:
    """The traffic of a group in one direction or both, or all traffic, in some replications."""

    runs: Sequence[Run]
    scenario: ResolvedScenario
    group: str | None
    part: str

    @cached_property
    def entries(self) -> list[int]:
        """The places of its resolved flows."""
        return [
            place
            for place, flow in enumerate(self.scenario.flows)
            if self.group in (None, flow.stations) and self.part in ("all", flow.direction)
        ]

    @cached_property
    def recurrent(self) -> list[int]:
        """Those of them whose transfers are followed by others."""
        return [one for one in self.entries if self._kind(one) in RECURRENT]

    @cached_property
    def has_books(self) -> bool:
        """Tell whether every replication has books, which those in real time do not."""
        return all(run.books is not None and len(run.books.sums) > 0 for run in self.runs)

    @cached_property
    def is_recurrent(self) -> bool:
        """Tell whether all its transfers are followed by others: none is a single one."""
        once = [one for one in self.entries if self._kind(one) == "bulk"]
        return bool(self.recurrent) and all(self._is_endless(one) for one in once)

    @cached_property
    def is_closed(self) -> bool:
        """Tell whether all its transfers wait for each other: think, transfer, think."""
        return bool(self.recurrent) and all(self._kind(one) == "web" for one in self.recurrent)

    @cached_property
    def is_heavy(self) -> bool:
        """Tell whether few large sizes carry much of what is sent."""
        laws = (getattr(self._application(one), "size", None) for one in self.recurrent)
        return any(law is not None and law.scv() > HEAVY for law in laws)

    @cached_property
    def has_pages(self) -> bool:
        """Tell whether all of it is pages."""
        return self.is_closed and all(
            self._application(one).page is not None for one in self.recurrent
        )

    @cached_property
    def measured_s(self) -> float:
        """The measured time of a replication."""
        return self.scenario.run.duration_ns / 1e9

    def users(self, entry: int) -> int:
        """Count the stations of an entry."""
        name = self.scenario.flows[entry].stations
        return next(group.count for group in self.scenario.stations if group.name == name)

    def sums(self, name: str, entries: Sequence[int], windows: int) -> Array:
        """Add one of the books' sums up over entries: an array of replications by windows."""
        return np.stack([self._windows(run, name, entries, windows) for run in self.runs])

    def _windows(self, run: Run, name: str, entries: Sequence[int], windows: int) -> Array:
        assert run.books is not None
        blocks = run.books.column(name)[:, list(entries)].sum(axis=1)
        return np.asarray(blocks.reshape(windows, -1).sum(axis=1))

    def times_s(self, run: Run) -> list[Array] | None:
        """The transfer times of a replication by the blocks of its books in which they ended.

        None where the books do not tell these.
        """
        assert run.books is not None
        ended = run.books.column("ended").sum(axis=1).cumsum().astype(int)
        times_s, scopes = run.transfer_times_s, run.books.scopes
        if not len(times_s) == len(scopes) == ended[-1]:
            return None
        mine = np.isin(scopes, self._scopes)
        begins = [0, *ended[:-1]]
        return [
            times_s[begin:end][mine[begin:end]] for begin, end in zip(begins, ended, strict=True)
        ]

    def controls(self, windows: int) -> Array:
        """The controls: an array of replications by windows by controls.

        Over the draws made in a window: the bytes of transfers less their true mean, and the
        pauses less theirs, both martingales; and the bytes delivered that the transfers begun do
        not account for, whose mean is zero where as much is in progress at the end as at the
        beginning.
        """
        drawn = self._drawn(windows)
        if drawn is None:
            return self._paused(windows)
        delivered = self.sums("delivered_bytes", self.recurrent, windows)
        return np.concatenate(
            [
                drawn[..., None],
                self._paused(windows),
                (delivered - drawn - self.begun_bytes(windows))[..., None],
            ],
            axis=2,
        )

    def begun_bytes(self, windows: int) -> Array:
        """The true mean of the bytes of as many transfers as began."""
        return self._of_means("units", unit_bytes, windows)

    @property
    def _scopes(self) -> list[int]:
        """Twice the number of each station group, and one more for uploads, as the books count."""
        return [
            2 * number + direction
            for number, group in enumerate(self.scenario.stations)
            for direction, name in enumerate(("download", "upload"))
            if self.group in (None, group.name) and self.part in ("all", name)
        ]

    def _drawn(self, windows: int) -> Array | None:
        """The sum of sizes less their means; None where one of these is not known."""
        if any(unit_bytes(self.scenario.flows[one]) is None for one in self.recurrent):
            return None
        return self.sums("unit_bytes", self.recurrent, windows) - self.begun_bytes(windows)

    def _paused(self, windows: int) -> Array:
        random = [one for one in self.recurrent if pause_s(self.scenario.flows[one]) is not None]
        if not random:
            return np.empty((len(self.runs), windows, 0))
        paused = self.sums("paused_s", random, windows)
        return np.asarray((paused - self._of_means("pauses", pause_s, windows))[..., None])

    def _of_means(self, counted: str, mean: Any, windows: int) -> Array:
        total = np.zeros((len(self.runs), windows))
        for one in self.recurrent:
            expected = mean(self.scenario.flows[one])
            if expected is not None:
                total += expected * self.sums(counted, [one], windows)
        return total

    def _application(self, entry: int) -> Any:
        return self.scenario.flows[entry].application

    def _kind(self, entry: int) -> str:
        return str(self._application(entry).kind)

    def _is_endless(self, entry: int) -> bool:
        return self._application(entry).size is None

"""The sums of a group's traffic in windows of each replication, and controls whose mean is zero."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from airtcp.estimates.accounts import SUMS, Accounts, Lasting
from airtcp.estimates.laws import moments, pause_s, unit_bytes
from airtcp.scenario.keys.traffic import Flow, is_job

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from airtcp.distributions import Distribution
    from airtcp.scenario import ResolvedScenario

    Array = NDArray[np.float64]

#: Squared coefficient of variation of sizes above which the means of replications are skewed.
HEAVY: Final = 4.0
#: Applications whose transfers end and are followed by others: recurrent transfers.
RECURRENT: Final = frozenset({"web", "ftp", "replay"})

#: Windows of each replication: enough for three coefficients, and long compared to a transfer.
_WINDOWS: Final = 4
_WINDOWS_OF_FEW: Final = 10
_FEW: Final = 5


class Run(Protocol):
    """The interface of a replication; `airtcp.results.Replication` implements it."""

    @property
    def answer(self) -> Mapping[str, Any]:
        """The core's answer."""

    @property
    def transfer_times_s(self) -> Array:
        """The durations of the transfers that ended, in seconds."""

    @property
    def accounts(self) -> Accounts | None:
        """The accounts of the replication, if the core recorded them."""


def jobs_have_ended(runs: Sequence[Run], scenario: ResolvedScenario) -> bool:
    """Return True if each job of a scenario has ended in the measured time of each replication."""
    names = {flow.name for flow in scenario.flows if is_job(flow)}
    return all(
        flow["transfers"] >= 1
        for run in runs
        for flow in run.answer["flows"]
        if flow["name"].rpartition("/")[0] in names
    )


def is_done(runs: Sequence[Run], scenario: ResolvedScenario) -> bool:
    """Return True if all traffic is jobs that have ended: nothing comes later."""
    return all(map(is_job, scenario.flows)) and jobs_have_ended(runs, scenario)


def measured(run: Run, metric: str, group: str | None, part: str) -> float | None:
    """Return the measured value of a metric, for the whole network or for a part of a group.

    None if there is no such part. Raises KeyError if there is no such group or metric.
    """
    metrics = metrics_of(run.answer, group, part)
    return None if metrics is None else metrics[metric]


def metrics_of(
    answer: Mapping[str, Any], group: str | None, part: str
) -> Mapping[str, float | None] | None:
    """Return the metrics of the whole network, or of a part of a group; None if that has none.

    `answer` is an answer of the core, or the record of its first half. Raises KeyError if there is
    no such group.
    """
    if group is None:
        of_all: Mapping[str, float | None] = answer["metrics"]
        return of_all
    of_groups = {one["name"]: one for one in answer["groups"]}
    of_part: Mapping[str, float | None] | None = of_groups[group][part]
    return of_part


@dataclass(frozen=True, eq=False)
class Traffic:
    """The traffic of a group in one direction or both, or all traffic, in some replications."""

    runs: Sequence[Run]
    scenario: ResolvedScenario
    group: str | None
    part: str

    @cached_property
    def entries(self) -> list[int]:
        """The indices of the flows of this traffic in the resolved scenario."""
        return [
            place
            for place, flow in enumerate(self.scenario.flows)
            if self.group in (None, flow.stations) and self.part in ("all", flow.direction)
        ]

    @cached_property
    def recurrent(self) -> list[int]:
        """The entries with recurrent transfers: each is followed by another."""
        return [one for one in self.entries if self._kind(one) in RECURRENT]

    @cached_property
    def of_pages(self) -> list[int]:
        """The recurrent entries that load pages, which are several transfers at once."""
        return [
            one
            for one in self.recurrent
            if getattr(self._application(one), "page", None) is not None
        ]

    @cached_property
    def has_accounts(self) -> bool:
        """True if every replication has accounts. Those in real time have none."""
        return all(run.accounts is not None and len(run.accounts.sums) > 0 for run in self.runs)

    def units_begun(self, entries: list[int]) -> float:
        """Return the number of pages and files of some entries that began in all replications."""
        return float(self.sums("units", entries).sum())

    @cached_property
    def is_recurrent(self) -> bool:
        """True if all transfers recur or are endless: none is a single transfer of a given size."""
        once = [one for one in self.entries if self._kind(one) == "bulk"]
        return bool(self.recurrent) and all(self._is_endless(one) for one in once)

    @cached_property
    def is_endless(self) -> bool:
        """True if all flows are endless transfers."""
        return all(self._kind(one) == "bulk" and self._is_endless(one) for one in self.entries)

    @cached_property
    def is_closed(self) -> bool:
        """True if users wait for each transfer: think, transfer, think."""
        return bool(self.recurrent) and all(self._kind(one) == "web" for one in self.recurrent)

    @cached_property
    def is_heavy(self) -> bool:
        """True if a few large sizes carry much of the bytes."""
        laws = (getattr(self._application(one), "size", None) for one in self.recurrent)
        return any(law is not None and law.scv() > HEAVY for law in laws)

    @cached_property
    def skewness(self) -> float:
        """The skewness of the bytes that a replication draws, infinite if it is unknown."""
        laws = [getattr(self._application(one), "size", None) for one in self.recurrent]
        return self._skewness(laws, "begun")

    @cached_property
    def skewness_of_pages(self) -> float | None:
        """The skewness of the bytes of a replication's pages; None if a page has no law of size."""
        pages = [getattr(self._application(one), "page", None) for one in self.recurrent]
        laws = [None if page is None else page.size for page in pages]
        return None if None in laws else self._skewness(laws, "units")

    def _skewness(self, laws: Sequence[Distribution | None], counted: str) -> float:
        """Return the skewness of a sum of draws from these laws; `counted` has their numbers.

        It assumes a Poisson number of independent sizes, which is nearly true in a busy network.
        """
        second = third = 0.0
        for one, law in zip(self.recurrent, laws, strict=True):
            of_size = (np.inf, np.inf) if law is None else moments(law)
            count = float(self.sums(counted, [one]).sum()) / len(self.runs)
            second, third = second + count * of_size[0], third + count * of_size[1]
        return float(third / second**1.5) if 0.0 < second < np.inf else np.inf

    @cached_property
    def has_true_sizes(self) -> bool:
        """True if the exact mean of all sizes is known."""
        return all(unit_bytes(self.flow(one)) is not None for one in self.recurrent)

    @cached_property
    def warmup_s(self) -> float:
        """The warm-up of a replication in seconds; 0 if the warm-up is found automatically."""
        return (self.scenario.run.warmup_ns or 0) / 1e9

    @cached_property
    def measured_s(self) -> float:
        """The measured time of a replication in seconds."""
        return self.scenario.run.duration_ns / 1e9

    @cached_property
    def scopes(self) -> list[int]:
        """The scope numbers of its groups and directions, as in `Accounts`."""
        places = {group.name: place for place, group in enumerate(self.scenario.stations)}
        flows = [self.flow(one) for one in self.entries]
        return sorted({2 * places[one.stations] + (one.direction == "upload") for one in flows})

    @cached_property
    def scopes_of_part(self) -> list[int]:
        """The scope numbers of all its groups and directions, with or without traffic."""
        ways = {"all": (0, 1), "download": (0,), "upload": (1,)}[self.part]
        return [
            2 * place + way
            for place, group in enumerate(self.scenario.stations)
            if self.group in (None, group.name)
            for way in ways
        ]

    @cached_property
    def ending(self) -> list[int]:
        """The entries whose transfers end."""
        return [
            one for one in self.entries if not (self._kind(one) == "bulk" and self._is_endless(one))
        ]

    def flow(self, entry: int) -> Flow:
        """Return the resolved flow of an entry."""
        return self.scenario.flows[entry]

    def users(self, entries: Sequence[int]) -> int:
        """Return the number of flows of some entries: one for each station of their groups."""
        return sum(self._counts[self.flow(one).stations] for one in entries)

    @cached_property
    def _counts(self) -> Mapping[str, int]:
        return {group.name: group.count for group in self.scenario.stations}

    @cached_property
    def fastest_bps(self) -> float:
        """The fastest rate of its stations, added up over cells, which may send at the same time.

        Rate control chooses from the rates up to that one.
        """
        mine = {self.flow(one).stations for one in self.entries}
        fastest: dict[int, int] = {}
        for one in self.scenario.stations:
            if one.name in mine:
                cell = one.cell or 0
                fastest[cell] = max(fastest.get(cell, 0), one.data_rate.bps)
        return float(sum(fastest.values()))

    @cached_property
    def windows(self) -> int:
        """The number of windows of a replication."""
        return _WINDOWS if len(self.runs) >= _FEW else _WINDOWS_OF_FEW

    @cached_property
    def _blocks(self) -> Array:
        """All sums of its entries, of the shape (replications, windows, entries, `SUMS`)."""
        accounts = [run.accounts for run in self.runs]
        sums = np.stack([one.sums[:, self.entries] for one in accounts if one is not None])
        n, _, entries, columns = sums.shape
        return np.asarray(sums.reshape(n, self.windows, -1, entries, columns).sum(axis=2))

    def sums(self, name: str, entries: Sequence[int]) -> Array:
        """Return one of `SUMS`, added up over some of its entries: replications by windows."""
        places = [self.entries.index(entry) for entry in entries]
        return np.asarray(self._blocks[:, :, places, SUMS.index(name)].sum(axis=2))

    @cached_property
    def draws(self) -> Array:
        """Controls from the draws in a window, of the shape (replications, windows, controls).

        They are the drawn bytes minus their exact mean, if that is known, and the pauses minus
        theirs. Both are martingales, so their mean is zero in any state of the network.
        """
        if not self.has_true_sizes:
            return self.pauses
        drawn = self.sums("unit_bytes", self.recurrent) - self.begun_bytes
        return np.concatenate([drawn[..., None], self.pauses], axis=2)

    @cached_property
    def pauses(self) -> Array:
        """The pauses minus their exact mean: one control or none."""
        random = [one for one in self.recurrent if pause_s(self.flow(one)) is not None]
        if not random:
            return np.empty((len(self.runs), self.windows, 0))
        expected = self._of_means("pauses", pause_s)
        return np.asarray(self.sums("paused_s", random) - expected)[..., None]

    @cached_property
    def growth(self) -> Array:
        """The bytes in progress that a window adds: an array of replications by windows.

        That is drawn bytes minus delivered bytes. The mean is zero in steady state.
        """
        wanted = self.sums("unit_bytes", self.recurrent)
        return np.asarray(wanted - self.sums("delivered_bytes", self.recurrent))

    @cached_property
    def controls(self) -> Array:
        """All controls of windows, including the growth (valid only in steady state)."""
        if not self.has_true_sizes:
            return self.draws
        return np.concatenate([self.draws, self.growth[..., None]], axis=2)

    def lasting(self, run: Run, *, pages: bool = False) -> Lasting | None:
        """Return all transfers, or pages, of a replication; None if they were not recorded."""
        accounts = run.accounts
        assert accounts is not None
        if pages:
            return accounts.pages
        return Lasting(
            run.transfer_times_s,
            accounts.scopes,
            accounts.carried_over_index,
            accounts.under_way_entry,
            accounts.under_way_age_s,
        )

    def times_s(self, run: Run, *, pages: bool = False) -> list[Array] | None:
        """Return the transfer or page times of a replication by the blocks in which they ended.

        None if the accounts do not contain them.
        """
        assert run.accounts is not None
        ended = run.accounts.column("loaded" if pages else "ended").sum(axis=1).cumsum().astype(int)
        of_all = self.lasting(run, pages=pages)
        if of_all is None or not len(of_all.times_s) == len(of_all.scopes) == ended[-1]:
            return None
        times_s, scopes = of_all.times_s, of_all.scopes
        mine = np.isin(scopes, self.scopes)
        begins = [0, *ended[:-1]]
        return [
            times_s[begin:end][mine[begin:end]] for begin, end in zip(begins, ended, strict=True)
        ]

    @cached_property
    def begun_bytes(self) -> Array:
        """The expected bytes of the transfers that began, by window."""
        return self._of_means("units", unit_bytes)

    @cached_property
    def thought_s(self) -> Array:
        """The expected pauses of the transfers that began, by window, in seconds."""
        return self._of_means("units", pause_s)

    def _of_means(self, counted: str, mean: Callable[[Flow], float | None]) -> Array:
        means = ((one, mean(self.flow(one))) for one in self.recurrent)
        known = [self.sums(counted, [one]) * value for one, value in means if value is not None]
        return np.asarray(sum(known, np.zeros(self._blocks.shape[:2])))

    def _application(self, entry: int) -> Any:
        return self.flow(entry).application

    def _kind(self, entry: int) -> str:
        return str(self._application(entry).kind)

    def _is_endless(self, entry: int) -> bool:
        return self._application(entry).size is None

"""Pages in progress, which may still grow in number, and the page time of the steady state.

Users read, load a page, and read again. A run begins with all users reading. The pages that have
ended when the run ends are the quick ones.

By Little's law, the page time is the mean number in progress over the rate of page requests,
whether or not the pages have ended. Suppose that the number A(t) approaches its mean L as exp(-t /
tau), as it does near a steady state. Then L = mean of A + tau (A(end) - A(begin)) / W over a window
W. Each further page in progress is one reader less, so the request rate settles tau (A(end) -
A(begin)) / (W E[Z]) lower.

With a further page in progress, 1 / E[Z] fewer pages are requested a second. On a shared processor
L = rho / (1 - rho) at a rate of rho C, and (1 - rho) / T more pages end a second. Here 1 - rho is
the share of time without a page, and T is the page time. So 1 / tau = 1 / E[Z] + (1 - rho) / T. A
page alone in the network settles within its own time. In a network that is never empty, pages
settle within a think time. A radio is not quite such a processor, so half of the correction counts
as uncertainty.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from airtcp.estimates.laws import pause_s
from airtcp.estimates.regression import Adjusted, adjusted
from airtcp.estimates.startup import left_s
from airtcp.estimates.traffic import Traffic
from airtcp.phrases import phrase

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

#: The metrics that pages in progress determine.
OF_PAGES: Final = frozenset({"page_time_s", "transfer_time_s", "active_flows"})
#: The part of a correction that is added to its half width.
DOUBT: Final = 0.5
#: A relative growth below this is covered by an interval, however wide.
MOST_GROWTH: Final = 0.2
#: The fewest pages that allow an estimate.
_FEWEST: Final = 10
#: The columns of the sums, as named in `Accounts`: columns of one traffic, and of all pages.
_OWN: Final = ("units", "loading_s", "active_s", "begun")
_ALL: Final = ("units", "loaded", "loading_s")
_OWN_UNITS, _OWN_LOADING, _ACTIVE, _BEGUN, _UNITS, _LOADED, _LOADING = range(7)


@dataclass(frozen=True, eq=False)
class Found:
    """A metric estimated from pages in progress: one number for each replication.

    `values` are those of the steady state, and `doubt` is added to their half width. `as_is` are
    those of the runs without correction, which are lower if pages still grow.
    """

    values: Array
    doubt: float
    as_is: Array


@dataclass(frozen=True, eq=False)
class Growth:
    """The relative growth of page times until steady state, and a value per replication."""

    mean: float
    values: Array


@dataclass(frozen=True, eq=False)
class Loading:
    """The pages of some entries of a traffic. `of_all` is all traffic of the network.

    The future growth is a property of the whole network. A group's own pages are too few to show
    it. `think_s` is the mean time that all users of the network read between pages.
    """

    own: Traffic
    of_all: Traffic
    entries: list[int]
    think_s: float

    @property
    def is_all(self) -> bool:
        """True if all recurrent transfers of the traffic are pages."""
        return self.entries == self.own.recurrent

    def of(self, metric: str) -> Found | None:
        """Estimate a metric of `OF_PAGES`; None with few pages, or if other transfers contribute.

        There are also too few pages if one replication has all of them.
        """
        if not math.isfinite(self.settles_s) or not (self.is_all or metric == "page_time_s"):
            return None
        formula, tau = self._formulas[metric], self.settles_s
        with np.errstate(divide="ignore", invalid="ignore"):
            values = self._sums.pseudo_values(lambda sums: formula(sums, tau))
            as_is = self._sums.pseudo_values(lambda sums: formula(sums, 0.0))
        if not np.isfinite(values).all() or not np.isfinite(as_is).all():
            return None
        off = float(formula(self._sums.whole, tau) - formula(self._sums.whole, 0.0))
        return Found(values, DOUBT * abs(off), as_is)

    @cached_property
    def growth(self) -> Growth | None:
        """The growth that is still to come; None with few pages."""
        if not math.isfinite(self.settles_s):
            return None

        def of(sums: Array) -> Array:
            return self._longer(sums, self.settles_s) - 1.0

        with np.errstate(divide="ignore", invalid="ignore"):
            values = self._sums.pseudo_values(of)
        return Growth(float(of(self._sums.whole)), values) if np.isfinite(values).all() else None

    @cached_property
    def settles_s(self) -> float:
        """The time constant tau with which the number of pages settles; NaN if few pages ended."""
        if min(self.own.sums(one, self.entries).sum() for one in ("units", "loaded")) < _FEWEST:
            return math.nan
        every = self.of_all.of_pages
        units, loading_s = (self.of_all.sums(one, every).sum() for one in ("units", "loading_s"))
        return 1.0 / (1.0 / self.think_s + self._empty * float(units / loading_s))

    @property
    def startup_s(self) -> float:
        """The length of the start-up that remains after the warm-up, in seconds."""
        return left_s(self.own, self.settles_s)

    @property
    def reason(self) -> str:
        """The reason why no page time is reported."""
        loading_s = self.of_all.sums("loading_s", self.of_all.of_pages).mean(axis=0)
        first, last = loading_s[[0, -1]] * self.own.windows / self.own.measured_s
        counts = f"({first:.1f} → {last:.1f})"
        if last > first:
            return phrase("estimates.pages.rise", counts=counts)
        return phrase("estimates.pages.vary", counts=counts)

    @property
    def _empty(self) -> float:
        """The share of time without any page in progress in the whole network."""
        accounts = [run.accounts for run in self.own.runs]
        without_s = [one.column("pageless_s").sum(axis=0) for one in accounts if one is not None]
        shares = np.mean(without_s, axis=0)[self.of_all.of_pages] / self.own.measured_s
        return float(np.prod(shares))

    @cached_property
    def _sums(self) -> Adjusted:
        """The sums over all windows, adjusted for the draws."""
        columns = [self.own.sums(name, self.entries) for name in _OWN]
        columns += [self.of_all.sums(name, self.of_all.of_pages) for name in _ALL]
        return adjusted(np.stack(columns, axis=2), self.own.draws)

    def _more(self, sums: Array, tau: float) -> Array:
        """Return the page-seconds that are missing in a run compared to the steady state."""
        return np.asarray(tau * (sums[..., _UNITS] - sums[..., _LOADED]))

    def _longer(self, sums: Array, tau: float) -> Array:
        """Return the ratio of the steady state's page time to the runs' page time."""
        more = self._more(sums, tau)
        fewer = more / (self.think_s * sums[..., _UNITS])
        return np.asarray((1.0 + more / sums[..., _LOADING]) / (1.0 - fewer))

    @cached_property
    def _formulas(self) -> dict[str, Callable[[Array, float], Array]]:
        measured_s = self.own.measured_s
        return {
            "page_time_s": lambda sums, tau: (
                sums[..., _OWN_LOADING] / sums[..., _OWN_UNITS] * self._longer(sums, tau)
            ),
            "transfer_time_s": lambda sums, tau: (
                sums[..., _ACTIVE] / sums[..., _BEGUN] * self._longer(sums, tau)
            ),
            "active_flows": lambda sums, tau: (
                sums[..., _ACTIVE]
                / measured_s
                * (1.0 + self._more(sums, tau) / sums[..., _LOADING])
            ),
        }


def loading(traffic: Traffic) -> Loading | None:
    """Return the pages of a traffic; None if it has none, or without accounts."""
    of_all = Traffic(traffic.runs, traffic.scenario, None, "all")
    entries, every = traffic.of_pages, of_all.of_pages
    rate = sum(traffic.users([one]) / (pause_s(traffic.flow(one)) or math.inf) for one in every)
    if not entries or not traffic.has_accounts or not rate:
        return None
    return Loading(traffic, of_all, entries, traffic.users(every) / rate)

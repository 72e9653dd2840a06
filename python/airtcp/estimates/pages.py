"""Pages in progress, which may be too few yet, and the page time of the steady state.

Users read, load a page, and read again. A run begins with all of them reading, and those pages that
have come when it ends are the quick ones. Knows the books of pages and how fast their number
settles. Does not know intervals.

By Little's law the page time is the mean number in progress over the rate at which pages are asked
for, whether they have come or not. A number A(t) that nears its mean L as exp(-t / tau), as one
near a steady state does, has L = mean of A + tau (A(end) - A(begin)) / W over a window W; and as a
page more is a reader less, the rate settles tau (A(end) - A(begin)) / (W E[Z]) lower.

With a page more in progress 1 / E[Z] a second fewer are asked for. On a processor that pages share,
of which L = rho / (1 - rho) at a rate of rho C, (1 - rho) / T more a second come, where 1 - rho is
the share of time without a page and T the page time: 1 / tau = 1 / E[Z] + (1 - rho) / T. Pages that
are alone settle within their own time, those of a network that is never empty within a time to
think. A radio is not quite such a processor, so that half of what is corrected is a doubt.
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

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

#: The metrics that pages in progress tell.
OF_PAGES: Final = frozenset({"page_time_s", "transfer_time_s", "active_flows"})
#: The part of a correction that its interval is widened by.
DOUBT: Final = 0.5
#: A growth that is told by an interval however wide it is.
MOST_GROWTH: Final = 0.2
#: The fewest pages that say anything.
_FEWEST: Final = 10
#: The columns of the sums, by the names of the books: those of a traffic, and of all pages.
_OWN: Final = ("units", "loading_s", "active_s", "begun")
_ALL: Final = ("units", "loaded", "loading_s")
_OWN_UNITS, _OWN_LOADING, _ACTIVE, _BEGUN, _UNITS, _LOADED, _LOADING = range(7)


@dataclass(frozen=True, eq=False)
class Found:
    """A metric by pages in progress: one number for each replication.

    `values` are those of the steady state, and `doubt` comes to their half width; `as_is` those of
    the runs as they are, which are less where pages still grow.
    """

    values: Array
    doubt: float
    as_is: Array


@dataclass(frozen=True, eq=False)
class Growth:
    """The part by which the steady state has longer page times than the runs, and its values."""

    mean: float
    values: Array


@dataclass(frozen=True, eq=False)
class Loading:
    """The pages of some entries of a traffic, in a network in which `of_all` are all pages.

    How many there are yet to be is a state of the network: a group's own pages tell it by few.
    `think_s` is the mean time that its users take to read.
    """

    own: Traffic
    of_all: Traffic
    entries: list[int]
    think_s: float

    @property
    def is_all(self) -> bool:
        """Tell whether all transfers that are followed by others are of pages."""
        return self.entries == self.own.recurrent

    def of(self, metric: str) -> Found | None:
        """Estimate a metric of `OF_PAGES`; None of few pages, or where not all is pages.

        Few they are, too, where one replication has all.
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
        """The growth that is yet to come; None of few pages."""
        if not math.isfinite(self.settles_s):
            return None

        def of(sums: Array) -> Array:
            return self._longer(sums, self.settles_s) - 1.0

        with np.errstate(divide="ignore", invalid="ignore"):
            values = self._sums.pseudo_values(of)
        return Growth(float(of(self._sums.whole)), values) if np.isfinite(values).all() else None

    @cached_property
    def settles_s(self) -> float:
        """The time tau in which their number settles; NaN where few pages were loaded."""
        if min(self.own.sums(one, self.entries).sum() for one in ("units", "loaded")) < _FEWEST:
            return math.nan
        every = self.of_all.of_pages
        units, loading_s = (self.of_all.sums(one, every).sum() for one in ("units", "loading_s"))
        return 1.0 / (1.0 / self.think_s + self._empty * float(units / loading_s))

    @property
    def startup_s(self) -> float:
        """The time for which the start-up that is left after the warm-up lasts."""
        return left_s(self.own, self.settles_s)

    @property
    def reason(self) -> str:
        """The reason for which page times are not told."""
        loading_s = self.of_all.sums("loading_s", self.of_all.of_pages).mean(axis=0)
        first, last = loading_s[[0, -1]] * self.own.windows / self.own.measured_s
        return (
            f"pages in progress may still grow ({first:.1f} at the beginning of the measured time, "
            f"{last:.1f} at its end)"
        )

    @property
    def _empty(self) -> float:
        """The share of time without a page in progress, of everybody's pages."""
        books = [run.books for run in self.own.runs]
        without_s = [one.column("pageless_s").sum(axis=0) for one in books if one is not None]
        shares = np.mean(without_s, axis=0)[self.of_all.of_pages] / self.own.measured_s
        return float(np.prod(shares))

    @cached_property
    def _sums(self) -> Adjusted:
        """The sums of all windows, freed from what was drawn."""
        columns = [self.own.sums(name, self.entries) for name in _OWN]
        columns += [self.of_all.sums(name, self.of_all.of_pages) for name in _ALL]
        return adjusted(np.stack(columns, axis=2), self.own.draws)

    def _more(self, sums: Array, tau: float) -> Array:
        """The pages in progress that there are yet to be, in page-seconds of a run."""
        return np.asarray(tau * (sums[..., _UNITS] - sums[..., _LOADED]))

    def _longer(self, sums: Array, tau: float) -> Array:
        """The page time of the steady state over that of the runs."""
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
    """Return the pages of a traffic; None where there are none, or books do not tell of them."""
    of_all = Traffic(traffic.runs, traffic.scenario, None, "all")
    entries, every = traffic.of_pages, of_all.of_pages
    rate = sum(traffic.users([one]) / (pause_s(traffic.flow(one)) or math.inf) for one in every)
    if not entries or not traffic.has_books or not rate:
        return None
    return Loading(traffic, of_all, entries, traffic.users(every) / rate)

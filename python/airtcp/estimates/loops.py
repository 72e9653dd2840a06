"""Goodput of users who think, load a page, and think again: a closed loop, by its renewal identity.

A user loads a page of E[S] bytes in every E[Z] + E[T] seconds, whatever happens meanwhile: the time
to think and the size are those of the scenario, and of the page time alone chance is left. Where it
is short beside the time to think, that is little, while as many pages as a run happens to hold are
much. Knows pages that a group loads in one way. Does not know when a state is steady.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from airtcp.estimates.laws import pause_s, unit_bytes
from airtcp.estimates.pages import Found, loading
from airtcp.estimates.traffic import Traffic, measured
from airtcp.stats import student_quantile


@dataclass(frozen=True, slots=True)
class Loop:
    """The users of one entry: their number, E[S] in bytes, E[Z] in seconds.

    `page_times_s` has a page time for each replication, None where no page came: that of the steady
    state, if pages in progress tell it, with a doubt of `doubt_s`, else the mean of those that
    came. `pages` is their number in all.
    """

    users: int
    page_bytes: float
    think_s: float
    page_times_s: tuple[float | None, ...]
    pages: float
    doubt_s: float = 0.0

    @property
    def page_time_s(self) -> float | None:
        """The mean page time of all replications; None unless two have any."""
        known = [one for one in self.page_times_s if one is not None]
        return sum(known) / len(known) if len(known) > 1 else None

    @property
    def is_short(self) -> bool:
        """Tell whether pages take no longer than users think, so that hardly any is in progress."""
        page_s = self.page_time_s
        return page_s is not None and page_s <= self.think_s and self.pages > 1.0

    def goodput_bps(self, run: int) -> float | None:
        """Return the goodput that goes with the page time of a replication.

        One without a page has the page time of all.
        """
        page_s = self.page_times_s[run]
        if page_s is None:
            page_s = self.page_time_s
        return None if page_s is None else self.with_pages_of(page_s)

    def with_pages_of(self, page_s: float) -> float:
        """Return the goodput in b/s that goes with a mean page time."""
        return 8.0 * self.users * self.page_bytes / (self.think_s + page_s)

    @property
    def slow_bps(self) -> float:
        """The goodput in b/s that is lost if pages take twice as long as those that came."""
        page_s = self.page_time_s or 0.0
        return self.with_pages_of(page_s) - self.with_pages_of(2.0 * page_s)

    @property
    def doubt_bps(self) -> float:
        """The doubt in b/s that goes with that of the page time."""
        page_s = self.page_time_s or 0.0
        return self.with_pages_of(page_s) / (self.think_s + page_s) * self.doubt_s

    def least_half_width_bps(self, confidence: float) -> float:
        """Return the half width that the goodput has if so many page times are exponential.

        Few page times that happen to be alike are no sign that all are.
        """
        page_s = self.page_time_s or 0.0
        half_s = student_quantile(confidence, self.pages - 1.0) * page_s
        slope = self.with_pages_of(page_s) / (self.think_s + page_s)
        return slope * half_s / math.sqrt(self.pages)


def loops(traffic: Traffic, *, as_came: bool = False) -> list[Loop]:
    """Return the loops of all transfers that others follow; none where one of these is no loop.

    With `as_came` page times are those of pages that came, as of runs that are too short for pages.
    """
    flows = [traffic.flow(one) for one in traffic.recurrent]
    scopes = [(flow.stations, flow.direction) for flow in flows]
    found = []
    for entry, flow, scope in zip(traffic.recurrent, flows, scopes, strict=True):
        page_bytes, think_s = unit_bytes(flow), pause_s(flow)
        has_pages = entry in traffic.of_pages
        # The page times of a group and direction are those of all its pages.
        if not has_pages or page_bytes is None or think_s is None or scopes.count(scope) > 1:
            return []
        times_s = tuple(measured(run, "page_time_s", *scope) for run in traffic.runs)
        pages = float(traffic.sums("units", [entry]).sum())
        loop = Loop(traffic.users([entry]), page_bytes, think_s, times_s, pages)
        settled = None if as_came else _settled(Traffic(traffic.runs, traffic.scenario, *scope))
        if settled is not None:
            page_times_s = tuple(settled.values.tolist())
            loop = replace(loop, page_times_s=page_times_s, doubt_s=settled.doubt)
        found.append(loop)
    return found


def _settled(traffic: Traffic) -> Found | None:
    """Return the page time of the steady state; None where pages in progress do not tell it."""
    of = loading(traffic) if len(traffic.runs) > 1 else None
    found = None if of is None else of.of("page_time_s")
    return None if found is None or not np.isfinite(found.values).all() else found


@dataclass(frozen=True, slots=True)
class Renewal:
    """Goodputs by the renewal identity, one for each replication, None where no page came.

    The half width of their mean is at least `least_half_width_bps`, and `doubt_bps` comes to it.
    Pages take `page_time_s`, the longest mean of several loops; None where they are too few, or
    take longer than users think. `most_bps` goes with the mean page time, or with none where it is
    not known: as pages that have not ended are slow ones, the goodput is hardly more. If all pages
    take twice as long it is `slow_bps` less.
    """

    values: tuple[float | None, ...]
    least_half_width_bps: float
    doubt_bps: float
    page_time_s: float | None
    most_bps: float
    slow_bps: float


def renewal(traffic: Traffic, confidence: float, *, as_came: bool = False) -> Renewal | None:
    """Return the goodputs of traffic by the renewal identity; None where there are no loops.

    What is not sent in loops, such as calls, counts as it was measured. `as_came` is that of
    `loops`.
    """
    found = loops(traffic, as_came=as_came)
    if not found:
        return None
    beside = [one for one in traffic.entries if one not in traffic.recurrent]
    sent = traffic.sums("delivered_bytes", beside).sum(axis=1) * 8.0 / traffic.measured_s
    rests: list[float] = np.asarray(sent).tolist()
    values: list[float | None] = []
    for run, rest in enumerate(rests):
        parts = [one.goodput_bps(run) for one in found]
        known = [one for one in parts if one is not None]
        values.append(rest + sum(known) if len(known) == len(parts) else None)
    are_short = all(one.is_short for one in found)
    return Renewal(
        tuple(values),
        sum(one.least_half_width_bps(confidence) for one in found) if are_short else 0.0,
        sum(one.doubt_bps for one in found),
        max(one.page_time_s or 0.0 for one in found) if are_short else None,
        sum(rests) / len(rests) + sum(one.with_pages_of(one.page_time_s or 0.0) for one in found),
        sum(one.slow_bps for one in found),
    )

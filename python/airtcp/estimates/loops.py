"""Estimate the goodput of users who think and load pages in turn, by the renewal identity.

This is a closed loop: a user loads a page of E[S] bytes in every E[Z] + E[T] seconds. The scenario
fixes the think time and the size, so only the page time is random. If it is short compared to the
think time, it adds little error, while the number of pages in one run varies a lot.
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

    `page_times_s` has one page time for each replication, None if no page ended. It is the page
    time of the steady state, with an uncertainty of `doubt_s`, if pages in progress determine it.
    Otherwise it is the mean of the pages that ended. `pages` is the total number of pages.
    """

    users: int
    page_bytes: float
    think_s: float
    page_times_s: tuple[float | None, ...]
    pages: float
    doubt_s: float = 0.0

    @property
    def page_time_s(self) -> float | None:
        """The mean page time of all replications; None unless two replications have one."""
        known = [one for one in self.page_times_s if one is not None]
        return sum(known) / len(known) if len(known) > 1 else None

    @property
    def is_short(self) -> bool:
        """True if pages take no longer than the think time, so that few are in progress."""
        page_s = self.page_time_s
        return page_s is not None and page_s <= self.think_s and self.pages > 1.0

    def goodput_bps(self, run: int) -> float | None:
        """Return the goodput for the page time of a replication.

        A replication without a page uses the mean page time of all.
        """
        page_s = self.page_times_s[run]
        if page_s is None:
            page_s = self.page_time_s
        return None if page_s is None else self.with_pages_of(page_s)

    def with_pages_of(self, page_s: float) -> float:
        """Return the goodput in b/s for a mean page time."""
        return 8.0 * self.users * self.page_bytes / (self.think_s + page_s)

    @property
    def slow_bps(self) -> float:
        """The loss of goodput in b/s if pages take twice as long as those that ended."""
        page_s = self.page_time_s or 0.0
        return self.with_pages_of(page_s) - self.with_pages_of(2.0 * page_s)

    @property
    def doubt_bps(self) -> float:
        """The uncertainty of the goodput in b/s that follows from `doubt_s`."""
        page_s = self.page_time_s or 0.0
        return self.with_pages_of(page_s) / (self.think_s + page_s) * self.doubt_s

    def least_half_width_bps(self, confidence: float) -> float:
        """Return the half width of the goodput if the page times have an exponential law.

        A few page times may agree by chance. This bound prevents too narrow an interval.
        """
        page_s = self.page_time_s or 0.0
        half_s = student_quantile(confidence, self.pages - 1.0) * page_s
        slope = self.with_pages_of(page_s) / (self.think_s + page_s)
        return slope * half_s / math.sqrt(self.pages)


def loops(traffic: Traffic, *, as_came: bool = False) -> list[Loop]:
    """Return the loops of all recurrent transfers; an empty list if one of them is no loop.

    With `as_came`, page times are those of pages that ended, for runs too short for pages.
    """
    flows = [traffic.flow(one) for one in traffic.recurrent]
    scopes = [(flow.stations, flow.direction) for flow in flows]
    found = []
    for entry, flow, scope in zip(traffic.recurrent, flows, scopes, strict=True):
        page_bytes, think_s = unit_bytes(flow), pause_s(flow)
        has_pages = entry in traffic.of_pages
        # Page times are measured per group and direction, so a scope may have only one loop.
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
    """Return the page times of the steady state; None if pages in progress do not suffice."""
    of = loading(traffic) if len(traffic.runs) > 1 else None
    found = None if of is None else of.of("page_time_s")
    return None if found is None or not np.isfinite(found.values).all() else found


@dataclass(frozen=True, slots=True)
class Renewal:
    """Goodputs by the renewal identity, one for each replication, None if no page ended.

    The half width of their mean is at least `least_half_width_bps`, and `doubt_bps` is added to it.
    `page_time_s` is the longest mean page time of the loops. It is None if there are too few pages,
    or if they take longer than users think. `most_bps` is the goodput at the mean page time, or at
    zero page time if that is unknown. Pages in progress are slow ones, so the goodput is hardly
    higher. If all pages take twice as long, the goodput is `slow_bps` lower.
    """

    values: tuple[float | None, ...]
    least_half_width_bps: float
    doubt_bps: float
    page_time_s: float | None
    most_bps: float
    slow_bps: float


def renewal(traffic: Traffic, confidence: float, *, as_came: bool = False) -> Renewal | None:
    """Return the goodputs of traffic by the renewal identity; None if there are no loops.

    Other traffic, such as calls, counts as measured. For `as_came` see `loops`.
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

"""Decide what a few short replications can show: intervals, lower bounds, or nothing.

Short replications that begin empty see less queueing than long ones: transfers in progress, windows
and queues still grow. So metrics that grow with them have only a lower bound, and metrics that
follow from losses have no value. Stations that do not hear each other may block each other for
longer than a replication. Even if the same station wins in all replications, the next replication
may differ.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from airtcp.estimates.drift import Drift
from airtcp.estimates.laws import unevenness
from airtcp.estimates.limits import most_of_cell, stretched, widened
from airtcp.estimates.loops import loops, renewal
from airtcp.estimates.percentiles import FEWEST_RUNS
from airtcp.estimates.traffic import Run, Traffic, measured
from airtcp.estimates.windows import Windows
from airtcp.scenario.hearing import deaf_groups
from airtcp.scenario.keys.traffic import is_endless, is_job
from airtcp.stats import Interval

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario

#: Transfers may last at most this part of a replication. If they last longer, the replication is
#: too short to show how many are in progress, and delays look too short.
_LONGEST: Final = 0.1
#: With fewer transfers, pages or files, a run says nothing about later ones.
_FEWEST: Final = 30
#: A cell is disturbed if it hears other cells, or loses transmissions to them, for this share. A
#: disturbed cell needs at least this many exchanges per replication.
_DISTURBED: Final = 0.1
_FEWEST_TURNS: Final = 30
#: With this many TCP timeouts, timers determine the goodput of such a cell.
_TIMEOUTS: Final = 4
_PACKET_BITS: Final = 12_000
#: Metrics of transfers and pages, and metrics that grow with the queues.
_OF_TRANSFERS: Final = re.compile(r"(transfer|page)_time_")
_OF_LOAD: Final = re.compile(
    r"(_s|queue_packets|active_flows|backlogged_nodes)$|^(mpdus_per|mean_cw|active_stations)"
)
#: Rates, and shares of time that are proportional to rates.
_OF_RATE: Final = re.compile(r"goodput_bps$|utilization$|airtime_share$")
#: Metrics that average over the whole time of a job. The beginning says nothing about them.
_OF_TIME: Final = re.compile(
    r"(goodput_bps|utilization|airtime_share|active_flows|queue_packets|backlogged_nodes)$"
)
#: The half width is at least this many times the difference of the halves, after subtracting what
#: chance explains at this level, and at least this part of the mean.
_TIMES: Final = 2.0
_CHANCE: Final = 0.5
_LEAST: Final = 0.02
#: Metrics that grow with the number of contending stations, and the logarithms of the factors by
#: which their odds may fall and rise until steady state.
_OF_CONTENTION: Final = re.compile(r"^(collision|simultaneous|failed_ppdu|mac_drop)")
_LESS_CONTENTION: Final = math.log(1.4)
_MORE_CONTENTION: Final = math.log(2.5)
#: Rates and shares of time change by this logarithm in any case. If windows still grow, they may
#: also use the idle time (the busy share counts as at least `_LEAST_BUSY`) and fill larger
#: aggregates.
_UNREACHED: Final = 0.1
_AGGREGATES: Final = math.log(1.5)
#: The logarithm by which shares of connections of several kinds move until they are settled: three
#: stations at 54 Mb/s beside one at 6 Mb/s, and calls, have 4.0 Mb/s each in 10 s, and 2.7 later.
_SHARES: Final = math.log(1.5)
_LEAST_BUSY: Final = 0.1
#: Metrics that follow from losses, which begin when queues are full.
_OF_LOSSES: Final = re.compile(r"(packet_loss|r_factor|queue_drop_probability)$")
#: Counts over the measured time, which the quick simulation chose and not the user.
_COUNTS: Final = ("tcp_retransmissions", "tcp_timeouts")


@dataclass(frozen=True, eq=False)
class Short:
    """Some short replications of `scenario`, which has their warm-up and measured time."""

    runs: Sequence[Run]
    scenario: ResolvedScenario
    reached: bool = True

    def told(
        self, metric: str, interval: Interval, group: str | None = None, part: str = "all"
    ) -> Interval:
        """Reduce the interval of a metric to what short replications can show.

        If the metric grows later, `mean` and `high` are None, and `low` is a lower bound. Counts
        have no value, nor have losses if the replications are too short.
        """
        nothing = Interval(None, None, None, interval.n)
        if metric in _COUNTS or (self.short_for and _OF_LOSSES.search(metric)):
            return nothing
        if not self.reached and _OF_TIME.search(metric):
            return nothing
        if self._is_first_part and not self._is_of_jobs(metric, group, part):
            return nothing
        if group is not None and group in self._starved and _OF_TIME.search(metric):
            return nothing
        if metric.startswith("reorder_delay_p") and interval.high == 0.0:
            # None of these packets was out of order.
            return interval
        interval = self._as_wide(metric, interval, group, part)
        if self._is_more_later(metric, group, part):
            if not interval.low or interval.n < FEWEST_RUNS:
                return nothing
            # Flows that begin at the same time queue longer than flows that have spread out.
            return Interval(None, interval.low * math.exp(-_UNREACHED), None, interval.n)
        return interval

    def of_cell(self, name: str, goodput: Interval) -> Interval:
        """Reduce the goodput interval of a cell to what short replications can show."""
        if not self.reached or not goodput.mean:
            return Interval(None, None, None, goodput.n)
        place = list(self._cells).index(name)
        factors = [self._of_readers(group, "all") for group in self._groups_of(place)]
        mean, low, high = goodput.mean, goodput.low, goodput.high
        if mean is None or low is None or high is None or not factors:
            return goodput
        low = min(low, mean * (1.0 - _LEAST), *(mean * less for less, _ in factors))
        high = max(high, mean * (1.0 + _LEAST), *(mean * more for _, more in factors))
        most = most_of_cell(self.scenario, self._groups_of(place))
        return Interval(mean, low, max(mean, min(high, most)), goodput.n)

    def _as_wide(self, metric: str, interval: Interval, group: str | None, part: str) -> Interval:
        """Widen an interval by the difference of the halves, and for the few readers seen."""
        mean, low, high = interval.mean, interval.low, interval.high
        if mean is None or low is None or high is None or not mean > 0.0:
            return interval
        moved = None if self._drift.is_finite else self._drift.moved(metric, group, part)
        by = _LEAST * mean
        if moved is not None:
            by = max(by, _TIMES * math.sqrt(moved.surely(_CHANCE)))
        interval = widened(metric, interval, by)
        if self.short_for:
            interval = stretched(metric, interval, *self._unreached(metric, group, part))
        low, high = interval.low, interval.high
        if _OF_RATE.search(metric) and low is not None and high is not None:
            less, more = self._of_readers(group, part)
            interval = Interval(
                interval.mean, min(low, mean * less), max(high, mean * more), interval.n
            )
        return interval

    def _unreached(self, metric: str, group: str | None, part: str) -> tuple[float, float]:
        """Return how far a metric may change until steady state, down and up.

        More stations will contend later. Windows that still grow can use the idle time and fill
        aggregates. Another group may lose the goodput that one group gains then.
        """
        if _OF_CONTENTION.search(metric):
            return _LESS_CONTENTION, _MORE_CONTENTION
        if not _OF_RATE.search(metric):
            return 0.0, 0.0
        more = 0.0
        if {"windows", "sawteeth"} & set(self.short_for):
            more = -math.log(max(_LEAST_BUSY, 1.0 - self._idle))
            more += _AGGREGATES if self.scenario.mac.aggregation is not None else 0.0
        shares = _SHARES if self._windows.shares_move else 0.0
        up, moved = math.hypot(_UNREACHED, more), math.hypot(_UNREACHED, more + shares)
        if part != "all" or (group is not None and len(self.scenario.stations) > 1):
            return moved, moved
        # If slower stations get more of the time later, all together get less.
        are_unlike = len({one.data_rate.bps for one in self.scenario.stations}) > 1
        return (moved if shares and are_unlike else _UNREACHED), up

    @cached_property
    def _idle(self) -> float:
        """The share of time in which the medium is idle."""
        return _mean([run.answer["airtime"]["idle"] for run in self.runs])

    def _of_readers(self, group: str | None, part: str) -> tuple[float, float]:
        """Return how far a rate may fall and rise, as factors, in a run with few page loads.

        At most, users load pages as fast as those that ended. Endless flows of other groups may
        lose the goodput that this takes.
        """
        if (group, part) not in self._factors:
            self._factors[group, part] = self._made_factors(group, part)
        return self._factors[group, part]

    def _made_factors(self, group: str | None, part: str) -> tuple[float, float]:
        if {"transfers", "readers"}.isdisjoint(self.short_for):
            return 1.0, 1.0
        own = Traffic(self.runs, self.scenario, group, part)
        goodput = _goodput_bps(own)
        if not goodput:
            return 1.0, 1.0
        more = max(1.0, (self._most_bps(group, part) or goodput) / goodput)
        less = 1.0
        if any(is_endless(own.flow(one)) for one in own.entries) and group is not None:
            taken = sum(
                max(0.0, (self._most_bps(one.name, "all") or 0.0) - seen)
                for one in self.scenario.stations
                if one.name != group
                and (seen := _goodput_bps(Traffic(self.runs, self.scenario, one.name, "all")))
                is not None
            )
            less = max(0.0, 1.0 - taken / goodput)
        return less, more

    def _most_bps(self, group: str | None, part: str) -> float | None:
        """Return an upper bound of the goodput of a group's readers; None if it is unknown."""
        traffic = Traffic(self.runs, self.scenario, group, part)
        if not traffic.recurrent or not traffic.has_accounts:
            return None
        found = renewal(traffic, self.scenario.run.confidence, as_came=True)
        return None if found is None else found.most_bps

    @cached_property
    def _factors(self) -> dict[tuple[str | None, str], tuple[float, float]]:
        return {}

    @cached_property
    def _drift(self) -> Drift:
        return Drift(self.runs, self.scenario, self.scenario.run.confidence)

    @cached_property
    def short_for(self) -> tuple[str, ...]:
        """The reasons why replications are too short to show queueing delays and losses.

        `transfers` take long compared to a replication. `windows` of endless connections still
        grow. `sawteeth` last longer than half of a replication, or so long that the shares of
        connections of several kinds still move. Few `readers` were seen.
        """
        found = {
            "transfers": not self.is_settled,
            "windows": self._windows.grow,
            "sawteeth": not self._windows.grow
            and (self._windows.are_cut_seldom or self._windows.shares_move),
            "readers": self._readers < _FEWEST,
        }
        return tuple(word for word, is_so in found.items() if is_so)

    def _is_more_later(self, metric: str, group: str | None, part: str) -> bool:
        """Return True if a metric is higher later than in these replications."""
        if not self.reached:
            return bool(_OF_LOAD.search(metric))
        if not self.short_for:
            return False
        traffic = Traffic(self.runs, self.scenario, group, part)
        if metric == "active_flows":
            return bool(traffic.recurrent)
        if _OF_TRANSFERS.match(metric) and not traffic.recurrent:
            return False
        return bool(_OF_LOAD.search(metric))

    @cached_property
    def _is_first_part(self) -> bool:
        """True if traffic goes on that ends later, and leaves less load then."""
        kinds = [is_job(one) or one.application.kind == "replay" for one in self.scenario.flows]
        return not self.reached and any(kinds)

    def _is_of_jobs(self, metric: str, group: str | None, part: str) -> bool:
        """Return True for times of transfers that are all jobs, of which the fastest have ended."""
        traffic = Traffic(self.runs, self.scenario, group, part)
        flows = [traffic.flow(one) for one in traffic.entries]
        transfers = [one for one in flows if one.tcp is not None and not is_endless(one)]
        return bool(_OF_TRANSFERS.match(metric)) and all(map(is_job, transfers))

    @cached_property
    def _readers(self) -> float:
        """The number of pages and files requested, divided by the unevenness of their sizes.

        The mean of uneven sizes needs more samples, by the squared coefficient of variation.
        """
        if not self._traffic.recurrent or not self._traffic.has_accounts:
            return math.inf
        uneven = max(map(unevenness, self.scenario.flows))
        return _total(self._traffic, "units") / max(1.0, uneven)

    @cached_property
    def _windows(self) -> Windows:
        return Windows.of_replications(self.runs, self.scenario)

    @cached_property
    def is_settled(self) -> bool:
        """Whether transfers are short enough for a replication to show how many are in progress."""
        run = self.scenario.run
        whole_s = run.whole_s
        return self._lasting_s <= _LONGEST * whole_s

    @cached_property
    def _traffic(self) -> Traffic:
        return Traffic(self.runs, self.scenario, None, "all")

    @cached_property
    def _lasting_s(self) -> float:
        """The duration of transfers by Little's law, including those in progress at the end.

        For pages, it is the time until the last of their objects if that is known.
        """
        if not self._traffic.recurrent or not self._traffic.has_accounts:
            return 0.0
        transfers_s = _total(self._traffic, "active_s") / max(1.0, _total(self._traffic, "begun"))
        pages = loops(self._traffic, as_came=True)
        return max([transfers_s, *(one.page_time_s or 0.0 for one in pages)])

    @cached_property
    def disturbed(self) -> tuple[str, ...]:
        """The cells that hear others, or fail because of others, for a considerable share."""
        return tuple(
            name
            for name, records in self._cells.items()
            if _mean([record["airtime"]["heard"] for record in records]) >= _DISTURBED
            or _share(records, "neighbour") >= _DISTURBED
        )

    @cached_property
    def seldom(self) -> tuple[str, ...]:
        """The disturbed cells that always have something to send and rarely succeed.

        They include cells whose connections wait for retransmission timeouts, which grow with each
        timeout.
        """
        index = {name: place for place, name in enumerate(self._cells)}
        return tuple(
            name
            for name in self.disturbed
            if self._always_sends(index[name])
            and (
                _successes(self._cells[name]) < _FEWEST_TURNS * len(self.runs)
                or self._timeouts(self._groups_of(index[name])) >= _TIMEOUTS
            )
        )

    @cached_property
    def _starved(self) -> frozenset[str]:
        """Groups with mutually hidden stations, one of which got next to no goodput.

        Another station may win the medium in the next replication.
        """
        counts = {group.name: group.count for group in self.scenario.stations}
        endless = {flow.stations for flow in self.scenario.flows if is_endless(flow)}
        found: set[str] = set()
        for place in range(len(self.scenario.cells or ())):
            deaf = {name for pair in deaf_groups(self.scenario, place) for name in pair} & endless
            if any(self._packets(name) < _FEWEST_TURNS * counts[name] for name in deaf):
                found |= deaf
        return frozenset(found)

    def _packets(self, group: str) -> float:
        """Return the number of full packets that a group gets in its best replication."""
        most_bps = max(measured(run, "goodput_bps", group, "all") or 0.0 for run in self.runs)
        return most_bps * self.scenario.run.duration_ns / 1e9 / _PACKET_BITS

    def _timeouts(self, names: Collection[str]) -> float:
        """Return the number of TCP timeouts of some groups."""
        return math.fsum(
            group["all"]["tcp_timeouts"] or 0.0
            for run in self.runs
            for group in run.answer["groups"]
            if group["name"] in names
        )

    def _groups_of(self, place: int) -> list[str]:
        """Return the station groups of a cell."""
        return [group.name for group in self.scenario.stations if group.cell == place]

    @cached_property
    def _cells(self) -> dict[str, list[Mapping[str, Any]]]:
        """The core's records of each cell, replication by replication."""
        cells = self.scenario.cells or ()
        return {
            cell.name: [run.answer["cells"][place] for run in self.runs]
            for place, cell in enumerate(cells)
            if "cells" in self.runs[0].answer
        }

    def _always_sends(self, place: int) -> bool:
        """Return True if a cell has a flow that sends all the time."""
        return any(
            flow.application.kind == "udp" or is_endless(flow)
            for flow in self.scenario.flows
            if self.scenario.group(flow.stations).cell == place
        )


def _goodput_bps(traffic: Traffic) -> float | None:
    """Return the measured goodput of a traffic."""
    group, part = traffic.group, traffic.part
    values = [measured(run, "goodput_bps", group, part) or 0.0 for run in traffic.runs]
    return _mean(values)


def _total(traffic: Traffic, column: str) -> float:
    """Return one of the `SUMS` of recurrent transfers, added up over all replications."""
    return float(np.sum(traffic.sums(column, traffic.recurrent)))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _share(records: Sequence[Mapping[str, Any]], cause: str) -> float:
    """Return the share of a cell's transmissions that failed for one cause."""
    attempts = sum(record["attempts"] for record in records)
    return sum(record["failures"][cause] for record in records) / attempts if attempts else 0.0


def _successes(records: Sequence[Mapping[str, Any]]) -> int:
    """Return the number of a cell's transmissions that did not fail."""
    return sum(record["attempts"] - sum(record["failures"].values()) for record in records)

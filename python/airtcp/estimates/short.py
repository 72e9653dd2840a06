"""What a few short replications can tell: intervals, bounds, or nothing.

Knows when replications are too short for what they shall tell. Does not know how long there was
time for (`airtcp.run.glance`).

Short replications that begin empty see less waiting than long ones: transfers in progress, windows
and queues are yet to become what they will be. Then what grows with them has a lower bound, and
what follows from losses nothing. Stations that do not hear each other may keep each other off the
air for longer than a replication: where all replications have the same one, the next may not.
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
from airtcp.estimates.traffic import Run, Traffic, is_done, measured
from airtcp.estimates.windows import Windows
from airtcp.scenario.hearing import deaf_groups
from airtcp.scenario.keys.traffic import is_endless
from airtcp.stats import Interval

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario

#: Transfers last at most this part of a replication, or it is too short to see how many there are
#: at a time: then what takes time takes longer than it seems.
_LONGEST: Final = 0.1
#: The fewest transfers, pages or files that tell anything of those to come.
_FEWEST: Final = 30
#: A cell that hears others, or loses transmissions under theirs, for this share is disturbed; and
#: so many exchanges in a replication are the fewest of such a cell that tell of the next turns.
_DISTURBED: Final = 0.1
_FEWEST_TURNS: Final = 30
#: From so many timeouts of TCP on its timers decide what such a cell gets.
_TIMEOUTS: Final = 4
_PACKET_BITS: Final = 12_000
#: The metrics of transfers and pages, and all that becomes more with the packets that wait.
_OF_TRANSFERS: Final = re.compile(r"(transfer|page)_time_")
_OF_LOAD: Final = re.compile(
    r"(_s|queue_packets|active_flows|backlogged_nodes)$|^(mpdus_per|mean_cw|active_stations)"
)
#: Rates, and the shares of time that go with them.
_OF_RATE: Final = re.compile(r"goodput_bps$|utilization$|airtime_share$")
#: What a job with an end has in the mean of all its time, of which the first part says nothing.
_OF_TIME: Final = re.compile(
    r"(goodput_bps|utilization|airtime_share|active_flows|queue_packets|backlogged_nodes)$"
)
#: An interval is at least so many times as wide as both halves differ by, less what chance brings
#: at this level, and as this part of the mean: what comes later is not known better.
_TIMES: Final = 2.0
_CHANCE: Final = 0.5
_LEAST: Final = 0.02
#: The metrics that grow with the stations that contend, and what is in doubt of them in a state
#: that is not reached yet, as factors of odds.
_OF_CONTENTION: Final = re.compile(r"^(collision|simultaneous|failed_ppdu|mac_drop)")
_LESS_CONTENTION: Final = math.log(1.4)
_MORE_CONTENTION: Final = math.log(2.5)
#: The same of rates and shares of time: in general, of windows that fill larger aggregates, and the
#: least share of time that is busy.
_UNREACHED: Final = 0.1
_AGGREGATES: Final = math.log(1.5)
_LEAST_BUSY: Final = 0.1
#: What follows from losses, which come when queues are full.
_OF_LOSSES: Final = re.compile(r"(packet_loss|r_factor|queue_drop_probability)$")
#: The metrics that count what happens in a measured time that nobody has asked for.
_COUNTS: Final = ("tcp_retransmissions", "tcp_timeouts")


@dataclass(frozen=True, eq=False)
class Short:
    """Some short replications of `scenario`, whose warm-up and measured time are those of one."""

    runs: Sequence[Run]
    scenario: ResolvedScenario
    reached: bool = True

    def told(
        self, metric: str, interval: Interval, group: str | None = None, part: str = "all"
    ) -> Interval:
        """Leave of the interval of a metric what so short replications can tell.

        `mean` and `high` are None, and `low` what it is at least, of what becomes more than they
        show. Counts, and losses of replications that are too short, are not told.
        """
        nothing = Interval(None, None, None, interval.n)
        if metric in _COUNTS or (self.short_for and _OF_LOSSES.search(metric)):
            return nothing
        if not self.reached and _OF_TIME.search(metric):
            return nothing
        if group is not None and group in self._starved and _OF_TIME.search(metric):
            return nothing
        if metric.startswith("reorder_delay_p") and interval.high == 0.0:
            # Of so many packets none was out of order.
            return interval
        interval = self._as_wide(metric, interval, group, part)
        if self._is_more_later(metric, group, part):
            if not interval.low or interval.n < FEWEST_RUNS:
                return nothing
            # What begins at once waits for longer than what has spread out.
            return Interval(None, interval.low * math.exp(-_UNREACHED), None, interval.n)
        return interval

    def of_cell(self, name: str, goodput: Interval) -> Interval:
        """Leave of the goodput of a cell what so short replications can tell."""
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
        """Widen an interval by what halves differ by, and by what readers may take."""
        mean, low, high = interval.mean, interval.low, interval.high
        if mean is None or low is None or high is None or not mean > 0.0:
            return interval
        moved = None if self._drift.is_finite else self._drift.moved(metric, group, part)
        by = _LEAST * mean
        if moved is not None:
            by = max(by, _TIMES * math.sqrt(moved.surely(_CHANCE)))
        interval = widened(metric, interval, by)
        if self.short_for:
            interval = stretched(metric, interval, *self._unreached(metric, group))
        low, high = interval.low, interval.high
        if _OF_RATE.search(metric) and low is not None and high is not None:
            less, more = self._of_readers(group, part)
            interval = Interval(
                interval.mean, min(low, mean * less), max(high, mean * more), interval.n
            )
        return interval

    def _unreached(self, metric: str, group: str | None) -> tuple[float, float]:
        """Return what is in doubt of a metric, down and up, in a state that is not reached yet.

        More stations contend later than did so far. Windows that are yet to grow have the time
        that is idle, and fill aggregates; what one group gets then, another one may lose.
        """
        if _OF_CONTENTION.search(metric):
            return _LESS_CONTENTION, _MORE_CONTENTION
        if not _OF_RATE.search(metric):
            return 0.0, 0.0
        more = 0.0
        if {"windows", "sawteeth"} & set(self.short_for):
            more = -math.log(max(_LEAST_BUSY, 1.0 - self._idle))
            more += _AGGREGATES if self.scenario.mac.aggregation is not None else 0.0
        up = math.hypot(_UNREACHED, more)
        return (up if group is not None and len(self.scenario.stations) > 1 else _UNREACHED), up

    @cached_property
    def _idle(self) -> float:
        """The share of time in which the medium is idle."""
        return _mean([run.answer["airtime"]["idle"] for run in self.runs])

    def _of_readers(self, group: str | None, part: str) -> tuple[float, float]:
        """Return by which factors a rate may be less, and more, since few have read yet.

        Readers bring at most as much as if no page took longer than those that came; what takes the
        rest may lose as much.
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
        """Return the most that readers of a group bring; None where that is not known."""
        traffic = Traffic(self.runs, self.scenario, group, part)
        if not traffic.recurrent or not traffic.has_books:
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
        """The words of what they are too short for, so that waits and losses are not known.

        `transfers` that take long beside them; `windows` of endless connections that still grow;
        `sawteeth` of theirs that last longer than half of one; `readers` of whom they saw few.
        """
        found = {
            "transfers": not self.is_settled,
            "windows": self._windows.grow,
            "sawteeth": self._windows.are_cut_seldom and not self._windows.grow,
            "readers": self._readers < _FEWEST,
        }
        return tuple(word for word, is_so in found.items() if is_so)

    def _is_more_later(self, metric: str, group: str | None, part: str) -> bool:
        """Tell whether a metric becomes more than they show."""
        if not self.reached:
            return not self._is_done and bool(_OF_LOAD.search(metric))
        if not self.short_for:
            return False
        traffic = Traffic(self.runs, self.scenario, group, part)
        if metric == "active_flows":
            return bool(traffic.recurrent)
        if _OF_TRANSFERS.match(metric) and not traffic.recurrent:
            return False
        return bool(_OF_LOAD.search(metric))

    @cached_property
    def _is_done(self) -> bool:
        """True if all traffic is jobs that have ended: nothing comes later."""
        return is_done(self.runs, self.scenario)

    @cached_property
    def _readers(self) -> float:
        """The pages and files that were asked for, as many as would tell of sizes that are even.

        Means of uneven ones need as many more as the squared coefficient of variation says.
        """
        if not self._traffic.recurrent or not self._traffic.has_books:
            return math.inf
        uneven = max(map(unevenness, self.scenario.flows))
        return _total(self._traffic, "units") / max(1.0, uneven)

    @cached_property
    def _windows(self) -> Windows:
        return Windows.of_replications(self.runs, self.scenario)

    @cached_property
    def is_settled(self) -> bool:
        """Whether transfers are short next to a replication, so that it sees how many there are."""
        run = self.scenario.run
        whole_s = ((run.warmup_ns or 0) + run.duration_ns) / 1e9
        return self._lasting_s <= _LONGEST * whole_s

    @cached_property
    def _traffic(self) -> Traffic:
        return Traffic(self.runs, self.scenario, None, "all")

    @cached_property
    def _lasting_s(self) -> float:
        """Say how long transfers take by Little's law, those in progress at the end included.

        Of pages that are known the time until the last of their objects.
        """
        if not self._traffic.recurrent or not self._traffic.has_books:
            return 0.0
        transfers_s = _total(self._traffic, "active_s") / max(1.0, _total(self._traffic, "begun"))
        pages = loops(self._traffic, as_came=True)
        return max([transfers_s, *(one.page_time_s or 0.0 for one in pages)])

    @cached_property
    def disturbed(self) -> tuple[str, ...]:
        """The cells that hear others, or fail under theirs, for a share that is worth naming."""
        return tuple(
            name
            for name, records in self._cells.items()
            if _mean([record["airtime"]["heard"] for record in records]) >= _DISTURBED
            or _share(records, "neighbour") >= _DISTURBED
        )

    @cached_property
    def seldom(self) -> tuple[str, ...]:
        """The disturbed cells that always have something to send and hardly ever get through.

        So are those whose connections wait for timers, which become longer with each that expires.
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
        """The groups with stations that others do not hear, one of which got next to nothing.

        Which of them has the air may be drawn anew in the next replication.
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
        """Count the full packets that a group gets in the replication in which it gets most."""
        most_bps = max(measured(run, "goodput_bps", group, "all") or 0.0 for run in self.runs)
        return most_bps * self.scenario.run.duration_ns / 1e9 / _PACKET_BITS

    def _timeouts(self, names: Collection[str]) -> float:
        """Count the timeouts of TCP of some groups."""
        return math.fsum(
            group["all"]["tcp_timeouts"] or 0.0
            for run in self.runs
            for group in run.answer["groups"]
            if group["name"] in names
        )

    def _groups_of(self, place: int) -> list[str]:
        """The groups of stations of a cell."""
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
        """Tell whether a cell has a flow that never ends and never rests."""
        return any(
            flow.application.kind == "udp" or is_endless(flow)
            for flow in self.scenario.flows
            if self.scenario.group(flow.stations).cell == place
        )


def _goodput_bps(traffic: Traffic) -> float | None:
    """The goodput of a traffic, as it was measured."""
    group, part = traffic.group, traffic.part
    values = [measured(run, "goodput_bps", group, part) or 0.0 for run in traffic.runs]
    return _mean(values)


def _total(traffic: Traffic, column: str) -> float:
    """Add one of the books' sums up over all replications, of transfers that others follow."""
    return float(np.sum(traffic.sums(column, traffic.recurrent)))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _share(records: Sequence[Mapping[str, Any]], cause: str) -> float:
    """Return the share of a cell's transmissions that failed for a cause."""
    attempts = sum(record["attempts"] for record in records)
    return sum(record["failures"][cause] for record in records) / attempts if attempts else 0.0


def _successes(records: Sequence[Mapping[str, Any]]) -> int:
    """Count the transmissions of a cell that did not fail."""
    return sum(record["attempts"] - sum(record["failures"].values()) for record in records)

"""Intervals from the batches of one run, which resemble their neighbours and have one beginning.

Knows batches, and when they are too few or the run too short for what they shall tell. Does not
know how long a run there was time for (`airtcp.run.glance`).

Batch means: A. M. Law, "Simulation Modeling and Analysis", section 9.5.3. An interval of all
batches is too narrow where neighbours resemble each other. It is made as wide as that of longer
batches where these ask for more (G. S. Fishman, L. S. Yarberry, "An implementation of the batch
means method", INFORMS J. Comput. 9(3), 1997), and as wide as both halves of the run lie apart,
which tells of a beginning that is not forgotten yet. Cells that keep each other off the air may go
on so for longer than a run, or until they change places: where one has had next to no turns, no
batches of one run tell how wide an interval is, and there is none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from airtcp.estimates.laws import unevenness
from airtcp.estimates.loops import loops
from airtcp.estimates.parts import estimate
from airtcp.estimates.told import Estimate
from airtcp.estimates.traffic import HEAVY, Run, Traffic
from airtcp.estimates.windows import Windows
from airtcp.scenario.hearing import deaf_groups
from airtcp.scenario.keys.traffic import is_endless
from airtcp.stats import Interval, student_interval

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario

#: So many batches in a row are one longer batch, each of these in turn.
_LONGER: Final = (2, 4)
#: So many longer batches are the fewest that say anything.
_FEWEST_LONGER: Final = 4
#: A half width is at least so many times what the means of both halves differ by.
_DRIFT: Final = 2.0
#: Transfers last at most this part of the whole run, or it is too short to see how many there are
#: at a time: then what takes time takes longer than it seems.
_LONGEST: Final = 0.1
#: The fewest transfers whose mean time has an interval, and the fewest beyond a percentile.
_FEWEST: Final = 30
_FEWEST_BEYOND: Final = 10
#: The fewest large files of which goodput has an interval, where nothing else is carried.
_FEWEST_LARGE: Final = 3.0
#: A cell that hears others, or loses transmissions under theirs, for this share is disturbed; and
#: so many exchanges in a batch are the fewest of such a cell of which the next turns are known.
_DISTURBED: Final = 0.1
_FEWEST_TURNS: Final = 30
#: From so many timeouts of TCP on, one in four batches, its timers decide what such a cell gets.
_TIMEOUTS: Final = 4
_PACKET_BITS: Final = 12_000
#: The metrics of transfers and pages, and all that take longer with more of them in progress.
_OF_TRANSFERS: Final = re.compile(r"(transfer|page)_time_")
_OF_TIME: Final = re.compile(r"_s$")
#: The metrics of what becomes more with the packets that wait, those of losses apart; and the parts
#: of one, of which a run without any does not say how rare it is.
_OF_LOAD: Final = re.compile(r"(_s|queue_packets|active_flows|backlogged_nodes)$")
_OF_LOSSES: Final = re.compile(r"(packet_loss|r_factor|queue_drop_probability)$")
_PARTS: Final = re.compile(r"(_loss|_probability|_ratio|drop_probability_mac)$")
#: The metrics that count what happens in the measured time, which of a batch nobody has asked for.
_COUNTS: Final = ("tcp_retransmissions", "tcp_timeouts")
_GOODPUTS: Final = ("goodput_bps", "flow_goodput_bps")


@dataclass(frozen=True, eq=False)
class Batches:
    """The batches of one run of `scenario`, whose measured time is that of one batch."""

    runs: Sequence[Run]
    scenario: ResolvedScenario

    def interval(self, metric: str, group: str | None = None, part: str = "all") -> Interval:
        """The interval of a metric of everything, or of a group and a part of it.

        `mean` of a time is None, and `low` what it is at least, where the run is too short for its
        transfers to become as many as they would, or for windows that still grow; of a few
        transfers there is no `low` either. Losses and R are told of a run that is too short for
        nothing (`short_for`). Means of a few, and waits of such a run, have no `low` and no `high`.
        Raises KeyError for what there is not.
        """
        estimated = estimate(
            self.runs, self.scenario, metric, group=group, part=part, consecutive=True
        )
        interval, values = estimated.interval, estimated.values
        traffic = self._traffic if group is None else Traffic(self.runs, self.scenario, group, part)
        if None in values and traffic.recurrent and _OF_TRANSFERS.match(metric):
            pooled = _pooled(traffic, metric)
            if pooled is not None:
                values = pooled
                interval = student_interval(values, self.scenario.run.confidence)
        interval = self._as_wide(interval, values)
        if group is not None and metric in _GOODPUTS and self._takes_rest(group):
            interval = self._beside_readers(interval, self._goodputs[group].interval.mean)
        return self._as_known(
            interval, metric, traffic, one_sided=group is not None and self._have_it_all
        )

    def _as_known(
        self, interval: Interval, metric: str, traffic: Traffic, *, one_sided: bool
    ) -> Interval:
        """Leave of an interval what so short a run can tell; `one_sided`: without ends anyway."""
        of_transfers = bool(traffic.recurrent) and bool(_OF_TRANSFERS.match(metric))
        if metric in _COUNTS or (self.short_for and _OF_LOSSES.search(metric)):
            return Interval(None, None, None, interval.n)
        if self._is_more_later(metric, traffic):
            few = of_transfers and self._seen_of(traffic) < _FEWEST
            low = None if few else self._at_least(interval, metric)
            return Interval(None, low, None, interval.n)
        if interval.mean is None:
            return interval
        few = of_transfers and _total(traffic, "ended") < _needed(metric)
        if self.seldom or one_sided or few or self._is_unsure(metric, interval.mean):
            return Interval(interval.mean, None, None, interval.n)
        return interval

    @cached_property
    def short_for(self) -> tuple[str, ...]:
        """The words of what the run is too short for, so that waits and losses are not known.

        `transfers` that take long beside it; `windows` of endless connections that still grow;
        `sawteeth` of theirs that last longer than half of it; `readers` of whom it saw few.
        """
        found = {
            "transfers": not self.is_settled,
            "windows": self._windows.grow,
            "sawteeth": self._windows.are_cut_seldom and not self._windows.grow,
            "readers": self._readers < _FEWEST,
        }
        return tuple(word for word, is_so in found.items() if is_so)

    @cached_property
    def _readers(self) -> float:
        """The pages and files that were asked for, as many as would tell of sizes that are even.

        Means of uneven ones need as many more as the squared coefficient of variation says.
        """
        if not self._traffic.recurrent or not self._traffic.has_books:
            return math.inf
        return _total(self._traffic, "units") / max(1.0, self._unevenness)

    @cached_property
    def _unevenness(self) -> float:
        """The squared coefficient of variation of the most uneven sizes."""
        return max(map(unevenness, self.scenario.flows))

    @cached_property
    def _windows(self) -> Windows:
        return Windows.of_batches(self.runs, self.scenario)

    def _is_more_later(self, metric: str, traffic: Traffic) -> bool:
        """Tell whether a metric becomes more than the run shows."""
        if metric == "active_flows":
            return bool(traffic.recurrent) and "transfers" in self.short_for
        if _OF_TRANSFERS.match(metric) and not traffic.recurrent:
            return False
        grows = not {"transfers", "windows"}.isdisjoint(self.short_for)
        return grows and bool(_OF_LOAD.search(metric))

    def _is_unsure(self, metric: str, mean: float) -> bool:
        """Tell whether batches do not say how wide the interval of a metric is."""
        if metric in _GOODPUTS and 0.0 < self._readers < _FEWEST_LARGE:
            # Nothing but what a few large files bring.
            has_endless = any(map(is_endless, self.scenario.flows))
            return not has_endless and self._unevenness >= HEAVY
        if metric in _GOODPUTS or (metric == "active_flows" and not self._traffic.recurrent):
            return False
        of_load = self.short_for and bool(_OF_LOAD.search(metric))
        none_seen = mean == 0.0 and bool(_PARTS.search(metric))
        # R is no mean, but what delays and losses as rare as pages make of a call.
        return bool(of_load or none_seen or metric == "r_factor" or "windows" in self.short_for)

    def of_cell(self, name: str) -> Interval:
        """The interval of a cell's goodput: of what its groups get together.

        What batches of readers say by themselves is how many of them read at the moment.
        """
        place = list(self._cells).index(name)
        parts = [self._goodputs[group] for group in self._groups_of(place)]
        values = [record["goodput_bps"] for record in self._cells[name]]
        told = student_interval(values, self.scenario.run.confidence)
        if any(part.estimator != "plain" for part in parts):
            # A batch without the pages of a group has no value of it.
            together = zip(*(part.values for part in parts), strict=True)
            values = [math.fsum(one) for one in together if None not in one]
            told = _sum(student_interval(values, self.scenario.run.confidence), parts)
        told = self._as_wide(told, values)
        if self.seldom:
            return Interval(told.mean, None, None, told.n)
        takes_rest = any(self._takes_rest(group) for group in self._groups_of(place))
        return self._beside_readers(told, told.mean) if takes_rest else told

    @cached_property
    def _goodputs(self) -> dict[str, Estimate]:
        """The goodput of each group in both directions."""
        names = [group.name for group in self.scenario.stations]
        told = (
            estimate(self.runs, self.scenario, "goodput_bps", group=name, consecutive=True)
            for name in names
        )
        return dict(zip(names, told, strict=True))

    def _takes_rest(self, group: str) -> bool:
        """Tell whether a group has a flow without an end, which takes what others leave."""
        return any(flow.stations == group and is_endless(flow) for flow in self.scenario.flows)

    def _beside_readers(self, interval: Interval, goodput_bps: float | None) -> Interval:
        """Widen the interval of what takes the rest by the doubt about how much readers take.

        All are of one look, in which few of them may have read, and err together: their half widths
        are added. `goodput_bps` is that of what has the interval, which may be of one of its flows.
        """
        mean, half = interval.mean, interval.half_width
        if mean is None or half is None or not goodput_bps:
            return interval
        doubt = self._doubt_of_readers_bps
        if doubt is None:
            return Interval(mean, None, None, interval.n)
        half += doubt * mean / goodput_bps
        return Interval(mean, mean - half, mean + half, interval.n)

    @cached_property
    def _doubt_of_readers_bps(self) -> float | None:
        """The doubt about readers: by how much they may get more than they did; None if unknown."""
        doubts = []
        for group in self.scenario.stations:
            told = self._goodputs[group.name]
            if told.estimator == "plain":
                continue
            half = self._as_wide(told.interval, told.values).half_width
            if half is None:
                return None
            doubts.append(half + abs((told.interval.mean or 0.0) - (told.plain.mean or 0.0)))
        return math.fsum(doubts)

    @cached_property
    def disturbed(self) -> tuple[str, ...]:
        """The cells that hear others, or fail under theirs, for a share that is worth naming."""
        return tuple(
            name
            for name, records in self._cells.items()
            if (_mean([record["airtime"]["heard"] for record in records]) or 0.0) >= _DISTURBED
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
    def _have_it_all(self) -> bool:
        """Tell whether stations that others do not hear may keep these off the air for long.

        As a group shows that takes what is left, and gets next to nothing or waits for timers.
        """
        has_little = any(
            self._packets(group.name) < _FEWEST_TURNS * len(self.runs)
            or self._timeouts([group.name]) >= _TIMEOUTS
            for group in self.scenario.stations
            if self._takes_rest(group.name)
        )
        cells = range(len(self.scenario.cells or ()))
        return has_little and any(
            True for place in cells for _ in deaf_groups(self.scenario, place)
        )

    def _packets(self, group: str) -> float:
        """Count the full packets of a group."""
        bits = self._goodputs[group].plain.mean or 0.0
        measured_s = len(self.runs) * self.scenario.run.duration_ns / 1e9
        return bits * measured_s / _PACKET_BITS

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
        """The core's records of each cell, batch by batch."""
        cells = self.scenario.cells or ()
        return {
            cell.name: [run.answer["cells"][place] for run in self.runs]
            for place, cell in enumerate(cells)
        }

    def _always_sends(self, place: int) -> bool:
        """Tell whether a cell has a flow that never ends and never rests."""
        return any(
            flow.application.kind == "udp" or is_endless(flow)
            for flow in self.scenario.flows
            if self.scenario.group(flow.stations).cell == place
        )

    @cached_property
    def is_settled(self) -> bool:
        """Tell whether transfers are short beside the run, so that it sees how many there are."""
        run = self.scenario.run
        whole_s = ((run.warmup_ns or 0) + len(self.runs) * run.duration_ns) / 1e9
        return self._lasting_s <= _LONGEST * whole_s

    @cached_property
    def _traffic(self) -> Traffic:
        return Traffic(self.runs, self.scenario, None, "all")

    @property
    def _lasting_s(self) -> float:
        """Say how long transfers take by Little's law, those in progress at the end included.

        Of pages that are known the time until the last of their objects.
        """
        if not self._traffic.recurrent or not self._traffic.has_books:
            return 0.0
        transfers_s = _total(self._traffic, "active_s") / max(1.0, _total(self._traffic, "begun"))
        pages = loops(self._traffic, as_came=True)
        return max([transfers_s, *(one.page_time_s or 0.0 for one in pages)])

    def _seen_of(self, traffic: Traffic) -> float:
        """Count the transfers that began, and as many as were in progress in the mean."""
        measured_s = len(self.runs) * self.scenario.run.duration_ns / 1e9
        return _total(traffic, "begun") + _total(traffic, "active_s") / measured_s

    def _at_least(self, interval: Interval, metric: str) -> float | None:
        """Say what something takes at least, in a run in which ever more is in progress."""
        if metric == "transfer_time_s":
            return self._lasting_s
        low = interval.mean if interval.low is None else interval.low
        return None if low is None else max(0.0, low)

    def _as_wide(self, interval: Interval, values: Sequence[float | None]) -> Interval:
        """Widen an interval as far as longer batches, and both halves of the run, ask for."""
        if interval.mean is None or interval.half_width is None:
            return interval
        widths = [interval.half_width]
        for size in _LONGER:
            starts = range(0, len(values) - size + 1, size)
            if len(starts) < _FEWEST_LONGER:
                break
            means = [_mean(values[start : start + size]) for start in starts]
            longer = student_interval(means, self.scenario.run.confidence)
            widths.append(longer.half_width or 0.0)
        middle = len(values) // 2
        first, second = _mean(values[:middle]), _mean(values[middle:])
        if first is not None and second is not None:
            widths.append(_DRIFT * abs(second - first))
        half_width = max(widths)
        if half_width == interval.half_width:
            return interval
        return Interval(
            interval.mean, interval.mean - half_width, interval.mean + half_width, interval.n
        )


def _pooled(traffic: Traffic, metric: str) -> tuple[float, ...] | None:
    """Pseudo-values of the mean transfer time where some batches have none: Little's law.

    The jackknife of the time in progress over the transfers that began, by batches. None for all
    other metrics.
    """
    if metric != "transfer_time_s" or not traffic.has_books:
        return None
    active_s = traffic.sums("active_s", traffic.recurrent).sum(axis=1)
    begun = traffic.sums("begun", traffic.recurrent).sum(axis=1)
    n, others = len(begun), begun.sum() - begun
    if n < 2 or not (others > 0.0).all():
        return None
    without = (active_s.sum() - active_s) / others
    values = n * active_s.sum() / begun.sum() - (n - 1) * without
    return tuple(values.tolist())


def _sum(together: Interval, parts: Sequence[Estimate]) -> Interval:
    """The sum of parts: no narrower than `together`, the interval of the sums of their values."""
    means = [part.interval.mean for part in parts]
    known = [mean for mean in means if mean is not None]
    if len(known) < len(means):
        return Interval(None, None, None, together.n)
    halves = [part.interval.half_width for part in parts]
    if together.half_width is None or None in halves:
        return Interval(math.fsum(known), None, None, together.n)
    mean = math.fsum(known)
    half = max(together.half_width, math.hypot(*(one or 0.0 for one in halves)))
    return Interval(mean, mean - half, mean + half, together.n)


def _total(traffic: Traffic, column: str) -> float:
    """Add one of the books' sums up over all batches, of transfers that others follow."""
    return float(np.sum(traffic.sums(column, traffic.recurrent)))


def _needed(metric: str) -> float:
    """Say how many transfers a metric needs for an interval."""
    percentile = re.search(r"_p(\d+)_", metric)
    if percentile is None:
        return _FEWEST
    return max(_FEWEST, _FEWEST_BEYOND / (1.0 - float(percentile[1]) / 100.0))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _share(records: Sequence[Mapping[str, Any]], cause: str) -> float:
    """Return the share of a cell's transmissions that failed for a cause."""
    attempts = sum(record["attempts"] for record in records)
    return sum(record["failures"][cause] for record in records) / attempts if attempts else 0.0


def _successes(records: Sequence[Mapping[str, Any]]) -> int:
    """Count the transmissions of a cell that did not fail."""
    return sum(record["attempts"] - sum(record["failures"].values()) for record in records)

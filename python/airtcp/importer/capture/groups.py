"""Groups of similar stations: equal rate, and the same kinds of traffic in the same directions.

Decides whether transfers wait for each other, and which datagrams are speech.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from airtcp.importer.capture.laws import completed
from airtcp.importer.capture.radiotap import Sent
from airtcp.importer.capture.stations import Station
from airtcp.importer.capture.streams import Datagrams
from airtcp.importer.capture.transfers import DOWN, UP

#: If more of the transfers than this begin while another is active, they do not wait.
_OVERLAPPING: Final = 0.1
#: Datagram flows with fewer packets, or over a shorter part of the capture, are left out.
_LEAST_PACKETS: Final = 20
_LEAST_PART: Final = 0.2
#: The most datagram flows of a group.
_MOST_FLOWS: Final = 16


@dataclass
class Law:
    """The transfers of a group in one direction.

    `is_open`: transfers do not wait, and `pauses` are from one start to the next; otherwise from an
    end to the next start. `starts` only: one transfer for each station.
    """

    sizes: list[float]
    pauses: list[float]
    starts: list[float]
    requests: list[int]
    is_open: bool
    count: int
    cut: int
    replaced: list[int] = field(default_factory=list)


@dataclass
class Group:
    """Similar stations; `endless` counts connections by direction."""

    rate: Sent | None
    stations: list[Station]
    endless: tuple[int, int] = (0, 0)
    datagrams: tuple[int, ...] = ()
    laws: dict[int, Law] = field(default_factory=dict)


def steady(station: Station, way: int, duration_ns: int) -> list[Datagrams]:
    """Return the datagram flows with a constant bit rate, largest packets first."""
    found = [
        one
        for one in station.datagrams[way].values()
        if one.count >= _LEAST_PACKETS
        and one.is_steady
        and one.last_ns - one.first_ns >= _LEAST_PART * duration_ns
    ]
    found.sort(key=lambda one: (-one.largest, -one.bytes))
    return found[:_MOST_FLOWS]


def endless(station: Station, way: int) -> int:
    """Return the number of connections that never ended.

    If other transfers of the station ended, these were only cut off, and do not count.
    """
    one = station.transfers[way]
    return 0 if one.begins else len(one.endless)


def groups_of(
    stations: Sequence[tuple[Station, Sent | None]], begin_ns: int, end_ns: int
) -> list[Group]:
    """Return the groups, largest first."""
    alike: dict[object, Group] = {}
    for station, rate in stations:
        duration_ns = end_ns - begin_ns
        ends = endless(station, UP), endless(station, DOWN)
        sizes = tuple(
            (way, one.largest) for way in (UP, DOWN) for one in steady(station, way, duration_ns)
        )
        has = tuple(
            bool(one.begins or one.cut or (one.endless and not ends[way]))
            for way, one in enumerate(station.transfers)
        )
        if not (any(ends) or sizes or any(has)):
            continue
        # Ignore stray transfers of the other direction.
        both = [len(one.begins) + len(one.cut) for one in station.transfers]
        has = tuple(there and 20 * both[way] > sum(both) for way, there in enumerate(has))
        group = alike.setdefault(
            (rate, ends, sizes, has), Group(rate, [], ends, tuple(size for _, size in sizes))
        )
        group.stations.append(station)
        if any(has) and not group.laws:
            group.laws = {way: _EMPTY for way in (UP, DOWN) if has[way]}
    found = sorted(alike.values(), key=lambda group: -len(group.stations))
    for group in found:
        group.laws = {
            way: law
            for way in group.laws
            if (law := _law(group.stations, way, begin_ns, end_ns)) is not None
        }
    return found


_EMPTY: Final = Law([], [], [], [], is_open=False, count=0, cut=0)


def _law(stations: Sequence[Station], way: int, begin_ns: int, end_ns: int) -> Law | None:
    """Return the transfers of stations in a direction; None if none has a size."""
    each = [_Seen(station, way, begin_ns, end_ns) for station in stations]
    each = [one for one in each if one.begins]
    sizes = [size for one in each for size in one.sizes]
    cut = [size for one in each for size in one.cut]
    if not (sizes or cut):
        return None
    count = sum(len(one.begins) for one in each)
    overlapping = sum(one.overlapping for one in each)
    requests = [size for one in each for size in one.requests]
    law = Law(completed(sizes, cut), [], [], requests, is_open=False, count=count, cut=len(cut))
    if count <= len(each):
        law.starts = [one.begins[0] for one in each]
        return law
    law.is_open = overlapping > _OVERLAPPING * count
    first, pauses, unfinished = [], [], []
    for one in each:
        # The first transfer began before the capture.
        (begun, *seen), left = one.gaps(is_open=law.is_open)
        first.append(begun)
        pauses += seen
        unfinished += left
    law.pauses = completed(pauses or first, unfinished)
    return law


class _Seen:
    """The transfers of one station in order; times in seconds since the start of the capture."""

    def __init__(self, station: Station, way: int, begin_ns: int, end_ns: int) -> None:
        one = station.transfers[way]
        hidden = [] if endless(station, way) else one.endless
        # The start of a connection that never ended is not stored, so use the start of the capture.
        under_way = [*one.cut, *((begin_ns, size) for size in hidden)]
        spans = [
            *zip(one.begins, one.ends, one.sizes, strict=True),
            *((begin, end_ns + 1, size) for begin, size in under_way),
        ]
        spans.sort()
        self.duration = (end_ns - begin_ns) / 1e9
        self.begins = [(begin - begin_ns) / 1e9 for begin, _, _ in spans]
        self.ends = [(end - begin_ns) / 1e9 for _, end, _ in spans]
        self.sizes = [float(size) for _, end, size in spans if end <= end_ns]
        self.cut = [float(size) for _, end, size in spans if end > end_ns]
        self.requests = list(one.requests)
        self.overlapping, last = 0, -1.0
        for begin, end in zip(self.begins, self.ends, strict=True):
            self.overlapping += begin < last
            last = max(last, end)

    def gaps(self, *, is_open: bool) -> tuple[list[float], list[float]]:
        """Return the pauses, and those cut off by the end."""
        seen, last = [], 0.0
        for begin, end in zip(self.begins, self.ends, strict=True):
            seen.append(max(begin - last, 0.0))
            last = begin if is_open else max(last, end)
        left = self.duration - last
        return seen, [left] if left > 0.0 else []

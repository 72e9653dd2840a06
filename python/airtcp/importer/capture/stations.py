"""A basic service set and its stations: rates, attempts, losses, connections and datagrams."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from airtcp.importer.capture.connections import Connection, Told, Wait
from airtcp.importer.capture.radiotap import Radio, Sent
from airtcp.importer.capture.streams import Burst, Datagrams
from airtcp.importer.capture.transfers import Transfers
from airtcp.importer.source import phrase

MOST_STATIONS: Final = 4096
MOST_SETS: Final = 256
#: The most connections, and pairs of UDP ports, kept at a time for all stations.
MOST_CONNECTIONS: Final = 50_000
MOST_DATAGRAMS: Final = 20_000
#: If there are too many connections, those idle for this long are closed.
IDLE_NS: Final = 60 * 10**9
_REMEMBERED: Final = 512


class Station:
    """A station. Lists have the values for what it sends, then for what it receives."""

    __slots__ = (
        *("aggregated", "amsdu_bytes", "bad", "bursts", "bytes", "connections", "datagrams"),
        *("first_ns", "frames", "last_ns", "name", "protected", "qos", "recent", "retries"),
        *("sent", "told", "transfers"),
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.first_ns = self.last_ns = -1
        #: Data frames and their bytes by rate.
        self.sent: tuple[dict[Sent, list[int]], dict[Sent, list[int]]] = ({}, {})
        self.frames = [0, 0]
        self.bytes = [0, 0]
        self.retries = [0, 0]
        #: Frames with a wrong FCS that did not collide.
        self.bad = [0, 0]
        self.protected = 0
        self.qos = 0
        self.amsdu_bytes = 0
        self.aggregated = 0
        self.transfers = [Transfers(), Transfers()]
        self.told = [Told(), Told()]
        self.connections: dict[bytes, Connection] = {}
        self.datagrams: tuple[dict[bytes, Datagrams], dict[bytes, Datagrams]] = ({}, {})
        self.bursts = [Burst(), Burst()]
        #: The latest sequence numbers, by direction and TID.
        self.recent: dict[int, None] = {}

    def count(self, way: int, radio: Radio, size: int, *, is_retry: bool) -> None:
        """Count a data frame whose FCS is correct or unknown."""
        self.frames[way] += 1
        self.bytes[way] += size
        if is_retry:
            self.retries[way] += 1
        if radio.sent is not None:
            counts = self.sent[way].get(radio.sent)
            if counts is None:
                self.sent[way][radio.sent] = [1, size]
            else:
                counts[0] += 1
                counts[1] += size

    def is_again(self, number: int, *, is_retry: bool) -> bool:
        """Whether a frame was seen before, by direction, TID and sequence number."""
        recent = self.recent
        if is_retry and number in recent:
            return True
        recent.pop(number, None)
        recent[number] = None
        if len(recent) > _REMEMBERED:
            del recent[next(iter(recent))]
        return False


class ServiceSet:
    """An access point with its stations; `is_wired` means a capture without 802.11."""

    __slots__ = (
        *("beacon_bytes", "beacon_radio", "beacon_units", "beacons", "elements", "is_wired"),
        *("name", "stations", "wait", "without", "with_rts"),
    )

    def __init__(self, name: str, *, is_wired: bool = False) -> None:
        self.name = name
        self.is_wired = is_wired
        self.stations: dict[bytes, Station] = {}
        self.wait = Wait()
        self.beacons = self.beacon_units = self.beacon_bytes = 0
        self.beacon_radio: Radio | None = None
        #: Identifiers of elements of beacons; 256 is added to extension elements.
        self.elements: set[int] = set()
        #: The size of the smallest PSDU with data after an RTS, and of the largest without.
        self.with_rts = 1 << 20
        self.without = 0

    @property
    def bytes(self) -> int:
        """The bytes of data frames."""
        return sum(sum(one.bytes) for one in self.stations.values())


class Account:
    """Numbers of data frames that were left out of the scenario."""

    def __init__(self) -> None:
        self.left: dict[str, int] = {}

    def leave(self, reason: str, count: int = 1) -> None:
        """Count data frames that are left out, by a name in `capture.left`."""
        self.left[reason] = self.left.get(reason, 0) + count

    def lines(self) -> list[str]:
        """Return one line per reason."""
        return [
            f"{n} data frame{'s'[: n > 1]} {phrase(f'capture.left.{reason}')}"
            for reason, n in self.left.items()
        ]


def frames_of(one: ServiceSet) -> int:
    """Return the number of data frames of the stations of a set."""
    return sum(sum(station.frames) for station in one.stations.values())


def leave_others(account: Account, sets: Iterable[ServiceSet], chosen: ServiceSet) -> None:
    """Count the frames of all sets except the one that becomes the scenario."""
    count = sum(frames_of(one) for one in sets if one is not chosen and not one.is_wired)
    if count:
        account.leave("other_sets", count)

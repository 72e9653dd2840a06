"""A basic service set and its stations: rates, tries, losses, connections and datagrams of each.

Knows how each is counted. Does not know frames, nor what a scenario makes of the counts.
"""

from __future__ import annotations

from typing import Final

from airtcp.importer.capture.connections import Connection, Told, Wait
from airtcp.importer.capture.radiotap import Radio, Sent
from airtcp.importer.capture.streams import Burst, Datagrams
from airtcp.importer.capture.transfers import Transfers

MOST_STATIONS: Final = 4096
MOST_SETS: Final = 256
#: Connections, and pairs of UDP ports, that are kept at a time: of all stations.
MOST_CONNECTIONS: Final = 50_000
MOST_DATAGRAMS: Final = 20_000
#: An idle connection is taken for one that is over, where there are too many.
IDLE_NS: Final = 60 * 10**9
_REMEMBERED: Final = 512


class Station:
    """A station; lists have what it sends first, and then what is sent to it."""

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
        #: Frames with a wrong FCS that were alone on the air.
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
        #: The last sequence numbers, by direction and TID.
        self.recent: dict[int, None] = {}

    def count(self, way: int, radio: Radio, size: int, *, is_retry: bool) -> None:
        """Count a data frame with a right FCS, or one of which none is known."""
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
        """Tell whether a frame came before, by direction, TID and sequence number."""
        recent = self.recent
        if is_retry and number in recent:
            return True
        recent.pop(number, None)
        recent[number] = None
        if len(recent) > _REMEMBERED:
            del recent[next(iter(recent))]
        return False


class ServiceSet:
    """An access point with its stations; `is_wired`: of a capture without 802.11."""

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
        #: Identifiers of elements of beacons; those of extensions are 256 more.
        self.elements: set[int] = set()
        #: The smallest PSDU with data after an RTS, the largest without.
        self.with_rts = 1 << 20
        self.without = 0

    @property
    def bytes(self) -> int:
        """The bytes of data frames."""
        return sum(sum(one.bytes) for one in self.stations.values())

"""Data without TCP headers: datagrams, and frames with an unreadable payload."""

from __future__ import annotations

from airtcp.importer.capture.transfers import PAUSE_NS, Transfers

#: Packets up to this size count as ACKs for data of the other direction.
_MOST_ACK_BYTES = 120
#: The bit rate is constant if packets have one size, and no pause is longer than this many gaps.
_LONGEST_GAP = 20


class Datagrams:
    """UDP in one direction between two ports: packets, bytes, sizes and the longest pause."""

    __slots__ = ("bytes", "count", "first_ns", "largest", "last_ns", "longest_ns", "smallest")

    def __init__(self, time_ns: int) -> None:
        self.count = self.bytes = self.largest = self.longest_ns = 0
        self.smallest = 1 << 16
        self.first_ns = self.last_ns = time_ns

    def add(self, time_ns: int, size: int) -> None:
        """Add an IP packet."""
        self.count += 1
        self.bytes += size
        self.largest = max(self.largest, size)
        self.smallest = min(self.smallest, size)
        self.longest_ns = max(self.longest_ns, time_ns - self.last_ns)
        self.last_ns = time_ns

    @property
    def rate_bps(self) -> float:
        """The rate of IP packets: those after the first, over their time."""
        seconds = (self.last_ns - self.first_ns) / 1e9
        if self.count < 2 or seconds <= 0.0:
            return 0.0
        return 8 * self.bytes * (self.count - 1) / self.count / seconds

    @property
    def is_steady(self) -> bool:
        """Whether packets arrived throughout, as with a constant bit rate."""
        if self.count < 2:
            return False
        gap = (self.last_ns - self.first_ns) / (self.count - 1)
        return self.longest_ns < max(_LONGEST_GAP * gap, PAUSE_NS)


class Burst:
    """Unreadable packets of one direction; a pause of a second separates transfers."""

    __slots__ = ("begin_ns", "bytes", "last_ns", "packets")

    def __init__(self) -> None:
        self.begin_ns = self.last_ns = -1
        self.bytes = self.packets = 0

    def add(self, time_ns: int, size: int, overhead: int, into: Transfers) -> None:
        """Add a packet with `overhead` bytes of headers."""
        if self.packets and time_ns - self.last_ns >= PAUSE_NS:
            self.close(into)
        if not self.packets:
            self.begin_ns = time_ns
        self.packets += 1
        self.bytes += max(size - overhead, 0) if size > _MOST_ACK_BYTES else 0
        self.last_ns = time_ns

    def close(self, into: Transfers, end_ns: int = -1, duration_ns: int = 0) -> None:
        """Add the completed transfer, or one cut off by the end of the capture."""
        # Fewer than 40 bytes per packet: ACKs and requests.
        if self.packets and self.bytes >= 40 * self.packets:
            under_way = 0 <= end_ns < self.last_ns + PAUSE_NS
            if under_way and end_ns - self.begin_ns > duration_ns // 2:
                into.endless.append(self.bytes)
            elif under_way:
                into.cut.append((self.begin_ns, self.bytes))
            else:
                into.add(self.begin_ns, self.last_ns, self.bytes, 0)
        self.bytes = self.packets = 0

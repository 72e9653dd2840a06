"""Detect transfers: start, end and size of each.

Uses pauses, and changes of direction between two ends.
"""

from __future__ import annotations

from array import array
from typing import Final

UP, DOWN = 0, 1

#: A pause that separates the data of one end, if the data before it looked complete.
PAUSE_NS: Final = 10**9
#: How long a sender's consecutive timeouts may last.
STALL_NS: Final = 7 * 10**9
#: A request this soon after a response on the same connection belongs to the same transfer.
SAME_TRANSFER_NS: Final = 200 * 10**6
#: Transfers parallel to an endless connection with this many times their bytes are its control
#: traffic.
CONTROL: Final = 1000


class Transfers:
    """The transfers of a station in one direction; those in `cut` were active at the end."""

    __slots__ = ("begins", "cut", "endless", "ends", "requests", "sizes")

    def __init__(self) -> None:
        self.begins, self.ends = array("q"), array("q")
        self.sizes, self.requests = array("q"), array("q")
        #: Start, and bytes so far.
        self.cut: list[tuple[int, int]] = []
        #: Bytes of connections that sent throughout and never ended.
        self.endless: list[int] = []

    def add(self, begin_ns: int, end_ns: int, size: int, request: int) -> None:
        """Add a completed transfer."""
        self.begins.append(begin_ns)
        self.ends.append(end_ns)
        self.sizes.append(size)
        self.requests.append(request)


def leave_out_control(each: list[Transfers]) -> int:
    """Remove transfers with almost none of a station's bytes; return their number.

    Measurement programs such as iperf3 keep a control connection in addition to the data
    connection.
    """
    most = max((size for one in each for size in one.endless), default=0)
    others = sum(sum(one.sizes) + sum(size for _, size in one.cut) for one in each)
    count = 0
    for one in each:
        endless = [size for size in one.endless if size * CONTROL >= most]
        count += len(one.endless) - len(endless)
        one.endless = endless
        if others * CONTROL < most:
            count += len(one.begins) + len(one.cut)
            one.begins, one.ends, one.sizes, one.requests = (array("q") for _ in range(4))
            one.cut = []
    return count


class Exchange:
    """The data in progress between two ends: a request and its response, or one-way data."""

    __slots__ = ("begin_ns", "bytes", "first", "last_ns", "looks_ended", "turn")

    def __init__(self, begin_ns: int, first: int) -> None:
        self.begin_ns = self.last_ns = begin_ns
        self.first = self.turn = first
        self.bytes = [0, 0]
        self.looks_ended = False

    def is_over(self, time_ns: int, side: int) -> bool:
        """Whether data that `side` sends at this time begin another exchange."""
        gap = time_ns - self.last_ns
        if side != self.turn:
            return side == self.first and gap >= SAME_TRANSFER_NS
        return gap >= PAUSE_NS and self.looks_ended

    def add(self, time_ns: int, side: int, count: int, *, looks_ended: bool) -> None:
        """Add data of `side`; `looks_ended` means that the data may be complete."""
        self.turn = side
        self.last_ns = time_ns
        self.bytes[side] += count
        self.looks_ended = looks_ended

    def close(self, into: list[Transfers]) -> None:
        """Add the completed exchange to the transfers of the direction with more bytes."""
        up, down = self.bytes
        way = DOWN if down >= up else UP
        request = self.bytes[1 - way] if self.first != way else 0
        into[way].add(self.begin_ns, self.last_ns, self.bytes[way], request)

    def cut(self, into: list[Transfers], end_ns: int, duration_ns: int) -> None:
        """Add an exchange that was active at the end of the capture."""
        up, down = self.bytes
        way = DOWN if down >= up else UP
        is_long = end_ns - self.begin_ns > duration_ns // 2
        # A sender that lost a segment waits for its timer; a completed one does not continue.
        idle_ns = min(PAUSE_NS if self.looks_ended else STALL_NS, duration_ns // 4)
        if end_ns - self.last_ns >= idle_ns:
            self.close(into)
        elif is_long:
            into[way].endless.append(self.bytes[way])
        elif self.looks_ended:
            self.close(into)
        else:
            into[way].cut.append((self.begin_ns, self.bytes[way]))

"""Transfers as they are told apart: when each began and ended, and its bytes.

Knows pauses and turns of two ends. Does not know packets, nor what a scenario makes of transfers.
"""

from __future__ import annotations

from array import array
from typing import Final

UP, DOWN = 0, 1

#: A pause that divides data of one end, if what came before it looked like an end.
PAUSE_NS: Final = 10**9
#: Timeouts of a sender in a row last so long.
STALL_NS: Final = 7 * 10**9
#: A request so soon after an answer on one connection is part of the same transfer.
SAME_TRANSFER_NS: Final = 200 * 10**6
#: Transfers beside a connection that sends throughout, with so many times their bytes, control it.
CONTROL: Final = 1000


class Transfers:
    """The transfers of a station in one direction; those in `cut` were under way at the end."""

    __slots__ = ("begins", "cut", "endless", "ends", "requests", "sizes")

    def __init__(self) -> None:
        self.begins, self.ends = array("q"), array("q")
        self.sizes, self.requests = array("q"), array("q")
        #: Begin and bytes so far.
        self.cut: list[tuple[int, int]] = []
        #: The connections that sent throughout, and never ended: their bytes.
        self.endless: list[int] = []

    def add(self, begin_ns: int, end_ns: int, size: int, request: int) -> None:
        """Add one that has ended."""
        self.begins.append(begin_ns)
        self.ends.append(end_ns)
        self.sizes.append(size)
        self.requests.append(request)

    @property
    def is_empty(self) -> bool:
        """Tell whether there is none of any kind."""
        return not (self.begins or self.cut or self.endless)


def leave_out_control(each: list[Transfers]) -> int:
    """Leave out transfers of a station that next to nothing of its bytes are in; returns how many.

    A program that measures keeps a connection beside the one with data, as iperf3 does.
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
    """The data under way between two ends: a request and its answer, or data one way alone."""

    __slots__ = ("begin_ns", "bytes", "first", "last_ns", "looks_ended", "turn")

    def __init__(self, begin_ns: int, first: int) -> None:
        self.begin_ns = self.last_ns = begin_ns
        self.first = self.turn = first
        self.bytes = [0, 0]
        self.looks_ended = False

    def is_over(self, time_ns: int, side: int) -> bool:
        """Tell whether data of `side` belong to another exchange."""
        gap = time_ns - self.last_ns
        if side != self.turn:
            return side == self.first and gap >= SAME_TRANSFER_NS
        return gap >= PAUSE_NS and self.looks_ended

    def add(self, time_ns: int, side: int, count: int, *, looks_ended: bool) -> None:
        """Add data of `side`; `looks_ended`: nothing need follow them."""
        self.turn = side
        self.last_ns = time_ns
        self.bytes[side] += count
        self.looks_ended = looks_ended

    def close(self, into: list[Transfers]) -> None:
        """Add what is over to the transfers of its direction: where most of the bytes went."""
        up, down = self.bytes
        way = DOWN if down >= up else UP
        request = self.bytes[1 - way] if self.first != way else 0
        into[way].add(self.begin_ns, self.last_ns, self.bytes[way], request)

    def cut(self, into: list[Transfers], end_ns: int, duration_ns: int) -> None:
        """Add what was not over at the end of the capture."""
        up, down = self.bytes
        way = DOWN if down >= up else UP
        is_long = end_ns - self.begin_ns > duration_ns // 2
        # A sender whose segment was lost waits for its timer; one that is done does not come back.
        idle_ns = min(PAUSE_NS if self.looks_ended else STALL_NS, duration_ns // 4)
        if end_ns - self.last_ns >= idle_ns:
            self.close(into)
        elif is_long:
            into[way].endless.append(self.bytes[way])
        elif self.looks_ended:
            self.close(into)
        else:
            into[way].cut.append((self.begin_ns, self.bytes[way]))

"""TCP connections of a capture: transfers, options, windows, ACKs, and retransmissions.

A capture may begin in the middle of a connection or miss a part of it, so sizes follow from
sequence numbers (RFC 9293), not from the observed segments. Congestion windows are not visible in
packets.
"""

from __future__ import annotations

from typing import Final

from airtcp.importer.capture.transfers import DOWN, UP, Exchange, Transfers

_FIN, _SYN, _RST, _PSH, _ACK = 1, 2, 4, 8, 16
_MASK: Final = 0xFFFFFFFF
_HALF: Final = 1 << 31
_MOST_HOLES: Final = 64
#: A jump of sequence numbers beyond any window: another connection with the same ports, or damage.
_MOST_WINDOW: Final = 1 << 30
_MOST_SAMPLES: Final = 4096
_MOST_COUNTED: Final = 64
#: A SYN up to this long before the first data belongs to the same transfer.
_HANDSHAKE_NS: Final = 10 * 10**9
#: An ACK sooner than this did not wait for the delayed-ACK timer.
_LEAST_TIMER_NS: Final = 20 * 10**6


class Told:
    """Facts about TCP from the connections of a station, by direction of the data."""

    __slots__ = (
        *("acks_of", "ack_delays", "connections", "filled", "largest", "mss", "repeated"),
        *("sack", "scaling", "segments", "syns", "timestamps", "windows"),
    )

    def __init__(self) -> None:
        self.connections = self.syns = self.segments = 0
        #: Segments that were seen twice, and segments that filled a hole.
        self.repeated = self.filled = 0
        self.largest = 0
        #: Counts of ACKs by the number of full-sized segments that they acknowledge.
        self.acks_of = [0] * (_MOST_COUNTED + 1)
        self.ack_delays: list[int] = []
        #: The options in the SYNs of both ends: counts of connections.
        self.sack = self.scaling = self.timestamps = 0
        self.mss: dict[int, int] = {}
        #: Connections by the largest window that the receiving end advertised.
        self.windows: dict[int, int] = {}


class Wait:
    """The access point's queue as arrivals found it, in packets, and round trips on the wire."""

    __slots__ = ("least_wire_ns", "packets", "sent_down")

    def __init__(self) -> None:
        self.sent_down = 0
        #: Arrivals by the number of packets in the queue, including the arrival.
        self.packets: dict[int, int] = {}
        self.least_wire_ns = -1

    def find(self, mark: int) -> None:
        """Count an arrival, from the number of packets sent before it (`mark`) and now."""
        packets = self.sent_down - mark
        if packets in self.packets or len(self.packets) < _MOST_SAMPLES:
            self.packets[packets] = self.packets.get(packets, 0) + 1

    @property
    def limit(self) -> int:
        """The length of a full queue: the most frequent one, if there is any; 0 if unknown.

        A third duplicate ACK indicates a drop, which happens when the queue is full or nearly so. A
        segment that is lost twice is repeated much later, and does not tell the length of the
        queue.
        """
        count = sum(self.packets.values())
        if count < 5:
            return 0
        often = max(self.packets, key=lambda one: (self.packets[one], one))
        if self.packets[often] > 1 and often > 1:
            return often
        ordered = sorted(self.packets)
        return ordered[int(0.9 * (len(ordered) - 1))]


class _Half:
    """One direction of data."""

    __slots__ = (
        *("acked", "base", "duplicates", "holes", "largest", "mark", "mss", "options"),
        *("shift", "top", "unacked_ns", "window"),
    )

    def __init__(self) -> None:
        self.base = -1
        self.top = self.acked = 0
        #: From the SYN of the end that sends these data.
        self.mss = self.shift = -1
        self.options = 0
        #: The largest window advertised by the end that sends these data.
        self.window = 0
        self.largest = 0
        self.holes: list[tuple[int, int]] = []
        self.duplicates = 0
        self.mark = -1
        self.unacked_ns = -1

    def place(self, number: int) -> int:
        """Return a sequence number relative to the first, unwrapped near the latest one."""
        return self.top + ((number - self.base - self.top + _HALF) & _MASK) - _HALF


SACK, SCALING, TIMESTAMPS = 1, 2, 4


class Connection:
    """A connection between a station (its data are UP) and another end."""

    __slots__ = ("exchange", "finished", "halves", "last_ns", "syn_mark", "syn_ns")

    def __init__(self) -> None:
        self.halves = (_Half(), _Half())
        self.exchange: Exchange | None = None
        self.finished = 0
        self.last_ns = 0
        self.syn_ns = -1
        self.syn_mark = -1

    def segment(
        self,
        time_ns: int,
        side: int,
        header: tuple[int, int, int, int],
        payload: int,
        options: bytes,
        told: list[Told],
        transfers: list[Transfers],
        wait: Wait,
        *,
        is_retry: bool,
    ) -> None:
        """Handle a segment of `side`: number, ACK, flags and window of its header."""
        number, ack, flags, window = header
        half, other = self.halves[side], self.halves[1 - side]
        self.last_ns = time_ns
        if flags & _SYN:
            self._syn(time_ns, side, header, options, told, transfers, wait)
            return
        if half.options == 0 and options[:4] == b"\x01\x01\x08\x0a":
            half.options = TIMESTAMPS
        advertised = window << max(half.shift, 0) if other.shift >= 0 or half.shift < 0 else window
        half.window = max(half.window, advertised)
        if flags & _ACK and other.base >= 0:
            self._ack(time_ns, side, ack, payload, told, wait)
        if payload:
            self._data(time_ns, side, number, payload, flags, told, transfers, wait, is_retry)
        if flags & _RST:
            self.finished = 3
        elif flags & _FIN:
            self.finished |= 1 << side
        if self.finished == 3 and self.exchange is not None and not payload:
            self.exchange.close(transfers)
            self.exchange = None

    def _syn(
        self,
        time_ns: int,
        side: int,
        header: tuple[int, int, int, int],
        options: bytes,
        told: list[Told],
        transfers: list[Transfers],
        wait: Wait,
    ) -> None:
        number, _, flags, window = header
        half = self.halves[side]
        first = (number + 1) & _MASK
        if half.base >= 0 and half.base != first and not flags & _ACK:
            # The ports are reused.
            self.close(told, transfers)
            self.__init__()  # type: ignore[misc]
            half = self.halves[side]
        half.base = first
        half.mss, half.shift, half.options = _options(options)
        half.window = max(half.window, window)
        if not flags & _ACK:
            if self.syn_ns < 0:
                self.syn_ns = time_ns
                self.syn_mark = wait.sent_down if side == UP else -1
        elif self.syn_mark >= 0 and side == DOWN:
            wait.find(self.syn_mark)
            wire = time_ns - self.syn_ns
            if wait.least_wire_ns < 0 or wire < wait.least_wire_ns:
                wait.least_wire_ns = wire
            self.syn_mark = -1

    def _ack(
        self, time_ns: int, side: int, ack: int, payload: int, told: list[Told], wait: Wait
    ) -> None:
        """Handle an ACK for the data of the other side."""
        data = self.halves[1 - side]
        place = data.place(ack)
        ahead = place - data.acked
        if ahead > 0 and place <= data.top + 1:
            about = told[1 - side]
            size = data.largest
            if size and not payload and not data.duplicates:
                count, rest = divmod(ahead, size)
                if rest == 0 and count:
                    about.acks_of[min(count, _MOST_COUNTED)] += 1
                if ahead <= size and data.unacked_ns >= 0:
                    delay = time_ns - data.unacked_ns
                    if delay > _LEAST_TIMER_NS and len(about.ack_delays) < _MOST_SAMPLES:
                        about.ack_delays.append(delay)
            data.acked = place
            data.duplicates = 0
            data.unacked_ns = -1 if place >= data.top else time_ns
        elif ahead == 0 and not payload and data.top > data.acked:
            data.duplicates += 1
            if data.duplicates == 3 and side == UP:
                data.mark = wait.sent_down

    def _data(
        self,
        time_ns: int,
        side: int,
        number: int,
        payload: int,
        flags: int,
        told: list[Told],
        transfers: list[Transfers],
        wait: Wait,
        is_retry: bool,
    ) -> None:
        half, about = self.halves[side], told[side]
        if half.base < 0:
            half.base = number
        begin = half.place(number)
        end = begin + payload
        if not -_MOST_WINDOW < end - half.top < _MOST_WINDOW:
            return
        about.segments += 1
        half.largest = max(half.largest, payload)
        new = end - half.top
        if new <= 0:
            self._again(half, begin, end, about, wait, is_retry=is_retry)
            if self.exchange is not None:
                self.exchange.last_ns = time_ns
            return
        if begin > half.top and len(half.holes) < _MOST_HOLES:
            half.holes.append((half.top, begin))
        half.top = end
        if half.unacked_ns < 0:
            half.unacked_ns = time_ns
        exchange = self.exchange
        if exchange is None or exchange.is_over(time_ns, side):
            if exchange is not None:
                exchange.close(transfers)
                self.syn_ns = -1
            is_near = self.syn_ns >= 0 and time_ns - self.syn_ns < _HANDSHAKE_NS
            exchange = self.exchange = Exchange(self.syn_ns if is_near else time_ns, side)
            self.syn_ns = -1
        is_short = payload < half.largest
        exchange.add(time_ns, side, new, looks_ended=is_short or bool(flags & (_PSH | _FIN)))

    def _again(
        self, half: _Half, begin: int, end: int, about: Told, wait: Wait, *, is_retry: bool
    ) -> None:
        """Handle a repeated segment. A MAC retry (`is_retry`) is not a TCP retransmission."""
        if half.mark >= 0 and not is_retry:
            if half is self.halves[DOWN]:
                wait.find(half.mark)
            half.mark = -1
        for place, (low, high) in enumerate(half.holes):
            if low <= begin < high:
                about.filled += not is_retry
                del half.holes[place]
                if begin > low:
                    half.holes.append((low, begin))
                if end < high:
                    half.holes.append((end, high))
                return
        about.repeated += not is_retry

    def close(
        self,
        told: list[Told],
        transfers: list[Transfers],
        end_ns: int = -1,
        duration_ns: int = 0,
    ) -> None:
        """Add the facts of the connection; `end_ns` is the end of the capture, if reached."""
        if self.exchange is not None:
            if end_ns >= 0 and not self.finished:
                self.exchange.cut(transfers, end_ns, duration_ns)
            else:
                self.exchange.close(transfers)
            self.exchange = None
        up, down = self.halves
        both = up.options & down.options
        for side, half in enumerate(self.halves):
            if not half.top:
                continue
            about, receiver = told[side], self.halves[1 - side]
            about.connections += 1
            about.largest = max(about.largest, half.largest)
            about.windows[receiver.window] = about.windows.get(receiver.window, 0) + 1
            if receiver.mss > 0:
                about.mss[receiver.mss] = about.mss.get(receiver.mss, 0) + 1
            about.timestamps += bool(both & TIMESTAMPS)
            if up.mss >= 0 and down.mss >= 0:
                about.syns += 1
                about.sack += bool(both & SACK)
                about.scaling += bool(both & SCALING)


def _options(options: bytes) -> tuple[int, int, int]:
    """Return MSS (0: none), window shift (-1: none) and the other options of a SYN."""
    mss, shift, found, at = 0, -1, 0, 0
    while at < len(options):
        kind = options[at]
        if kind == 0:
            break
        if kind == 1:
            at += 1
            continue
        if at + 1 >= len(options) or options[at + 1] < 2:
            break
        value = options[at + 2 : at + options[at + 1]]
        if kind == 2 and len(value) == 2:
            mss = value[0] << 8 | value[1]
        elif kind == 3 and len(value) == 1:
            # RFC 7323, 2.3: 14 at most.
            shift, found = min(value[0], 14), found | SCALING
        elif kind == 4:
            found |= SACK
        elif kind == 8:
            found |= TIMESTAMPS
        at += options[at + 1]
    return mss, shift, found

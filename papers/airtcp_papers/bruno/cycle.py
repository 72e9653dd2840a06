"""Extract the cycles of a bursting access point from a capture of its frames.

This is independent of the simulator's count of virtual slots: it parses pcap and frames, and counts
slots from the times between frames. A burst ends when stations transmit, or when the access point
is silent for longer than DIFS.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from airtcp.present.drawing import BLUE, GREEN, INK, SKY, VERMILION, styled

if TYPE_CHECKING:
    from airtcp.scenario.keys.phy import Phy
    from matplotlib.figure import Figure

_FILE_HEADER: Final = 24
_DATA: Final = 0x08
_FROM_ACCESS_POINT: Final = 0x02
_BAD: Final = 0x40
_US: Final = 1_000


@dataclass(frozen=True, slots=True)
class Sent:
    """An exchange or a collision; times in ns, from its first frame to the end of its last."""

    by_ap: bool
    collision: bool
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a cycle to draw: the sender, the kind, and the times since the cycle's start."""

    who: str
    what: str
    begin_us: float
    end_us: float


@dataclass(frozen=True, slots=True)
class Burst:
    """A burst and the window after it: packets, virtual slots by kind, and a timeline."""

    packets: int
    successes: int
    collisions: int
    idle: int
    frames: list[Part] = field(default_factory=list)

    @property
    def slots(self) -> int:
        """Virtual slots from the end of the burst to the next one."""
        return self.successes + self.collisions + self.idle

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> Burst:
        """Create it from the output of `asdict`."""
        return cls(**{**kept, "frames": [Part(**part) for part in kept["frames"]]})


def cycles(capture: bytes, phy: Phy, *, from_ns: int, count: int) -> list[dict[str, Any]]:
    """Return the first `count` complete cycles that begin after `from_ns`, as plain data.

    Only the last one has its parts. The capture must have DSSS frames without RTS, and standard
    header sizes.
    """
    found: list[Burst] = []
    burst: list[Sent] = []
    window: list[Sent] = []
    begun = False
    for one in _transmissions(capture, phy):
        if not one.by_ap:
            # A collided packet is sent again, so the burst is not over yet.
            (burst if burst and burst[-1].collision else window).append(one)
            continue
        if burst and (window or _is_silent(burst[-1], one, phy)):
            # The first burst found may have begun earlier.
            if begun:
                found.append(_cycle(burst, window, one, phy, drawn=len(found) == count - 1))
            if len(found) == count:
                break
            begun = one.begin >= from_ns
            burst, window = [], []
        burst.append(one)
    return [asdict(one) for one in found]


def _is_silent(before: Sent, after: Sent, phy: Phy) -> bool:
    """Return whether the access point left idle slots between two of its own frames."""
    return not before.collision and after.begin > before.end + phy.difs_ns


def _cycle(
    burst: Sequence[Sent], window: Sequence[Sent], following: Sent, phy: Phy, *, drawn: bool
) -> Burst:
    begin = burst[0].begin
    parts: list[Part] = []

    def part(who: str, what: str, start: int, end: int) -> None:
        if drawn:
            parts.append(Part(who, what, (start - begin) / _US, (end - begin) / _US))

    for one in burst:
        who = "access point" if one.by_ap else "stations"
        part(who, "collision" if one.collision else "success", one.begin, one.end)
    idle = successes = collisions = 0
    # Slots begin DIFS after a decoded frame, EIFS after an undecoded one.
    origin = burst[-1].end + (phy.eifs_ns if burst[-1].collision else phy.difs_ns)
    for one in (*window, following):
        silent = max(0, one.begin - origin) // phy.slot_time_ns
        for slot in range(silent):
            start = origin + slot * phy.slot_time_ns
            part("virtual slots", "idle", start, start + phy.slot_time_ns)
        idle += silent
        if one is following:
            break
        what = "collision" if one.collision else "success"
        part("stations", what, one.begin, one.end)
        part("virtual slots", what, one.begin, one.end)
        collisions += one.collision
        successes += not one.collision
        origin = one.end + (phy.eifs_ns if one.collision else phy.difs_ns)
    packets = sum(one.by_ap and not one.collision for one in burst)
    return Burst(packets, successes, collisions, idle, parts)


def _transmissions(capture: bytes, phy: Phy) -> Iterator[Sent]:
    """Yield exchanges and collisions; frames that start together are one collision."""
    pending: Sent | None = None
    for begin, end, from_ap, is_data, bad in _frames(capture, phy):
        if pending is not None and is_data and bad and begin == pending.begin:
            pending = Sent(pending.by_ap or from_ap, True, begin, max(end, pending.end))
            continue
        if is_data:
            if pending is not None:
                yield pending
            pending = Sent(from_ap, bad, begin, end)
        elif pending is not None:
            # The MAC ACK.
            pending = Sent(pending.by_ap, False, pending.begin, end)
    if pending is not None:
        yield pending


def _frames(capture: bytes, phy: Phy) -> Iterator[tuple[int, int, bool, bool, bool]]:
    """Yield start and end, whether from the access point, whether data, whether lost."""
    if phy.dsss is None:
        raise ValueError("the capture is to be of DSSS frames")
    preamble = phy.dsss.preamble_time_ns + phy.dsss.plcp_header_time_ns
    place = _FILE_HEADER
    while place < len(capture):
        seconds, nanos, kept, length = struct.unpack_from("<IIII", capture, place)
        (radiotap,) = struct.unpack_from("<H", capture, place + 18)
        flags, rate = capture[place + 32 : place + 34]
        kind, direction = capture[place + 16 + radiotap : place + 18 + radiotap]
        bits = 8 * (length - radiotap)
        payload = -(-bits * 2 // rate) * _US  # the rate is in units of 500 kb/s
        begin = seconds * 1_000_000_000 + nanos
        is_data = kind == _DATA
        from_ap = bool(direction & _FROM_ACCESS_POINT)
        yield begin, begin + preamble + payload, from_ap, is_data, bool(flags & _BAD)
        place += 16 + kept


_ROWS: Final = ("access point", "stations")
_SLOTS: Final = "virtual slots"
_COLOURS: Final = {"idle": SKY, "success": GREEN, "collision": VERMILION}


def draw(cycle: Burst) -> Figure:
    """Draw a cycle over time: the transmissions, and the access point's virtual slots below."""
    from matplotlib.figure import Figure as Empty
    from matplotlib.patches import Patch

    with styled():
        figure = Empty(figsize=(6.6, 3.1), layout="constrained")
        over_time, by_slot = figure.subplots(2, 1, height_ratios=(2, 1))
        in_time = [part for part in cycle.frames if part.who in _ROWS]
        for part in in_time:
            row = _ROWS.index(part.who)
            colour = BLUE if (part.who, part.what) == (_ROWS[0], "success") else None
            over_time.broken_barh(
                [(part.begin_us / 1e3, (part.end_us - part.begin_us) / 1e3)],
                (len(_ROWS) - 1 - row - 0.35, 0.7),
                facecolor=colour or _COLOURS[part.what],
                linewidth=0.0,
            )
        over_time.set_yticks(range(len(_ROWS)), _ROWS[::-1])
        over_time.set_xlabel("time from the beginning of the cycle (ms)")
        over_time.set_xlim(0.0, 1.01 * max(part.end_us for part in cycle.frames) / 1e3)
        # On the time axis an idle slot is thinner than a line, so here all slots have the same
        # width.
        slots = [part for part in cycle.frames if part.who == _SLOTS]
        for number, part in enumerate(slots, 1):
            by_slot.broken_barh(
                [(number - 0.45, 0.9)],
                (-0.35, 0.7),
                facecolor=_COLOURS[part.what],
                linewidth=0.0,
            )
        by_slot.set_yticks([0], [_SLOTS])
        by_slot.set_xlabel("virtual slot of the window")
        by_slot.set_xlim(0.0, len(slots) + 1.0)
        for axes in (over_time, by_slot):
            axes.grid(visible=False, axis="y")
            axes.tick_params(axis="y", labelcolor=INK)
        handles = [
            Patch(color=colour, label=label)
            for label, colour in (
                ("packet of the burst", BLUE),
                ("success of a station", GREEN),
                ("collision", VERMILION),
                ("idle slot", SKY),
            )
        ]
        figure.legend(handles=handles, loc="outside upper left", ncols=4, handlelength=1.0)
        return figure

"""Queue disciplines of one's own: a class of Python that orders, drops and marks packets.

Knows the methods that such a class has, and how a scenario names it. Does not know what is in a
packet, nor when the MAC gets at the medium: then the class is asked which packet goes.

A class is made without arguments for each queue, and has

    on_arrival(packet, now_ns, is_full)  returns the packet that is dropped, or None; one of a
                                         full queue must be
    next(receiver)                       returns the packet that goes next, of those for a receiver
                                         unless that is None; None if there is none
    on_departure(packet, now_ns)         takes out what `next` has returned: None sends it, "mark"
                                         marks it (CE, RFC 3168) or drops it where its transport
                                         has no ECN, "drop" drops it, and `next` is asked again
    on_filtered(packet)                  takes out an ACK that `ack_filter` has dropped

A packet has `id`, the number of its arrival, `flow`, `receiver`, `size` in bytes, `arrived_ns`, and
`is_ack`.

    class Last(airtcp.queues.Fifo):
        def next(self, receiver):
            return max(self.of(receiver), key=lambda one: one.id, default=None)

    airtcp.queues.register("last", Last)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, Protocol, Self

from .choices import DISCIPLINES
from .choices import Discipline as _Choice
from .plugins import Kind, registered

__all__ = ["Discipline", "Fate", "Fifo", "Packet", "register"]

_METHODS: Final = ("on_arrival", "next", "on_departure", "on_filtered")

Fate = Literal["mark", "drop"] | None
"""What becomes of the packet that goes next: None sends it."""


class Packet(Protocol):
    """A packet that waits, or comes."""

    id: int
    flow: int
    receiver: int
    size: int
    arrived_ns: int
    is_ack: bool


class Discipline(Protocol):
    """The discipline of one queue."""

    def on_arrival(self, packet: Packet, now_ns: int, is_full: bool) -> Packet | None:
        """Takes a packet in; returns the one that is dropped, if one is."""

    def next(self, receiver: int | None) -> Packet | None:
        """Returns the packet that goes next."""

    def on_departure(self, packet: Packet, now_ns: int) -> Fate:
        """Takes out the packet that `next` has returned, and says what becomes of it."""

    def on_filtered(self, packet: Packet) -> None:
        """Takes out an ACK that a filter has dropped."""


class Fifo:
    """First in, first out; what does not fit is dropped on arrival.

    It gives the outcomes of `discipline = "fifo"` bit for bit where an access serves one packet;
    with aggregation it serves the station of the oldest packet.
    """

    packets: dict[int, Packet]
    """The packets that wait, by number, in the order of arrival."""

    def __new__(cls) -> Self:
        """Makes a queue without packets, also for an `__init__` that does not call its base's."""
        queue = super().__new__(cls)
        queue.packets = {}
        return queue

    def of(self, receiver: int | None) -> Iterator[Packet]:
        """The packets for a receiver, or all, the oldest first."""
        waiting = self.packets.values()
        return (one for one in waiting if receiver is None or one.receiver == receiver)

    def on_arrival(self, packet: Packet, now_ns: int, is_full: bool) -> Packet | None:
        """Takes a packet in if there is room, and else drops it."""
        if is_full:
            return packet
        self.packets[packet.id] = packet
        return None

    def next(self, receiver: int | None) -> Packet | None:
        """Returns the oldest."""
        return next(self.of(receiver), None)

    def on_departure(self, packet: Packet, now_ns: int) -> Fate:
        """Sends the packet."""
        del self.packets[packet.id]
        return None

    def on_filtered(self, packet: Packet) -> None:
        """Takes out an ACK that a filter has dropped."""
        del self.packets[packet.id]


def register(name: str, discipline: type[Discipline]) -> str:
    """Registers a class as a queue discipline, which `queue = { discipline = "NAME" }` names.

    Returns the word of the resolved form: the name, "@" and a hash of the class's code. To register
    it once more does nothing.

    Raises:
        PluginError: a name that is taken or no word, a class without one of the methods, or one
            whose code cannot be read.
    """
    from . import _core

    kind = Kind("queue discipline", DISCIPLINES, _METHODS, "airtcp.queues.Fifo")
    return registered(
        kind,
        name,
        discipline,
        _core.register_discipline,
        lambda word: _Choice(
            word=word,
            name=name,
            phrase=f" with the discipline {name}",
            qdisc=None,
            leaves_stations=False,
        ),
    )

"""Custom queue disciplines: a Python class that orders, drops and marks packets.

The MAC decides when to send; the class then chooses the packet.

airtcp creates one instance per queue, without arguments. A class has

    on_arrival(packet, now_ns, is_full)  returns the packet to drop, or None; if the queue is full,
                                         it must drop one
    next(receiver)                       returns the packet to send next, among those for `receiver`
                                         unless that is None; returns None if there is none
    on_departure(packet, now_ns)         removes the packet that `next` returned: None sends it,
                                         "mark" marks it (CE, RFC 3168) or drops it if its transport
                                         has no ECN, "drop" drops it, and `next` is called again
    on_filtered(packet)                  removes an ACK that `ack_filter` has dropped

A packet has `id` (the number of its arrival), `flow`, `receiver`, `size` in bytes, `arrived_ns`,
and `is_ack`.

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

_KIND: Final = Kind(
    "queue discipline",
    DISCIPLINES,
    ("on_arrival", "next", "on_departure", "on_filtered"),
    "airtcp.queues.Fifo",
    "register_discipline",
    lambda name, word: _Choice(
        word=word, name=name, phrase=f" with the discipline {name}", leaves_stations=False
    ),
)

Fate = Literal["mark", "drop"] | None
"""What happens to the packet at dequeue: None sends it."""


class Packet(Protocol):
    """A packet that arrives or is queued."""

    id: int
    flow: int
    receiver: int
    size: int
    arrived_ns: int
    is_ack: bool


class Discipline(Protocol):
    """The discipline of one queue."""

    def on_arrival(self, packet: Packet, now_ns: int, is_full: bool) -> Packet | None:
        """Enqueue a packet. Return the packet to drop, if any."""

    def next(self, receiver: int | None) -> Packet | None:
        """Return the next packet to send."""

    def on_departure(self, packet: Packet, now_ns: int) -> Fate:
        """Dequeue the packet that `next` returned, and decide whether to send, mark or drop it."""

    def on_filtered(self, packet: Packet) -> None:
        """Remove an ACK that a filter has dropped."""


class Fifo:
    """First in, first out with tail drop.

    If each channel access serves one packet, the results equal `discipline = "fifo"` bit
    for bit. With aggregation it serves the station of the oldest packet.
    """

    packets: dict[int, Packet]
    """The queued packets by number, in the order of arrival."""

    def __new__(cls) -> Self:
        """Create an empty queue, even if a subclass does not call this class's `__init__`."""
        queue = super().__new__(cls)
        queue.packets = {}
        return queue

    def of(self, receiver: int | None) -> Iterator[Packet]:
        """Return the packets for a receiver, or all packets, oldest first."""
        waiting = self.packets.values()
        return (one for one in waiting if receiver is None or one.receiver == receiver)

    def on_arrival(self, packet: Packet, now_ns: int, is_full: bool) -> Packet | None:
        """Enqueue a packet, or drop it if the queue is full."""
        if is_full:
            return packet
        self.packets[packet.id] = packet
        return None

    def next(self, receiver: int | None) -> Packet | None:
        """Return the oldest packet."""
        return next(self.of(receiver), None)

    def on_departure(self, packet: Packet, now_ns: int) -> Fate:
        """Send the packet."""
        del self.packets[packet.id]
        return None

    def on_filtered(self, packet: Packet) -> None:
        """Remove an ACK that a filter has dropped."""
        del self.packets[packet.id]


def register(name: str, discipline: type[Discipline]) -> str:
    """Register a class as a queue discipline, to be used as `queue = { discipline = "NAME" }`.

    Registering the same class again has no effect. Returns the name in the
    resolved scenario. Raises the errors of `airtcp.plugins.registered`.
    """
    return registered(_KIND, name, discipline)

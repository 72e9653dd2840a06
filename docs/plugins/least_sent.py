"""Least attained service by flow: packets of the flow that has sent the fewest bytes go first.

Short transfers overtake long ones without knowledge of their sizes; see L. Kleinrock, "Queueing
Systems", volume 2, 1976, section 4.7, for the discipline among jobs. A full queue drops the newest
packet of the flow that has sent most.
"""

from collections import defaultdict

import airtcp
from airtcp.queues import Fate, Packet


class LeastSent(airtcp.queues.Fifo):
    """Count the bytes that each flow has sent through this queue."""

    def __init__(self) -> None:
        super().__init__()
        self._sent: defaultdict[int, int] = defaultdict(int)

    def next(self, receiver: int | None) -> Packet | None:
        """Return the oldest packet of the flow that has sent least."""
        return min(self.of(receiver), key=lambda one: (self._sent[one.flow], one.id), default=None)

    def on_arrival(self, packet: Packet, now_ns: int, is_full: bool) -> Packet | None:
        """Enqueue the packet, or drop the newest one of the flow that has sent most."""
        self.packets[packet.id] = packet
        if not is_full:
            return None
        victim = max(self.packets.values(), key=lambda one: (self._sent[one.flow], one.id))
        del self.packets[victim.id]
        return victim

    def on_departure(self, packet: Packet, now_ns: int) -> Fate:
        """Count the packet and transmit it."""
        self._sent[packet.flow] += packet.size
        return super().on_departure(packet, now_ns)


airtcp.queues.register("least-sent", LeastSent)

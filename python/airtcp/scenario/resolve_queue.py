"""From a written queue to the resolved one.

Knows which keys belong to which discipline, and how long the packet is with which random early
detection counts idle time. Does not know whose queue it is.
"""

from __future__ import annotations

from collections.abc import Callable

from .. import standards
from ..airtime import exchange_ns, needs_rts
from .declare import written
from .errors import InvalidError, Path
from .keys.phy import Phy, Rate
from .keys.queue import PlainQueue, Queue, Red, RedQueue
from .quantities import Written

__all__ = ["on_air_ns", "on_wire_ns", "resolve_queue"]

_IDLE_BITS = 8 * standards.RED_IDLE_PACKET_BYTES


def on_air_ns(
    phy: Phy, rts_threshold_bytes: int | None, data_rate: Rate, control_rate: Rate
) -> int:
    """How long the packet of random early detection takes on the air, at these rates."""
    rts = needs_rts(phy, _IDLE_BITS, rts_threshold_bytes)
    return exchange_ns(phy, _IDLE_BITS, data_rate, control_rate, rts=rts)


def on_wire_ns(rate_bps: int) -> int:
    """The same on a wired link."""
    return -(-_IDLE_BITS * 10**9 // rate_bps)


def resolve_queue(queue: Written, here: Path, idle_ns: Callable[[], int]) -> Queue:
    """The resolved queue; `idle_ns` tells how long a packet takes at the rate that serves it.

    Raises:
        InvalidError: keys of another discipline, or thresholds in the wrong order.
    """
    if queue.discipline == "red":
        red = Red.of(queue, idle_packet_time_ns=idle_ns())
        if red.min_threshold >= red.max_threshold:
            key = "min_threshold" if queue.given("min_threshold") else "max_threshold"
            raise InvalidError(
                (*here, key),
                f"min_threshold is {red.min_threshold:g} and max_threshold {red.max_threshold:g}; "
                "allowed: min_threshold < max_threshold",
            )
        return RedQueue.of(queue, discipline="red", limit=queue.limit, red=red)
    for key in written(Red).allowed_keys():
        if queue.given(key):
            raise InvalidError(
                (*here, key),
                f'means nothing to the discipline "{queue.discipline}"; '
                'allowed: together with discipline = "red"',
            )
    return PlainQueue.of(queue)

"""From a written queue to the resolved one.

Knows which keys belong to which discipline, and how long the packet is with which random early
detection counts idle time. Does not know whose queue it is.
"""

from __future__ import annotations

from .. import standards
from ..airtime import exchange_ns, needs_rts
from .declare import written
from .errors import InvalidError, Path
from .keys.phy import Phy, Rate
from .keys.queue import PlainQueue, Queue, Red, RedQueue
from .quantities import Written

__all__ = ["resolve_queue"]


def resolve_queue(
    queue: Written,
    here: Path,
    phy: Phy,
    rts_threshold_bytes: int | None,
    data_rate: Rate,
    control_rate: Rate,
) -> Queue:
    """The resolved queue; the rates are those at which it is served.

    Raises:
        InvalidError: keys of another discipline, or thresholds in the wrong order.
    """
    if queue.discipline == "red":
        bits = 8 * standards.RED_IDLE_PACKET_BYTES
        rts = needs_rts(phy, bits, rts_threshold_bytes)
        idle = exchange_ns(phy, bits, data_rate, control_rate, rts=rts)
        red = Red.of(queue, idle_packet_time_ns=idle)
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

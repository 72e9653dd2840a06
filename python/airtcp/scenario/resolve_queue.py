"""From a written queue to the resolved one.

Knows which keys belong to which discipline, and how long the packet is with which random early
detection counts idle time. Does not know whose queue it is.
"""

from __future__ import annotations

from typing import TypeVar

from .. import standards
from ..airtime import exchange_ns, needs_rts
from . import resolved, written
from .errors import InvalidError

__all__ = ["resolve_queue"]

Path = tuple[str | int, ...]
T = TypeVar("T")


def resolve_queue(
    queue: written.Queue | None,
    here: Path,
    phy: resolved.Phy,
    rts_threshold_bytes: int | None,
    data_rate: resolved.Rate,
    control_rate: resolved.Rate,
) -> resolved.Queue:
    """The resolved queue; the rates are those at which it is served.

    Raises:
        InvalidError: keys of another discipline, or thresholds in the wrong order.
    """
    queue = queue or written.Queue()
    if queue.discipline == "red":
        bits = 8 * standards.RED.idle_packet_bytes
        rts = needs_rts(phy, bits, rts_threshold_bytes)
        idle = exchange_ns(phy, bits, data_rate, control_rate, rts=rts)
        return resolved.RedQueue(discipline="red", limit=queue.limit, red=_red(queue, here, idle))
    discipline = queue.discipline or "fifo"
    for key in ("min_threshold", "max_threshold", "max_probability", "weight"):
        if getattr(queue, key) is not None:
            raise InvalidError(
                (*here, key),
                f'means nothing to the discipline "{discipline}"; '
                'allowed: together with discipline = "red"',
            )
    return resolved.PlainQueue(discipline=discipline, limit=queue.limit)


def _red(queue: written.Queue, here: Path, idle_packet_time_ns: int) -> resolved.Red:
    default = standards.RED
    low = _or(queue.min_threshold, default.min_threshold)
    high = _or(queue.max_threshold, default.max_threshold)
    if low >= high:
        raise InvalidError(
            (*here, "min_threshold" if queue.min_threshold is not None else "max_threshold"),
            f"min_threshold is {low:g} and max_threshold {high:g}; "
            "allowed: min_threshold < max_threshold",
        )
    return resolved.Red(
        min_threshold=float(low),
        max_threshold=float(high),
        max_probability=float(_or(queue.max_probability, default.max_probability)),
        weight=float(_or(queue.weight, default.weight)),
        idle_packet_time_ns=idle_packet_time_ns,
    )


def _or(given: T | None, default: T) -> T:
    return default if given is None else given

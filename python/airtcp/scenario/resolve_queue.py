"""Resolve queues and wired links.

Checks which keys of a queue belong to which discipline, and computes their defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final

from .. import standards
from ..airtime import Rate, exchange_ns, needs_rts
from ..choices import DISCIPLINES
from ..units import format_time_ns
from .declare import Table, written
from .errors import Path, above, invalid, phrase
from .keys.phy import Phy
from .keys.queue import (
    UNLIMITED,
    Codel,
    CodelQueue,
    Fq,
    FqCodelQueue,
    OwnQueue,
    PlainQueue,
    Queue,
    Red,
    RedQueue,
)
from .keys.stations import StationGroup
from .keys.traffic import Link, Loss
from .quantities import Written

_IDLE_BITS = 8 * standards.RED_IDLE_PACKET_BYTES


@dataclass(frozen=True)
class Network:
    """The queues of access points and stations, and the links that flows may name."""

    ap_queues: tuple[Queue, ...]
    """One for each cell. `StationGroup.cell` is an index into it."""
    groups: tuple[StationGroup, ...]
    links: Mapping[str, Link]

    def first_queue(self, stations: str, direction: str) -> Queue:
        """Return the queue of the node that transmits these stations' packets over the air."""
        group = self._by_name[stations]
        return self.ap_queues[group.cell or 0] if direction == "download" else group.queue

    @cached_property
    def _by_name(self) -> dict[str, StationGroup]:
        return {group.name: group for group in self.groups}

    def marks(self, stations: str, path: tuple[Link | str, ...]) -> bool:
        """Return whether a queue between these stations and their server marks packets."""
        own = self._by_name[stations]
        queues: list[Queue] = [self.ap_queues[own.cell or 0], own.queue]
        queues += [(self.links[link] if isinstance(link, str) else link).queue for link in path]
        return any(
            (isinstance(queue, RedQueue) and queue.red.ecn)
            or (isinstance(queue, CodelQueue | FqCodelQueue) and queue.codel.ecn)
            for queue in queues
        )


def on_air_ns(
    phy: Phy, rts_threshold_bytes: int | None, data_rate: Rate, control_rate: Rate
) -> int:
    """Return the duration of RED's reference packet over the air, at these rates."""
    rts = needs_rts(phy, _IDLE_BITS, rts_threshold_bytes)
    return exchange_ns(phy, _IDLE_BITS, data_rate, control_rate, rts=rts)


def on_wire_ns(rate_bps: int) -> int:
    """Return the duration of the same packet on a wired link."""
    return -(-_IDLE_BITS * 10**9 // rate_bps)


def resolve_queue(
    queue: Written,
    here: Path,
    idle_ns: Callable[[], int],
    *,
    at_access_point: bool = False,
    fifo_packets: int | None = None,
) -> Queue:
    """Return the resolved queue.

    `idle_ns` returns the transmission time of a packet at the rate that serves the queue.
    `fifo_packets` is the default limit of a FIFO, None for an unlimited one.

    Raises:
        InvalidError: keys of another discipline, or some that contradict each other.
    """
    discipline = queue.discipline
    _check_keys(queue, here)
    limit = None if queue.limit == UNLIMITED else queue.limit
    if queue.limit is None and discipline == "fq-codel":
        limit = standards.FQ_CODEL_PACKETS
    if queue.limit is None and discipline == "fifo":
        limit = fifo_packets
    ack_filter = {False: None, True: "conservative"}.get(queue.ack_filter, queue.ack_filter)
    common = {"discipline": discipline, "limit": limit, "ack_filter": ack_filter}
    match discipline:
        case "red":
            return RedQueue.of(queue, red=_red(queue, here, idle_ns), **common)
        case "codel":
            return CodelQueue.of(queue, codel=_codel(queue, here), **common)
        case "fq-codel":
            fq = Fq.of(queue)
            if fq.slow_target_ns > fq.slow_interval_ns:
                raise above(queue, here, "slow_target", "slow_interval", format_time_ns)
            if fq.slow_below_bps is not None and not at_access_point:
                raise invalid((*here, "slow_below"), "queue.only_ap")
            return FqCodelQueue.of(queue, codel=_codel(queue, here), fq=fq, **common)
        case own if DISCIPLINES[own].resolved:
            return OwnQueue.of(queue, name=own, **{**common, "discipline": "own"})
        case _:
            return PlainQueue.of(queue, **common)


#: Tables whose keys apply only to some disciplines, by their names in `DISCIPLINES`.
_TABLES: Final[dict[str, type[Table]]] = {"red": Red, "codel": Codel, "fq": Fq}


def keys_of_disciplines() -> dict[str, set[str]]:
    """Return by discipline the keys of a queue that only some disciplines have."""
    return {
        name: {key for table in one.parameters for key in written(_TABLES[table]).allowed_keys()}
        for name, one in DISCIPLINES.items()
        if one.parameters
    }


def _check_keys(queue: Written, here: Path) -> None:
    """Raise InvalidError for a key of another discipline."""
    known = keys_of_disciplines()
    word = DISCIPLINES[queue.discipline].in_file
    mine = known.get(queue.discipline, set())
    for table in _TABLES.values():
        for key in written(table).allowed_keys():
            if key not in mine and queue.given(key):
                of = " or ".join(f'"{name}"' for name, keys in known.items() if key in keys)
                reason = phrase("queue.no_effect", word=word)
                if key == "ecn":
                    reason = phrase("queue.no_ecn", word=word)
                raise invalid((*here, key), "queue.other_discipline", reason=reason, of=of)


def _red(queue: Written, here: Path, idle_ns: Callable[[], int]) -> Red:
    red = Red.of(queue, idle_packet_time_ns=idle_ns())
    if red.min_threshold >= red.max_threshold:
        key = "min_threshold" if queue.given("min_threshold") else "max_threshold"
        raise invalid(
            (*here, key),
            "queue.thresholds",
            low=red.min_threshold,
            high=red.max_threshold,
        )
    return red


def _codel(queue: Written, here: Path) -> Codel:
    codel = Codel.of(queue)
    if codel.target_ns > codel.interval_ns:
        raise above(queue, here, "target", "interval", format_time_ns)
    return codel


def resolve_link(link: Written, path: Path) -> Link:
    """Return a resolved wired link.

    Raises:
        InvalidError: the link or its queue has no effect, or its loss is ambiguous.
    """
    if not any(link.given(key) for key in ("rate", "delay", "loss")):
        raise invalid(path, "queue.empty_link")
    if link.queue is not None and link.rate is None:
        raise invalid((*path, "queue"), "queue.link_queue")
    if link.up_rate is not None and link.rate is None:
        raise invalid((*path, "up_rate"), "queue.one_direction")
    return Link.of(
        link,
        queue=_link_queue(link.queue, link.rate, (*path, "queue")),
        loss=None if link.loss is None else _loss(link.loss, (*path, "loss")),
    )


def _link_queue(queue: Written | int | None, rate_bps: int | None, path: Path) -> Queue:
    if isinstance(queue, Written):
        assert rate_bps is not None, "checked"
        if queue.mac_limit is not None:
            raise invalid((*path, "mac_limit"), "queue.no_mac")
        return resolve_queue(queue, path, partial(on_wire_ns, rate_bps))
    return PlainQueue(discipline="fifo", limit=queue, mac_limit=None, ack_filter=None)


def _loss(written: float | Written, path: Path) -> Loss:
    if isinstance(written, float):
        loss = Loss(rate=written, every=None, acks=False)
    else:
        loss = Loss.of(written)
    if (loss.rate is None) == (loss.every is None):
        raise invalid(path, "queue.loss")
    if loss.rate is not None and loss.rate >= 1.0:
        raise invalid(path, "queue.loses_all")
    return loss

"""Resolve wired links: rate, delay, queue and loss."""

from __future__ import annotations

from functools import partial

from .errors import InvalidError, Path
from .keys.queue import PlainQueue, Queue
from .keys.traffic import Link, Loss
from .quantities import Written
from .resolve_queue import on_wire_ns, resolve_queue


def resolve_link(link: Written, path: Path) -> Link:
    """Return a resolved wired link.

    Raises:
        InvalidError: the link or its queue has no effect, or its loss is ambiguous.
    """
    if not any(link.given(key) for key in ("rate", "delay", "loss")):
        raise InvalidError(
            path, "has no effect; allowed: a link with a rate, a delay, a loss, or several"
        )
    if link.queue is not None and link.rate is None:
        raise InvalidError(
            (*path, "queue"),
            "a link without a rate never queues; allowed: a queue together with a rate",
        )
    return Link.of(
        link,
        queue=_link_queue(link.queue, link.rate, (*path, "queue")),
        loss=None if link.loss is None else _loss(link.loss, (*path, "loss")),
    )


def _link_queue(queue: Written | int | None, rate_bps: int | None, path: Path) -> Queue:
    if isinstance(queue, Written):
        assert rate_bps is not None, "checked"
        if queue.mac_limit is not None:
            raise InvalidError(
                (*path, "mac_limit"), ("a wired link has no MAC; allowed: without this key")
            )
        return resolve_queue(queue, path, partial(on_wire_ns, rate_bps))
    return PlainQueue(discipline="fifo", limit=queue, mac_limit=None, ack_filter=None)


def _loss(written: float | Written, path: Path) -> Loss:
    if isinstance(written, float):
        loss = Loss(rate=written, every=None, acks=False)
    else:
        loss = Loss.of(written)
    if (loss.rate is None) == (loss.every is None):
        raise InvalidError(path, "must be one of the two; allowed: either rate or every")
    if loss.rate is not None and loss.rate >= 1.0:
        raise InvalidError(path, "loses every packet; allowed: less than 100 %")
    return loss

"""Model the contenders in a cell with TCP: data, and ACKs with or without backoff.

A node that always has a packet counts down in every idle slot: the number of idle slots is the sum
of its backoffs, whoever else counts at the same time. In downloads that is the access point, and
for each of its accesses there are 1/d of stations: 1 + 1/d contenders, as in M (11). In uploads it
is the stations or, if there are so many that the access point cannot acknowledge them all, again
the access point.

A TCP ACK that its station creates before the MAC ACK of the data may find the medium idle
(`mac.rules.arrival_before_own_ack`). If the station's last backoff has ended, the ACK is sent DIFS
after that MAC ACK, as part of the data's exchange, in a slot that only the access point can use,
because it has just drawn a backoff. The other ACKs contend.

Neighbors are in `airtcp.models.cells`. The model ignores that segments for a station's next ACK may
arrive while its last ACK still waits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from airtcp.models import checks
from airtcp.models.bianchi import SlotTimes
from airtcp.models.cells import approximate_clusters

__all__ = ["Contention", "download", "goodput", "share_at_once", "upload"]


@dataclass(frozen=True, slots=True)
class Contention:
    """A cell with TCP, in the terms of `airtcp.models.cells.clusters`.

    `times` are those of its mean exchange, `contenders` and `failing` as there; `segments` is the
    mean number of segments per exchange.
    """

    times: SlotTimes
    contenders: float
    failing: float
    segments: float


def share_at_once(w0: int, d: float, connections: int = 1) -> float:
    """Return the fraction of TCP ACKs that find their station's backoff ended.

    A station draws a backoff from `w0` slots after each ACK. Before its next ACK the access point
    sends `d` segments to each of the `connections` stations, each after a backoff. The first of
    these was drawn at the last segment. It is not 0 if the last ACK was sent without backoff;
    otherwise it is the remainder of one. Segments that arrive while an ACK waits count for the next
    one, which is ignored here: with one connection and d = 2 the fraction is .84, and .78 if slots
    are counted.

    Raises:
        ValueError: an argument out of range.

    >>> [round(share_at_once(16, d), 3) for d in (1, 2, 4)]
    [0.483, 0.84, 0.991]
    """
    window = int(checks.scalar("w0", w0, at_least=2.0, at_most=2.0**15, whole=True))
    every = checks.scalar("d", d, at_least=1.0)
    count = int(checks.scalar("connections", connections, at_least=1.0, whole=True))
    drawn = np.full(window, 1.0 / window)
    fresh = np.append(0.0, np.full(window - 1, 1.0 / (window - 1)))
    left = np.append(0.0, np.arange(window - 1.0, 0.0, -1.0))
    # The probability that this many slots of a backoff are left is that of a backoff at least as
    # long.
    slots = np.stack([fresh, left / left.sum()])
    # The sum of this many draws exceeds one with probability 1 / (1 + number)!.
    for _ in range(min(int(every * count), 20) - 1):
        slots = np.stack([np.convolve(one, drawn)[:window] for one in slots])
    after_fresh, after_left = slots @ (window - 1.0 - np.arange(window)) / window
    # An ACK skips the backoff if it is not late, and the access point has not drawn 0.
    unharmed = 1.0 - 1.0 / window
    late = (after_left + unharmed * (after_fresh - after_left)) / (
        1.0 + unharmed * (after_fresh - after_left)
    )
    return float(1.0 - late)


def download(data: SlotTimes, ack: SlotTimes, *, w0: int, d: float, at_once: float) -> Contention:
    """Return a cell of downloads in which a fraction of TCP ACKs skips the backoff.

    Args:
        data: the exchange of a segment.
        ack: the exchange of a TCP ACK.
        w0: the slots of the first window, CWmin + 1.
        d: segments per ACK.
        at_once: the fraction; 0 if every ACK draws a backoff.

    Raises:
        ValueError: an argument out of range.

    >>> times = SlotTimes(9e-6, 326e-6, 282e-6, 1e-4), SlotTimes(9e-6, 114e-6, 70e-6, 1e-4)
    >>> cell = download(*times, w0=16, d=2, at_once=0.84)
    >>> round(cell.contenders, 3), round(cell.failing, 3)
    (1.106, 0.026)
    """
    every = checks.scalar("d", d, at_least=1.0)
    share = checks.scalar("at_once", at_once, at_least=0.0, at_most=1.0)
    window = int(checks.scalar("w0", w0, at_least=2.0, whole=True))
    # Per segment: the access point has drawn 0 when an ACK skips the backoff.
    failing = share / every / window
    contending = (1.0 - share) / every + failing
    segments = 1.0 / (1.0 + contending)
    # The sender of the segment in such a collision gets no MAC ACK.
    lasts = data.success_s + ack.success_s / every + failing * data.success_s
    # A collision in the cell involves the access point, whose frame is the longer one. Few
    # collisions with other cells are between two ACKs.
    return Contention(
        times=SlotTimes(data.slot_s, segments * lasts, data.collision_s, segments * data.payload_s),
        contenders=1.0 + contending,
        failing=failing,
        segments=segments,
    )


def upload(data: SlotTimes, ack: SlotTimes, *, d: float, stations: int) -> Contention:
    """Return a cell of uploads, one per station, whose ACKs all contend.

    Up to d stations always have a segment, and the access point an ACK per d of them; more stations
    get an access for d segments after each access of the access point.

    Raises:
        ValueError: an argument out of range.

    >>> times = SlotTimes(9e-6, 326e-6, 282e-6, 1e-4), SlotTimes(9e-6, 114e-6, 70e-6, 1e-4)
    >>> [upload(*times, d=2, stations=number).contenders for number in (1, 2, 9)]
    [1.5, 3.0, 3.0]
    """
    every = checks.scalar("d", d, at_least=1.0)
    count = checks.scalar("stations", stations, at_least=1.0, whole=True)
    mean = download(data, ack, w0=2, d=every, at_once=0.0)
    return replace(mean, contenders=min(count, every) * (1.0 + 1.0 / every))


def goodput(cell: Contention, payload_bits: float, *, w0: int, m: int, retries: int) -> float:
    """Return the goodput of an isolated cell, in b/s.

    Args:
        cell: the cell.
        payload_bits: TCP payload of a segment.
        w0: the slots of the first window, CWmin + 1.
        m: how often the window doubles.
        retries: a frame is sent at most `retries` + 1 times.

    Raises:
        ValueError: an argument out of range.
        ConvergenceError: the collision share does not converge.

    >>> times = SlotTimes(9e-6, 326e-6, 282e-6, 1e-4), SlotTimes(9e-6, 114e-6, 70e-6, 1e-4)
    >>> cell = download(*times, w0=16, d=2, at_once=share_at_once(16, 2))
    >>> round(goodput(cell, 8 * 1448, w0=16, m=6, retries=7) / 1e6, 2)
    24.78
    """
    found = approximate_clusters(
        [[False]],
        cell.times,
        w0=w0,
        m=m,
        retries=retries,
        contenders=cell.contenders,
        failing=cell.failing,
    )
    return float(found.successes_per_s[0]) * cell.segments * payload_bits

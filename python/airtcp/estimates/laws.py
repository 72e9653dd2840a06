"""Exact moments of what the core draws: bytes of a transfer or page, seconds of a pause.

The core rounds, clips and pads each draw (`crates/sim/src/app`). The moments account for that.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from airtcp import distributions

if TYPE_CHECKING:
    from airtcp.scenario.keys.traffic import Flow

#: The core limits a transfer to this many bytes, and a page to this many objects.
LARGEST: Final = 2.0**50
MOST_OBJECTS: Final = 100_000
#: The mean of a page is known if rounding up its objects adds at most this part to its bytes. The
#: mean then includes half a byte per object.
_ROUNDED: Final = 1e-4
#: The random numbers in (0, 1] are multiples of 2^-53, which bounds the largest draw of a Pareto
#: law.
_DIGITS: Final = 53


def unit_bytes(flow: Flow) -> float | None:
    """Return the mean number of bytes of a transfer, or of a page, as drawn; None if it is unknown.

    A size is rounded up to whole bytes, clipped to 1 .. 2^50, and padded to whole segments if
    segments are padded. A page without a law for its own size is a random number of objects,
    independent of their sizes. The objects of a page with such a law share the drawn size. Each
    share is rounded up, on average by half a byte if shares have many bytes. Draws that cannot
    occur (a Pareto law beyond the last random number) do not count.
    """
    application: Any = flow.application
    if application.kind not in ("web", "ftp"):
        return None
    tcp = flow.tcp
    step = tcp.mss_bytes if tcp is not None and tcp.pad_last_segment else 1
    size = _size(application.size, step)
    page = getattr(application, "page", None)
    if page is None:
        return size
    objects = _objects(page.objects)
    if page.size is None:
        return size * objects
    whole = _clipped_mean(page.size, LARGEST)
    return whole + objects / 2.0 if step == 1 and objects <= _ROUNDED * whole else None


def unevenness(flow: Flow) -> float:
    """Return the squared coefficient of variation of the bytes of a transfer or page, as written.

    0 if it is unknown; infinite if the law has no variance.
    """
    application: Any = flow.application
    if application.kind not in ("web", "ftp"):
        return 0.0
    page = getattr(application, "page", None)
    law = application.size if page is None else page.size
    return 0.0 if law is None else float(law.scv())


def pause_s(flow: Flow) -> float | None:
    """Return the mean think time or interarrival time in seconds; None if neither is drawn."""
    application: Any = flow.application
    if application.kind == "web":
        return _clipped_mean(application.think_time, np.inf)
    if application.kind == "ftp":
        return _clipped_mean(application.interarrival, np.inf)
    return None


@cache
def moments(law: distributions.Distribution) -> tuple[float, float]:
    """Return E[X^2] and E[X^3], infinite if a moment does not exist."""
    if isinstance(law, distributions.Empirical):
        values, counts = np.asarray(law.values), np.asarray(law.counts, dtype=float)
        return law.second_moment(), float(np.dot(values**3, counts) / counts.sum())
    if isinstance(law, distributions.Pareto):
        a = law.shape
        return law.second_moment(), a * law.scale**3 / (a - 3.0) if a > 3.0 else math.inf
    # E[X^3] is three times the integral of x^2 P(X > x). Laws other than Pareto end within the
    # grid.
    at = law.mean() * np.concatenate([[0.0], np.geomspace(1e-4, 1e6, 20_001)])
    thirds = at**2 * law.survival(at)
    return law.second_moment(), 3.0 * float(np.dot(np.diff(at), thirds[1:] + thirds[:-1]) / 2.0)


@cache
def _size(law: distributions.Distribution, step: int) -> float:
    """Return E[bytes], as a multiple of `step`.

    Rounding up to bytes first changes no whole step.
    """
    beyond = law.mean() - _clipped_mean(law, LARGEST)
    return step * law.expected_segments(step) - beyond


def _clipped_mean(law: distributions.Distribution, largest: float) -> float:
    """Return E[min(X, c)], with c the largest number that can be drawn.

    Only Pareto laws reach it.
    """
    if not isinstance(law, distributions.Pareto):
        return law.mean()
    cap = min(largest, law.scale * 2.0 ** (_DIGITS / law.shape))
    beyond = cap * (law.scale / cap) ** law.shape / (law.shape - 1.0)
    return law.mean() - float(beyond)


@cache
def _objects(law: distributions.Distribution) -> float:
    """Return E[max(1, X rounded)]; halves are rounded up."""
    if isinstance(law, distributions.Deterministic):
        values, weights = np.array([law.value]), np.ones(1)
    elif isinstance(law, distributions.Empirical):
        values, weights = np.array(law.values), np.array(law.counts, dtype=float)
    else:
        more_than = np.arange(2, MOST_OBJECTS + 1) - 0.5
        return 1.0 + float(np.sum(law.survival(more_than)))
    rounded = np.clip(np.floor(values + 0.5), 1, MOST_OBJECTS)
    return float(np.dot(rounded, weights) / weights.sum())

"""Words that sentences about broken assumptions share."""

from __future__ import annotations

from typing import Final

OPTIMISTIC: Final = "the model is too optimistic: goodput too high, times too low"
PESSIMISTIC: Final = "the model is too pessimistic: goodput too low, times too high"
OF_HEAVY_TAILS: Final = (
    "times are too low, by up to 30 %, or by up to 5 % too high for the lightest of such tails"
)
UNKNOWN: Final = "the effect is unknown"


class OfDelay(str):
    """A sentence about the delay of a path, of which a window a round trip takes account."""

    __slots__ = ()


def segments(window: float) -> str:
    """So many segments, in words."""
    return f"{window:g} segment{'s' if window != 1 else ''}"

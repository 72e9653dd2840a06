"""Define words shared by sentences about broken assumptions."""

from __future__ import annotations

from typing import Final

OPTIMISTIC: Final = "the model is too optimistic: goodput too high, times too low"
PESSIMISTIC: Final = "the model is too pessimistic: goodput too low, times too high"
OF_HEAVY_TAILS: Final = (
    "times are too low, by up to 30 %, or too high by up to 5 % if the tail is light"
)
UNKNOWN: Final = "the effect is unknown"


class OfDelay(str):
    """A sentence about path delay, which the bound of a window per round trip includes."""

    __slots__ = ()


def segments(window: float) -> str:
    """Format a number of segments."""
    return f"{window:g} segment{'s' if window != 1 else ''}"

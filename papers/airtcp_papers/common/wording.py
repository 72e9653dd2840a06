"""Define words shared by sentences about broken assumptions of the papers' models."""

from __future__ import annotations

from typing import Final

from airtcp.predict.wording import OPTIMISTIC, UNKNOWN

__all__ = ["OF_HEAVY_TAILS", "OPTIMISTIC", "PESSIMISTIC", "UNKNOWN", "segments"]

PESSIMISTIC: Final = "the model is too pessimistic: goodput too low, times too high"
OF_HEAVY_TAILS: Final = (
    "times are too low, by up to 30 %, or too high by up to 5 % if the tail is light"
)


def segments(window: float) -> str:
    """Format a number of segments."""
    return f"{window:g} segment{'s' if window != 1 else ''}"

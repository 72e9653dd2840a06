"""Define words shared by sentences about broken assumptions."""

from __future__ import annotations

from typing import Final

OPTIMISTIC: Final = "the model is too optimistic: goodput too high, times too low"
UNKNOWN: Final = "the effect is unknown"


class OfDelay(str):
    """A sentence about path delay, which the bound of a window per round trip includes."""

    __slots__ = ()

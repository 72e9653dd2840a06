"""Define words shared by sentences about broken assumptions."""

from __future__ import annotations

from typing import Final

from airtcp.phrases import phrase

OPTIMISTIC: Final = phrase("predict.effects.optimistic")
UNKNOWN: Final = phrase("predict.effects.unknown")


class OfDelay(str):
    """A sentence about path delay, which the bound of a window per round trip includes."""

    __slots__ = ()

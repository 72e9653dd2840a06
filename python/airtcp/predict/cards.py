"""List the cards of all models, with those of installed packages."""

from __future__ import annotations

from typing import Final

from airtcp.predict import (
    ampdu,
    categories,
    cells,
    links,
    lossy_path,
    ofdma,
    saturated,
    tcp_ampdu,
)
from airtcp.predict.card import Card
from airtcp.predict.families import of_packages

_OWN: Final[tuple[Card, ...]] = (
    *saturated.CARDS,
    *categories.CARDS,
    *ampdu.CARDS,
    *ofdma.CARDS,
    *links.CARDS,
    *tcp_ampdu.CARDS,
    *lossy_path.CARDS,
    *cells.CARDS,
)


def cards() -> tuple[Card, ...]:
    """Return our cards, then those of installed packages."""
    return (*_OWN, *(card for one in of_packages() for card in one.cards()))

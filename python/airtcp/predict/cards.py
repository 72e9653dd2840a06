"""List the cards of all models, in the order in which `predict` may call them."""

from __future__ import annotations

from typing import Final

from airtcp.predict import (
    ampdu,
    arrivals,
    best,
    bottleneck,
    bursts,
    categories,
    cell_transfers,
    cells,
    cycles,
    downloads,
    effective,
    lone,
    lossy_path,
    ofdma,
    replies,
    saturated,
    simultaneous,
    tcp_ampdu,
    uploads,
    web,
)
from airtcp.predict.card import Card

CARDS: Final[tuple[Card, ...]] = (
    *saturated.CARDS,
    *categories.CARDS,
    *bottleneck.CARDS,
    *uploads.CARDS,
    *downloads.CARDS,
    *replies.CARDS,
    *bursts.CARDS,
    *cycles.CARDS,
    *simultaneous.CARDS,
    *web.CARDS,
    *arrivals.CARDS,
    *effective.CARDS,
    *lone.CARDS,
    *best.CARDS,
    *ampdu.CARDS,
    *ofdma.CARDS,
    *tcp_ampdu.CARDS,
    *lossy_path.CARDS,
    *cells.CARDS,
    *cell_transfers.CARDS,
)

"""Tables of docs/explanation/models.md: metrics and keys of each model."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import tables
from airtcp.predict.card import HARMLESS, Card
from airtcp.predict.cards import cards as all_cards


def cards() -> str:
    """List the models."""
    head = ["model", "asked about", "answers", "reads", "assumes something about"]
    return tables.markdown(head, [_row(card) for card in all_cards()])


def harmless() -> str:
    """List the keys that no model reads."""
    rows = [[f"`{key}`", reason] for key, reason in HARMLESS.items()]
    return tables.markdown(["key", "no model reads it because"], rows)


def _row(card: Card) -> list[str]:
    judged = dict.fromkeys(key for one in (*card.needs, *card.assumes) for key in one.keys)
    answers, reads = _code(card.answers), _code(dict.fromkeys(card.reads))
    return [card.name, card.asked, answers, reads, _code(judged)]


def _code(keys: Iterable[str]) -> str:
    return ", ".join(f"`{key}`" for key in keys)


DOCS = Path(__file__).parents[1]
PAGE = DOCS / "explanation" / "models.md"
TABLES = {"models": cards, "keys-without-model": harmless}

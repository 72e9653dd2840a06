"""Make the table of docs/models.md that says of each model what it answers and which keys it knows.

Takes everything from the cards in `airtcp.predict`.

    .venv/bin/python docs/make_cards.py
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import tables
from airtcp.predict.card import HARMLESS, Card
from airtcp.predict.cards import CARDS

PAGE = Path(__file__).parent / "models.md"


def cards() -> str:
    """A row for each model."""
    head = ["model", "asked about", "answers", "reads", "assumes something about"]
    return tables.markdown(head, [_row(card) for card in CARDS])


def harmless() -> str:
    """A row for each key that no model reads."""
    rows = [[f"`{key}`", reason] for key, reason in HARMLESS.items()]
    return tables.markdown(["key", "no model reads it because"], rows)


def _row(card: Card) -> list[str]:
    judged = dict.fromkeys(key for one in (*card.needs, *card.assumes) for key in one.keys)
    answers, reads = _code(card.answers), _code(dict.fromkeys(card.reads))
    return [card.name, card.asked, answers, reads, _code(judged)]


def _code(keys: Iterable[str]) -> str:
    return ", ".join(f"`{key}`" for key in keys)


MAKERS = {"cards": cards, "harmless": harmless}

if __name__ == "__main__":
    tables.remake(PAGE, MAKERS)

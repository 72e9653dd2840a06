"""Predictions by paper M, and functions that models of other papers share with it."""

from functools import partial
from typing import Final

from airtcp_papers.common import cards

CARDS: Final = cards.cards("miorandi")
#: Returns a sentence about a broken assumption.
sentence: Final = partial(cards.said, "miorandi")

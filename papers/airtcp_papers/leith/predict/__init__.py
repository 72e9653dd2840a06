"""Predictions by paper L: uploads with prioritized TCP ACKs, a wired bottleneck, and CWmin."""

from functools import partial
from typing import Final

from airtcp_papers.common import cards

CARDS: Final = cards.cards("leith")
#: Returns a sentence about a broken assumption.
sentence: Final = partial(cards.said, "leith")

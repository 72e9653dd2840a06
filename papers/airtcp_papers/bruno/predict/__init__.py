"""Predictions by paper B: downloads as a cycle, bursts of the access point, and m*."""

from functools import partial
from typing import Final

from airtcp_papers.common import cards

CARDS: Final = cards.cards("bruno")
#: Returns a sentence about a broken assumption.
sentence: Final = partial(cards.said, "bruno")

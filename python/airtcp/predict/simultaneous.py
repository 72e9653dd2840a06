"""Paper G: how likely nodes that all draw a backoff at once are to send in the same slot."""

from __future__ import annotations

from typing import Final

from airtcp.models.gopal import simultaneous_send
from airtcp.predict.answers import Answers, Origin

_BY: Final = "models.gopal"
_ASSUMES: Final = (
    "every node has a packet, and all draw a backoff from CWmin at once",
    "no backoff is left over from before, and CW does not double",
)


def predict(others: int, w0: int, answers: Answers) -> None:
    """Collision probability of `others` + 1 nodes with backoffs of `w0` slots, both readings."""
    source = "G (1)"
    with answers.attempt(source):
        said = simultaneous_send(others, w0)
        frozen = (
            "all draw at once; in 802.11 counters freeze and go on, so that nodes which lost a "
            "round come first in the next one"
        )
        next_one = (
            f"{frozen}; and a transmission on the channel counts once, where the metric counts "
            "each node that takes part; the effect is unknown, with many nodes the value is too low"
        )
        any_two = (
            "two equal backoffs are a collision; they are only if they are the smallest, "
            "or still equal when their turn comes (G2); the value is too high, far too high with "
            "many nodes"
        )
        values = {"collision_probability": float(said.next_transmission)}
        answers.add(Origin(_BY, f"{source}, next transmission", _ASSUMES, (next_one,)), values)
        values = {"collision_probability": float(said.any_two)}
        answers.add(Origin(_BY, source, _ASSUMES, (any_two,)), values)

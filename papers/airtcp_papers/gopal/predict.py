"""Predict paper G's collision probability of nodes that all draw a backoff at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from airtcp.predict.answers import Answers
from airtcp.predict.senders import counts_of, senders_of

from airtcp_papers.common.cards import cards
from airtcp_papers.gopal.model import simultaneous_send

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario


_CARD: Final = cards("gopal")["same_slot"]


def saturated(scenario: ResolvedScenario, answers: Answers) -> None:
    """Predict the collision probability of several saturated UDP senders."""
    count = sum(counts_of(senders_of(scenario)))
    if count > 1:
        predict(count - 1, scenario.phy.cw_min + 1, answers)


def predict(others: int, w0: int, answers: Answers) -> None:
    """Predict the collision probability of `others` + 1 nodes with `w0` slots, in both readings."""
    source = "G (1)"
    with answers.attempt(source):
        said = simultaneous_send(others, w0)
        frozen = (
            "all nodes draw at the same time; in 802.11 counters freeze and resume, so nodes "
            "that lost a round are first in the next one"
        )
        next_one = (
            f"{frozen}; and a transmission on the channel counts once, but the metric counts "
            "each node that takes part: the value is too low with up to 20 nodes"
        )
        any_two = (
            "two equal backoffs are a collision; in fact they collide only if they are the "
            "smallest, or still equal in their turn (G2); the value is too high, far too "
            "high with many nodes"
        )
        values = {"collision_probability": float(said.next_transmission)}
        answers.add(_CARD.origin(f"{source}, next transmission", (next_one,)), values)
        values = {"collision_probability": float(said.any_two)}
        answers.add(_CARD.origin(source, (any_two,)), values)

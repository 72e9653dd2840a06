"""Predict paper G's collision probability of nodes that all draw a backoff at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from airtcp.predict.answers import Answers
from airtcp.predict.senders import counts_of, senders_of

from airtcp_papers.common.cards import cards, said
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
        found = simultaneous_send(others, w0)
        for label, name, value in (
            (", next transmission", "next_transmission", found.next_transmission),
            ("", "any_two", found.any_two),
        ):
            origin = _CARD.origin(f"{source}{label}", (said("gopal", name),))
            answers.add(origin, {"collision_probability": float(value)})

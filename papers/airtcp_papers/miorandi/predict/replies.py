"""Predict downloads whose TCP ACKs skip the backoff: a model of airtcp's own.

It applies if the MAC rules let an ACK be sent without a backoff. If all ACKs draw one, paper M
applies (`downloads`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from airtcp.models import replies
from airtcp.predict.answers import Answers
from airtcp.predict.assumptions import skipped_acks
from airtcp.predict.replies import contention, goes_at_once
from airtcp.predict.senders import doublings

from airtcp_papers.miorandi.predict import CARDS, assumptions
from airtcp_papers.miorandi.predict.connections import Connections

_SOURCE: Final = "ACKs at once"
_CARD: Final = CARDS["replies"]
#: A window of this many times the segments per ACK keeps the access point backlogged.
_LARGE: Final = 10


def predict(connections: Connections, answers: Answers) -> None:
    """Predict goodput of endless downloads, if the rules let their ACKs skip the backoff.

    Excludes one download with an ACK per segment, of which half would skip it: the dependence
    between the backoffs of station and access point is not understood well enough for that.
    """
    scenario, segments = connections.scenario, connections.every * connections.count
    if (
        not goes_at_once(scenario)
        or connections.uploads
        or not connections.alone
        or segments < 2.0
        or connections.total_window < _LARGE * connections.every
    ):
        return
    origin = _CARD.origin(_SOURCE, _broken(connections))
    with answers.attempt(_SOURCE):
        said = replies.goodput(
            contention(scenario),
            connections.parameters.tcp_payload_bits,
            w0=scenario.phy.cw_min + 1,
            m=doublings(scenario.phy.cw_min + 1, scenario.phy.cw_max),
            retries=scenario.mac.short_retry_limit - 1,
        )
        answers.add(
            origin, {"goodput_bps": said, "flow_goodput_bps": said / connections.count}, best=True
        )


def _broken(connections: Connections) -> Iterator[str]:
    yield from assumptions.alike(connections)
    yield from assumptions.losses(connections)
    yield from assumptions.path(connections)
    yield from assumptions.acknowledgments(connections)
    yield from skipped_acks(connections.flows)

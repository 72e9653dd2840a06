"""Predict endless TCP transfers as one cycle: a segment and its share of a TCP ACK.

Paper B's limit ignores all waiting; Heusse's model has a mean wait and a mean collision. Both are
simpler than paper M (`downloads`). Compared with it they show the cost of backoff and contention.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from airtcp.models.heusse import tcp_downloads
from airtcp.predict.answers import Answers
from airtcp.predict.assumptions import skipped_acks
from airtcp.predict.card import Origin
from airtcp.predict.facts import endless_flows

from airtcp_papers.bruno.model import maximum_goodput
from airtcp_papers.bruno.predict import CARDS, sentence
from airtcp_papers.gopal.predict import predict as predict_simultaneous
from airtcp_papers.miorandi.predict import assumptions
from airtcp_papers.miorandi.predict.connections import Connections

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario

_HEUSSE: Final = "Heusse et al. (2003), TCP"
_HEUSSE_CARD: Final = CARDS["heusse"]
_LIMIT_CARD: Final = CARDS["limit"]


def predict(scenario: ResolvedScenario, answers: Answers) -> None:
    """Predict goodput of all endless transfers, and collisions of backlogged uploads."""
    connections = Connections.of(scenario, endless_flows(scenario))
    with answers.attempt(_HEUSSE):
        _contended(connections, answers)
    with answers.attempt("B, section 2"):
        _unhindered(connections, answers)
    if connections.uploads == connections.count and connections.alone:
        # Behind a wired link the windows may wait there, and nobody contends on the channel.
        at_the_access_point = not any(scenario.path_links(flow) for flow in connections.flows)
        if connections.smallest_window > 1 and at_the_access_point:
            predict_simultaneous(connections.count, scenario.phy.cw_min + 1, answers)


def _contended(connections: Connections, answers: Answers) -> None:
    parameters = connections.parameters
    collision = None
    if parameters.rts_before_data and parameters.rts_before_tcp_ack:
        collision = parameters.difs_s + parameters.rts_s + parameters.sifs_s
    broken = list(assumptions.network(connections))
    readings: tuple[tuple[Literal["whole", "published"], str], ...] = (
        ("whole", ", whole backoff"),
        ("published", ""),
    )
    for backoff, label in readings:
        found = tcp_downloads(
            connections.count,
            parameters.tcp_payload_bits,
            data_s=parameters.t_tcp_data_s,
            tcp_ack_s=parameters.t_tcp_ack_s,
            cw_min=parameters.w0 - 1,
            slot_s=parameters.slot_s,
            d=connections.every,
            collision_s=collision,
            backoff=backoff,
        )
        origin = _HEUSSE_CARD.origin(f"{_HEUSSE}{label}", broken)
        if backoff == "published":
            origin = replace(origin, broken=[*broken, sentence("half_backoff")])
        _add(float(found.goodput_bps), origin, connections, answers)


def _unhindered(connections: Connections, answers: Answers) -> None:
    parameters = connections.parameters
    origin = _LIMIT_CARD.origin("B, section 2")
    backoff = round(1e6 * parameters.mean_first_backoff_s)
    limit = sentence("no_backoff", backoff=backoff)
    for acks, label, more in (
        (1.0 / connections.every, ", with TCP ACKs", []),
        (0.0, "", [sentence("no_acks")]),
    ):
        goodput = maximum_goodput(
            parameters.tcp_payload_bits, parameters.t_tcp_data_s, parameters.t_tcp_ack_s, acks
        )
        skipped = skipped_acks(connections.flows)
        named = replace(origin, source=f"{origin.source}{label}", broken=[limit, *more, *skipped])
        _add(float(goodput), named, connections, answers)


def _add(goodput: float, origin: Origin, connections: Connections, answers: Answers) -> None:
    values: dict[str, float | list[float]] = {"goodput_bps": goodput}
    if connections.alone:
        values["flow_goodput_bps"] = goodput / connections.count
    answers.add(origin, values)

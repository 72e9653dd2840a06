"""Predict endless TCP transfers as one cycle: a segment and its share of a TCP ACK.

Paper B's limit ignores all waiting; Heusse's model has a mean wait and a mean collision. Both are
simpler than paper M (`downloads`). Compared with it they show the cost of backoff and contention.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from airtcp.models.heusse import tcp_downloads
from airtcp.predict.answers import Answers
from airtcp.predict.assumptions import ENDLESS_HARMLESS, skipped_acks
from airtcp.predict.card import Assumption, Card, Origin
from airtcp.predict.facts import endless_flows
from airtcp.predict.keys import (
    ALIKE,
    ALL_ACKS,
    BOUNDED,
    FRAMES,
    NEVER_ENDS,
    NO_BACKOFF,
    NO_BEACONS,
    NO_ERRORS,
    RENO,
    SEGMENTS,
)

from airtcp_papers.bruno.model import maximum_goodput
from airtcp_papers.gopal.predict import predict as predict_simultaneous
from airtcp_papers.miorandi.predict import assumptions
from airtcp_papers.miorandi.predict.connections import Connections

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario

_HEUSSE: Final = "Heusse et al. (2003), TCP"
_HEUSSE_CARD: Final = Card(
    name=_HEUSSE,
    by="models.heusse",
    asked="endless TCP transfers, one cycle per segment",
    answers=("goodput_bps", "flow_goodput_bps"),
    reads=(*FRAMES, *SEGMENTS),
    assumes=(
        *assumptions.COMMON,
        Assumption("one node and 1/d of another have a packet at all times, as in M (11)", ()),
        Assumption("CW stays CWmin", ()),
        Assumption(
            "airtcp's own model: paper M does not give the modified model that it draws (M17)",
            (),
        ),
    ),
    needs=(ALIKE, NEVER_ENDS),
    harmless={
        **ENDLESS_HARMLESS,
        "phy.cw_max": "two nodes contend, and few of their frames collide twice",
    },
)
_LIMIT_CARD: Final = Card(
    name="paper B, section 2",
    by="models.bruno",
    asked="endless TCP transfers, as a limit",
    answers=("goodput_bps", "flow_goodput_bps"),
    reads=(*FRAMES, *SEGMENTS),
    assumes=(
        Assumption(
            "the access point always has a packet, and an ACK answers every d segments",
            ("flows.tcp.ack_skip",),
        ),
        Assumption(
            "no backoff, no collisions, no losses: only frames and the spaces between them",
            ("phy.cw_min",),
        ),
        BOUNDED,
        NO_BEACONS,
        NO_ERRORS,
        RENO,
        ALL_ACKS,
    ),
    needs=(ALIKE, NEVER_ENDS),
    harmless={
        **NO_BACKOFF,
        **ENDLESS_HARMLESS,
        "mac.short_retry_limit": "the model has no collision that could repeat",
        "ap.queue": "an upper bound: losses and waits elsewhere keep goodput below it",
        "stations.queue": "as ap.queue",
        "flows.tcp.min_rto_ns": "as ap.queue",
        "flows.tcp.initial_rto_ns": "as ap.queue",
        "flows.direction": "data and TCP ACKs swap senders, and take as long",
    },
)
CARDS: Final = (_HEUSSE_CARD, _LIMIT_CARD)


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
    for backoff, label in (("whole", ", whole backoff"), ("published", "")):
        said = tcp_downloads(
            connections.count,
            parameters.tcp_payload_bits,
            data_s=parameters.t_tcp_data_s,
            tcp_ack_s=parameters.t_tcp_ack_s,
            cw_min=parameters.w0 - 1,
            slot_s=parameters.slot_s,
            d=connections.every,
            collision_s=collision,
            backoff="whole" if backoff == "whole" else "published",
        )
        origin = _HEUSSE_CARD.origin(f"{_HEUSSE}{label}", broken)
        if backoff == "published":
            half = "the backoff before a frame is half the mean of CWmin; goodput is too high"
            origin = replace(origin, broken=[*broken, half])
        _add(float(said.goodput_bps), origin, connections, answers)


def _unhindered(connections: Connections, answers: Answers) -> None:
    parameters = connections.parameters
    origin = _LIMIT_CARD.origin("B, section 2")
    backoff = round(1e6 * parameters.mean_first_backoff_s)
    limit = (
        f"no backoff and no collision; here each frame has a mean backoff of {backoff} us, "
        "though nodes count down at the same time: this is an upper bound, the goodput is "
        "too high"
    )
    no_ack = "TCP ACKs are neglected; goodput is far too high"
    for acks, label, more in (
        (1.0 / connections.every, ", with TCP ACKs", []),
        (0.0, "", [no_ack]),
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

"""Endless TCP transfers as one cycle: a segment and its share of a TCP ACK.

Paper B's limit leaves out all waiting; Heusse's model has a mean wait and a mean collision. Both
are simpler than paper M (`downloads`), and beside it show what backoff and contention cost.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from airtcp.models.bruno import maximum_goodput
from airtcp.models.heusse import tcp_downloads
from airtcp.predict import assumptions, simultaneous
from airtcp.predict.answers import Answers, Origin
from airtcp.predict.facts import Connections, endless_flows

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario

_HEUSSE: Final = "Heusse et al. (2003), TCP"
_ASSUMES_HEUSSE: Final = (
    "TCP connections alone, all alike, and the server at the access point",
    "one node and 1/d of another have a packet at all times, as in M (11)",
    "no packet is lost, and CW stays CWmin",
    "a form of airtcp's own: paper M does not give the modified model that it draws (M17)",
)
_ASSUMES_LIMIT: Final = (
    "the access point always has a packet",
    "no backoff, no collision, no loss: nothing but frames and the spaces between them",
)


def predict(scenario: ResolvedScenario, answers: Answers) -> None:
    """Goodput of all endless transfers; collisions of uploads that always have a packet."""
    connections = Connections.of(scenario, endless_flows(scenario))
    with answers.attempt(_HEUSSE):
        _contended(connections, answers)
    with answers.attempt("B, section 2"):
        _unhindered(connections, answers)
    if connections.uploads == connections.count and connections.alone:
        saturated = connections.smallest_window > 1
        if saturated:
            simultaneous.predict(connections.count, scenario.phy.cw_min + 1, answers)


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
        origin = Origin("models.heusse", f"{_HEUSSE}{label}", _ASSUMES_HEUSSE, broken)
        if backoff == "published":
            half = "the wait before a frame is half of what CWmin makes; goodput is too high"
            origin = replace(origin, broken=[*broken, half])
        _add(float(said.goodput_bps), origin, connections, answers)


def _unhindered(connections: Connections, answers: Answers) -> None:
    parameters = connections.parameters
    origin = Origin("models.bruno", "B, section 2", _ASSUMES_LIMIT)
    backoff = round(1e6 * parameters.mean_first_backoff_s)
    limit = (
        f"no backoff and no collision; here {backoff} us of backoff before each frame on average, "
        "though nodes wait at the same time: this is a limit, the goodput is too high"
    )
    no_ack = "TCP ACKs are neglected; goodput is far too high"
    for acks, label, more in (
        (1.0 / connections.every, ", with TCP ACKs", []),
        (0.0, "", [no_ack]),
    ):
        goodput = maximum_goodput(
            parameters.tcp_payload_bits, parameters.t_tcp_data_s, parameters.t_tcp_ack_s, acks
        )
        named = replace(origin, source=f"{origin.source}{label}", broken=[limit, *more])
        _add(float(goodput), named, connections, answers)


def _add(goodput: float, origin: Origin, connections: Connections, answers: Answers) -> None:
    values: dict[str, float | list[float]] = {"goodput_bps": goodput}
    if connections.alone:
        values["flow_goodput_bps"] = goodput / connections.count
    answers.add(origin, values)

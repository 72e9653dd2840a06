"""Predict endless TCP transfers: paper M (7) to (12) for several, (A.3) and (8) for one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
from airtcp.amounts import quantity
from airtcp.predict.answers import Answers
from airtcp.predict.card import Origin
from airtcp.predict.facts import endless_flows, tcp_of

from airtcp_papers.common.cards import segments
from airtcp_papers.miorandi.model import (
    CORRECTED,
    PAPER,
    backlogged_distribution,
    contention,
    single_station,
    throughput,
    window_throughput,
)
from airtcp_papers.miorandi.model.throughput import Throughput
from airtcp_papers.miorandi.predict import CARDS, assumed_windows, assumptions, replies, sentence
from airtcp_papers.miorandi.predict.connections import Connections

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario

_CONTENTION: Final = "models.miorandi.contention"
_ENDLESS: Final = CARDS["several"]
_LONE: Final = CARDS["lone"]
_WINDOWED: Final = CARDS["windowed"]
#: The more accurate forms first, then the paper's own.
_VARIANTS: Final = ((CORRECTED, ", corrected"), (PAPER, ""))


def idle_by_timers(scenario: ResolvedScenario) -> str | None:
    """Report that delayed-ACK timers leave the channel idle, or return None.

    A connection whose window has fewer segments than an ACK covers sends at most one window per
    timeout. If the sum of these is below the capacity, models of a saturated channel are far off.
    """
    connections = Connections.of(scenario, endless_flows(scenario))
    if not connections.alone:
        return None
    most_bps = 0.0
    for n, tcp in zip(connections.counts, map(tcp_of, connections.flows), strict=True):
        # A window of this many segments triggers an ACK before the timer.
        if tcp.window_segments >= tcp.delayed_ack.every or tcp.delayed_ack.policy is not None:
            return None
        window_bits = 8 * tcp.window_segments * tcp.mss_bytes
        most_bps += 1e9 * n * window_bits / tcp.delayed_ack.timeout_ns
    air = throughput(connections.count, connections.parameters, CORRECTED, d=connections.every)
    if most_bps >= float(air.goodput_bps):
        return None
    return sentence(
        "timers", windows=segments(max(connections.windows)), most_bps=quantity(most_bps, "b/s", 2)
    )


def predict(scenario: ResolvedScenario, answers: Answers) -> None:
    """Predict goodput and collisions of the endless TCP flows.

    With other flows, or uploads with a large window, the access point is not the only backlogged
    node. Then only the total goodput is predicted, which hardly depends on that.
    """
    connections = Connections.of(scenario, endless_flows(scenario))
    if connections.count == 1:
        _one(connections, answers)
    else:
        _several(connections, answers)
    replies.predict(connections, answers)


def _several(connections: Connections, answers: Answers) -> None:
    d, equation = connections.every, "M (10)" if connections.every == 1.0 else "M (12)"
    broken = [*assumptions.network(connections), *assumed_windows.endless_window(connections)]
    by_state = _ENDLESS.origin("M (2) over (9)", broken, by=_CONTENTION)
    if connections.backlog_as_assumed:
        with answers.attempt(by_state.source):
            answers.add(by_state, _collisions_by_state(connections))
    for variant, label in _VARIANTS:
        origin = _ENDLESS.origin(f"{equation}{label}", broken)
        with answers.attempt(origin.source):
            said = throughput(connections.count, connections.parameters, variant, d=d)
            answers.add(origin, _goodput(said, connections))
            _state(said, connections, answers, replace(origin, source=f"M (2){label}"))


def _one(connections: Connections, answers: Answers) -> None:
    d, window = connections.every, connections.windows[0]
    network = list(assumptions.network(connections))
    taking_turns = [*network, *assumed_windows.endless_window(connections)]
    contending = [*network, *assumed_windows.lone_window(connections)]
    if window <= d:
        # The window has no more segments than one ACK covers: the two nodes take turns and never
        # collide.
        source = "M (A.3)" if d == 1.0 else "M (12), corrected"
        origin = _ENDLESS.origin(source, taking_turns)
        with answers.attempt(source):
            said = throughput(1, connections.parameters, CORRECTED, d=d)
            answers.add(origin, _goodput(said, connections))
            _state(said, connections, answers, origin)
    elif d == 1.0:
        for variant, label in _VARIANTS:
            origin = _WINDOWED.origin(f"M (A.3){label}", network)
            with answers.attempt(origin.source):
                goodput = float(window_throughput(window, connections.parameters, variant))
                answers.add(origin, {"goodput_bps": goodput, "flow_goodput_bps": goodput})
    if d > 1.0 and window > d:
        source = "M (6) over (8)"
        with answers.attempt(source):
            origin = _LONE.origin(source, contending, by=_CONTENTION)
            answers.add(origin, _collisions_of_two(connections))
    for variant, label in _VARIANTS:
        source = f"M ({7 if d == 1.0 else 8}){label}"
        origin = _LONE.origin(source, contending)
        with answers.attempt(source):
            said = single_station(d, connections.parameters, variant)
            answers.add(origin, _goodput(said, connections))
            _state(said, connections, answers, replace(origin, source=f"M (6){label}"))


def _goodput(said: Throughput, connections: Connections) -> dict[str, float | list[float]]:
    goodput = float(said.goodput_bps)
    values: dict[str, float | list[float]] = {"goodput_bps": goodput}
    if connections.alone:
        values["flow_goodput_bps"] = goodput / connections.count
    return values


def _state(said: Throughput, connections: Connections, answers: Answers, origin: Origin) -> None:
    """Predict collisions and drops if the backlog is as the model assumes."""
    if connections.backlog_as_assumed:
        answers.add(
            replace(origin, by=_CONTENTION),
            {
                "collision_probability": float(said.collision_probability),
                "drop_probability_mac": float(said.drop_probability),
            },
        )
        if "mean_backlogged_nodes" not in answers.model:
            # (9) and (11) have no variants.
            state = replace(origin, source="M (9)" if connections.every == 1.0 else "M (11)")
            answers.add(state, {"mean_backlogged_nodes": float(said.mean_backlogged_nodes)})


def _collisions_of_two(connections: Connections) -> dict[str, float | list[float]]:
    """Return the collision probability per attempt; the station sends one packet per d.

    (6) is the probability for two backlogged nodes. Each TCP ACK has c = P/(1-P) collisions, all
    with the access point, which sends d segments per ACK: attempts are 1 + c and d + c.
    """
    p = float(contention(2.0, connections.parameters, CORRECTED).p_c)
    meets, d = p / (1.0 - p), connections.every
    return {
        "collision_probability": 2.0 * meets / (d + 1.0 + 2.0 * meets),
        "collision_probability_ap": meets / (d + meets),
        "collision_probability_stations": p,
    }


def _collisions_by_state(connections: Connections) -> dict[str, float | list[float]]:
    """Return collision probabilities from the distribution (9), (11) of backlogged nodes.

    With i stations backlogged (probability pi_(i+1)) and the access point, k = i + 1 nodes attempt
    in a slot with tau_k each and collide with P_C(k). Attempts have weight pi k tau_k for all
    nodes, pi tau_k for the access point and pi i tau_k for stations. (2) at the mean of (9) ignores
    the states with many nodes, where most collisions occur. If all stations are backlogged, they
    have all packets and the access point has none; (9) counts it as backlogged even then (M11 is
    the case of one station).
    """
    count = connections.count
    share = np.asarray(backlogged_distribution(count, connections.every))
    # On average at most one station is backlogged: states beyond 40 have no weight.
    share = share[:41]
    stations = np.arange(float(len(share)))
    ap = np.where(stations < count, 1.0, 0.0)
    state = contention(stations + ap, connections.parameters, CORRECTED)
    attempts = share * state.tau
    weights = {
        "collision_probability": (stations + ap) * attempts,
        "collision_probability_ap": ap * attempts,
        "collision_probability_stations": stations * attempts,
    }
    return {
        metric: float(np.dot(weight, state.p_c) / weight.sum())
        for metric, weight in weights.items()
    }

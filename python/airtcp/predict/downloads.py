"""Endless TCP transfers: paper M (7) to (12) for several connections, (A.3) and (8) for one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from airtcp.models.miorandi import (
    CORRECTED,
    PAPER,
    Parameters,
    Variant,
    backlogged_distribution,
    contention,
    single_station,
    throughput,
    window_throughput,
)
from airtcp.models.miorandi.throughput import Throughput
from airtcp.predict import assumptions
from airtcp.predict.facts import Connections

if TYPE_CHECKING:
    from airtcp.predict.answers import Answers
    from airtcp.scenario import ResolvedScenario

_THROUGHPUT: Final = "models.miorandi.throughput"
_CONTENTION: Final = "models.miorandi.contention"
_APPENDIX: Final = "models.miorandi.appendix"
#: The better forms first; the paper's own beside them.
_VARIANTS: Final = ((CORRECTED, ", corrected"), (PAPER, ""))


def predict(scenario: ResolvedScenario, answers: Answers) -> None:
    """Goodput and collisions of the endless TCP flows; other TCP flows are taken as noise."""
    endless = [
        flow
        for flow in scenario.flows
        if flow.application.kind == "bulk" and flow.application.size is None
    ]
    connections = Connections.of(scenario, endless)
    if connections.count == 1:
        _one(connections, answers)
    else:
        _several(connections, answers)


def _several(connections: Connections, answers: Answers) -> None:
    d = connections.every
    equation = "M (10)" if d == 1.0 else "M (12)"
    broken = [*assumptions.network(connections), *assumptions.endless_window(connections)]
    with answers.attempt("M (9), (1), (2)"):
        _collisions_by_state(connections, answers, broken)
    for variant, label in _VARIANTS:
        with answers.attempt(f"{equation}{label}"):
            said = throughput(connections.count, connections.parameters, variant, d=d)
            _goodput(said, connections, answers, f"{equation}{label}", _THROUGHPUT, broken)
            _state(said, answers, f"M (1), (2) at the mean of (9){label}", broken)


def _one(connections: Connections, answers: Answers) -> None:
    d, window = connections.every, connections.windows[0]
    parameters = connections.parameters
    network = list(assumptions.network(connections))
    if window <= d:
        # No more segments than one ACK answers: the two nodes take turns and never collide.
        broken = [*network, *assumptions.endless_window(connections)]
        with answers.attempt("M (A.3)"):
            said = throughput(1, parameters, CORRECTED, d=d)
            source = "M (A.3) at W* = 1" if d == 1.0 else "M (12) without contention (M11)"
            _goodput(said, connections, answers, source, _THROUGHPUT, broken)
            _state(said, answers, source, broken)
        return
    broken = [*network, *assumptions.lone_window(connections)]
    for variant, label in _VARIANTS:
        if d == 1.0:
            with answers.attempt(f"M (A.3){label}"):
                goodput = float(window_throughput(window, parameters, variant))
                for metric in ("goodput_bps", "flow_goodput_bps"):
                    answers.add(
                        metric,
                        goodput,
                        by=_APPENDIX,
                        source=f"M (A.3){label}",
                        assumes=assumptions.WINDOWED,
                        broken=network,
                    )
    for variant, label in _VARIANTS:
        source = f"M ({7 if d == 1.0 else 8}){label}"
        with answers.attempt(source):
            said = single_station(d, parameters, variant)
            _goodput(said, connections, answers, source, _THROUGHPUT, broken, assumptions.LONE)
            _state(said, answers, f"M (6){label}", broken, assumptions.LONE)


def _goodput(
    said: Throughput,
    connections: Connections,
    answers: Answers,
    source: str,
    by: str,
    broken: Sequence[str],
    assumes: Sequence[str] = assumptions.ENDLESS,
) -> None:
    goodput = float(said.goodput_bps)
    answers.add("goodput_bps", goodput, by=by, source=source, assumes=assumes, broken=broken)
    if len(connections.flows) == len(connections.scenario.flows):
        answers.add(
            "flow_goodput_bps",
            goodput / connections.count,
            by=by,
            source=source,
            assumes=assumes,
            broken=broken,
        )


def _state(
    said: Throughput,
    answers: Answers,
    source: str,
    broken: Sequence[str],
    assumes: Sequence[str] = assumptions.ENDLESS,
) -> None:
    for metric, value in (
        ("collision_probability", said.collision_probability),
        ("drop_probability_mac", said.drop_probability),
        ("mean_backlogged_nodes", said.mean_backlogged_nodes),
    ):
        answers.add(
            metric, float(value), by=_CONTENTION, source=source, assumes=assumes, broken=broken
        )


def _collisions_by_state(connections: Connections, answers: Answers, broken: Sequence[str]) -> None:
    """Collision probability from the distribution (9), (11) of backlogged nodes, not its mean.

    With k nodes backlogged (probability pi_k) each of them attempts in a slot with tau_k and
    collides with P_C(k). The access point is one of the k in every state, stations are the other
    k - 1. So attempts weigh pi_k k tau_k for all nodes, pi_k tau_k for the access point and
    pi_k (k-1) tau_k for stations. (2) at the mean of (9) is blind to the states with many nodes,
    where most collisions are.
    """
    share, p_c, tau = _states(connections.count, connections.every, connections.parameters)
    nodes = np.arange(1, len(share) + 1)
    weights = {
        "collision_probability": nodes * share * tau,
        "collision_probability_ap": share * tau,
        "collision_probability_stations": (nodes - 1) * share * tau,
    }
    for metric, weight in weights.items():
        answers.add(
            metric,
            float(np.dot(weight, p_c) / weight.sum()),
            by=_CONTENTION,
            source="M (1), (2) averaged over (9)",
            assumes=assumptions.ENDLESS,
            broken=broken,
        )


def _states(
    count: int, d: float, parameters: Parameters, variant: Variant = CORRECTED
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """pi_k, P_C(k) and tau_k for k = 1, 2, ... backlogged nodes, as far as pi_k matters."""
    share = np.asarray(backlogged_distribution(count, d))
    # At most one station is backlogged on average: beyond 40 there is nothing left to weigh.
    share = share[:41]
    state = contention(np.arange(1.0, len(share) + 1.0), parameters, variant)
    return share, np.asarray(state.p_c), np.asarray(state.tau)

"""Paper M, Table 1, Fig. 7 and A.1: the models' parameters, and pictures of their chains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from airtcp.models.airtime import Phy
from airtcp.scenario import ResolvedScenario
from airtcp.scenario.keys.tcp import Tcp
from airtcp.standards import DsssTiming

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.chart import Series
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.diagram import Edge, Node, diagram
from airtcp_papers.common.item import Cell, Data
from airtcp_papers.common.measure import mean
from airtcp_papers.miorandi.contention import EQUATIONS
from airtcp_papers.miorandi.model import (
    Parameters,
    active_distribution,
    capacity,
    window_distribution,
)
from airtcp_papers.miorandi.users import MEAN_BYTES


@item("M.table1")
def table1(bench: Bench) -> Found:
    scenario = bench.scenario("persistent", EQUATIONS)
    rows: list[list[Cell]] = [[name, paper, ours(scenario)] for name, paper, ours in _TABLE_1]
    equal = sum(paper == ours for _, paper, ours in rows)
    times = Parameters.table_1()
    tcp = _tcp(scenario)
    resolved = Parameters.from_phy(
        Phy.of(scenario.phy),
        mss_bytes=tcp.mss_bytes,
        header_bits=tcp.header_bits,
        retry_limit=scenario.mac.short_retry_limit,
        rts_threshold_bytes=scenario.mac.rts_threshold_bytes,
    )
    return Found(
        data=Data(["parameter", "paper", "scenario"], rows),
        values={
            "different": float(len(rows) - equal),
            "data_us": 1e6 * resolved.t_tcp_data_s,
            "tcp_ack_us": 1e6 * resolved.t_tcp_ack_s,
        },
        told={
            "equal": equal,
            "rows": len(rows),
            "data_us": 1e6 * times.t_tcp_data_s,
            "ack_us": 1e6 * times.t_tcp_ack_s,
        },
    )


#: Table 1: what a parameter is, the paper's number, and the scenario's.
_TABLE_1: Final[tuple[tuple[str, float, Callable[[ResolvedScenario], float]], ...]] = (
    ("slot (us)", 20, lambda one: one.phy.slot_time_ns / 1e3),
    ("SIFS (us)", 10, lambda one: one.phy.sifs_ns / 1e3),
    ("DIFS (us)", 50, lambda one: one.phy.difs_ns / 1e3),
    ("preamble (us)", 144, lambda one: _dsss(one).preamble_time_ns / 1e3),
    ("PHY header (us)", 48, lambda one: _dsss(one).plcp_header_time_ns / 1e3),
    ("CWmin, as backoff from 0 to CW", 31, lambda one: one.phy.cw_min),
    ("CWmax, likewise", 1023, lambda one: one.phy.cw_max),
    ("m, transmissions of a frame", 7, lambda one: one.mac.short_retry_limit),
    ("data rate (Mb/s)", 11, lambda one: one.phy.data_rate.bps / 1e6),
    ("control rate (Mb/s)", 2, lambda one: one.phy.control_rate.bps / 1e6),
    ("RTS (bits)", 180, lambda one: one.phy.rts_bits),
    ("CTS (bits)", 112, lambda one: one.phy.cts_bits),
    ("MAC ACK (bits)", 112, lambda one: one.phy.ack_bits),
    ("MAC header and FCS (bits)", 272, lambda one: one.phy.mac_header_bits + one.phy.llc_bits),
    ("TCP and IP headers (bits)", 320, lambda one: _tcp(one).header_bits),
    ("payload of a packet (bits)", 8000, lambda one: 8 * _tcp(one).mss_bytes),
)


def _dsss(scenario: ResolvedScenario) -> DsssTiming:
    if scenario.phy.dsss is None:
        raise ValueError("the scenario is not one of 802.11b")
    return scenario.phy.dsss


def _tcp(scenario: ResolvedScenario) -> Tcp:
    tcp = scenario.flows[0].tcp
    if tcp is None:
        raise ValueError("the first flow has no TCP")
    return tcp


_STATIONS = 10
_THINK_S = 10.0


def active_transfers(
    *, stations: float = _STATIONS, think: float = _THINK_S, size: float = MEAN_BYTES
) -> list[Series]:
    """Fig. 7: the stationary distribution of the chain, (16)."""
    capacities = capacity(int(stations), Parameters.table_1())
    pi = active_distribution(capacities, think, size)
    return [Series("(16)", range(int(stations) + 1), [float(p) for p in pi], "model")]


@item("M.fig7")
def fig7(bench: Bench) -> Found:
    capacities = capacity(_STATIONS, Parameters.table_1())
    (chain,) = active_transfers()
    pi = [mean(p) for p in chain.y]
    up = [(_STATIONS - k) / _THINK_S for k in range(_STATIONS + 1)]
    down = [0.0, *(float(c) / (8.0 * MEAN_BYTES) for c in capacities)]
    flows = [abs(pi[k] * up[k] - pi[k + 1] * down[k + 1]) for k in range(_STATIONS)]
    rows: list[list[Cell]] = [[k, up[k], down[k], float(pi[k])] for k in range(_STATIONS + 1)]
    labels = {"0": "0", "1": "1", "2": "2", "gap": "...", "m": "n-2", "n": "n-1"}
    nodes = [
        Node(name, 1.35 * place, 0.0, label, "none" if name == "gap" else "circle")
        for place, (name, label) in enumerate(labels.items())
    ]
    rates = [
        ("0", "1", "(n-1)λ", "μ₁"),
        ("1", "2", "(n-2)λ", "μ₂"),
        ("2", "gap", "(n-3)λ", "μ₃"),
        ("gap", "m", "2λ", "μ₍ₙ₋₂₎"),
        ("m", "n", "λ", "μ₍ₙ₋₁₎"),
    ]
    edges = []
    for left, right, begin, end in rates:
        edges += [Edge(left, right, begin, 0.3), Edge(right, left, end, 0.3)]
    return Found(
        data=Data(["active k", "up (1/s)", "down (1/s)", "probability"], rows),
        figure=diagram(nodes, edges),
        values={"balance": max(flows), "sum": float(sum(pi))},
        told={"float_pi_0": float(pi[0])},
    )


_WINDOW = 4


def packets_of_a_window(*, window: float = _WINDOW) -> list[Series]:
    """Fig. A.1: the stationary distribution of the chain, (A.1)."""
    chances = [float(p) for p in window_distribution(int(window))]
    return [Series("(A.1)", range(int(window) + 1), chances, "model")]


@item("M.figA1")
def fig_a1(bench: Bench) -> Found:
    matrix = np.zeros((_WINDOW + 1, _WINDOW + 1))
    for at_sender in range(_WINDOW + 1):
        inside = 0 < at_sender < _WINDOW
        if at_sender < _WINDOW:
            matrix[at_sender, at_sender + 1] = 0.5 if inside else 1.0
        if at_sender > 0:
            matrix[at_sender, at_sender - 1] = 0.5 if inside else 1.0
    # The stationary distribution solved directly, not by (A.1): pi P = pi, sum 1.
    system = np.vstack([matrix.T - np.eye(_WINDOW + 1), np.ones(_WINDOW + 1)])
    solved, *_ = np.linalg.lstsq(system, np.append(np.zeros(_WINDOW + 1), 1.0), rcond=None)
    (chain,) = packets_of_a_window()
    formula = np.array([mean(p) for p in chain.y])
    rows: list[list[Cell]] = [
        [f"({a}, {_WINDOW - a})", float(formula[a]), float(solved[a])] for a in range(_WINDOW + 1)
    ]
    nodes = [
        Node(str(a), 1.6 * place, 0.0, f"{a}, {_WINDOW - a}", size=0.36)
        for place, a in enumerate(range(_WINDOW, -1, -1))
    ]
    edges = []
    for a in range(_WINDOW, 0, -1):
        down, up = matrix[a, a - 1], matrix[a - 1, a]
        edges += [
            Edge(str(a), str(a - 1), "1" if down == 1.0 else "1/2", 0.3),
            Edge(str(a - 1), str(a), "1" if up == 1.0 else "1/2", 0.3),
        ]
    apart = float(np.abs(formula - solved).max())
    return Found(
        data=Data(["state", "probability, (A.1)", "probability, solved"], rows),
        figure=diagram(nodes, edges),
        values={"apart": apart, "end": float(solved[0]), "inside": float(solved[2])},
    )

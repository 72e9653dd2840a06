"""Compute paper M, section 3: TCP throughput of endless downloads, (7) to (12).

Inputs are the contention among backlogged nodes and their number. A connection acknowledges every
`d` segments (delayed ACK); there are n_c connections, one per station.
"""

from dataclasses import dataclass

import numpy as np
from airtcp.models import checks
from airtcp.models.checks import Values
from numpy.typing import ArrayLike

from airtcp_papers.miorandi.model.contention import collision_probability, contention
from airtcp_papers.miorandi.model.parameters import PAPER, Parameters, Variant

__all__ = ["Throughput", "backlogged_distribution", "capacity", "single_station", "throughput"]

_MOST_BACKLOGGED = 64
"""At most one station is backlogged on average; that 64 are has a probability below 1e-88."""

_MOST_STATIONS = 20_000
"""Ten times the association identifiers of one access point (IEEE 802.11-2020, 9.4.1.8)."""


@dataclass(frozen=True, slots=True)
class Throughput:
    """Endless downloads: `flow_goodput_bps` of each connection (S_TCP), `goodput_bps` of all.

    `mean_backlogged_nodes` E[n_b], including the access point; `collision_probability` P_C at that
    mean (as in the paper's Fig. 4), and `drop_probability` P_C^m.
    """

    n_c: Values
    goodput_bps: Values
    flow_goodput_bps: Values
    mean_backlogged_nodes: Values
    collision_probability: Values
    drop_probability: Values


def single_station(d: ArrayLike, parameters: Parameters, variant: Variant = PAPER) -> Throughput:
    """Return S_TCP(1, d) for W* >> d: (7) for d = 1, else (8), with T_slot in its last term (M1).

    Two nodes are backlogged while a TCP ACK waits. (12) at n_c = 1 is another estimate for d >= 2
    (M13). The mean number of backlogged nodes is 1 + 1/d; P_C is that of two.

    Raises `ValueError` for d < 1, `ConvergenceError`.

    >>> single_station([1, 2], Parameters.table_1()).goodput_bps.round(-3)
    array([2371000., 2901000.])
    """
    every = checks.real("d", d, at_least=1.0)
    two = contention(2.0, parameters, variant)
    shared = parameters.t_tcp_ack_s + 2.0 * two.t_tbo_s + 2.0 * two.t_w_s
    alone = (every - 1.0) / every * parameters.mean_first_backoff_s
    goodput = parameters.tcp_payload_bits / (parameters.t_tcp_data_s + shared / every + alone)
    return Throughput(
        n_c=np.ones(every.shape)[()],
        goodput_bps=np.asarray(goodput)[()],
        flow_goodput_bps=np.asarray(goodput)[()],
        mean_backlogged_nodes=np.asarray(1.0 + 1.0 / every)[()],
        collision_probability=np.full(every.shape, two.p_c)[()],
        drop_probability=np.full(every.shape, two.p_drop)[()],
    )


def backlogged_distribution(n_c: int, d: float = 1.0) -> Values:
    """Return pi_k of (9), (11): probability that k = 1 .. n_c + 1 nodes are backlogged, W* = d.

    The access point always is; each station is with probability 1 / (d n_c), independently. For n_c
    = 1, d = 1 the probability of two is one (0^0 = 1, M12; in contrast to section 4.1, M11).

    Raises `ValueError` unless n_c is whole, >= 1 and <= 1e6, and d >= 1.

    >>> backlogged_distribution(2)
    array([0.25, 0.5 , 0.25])
    """
    connections = checks.scalar("n_c", n_c, at_least=1, at_most=1e6, whole=True)
    every = checks.scalar("d", d, at_least=1.0)
    stations = np.arange(int(connections) + 1, dtype=np.float64)
    return _binomial(stations, np.asarray(connections), np.asarray(1.0 / (every * connections)))


def throughput(
    n_c: ArrayLike, parameters: Parameters, variant: Variant = PAPER, *, d: ArrayLike = 1.0
) -> Throughput:
    """Return S_TCP(n_c, d) for W* = d: (10) for d = 1, (12) in general.

    This is a time-scale decomposition: for a fraction pi_k of the time k nodes are backlogged, and
    the connections then share L_TCP / (T_data + T_ack/d + (d+1)/d (T_tbo(k) + T_W(k))). With
    `variant.single_connection` "alternating", n_c = 1 has no contention at all: each frame waits
    for the mean first backoff (M11).

    Raises `ValueError` with their names unless n_c is whole and >= 1 and d >= 1, and
    `ConvergenceError`.

    >>> throughput([1, 5, 20], Parameters.table_1()).goodput_bps.round(-3)
    array([2371000., 2330000., 2325000.])
    """
    connections = checks.real("n_c", n_c, at_least=1.0, whole=True)
    every = checks.real("d", d, at_least=1.0)
    connections, every = checks.broadcast(n_c=connections, d=every)
    stations = np.arange(min(float(connections.max()), _MOST_BACKLOGGED) + 1.0)
    state = contention(stations + 1.0, parameters, variant)

    column, ratio = connections[..., np.newaxis], 1.0 / every[..., np.newaxis]
    fixed = parameters.t_tcp_data_s + ratio * parameters.t_tcp_ack_s
    cycle = fixed + (1.0 + ratio) * (state.t_tbo_s + state.t_w_s)
    share = _binomial(stations, column, ratio / column)
    goodput = parameters.tcp_payload_bits * np.sum(share / cycle, axis=-1)
    backlogged = 1.0 + 1.0 / every
    alone = (connections == 1.0) & (variant.single_connection == "alternating")
    if alone.any():
        quiet = fixed[..., 0] + (1.0 + 1.0 / every) * parameters.mean_first_backoff_s
        goodput = np.where(alone, parameters.tcp_payload_bits / quiet, goodput)
        backlogged = np.where(alone, 1.0, backlogged)
    p_c = np.asarray(collision_probability(backlogged, parameters, variant))
    return Throughput(
        n_c=connections[()],
        goodput_bps=np.asarray(goodput)[()],
        flow_goodput_bps=np.asarray(goodput / connections)[()],
        mean_backlogged_nodes=backlogged[()],
        collision_probability=p_c[()],
        drop_probability=np.asarray(p_c**parameters.m)[()],
    )


def capacity(
    most: int, parameters: Parameters, variant: Variant = PAPER, *, d: float = 1.0
) -> Values:
    """Return C_k = k S_TCP(k, d) for k = 1 .. `most` active connections, bit/s (section 4.2).

    Raises `ValueError` unless `most` is whole, >= 1 and <= 20000, `ConvergenceError`.

    >>> capacity(3, Parameters.table_1()).round(-3)
    array([2371000., 2341000., 2334000.])
    """
    count = checks.scalar("most", most, at_least=1, at_most=_MOST_STATIONS, whole=True)
    active = np.arange(1.0, count + 1.0)
    return np.asarray(throughput(active, parameters, variant, d=d).goodput_bps)


def _binomial(stations: Values, trials: Values, chance: Values) -> Values:
    """Return P(`stations` = 0, 1, 2, ... of `trials`), 0 above; in logarithms, with 0 log 0 = 0."""
    # Logarithm of the number of ways, from C(t, s) = prod over j = 1 .. s of (t - j + 1) / j.
    factors = np.maximum(trials - stations + 1.0, 1.0) / np.maximum(stations, 1.0)
    ways = np.cumsum(np.where(stations >= 1.0, np.log(factors), 0.0), axis=-1)
    rest = np.maximum(trials - stations, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        idle = np.where(rest > 0.0, rest * np.log1p(-chance), 0.0)
    return np.where(stations <= trials, np.exp(ways + stations * np.log(chance) + idle), 0.0)

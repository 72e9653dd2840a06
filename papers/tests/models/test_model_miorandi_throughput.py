"""Paper M, (7) to (12), its appendix, and the distance of ns-2 from both."""

import dataclasses

import numpy as np
import pytest
from airtcp.exceptions import ConvergenceError
from airtcp_papers.miorandi.model import (
    CORRECTED,
    PAPER,
    Parameters,
    Variant,
    backlogged_distribution,
    capacity,
    collision_probability,
    contention,
    phi,
    single_station,
    throughput,
    window_distribution,
    window_throughput,
    window_throughput_by_chain,
)

TABLE_1 = Parameters.table_1()
VARIANTS = [PAPER, CORRECTED]


def test_equation_7_by_hand() -> None:
    """8000 bits over T_data + T_ack + 2 T_tbo + 2 T_W, with P_C of two nodes."""
    two = contention(2, TABLE_1)
    cycle = TABLE_1.t_tcp_data_s + TABLE_1.t_tcp_ack_s + 2 * two.t_tbo_s + 2 * two.t_w_s

    assert single_station(1, TABLE_1).goodput_bps == pytest.approx(8000 / cycle)


def test_equation_8_counts_backoff_in_slots() -> None:
    """M1: the last term of (8) is (d-1)/d T_slot (CWmin-1)/2; at d = 4 that is 232.5 us."""
    two = contention(2, TABLE_1)
    shared = TABLE_1.t_tcp_ack_s + 2 * two.t_tbo_s + 2 * two.t_w_s
    cycle = TABLE_1.t_tcp_data_s + shared / 4 + 232.5e-6

    assert single_station(4, TABLE_1).goodput_bps == pytest.approx(8000 / cycle)


@pytest.mark.parametrize("n_c", [1, 2, 7, 100, 5000])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_backlogged_distribution(n_c: int, d: int) -> None:
    """(9), (11): a probability with mean 1 + 1/d, including n_c = 1, d = 1 (0^0 = 1, M12)."""
    pi = backlogged_distribution(n_c, d)

    assert pi.shape == (n_c + 1,)
    assert pi.sum() == pytest.approx(1.0, abs=1e-12)
    assert pi @ np.arange(1, n_c + 2) == pytest.approx(1 + 1 / d, rel=1e-12)


def test_backlogged_distribution_as_printed() -> None:
    """(11) for n_c = 3, d = 2: binomial of 3 with 1/6."""
    assert backlogged_distribution(3, 2) == pytest.approx(
        [(5 / 6) ** 3, 3 * (5 / 6) ** 2 / 6, 3 * (5 / 6) / 36, 1 / 216]
    )


def test_equation_12_for_delayed_acks() -> None:
    n_c, d = 4, 3
    states = contention(np.arange(1, n_c + 2), TABLE_1)
    fixed = TABLE_1.t_tcp_data_s + TABLE_1.t_tcp_ack_s / d
    cycle = n_c * (fixed + (d + 1) / d * (states.t_tbo_s + states.t_w_s))
    summed = 8000 * np.sum(backlogged_distribution(n_c, d) / cycle)

    assert throughput(n_c, TABLE_1, d=d).flow_goodput_bps == pytest.approx(summed, rel=1e-12)


def test_one_connection_as_9_has_it_is_equation_7() -> None:
    """M11: (9) forces two backlogged nodes for n_c = 1; M13: for d >= 2, (12) differs from (8)."""
    paper = throughput(1, TABLE_1, PAPER, d=[1, 2])
    endless = single_station([1, 2], TABLE_1, PAPER)

    assert paper.goodput_bps[0] == pytest.approx(float(endless.goodput_bps[0]), rel=1e-12)
    assert paper.goodput_bps[1] / endless.goodput_bps[1] == pytest.approx(0.9925, abs=1e-4)


def test_one_connection_alternating_is_the_window_model_with_one_packet() -> None:
    """M11, the paper's other value: (A.3) with W* = 1, without contention."""
    variant = dataclasses.replace(PAPER, single_connection="alternating")
    result = throughput([1, 2], TABLE_1, variant)

    assert result.goodput_bps[0] == pytest.approx(float(window_throughput(1, TABLE_1)))
    assert result.collision_probability[0] == 0.0
    assert result.mean_backlogged_nodes.tolist() == [1.0, 2.0]
    assert result.goodput_bps[1] == throughput(2, TABLE_1, PAPER).goodput_bps


def test_collision_probability_is_that_of_the_mean_number_of_backlogged() -> None:
    """Fig. 4: two backlogged nodes for any n_c; 1 + 1/d with delayed ACKs."""
    result = throughput([[2], [20]], TABLE_1, d=[1, 2])

    assert result.mean_backlogged_nodes.tolist() == [[2.0, 1.5], [2.0, 1.5]]
    assert result.collision_probability[1].tolist() == pytest.approx(
        collision_probability([2, 1.5], TABLE_1).tolist()
    )


def test_capacity_is_the_throughput_of_k_connections() -> None:
    assert capacity(3, TABLE_1, CORRECTED).tolist() == [
        float(throughput(k, TABLE_1, CORRECTED).goodput_bps) for k in (1, 2, 3)
    ]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("window", [1, 2, 4, 50])
def test_a2_equals_a3(window: int, variant: Variant) -> None:
    assert window_throughput_by_chain(window, TABLE_1, variant) == pytest.approx(
        float(window_throughput(window, TABLE_1, variant)), rel=1e-12
    )


@pytest.mark.parametrize("window", [1, 2, 4, 9])
def test_a1_is_stationary(window: int) -> None:
    """The chain of Fig. A.1: one packet up or down with 1/2 each, reflected at both ends."""
    step = np.zeros((window + 1, window + 1))
    for at in range(window + 1):
        ends = [a for a in (at - 1, at + 1) if 0 <= a <= window]
        step[at, ends] = 1 / len(ends)
    pi = window_distribution(window)

    assert pi.sum() == pytest.approx(1.0)
    assert pi @ step == pytest.approx(pi, abs=1e-15)


def test_phi_falls_with_the_window() -> None:
    """Fig. A.2: from T_slot (CWmin - 1) at W* = 1 towards 2 (T_tbo + T_W)."""
    two = contention(2, TABLE_1)
    wasted = phi(np.arange(1, 101), TABLE_1)

    assert wasted[0] * 1e6 == pytest.approx(620)
    assert np.all(np.diff(wasted) < 0)
    assert phi(1e9, TABLE_1) == pytest.approx(2 * (two.t_tbo_s + two.t_w_s), rel=1e-6)
    assert window_throughput(1e9, TABLE_1) == pytest.approx(
        float(single_station(1, TABLE_1).goodput_bps), rel=1e-6
    )


# Goodput of the real ns-2 2.35 in b/s: endless downloads, 802.11b with RTS/CTS as in Table 1, but
# an RTS of 160 bits and backoff over 0 .. 30; by (n_c, d), or by d for one connection.
NS2_WINDOW_D = {(5, 1): 2.41326e6, (20, 1): 2.41374e6, (10, 2): 2.94893e6, (10, 4): 3.31155e6}
NS2_LARGE_WINDOW = {1: 2.41908e6, 2: 2.95194e6, 4: 3.31174e6}
NS2_TABLE = dataclasses.replace(Parameters.table_1(rts="standard"), w0=31, w_max=1023)


@pytest.mark.parametrize(("point", "measured"), NS2_WINDOW_D.items())
def test_bias_against_ns2_with_small_windows(point: tuple[int, int], measured: float) -> None:
    """The paper is 1 to 3 % low: it counts backoff twice (M3) and collisions per node (M4).

    Corrected it is within 1 %; no model has the post-backoff of `..._with_one_packet`.
    """
    n_c, d = point
    paper = float(throughput(n_c, NS2_TABLE, PAPER, d=d).goodput_bps) / measured - 1
    better = float(throughput(n_c, NS2_TABLE, CORRECTED, d=d).goodput_bps) / measured - 1

    assert -0.03 < paper < -0.01
    assert -0.01 < better < 0.0
    assert abs(better) < abs(paper)


@pytest.mark.parametrize(("d", "measured"), NS2_LARGE_WINDOW.items())
def test_bias_against_ns2_with_one_station(d: int, measured: float) -> None:
    """(7), (8): 0.4 to 1.3 % low as printed (M3, M4), 0.2 to 1 % high when corrected.

    They are high because ns-2 waits 414 us after a collided RTS where (3) has 60: 22 us more in a
    cycle of 3280.
    """
    paper = float(single_station(d, NS2_TABLE, PAPER).goodput_bps) / measured - 1
    better = float(single_station(d, NS2_TABLE, CORRECTED).goodput_bps) / measured - 1

    assert -0.013 < paper < -0.004
    assert 0.002 < better < 0.01


def test_no_root_is_an_error_here_too() -> None:
    """Without retries (m = 1), (1) and (2) as printed have no root for a few dozen nodes."""
    with pytest.raises(ConvergenceError, match="stages='normalised'"):
        throughput(50, dataclasses.replace(TABLE_1, m=1), PAPER)
    assert throughput(50, dataclasses.replace(TABLE_1, m=1), CORRECTED).goodput_bps > 0

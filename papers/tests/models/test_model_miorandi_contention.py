"""Paper M, (1) to (6): the collision probability, its variants and the cost of collisions."""

import dataclasses
import math

import numpy as np
import pytest
from airtcp.exceptions import ConvergenceError
from airtcp.models import bianchi
from airtcp.models.airtime import Phy
from airtcp_papers.miorandi.model import (
    CORRECTED,
    PAPER,
    Parameters,
    Variant,
    collision_probability,
    contention,
    mean_backoff_slots,
)

TABLE_1 = Parameters.table_1()
VARIANTS = [PAPER, CORRECTED]


def printed_backoff(p: float) -> float:
    """(1) as printed, in slots, for Table 1: CWmin 32, gamma 5, m 7. It is 0/0 at p = 1/2."""
    return (
        (1 - p) * 32 / 2 * (1 - (2 * p) ** 5) / (1 - 2 * p)
        - (1 - p**5) / 2
        + (2**5 * 32 - 1) / 2 * (p**5 - p**7)
    )


def test_table_1_times() -> None:
    """Section 2.3 by hand, us: DIFS, four frame starts of 192, three SIFS, 90 + 56 + 56 of bits."""
    overhead = 50 + 4 * 192 + 3 * 10 + 90 + 56 + 56

    assert TABLE_1.t_tcp_data_s * 1e6 == pytest.approx(overhead + 8592 / 11)
    assert TABLE_1.t_tcp_ack_s * 1e6 == pytest.approx(overhead + 592 / 11)
    assert TABLE_1.gamma == 5
    assert TABLE_1.mean_first_backoff_s * 1e6 == pytest.approx(310)


def test_the_rts_of_the_standard_is_10_us_shorter() -> None:
    """M8: 180 bits printed, 160 in the standard, at 2 Mb/s."""
    standard = Parameters.table_1(rts="standard")

    assert (TABLE_1.t_tcp_data_s - standard.t_tcp_data_s) * 1e6 == pytest.approx(10)


def test_a_resolved_scenario_fills_the_same_fields(phy_80211b: Phy) -> None:
    """802.11b with 34 bytes of MAC header, without LLC, frames not rounded to microseconds."""
    phy = dataclasses.replace(phy_80211b, mac_header_bits=272, llc_bits=0, symbol_rounding=False)
    parameters = Parameters.from_phy(
        phy, mss_bytes=1000, header_bits=320, retry_limit=7, rts_threshold_bytes=0
    )
    expected = dataclasses.asdict(Parameters.table_1(rts="standard"))

    # The PHY rounds frames to whole nanoseconds.
    assert dataclasses.asdict(parameters) == pytest.approx(expected, abs=1e-9)


def test_rts_only_before_long_frames(phy_80211b: Phy) -> None:
    """Threshold 500 bytes: the data frame of 1076 bytes is longer, the TCP ACK of 76 is not."""
    parameters = Parameters.from_phy(
        phy_80211b, mss_bytes=1000, header_bits=320, retry_limit=7, rts_threshold_bytes=500
    )

    assert parameters.rts_before_data
    assert not parameters.rts_before_tcp_ack
    # 50 + 272 + 10 + 248 + 10 + (192 + ceil(8608/11)) + 10 + 248; 50 + (192 + 56) + 10 + 248.
    assert parameters.t_tcp_data_s * 1e6 == pytest.approx(1823)
    assert parameters.t_tcp_ack_s * 1e6 == pytest.approx(556)


@pytest.mark.parametrize(("threshold", "rts"), [(1075, True), (1076, False), (None, False)])
def test_a_frame_as_long_as_the_threshold_goes_without_rts(
    phy_80211b: Phy, threshold: int | None, rts: bool
) -> None:
    """The MPDU of a full segment has 1000 + 40 + 36 bytes."""
    parameters = Parameters.from_phy(
        phy_80211b, mss_bytes=1000, header_bits=320, retry_limit=7, rts_threshold_bytes=threshold
    )

    assert parameters.rts_before_data is rts


def test_every_frame_travels(phy_80211b: Phy) -> None:
    """1 us of propagation after each of the four frames of an exchange."""
    far = dataclasses.replace(phy_80211b, propagation_delay_ns=1000)
    near_s, far_s = (
        Parameters.from_phy(
            phy, mss_bytes=1000, header_bits=320, retry_limit=7, rts_threshold_bytes=0
        ).t_tcp_data_s
        for phy in (phy_80211b, far)
    )

    assert (far_s - near_s) * 1e6 == pytest.approx(4)


@pytest.mark.parametrize("p", [0.0, 0.06, 0.3, 0.49, 0.51, 0.9, 1.0])
def test_summed_form_equals_equation_1(p: float) -> None:
    """Erratum M7."""
    assert mean_backoff_slots(p, TABLE_1) == pytest.approx(printed_backoff(p), rel=1e-12)


def test_one_half_is_an_ordinary_point() -> None:
    around = (printed_backoff(0.5 - 1e-6) + printed_backoff(0.5 + 1e-6)) / 2

    assert mean_backoff_slots(0.5, TABLE_1) == pytest.approx(around, rel=1e-8)


def test_collision_probability_stated_for_two_nodes() -> None:
    """P_C = 0.060, stated below (6), is the paper's reading, 1/b. It solves (6) as printed."""
    p = float(collision_probability(2, TABLE_1, PAPER))

    assert round(p, 3) == 0.060
    assert 1 / p == pytest.approx(printed_backoff(p), rel=1e-9)
    assert round(float(collision_probability(2, TABLE_1, CORRECTED)), 3) == 0.057


def first_crossing(n: float, parameters: Parameters, variant: Variant) -> float:
    """Find the smallest root of (1), (2) by scanning P: the first sign change on a fine grid."""
    grid = np.linspace(0.0, 1.0, 1_000_001)
    slots = mean_backoff_slots(grid, parameters, variant)
    tau = 1 / (slots + 1) if variant.attempts == "bianchi-like" else 1 / np.maximum(slots, 1)
    excess = grid - (1 - (1 - tau) ** (n - 1))
    return float(grid[np.flatnonzero(excess >= 0)[0]])


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("n", [1.5, 2, 5, 20, 100, 200, 214])
def test_smallest_root(n: float, variant: Variant) -> None:
    """M5. For n_b = 200 and 214, Table 1 as printed has its roots beyond the largest T_b."""
    assert collision_probability(n, TABLE_1, variant) == pytest.approx(
        first_crossing(n, TABLE_1, variant), abs=2e-6
    )


@pytest.mark.parametrize("m", [1, 2, 7])
def test_smallest_root_where_backoff_only_falls(m: int) -> None:
    """No retries (m = 1): T_b of (1) falls from P = 0 on, and the root is right of its maximum."""
    parameters = dataclasses.replace(TABLE_1, m=m)

    assert collision_probability(2, parameters, PAPER) == pytest.approx(
        first_crossing(2, parameters, PAPER), abs=2e-6
    )


def test_the_spurious_root_is_never_the_answer() -> None:
    """From 215 nodes on (1), (2) as printed have only a spurious root, which is an error."""
    with pytest.raises(ConvergenceError, match="for n_b = 215 and above"):
        collision_probability([2, 214, 215, 300], TABLE_1, PAPER)


def test_1_to_1000_nodes_in_one_call() -> None:
    """Each root solves its equation."""
    nodes = np.arange(1, 1001)
    p = collision_probability(nodes, TABLE_1, CORRECTED)
    tau = 1 / (mean_backoff_slots(p, TABLE_1, CORRECTED) + 1)

    assert p == pytest.approx(1 - (1 - tau) ** (nodes - 1), abs=1e-12)
    assert np.all(np.diff(p) > 0)


def test_corrected_form_is_bianchi_with_a_retry_limit() -> None:
    """With both M6 and normalised stages: 7 attempts are 6 retries."""
    nodes = np.array([1.0, 1.5, 2.0, 10.0, 300.0])
    point = bianchi.fixed_point(nodes, 32, 5, 6)
    result = contention(nodes, TABLE_1, CORRECTED)

    assert result.p_c == pytest.approx(point.p, rel=1e-12)
    assert result.tau == pytest.approx(point.tau, rel=1e-12)
    assert result.p_drop == pytest.approx(point.drop, rel=1e-10)


def test_a_lone_node_waits_its_first_backoff() -> None:
    for variant in VARIANTS:
        one = contention(1, TABLE_1, variant)

        assert one.p_c == 0.0
        assert one.p_drop == 0.0
        assert one.t_w_s == 0.0
        assert one.t_tbo_s * 1e6 == pytest.approx(310)


def test_times_of_two_nodes_by_hand() -> None:
    """(3) to (5): T_coll = 50 + T_b + 192 + 90 + 10, T_W = T_coll P/(1-P), T_tbo = T_b/(2(1-P))."""
    two = contention(2, TABLE_1, PAPER)
    p, t_b = float(two.p_c), 20 * printed_backoff(float(two.p_c))

    assert two.t_b_s * 1e6 == pytest.approx(t_b)
    assert two.t_coll_s * 1e6 == pytest.approx(342 + t_b)
    assert two.t_w_s * 1e6 == pytest.approx((342 + t_b) * p / (1 - p))
    assert two.t_tbo_s * 1e6 == pytest.approx(t_b / 2 / (1 - p))
    assert two.p_drop == pytest.approx(p**7)


def test_backoff_counted_once() -> None:
    """M3: T_coll loses T_b, and nothing else changes."""
    variant = dataclasses.replace(PAPER, backoff_in_collision=False)
    paper, better = contention([2, 10], TABLE_1, PAPER), contention([2, 10], TABLE_1, variant)

    assert better.t_coll_s == pytest.approx(paper.t_coll_s - paper.t_b_s)
    assert better.t_tbo_s == pytest.approx(paper.t_tbo_s)
    assert better.p_c == pytest.approx(paper.p_c)


@pytest.mark.parametrize("n", [2, 3, 10])
def test_collision_charged_once(n: int) -> None:
    """M4: T_W is divided by the mean number of nodes in a collision, here a sum over binomials."""
    variant = dataclasses.replace(PAPER, collision_charge="once")
    paper, better = contention(n, TABLE_1, PAPER), contention(n, TABLE_1, variant)
    tau = float(paper.tau)
    chance = [math.comb(n, k) * tau**k * (1 - tau) ** (n - k) for k in range(n + 1)]
    mean = sum(k * chance[k] for k in range(2, n + 1)) / sum(chance[2:])

    assert paper.t_w_s / better.t_w_s == pytest.approx(mean, rel=1e-9)


def test_how_often_a_collision_contains_the_access_point(phy_80211b: Phy) -> None:
    """Three nodes: two in three collisions of two contain the access point, and all of three."""
    basic = Parameters.from_phy(
        phy_80211b, mss_bytes=1000, header_bits=320, retry_limit=7, rts_threshold_bytes=None
    )
    result = contention(3, basic, CORRECTED)
    tau = float(result.tau)
    two, three = 3 * tau**2 * (1 - tau), tau**3
    share = (two * 2 / 3 + three) / (two + three)
    data, ack = 192 + 783, 192 + 56

    assert result.t_coll_s * 1e6 == pytest.approx(60 + share * data + (1 - share) * ack)


def test_windows_of_one_slot() -> None:
    """cw_min = cw_max = 0: two nodes always collide, and no backoff is lost."""
    parameters = dataclasses.replace(TABLE_1, w0=1, w_max=1)
    result = contention([1, 2], parameters, CORRECTED)

    assert result.p_c.tolist() == [0.0, 1.0]
    assert result.t_tbo_s.tolist() == [0.0, 0.0]
    assert result.t_w_s.tolist() == [0.0, math.inf]

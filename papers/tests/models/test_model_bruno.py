"""Lemma 1 of paper B against recursion, enumeration, a closed form and the stated numbers."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from airtcp.models.airtime import HOT_SPOT, Rate
from airtcp_papers.bruno.model import (
    Overheads,
    attempt_distribution,
    best_share,
    best_stations,
    burst_size,
    expected_slots,
    lemma_1,
    maximum_goodput,
    success_rate,
    theoretical_limit,
)
from scipy.special import betainc

KINDS = ("success", "collision", "idle")

#: Frames last whole microseconds here.
PHY = dataclasses.replace(HOT_SPOT, symbol_rounding=True)


def enumeration(w: int, m: int) -> tuple[float, float, float]:
    """Enumerate the w^m ways in which m stations choose among w slots."""
    success = collision = idle = 0
    for choice in itertools.product(range(w), repeat=m):
        counts = [choice.count(slot) for slot in range(w)]
        success += counts.count(1)
        idle += counts.count(0)
        collision += sum(count > 1 for count in counts)
    ways = w**m
    return success / ways, collision / ways, idle / ways


@pytest.mark.parametrize(("w", "m"), [(1, 3), (2, 1), (2, 6), (3, 5), (4, 4), (6, 5), (9, 2)])
def test_lemma_meets_enumeration(w: int, m: int) -> None:
    slots = lemma_1(w, m)
    closed = expected_slots(w, m)

    for kind, counted in zip(KINDS, enumeration(w, m), strict=True):
        assert getattr(slots, kind)[m] == pytest.approx(counted, abs=1e-13)
        assert getattr(closed, kind) == pytest.approx(counted, abs=1e-13)


@pytest.mark.parametrize(("w", "m"), [(1, 50), (2, 1100), (32, 600), (256, 256), (1024, 300)])
def test_lemma_adds_up_to_the_closed_form(w: int, m: int) -> None:
    """N_s = m (1 - 1/w)^(m-1), and the three kinds of slot add up to w (B1), even if w is large."""
    slots = lemma_1(w, m)
    j = np.arange(m + 1)
    closed = expected_slots(w, j)

    assert slots.m.tolist() == j.tolist()
    assert slots.w.tolist() == [w] * (m + 1)
    expected = [float(w == 1 and n == 1) if w == 1 else n * (1 - 1 / w) ** (n - 1) for n in j]
    assert slots.success == pytest.approx(np.array(expected), rel=1e-11, abs=1e-13)
    for kind in KINDS:
        assert getattr(slots, kind) == pytest.approx(getattr(closed, kind), rel=1e-10, abs=1e-10)
    assert slots.success + slots.collision + slots.idle == pytest.approx(w, rel=1e-11)
    assert closed.success + closed.collision + closed.idle == pytest.approx(w, rel=1e-12)


@pytest.mark.parametrize("w", [1, 2, 3, 32, 1024, 2**20])
def test_collisions_have_all_their_digits(w: int) -> None:
    """SciPy's incomplete beta function is the reference: two or more of m, each with chance 1/w."""
    m = np.array([0, 1, 2, 3, 4, 10, 100, 1_000, 100_000, 1_000_000])
    expected = np.where(m >= 2, w * betainc(2.0, np.maximum(m - 1.0, 1.0), 1.0 / w), 0.0)

    np.testing.assert_allclose(expected_slots(w, m).collision, expected, rtol=1e-13)


@pytest.mark.parametrize(("w", "m"), [(1, 0), (1, 4), (2, 7), (32, 40), (1024, 2000), (2**20, 3)])
def test_attempts_are_a_distribution(w: int, m: int) -> None:
    distribution = attempt_distribution(w, m)

    assert distribution.shape == (m + 1,)
    assert np.all(distribution >= 0)
    assert distribution.sum() == pytest.approx(1, rel=1e-12)
    assert distribution @ np.arange(m + 1) == pytest.approx(m / w, rel=1e-11)


def test_a_quarter_of_the_window() -> None:
    """m* = w/4 with T_c = T_s and the MAC ACK at 2 Mb/s (B5), up to w = 128.

    For larger w, m* is one to three lower; the optimum is so flat that w/4 loses nothing.
    """
    overheads = Overheads.hot_spot()
    small, wide = np.array([4, 8, 16, 32, 64, 128]), np.array([256, 512, 1024])

    assert best_stations(small, overheads).tolist() == (small / 4).tolist()
    assert best_stations(wide, overheads).tolist() == [63, 126, 253]
    quarter = success_rate(wide, wide / 4, overheads)
    best = success_rate(wide, best_stations(wide, overheads), overheads)
    assert quarter == pytest.approx(best, rel=1e-4)


def test_other_overheads_move_the_optimum() -> None:
    """B5: "as-success" 553.8 us, "eifs" 609.8 us, "difs" 295.8 us: the frame and the wait."""
    frame = 192 + 592 / 11
    as_success, eifs, difs = (
        Overheads.hot_spot(collision="as-success"),
        Overheads.hot_spot(collision="eifs"),
        Overheads.hot_spot(collision="difs"),
    )

    assert as_success.success_s * 1e6 == pytest.approx(frame + 10 + 248 + 50, abs=2e-3)
    assert as_success.collision_s == as_success.success_s
    assert eifs.collision_s * 1e6 == pytest.approx(frame + 364, abs=2e-3)
    assert difs.collision_s * 1e6 == pytest.approx(frame + 50, abs=2e-3)
    windows = [8, 16, 32, 64, 128]
    assert best_stations(windows, eifs).tolist() == [2, 4, 7, 15, 30]
    assert best_stations(windows, difs).tolist() == [3, 5, 10, 21, 42]


@pytest.mark.parametrize("collision", [20e-6, 25e-6, 300e-6, 5e-3])
@pytest.mark.parametrize("w", [1, 2, 7, 32, 100])
def test_best_is_the_largest_of_all(w: int, collision: float) -> None:
    """The maximum over m, also beyond m = w, up to five times the window."""
    overheads = Overheads(20e-6, 500e-6, collision)
    rates = success_rate(w, np.arange(5 * w + 2), overheads)

    best = best_stations(w, overheads)
    assert rates[int(best)] == pytest.approx(rates.max(), rel=1e-12)
    assert np.all(rates[: int(best)] < rates.max())


def test_success_rate_is_the_quotient() -> None:
    """(1), with the 0.77, 6.41 and 24.82 slots of w = 32 and m = 8."""
    overheads = Overheads(20e-6, 550e-6, 300e-6)
    slots = lemma_1(32, 8)
    time = slots.idle * 20e-6 + slots.success * 550e-6 + slots.collision * 300e-6

    assert success_rate(32, np.arange(9), overheads) == pytest.approx(
        slots.success / time, rel=1e-12
    )
    assert success_rate(32, 8, overheads) == pytest.approx(
        6.4057 / (24.8224 * 20e-6 + 6.4057 * 550e-6 + 0.7720 * 300e-6), rel=1e-4
    )


@pytest.mark.parametrize("ratio", [1, 1.5, 27.04, 1000, 1e6])
def test_share_of_a_wide_window(ratio: float) -> None:
    overheads = Overheads(20e-6, 1e-3, ratio * 20e-6)
    share = best_share(overheads)

    assert best_stations(2**20, overheads) / 2**20 == pytest.approx(share, abs=3e-6)
    assert (share * math.exp(share) - math.expm1(share)) * ratio == pytest.approx(1, rel=1e-9)


def test_share_where_slots_cost_next_to_nothing() -> None:
    """1 - (1-a) e^a is a^2/2 for small a; rounding must not lose it."""
    assert best_share(Overheads(1e-14, 1e-3, 1.0)) == pytest.approx(math.sqrt(2e-14), rel=1e-6)


def test_maximum_throughput_stated() -> None:
    """7.28 Mb/s and 0.66 (B6): 12000 bits in 50 + 192 + 12592/11 + 10 + 248 us and two delays."""
    goodputs = []
    for delay_ns in (0, 1_000, 2_000):
        phy = dataclasses.replace(PHY, propagation_delay_ns=delay_ns)
        limit = theoretical_limit(phy)
        goodputs.append(limit.goodput_bps / 1e6)

        cycle = 50 + 192 + math.ceil(12592 / 11) + 10 + 248 + 2 * delay_ns / 1000
        assert limit.cycle_s * 1e6 == pytest.approx(cycle, rel=1e-12)
        assert limit.goodput_bps == pytest.approx(12000 / limit.cycle_s, rel=1e-12)
        assert round(limit.utilization, 2) == 0.66
    assert goodputs == pytest.approx([7.295, 7.286, 7.277], abs=1e-3)
    assert round(goodputs[2], 2) == 7.28

    # With the 8 bytes of LLC of a standard frame, and no propagation delay: 7.27.
    with_llc = theoretical_limit(dataclasses.replace(PHY, llc_bits=64))
    assert with_llc.goodput_bps / 1e6 == pytest.approx(7.27, abs=5e-3)


def test_limit_of_tcp_itself() -> None:
    """A TCP ACK of 592 bits: 50 + 192 + 54 + 10 + 248 us, for half of the segments or for all."""
    for share in (0.5, 1.0):
        limit = theoretical_limit(PHY, acks_per_segment=share)
        assert limit.goodput_bps == pytest.approx(12000 / (1645e-6 + share * 554e-6), rel=1e-12)
    slow = theoretical_limit(PHY, data_rate=Rate(1_000_000, "dsss"))
    assert slow.utilization == pytest.approx(12000 / (50 + 192 + 12592 + 10 + 248), rel=1e-12)
    assert maximum_goodput(12000, [1e-3, 2e-3], 1e-3, 0.5) == pytest.approx([8e6, 4.8e6])


@pytest.mark.parametrize(
    ("burst", "successes", "collisions", "printed", "once"),
    [
        (16, 8, 0, 16, 16),  # all 8 stations got through: 2 m*
        (16, 9, 2, 12, 12),  # more than were woken: older ones; 2 (8 - 2)
        (16, 6, 1, 10, 12),  # two are still waiting: 2 (8 - 2 - 1), or 2 (8 - 2)
        (17, 6, 1, 10, 12),  # an odd packet wakes no station
        (16, 2, 3, -2, 4),  # B7: the printed law has no floor
        (0, 0, 9, -2, -2),
    ],
)
def test_burst_law(burst: int, successes: int, collisions: int, printed: int, once: int) -> None:
    numbers = (burst, successes, collisions, 8)

    assert burst_size(*numbers, floor="none") == printed
    assert burst_size(*numbers, floor="none", collided="once") == once
    assert burst_size(*numbers, floor="zero") == max(printed, 0)
    assert burst_size(*numbers) == max(printed, 2)


def test_burst_law_takes_arrays() -> None:
    assert burst_size([[16], [0]], [8, 0], 0, [8, 4]).tolist() == [[16, -8 + 8 + 2], [16, 8]]

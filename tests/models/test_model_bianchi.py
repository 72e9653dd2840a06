"""Bianchi's model against published numbers, its own identities, and a simulated backoff."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from airtcp.exceptions import ConvergenceError
from airtcp.models import roots
from airtcp.models.airtime import DsssTiming, Phy, Rate
from airtcp.models.bianchi import (
    FHSS_BASIC,
    FHSS_RTS,
    SlotTimes,
    approximate_largest_utilization,
    attempt_probability,
    fixed_point,
    largest_utilization,
    saturation,
    slot_times,
)
from bases import refused


def closed_form(p: float, w: int, m: int) -> float:
    """Return tau of Bianchi 2000, equation (7), which is 0/0 at p = 1/2."""
    return 2 * (1 - 2 * p) / ((1 - 2 * p) * (w + 1) + p * w * (1 - (2 * p) ** m))


@pytest.mark.parametrize("p", [0.0, 0.1, 0.49, 0.51, 0.9, 1.0])
def test_summed_form_equals_the_closed_form(p: float) -> None:
    assert attempt_probability(p, 32, 5) == pytest.approx(closed_form(p, 32, 5), rel=1e-12)
    # The summed form is regular at p = 1/2.
    around = [closed_form(0.5 + off, 32, 5) for off in (-1e-6, 1e-6)]
    assert attempt_probability(0.5, 32, 5) == pytest.approx(np.mean(around), rel=1e-9)


@pytest.mark.parametrize(
    ("m", "basic", "rts"),
    [(3, [0.8097, 0.6788], [0.8342, 0.8356]), (5, [0.8102, 0.6975], [0.8342, 0.8362])],
)
def test_fhss_example(m: int, basic: list[float], rts: list[float]) -> None:
    """W = 32, n = 5 and 20: the numbers of Bianchi's figures, recomputed to four digits."""
    point = fixed_point([5, 20], 32, m)
    assert saturation(point, FHSS_BASIC).utilization == pytest.approx(basic, abs=5e-5)
    assert saturation(point, FHSS_RTS).utilization == pytest.approx(rts, abs=5e-5)
    assert fixed_point([5, 20], 32, 5).p == pytest.approx([0.1781, 0.3988], abs=5e-5)


@pytest.mark.parametrize(
    ("times", "by_k", "exact"), [(FHSS_BASIC, 0.8240, 0.8240), (FHSS_RTS, 0.8359, 0.8361)]
)
def test_largest_throughput_stated(times: SlotTimes, by_k: float, exact: float) -> None:
    """The first values are Bianchi's K; the exact optimum of RTS/CTS is a little higher."""
    assert approximate_largest_utilization(times) == pytest.approx(by_k, abs=5e-5)
    assert largest_utilization(np.inf, times) == pytest.approx(exact, abs=5e-5)


@pytest.mark.parametrize("times", [FHSS_BASIC, FHSS_RTS])
@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_largest_throughput_is_the_maximum_over_tau(n: int, times: SlotTimes) -> None:
    tau = np.linspace(0.0, 1.0, 200_001)[1:]
    one = n * tau * (1 - tau) ** (n - 1)
    idle = (1 - tau) ** n
    slot = idle * times.slot_s + one * times.success_s + (1 - idle - one) * times.collision_s
    scanned = float(np.max(one * times.payload_s / slot))
    assert largest_utilization(n, times) == pytest.approx(scanned, rel=1e-6)
    assert largest_utilization(n, times) >= scanned * (1 - 1e-12)


def test_slot_times_of_the_fhss_example(phy_80211b: Phy) -> None:
    """Ts/Tc 8982/8713 us (basic), 9568/417 us (RTS): PHY header 128 bits, delay 1 us, 1 Mb/s."""
    rate = Rate(1_000_000, "dsss")
    phy = dataclasses.replace(
        phy_80211b, data_rate=rate, control_rate=rate, slot_time_ns=50_000, sifs_ns=28_000,
        difs_ns=128_000, dsss=DsssTiming(128_000, 0), propagation_delay_ns=1_000,
        mac_header_bits=272, llc_bits=0,
    )  # fmt: skip
    for rts, published in ((False, FHSS_BASIC), (True, FHSS_RTS)):
        times = dataclasses.astuple(slot_times(phy, 8184, rts=rts))
        assert times == pytest.approx(dataclasses.astuple(published), rel=1e-12)


@pytest.mark.parametrize(
    ("after", "collision_us"), [("difs", 1360), ("eifs", 1674), ("eifs+difs", 1724)]
)
def test_waits_after_a_collision(phy_80211b: Phy, after: Any, collision_us: int) -> None:
    """1310 us of frame, then DIFS 50, EIFS 364 or both."""
    times = slot_times(phy_80211b, 12000, rts=False, after_collision=after)
    assert times.collision_s * 1e6 == pytest.approx(collision_us)


@pytest.mark.parametrize(
    ("microseconds", "contention", "eifs", "expected"),
    [
        ((12480, 304, 10, 50, 20), (32, 5), False, [0.8437, 0.7226]),  # 802.11b, 1 Mb/s
        ((1310, 248, 10, 50, 20), (32, 5), False, [6.4734, 5.7819]),  # 802.11b, 11 Mb/s
        ((1310, 248, 10, 50, 20), (32, 5), True, [6.3821, 5.5765]),
        ((2072, 44, 16, 34, 9), (16, 6), False, [4.7087, 3.9899]),  # 802.11a, 6 Mb/s
        ((248, 28, 16, 34, 9), (16, 6), False, [29.8324, 26.2925]),  # 802.11a, 54 Mb/s
        ((248, 28, 16, 34, 9), (16, 6), True, [29.2861, 25.3325]),
    ],
)
def test_freezing_variant_meets_the_tables_of_ns3(
    microseconds: tuple[int, ...], contention: tuple[int, int], eifs: bool, expected: list[float]
) -> None:
    """Frame, ACK, SIFS, DIFS and slot; W and m; Mb/s with 1500 bytes for n = 5 and 20.

    ns-3 finds tau on a grid of 1e-4, an error of 0.2 %. Its tables leave out the slot that the
    variant adds to a collision, so it is subtracted from Tc here.
    """
    (frame, ack, sifs, difs, slot), (w0, m) = microseconds, contention
    collision = frame + difs + (sifs + ack if eifs else 0) - slot
    times = SlotTimes(slot * 1e-6, (frame + sifs + ack + difs) * 1e-6, collision * 1e-6, 0.0)
    result = saturation(fixed_point([5, 20], w0, m), times, variant="freezing", w0=w0)
    assert result.success_rate_per_s * 12000 / 1e6 == pytest.approx(expected, rel=0.002)


@pytest.mark.parametrize("retries", [None, 0, 6, 30])
def test_solution_satisfies_both_equations(retries: int | None) -> None:
    n = np.array([1.0, 1.5, 2.0, 10.0, 100.0])
    point = fixed_point(n, 32, 5, retries)
    assert point.tau == pytest.approx(attempt_probability(point.p, 32, 5, retries), rel=1e-12)
    assert point.p == pytest.approx(1 - (1 - point.tau) ** (n - 1), abs=1e-9)
    assert np.all(np.diff(point.p) > 0)
    assert float(fixed_point(1e6, 32, 5, retries).p) == 1.0  # rounded to a double
    sent = point.n * point.tau * (1 - point.tau) ** (point.n - 1)
    result = saturation(point, FHSS_BASIC)
    assert result.p_transmission == pytest.approx(1 - (1 - point.tau) ** point.n, rel=1e-12)
    assert result.p_success * result.p_transmission == pytest.approx(sent, rel=1e-9)
    assert result.success_rate_per_s * result.slot_s == pytest.approx(sent, rel=1e-9)
    # A frame is dropped if every attempt collides.
    assert point.drop == pytest.approx(0.0 if retries is None else point.p ** (retries + 1))


@pytest.mark.parametrize("retries", [0, 3])
def test_attempt_probability_equals_a_simulated_backoff(retries: int) -> None:
    """Frames whose attempts collide with p = 0.4: tau is attempts / (attempts + backoff slots).

    Drawn with a fixed seed; the tolerance is 4 standard errors over 200 batches.
    """
    rng = np.random.default_rng(1)
    p, w0, m, batches, frames = 0.4, 8, 2, 200, 500
    attempts = np.zeros((batches, frames))
    slots = np.zeros((batches, frames))
    sending = np.ones((batches, frames), dtype=bool)
    for k in range(retries + 1):
        slots += np.where(sending, rng.integers(0, w0 * 2 ** min(k, m), sending.shape), 0)
        attempts += sending
        sending &= rng.random(sending.shape) < p
    taus = attempts.sum(axis=1) / (attempts + slots).sum(axis=1)
    error = taus.std(ddof=1) / np.sqrt(batches)
    assert attempt_probability(p, w0, m, retries) == pytest.approx(taus.mean(), abs=4 * error)


def test_ends_of_the_range() -> None:
    """A lone sender never collides; with W = 1 and no doubling every node sends in every slot."""
    lone = fixed_point(1, 32, 5)
    assert lone.p == 0.0
    assert lone.tau == pytest.approx(2 / 33)
    always = fixed_point([1, 2, 3], 1, 0)
    assert (always.p.tolist(), always.tau.tolist()) == ([0.0, 1.0, 1.0], [1.0, 1.0, 1.0])
    many = fixed_point(np.array([[2], [10]]), w0=[16, 32, 64], m=3, retries=[3, 6, 9])
    assert many.p.shape == (2, 3)
    assert many.p[1, 2] == fixed_point(10, 64, 3, 9).p


def test_a_variant_needs_its_arguments() -> None:
    with pytest.raises(ValueError, match=r"^variant must be one of"):
        saturation(fixed_point(5, 32, 5), FHSS_BASIC, variant="other")  # type: ignore[arg-type]
    with refused("models.input.no_w0"):
        saturation(fixed_point(5, 32, 5), FHSS_BASIC, variant="freezing")


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda x: x + 1.0, "x: no root between the ends"),
        (lambda x: x * np.nan, "x: no root between the ends"),
        (lambda x: np.where(x < 0.3, -1.0, 1.0), "x: the residual does not vanish"),
    ],
)
def test_a_solver_without_a_root_raises(function: Any, said: str) -> None:
    with pytest.raises(ConvergenceError, match=said):
        roots.increasing_root(function, np.zeros(2), np.ones(2), what="x")

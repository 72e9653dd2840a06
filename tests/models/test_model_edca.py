"""The EDCA model equals Bianchi's for equal AIFS, and matches simulated backoffs otherwise."""

from typing import Any

import numpy as np
import pytest
from airtcp.models import bianchi, edca
from airtcp.models.bianchi import FHSS_BASIC, SlotTimes
from airtcp.models.edca import fixed_point, saturation, zones
from bases import refused
from scipy.optimize import fsolve


@pytest.mark.parametrize("parts", [[1], [1.5], [20], [2, 3], [1, 19], [1, 1, 1, 1], [4, 4, 2]])
@pytest.mark.parametrize("retries", [None, 0, 6])
@pytest.mark.parametrize("w0", [1, 32, 1024])
def test_classes_of_one_kind_are_bianchi(parts: list[float], retries: int | None, w0: int) -> None:
    """With equal AIFS and windows the split of nodes into classes does not matter."""
    one = bianchi.fixed_point(sum(parts), w0, 5, retries)
    point = fixed_point(parts, w0, 5, 3, retries)
    throughput, whole = saturation(point, FHSS_BASIC), bianchi.saturation(one, FHSS_BASIC)
    assert point.p == pytest.approx(float(one.p), abs=1e-12)
    assert point.tau == pytest.approx(float(one.tau), rel=1e-12)
    assert point.drop == pytest.approx(float(one.drop), abs=1e-12)
    assert point.zones.share == pytest.approx(1.0, abs=1e-12)
    assert throughput.slot_s == pytest.approx(float(whole.slot_s), rel=1e-12)
    each = float(whole.utilization) * np.array(parts) / sum(parts)
    assert throughput.utilization == pytest.approx(each, rel=1e-12)


def test_equal_aifs_and_unequal_windows_solve_bianchi_for_each_class() -> None:
    """p_c = 1 - prod (1-tau)^n / (1-tau_c), solved independently of the model."""
    n, w0, m = np.array([3.0, 7.0]), np.array([8.0, 64.0]), np.array([2, 5])

    def wrong(p: Any) -> Any:
        tau = bianchi.attempt_probability(p, w0, m)
        return p - (1 - np.prod((1 - tau) ** n) / (1 - tau))

    assert fixed_point(n, w0, m, 2).p == pytest.approx(
        fsolve(wrong, [0.4, 0.4], xtol=1e-14), abs=1e-10
    )


@pytest.mark.parametrize("aifs", [[0, 1], [2, 7], [3, 3]])
def test_zones_by_walking_through_the_slots(aifs: list[int]) -> None:
    """Two classes: probabilities of the slots since a busy period, summed one by one."""
    n, tau = np.array([2.0, 4.0]), np.array([0.05, 0.02])
    result = zones(n, tau, aifs)
    reached, total = 1.0, 0.0
    seen, hits, success = np.zeros(2), np.zeros(2), np.zeros(2)
    idle = 0.0
    for slot in range(min(aifs), 5000):
        inside = np.array(aifs) <= slot
        none = np.prod((1 - tau[inside]) ** n[inside])
        total += reached
        idle += reached * none
        for c in np.flatnonzero(inside):
            seen[c] += reached
            hits[c] += reached * (1 - none / (1 - tau[c]))
            success[c] += reached * n[c] * tau[c] * none / (1 - tau[c])
        reached *= none
    assert result.p == pytest.approx(hits / seen, rel=1e-12)
    assert result.share == pytest.approx(seen / total, rel=1e-12)
    assert result.success == pytest.approx(success / total, rel=1e-12)
    assert result.idle == pytest.approx(idle / total, rel=1e-12)
    assert result.idle + result.success.sum() + result.collision == pytest.approx(1.0, abs=1e-12)


def test_collisions_of_three_classes_by_enumeration() -> None:
    """Senders are enumerated for each zone; three lengths, not in the order of the AIFS."""
    n, aifs = [1, 2, 1], [0, 1, 3]
    lengths = [2e-3, 1e-3, 3e-3]
    point = fixed_point(n, [4, 8, 16], 2, aifs)
    times = [SlotTimes(20e-6, length + 1e-4, length, 1e-4) for length in lengths]
    kind = np.repeat(np.arange(3), n)
    node_tau, node_aifs = point.tau[kind], np.array(aifs)[kind]
    reached, total, seconds = 1.0, 0.0, 0.0
    for slot in range(2000):
        inside = node_aifs <= slot
        chance = np.where(inside, node_tau, 0.0)
        total += reached
        for pattern in np.ndindex(*[2] * kind.size):
            sends = np.array(pattern, dtype=bool)
            weight = reached * np.prod(np.where(sends, chance, 1 - chance))
            if sends.sum() == 0:
                seconds += weight * 20e-6
            elif sends.sum() == 1:
                seconds += weight * (lengths[kind[sends][0]] + 1e-4)
            else:
                seconds += weight * max(lengths[k] for k in kind[sends])
        reached *= np.prod(1 - chance)
        if reached < 1e-16:
            break
    result = saturation(point, times)
    assert result.slot_s == pytest.approx(seconds / total, rel=1e-10)
    rates = point.zones.success / result.slot_s
    assert result.success_rate_per_s == pytest.approx(rates, rel=1e-12)
    assert result.utilization == pytest.approx(rates * 1e-4, rel=1e-12)


def test_windows_of_one_slot() -> None:
    """The class with the short AIFS sends in every slot, so the other one never gets a slot."""
    point = fixed_point([1, 1], [1, 8], [0, 0], [0, 1])
    assert point.tau[0] == 1.0
    assert point.p == pytest.approx([0.0, 1.0], abs=1e-14)  # what the second class would meet
    assert point.zones.share.tolist() == [1.0, 0.0]
    assert point.zones.success.tolist() == [1.0, 0.0]


def test_bad_times_and_attempts_are_named() -> None:
    point = fixed_point([1, 2], 32, 5, [0, 1])
    with refused("models.edca.times", classes=2):
        saturation(point, [FHSS_BASIC] * 3)
    with refused("models.edca.slots"):
        saturation(point, [FHSS_BASIC, SlotTimes(20e-6, 1e-3, 1e-3, 1e-3)])
    with refused("models.input.refused", name="tau"):
        zones([1, 1], [0.0, 0.1], 0)


def test_a_solver_that_does_not_arrive_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edca, "_MOST_STEPS", 2)
    with refused("models.edca.not_found", found=1, of=1, steps=2):
        fixed_point([3, 5], [16, 32], 5, [0, 2])

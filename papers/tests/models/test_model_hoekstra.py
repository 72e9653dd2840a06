"""Paper H: the effective service time term by term, and the stated numbers."""

import dataclasses
import itertools
from typing import Literal, TypeAlias

import numpy as np
import pytest
from airtcp_papers.hoekstra.model import (
    CORRECTED,
    PAPER,
    TABLE_1,
    Dialogue,
    Parameters,
    Variant,
    acknowledged_time,
    beacon_time,
    collision_time,
    cycle_time,
    data_time,
    effective_load,
    effective_service_time,
    ftp_get_time,
    ftp_retrieve_time,
    ftp_setup_time,
    last_cycle_time,
    overhead_time,
    tcp_close_time,
    tcp_setup_time,
)
from hypothesis import given
from hypothesis import strategies as st

Model: TypeAlias = Literal["basic", "refined"]

TESTBED = Parameters.testbed()
IMPLIED = dataclasses.replace(PAPER, full_cycles="implied")
WEIGHTED = dataclasses.replace(PAPER, short_collision="weighted")
MODELS: list[Model] = ["basic", "refined"]

# Table II: seconds between downloads of 200 kB and of 1 MB, all stations together.
BETWEEN_200_KB = np.array([0.48, 0.46, 0.44, 0.42, 0.40, 0.38, 0.36, 0.35])
BETWEEN_1_MB = np.array([2.34, 2.22, 2.12, 2.02, 1.93, 1.85, 1.77, 1.70])


# ---- numbers stated in the paper ----


def test_the_implied_reading_does_not_give_the_stated_number() -> None:
    """H2: with X_file - X_MSS in (19) it is 0.311 s, less by half a segment's share of a cycle."""
    implied = effective_service_time(200_000, TESTBED, IMPLIED)
    printed = effective_service_time(200_000, TESTBED, PAPER)

    assert round(float(implied.est_s), 3) == 0.311
    assert printed.est_s - implied.est_s == pytest.approx(cycle_time(TESTBED) / 4)


def test_stated_number_needs_llc_and_fast_control_frames() -> None:
    """H5: without LLC 0.311 s, with MAC ACKs at the 1 Mb/s of Table I 0.335 s."""
    slow = Parameters.from_radio(
        dataclasses.replace(TABLE_1["802.11b"], propagation_s=1e-9), llc_bits=64
    )

    without = effective_service_time(200_000, Parameters.testbed(llc_bits=0))
    assert round(float(without.est_s), 3) == 0.311
    assert round(float(effective_service_time(200_000, slow).est_s), 3) == 0.335


def test_loads_of_table_2_are_those_of_figure_1() -> None:
    """All loads are stable, from 0.65 to 0.90, and about the same for both sizes."""
    small = effective_load(200_000, 1 / BETWEEN_200_KB, TESTBED)
    large = effective_load(1_000_000, 1 / BETWEEN_1_MB, TESTBED)

    assert small.rho_without_beacons[[0, -1]] == pytest.approx([0.651, 0.893], abs=5e-4)
    assert large.rho == pytest.approx(small.rho, abs=0.015)
    assert np.all(np.diff(small.mean_transfer_s) > 0)


def test_refined_model_is_slower_and_more_so_under_load() -> None:
    """Fig. 1: with the basic model's own frame lengths (no LLC, no beacons)."""
    lengths = dataclasses.replace(Parameters.testbed(llc_bits=0), beacon=None)
    basic = effective_load(200_000, 1 / BETWEEN_200_KB, lengths, model="basic")
    refined = effective_load(200_000, 1 / BETWEEN_200_KB, TESTBED)
    ratio = refined.mean_transfer_s / basic.mean_transfer_s

    assert refined.beta_s[0] / basic.beta_s[0] == pytest.approx(1.0195, abs=5e-4)
    assert ratio[0] == pytest.approx(1.057, abs=1e-3)
    assert np.all(np.diff(ratio) > 0)


# ---- equations, with their arithmetic in microseconds ----

# The testbed of Table II and section IV.A: T_d(x) = 192 + (224 + 320 + 64 + x) / 11, T_c = 192 +
# 112/11; T_p = 0.001.
SHORT_D, FULL_D, HALF_D = (192 + (608 + x) / 11 for x in (0, 11680, 5840))


def acked(bits: float) -> float:
    """T_da in us: DIFS, frame, T_p, SIFS, MAC ACK, T_p."""
    return 50 + (192 + (608 + bits) / 11) + 0.001 + 10 + (192 + 112 / 11) + 0.001


SHORT_COL, FULL_COL, HALF_COL = (d + 0.001 + 364 for d in (SHORT_D, FULL_D, HALF_D))
# Means over 0 .. 31, in slots of 20 us: one backoff 15.5, the shorter and the longer of two.
PAIRS = list(itertools.product(range(32), repeat=2))
ONE = 20 * 15.5
SHORTER = 20 * sum(map(min, PAIRS)) / 1024
LONGER = 20 * sum(map(max, PAIRS)) / 1024


def test_frames_of_equations_1_to_3_5_7_and_10() -> None:
    bits = [0, 11680, 5840]

    assert data_time(bits, TESTBED) * 1e6 == pytest.approx([SHORT_D, FULL_D, HALF_D])
    assert TESTBED.mac_ack_s * 1e6 == pytest.approx(192 + 112 / 11)
    assert acknowledged_time(bits, TESTBED) * 1e6 == pytest.approx([acked(x) for x in bits])
    assert collision_time(bits, TESTBED) * 1e6 == pytest.approx([SHORT_COL, FULL_COL, HALF_COL])


def test_cycle_of_equation_4() -> None:
    assert cycle_time(TESTBED) * 1e6 == pytest.approx(
        2 * acked(11680) + acked(0) + LONGER + ONE + FULL_COL / 32
    )


def test_openings_of_equations_6_8_14_and_15() -> None:
    assert tcp_setup_time(TESTBED) * 1e6 == pytest.approx(
        3 * acked(0) + SHORTER + (2 * SHORT_COL + FULL_COL) / 32
    )
    assert ftp_get_time(TESTBED) * 1e6 == pytest.approx(acked(272) + FULL_COL / 32)
    assert ftp_setup_time(TESTBED) * 1e6 == pytest.approx(
        acked(48) + acked(392) + SHORTER + (SHORT_COL + FULL_COL) / 32
    )
    assert ftp_retrieve_time(TESTBED) * 1e6 == pytest.approx(
        acked(272) + acked(704) + SHORTER + (FULL_COL + 3 * SHORT_COL) / 64
    )


def test_last_cycle_of_equation_9() -> None:
    """H3: as printed a short collision counts in full; weighted, with 1/32."""
    common = acked(184) + acked(5840) + acked(0) + HALF_COL / 32 + LONGER + ONE

    assert last_cycle_time(TESTBED, PAPER, model="basic") * 1e6 == pytest.approx(
        common + (acked(0) + SHORT_COL + SHORTER) / 2
    )
    assert last_cycle_time(TESTBED, WEIGHTED, model="basic") * 1e6 == pytest.approx(
        common + (acked(0) + SHORT_COL / 32 + SHORTER) / 2
    )


def test_last_cycle_of_equation_16() -> None:
    """Two or three backoffs, the same in all variants."""
    for variant in (PAPER, CORRECTED):
        assert last_cycle_time(TESTBED, variant) * 1e6 == pytest.approx(
            acked(11680) / 2 + acked(5840) + acked(0) + HALF_COL / 32 + LONGER + ONE / 2
        )


def test_closings_of_equations_11_and_17() -> None:
    assert tcp_close_time(TESTBED, model="basic") * 1e6 == pytest.approx(
        4 * acked(0) + 2 * LONGER + 2 * SHORT_COL / 32
    )
    assert tcp_close_time(TESTBED) * 1e6 == pytest.approx(
        3 * acked(0) + acked(184) + 2 * SHORTER + (2 * SHORT_COL + 2 * FULL_COL) / 32
    )


def test_overheads_of_equations_12_and_18() -> None:
    assert overhead_time(TESTBED, model="basic") == pytest.approx(
        tcp_setup_time(TESTBED) + ftp_get_time(TESTBED) + tcp_close_time(TESTBED, model="basic")
    )
    assert overhead_time(TESTBED) == pytest.approx(
        ftp_setup_time(TESTBED)
        + tcp_setup_time(TESTBED)
        + ftp_retrieve_time(TESTBED)
        + tcp_close_time(TESTBED)
    )


def test_beacon_of_equations_20_to_22() -> None:
    without = dataclasses.replace(TESTBED, beacon=None)
    result = effective_service_time([0, 10_000], TESTBED)

    assert beacon_time(TESTBED) * 1e6 == pytest.approx(50 + (192 + 584) + 0.001 + ONE)
    assert result.beacon_factor == pytest.approx(1 + beacon_time(TESTBED) / 0.1024)
    assert result.est_with_beacons_s == pytest.approx(result.est_s * result.beacon_factor)
    assert beacon_time(without) == 0.0
    assert effective_service_time(10_000, without).est_with_beacons_s == result.est_s[1]


@pytest.mark.parametrize("model", MODELS)
def test_service_time_of_equations_13_and_19(model: Model) -> None:
    result = effective_service_time([10_000, 1e6], TESTBED, PAPER, model=model)
    size = np.array([10_000, 1e6])

    assert result.cycles == pytest.approx((8 * size - 5840) / 23360)
    assert result.est_s == pytest.approx(
        result.cycles * result.cycle_s + result.last_cycle_s + result.overhead_s
    )
    assert result.last_cycle_s == last_cycle_time(TESTBED, PAPER, model=model)
    assert result.overhead_s == overhead_time(TESTBED, model=model)


def test_variants_of_one_model_do_not_touch_the_other() -> None:
    def est(variant: Variant, model: Model) -> float:
        return float(effective_service_time(200_000, TESTBED, variant, model=model).est_s)

    assert est(IMPLIED, "basic") == est(PAPER, "basic")
    assert est(WEIGHTED, "refined") == est(PAPER, "refined")
    assert est(CORRECTED, "basic") == est(WEIGHTED, "basic")
    assert est(CORRECTED, "refined") == est(IMPLIED, "refined")
    saved = (est(PAPER, "basic") - est(CORRECTED, "basic")) * 1e6
    assert saved == pytest.approx(SHORT_COL * (1 - 1 / 32) / 2)


def test_sizes_that_the_paper_does_not_give() -> None:
    """H7: empty GET and close instead of 272 and 184 bits: 456/11 us less, in the basic model."""
    empty = dataclasses.replace(TESTBED, dialogue=Dialogue(get_bits=0, close_bits=0))

    def difference(model: Model) -> float:
        full, less = (effective_service_time(2e5, p, model=model).est_s for p in (TESTBED, empty))
        return float(full - less) * 1e6

    assert difference("basic") == pytest.approx(456 / 11)
    assert difference("refined") == 0.0


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=20))
def test_mean_over_a_law_is_the_service_time_of_the_mean(sizes: list[float]) -> None:
    """(27): EST is affine in the size, so only the mean size matters."""
    result = effective_service_time(sizes, TESTBED)
    load = effective_load(np.mean(sizes), 0.0, TESTBED)

    assert load.beta_s == pytest.approx(np.mean(result.est_with_beacons_s), rel=1e-9)
    assert np.all(np.asarray(result.est_s) > 0)


# ---- from service time to transfer time ----


def test_transfer_times_of_equation_29() -> None:
    load = effective_load([1e5, 2e5], 2.0, TESTBED)

    assert load.rho == pytest.approx(2.0 * load.beta_s)
    assert load.mean_transfer_s == pytest.approx(load.beta_s / (1 - load.rho))
    assert load.mean_transfer_without_beacons_s == pytest.approx(
        load.beta_without_beacons_s / (1 - load.rho_without_beacons)
    )


# ---- bad input ----

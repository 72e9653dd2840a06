"""Paper L, section 5: AIMD flows at a wired bottleneck, against matrices and random losses."""

from typing import Any

import numpy as np
import pytest
from airtcp.exceptions import ConvergenceError
from airtcp_papers.leith.aimd import (
    aimd_matrix,
    convergence_epochs,
    epoch_s,
    peak_windows,
    second_eigenvalue,
    uploads,
    window_history,
    wired_shares,
)

FLOWS: dict[str, Any] = {
    "alpha": np.array([5.0, 1.0, 2.5, 9.0]),
    "beta": np.array([0.5, 0.95, 0.8, 0.5]),
    "loss_probability": np.array([0.9, 0.6, 1.0, 0.3]),
    "weight": np.array([10.0, 4.0, 7.0, 2.0]),
}


def test_peak_windows_as_printed() -> None:
    """Section 5.1: proportional to alpha / (lambda (1 - beta))."""
    windows = peak_windows(FLOWS["alpha"], FLOWS["beta"], FLOWS["loss_probability"], total=100.0)
    printed = FLOWS["alpha"] / (FLOWS["loss_probability"] * (1 - FLOWS["beta"]))

    assert windows / windows[0] == pytest.approx(printed / printed[0], rel=1e-12)
    assert windows.sum() == pytest.approx(100.0, rel=1e-12)


def test_peak_windows_stay_what_they_are() -> None:
    """They are the AIMD matrix's eigenvector for eigenvalue 1, with a weighted sum of `total`."""
    windows = peak_windows(**FLOWS, total=500.0)

    assert aimd_matrix(**FLOWS) @ windows == pytest.approx(windows, rel=1e-12)
    assert FLOWS["weight"] @ windows == pytest.approx(500.0, rel=1e-12)


def test_matrix_by_the_rules_of_aimd() -> None:
    """One epoch by hand: multiply by b, then grow at alpha until the bottleneck is full again."""
    window = np.array([7.0, 30.0, 2.0, 11.0])
    kept = 1 - FLOWS["loss_probability"] * (1 - FLOWS["beta"])
    full, left = FLOWS["weight"] @ window, FLOWS["weight"] @ (kept * window)
    seconds = (full - left) / (FLOWS["weight"] @ FLOWS["alpha"])

    assert aimd_matrix(**FLOWS) @ window == pytest.approx(
        kept * window + FLOWS["alpha"] * seconds, rel=1e-12
    )


def test_epoch_is_the_time_in_which_every_flow_grows_back() -> None:
    windows = peak_windows(**FLOWS, total=500.0)
    given_up = FLOWS["loss_probability"] * (1 - FLOWS["beta"]) * windows

    assert given_up / FLOWS["alpha"] == pytest.approx(float(epoch_s(**FLOWS, total=500.0)))


def test_second_eigenvalue_is_that_of_the_matrix() -> None:
    values = np.sort(np.linalg.eigvals(aimd_matrix(**FLOWS)).real)
    kept = np.sort(1 - FLOWS["loss_probability"] * (1 - FLOWS["beta"]))

    assert values[-1] == pytest.approx(1.0, abs=1e-12)
    assert second_eigenvalue(**FLOWS) == pytest.approx(values[-2], abs=1e-12)
    assert kept[-2] < second_eigenvalue(**FLOWS) < kept[-1]


def test_standard_tcp_settles_in_4_epochs() -> None:
    """Section 5.2 rounds to 4: four epochs leave 6 %, and 95 % takes 4.32."""
    epochs = convergence_epochs([1.0, 1.0], 0.5)

    assert epochs == pytest.approx(4.3219, abs=5e-5)
    assert round(float(epochs)) == 4


def test_history_forgets_its_start_at_the_rate_of_the_eigenvalue() -> None:
    """Fig. 9: two standard flows, the second one starting from a window of zero."""
    history = window_history([40.0, 0.0], 12, [1.0, 1.0], 0.5)
    off = np.abs(history[:, 0] - 20.0) / 20.0

    assert off == pytest.approx(0.5 ** np.arange(13), rel=1e-12)
    assert history.sum(axis=1) == pytest.approx(40.0, rel=1e-12)
    needed = convergence_epochs([1.0, 1.0], 0.5)
    assert np.flatnonzero(off < 0.05)[0] == np.ceil(needed)


def test_footnote_2() -> None:
    """Windows are inversely proportional to RTTs, throughputs to their squares."""
    share = wired_shares(1.0, 0.5, [0.05, 0.1, 0.2])

    assert share.window_share == pytest.approx(np.array([4, 2, 1]) / 7, rel=1e-12)
    assert share.flow_share == pytest.approx(np.array([16, 4, 1]) / 21, rel=1e-12)


def test_losses_of_the_short_rtt_flow_even_the_shares() -> None:
    """L10: a flow that loses twice as often has half the window."""
    equal = wired_shares(1.0, 0.5, [0.1, 0.2]).window_share
    measured = wired_shares(1.0, 0.5, [0.1, 0.2], loss_probability=[1.0, 0.5]).window_share

    assert equal == pytest.approx([2 / 3, 1 / 3])
    assert measured == pytest.approx([0.5, 0.5])


def test_mean_window_lies_between_what_is_left_and_the_peak() -> None:
    """A sawtooth from b w to w has a mean of (1 + b)/2, which matters if the betas differ."""
    peak = wired_shares(1.0, [0.5, 0.9], 0.1)
    mean = wired_shares(1.0, [0.5, 0.9], 0.1, window="mean")

    assert peak.flow_share[1] / peak.flow_share[0] == pytest.approx(5.0)
    assert mean.flow_share[1] / mean.flow_share[0] == pytest.approx(5.0 * 0.95 / 0.75)
    assert mean.window_share == pytest.approx(peak.window_share)


def test_bottleneck_changes_abruptly() -> None:
    """Fig. 8a: RTT unfairness below the wireless hop's capacity, none above it."""
    wired = np.array([2e6, 4.999e6, 5e6, 10e6])
    result = uploads(wired, 5e6, wired_shares(1.0, 0.5, [0.1, 0.2]).flow_share)

    assert result.wireless.tolist() == [False, False, True, True]
    assert result.flow_bps[:, 0] / result.flow_bps[:, 1] == pytest.approx([4, 4, 1, 1])
    assert result.goodput_bps == pytest.approx(np.minimum(wired, 5e6))
    assert result.jain_index == pytest.approx([25 / 34, 25 / 34, 1, 1])


def test_scenarios_along_further_axes() -> None:
    beta2 = np.array([0.5, 0.7, 0.95])
    beta = np.stack([np.full(3, 0.5), beta2], axis=-1)

    assert second_eigenvalue([1.0, 1.0], beta) == pytest.approx((0.5 + beta2) / 2)
    assert aimd_matrix([1.0, 1.0], beta).shape == (3, 2, 2)
    assert window_history([1.0, 0.0], 5, [1.0, 1.0], beta).shape == (3, 6, 2)
    assert peak_windows([1.0, 1.0], beta, total=[1.0, 2.0, 3.0]).sum(axis=-1).tolist() == [1, 2, 3]
    assert isinstance(epoch_s([1.0, 2.0], 0.5), float)


def test_one_flow_has_nothing_to_settle() -> None:
    assert second_eigenvalue([1.0], 0.5) == 0.0
    assert convergence_epochs([1.0], 0.5) == 0.0
    assert peak_windows(1.0, 0.5, total=30.0).tolist() == [30.0]


def test_an_eigenvalue_lost_in_rounding_raises() -> None:
    with pytest.raises(ConvergenceError, match="equal to 1 but for rounding"):
        convergence_epochs([1.0, 1.0, 1.0], 0.5, [1.0, 1e-20, 1e-20])

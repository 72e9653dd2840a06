"""TCP over A-MPDUs: cases computed by hand, limits, and rejected arguments."""

from math import factorial
from typing import Any

import numpy as np
import pytest
from airtcp.models.bianchi import fixed_point
from airtcp.models.tcp_ampdu import Throughput, Times, throughput

SLOT = 9e-6
W0, M, RETRIES = 16, 6, 6


def times(segments: int = 64, acks: int = 64, ack_s: float = 1e-6) -> Times:
    """k segments take 100 + 28 k us, k ACKs 100 + k us; 60 us more after collisions."""
    data = 100e-6 + 28e-6 * np.arange(1.0, segments + 1)
    ack = 100e-6 + ack_s * np.arange(1.0, acks + 1)
    return Times(data, data + 60e-6, ack, ack + 60e-6)


def ask(n: int, window: int, d: int, of: Times | None = None, **keys: str | float) -> Throughput:
    return throughput(n, window, d, of or times(), slot_s=SLOT, w0=W0, m=M, retries=RETRIES, **keys)  # type: ignore[arg-type]


@pytest.mark.parametrize("direction", ["download", "upload"])
def test_one_station_whose_window_fits_takes_turns_with_the_access_point(direction: str) -> None:
    """44 segments and 22 ACKs for them: 2 accesses with 7.5 slots of backoff, no collision."""
    said = ask(1, 44, 2, direction=direction)
    cycle = (100 + 28 * 44) + (100 + 22) + 2 * 7.5 * 9
    assert float(said.segments_per_s) == pytest.approx(44 / cycle * 1e6)
    assert float(said.segments_per_ppdu) == 44
    assert float(said.acks_per_ppdu) == 22
    assert float(said.collision_probability) == 0.0
    # With an ACK for 8 segments 40 of 44 circulate: 4 wait at the receiver for more.
    assert float(ask(1, 44, 8).segments_per_ppdu) == pytest.approx(40)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_windows_that_fit_are_tokens_of_which_the_stations_hold_a_poisson_number(n: int) -> None:
    """One PPDU carries a whole window. Stations hold j of n windows with weight 1/j!; the access
    point has data unless they hold all. In a state k nodes contend, a slot succeeds with
    probability k tau (1 - tau)^(k-1), and the chain of successes leaves the state at rate k. So a
    state has weight 1/(j! tau (1 - tau)^(k-1)) in slots. The access point's attempts meet one of j
    stations."""
    stations = np.arange(n + 1.0)
    ap = (stations < n).astype(float)
    tau = np.asarray(fixed_point(stations + ap, W0, M, RETRIES).tau)
    weight = np.array([1 / factorial(j) for j in range(n + 1)])
    slots = weight / (tau * (1 - tau) ** (stations + ap - 1))
    meets = 1 - (1 - tau) ** stations
    said = ask(n, 44, 2)
    expected = (slots * ap * tau) @ meets / (slots @ (ap * tau))
    assert float(said.collision_probability_ap) == pytest.approx(expected, rel=1e-6)
    assert float(said.segments_per_ppdu) == pytest.approx(44)
    assert float(said.ack_accesses) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("asked", "segments", "accesses"),
    [
        # Access point and station are equally likely to be next, and a station sends all its ACKs
        # in one access. So ACKs need half as many accesses as data.
        ((1, 20_000, 8, times(segments=32, acks=10_000)), 32, 0.5),
        # Without aggregation each ACK needs an access.
        ((4, 100, 2, times(segments=1, acks=1)), 1, 0.5),
    ],
)
def test_accesses_for_acks(asked: tuple[Any, ...], segments: int, accesses: float) -> None:
    said = ask(*asked)
    assert float(said.ack_accesses) == pytest.approx(accesses, rel=1e-3)
    assert float(said.segments_per_ppdu) == pytest.approx(segments, rel=1e-3)


def test_more_segments_for_an_ack_never_cost_goodput_where_they_divide_the_window() -> None:
    rates = [float(ask(5, 64, d).segments_per_s) for d in (1, 2, 4, 8, 16)]
    assert rates == sorted(rates)
    # Without ACKs there is only one sender. A larger window changes little.
    assert rates[-1] < float(ask(5, 64, 1, acks="none").segments_per_s)
    alone = ask(20, 44, 2, acks="none")
    assert float(alone.segments_per_s) == pytest.approx(44 / (100 + 28 * 44 + 7.5 * 9) * 1e6)
    few, *many = (ask(3, window, 2).segments_per_s for window in (300, 701, 2001, 10_000))
    assert all(few < rate < 1.1 * few for rate in many)
    # An array gives the same values as its elements.
    both = throughput([1, 5], 44, [[1], [2]], times(), slot_s=SLOT, w0=W0, m=M, retries=RETRIES)
    assert both.segments_per_s[1, 1] == float(ask(5, 44, 2).segments_per_s)
    assert both.n.tolist() == [[1, 5], [1, 5]]


def test_a_window_that_fits_into_a_ppdu_goes_round_its_path_as_one() -> None:
    """Its segments are sent, acknowledged and returned together: 64 of them in 100 + 28 * 64 us,
    100 + 32 us for 32 ACKs, and 1 ms of path. On an idle channel nothing needs a backoff; data also
    skips AIFS but starts at a slot boundary, half a slot later on average. Otherwise there are two
    backoffs of 7.5 slots.
    """
    path = {"path_s": 1e-3, "aifs_s": 43e-6}
    cycle = 100 + 28 * 64 + 100 + 32 + 1000
    said = ask(1, 64, 2, **path, at_once=True)  # type: ignore[arg-type]
    waits = ask(1, 64, 2, **path)  # type: ignore[arg-type]
    assert float(said.segments_per_s) == pytest.approx(64 / (cycle - 43 + 4.5) * 1e6)
    assert float(waits.segments_per_s) == pytest.approx(64 / (cycle + 2 * 7.5 * 9) * 1e6)
    assert float(said.segments_per_ppdu) == 64
    assert float(said.acks_per_ppdu) == 32
    assert float(said.collision_probability) == 0.0


def test_windows_of_two_ppdus_pass_each_other_where_the_path_is_long() -> None:
    """128 segments are two PPDUs of 64. With 5 ms of path and 2 ms of airtime they do not meet
    again once they are apart, and nothing brings them back together.
    """
    said = ask(1, 128, 2, path_s=5e-3, at_once=True)
    cycle = 100 + 28 * 64 + 100 + 32 + 5000
    assert float(said.segments_per_s) == pytest.approx(128 / cycle * 1e6, rel=2e-3)


@pytest.mark.parametrize("direction", ["download", "upload"])
@pytest.mark.parametrize("path_s", [1e-5, 1e-3, 1e-2, 1.0])
@pytest.mark.parametrize(("window", "d"), [(1, 1), (44, 3), (100, 2), (300, 1), (2000, 4)])
@pytest.mark.parametrize("n", [1, 2, 20])
def test_no_path_lets_more_pass_than_the_windows_in_its_round_trip(
    n: int, window: int, d: int, path_s: float, direction: str
) -> None:
    said = ask(n, window, d, path_s=path_s, direction=direction)
    assert 0 < float(said.segments_per_s) < n * window / path_s
    # The path cannot raise the channel's throughput, except that it spaces out windows.
    assert float(said.segments_per_s) < 1.1 * float(
        ask(n, window, d, direction=direction).segments_per_s
    )
    assert 0 <= float(said.collision_probability) < 0.5


@pytest.mark.parametrize("direction", ["download", "upload"])
@pytest.mark.parametrize(("window", "d"), [(1, 1), (3, 2), (44, 16), (64, 64), (1000, 3)])
@pytest.mark.parametrize("n", [1, 2, 50])
def test_nothing_is_gained_or_lost(direction: str, window: int, d: int, n: int) -> None:
    """As many segments are acknowledged as are delivered, and no PPDU exceeds its limits."""
    said = ask(n, window, d, direction=direction)
    acked = float(said.ack_accesses * said.acks_per_ppdu) * d
    assert acked == pytest.approx(float(said.segments_per_ppdu))
    assert 0 < float(said.segments_per_ppdu) <= min(window, 64)
    assert 0 <= float(said.collision_probability) < 0.5
    assert 1 <= float(said.backlogged) <= n + 1
    assert float(said.segments_per_s) < 64 / (100 + 28 * 64) * 1e6


@pytest.mark.parametrize(
    ("n", "window", "d", "message"),
    [(0, 1, 1, "n must"), (1, 0, 1, "window"), (1, 1, 0, "d must"), (1, 4, 5, "at least d")],
)
def test_what_cannot_be_is_refused(n: int, window: int, d: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ask(n, window, d)
    one, two = np.array([1e-3]), np.array([1e-3, 2e-3])
    for last, said in ((two, "equally long"), (one[np.newaxis], "one dimension")):
        with pytest.raises(ValueError, match=said):
            Times(one, one, one, last)

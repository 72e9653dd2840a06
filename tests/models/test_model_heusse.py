"""The performance anomaly against its published form, Bianchi's model, and paper M."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from airtcp.models.airtime import Phy, Rate
from airtcp.models.bianchi import fixed_point, saturation, slot_times
from airtcp.models.heusse import (
    anomaly,
    collision_probability,
    contention_time_s,
    frame_exchange_s,
    phy_exchange_s,
    published_exchange_s,
    tcp_downloads,
)
from airtcp.models.max_throughput import lone_sender

SLOT = 20e-6
BITS = 12_272
FAST, SLOW = float(published_exchange_s(11e6)), float(published_exchange_s(1e6))


def test_published_throughput() -> None:
    """0.81, 0.70 and 0.55 Mb/s for 2, 3 and 5 hosts, one of them at 1 Mb/s.

    Variant: short preamble above 1 Mb/s, MAC ACK at the host's rate, CWmin 31, CWmin/2 in t_cont,
    1534 bytes counted.
    """
    result = anomaly([FAST, SLOW], [[1, 1], [2, 1], [4, 1]], BITS, cw_min=31, slot_s=SLOT)
    for host in range(2):
        told = [f"{x / 1e6:.2f}" for x in result.host_throughput_bps[:, host]]
        assert told == ["0.81", "0.70", "0.55"]
    assert result.n.tolist() == [2, 3, 5]


def test_published_exchange() -> None:
    """50 + 96 + 12272/11 + 10 + 96 + 112/11 us, and with 192 us of preamble at 1 Mb/s."""
    assert pytest.approx(50 + 96 + 12272 / 11 + 10 + 96 + 112 / 11) == FAST * 1e6
    assert pytest.approx(50 + 192 + 12272 + 10 + 192 + 112) == SLOW * 1e6
    assert published_exchange_s([1e6, 2e6], 0) * 1e6 == pytest.approx([556, 308])
    times = {"preamble_s": 192e-6, "ack_bits": 112, "ack_rate_bps": 1e6, "sifs_s": 1e-5}
    long = frame_exchange_s([BITS, 0], 2e6, difs_s=5e-5, **times)
    nothing = 50 + 192 + 10 + 192 + 112
    assert long * 1e6 == pytest.approx([nothing + 6136, nothing])


@pytest.mark.parametrize("n", [2, 5, 20])
@pytest.mark.parametrize("rate", [1e6, 5.5e6])
def test_one_slow_host_is_the_published_form(n: int, rate: float) -> None:
    """X_f, U_f and t_jam as printed: N - 1 fast hosts and a slow one, CWmin 31.

    X_f = U_f p_f R, p_f = s_d / (R T_f), U_f = T_f / ((N-1) T_f + T_s + P_c t_jam N).
    """
    slow = float(published_exchange_s(rate))
    p_c = 1 - (1 - 1 / 31) ** (n - 1)
    wait = SLOT * (1 + p_c) / (2 * n) * 31 / 2
    t_f, t_s = FAST + wait, slow + wait
    t_jam = 2 / n * t_s + (1 - 2 / n) * t_f
    u_f = t_f / ((n - 1) * t_f + t_s + p_c * t_jam * n)
    result = anomaly([FAST, slow], [n - 1, 1], BITS, cw_min=31, slot_s=SLOT)
    assert result.host_throughput_bps == pytest.approx([u_f * BITS / t_f] * 2, rel=1e-12)
    assert result.host_share[0] == pytest.approx(u_f, rel=1e-12)
    assert result.collision_s == pytest.approx(t_jam, rel=1e-12)
    assert result.throughput_bps == pytest.approx(n * u_f * BITS / t_f, rel=1e-12)
    # Arrays with more axes broadcast windows against the first axes.
    many = anomaly([[[FAST, slow]]] * 3, [[n - 1, 1]], BITS, cw_min=[[15], [31], [63]], slot_s=SLOT)
    assert many.host_throughput_bps.shape == (3, 1, 2)
    assert many.cycle_s[1, 0] == pytest.approx(result.cycle_s, rel=1e-14)


@pytest.mark.parametrize("window", [1, 3, 4])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_collision_probability_by_enumeration(n: int, window: int) -> None:
    """Some other host has the same slot: counted over all draws of `window` slots."""
    draws = list(itertools.product(range(window), repeat=n))
    hit = sum(draw[0] in draw[1:] for draw in draws)
    assert collision_probability(n, window) == pytest.approx(hit / len(draws), abs=1e-14)


def test_wait() -> None:
    """20 us (1 + 1/31) / 4 x 15.5 for two hosts; "whole" is twice the published wait."""
    assert contention_time_s(1, 31, SLOT) * 1e6 == pytest.approx(20 / 2 * 15.5)
    assert contention_time_s(2, 31, SLOT) * 1e6 == pytest.approx(20 * (32 / 31) / 4 * 15.5)
    n = np.array([1, 2, 3.5, 100])
    assert contention_time_s(n, 31, SLOT, backoff="whole") == pytest.approx(
        2 * contention_time_s(n, 31, SLOT), rel=1e-14
    )


@pytest.mark.parametrize("counts", [(1, 0, 0), (1, 1, 0), (3, 2, 4), (0, 5, 1), (1, 1, 1)])
@pytest.mark.parametrize("times", [(1e-3, 2e-3, 5e-3), (5e-3, 1e-3, 2e-3), (1e-3, 1e-3, 2e-3)])
def test_collisions_last_as_the_longer_of_a_pair(
    counts: tuple[int, ...], times: tuple[float, ...]
) -> None:
    """All pairs enumerated, with the wait included as in the source."""
    result = anomaly(times, counts, BITS, cw_min=31, slot_s=SLOT)
    hosts = [time for time, count in zip(times, counts, strict=True) for _ in range(count)]
    pairs = [max(pair) for pair in itertools.combinations(hosts, 2)]
    expected = np.mean(pairs) + result.contention_s if pairs else 0.0
    assert result.collision_s == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("rts", [False, True])
def test_a_lone_host_is_the_lone_sender(phy_80211b: Phy, phy_80211g: Phy, rts: bool) -> None:
    """With the "whole" wait of CWmin/2 slots, on any PHY, with and without RTS/CTS."""
    for phy in (phy_80211b, phy_80211g):
        time = phy_exchange_s(phy, 12000, rts=rts)
        keys: dict[str, Any] = {"cw_min": phy.cw_min, "slot_s": phy.slot_time_ns / 1e9}
        alone = anomaly(time, 1, 12000, backoff="whole", **keys)
        expected = lone_sender(phy, 12000, rts=rts)
        assert alone.throughput_bps == pytest.approx(expected.throughput_bps, rel=1e-12)
        assert alone.cycle_s == pytest.approx(expected.cycle_s, rel=1e-12)
    slow = Rate(1_000_000, "dsss")
    of_phy = phy_exchange_s(replace(phy_80211b, data_rate=slow), [12000], rts=rts)
    assert phy_exchange_s(phy_80211b, [12000], rts=rts, data_rate=slow) == of_phy


@pytest.mark.parametrize(
    ("backoff", "hosts", "low", "high"),
    [
        # The published wait is too short, the whole one fits.
        ("published", [1, 2, 3, 4, 5], 0.005, 0.09),
        ("whole", [1, 2, 3, 4, 5], -0.012, 0.001),
        # Without doubling of windows, and with a collision charged to each of its hosts: 14 % off.
        ("whole", [50], -0.145, -0.135),
    ],
)
def test_equal_hosts_beside_bianchi(
    phy_80211b: Phy, backoff: Any, hosts: list[int], low: float, high: float
) -> None:
    """The reference uses EIFS after a collision."""
    n = np.array(hosts)
    times = slot_times(phy_80211b, 12000, rts=False, after_collision="eifs")
    reference = saturation(fixed_point(n, 32, 5, 6), times).utilization * 11e6
    time = [phy_exchange_s(phy_80211b, 12000, rts=False)]
    counts = n[:, np.newaxis]
    result = anomaly(time, counts, 12000, cw_min=31, slot_s=SLOT, backoff=backoff)
    error = result.throughput_bps / reference - 1
    assert np.all((error > low) & (error < high))


def test_tcp_cycle_by_hand() -> None:
    """D = 2, 4 connections, CWmin 31, slots of 20 us: N = 1.5, or N = 5 with every station."""
    times: dict[str, Any] = {"data_s": 1800e-6, "tcp_ack_s": 1000e-6, "cw_min": 31}
    times |= {"slot_s": SLOT, "d": 2}
    p_c = 1 - (30 / 31) ** 0.5
    wait = 20 * (1 + p_c) / 3 * 15.5
    few = tcp_downloads(4, 8000, **times)
    assert few.contenders == 1.5
    assert few.cycle_s * 1e6 == pytest.approx(2300 + 1.5 * (wait + p_c * (1800 + wait)), rel=1e-12)
    assert few.goodput_bps == pytest.approx(8000 / few.cycle_s)
    assert few.flow_goodput_bps == pytest.approx(few.goodput_bps / 4)
    p_c = 1 - (30 / 31) ** 4
    wait = 20 * (1 + p_c) / 10 * 15.5
    jam = 0.4 * 1800 + 0.6 * 1000 + wait
    all_ = tcp_downloads(4, 8000, contenders="all", **times)
    assert all_.contenders == 5
    assert all_.cycle_s * 1e6 == pytest.approx(2300 + 1.5 * (wait + p_c * jam), rel=1e-12)
    rts = tcp_downloads(4, 8000, contenders="all", collision_s=300e-6, **times)
    assert rts.cycle_s * 1e6 == pytest.approx(2300 + 1.5 * (wait + p_c * 300), rel=1e-12)

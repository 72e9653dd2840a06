"""Komondor's table of saturated 802.11ax senders with RTS/CTS and aggregation.

Throughput of a sender in Mb/s and collision probability for N senders that hear each other, each
with 43 MPDUs of 11728 bits in every PPDU. The scenario file has all times; they give T_s = RTS +
CTS + 3 SIFS + DATA + Block ACK + DIFS + slot = 52 + 44 + 48 + 5428 + 32 + 43 us, and T_c = RTS +
SIFS + CTS + DIFS + slot = 155 us. DATA is 100 us and ceil((16 + 43 * 12080) / 1560) = 333 symbols
of 16 us there. Here the subframes of an A-MPDU are padded to multiples of 4 bytes (IEEE
802.11-2020, 9.7.1), which makes one symbol more, 0.28 % of T_s.
"""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import pytest
from airtcp.run.simulate import simulate
from airtcp.scenario import loads

SCENARIO = (Path(__file__).parent / "komondor.toml").read_text(encoding="utf-8")
SLOT_US, MEAN_BACKOFF = 9.0, 7.5

#: Senders, Mb/s of each, collision probability, and simulated seconds, which give the probability a
#: standard deviation of 0.0005 or less.
TABLE = [
    (2, 44.31, 0.1187, 2000),
    (4, 22.13, 0.3144, 1500),
    (10, 8.71, 0.6757, 500),
    (20, 4.10, 0.9074, 200),
    # It takes as long as all others together.
    pytest.param(50, 0.57, 0.9979, 200, marks=pytest.mark.verify),
]


def answers(senders: int, duration_s: float) -> tuple[float, float]:
    """Return a sender's throughput in Mb/s, and the collision probability."""
    scenario = loads(SCENARIO).vary(
        {"stations.sender.count": senders, "run.duration": f"{duration_s:g} s"}
    )
    runs = [run.answer["metrics"] for run in simulate(scenario, threads=1).simulation.runs]
    throughput = fmean(run["goodput_bps"] for run in runs) / senders / 1e6
    return throughput, fmean(run["collision_probability"] for run in runs)


def test_a_lone_sender_by_hand() -> None:
    symbols = -(-(16 + 42 * 8 * 1512 + 8 * 1510) // 1560)
    assert symbols == 334
    success_us = 52 + 44 + 3 * 16 + 100 + 16 * symbols + 32 + 34 + SLOT_US
    by_hand = 43 * 11728 / (success_us + MEAN_BACKOFF * SLOT_US)

    throughput, collisions = answers(1, 200)

    # The mean of some 70,000 backoffs of 0 to 15 slots has a standard deviation of 0.16 us.
    assert throughput == pytest.approx(by_hand, rel=2e-4)
    assert throughput == pytest.approx(88.25, rel=0.005)
    assert collisions == 0.0


@pytest.mark.parametrize(("senders", "mbps", "collision_probability", "duration_s"), TABLE)
def test_the_table(
    senders: int, mbps: float, collision_probability: float, duration_s: float
) -> None:
    throughput, collisions = answers(senders, duration_s)

    # 0.57 has only two digits.
    assert throughput == pytest.approx(mbps, rel=0.01, abs=0.005)
    assert collisions == pytest.approx(collision_probability, abs=0.002)

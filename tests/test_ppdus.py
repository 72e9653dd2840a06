"""How many frames go at once, and how many of them fail, against arithmetic.

The rows of ns-3 are in witness/test_ns3_modern.py.
"""

from __future__ import annotations

import math
from typing import Any

import pytest
from airtcp import simulate
from airtcp.results import Simulation
from airtcp.scenario import loads
from bases import BULK, SATURATED, cell

#: AIFS 43 us, 7.5 slots of 9 us on average, a PPDU of 31 MPDUs 5338.8, SIFS, Block ACK 32.
CYCLE_S = 5497.3e-6


def simulated(mac: str = "", count: int = 1, **told: Any) -> Simulation:
    rules = f'[mac]\nrules = {{ preset = "ns-3", delivery = "ppdu" }}\n{mac}'
    run: dict[str, Any] = {"warmup": "200 ms", "duration": "3 s", "replications": 1, "seed": 5}
    told = {"standard": "802.11n", "application": SATURATED} | told
    return simulate(loads(cell(count, tables=rules, name="a", **told, **run)), threads=1).simulation


def means(simulation: Simulation) -> dict[str, Any]:
    return {name: one.mean for name, one in simulation.metrics.items()}


def test_a_lone_sender_sends_as_many_as_fit() -> None:
    """802.11n, MCS 7: 31 MPDUs of 1538 bytes last 5338.8 us; 32 exceed the limit of 5484."""
    found = means(simulated())
    assert found["mpdus_per_ppdu_ap"] == 31.0
    assert found["failed_ppdu_ratio"] == found["failed_ppdu_ratio_ap"] == 0.0
    assert found["mpdu_error_ratio"] == found["reorder_delay_s"] == 0.0
    for name in ("mpdus_per_ppdu_stations", "mpdus_per_ack_ppdu_ap", "failed_ppdu_ratio_stations"):
        assert found[name] is None, name


@pytest.mark.parametrize("standard", ["802.11a", "802.11n"])
def test_what_is_lost_by_errors_is_counted(standard: str) -> None:
    """A tenth of all MPDUs. Without aggregation each is a failed PPDU; of 31 some get through.

    The tolerance is five standard deviations of the count.
    """
    found = means(simulated(standard=standard, group='frame_errors = "10 %"'))
    error, failed, size = (
        found[name] for name in ("mpdu_error_ratio", "failed_ppdu_ratio_ap", "mpdus_per_ppdu_ap")
    )
    mpdus = found["goodput_bps"] * 3.0 / (8 * 1472) / 0.9
    assert abs(error - 0.1) < 5 * math.sqrt(0.1 * 0.9 / mpdus)
    if standard == "802.11a":
        assert (failed, size, found["reorder_delay_s"]) == (error, None, None)
    else:
        assert failed == 0.0
        assert 28.0 < size < 31.0


def test_frames_wait_for_those_that_are_sent_again() -> None:
    """One MPDU in a hundred is lost, and goes first in the next PPDU. The one at place i of 31
    waits a cycle if any before it is lost: to first order 15 % of a cycle on average. Double losses
    add a per cent of a cycle, and the window (64) does not bind. Chance: some 150 of 550 PPDUs have
    losses, each of which delays 0 to 30 frames: 5 %. The tolerance of 15 % is three times that.
    """
    found = means(simulated(group='frame_errors = "1 %"'))
    share = sum(1 - 0.99**i for i in range(31)) / 31
    assert found["reorder_delay_s"] == pytest.approx((share + 0.01) * CYCLE_S, rel=0.15)
    assert found["reorder_delay_p50_s"] == 0.0
    most = found["reorder_delay_p99_s"]
    assert 0.8 * CYCLE_S < most < 2.5 * CYCLE_S


def test_groups_have_their_own_numbers() -> None:
    """Two senders that collide: the group's failures and frames are those of all stations, and the
    access point responds only to this group.
    """
    simulation = simulated(direction="upload", application=BULK, count=3)
    found = means(simulation)
    sizes = [f"mpdus_per_{of}" for of in ("ppdu_stations", "ack_ppdu_ap", "ppdu_ap")]
    sizes += ["mpdus_per_ack_ppdu_stations", "failed_ppdu_ratio_stations", "reorder_delay_s"]
    group = simulation.groups["a"]["all"]
    assert {name: group[name].mean for name in sizes} == {name: found[name] for name in sizes}
    category = simulation.categories["AC_BE"]
    for name in ("mpdus_per_ppdu_stations", "failed_ppdu_ratio", "mpdu_error_ratio"):
        assert category[name].mean == found[name], name
    # Without errors every failure is a collision.
    assert found["failed_ppdu_ratio"] == found["collision_probability"] > 0.05


def test_an_rts_stands_for_what_it_announces() -> None:
    """Only RTS frames collide, and beacons expect no response."""
    simulation = simulated(
        standard="802.11g",
        mac='rts_threshold = "0 B"\nbeacon = { interval = "2 ms" }',
        direction="upload",
        count=5,
    )
    found = means(simulation)
    counts, failed = simulation.counts, found["failed_ppdu_ratio"]
    assert failed is not None
    asked = counts["mac_attempts"] - counts["beacons"]
    unanswered = asked - counts["mac_exchanges"]
    assert counts["beacon_collisions"] > 50
    # A beacon counts when it begins, an attempt when it ends.
    assert failed == pytest.approx(unanswered / asked, abs=2 / asked)
    assert found["mpdu_error_ratio"] == 0.0

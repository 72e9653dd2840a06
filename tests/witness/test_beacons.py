"""Beacons: their times, their cost, and that they collide like other frames.

(22) of paper H: a cell is slower by T_bc / BI, the time of a beacon over the interval. T_bc (21)
has DIFS, the frame and the access point's mean backoff, part of which passes in a busy cell while
others wait too.
"""

from __future__ import annotations

from statistics import fmean
from typing import Any

import bases
import pytest
from peers.samples import Answer, answers, interval

#: 584 bits at 1 Mb/s after the long preamble, and a MAC ACK at 2 Mb/s.
BEACON_S, MAC_ACK_S, DIFS_S, SLOT_S = 776e-6, 248e-6, 50e-6, 20e-6

BEACONS = 'beacon = { interval = "102.4 ms", size_bits = 584, rate = "1 Mb/s" }\n'
INTERVAL_S = 0.1024


def cell(mac: str, *, n: int = 1, rate: str = "saturated", **keys: Any) -> list[Answer]:
    keys = {"direction": "upload", "tables": f"[mac]\n{mac}"} | keys
    udp = f'{{ kind = "udp", packet = "1500 B", rate = "{rate}" }}'
    run: Any = {"warmup": "1 s", "duration": "100 s", "replications": 10, "seed": 8}
    return answers(bases.cell(n, application=udp, **keys, **run))


def test_an_idle_access_point_sends_at_each_target_time() -> None:
    for run in cell(BEACONS, rate="12 kb/s"):
        counts = run["counts"]

        assert counts["beacons"] == pytest.approx(100 / INTERVAL_S, abs=1)
        assert counts["mac_exchanges"] == pytest.approx(100, abs=1)
        sent = counts["beacons"] - counts["beacon_collisions"]
        control = sent * BEACON_S + counts["mac_exchanges"] * MAC_ACK_S
        # A frame may be cut off at either end.
        assert 100 * run["airtime"]["control"] == pytest.approx(control, abs=2 * BEACON_S)


def test_beacons_are_attempts_and_no_exchanges() -> None:
    for run in cell(BEACONS, n=5):
        counts, ap = run["counts"], run["stations"][0]

        # One may be on the air at the beginning, and one at the end.
        assert ap["attempts"] == pytest.approx(counts["beacons"], abs=1)
        assert ap["collisions"] == pytest.approx(counts["beacon_collisions"], abs=1)
        assert ap["successes"] == ap["mac_drops"] == counts["simultaneous_sends"] == 0


@pytest.mark.parametrize("n", [1, 10])
def test_they_cost_what_paper_h_says(n: int) -> None:
    with_beacons = fmean(run["metrics"]["goodput_bps"] for run in cell(BEACONS, n=n))
    without = fmean(run["metrics"]["goodput_bps"] for run in cell("", n=n))

    least = (DIFS_S + BEACON_S) / INTERVAL_S
    most = least + 31 / 2 * SLOT_S / INTERVAL_S
    # The confidence interval of the mean of ten runs of 100 s is some 0.05 % of it.
    assert least - 0.001 < without / with_beacons - 1 < most + 0.001


def test_they_collide_as_often_as_frames_of_stations_or_little_more() -> None:
    """The access point meets ten saturated stations. A station meets nine and few beacons."""
    runs = cell(BEACONS, n=10)
    beacons = [run["counts"]["beacon_collisions"] / run["counts"]["beacons"] for run in runs]
    stations = fmean(run["metrics"]["collision_probability_stations"] for run in runs)

    mean, half = interval(beacons)
    # One more sender, with a mean backoff of 15.5 slots or more.
    assert stations - half < mean < stations + 1 / 16 + half
    assert half < 0.02


def test_with_access_categories_they_go_in_the_first() -> None:
    """AC_VO of an access point: 30 us and CW 7 at most, against the stations' 70 us and 31."""
    plain, prioritised = (
        fmean(run["counts"]["beacon_collisions"] / run["counts"]["beacons"] for run in runs)
        for runs in (cell(BEACONS, n=10), cell(BEACONS + "[mac.edca]\n", n=10))
    )

    # They wait two slots less, and a quarter as long if they have a backoff.
    assert prioritised < 0.7 * plain


def test_bursts_and_beacons_live_together() -> None:
    tables = f'[mac]\n{BEACONS}[ap]\naccess = {{ scheme = "adaptive-burst" }}'

    for run in cell("", n=5, direction="download", tables=tables):
        assert run["counts"]["beacons"] == pytest.approx(100 / INTERVAL_S, abs=1)
        assert run["counts"]["collisions"] == 0

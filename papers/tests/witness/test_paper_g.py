"""Paper G by our simulator: that the explanations of docs/papers/paper-g.md are right.

The scenario is that of `airtcp reproduce G`, which is held to the paper's statements; ns-2's own
rows with skipped ACKs are in `test_ns2_acks`. Here is where packets are lost, and what follows.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

import airtcp_papers
import pytest
from airtcp.run.simulate import simulate
from airtcp_papers.common.bench import Bench, Settings
from airtcp_papers.gopal.model import any_two_coincide
from two_senders import two_senders, windows

SIMULTANEOUS = "simultaneous_send_probability"
FOLDER = Path(airtcp_papers.__file__).parent / "gopal"


@cache
def run(
    *, retries: bool = False, skip: int = 0, delay_ms: int = 2, flows: int = 1
) -> list[dict[str, Any]]:
    """Twenty uploads of 10 MB each."""
    changes = {
        "mac.short_retry_limit": 7 if retries else 1,
        "stations.node.count": flows,
        "flows.node.tcp.ack_skip": {"skip": skip, "after_segment": 50},
        "flows.node.path": [{"rate": "100 Mb/s", "delay": f"{delay_ms} ms", "queue": 50}],
        "run.replications": 20,
    }
    scenario = Bench(FOLDER, FOLDER, Settings()).scenario("uploads", changes)
    return [dict(one.answer) for one in simulate(scenario, threads=1).simulation.runs]


def count(runs: list[dict[str, Any]], name: str) -> float:
    return fmean(one["counts"][name] for one in runs)


def metric(runs: list[dict[str, Any]], name: str) -> float:
    return fmean(one["metrics"][name] for one in runs)


def test_without_retries_it_is_simultaneous_send_that_loses_packets() -> None:
    """Section I: each costs the access point's packet and the station's.

    "The sole cause" is a little much: one upload of ten overflows its queue once, early on.
    """
    runs = run()

    assert count(runs, "simultaneous_sends") == count(runs, "collisions") > 200
    assert count(runs, "mac_drops") == 2 * count(runs, "collisions")
    overflows = [count(runs, f"{place}_drops") for place in ("station_queue", "ap_queue", "wired")]
    assert sum(overflows) < 0.01 * count(runs, "mac_drops")


def test_with_retries_it_is_the_queues() -> None:
    """Section IV.A: no frame is given up, and queues of 50 packets overflow."""
    runs = run(retries=True)

    assert count(runs, "mac_drops") == 0
    assert count(runs, "station_queue_drops") > 20


def test_one_in_32_transmissions_is_a_simultaneous_send_while_both_have_packets() -> None:
    """Section II.C. With retries the window fills the queues, and both nearly always have one.

    (1) is 1/32, of which windows that double leave what the Markov chain of two senders says.
    Half widths are 0.0006; a station that waits for its timer takes a little away.
    """
    exact = two_senders(windows(31, 1023, 7)).collision

    assert exact < float(any_two_coincide(1, 32))
    assert metric(run(retries=True), SIMULTANEOUS) == pytest.approx(exact, abs=0.0015)


def test_without_retries_it_is_half_as_many() -> None:
    """Section IV.A takes 3 % here too, but losses leave a window of a few packets.

    Of the frames 3.4 % collide, since each collision takes two.
    """
    runs = run()
    of_transmissions = metric(runs, SIMULTANEOUS)

    assert of_transmissions == pytest.approx(0.5 / 32, rel=0.15)
    assert metric(runs, "collision_probability") == pytest.approx(
        2 * of_transmissions / (1 + of_transmissions), rel=0.01
    )


def test_skipping_an_ack_halves_collisions_and_with_them_the_timeouts() -> None:
    """Section IV.A: "the reduced MAC traffic simply cuts MAC failures by half".

    The access point sends somewhat more than half: duplicate ACKs are not skipped.
    """
    none, one = run(), run(skip=1)

    sent = [fmean(answer["stations"][0]["attempts"] for answer in runs) for runs in (none, one)]
    assert 0.5 < sent[1] / sent[0] < 0.65
    for name in ("collisions", "tcp_timeouts"):
        assert count(one, name) / count(none, name) == pytest.approx(0.5, abs=0.06)


def test_on_a_longer_path_data_and_acks_meet_less_often() -> None:
    """Why goodput without retries grows with the delay, which the paper does not find."""
    near, far = run(), run(delay_ms=15)

    assert count(far, "collisions") < 0.5 * count(near, "collisions")
    assert count(far, "tcp_timeouts") < 0.5 * count(near, "tcp_timeouts")


def test_three_stations_collide_among_themselves_where_the_access_point_sends_less() -> None:
    """Why the goodputs of three uploads with retries gain nothing from a skipped ACK."""
    none, one = (run(retries=True, skip=skip, flows=3) for skip in (0, 1))

    assert metric(one, "collision_probability") > 1.15 * metric(none, "collision_probability")
    for runs in (none, one):
        others = 1 - count(runs, "simultaneous_sends") / count(runs, "collisions")
        assert 0.2 < others < 0.8


def test_the_last_of_three_uploads_ends_sooner_all_the_same() -> None:
    """With every ACK one upload runs ahead: the mean of the goodputs is higher, the cell's not."""
    none, one = (run(retries=True, skip=skip, flows=3) for skip in (0, 1))

    def last(runs: list[dict[str, Any]]) -> float:
        return fmean(max(flow["mean_transfer_time_s"] for flow in one["flows"]) for one in runs)

    def mean_goodput(runs: list[dict[str, Any]]) -> float:
        return fmean(1 / flow["mean_transfer_time_s"] for one in runs for flow in one["flows"])

    assert mean_goodput(one) < mean_goodput(none)
    assert last(one) < 0.93 * last(none)


@pytest.mark.parametrize("skip", [2, 3, 4])
def test_without_retries_more_skipping_stalls(skip: int) -> None:
    """All that moves a stalled upload is its timer, which backs off to 64 s."""
    runs = run(skip=skip)

    assert sum(one["counts"]["transfers"] for one in runs) == 0
    assert count(runs, "tcp_timeouts") == pytest.approx(21, abs=1)

"""The real ns-2 (2.35, unmodified) with ACK policies: delayed, by thresholds, and skipped.

`tests/reference/ns2.csv` holds the rows and its README how they were made; `test_ns2` says
what ns-2 does differently. Three groups:

Endless downloads with d = 1 to 5 agree as those of `test_ns2` do: goodput here is 0.06 to 0.21 %
higher, collision probabilities differ by 0.002 at most.

Files with delayed ACKs and with the thresholds 2, 5, 9 show how ns-2 counts segments. If the first
data segment is number 1, all times agree within 0.3 %. If it were 0, thresholds would apply a
segment later: times to the last ACK would be 3 % lower, collisions 20 % more.

Uploads with skipped ACKs (paper G) agree because four rules here are those of ns-2:

- If a data packet collides with a TCP ACK, which is shorter, its sender waits for the MAC ACK and
  not for EIFS (`rules.colliders = "as-heard"`).
- The first slow-start threshold is 20 packets, as in the rows with W = 1000; without it the first
  overshoot costs one more timeout.
- One fast retransmit per window (`rules.fast_retransmit_once_per_window`): ns-2's Reno sets
  `recover` at each one, and starts no other until everything sent before is acknowledged. RFC 5681
  has no such variable. With several losses in a window ns-2 waits for its timer where the RFC
  halves once more. ns-2's own switch, `bugFix_ false`, reduces the timeouts without MAC retries
  from 113 to 78 (five seeds).
- A loss halves cwnd, not FlightSize (RFC 5681 (4); `rules.loss_window`). After a recovery that ends
  by the timer, ns-2's threshold is half as high, and it overshoots less.

With all four, goodput of skip = 0 and 1 differs by -1.6 to +2.8 % without MAC retries and by -0.8
to +2.0 % with them; timeouts differ by 5 % and by 0.4 of 4. Uploads that end with more skipped ACKs
differ by 0.1 %. By RFC 5681 goodput without MAC retries is a tenth to a third higher.
"""

from __future__ import annotations

import math
import re

import pytest
from peers import ns2
from peers.references import Point
from peers.samples import Answer, interval


def points(group: str) -> list[Point]:
    return [point for point in ns2.ROWS if point.group == group]


ENDLESS, FILES, UPLOADS = points("delayed-ack"), points("single"), points("upload-ack-skip")


@pytest.mark.parametrize("point", ENDLESS, ids="-".join)
def test_endless_downloads_with_delayed_acks(point: Point) -> None:
    """Goodput within 1 %, collision probabilities within 0.004, the bounds of `test_ns2`."""
    rows, samples = ns2.ROWS[point], ns2.samples(point)

    goodput, _ = interval(samples["goodput_bps"])
    assert goodput == pytest.approx(rows["goodput_bps"].mean, rel=0.01)
    for name in ns2.COLLISION_PROBABILITIES[1:]:
        mean, _ = interval(samples[name])
        # Below 27 m NAVs are too short, but with one station there is no third party.
        assert mean == pytest.approx(rows[name].mean, abs=0.004)


@pytest.mark.parametrize(
    "point",
    [
        # Thresholds depend most on how segments are counted.
        pytest.param(one, marks=() if "dyn" in one.settings else pytest.mark.verify)
        for one in FILES
    ],
    ids="-".join,
)
def test_files_of_one_station(point: Point) -> None:
    """Times within the joint interval or 2 %, collision probability within 0.004."""
    rows, samples = ns2.ROWS[point], ns2.samples(point)

    assert {"transfer_time_s", ns2.TO_LAST_ACK, ns2.ADJUSTED, "collision_probability"} == set(rows)
    for name, reference in rows.items():
        mean, half = interval(samples[name])
        allowed = max(math.hypot(half, reference.half_width), 0.02 * reference.mean)
        if name == "collision_probability":
            allowed = 0.004
        assert abs(mean - reference.mean) < allowed, name


def test_segments_are_counted_from_one() -> None:
    """The same thresholds would give another result if the first segment had number 0."""
    (point,) = (point for point in FILES if "dyn" in point.settings)
    reference = ns2.ROWS[point][ns2.ADJUSTED]
    policy = 'thresholds = [[0, 1], [3, 2], [6, 3], [10, 4]], timeout = "0.04 s"'
    from_zero = ns2.files(1, 1000, "pareto", "0.2", delayed_ack=policy, initial_window=2)

    from_one, _ = interval(ns2.samples(point)[ns2.ADJUSTED])
    assert from_one == pytest.approx(reference.mean, rel=0.01)
    assert interval(ns2.adjusted(from_zero, "pareto"))[0] < 0.98 * reference.mean


def upload(retries: str, skip: int | str, min_rto: str) -> Point:
    parameters = f"nf=1 MB=10 retries={retries} skip={skip} minrto={min_rto} delay=2ms"
    return Point("upload-ack-skip", parameters)


def goodput(runs: list[Answer]) -> float:
    return interval([ns2.upload_goodput(run) for run in runs])[0]


STALLED = [point for point in UPLOADS if re.search("retries=off skip=[234]", point.parameters)]


@pytest.mark.parametrize("point", STALLED, ids="-".join)
def test_without_retries_skipping_two_acks_stalls_every_upload(point: Point) -> None:
    """The timer backs off to 64 s, and nothing else happens: expirations are counted alike.

    How far an upload gets before it stalls is random: some 300 packets of 10,000.
    """
    runs, rows = ns2.of_uploads(point), ns2.ROWS[point]
    assert rows["finished_flows"].mean == 0.0
    assert [run["flows"][0]["transfers"] for run in runs] == [0] * len(runs)
    timeouts, _ = interval([run["flows"][0]["timeouts"] for run in runs])
    assert timeouts == pytest.approx(rows["tcp_timeouts"].mean, abs=1.5)
    assert goodput(runs) < 5e3
    assert rows["goodput_bps"].mean < 5e3


@pytest.mark.parametrize("min_rto", ["1.0", "0.2"])
@pytest.mark.parametrize("retries", ["on", "off"])
def test_skipping_one_ack_gains_as_much(retries: str, min_rto: str) -> None:
    """32 or 22 % with retries and 67 or 35 % without in ns-2.

    Goodput itself within 5 %, timeouts within 8: 5 % is the joint interval of the widest rows,
    which have only five runs; for 80 timeouts the joint interval is 6.
    """
    pair = [upload(retries, skip, min_rto) for skip in "01"]
    theirs = [ns2.ROWS[point]["goodput_bps"].mean for point in pair]
    ours = [goodput(ns2.of_uploads(point)) for point in pair]

    assert ours == pytest.approx(theirs, rel=0.05)
    assert ours[1] / ours[0] == pytest.approx(theirs[1] / theirs[0], rel=0.1)
    for point in pair:
        timeouts, _ = interval(ns2.samples(point)["tcp_timeouts"])
        assert timeouts == pytest.approx(ns2.ROWS[point]["tcp_timeouts"].mean, abs=8)


def test_a_second_fast_retransmit_in_a_window_makes_up_for_many_timeouts() -> None:
    """RFC 5681 allows it, and goodput without MAC retries is higher by more than a fifth."""
    for skip in "01":
        point = upload("off", skip, "1.0")
        peers, standard = (ns2.of_uploads(point, rules) for rules in ("ns-2", "standard"))

        assert goodput(standard) > 1.2 * goodput(peers)


@pytest.mark.parametrize("min_rto", ["1.0", "0.2"])
@pytest.mark.parametrize("skip", ["2", "3", "4"])
def test_with_retries_more_skipping_gains_a_little_more_or_stalls(skip: str, min_rto: str) -> None:
    """For uploads that end, goodput within 1 %; some stall, in ns-2 as here.

    5 to 33 % of ours stall. Of ns-2's five runs one stalls with two ACKs left out, none with more.
    """
    point = upload("on", skip, min_rto)
    rows, runs = ns2.ROWS[point], ns2.of_uploads(point)
    ended = [run for run in runs if run["flows"][0]["transfers"]]
    assert 0.6 <= len(ended) / len(runs) < 1.0
    # One of five stalled in the row with two left out: its mean is 0.8 times that of the others.
    reference = rows["goodput_bps"].mean / rows["finished_flows"].mean
    assert goodput(ended) == pytest.approx(reference, rel=0.01)

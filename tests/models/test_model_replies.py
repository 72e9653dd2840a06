"""Contenders of a cell with TCP: ACKs sent at once, by a slot-by-slot count; limits."""

import random

import pytest
from airtcp.models.bianchi import SlotTimes
from airtcp.models.replies import download, goodput, share_at_once, upload

#: 802.11a at 54 Mb/s, segments of 1448 bytes: frame, SIFS, ACK, DIFS.
DATA = SlotTimes(9e-6, 326e-6, 282e-6, 1e-4)
ACK = SlotTimes(9e-6, 114e-6, 70e-6, 1e-4)
BITS = 8 * 1448


def counted(w0: int, d: int, connections: int, acks: int) -> tuple[float, float]:
    """Return the share of ACKs sent at once, and of segments after which one meets a draw of 0.

    Slot by slot: the access point always has a segment, and a station's backoff runs after each of
    its ACKs. Windows do not double.
    """
    stream = random.Random(4)
    ap = stream.randrange(w0)
    backoffs, waiting, got = [0] * connections, [0] * connections, [0] * connections
    at_once = sent = segments = met = 0
    while sent < acks:
        ready = [one for one in range(connections) if waiting[one] and not backoffs[one]]
        if len(ready) + (ap == 0) > 1:
            # A collision: all draw a new backoff.
            for one in ready:
                backoffs[one] = stream.randrange(w0)
            if ap == 0:
                ap = stream.randrange(w0)
        elif ready:
            sent += 1
            waiting[ready[0]] -= 1
            backoffs[ready[0]] = stream.randrange(w0)
        elif ap == 0:
            # Segments come in bursts of d, one station after the other.
            one = segments // d % connections
            segments += 1
            ap = stream.randrange(w0)
            got[one] += 1
            if got[one] == d:
                got[one] = 0
                waiting[one] += 1
                if waiting[one] == 1 and not backoffs[one]:
                    at_once += 1
                    met += ap == 0
        else:
            ap -= 1
            backoffs = [max(one - 1, 0) for one in backoffs]
    return at_once / sent, met / segments


@pytest.mark.parametrize(
    ("w0", "d", "connections", "most"),
    # With one download the next segments may arrive while an ACK waits, which the model leaves out.
    [(16, 2, 1, 0.07), (32, 2, 1, 0.05), (16, 4, 1, 0.01), (16, 1, 3, 0.02), (16, 2, 5, 0.01)],
)
def test_the_share_at_once_is_counted(w0: int, d: int, connections: int, most: float) -> None:
    share, met = counted(w0, d, connections, 40_000)
    cell = download(DATA, ACK, w0=w0, d=d, at_once=share_at_once(w0, d, connections))
    assert share_at_once(w0, d, connections) == pytest.approx(share, abs=most)
    assert cell.failing == pytest.approx(met, rel=0.1)


def test_no_ack_at_once_is_one_contender_and_an_ack_for_each_d_segments() -> None:
    cell = download(DATA, ACK, w0=16, d=2, at_once=0.0)
    assert (cell.contenders, cell.failing) == (1.5, 0.0)
    assert cell.times.success_s == pytest.approx((2 * DATA.success_s + ACK.success_s) / 3)
    assert cell.segments == pytest.approx(2 / 3)


def test_goodput_of_acks_at_once_by_hand() -> None:
    # One of 16 ACKs meets the access point, which then draws from 32 slots: 15.5 on average.
    cell = download(DATA, ACK, w0=16, d=2, at_once=1.0)
    collided = 1 / 32
    found = goodput(cell, BITS, w0=16, m=6, retries=7)
    # That ACK then contends, and meets the access point again in a few of its slots.
    slots = 7.5 + 15.5 * collided
    segment_s = slots * 9e-6 + (1 + collided) * DATA.success_s + ACK.success_s / 2
    assert found == pytest.approx(BITS / segment_s, rel=5e-3)


def test_uploads_contend_up_to_where_the_access_point_cannot_answer() -> None:
    assert [upload(DATA, ACK, d=1, stations=n).contenders for n in (1, 5)] == [2.0, 2.0]
    assert [upload(DATA, ACK, d=4, stations=n).contenders for n in (1, 2, 9)] == [1.25, 2.5, 5.0]

"""Backlogged nodes by slot: cells that can be computed by hand."""

import random

import pytest
from airtcp_papers.miorandi.backlog import _Cell, _printed


def cell(stations: int, every: int = 1) -> _Cell:
    return _Cell(stations, every, random.Random(1))


@pytest.mark.parametrize("every", [1, 2])
def test_one_station_and_the_access_point_take_turns(every: int) -> None:
    """With W* = d there is an ACK, or there are d packets, never both: one node in every slot."""
    one = cell(1, every)
    for _ in range(1000):
        one.transmit()

    assert set(one.slots) == {1}
    # Backoffs of 0 to 31 slots, 15.5 on average, plus a slot for the transmission. The tolerance is
    # four standard errors, 9.2 slots over the root of 1000.
    assert one.slots[1] / 1000 == pytest.approx(16.5, abs=1.2)


def test_two_packets_under_way_make_two_nodes_at_most() -> None:
    two = cell(2)
    for _ in range(5000):
        two.transmit()

    assert set(two.slots) == {1, 2}


def test_who_collides_doubles_and_nobody_else() -> None:
    """Two nodes with equal backoffs send in the same slot; a third node counts that slot too."""
    three = cell(3)
    three.waiting = {0: 4, 1: 4, 2: 9}
    three.stage.clear()
    three.transmit()

    assert three.slots == {3: 5}  # four idle slots and the one of the collision
    assert (three.stage[0], three.stage[1], three.stage[2]) == (1, 1, 0)
    assert three.waiting[2] == 9 - 5


def test_a_success_of_the_access_point_makes_an_ack() -> None:
    one = cell(2)
    assert list(one.queue) == [1, 2]
    one.transmit()

    assert list(one.queue) == [2]
    assert set(one.waiting) == {0, 1}


def test_the_printed_distributions_are_binomial() -> None:
    # (9) for two downloads: 1/4, 1/2, 1/4; (11) with d = 2: probabilities of 1/4.
    assert _printed(2, 1) == pytest.approx([0.25, 0.5, 0.25])
    assert _printed(2, 2) == pytest.approx([9 / 16, 6 / 16, 1 / 16])

"""The text of docs/explanation/accuracy.md holds of its tables."""

import re
from pathlib import Path

import make_validation
import pytest
import tables
from airtcp import simulate
from airtcp.scenario import loads

PAGE = tables.whole(Path(__file__).parents[2] / "docs" / "explanation" / "accuracy.md")


def rows(name: str) -> list[list[str]]:
    """The cells of the table `name` on the page, its head left out."""
    match = re.search(rf"(?s)<!-- table {name}: begins -->\n(.*?)\n\n<!-- table", PAGE)
    assert match is not None
    lines = match[1].strip().splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def mean(cell: str) -> float:
    return float(cell.split()[0])


def half_width(cell: str) -> float:
    return float(cell.split()[2])


def test_the_model_is_too_low_for_two_senders_and_too_high_for_many() -> None:
    difference = {int(n): float(model) - mean(its) for n, model, its, *_ in rows("bianchi")}

    assert difference[1] == 0.0
    assert difference[2] < -0.001
    assert all(difference[n] > 0.002 for n in (10, 20, 50))


#: Groups of rows that differ for a reason that the page gives.
EXPLAINED = {
    "ns-2": {"upload-ack-skip"},
    "ns-3": {"udp-both-ways"},
}


@pytest.mark.parametrize("peer", EXPLAINED)
def test_a_peer_is_met(peer: str) -> None:
    table = rows(peer)
    assert len(table) > 100
    differ, point = [], ""
    for first, *_, verdict in table:
        point = first or point
        if verdict:
            differ.append(point.partition(":")[0])
    assert set(differ) <= EXPLAINED[peer]
    assert len(differ) < len(table) / 4


def test_trains_in_the_queue_make_stations_collide_less_for_thousands_of_seconds() -> None:
    table = rows("beginnings")
    by = {tuple(row[:3]): row[3:] for row in table}
    assert len(by) == len(table) == 5
    mixed = by["20 segments", "0.2 s", "135 s"]
    train = by["1000 segments", "60 s", "135 s"]
    late = by["1000 segments", "60 s", "5000 s"]
    expired = by["1000 segments", "0.2 s", "135 s"]

    for column in (0, 1):  # P of the stations, backlogged nodes
        assert mean(train[column]) < mean(late[column]) < mean(mixed[column])
    assert mean(train[0]) < mean(mixed[0]) - 0.01
    assert mean(late[0]) < mean(mixed[0]) - 0.005
    # Jain index: timers that expire without a loss leave unequal windows.
    assert mean(expired[3]) < 0.9 < mean(train[3])


def test_timers_expire_without_a_loss_at_the_beginning() -> None:
    """A queue without limit drops nothing, and no frame reaches the retry limit."""
    scenario = make_validation.beginning(1000, 0.2, warmup_s=0, duration_s=60)

    counts = simulate(loads(scenario)).simulation.counts

    assert counts["tcp_timeouts"] > 0
    assert counts["tcp_retransmissions"] > 0
    for place in ("mac_drops", "ap_queue_drops", "station_queue_drops", "wired_drops"):
        assert counts[place] == 0

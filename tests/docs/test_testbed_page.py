"""What is said about the tables of the testbed holds of them.

They are of real time and a real kernel, and not made again here.
"""

import re
from pathlib import Path

import pytest
import tables

DOCS = Path(__file__).parents[2] / "docs"
PAGE = "".join(
    tables.whole(DOCS / name) for name in ("explanation/accuracy.md", "papers/paper-h.md")
)
NAMES = (
    "keeping-up",
    "goodput",
    "uploads",
    "mixed",
    "aggregates",
    "windows",
    "alone",
    "transfers",
    "acks",
)


def table(name: str) -> list[dict[str, str]]:
    """The rows of a table by the head of each column; the last column, which has none, is ""."""
    match = re.search(rf"(?s)<!-- table testbed-{name}: begins -->\n(.*?)\n\n<!-- table", PAGE)
    assert match is not None
    lines = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in match[1].strip().splitlines()
    ]
    return [dict(zip(lines[0], cells, strict=True)) for cells in lines[2:]]


def number(cell: str) -> float:
    return float(cell.split()[0].replace("+", ""))


@pytest.mark.parametrize("name", NAMES)
def test_each_row_of_a_testbed_says_whether_it_is_trusted(name: str) -> None:
    rows = table(name)
    assert rows
    told = [list(row.values())[-1] for row in rows]
    assert all(re.fullmatch(r"|(not )?trusted|\d of \d trusted", one) for one in told)
    assert any("trusted" in one for one in told)


def test_the_air_keeps_up_with_two_cores() -> None:
    """99 % of the packets less than 0.5 ms late, on the machine that the page was made on."""
    rows = {row["standard"]: row for row in table("keeping-up")}
    assert {name: int(row["active stations"]) for name, row in rows.items()} == {
        "802.11b": 10,
        "802.11g": 5,
        "802.11n": 3,
    }
    for row in rows.values():
        assert number(row["later than 500 us"]) <= 1
        assert number(row["99 % of packets late by at most"]) <= 500


def test_downloads_are_within_three_per_cent() -> None:
    assert len(table("goodput")) == 8
    assert all(abs(number(row["difference"])) < 3 for row in table("goodput"))


def test_reno_of_linux_is_told_from_the_simulations() -> None:
    """Windows lie in the same bounds; how fast they grow is in the picture alone."""
    rows = {(row["TCP"], row["of"]): row for row in table("windows")}
    for congestion in ("reno", "cubic", "bbr1"):
        one, other = (rows[congestion, who] for who in ("simulation", "Linux"))
        head = "mean window (segments)"
        assert number(one[head]) == pytest.approx(number(other[head]), rel=0.05)


def test_paper_h_is_near_the_simulation_of_the_same_transfers() -> None:
    """Within 5 % or with an interval that reaches there."""
    for row in table("transfers"):
        ratio, half_width = (
            float(part)
            for part in row["testbed over simulation of its transfers"].rstrip(" %").split("±")
        )
        assert abs(ratio) - half_width < 5


def test_linux_sends_more_acks_and_neither_anything_again() -> None:
    """What is said below the table: of each transfer 137 segments of data, and ACKs."""
    rows = {row["of"]: row for row in table("alone")}
    simulated, measured = rows["simulation"], rows["testbed"]
    assert number(measured["mean time"]) > number(simulated["mean time"])
    segments = "TCP segments of a transfer"
    assert number(measured[segments]) - number(simulated[segments]) > 10
    assert number(measured["of them sent again"]) < 0.1
    assert number(simulated["of them sent again"]) < 0.1


def with_half_width(cell: str) -> tuple[float, float]:
    middle, half = (float(part) for part in cell.rstrip(" %s").split("±"))
    return middle, half


def test_with_the_acks_that_were_counted_the_model_is_in_the_interval_more_often() -> None:
    """At four points of seven, and without them at one; and what is left is the model's own."""
    rows = table("acks")
    inside = {"with these": 0, "refined model": 0}
    for row in rows:
        assert number(row["segments for each ACK"]) < 2
        assert number(row["further packets"]) > 0
        measured, half = with_half_width(row["testbed"])
        inside["refined model"] += abs(number(row["refined model"]) - measured) <= half
        over, over_half = with_half_width(row["testbed over that"])
        inside["with these"] += abs(over) <= over_half
        by_paper = row["simulation with the paper's TCP over the refined model"]
        own, own_half = with_half_width(by_paper)
        if row["1/lambda"] == "0.48 s":
            assert -4 < over - own < -1.5
        else:
            assert abs(over - own) <= over_half + own_half
    assert len(rows) == 7
    assert inside == {"with these": 4, "refined model": 1}


def test_acks_first_cure_uploads_of_both() -> None:
    jain = {(row["MAC"], row["of"]): number(row["Jain index"]) for row in table("uploads")}
    for who in ("simulation", "testbed"):
        assert jain["DCF", who] < 0.9 < jain["TCP ACKs first", who]

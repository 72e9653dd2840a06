"""The tables of docs/papers/models-paper-m.md have the current values of the functions."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import tables
from airtcp.distributions import Pareto
from airtcp.exceptions import ConvergenceError
from airtcp_papers.miorandi.model import (
    CORRECTED,
    PAPER,
    Parameters,
    Variant,
    collision_probability,
    mean_session_time,
    session_delay,
    throughput,
)

PAGE = tables.whole(Path(__file__).parents[3] / "docs" / "papers" / "models-paper-m.md")
TABLE_1 = Parameters.table_1()
STANDARD_RTS = Parameters.table_1(rts="standard")
NORMALISED = replace(PAPER, stages="normalised")

#: The beginning of a row, and its changes to `PAPER`.
READINGS = {
    "`PAPER`": (TABLE_1, PAPER),
    "M8:": (STANDARD_RTS, PAPER),
    "M6:": (TABLE_1, replace(PAPER, attempts="bianchi-like")),
    "`stages`,": (TABLE_1, NORMALISED),
    "M3:": (TABLE_1, replace(PAPER, backoff_in_collision=False)),
    "M4:": (TABLE_1, replace(PAPER, collision_charge="once")),
    "M11:": (TABLE_1, replace(PAPER, single_connection="alternating")),
    "M9:": (TABLE_1, replace(PAPER, setup="full-exchange")),
    "M10:": (TABLE_1, replace(PAPER, last_packet="padded")),
    "`CORRECTED`": (TABLE_1, CORRECTED),
}


def rows(head: str) -> list[list[str]]:
    """Return the cells of the table whose first line begins with `head`."""
    match = re.search(rf"(?m)^\| {re.escape(head)} .*\n\|[- |]*\n((?:\|.*\n)*)", PAGE)
    assert match is not None, head
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in match[1].splitlines()]


def values(parameters: Parameters, variant: Variant) -> list[str]:
    sizes = Pareto(shape=1.5, scale=10_000)
    sessions = session_delay(
        10, parameters, variant, think_time_s=10.0, mean_size_bytes=sizes.mean()
    )
    return [
        *(f"{collision_probability(n, parameters, variant):.4f}"[1:] for n in (2, 20)),
        *(f"{throughput(n, parameters, variant).goodput_bps / 1e6:.3f}" for n in (1, 5, 20)),
        f"{1e3 * mean_session_time(sizes, parameters, variant):.2f}",
        f"{1e3 * sessions.session_s:.2f}",
    ]


@pytest.mark.parametrize("start", READINGS)
def test_what_each_reading_changes(start: str) -> None:
    (row,) = (row for row in rows("change") if row[0].startswith(start))

    assert row[1:] == values(*READINGS[start])


def test_no_reading_is_missing() -> None:
    assert len(rows("change")) == len(READINGS)


def test_where_the_root_ends() -> None:
    nodes = [int(text) for text in re.findall(r"\| n_b \|(.*)\|", PAGE)[0].split("|")]
    printed, normalised = rows("n_b")
    for n, left, right in zip(nodes, printed[1:], normalised[1:], strict=True):
        assert right == f"{collision_probability(n, TABLE_1, NORMALISED):.4f}"[1:]
        if left == "`ConvergenceError`":
            with pytest.raises(ConvergenceError):
                collision_probability(n, TABLE_1, PAPER)
        else:
            assert left == f"{collision_probability(n, TABLE_1, PAPER):.4f}"[1:]

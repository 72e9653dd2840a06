"""The screen of `run`: the decision first; every table fits the width; targets and groups agree."""

from io import StringIO
from typing import Any

import airtcp
import pytest
from airtcp.conditions import read_condition
from airtcp.document import Column, Table, terminal
from airtcp.messages import run as messages
from airtcp.messages import words
from airtcp.results.verdict import Judged, State, Target, Verdict
from airtcp.scenario import loads
from airtcp.stats import Interval
from bases import CALLS, cell
from rich.console import Console

OFFICE = (
    """
title = "A small office"
run = { warmup = "1 s", duration = "2 s", replications = 4 }
"""
    + CALLS
)


def judged(text: str, state: State, *interval: float | None) -> Judged:
    mean, low, high = interval
    return Judged(Target(read_condition(text)), Interval(mean, low, high, 5), state)


def verdict(*targets: Judged) -> Verdict:
    return Verdict(targets, written=True, confidence=0.95)


LATE = judged("call p95 packet_delay < 50 ms", "fails", 0.16, 0.14, 0.18)
WELL = judged("call/upload packet_loss < 1 %", "holds", 0.002, 0.001, 0.003)
OPEN = judged("laptop goodput > 2 Mb/s", "unknown", 2.1e6, 1.9e6, 2.3e6)


@pytest.mark.parametrize(
    ("targets", "state"),
    [((WELL,), "good"), ((WELL, OPEN), "open"), ((WELL, OPEN, LATE), "bad"), ((), "bold")],
)
def test_the_headline_has_the_state_of_the_worst_target(targets, state):
    assert messages.headline(verdict(*targets))[1] == state


def test_targets_that_are_missed_come_first_and_those_with_most_room_last() -> None:
    assert messages.ordered(verdict(WELL, OPEN, LATE)) == [LATE, OPEN, WELL]


@pytest.mark.parametrize(("everything", "rows"), [(False, (1, 1)), (True, (6, 0))])
def test_met_targets_are_folded_behind_those_that_are_not(everything, rows):
    (table,) = messages.targets(verdict(LATE, *[WELL] * 5), everything=everything)

    assert (len(table.rows), len(table.foot)) == rows


@pytest.mark.parametrize(
    ("text", "mean", "low", "high", "measured", "spread"),
    [
        ("call p95 packet_delay < 50 ms", 0.16, 0.14, 0.18, "160 ms", "140–180"),
        ("call/upload packet_loss < 1 %", 0.002, 0.001, 0.003, "0.20 %", "0.10–0.30"),
        ("transfer_time < 2 s", None, 2.5, None, "≥ 2.50 s", ""),
        # A time that grows during the run shows its lower bound, not the mean of the run.
        ("transfer_time < 2 s", 3.0, 2.5, None, "≥ 2.50 s", ""),
        ("transfer_time < 2 s", None, None, None, "–", ""),
        ("transfer_time < 2 s", None, 0.0, None, "–", ""),
    ],
)
def test_values_have_their_unit_and_a_lower_bound_its_sign(text, mean, low, high, measured, spread):
    one = judged(text, "unknown", mean, low, high)
    about = one.target.condition.about

    assert words.measured(one.interval, about) == measured
    assert words.spread(one.interval, about) == spread


@pytest.mark.parametrize(
    ("name", "inside"),
    [("Hidden stations", "hidden stations"), ("TCP windows", "TCP windows")],
)
def test_a_name_inside_a_sentence_has_no_capital(name: str, inside: str) -> None:
    assert words._inside(name) == inside


@pytest.mark.parametrize("uploads", [False, True])
def test_targets_and_groups_say_one_number(uploads: bool) -> None:
    """Both are the group's estimate, which adds up with the estimates of all other groups."""
    text = OFFICE.replace('"download"', '"upload"') if uploads else OFFICE
    result = airtcp.simulate(loads(text))
    found = airtcp.verdict(result)

    for one in found.targets:
        condition = one.target.condition
        assert condition.group is not None
        told = result.simulation.groups[condition.group][condition.part][condition.metric]
        assert one.interval.mean == told.mean


def test_starved_flows_are_named_where_the_mean_hides_them() -> None:
    """Ten uploads through a queue of five: the mean is high enough, some get next to nothing."""
    text = cell(10, direction="upload", tables="[ap]\nqueue = { limit = 5 }", duration="5 s")
    scenario = loads(text).with_run(replications=4)
    asked = scenario.vary({"targets": {"laptop flow_goodput": "> 100 kb/s"}})
    result: Any = airtcp.simulate(asked)
    found = airtcp.verdict(result)

    assert found.targets[0].interval.mean > 100e3
    assert found.targets[0].state == "fails"
    assert len(list(messages.starvation(found, result))) == 1


def test_long_names_of_a_table_that_begin_alike_are_told_apart() -> None:
    """At 80 columns their ends do not fit, and what they share is left out."""
    begin = "four times the channel width and calls of all stations in the"
    names = [
        f"1 {begin} voice category, TCP data in background",
        f"2 {begin} video category, data in best effort",
        "3 twice the channel width",
    ]
    rows = [(name, "5 of 7", "changes the traffic") for name in names]
    columns = [Column("  change", least=44), Column("met", right=True), Column("costs", least=19)]
    printed = StringIO()

    terminal.show(Console(width=80, file=printed), [Table(columns, rows)])

    lines = printed.getvalue().splitlines()[1:]
    assert "…voice category" in lines[0]
    assert "…video category" in lines[1]
    assert names[2] in lines[2]
    assert max(map(len, lines)) <= 80

"""Targets on one of several cells: their syntax, and where they are judged and shown."""

from __future__ import annotations

from typing import Any

import airtcp
import pytest
from airtcp.conditions import ConditionError, read_condition
from airtcp.exceptions import QuestionError, ScenarioError
from airtcp.judge.verdicts import glanced
from airtcp.plan.objective import objective_of
from airtcp.results.cells import interval_of
from airtcp.scenario import Scenario, loads
from airtcp.web.choices import choices
from airtcp.web.judged import condition
from bases import cell, example, short_example

GOODPUT, SHARE = "cell middle goodput", "cell middle share_of_alone"
TARGETS = {
    GOODPUT: "> 8 Mb/s",
    SHARE: "> 30 %",
    "cell left goodput": "> 20 Mb/s",
    "cell left mean goodput_bps": "< 30 Mb/s",
}


def three(targets: dict[str, str]) -> Scenario:
    return short_example("three-cells", "4 s", 3, targets=targets)


@pytest.fixture(scope="module")
def run() -> airtcp.SimulationResult:
    return airtcp.simulate(three(TARGETS))


def test_a_target_on_a_cell_is_judged_by_the_interval_of_the_cell(run):
    by_text = {one.target.text: one for one in airtcp.verdict(run).targets}
    goodput, share = f"{GOODPUT} > 8 Mb/s", f"{SHARE} > 30 %"

    assert {text: one.state for text, one in by_text.items()} == {
        goodput: "fails",
        share: "fails",
        "cell left goodput > 20 Mb/s": "holds",
        "cell left mean goodput_bps < 30 Mb/s": "holds",
    }
    # The interval is the cell's, not the network's, at the joint level of four targets.
    middle, judged = run.simulation.cells["middle"], by_text[goodput].interval
    assert judged.mean == middle.goodput_bps.mean
    assert judged.half_width > middle.goodput_bps.half_width
    assert by_text[share].interval.mean == middle.share_of_alone.mean
    # A cell that was not simulated in isolation has no share of its isolated goodput.
    assert interval_of({}, "middle", "share_of_alone").mean is None


@pytest.mark.parametrize(
    ("name", "bound", "told"),
    [
        ("cell midle goodput", "> 1 Mb/s", '"midle" is no cell; allowed: left, middle, right'),
        ("cell guest goodput", "> 1 Mb/s", '"guest" is a group, not a cell; allowed: left, '),
        (
            "cell middle transfer_time",
            "< 1 s",
            "transfer_time is not measured for a cell; allowed: goodput, share_of_alone",
        ),
        ("cell middle p95 goodput", "> 1 Mb/s", "goodput has no p95; allowed: mean"),
        ("cell middle goodput", "> 30 %", "allowed: b/s, kb/s, Mb/s, Gb/s"),
        ("cell middle share_of_alone", "> 120 %", "can never be met: share_of_alone is 0 to 1"),
        ("share_of_alone", "> 30 %", "allowed: one of several cells (cell NAME)"),
        ("guest share_of_alone", "> 30 %", "allowed: one of several cells (cell NAME)"),
        ("middle goodput", "> 1 Mb/s", "a cell, not a group; allowed: cell middle, guest"),
        ("middle rtt", "< 1 s", '"middle" is a cell, not a group; allowed: guest'),
    ],
)
def test_what_is_none_gets_what_is_allowed(name: str, bound: str, told: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        three({name: bound})

    assert all(each in str(caught.value) for each in (told, "targets", name))


def test_one_cell_is_no_cell_among_several() -> None:
    with pytest.raises(ScenarioError, match="one of several cells"):
        loads(cell(1)).vary({"targets": {"cell ap goodput": "> 1 Mb/s"}})


@pytest.mark.parametrize(
    ("text", "cell", "group", "metric"),
    [
        ("cell goodput > 1 Mb/s", None, "cell", "goodput_bps"),
        ("cell p95 rtt < 1 s", None, "cell", "rtt_p95_s"),
        ("cell mean mean goodput > 1 Mb/s", "mean", None, "goodput_bps"),
    ],
)
def test_a_group_may_be_called_cell(text: str, cell: Any, group: Any, metric: str) -> None:
    found = read_condition(text)
    assert (found.cell, found.group, found.metric) == (cell, group, metric)
    with pytest.raises(ConditionError, match='"b" is not a statistic'):
        read_condition("group b goodput > 1 Mb/s")


def test_a_glance_judges_it_where_it_has_an_interval() -> None:
    of = three({GOODPUT: "> 8 Mb/s", SHARE: "> 30 %", "cell left goodput": "> 20 Mb/s"})
    found = glanced(of, airtcp.glance(of))

    assert [one.state for one in found.targets] == ["fails", "fails", "holds"]
    offices = example("three-offices", targets={"cell tax goodput": "> 8 Mb/s"})
    unknown = glanced(offices, airtcp.glance(offices))
    assert unknown.state == "unknown"


def test_the_page_offers_cells_and_takes_a_target_apart() -> None:
    told = choices(three({GOODPUT: "> 8 Mb/s"}))

    cells = [one for one in told["scopes"] if one["value"].startswith("cell ")]
    assert [one["value"] for one in cells] == ["cell left", "cell middle", "cell right"]
    assert [one["metric"] for one in cells[0]["metrics"]] == ["goodput", "share_of_alone"]
    # Every metric that the form offers is accepted as a target.
    for scope in cells:
        for metric in scope["metrics"]:
            bound = f"> 50 {metric['units'][0]['text']}"
            three({f"{scope['value']} {metric['metric']}": bound})
    assert told["targets"][0]["cell"] == "middle"
    assert condition(read_condition("guest goodput > 1 Mb/s"))["cell"] is None
    assert not [one for one in choices(loads(cell(1)))["scopes"] if "cell" in one["value"]]


def test_a_plan_stops_at_the_goodput_of_a_cell() -> None:
    """The cell's only group has the same goodput, so both plans end at the same value."""
    udp = {"kind": "udp", "packet": "1500 B", "rate": "1 Mb/s"}
    of = three({}).vary({"flows.guest.application": udp, "air.heard": [["left", "middle"]]})
    of = of.vary({"run.warmup": "200 ms", "run.duration": "1 s"})
    search: Any = {"vary": "flows.guest.application.rate", "begin": "1 Mb/s", "end": "8 Mb/s"}
    one, other = (
        airtcp.plan(of, until=f"{whose} goodput > 4 Mb/s", remedies=False, **search)
        for whose in ("cell middle", "guest")
    )

    assert one.answer == other.answer
    # 28 of 1500 bytes are headers.
    assert 3.8e6 < float(one.answer.value) < 4.2e6


def test_what_a_plan_cannot_measure_is_refused() -> None:
    of = three({SHARE: "> 30 %"})
    with pytest.raises(QuestionError, match="the goodput of a cell"):
        airtcp.plan(of, vary="stations", until=f"{SHARE} < 30 %")
    with pytest.raises(QuestionError, match="needs isolated cells"):
        objective_of(of, None)
    with pytest.raises(QuestionError, match="needs isolated cells"):
        objective_of(of, SHARE)


def test_a_plan_of_channels_is_led_by_targets_on_cells() -> None:
    objective = objective_of(three({GOODPUT: "> 8 Mb/s", "cell left goodput": "> 40 Mb/s"}), None)
    answer = {"cells": [{"goodput_bps": 20e6}, {"goodput_bps": 2e6}, {"goodput_bps": 20e6}]}

    # 2 Mb/s with a target of 8 is three quarters short; 20 with a target of 40 is half short.
    assert objective.value(answer) == pytest.approx(-0.75)
    alone = [{"cells": [{"goodput_bps": value}]} for value in (25e6, 24e6, 25e6)]
    assert objective.guess(alone, [0.4, 0.5, 1.0]) == pytest.approx(-0.75)
    assert objective_of(three({}), "cell middle goodput").value(answer) == 2e6

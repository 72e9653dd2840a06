"""Channel plans: enumeration, wrong input, the best plan, and its text."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.exceptions import QuestionError
from airtcp.plan.assignments import allowed_channels, count, on_one_channel, plans, with_channels
from airtcp.plan.objective import objective_of
from airtcp.plan.shares import Chain, Graph
from airtcp.present import channel_plan as present
from airtcp.results.channel_plans import ChannelPlan
from airtcp.scenario import Scenario, loads
from airtcp.scenario.alone import cells_alone
from airtcp.stats import Interval
from bases import cell, refused, said, short_example
from channels.floors import row as row_of_floor
from commands import call


@pytest.fixture(scope="module")
def row() -> Scenario:
    return short_example("three-cells", "3 s", 3)


@pytest.fixture(scope="module")
def offices() -> Scenario:
    return short_example("three-offices", "3 s", 3)


@pytest.fixture(scope="module")
def offices_planned(offices: Scenario) -> ChannelPlan:
    return airtcp.plan(offices, vary="channels", channels=[36, 40])


@pytest.fixture(scope="module")
def planned(row: Scenario) -> ChannelPlan:
    return airtcp.plan(row, vary="channels", channels=[36, 40], objective="least")


def test_plans_alike_up_to_names_of_channels_are_one() -> None:
    # Partitions of six cells: S(6,1) + S(6,2) + S(6,3) = 1 + 31 + 90, and S(6,4) = 65.
    of_three = plans(6, [36, 40, 44], None)
    assert (len(of_three), len(plans(6, [36, 40, 44, 48], None))) == (122, 187)
    parts = {tuple(map(plan.index, plan)) for plan in of_three}
    assert len(parts) == 122
    # `count` gives the same number without listing plans.
    for cells, channels in itertools.product(range(1, 7), range(1, 5)):
        assert count(cells, channels) == len(plans(cells, list(range(channels)), None))


def test_names_of_channels_move_fewest_cells() -> None:
    # Three of four cells may stay, whatever the order of the channels.
    assert {(44, 44, 36, 36), (44, 44, 36, 40)} <= set(plans(4, [36, 40, 44], (44, 44, 36, 36)))
    # No cell can keep a channel that is not allowed.
    assert (36, 36) in plans(2, [36, 40], (149, 149))


WIDE = {"phy.standard": "802.11ax", "phy.channel_width": "80 MHz", "phy.mcs": 5}


@pytest.mark.parametrize(
    ("phy", "given", "found"),
    [
        # The default is all channels that do not overlap.
        ({}, None, [36, 40, 44, 48]),
        ({"phy.standard": "802.11g"}, None, [1, 6, 11]),
        (WIDE, None, [36, 52, 100, 116]),
        ({}, [37, 40], "--channels 37: is not a channel of 20 MHz in 5 GHz"),
        ({"phy.standard": "802.11g"}, [1, 3], "--channels 1,3: overlap in part"),
        ({}, [36, 36], "--channels 36,36: are one channel of 20 MHz"),
        ({}, [36], "--channels 36: leaves no choice"),
    ],
)
def test_channels_do_not_overlap(
    row: Scenario, phy: dict[str, Any], given: list[int] | None, found: list[int] | str
) -> None:
    if isinstance(found, list):
        assert allowed_channels(row.vary(phy), given) == found
        return
    with pytest.raises(QuestionError, match=found):
        allowed_channels(row.vary(phy), given)


def test_pairs_of_cells_count_on_one_channel(row: Scenario) -> None:
    """Pairs that hear each other stay in the file, so a plan maps back to one channel."""
    apart = with_channels(row, (36, 36, 40))
    assert apart.written["air"]["heard"] == [["left", "middle"], ["middle", "right"]]
    assert Graph(on_one_channel(apart, 36)).neighbours == Graph(on_one_channel(row, 36)).neighbours
    silent = with_channels(row, (36, 40, 44)).vary({"air": None})
    with refused("plan.channels.no_hearing", a="left", b="middle"):
        on_one_channel(silent, 36)


def test_the_chain_keeps_what_a_cell_sends_alone(row: Scenario) -> None:
    graph = Graph(on_one_channel(row, 36))
    assert graph.neighbours == [[False, True, False], [True, False, True], [False, True, False]]
    chain = Chain(graph, [0.5, 0.5, 0.5])
    # Each cell has odds of 1. A cell without a neighbour on its channel keeps its whole share.
    assert chain.shares((36, 40, 36)) == pytest.approx([1.0, 1.0, 1.0])
    # The row has 5 independent sets: none, each cell, and both outer cells. An outer cell is in 2
    # of them, the middle in 1; an isolated cell is active in 1 of 2.
    assert chain.shares((36, 36, 36)) == pytest.approx([0.8, 0.4, 0.8])
    # Two neighbours have 3 sets (none, and each), so each is active 1/3 of the time, not 1/2.
    assert chain.shares((36, 36, 40)) == pytest.approx([2 / 3, 2 / 3, 1.0])


def test_the_middle_of_three_gets_a_channel_of_its_own(planned: ChannelPlan) -> None:
    assert planned.best.channels == {"left": 36, "middle": 40, "right": 36}
    assert planned.real
    assert planned.second.behind.low > 0.0
    # The middle cell gets its isolated goodput; today it has less than 15 % of that.
    middle = planned.best.cells["middle"].mean
    assert middle == pytest.approx(planned.alone["middle"], rel=0.02)
    assert (planned.today.value.mean or 0.0) < 0.15 * (planned.best.value.mean or 0.0)
    assert planned.plans == len(planned.tried) == 4
    labels = [one.get_text() for one in planned.plot().axes[0].get_yticklabels()]
    assert labels == ["left: – → 36", "middle: – → 40", "right: – → 36"]


def test_a_plan_says_what_an_own_simulation_says(row: Scenario, planned: ChannelPlan) -> None:
    for one in (planned.best, planned.today):
        numbers = tuple(number or 36 for number in one.channels.values())
        result = airtcp.simulate(with_channels(row, numbers).with_run(replications=one.value.n))
        known = result.simulation.cells
        for name, goodput in one.cells.items():
            assert goodput.mean == known[name].goodput_bps.mean


def test_cells_on_other_channels_are_cells_alone(offices: Scenario) -> None:
    apart = with_channels(offices, (36, 40, 36))
    whole = airtcp.simulate(apart.with_run(replications=1)).simulation.cells
    part = cells_alone(on_one_channel(offices, 36), (0, 2))
    both = airtcp.simulate(part.with_run(replications=1)).simulation.cells
    assert {name: one.goodput_bps.mean for name, one in both.items()} == {
        name: whole[name].goodput_bps.mean for name in ("law", "art")
    }


def test_objectives_are_targets_cells_or_metrics(row: Scenario) -> None:
    assert objective_of(row, None).name == "targets"
    assert objective_of(row.vary({"targets": None}), None).name == "least"
    answer = airtcp.simulate(row.with_run(replications=1)).simulation.runs[0].answer
    goodputs = [one["goodput_bps"] for one in answer["cells"]]
    assert objective_of(row, "least").value(answer) == min(goodputs)
    assert objective_of(row, "sum").value(answer) == pytest.approx(sum(goodputs))
    # The target of guests, who are in the middle, is 8 Mb/s.
    assert objective_of(row, "targets").value(answer) == pytest.approx(min(goodputs) / 8e6 - 1.0)
    # The estimate: each cell's isolated goodput times its share of time, then the least or the sum.
    alone = [{"cells": [{"goodput_bps": bps}]} for bps in (10e6, 20e6, 30e6)]
    shares = [0.8, 0.4, 0.9]
    assert objective_of(row, "least").guess(alone, shares) == pytest.approx(0.8 * 10e6)
    assert objective_of(row, "sum").guess(alone, shares) == pytest.approx(8e6 + 8e6 + 27e6)
    guessed = objective_of(row, "targets").guess([answer] * 3, shares)
    assert guessed == pytest.approx(0.4 * min(goodputs) / 8e6 - 1.0)
    # A metric of the whole network is scaled by the lowest share.
    whole = objective_of(row, "goodput").guess([answer] * 3, shares)
    assert whole == pytest.approx(0.4 * answer["metrics"]["goodput_bps"])
    # If no transfer ends, its time is the duration of the run.
    ftp = '{ kind = "ftp", size = "1 GB", interarrival = "1 s" }'
    run: dict[str, Any] = {"warmup": "1 s", "duration": "3 s", "replications": 1}
    wait = loads(cell(standard="802.11a", application=ftp, **run))
    slow = objective_of(wait, "p90 transfer_time")
    waited = airtcp.simulate(wait).simulation.runs[0].answer
    assert (slow.value(waited), slow.guess([waited], [0.5]), slow.sign) == (3.0, 6.0, -1)
    for objective, words in (
        ("speed", 'must be least, sum, targets, or a metric: "speed" is not a metric'),
        ("middle goodput", '"middle" is a cell, not a group; allowed: '),
        ("p90 transfer_time", "transfers that end"),
        ("reader collision_probability_ap", "not measured for"),
    ):
        with pytest.raises(QuestionError, match=words):
            objective_of(row, objective)


def test_a_plan_that_may_be_no_better_is_not_told_as_the_best(
    row: Scenario, planned: ChannelPlan
) -> None:
    chance = replace(planned.today, behind=Interval(1e6, -2e6, 4e6, 3))
    found = replace(planned, today=chance)
    assert present.answer_line(found).startswith("None of the channels")
    assert "(3 runs)" in (present.today_line(found) or "")
    assert present.apply_lines(found) == []
    assert "Apply it" not in present.html(found, {})
    assert present.apply_lines(planned)
    # The outer cells do not hear each other: one channel for both is as good as two.
    alike = airtcp.plan(row, vary="channels", channels=[36, 40, 44], objective="least")
    assert not alike.real
    assert "3 runs show no difference" in (present.second_line(alike) or "")


def test_equipment_is_told_for_each_access_point_that_moves(
    offices: Scenario, offices_planned: ChannelPlan
) -> None:
    assert offices_planned.changes == {"cells.tax.channel": 40}
    equipment = {"hostapd": ("channel=40",), "uci": ("uci set wireless.radio0.channel='40'",)}
    assert offices_planned.apply == {"tax": equipment}
    assert present.apply_lines(offices_planned)[0] == "--set cells.tax.channel=40"
    # The printed option turns the file into the best plan.
    best = with_channels(offices, (36, 40, 36)).cells
    assert offices.vary(offices_planned.changes).cells == best


def test_the_chain_tells_no_number_where_the_closed_form_has_none(
    planned: ChannelPlan, offices_planned: ChannelPlan
) -> None:
    """The chain gives no number for neighbours on one channel, but one for separated cells."""
    found = offices_planned
    rows = {row[0].removesuffix(" (today)"): row[1] for row in present.plan_rows(found)}
    assert rows["law 36, tax 36, art 36"] == rows["law 36, tax 36, art 40"] == "–"
    assert rows["law 36, tax 40, art 36"].endswith(" %")
    assert found.today.to_dict()["guess"] is None
    assert said(found.silence) == "predict.cells.aggregates"
    assert f": {found.silence}." in present.depth_line(found)
    # The other file says which cells hear each other, but has no powers.
    assert all(one.guess is not None for one in planned.tried)
    assert planned.silence is None
    assert "no number" not in present.depth_line(planned)


def test_the_command_writes_the_plan(row: Scenario, tmp_path: Path) -> None:
    file = tmp_path / "three-cells.toml"
    file.write_text(row.to_toml())
    options = ["plan", file, "--vary", "channels", "--channels", "36,40", "--quiet"]
    screen = call(*options, "--out", tmp_path / "out", columns=120)
    assert screen.exit_code == 0, screen.output
    assert "36, middle 40, right 36" in screen.stdout
    assert (tmp_path / "out" / "channels.png").stat().st_size > 0
    assert "uci set wireless.radio0.channel" in (tmp_path / "out" / "report.html").read_text()
    told = json.loads(call(*options, "--json").stdout)
    assert told["best"]["channels"] == {"left": 36, "middle": 40, "right": 36}
    assert (told["real"], told["plans"]) == (True, 4)


LOW = ["--until", "jain_index < 0.5"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--vary", "channels", *LOW], "does not use --until"),
        (["--vary", "channels", "--remedy", "edca"], "--remedy"),
        (["--channels", "36,40", *LOW], "works only with --vary chan"),
        (["--objective", "sum", *LOW], "works only with --vary chan"),
        (["--vary", "channels", "--channels", "36,x"], "is not a list of channels"),
        (["--vary", "channels,stations"], '"stations" is not a setting of cells'),
        (
            ["--vary", "powers", "--channels", "36,40"],
            "--channels: works only with --vary channels",
        ),
        (["--vary", "channels", "--powers", "8 dBm"], "--powers: works only with --vary powers"),
        (["--vary", "powers", "--powers", "8"], "--powers 8: "),
        (["--vary", "positions", "--grid", "0 m"], "--grid: must be above 0 m"),
        (["--vary", "positions", "--grid", "10 cm"], "allowed: fewer powers"),
        (["--vary", "positions", "--grid", "50 m"], "no alternative to today's settings"),
        (["--vary", "powers", *LOW], "does not use --until"),
        (["--vary", "places"], "places: is not a key of this scenario"),
        (["--vary", "power", "--until", "goodput < 1 Mb/s"], "--vary power: unknown key"),
        (["--vary", "cells.tax.channel", *LOW], "--vary channels"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    offices: Scenario, options: list[str], said: str, tmp_path: Path
) -> None:
    file = tmp_path / "offices.toml"
    file.write_text(offices.to_toml())
    result = call("plan", file, *options)
    # A wrong option ends with status 2, without a traceback.
    assert result.exit_code == 2
    assert said in result.output


def test_one_cell_has_no_plan() -> None:
    with refused("plan.channels.one_cell"):
        airtcp.plan(loads(cell(standard="802.11a")), vary="channels")


@pytest.mark.verify
@pytest.mark.parametrize("seed", [7, 19])
def test_a_plan_is_near_that_of_brute_force(seed: int) -> None:
    assert row_of_floor(seed)["share"] >= 0.97


def test_readers_have_the_targets_that_they_usually_have() -> None:
    """Readers next to a cell with a backup: the goodput of readers is no objective."""
    crowd = loads("""
        phy = { standard = "802.11n", band = "2.4 GHz" }
        cells = { read = { channel = 6 }, save = { channel = 6 } }
        air = { heard = [["read", "save"]] }
        stations = [
          { profile = "office-laptop", name = "reader", count = 4, cell = "read" },
          { profile = "office-laptop", name = "nas", cell = "save", traffic = ["backup"] },
        ]
        run = { warmup = "2 s", duration = "10 s", replications = 3 }
    """)
    objective = objective_of(crowd, None)
    assert said(objective.label) == "plan.objective.margin"
    assert [one.metric for one in objective.conditions] == ["page_time_p90_s"]
    assert objective_of(crowd, "least").name == "least"
    endless = crowd.vary({"stations.reader.traffic": ["download"]})
    assert objective_of(endless, None).name == "least"
    with pytest.raises(QuestionError):
        objective_of(endless, "targets")

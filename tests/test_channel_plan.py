"""Plans of channels: which there are, what is wrong, which is best, and how it is told."""

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
from bases import cell, short_example
from channels.floors import row as row_of_floor
from commands import call


def example(name: str, **changes: Any) -> Scenario:
    """An example of cells, with short runs."""
    return short_example(name, "3 s", 3, **changes)


@pytest.fixture(scope="module")
def row() -> Scenario:
    return example("three-cells")


@pytest.fixture(scope="module")
def planned(row: Scenario) -> ChannelPlan:
    return airtcp.plan(row, vary="channels", channels=[36, 40], objective="least")


def test_plans_alike_up_to_names_of_channels_are_one() -> None:
    # Sets of a partition: S(6,1) + S(6,2) + S(6,3) = 1 + 31 + 90, S(6,4) = 65.
    assert len(plans(6, [36, 40, 44], None)) == 122
    assert len(plans(6, [36, 40, 44, 48], None)) == 187
    parts = {frozenset(map(frozenset, _sets(plan))) for plan in plans(6, [36, 40, 44], None)}
    assert len(parts) == 122


def _sets(plan: tuple[int, ...]) -> list[list[int]]:
    return [[place for place, one in enumerate(plan) if one == channel] for channel in set(plan)]


def test_names_of_channels_move_fewest_cells() -> None:
    # Three of four cells may stay, whatever the order of the channels.
    every = plans(4, [36, 40, 44], (44, 44, 36, 36))

    assert (44, 44, 36, 36) in every
    assert (44, 44, 36, 40) in every
    # On a channel that is not among the allowed ones nobody can stay.
    assert (36, 36) in plans(2, [36, 40], (149, 149))


def test_plans_are_counted_without_a_list() -> None:
    for cells, channels in itertools.product(range(1, 7), range(1, 5)):
        assert count(cells, channels) == len(plans(cells, list(range(channels)), None))


def test_usual_channels_do_not_overlap() -> None:
    def usual(**phy: Any) -> list[int]:
        changes = {f"phy.{name}": value for name, value in phy.items()}
        return allowed_channels(example("three-cells", **changes), None)

    assert usual() == [36, 40, 44, 48]
    assert usual(standard="802.11g") == [1, 6, 11]
    wide = {"standard": "802.11ax", "channel_width": "80 MHz", "mcs": 5}
    assert usual(**wide) == [36, 52, 100, 116]


@pytest.mark.parametrize(
    ("standard", "given", "said"),
    [
        ("802.11a", [37, 40], "--channels 37: is not a channel of 20 MHz in 5 GHz"),
        ("802.11g", [1, 3], "--channels 1,3: overlap in part"),
        ("802.11a", [36, 36], "--channels 36,36: are one channel of 20 MHz"),
        ("802.11a", [36], "--channels 36: leaves no choice"),
    ],
)
def test_channels_that_cannot_be_given_are_refused(
    standard: str, given: list[int], said: str
) -> None:
    with pytest.raises(QuestionError, match=said):
        allowed_channels(example("three-cells", **{"phy.standard": standard}), given)


def test_cells_of_which_nothing_says_who_hears_whom_are_refused(row: Scenario) -> None:
    apart = with_channels(row, (36, 40, 44)).vary({"air": None})

    with pytest.raises(QuestionError, match='"left" and "middle" are on channels that do not'):
        on_one_channel(apart, 36)


def test_pairs_of_cells_count_on_one_channel(row: Scenario) -> None:
    """Pairs stay written, and with them a way back to one channel."""
    apart = with_channels(row, (36, 36, 40))

    assert apart.written["air"]["heard"] == [["left", "middle"], ["middle", "right"]]
    assert Graph(on_one_channel(apart, 36)).neighbours == Graph(on_one_channel(row, 36)).neighbours


def test_the_chain_keeps_what_a_cell_sends_alone(row: Scenario) -> None:
    graph = Graph(on_one_channel(row, 36))
    assert graph.neighbours == [[False, True, False], [True, False, True], [False, True, False]]
    chain = Chain(graph, [0.5, 0.5, 0.5])

    # All have odds of 1. Alone, or with those that they do not hear, cells keep all.
    assert chain.shares((36, 40, 36)) == pytest.approx([1.0, 1.0, 1.0])
    # Independent sets of the row: none, each, and both outer ones, which are 5: of these an outer
    # cell is in 2, the middle in 1; alone each is in 1 of 2.
    assert chain.shares((36, 36, 36)) == pytest.approx([0.8, 0.4, 0.8])
    # Two that hear each other: none and each, a third of the time for half.
    assert chain.shares((36, 36, 40)) == pytest.approx([2 / 3, 2 / 3, 1.0])


def test_the_middle_of_three_gets_a_channel_of_its_own(planned: ChannelPlan) -> None:
    assert planned.best.channels == {"left": 36, "middle": 40, "right": 36}
    assert planned.real
    assert planned.second.behind.low > 0.0
    # All that the middle has alone, for the tenth or less that it has today.
    middle = planned.best.cells["middle"].mean
    assert middle == pytest.approx(planned.alone["middle"], rel=0.02)
    assert (planned.today.value.mean or 0.0) < 0.15 * (planned.best.value.mean or 0.0)
    assert planned.plans == len(planned.tried) == 4


def test_a_plan_says_what_an_own_simulation_says(row: Scenario, planned: ChannelPlan) -> None:
    for one in (planned.best, planned.today):
        numbers = tuple(number or 36 for number in one.channels.values())
        result = airtcp.simulate(with_channels(row, numbers).with_run(replications=one.value.n))
        known = result.simulation.cells
        for name, goodput in one.cells.items():
            assert goodput.mean == known[name].goodput_bps.mean


def test_cells_on_other_channels_are_cells_alone() -> None:
    offices = example("three-offices")
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


def test_where_no_transfer_ends_its_time_is_that_of_the_run() -> None:
    ftp = '{ kind = "ftp", size = "1 GB", interarrival = "1 s" }'
    run: dict[str, Any] = {"warmup": "1 s", "duration": "3 s", "replications": 1}
    wait = loads(cell(standard="802.11a", application=ftp, **run))
    answer = airtcp.simulate(wait).simulation.runs[0].answer
    assert objective_of(wait, "p90 transfer_time").value(answer) == 3.0
    assert objective_of(wait, "p90 transfer_time").sign == -1


@pytest.mark.parametrize(
    ("objective", "said"),
    [
        ("speed", 'must be least, sum, targets, or a metric: "speed" is not a metric'),
        ("middle goodput", '"middle" is a cell, not a group; allowed: '),
        ("p90 transfer_time", "transfers that end"),
        ("reader collision_probability_ap", "not measured for"),
    ],
)
def test_objectives_that_are_none_are_refused(row: Scenario, objective: str, said: str) -> None:
    with pytest.raises(QuestionError, match=said):
        objective_of(row, objective)


def test_equal_plans_are_told_as_equal(row: Scenario) -> None:
    found = airtcp.plan(row, vary="channels", channels=[36, 40, 44], objective="least")

    # The outer cells do not hear each other: one channel for both is as good as two.
    assert not found.real
    assert "3 runs show no difference" in (present.second_line(found) or "")


def test_a_plan_that_may_be_no_better_is_not_told_as_the_best(planned: ChannelPlan) -> None:
    chance = replace(planned.today, behind=Interval(1e6, -2e6, 4e6, 3))
    found = replace(planned, today=chance)
    assert present.answer_line(found).startswith("None of the channels tried is better")
    assert "which may be chance (3 runs)" in (present.today_line(found) or "")
    assert present.apply_lines(found) == []
    assert "Apply it" not in present.html(found, {})
    assert present.apply_lines(planned)


def test_equipment_is_told_for_each_access_point_that_moves() -> None:
    offices = example("three-offices")
    found = airtcp.plan(offices, vary="channels", channels=[36, 40])

    assert found.changes == {"cells.tax.channel": 40}
    assert found.apply == {
        "tax": {"hostapd": ("channel=40",), "uci": ("uci set wireless.radio0.channel='40'",)}
    }
    assert present.apply_lines(found)[0] == "--set cells.tax.channel=40"
    # The option that is printed makes the best plan of the file.
    assert offices.vary(found.changes).cells == with_channels(offices, (36, 40, 36)).cells


def test_the_chain_tells_no_number_where_the_closed_form_has_none(planned: ChannelPlan) -> None:
    """Neighbours on one channel have no number; of cells that do not meet the chain is sure."""
    found = airtcp.plan(example("three-offices"), vary="channels", channels=[36, 40])

    rows = {row[0].removesuffix(" (today)"): row[1] for row in present.plan_rows(found)}
    assert rows["law 36, tax 36, art 36"] == "–"
    assert rows["law 36, tax 36, art 40"] == "–"
    assert rows["law 36, tax 40, art 36"].endswith(" %")
    assert found.today.to_dict()["guess"] is None
    assert found.silence.startswith("802.11ax aggregates frames")
    assert f"Reason for cells without a number: {found.silence}." in present.depth_line(found)
    # The file of that plan says which cells hear each other, without powers.
    assert all(one.guess is not None for one in planned.tried)
    assert planned.silence is None
    assert "no number" not in present.depth_line(planned)


def test_the_command_writes_the_plan(tmp_path: Path) -> None:
    file = tmp_path / "three-cells.toml"
    file.write_text(example("three-cells").to_toml())
    options = ["plan", file, "--vary", "channels", "--channels", "36,40", "--quiet"]
    screen = call(*options, "--out", tmp_path / "out", columns=120)
    assert screen.exit_code == 0, screen.output
    assert screen.stdout.startswith("Best channels: left 36, middle 40, right 36: smallest margin")
    assert (tmp_path / "out" / "channels.png").stat().st_size > 0
    assert "uci set wireless.radio0.channel" in (tmp_path / "out" / "report.html").read_text()
    told = json.loads(call(*options, "--json").stdout)
    assert told["best"]["channels"] == {"left": 36, "middle": 40, "right": 36}
    assert (told["real"], told["plans"]) == (True, 4)


@pytest.mark.parametrize(
    ("vary", "options", "said"),
    [
        ("channels", ["--until", "jain_index < 0.5"], "does not use --until"),
        ("channels", ["--remedy", "edca"], "--remedy"),
        ("", ["--channels", "36,40", "--until", "jain_index < 0.5"], "works only with --vary chan"),
        ("", ["--objective", "sum", "--until", "jain_index < 0.5"], "works only with --vary chan"),
        ("channels", ["--channels", "36,x"], "is not a list of channels"),
        ("channels,stations", [], '"stations" is not a setting of cells'),
        ("powers", ["--channels", "36,40"], "--channels: works only with --vary channels"),
        ("channels", ["--powers", "8 dBm"], "--powers: works only with --vary powers"),
        ("powers", ["--powers", "8"], "--powers 8: "),
        ("positions", ["--grid", "0 m"], "--grid: must be above 0 m"),
        ("positions", ["--grid", "10 cm"], "allowed: fewer powers"),
        ("positions", ["--grid", "50 m"], "no alternative to today's settings"),
        ("powers", ["--until", "jain_index < 0.5"], "does not use --until"),
        ("places", [], "places: is not a key of this scenario"),
        ("power", ["--until", "goodput < 1 Mb/s"], "--vary power: unknown key"),
        ("cells.tax.channel", ["--until", "jain_index < 0.5"], "--vary channels"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    vary: str, options: list[str], said: str, tmp_path: Path
) -> None:
    file = tmp_path / "offices.toml"
    file.write_text(example("three-offices").to_toml())
    result = call("plan", file, *(["--vary", vary] if vary else []), *options)
    # A wrong option ends with status 2, without a traceback.
    assert result.exit_code == 2
    assert said in result.output
    with pytest.raises(QuestionError, match="the scenario has one cell; use one with two"):
        airtcp.plan(loads(cell(standard="802.11a")), vary="channels")


def test_a_plan_is_drawn(planned: ChannelPlan) -> None:
    figure = planned.plot()
    labels = [one.get_text() for one in figure.axes[0].get_yticklabels()]
    assert labels == ["left: – → 36", "middle: – → 40", "right: – → 36"]


@pytest.mark.verify
@pytest.mark.parametrize("seed", [7, 19])
def test_a_plan_is_near_that_of_brute_force(seed: int) -> None:
    assert row_of_floor(seed)["share"] >= 0.97


def test_readers_have_the_targets_that_they_usually_have() -> None:
    """Two cells of readers, one of them beside a backup: the goodput of readers is no objective."""
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

    assert objective.label == "smallest margin of the usual targets"
    assert [one.metric for one in objective.conditions] == ["page_time_p90_s"]
    assert objective_of(crowd, "least").name == "least"
    endless = crowd.vary({"stations.reader.traffic": ["download"]})
    assert objective_of(endless, None).name == "least"
    with pytest.raises(QuestionError):
        objective_of(endless, "targets")

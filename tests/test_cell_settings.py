"""Plans of transmit powers and positions of access points: candidates, limits, and the best."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import airtcp
import pytest
from airtcp.plan import candidates
from airtcp.plan.candidates import Candidate, Space
from airtcp.plan.settings import Setting, Settings, setting_changes, today
from airtcp.plan.shares import Graph
from airtcp.results.channel_plans import ChannelPlan
from airtcp.scenario import Scenario, loads
from airtcp.scenario.hearing import hear
from bases import BULK, RADIOS, cell, example, refused, said, short_example, two_cells
from commands import call

DOWN = f"application = {BULK}"
CELLS = {"three-offices": "tax", "three-cells": "left"}


def offices(**changes: Any) -> Scenario:
    """Three offices in a row, with short runs."""
    return short_example("three-offices", "2 s", 3, **changes)


@pytest.fixture(scope="module")
def powers() -> ChannelPlan:
    return airtcp.plan(
        offices(), vary="powers", powers=["8 dBm", "14 dBm", "17 dBm"], objective="least"
    )


def test_a_power_of_its_own_is_received_as_much_louder() -> None:
    before = offices()
    after = before.vary({"cells.tax.power": "10 dBm"})

    # Tax is the second node; only its frames are received 7 dB weaker.
    rows = zip(before.air.received_dbm, after.air.received_dbm, strict=True)
    less = [[a - b for a, b in zip(*each, strict=True)] for each in rows]
    assert less[1] == pytest.approx([7.0] * 15)
    assert less[:1] + less[2:] == [[0.0] * 15] * (len(less) - 1)


def test_rows_of_powers_are_those_at_the_power_of_all() -> None:
    text = two_cells(RADIOS.replace("-75", "-84"), reader=DOWN, clerk=DOWN)
    of = loads(text).vary({"cells.right.power": "23 dBm"})
    # A row has both directions; frames of b arrive 3 dB stronger.
    assert of.air.received_dbm[0][1] == -84.0
    assert of.air.received_dbm[1][0] == -81.0
    assert today(of) == [Setting(20.0, None), Setting(23.0, None)]


@pytest.mark.parametrize(
    ("name", "changes", "said"),
    [
        ("three-offices", {"air.obss_pd": "-72 dBm"}, r"cells\.tax\.power: cannot be combined"),
        ("three-cells", {}, "has no effect if powers are not known"),
    ],
)
def test_powers_that_cannot_be_are_refused(name: str, changes: dict[str, str], said: str) -> None:
    with pytest.raises(airtcp.ScenarioError, match=said):
        example(name, **changes | {f"cells.{CELLS[name]}.power": "14 dBm"})


def test_stations_stay_where_they_are_when_their_access_point_moves() -> None:
    before = offices()
    changes = setting_changes(before, 1, Setting(17.0, (14.0, 4.0)))
    assert changes == {
        "cells.tax.position": [14.0, 4.0],
        "stations.taxman.positions.centre": [14.0, 0.0],
    }
    after = before.vary(changes)
    # Nodes 7 to 10 belong to tax: their paths to everybody else do not change.
    for one, other in itertools.product(range(7, 11), [0, 2, *range(3, 15)]):
        assert before.air.received_dbm[one][other] == after.air.received_dbm[one][other]
    assert before.air.received_dbm[1] != after.air.received_dbm[1]


def test_points_lie_on_a_grid_within_the_nodes_of_a_cell() -> None:
    of = loads(
        cell(
            2,
            standard="802.11a",
            tables="[air.path_loss]\n[cells.a]\nposition = [1, 1]",
            group='cell = "a"\npositions = [[0, 0], [5, 2]]',
        )
    )
    settings = Settings(of, None, 2.0)
    assert sorted(one.position for one in settings.each[0]) == [(1, 1), (3, 1), (5, 1)]  # type: ignore[type-var]


def test_settings_with_which_a_station_hears_nothing_are_left_out_with_the_rule() -> None:
    settings = Settings(offices(), [-20.0, 10.0], None)

    assert settings.allowed == [[1], [1], [1]]
    why = settings.left_out["tax -20 dBm"]
    assert said(why) == "plan.settings.out_of_range"
    with refused("plan.settings.none_left", name="law"):
        Settings(offices(), [-20.0], None)


def test_the_graph_of_settings_is_that_of_the_scenario_with_them() -> None:
    before = offices()
    settings = Settings(before, [8.0, 17.0], 4.0)
    graph = Graph(before, settings.each)
    draw = random.Random(1)
    for _ in range(6):
        has = [draw.choice(one) for one in settings.allowed]
        changes: dict[str, Any] = {}
        for place, one in enumerate(has):
            changes |= setting_changes(before, place, settings.each[place][one])
        after = before.vary(changes)
        own = Graph(after)
        for a, b in itertools.permutations(range(3), 2):
            assert graph.hear(a, has[a], b, has[b]) == own.hear(a, 0, b, 0)
        assert graph.louder([36] * 3, has) == pytest.approx(own.louder([36] * 3, [0] * 3), rel=1e-3)
        assert hear(after, 0, 1) <= own.hear(0, 0, 1, 0)


def test_moving_one_cell_at_a_time_meets_the_best_of_small_spaces() -> None:
    draw = random.Random(5)
    for _ in range(10):
        values = {
            (channel, setting): [draw.random() for _ in range(4)]
            for channel, setting in itertools.product((36, 40), range(3))
        }

        def guess(one: Candidate, values: Any = values) -> float:
            each = zip(one.channels, one.settings, strict=True)
            return float(sum(values[has][place] for place, has in enumerate(each)))

        space = Space(4, [36, 40], (36, 36, 36, 36), [range(3)] * 4)
        assert space.whole
        assert space.size == 8 * 81
        met = space._moved(guess, lambda one: one)
        # A sum over cells has only one maximum.
        most = max(
            guess(Candidate(channels, settings))
            for channels in itertools.product((36, 40), repeat=4)
            for settings in itertools.product(range(3), repeat=4)
        )
        assert max(met.values()) == pytest.approx(most)


def test_large_floors_are_planned_by_moving_one_cell_at_a_time() -> None:
    space = Space(20, [36, 40, 44, 48], None, [[0]] * 20)
    assert not space.whole

    # Each cell in a row hears its neighbours: two alternating channels are optimal.
    def guess(one: Candidate) -> float:
        return -float(sum(a == b for a, b in itertools.pairwise(one.channels)))

    chosen, ranked = space.best(guess, lambda one: one, 32)
    assert guess(chosen[0]) == 0.0
    assert len(chosen) == 32
    assert ranked < 20_000


def test_less_power_parts_offices_that_hear_each_other(powers: ChannelPlan) -> None:
    assert powers.vary == ("powers",)
    assert powers.plans == powers.ranked == 27
    assert powers.today.powers_dbm == {"law": 17.0, "tax": 17.0, "art": 17.0}
    # The best plan was run, and the printed options reproduce it.
    changed = powers.scenario.vary(powers.changes)
    runs = airtcp.simulate(changed.with_run(replications=powers.best.value.n)).simulation
    means = {name: one.goodput_bps.mean for name, one in runs.cells.items()}
    assert means == {name: one.mean for name, one in powers.best.cells.items()}
    assert powers.best.value.mean >= powers.today.value.mean


def test_powers_are_told_to_equipment(powers: ChannelPlan) -> None:
    before = powers.today.powers_dbm
    quieter = {one: dbm for one, dbm in powers.best.powers_dbm.items() if dbm != before[one]}
    assert powers.apply == {
        name: {
            "uci": (f"uci set wireless.radio0.txpower='{power:g}'",),
            "iw": (f"iw dev wlan0 set txpower fixed {power:g}00",),
        }
        for name, power in quieter.items()
    }
    for name, power in quieter.items():
        assert powers.changes[f"cells.{name}.power"] == f"{power:g} dBm"


@pytest.mark.slow
def test_channels_powers_and_places_are_planned_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(candidates, "MOST_SETTINGS", 100)
    file = tmp_path / "offices.toml"
    file.write_text(offices().to_toml())
    options = ["plan", str(file), "--vary", "channels,powers,positions", "--channels", "36,40"]
    options += ["--powers", "11 dBm, 17 dBm", "--grid", "4 m", "--replications", "2", "--quiet"]
    result = call(*options, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["vary"] == ["channels", "powers", "positions"]
    assert told["plans"] > told["ranked"] > 32
    best = told["best"]
    assert set(best["powers_dbm"].values()) <= {11.0, 17.0}
    assert best["value"]["mean"] > told["today"]["value"]["mean"]

    screen = call(*options, columns=120)
    assert screen.exit_code == 0, screen.output
    assert screen.stdout.startswith("Best channels and powers")
    assert "law 36 1" in screen.stdout
    assert "one cell at a time" in " ".join(screen.stdout.split())


@pytest.mark.parametrize("vary", ["powers", "positions"])
def test_cells_that_are_paired_by_words_have_no_such_plan(vary: Any) -> None:
    with refused(f"plan.settings.no_{vary}"):
        airtcp.plan(example("three-cells"), vary=vary)

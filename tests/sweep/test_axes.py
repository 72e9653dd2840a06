"""Axes of each kind: steps, labels, changed keys, and messages about wrong axes."""

from pathlib import Path
from typing import Any

import pytest
from airtcp.exceptions import ScenarioError
from airtcp.scenario import Scenario
from airtcp.sweep.axes import Axis
from airtcp.sweep.points import points_of
from airtcp.sweep.spec import load_sweep, sweep_of
from bases import refused

COUNT, LIMIT = "stations.laptop.count", "ap.queue.limit"
#: The Sobol sequence begins with (0, 0), (1/2, 1/2), (3/4, 1/4), (1/4, 3/4).
SPANS = {"run.duration": {"from": "0 s", "to": "4 s"}, LIMIT: {"from": 0, "to": 8}}
DESIGN = [("run.duration", "s"), (LIMIT, "")]
THREE = [(0.0, 0), (2.0, 4), (3.0, 2)]


def axis(base: Scenario, name: str, value: Any) -> Axis:
    (found,) = sweep_of(base, {name: value}).axes
    return found


@pytest.mark.parametrize(
    ("name", "written", "columns", "labels", "last"),
    [
        (COUNT, [1, 5], [(COUNT, "")], [(1,), (5,)], {COUNT: 5}),
        (
            "run.duration",
            ["100 ms", "2 s"],
            [("run.duration", "s")],
            [(0.1,), (2.0,)],
            {"run.duration": "2 s"},
        ),
        ("run.warmup", ["2 s", "auto"], [("run.warmup", "")], [("2 s",), ("auto",)], None),
        ("ap.queue", [{"limit": 2}], [("ap.queue", "")], [('{"limit": 2}',)], None),
        ("users", {"key": COUNT, "values": [1, 2]}, [("users", "")], [(1,), (2,)], {COUNT: 2}),
        (
            "remedy",
            {"alternatives": {"none": {}, "b": {"x": 4}}},
            [("remedy", "")],
            [("none",), ("b",)],
            {"x": 4},
        ),
        (
            "load",
            {"zip": {COUNT: [1, 9], LIMIT: [10, 90]}},
            [(COUNT, ""), (LIMIT, "")],
            [(1, 10), (9, 90)],
            {COUNT: 9, LIMIT: 90},
        ),
        # A longer design begins with the points of a shorter one. Equal points count once.
        ("design", {"sobol": SPANS, "points": 3}, DESIGN, THREE, None),
        ("design", {"sobol": SPANS, "points": 4}, DESIGN, [*THREE, (1.0, 6)], None),
        (
            "design",
            {"sobol": {LIMIT: {"from": 1, "to": 2}}, "points": 4},
            [(LIMIT, "")],
            [(1,), (2,)],
            {LIMIT: 2},
        ),
    ],
)
def test_steps_have_labels_and_changes(
    base: Scenario, name: str, written: Any, columns: Any, labels: Any, last: Any
) -> None:
    found = axis(base, name, written)

    assert [(column.name, column.unit) for column in found.columns] == columns
    assert [step.labels for step in found.steps] == labels
    if isinstance(written, list):
        assert [step.changes for step in found.steps] == [{name: value} for value in written]
    assert last is None or found.steps[-1].changes == last


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"from": 1, "to": 10, "step": 3}, [1, 4, 7, 10]),
        # Rounding turns 1.2 into 0.4 + 2 x 0.4, slightly more: the range still includes its end.
        ({"from": 0.4, "to": 1.2, "step": 0.4}, [0.4, 0.8, 1.2000000000000002]),
        ({"from": 10, "to": 1, "step": -4}, [10, 6, 2]),
        ({"from": 1, "to": 3, "points": 5}, [1, 2, 3]),
        ({"from": 1, "to": 3.0, "points": 5}, [1.0, 1.5, 2.0, 2.5, 3.0]),
        ({"from": 1, "to": 100, "points": 3, "scale": "log"}, [1, 10, 100]),
        (
            {"from": "1 Mb/s", "to": "100 Mb/s", "points": 3, "scale": "log"},
            ["1000000 b/s", "10000000 b/s", "100000000 b/s"],
        ),
        (
            {"from": "1 ms", "to": "2 ms", "step": "500 us"},
            ["1000000 ns", "1500000 ns", "2000000 ns"],
        ),
        ({"from": "1 %", "to": "7 %", "points": 2}, ["1 %", "7 %"]),
    ],
)
def test_ranges(base: Scenario, written: dict[str, Any], expected: list[Any]) -> None:
    steps = axis(base, "key", written).steps
    found = [step.changes["key"] for step in steps]

    assert found == pytest.approx(expected) if isinstance(found[0], float) else found == expected


@pytest.mark.parametrize(
    ("axes", "key", "said"),
    [
        ({}, "axes", "is empty"),
        ({"x": []}, "axes.x", "is empty; allowed: at least one value"),
        ({"x": {"alternatives": {}}}, "axes.x.alternatives", "is empty"),
        ({"x": {"zip": {"a": [1], "b": []}}}, "axes.x.zip.b", "is empty"),
        ({"x": 5}, "axes.x", "is not an axis; allowed: a list of values; a range"),
        ({"x": {"form": 1}}, "axes.x", "is not an axis"),
        ({"x": [1, 2, 1]}, "axes.x", "has 1 twice"),
        ({"x": {"zip": {"a": [1, 2], "b": [1]}}}, "axes.x.zip", "a has 2, b has 1"),
        ({"x": {"from": 1, "to": 5}}, "axes.x", "neither or both of points and step"),
        *(
            ({"x": {"from": 1, "to": 5, "step": step}}, "axes.x.step", "never reaches `to`")
            for step in (-1, 0)
        ),
        ({"x": {"from": 5, "to": 5, "step": 1}}, "axes.x", "begins where it ends"),
        ({"x": {"from": 1, "to": 2e6, "step": 1}}, "axes.x.step", "makes 2000000 values"),
        ({"x": {"from": 1, "to": 5, "step": "1 s"}}, "axes.x.step", "is another quantity"),
        (
            {"x": {"from": 1, "to": 5, "step": 1, "scale": "log"}},
            "axes.x.step",
            "on a linear scale",
        ),
        ({"x": {"from": 0, "to": 5, "points": 3, "scale": "log"}}, "axes.x", "log scale"),
        ({"x": {"from": 1, "to": "5 s", "points": 3}}, "axes.x", "one kind of quantity to another"),
        ({"x": {"from": 1, "to": 1, "points": 3}}, "axes.x", "begins where it ends"),
        ({"x": {"from": "a", "to": 1, "points": 3}}, "axes.x.from", "neither a number nor a"),
        ({"x": {"from": 1, "to": 5, "pionts": 3}}, "axes.x.pionts", "did you mean points?"),
        ({"x": {"sobol": {"a": {"from": 1, "to": 2}}}}, "axes.x.points", "is missing"),
        ({"point": [1]}, "axes.point", "is a column of every store"),
        ({"x": {"zip": {"a": [1]}}, "a": [1]}, "axes.a", 'so does the axis "x"'),
        # Steps that are not a valid scenario.
        ({"stations.laptp.count": [1]}, "axes.stations.laptp.count", "the nearest is"),
        (
            {"stations.laptop.count": [1, 0]},
            "axes (stations.laptop.count = 0): stations[0] (laptop).count",
            "too small",
        ),
        # Of many steps only the last one is checked, together with the first step of the other
        # axes.
        (
            {"stations.laptop.count": [*range(1, 41), 0]},
            "axes (stations.laptop.count = 0): stations[0] (laptop).count",
            "too small",
        ),
        (
            {"stations.laptop.count": [1, 0], "run.seed": [1, 2, 3]},
            "axes (stations.laptop.count = 0, run.seed = 1): stations[0] (laptop).count",
            "too small",
        ),
        (
            {"ap.queue.limit": [1], "run.duration": ["1 s", "5"]},
            'axes (ap.queue.limit = 1, run.duration = "5"): run.duration',
            "",
        ),
    ],
)
def test_a_wrong_axis_is_refused_by_name(
    base: Scenario, axes: dict[str, Any], key: str, said: str
) -> None:
    with pytest.raises(ScenarioError) as error:
        points_of(sweep_of(base, axes))

    assert error.value.key == key
    assert said in error.value.message


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"metrics": ["badput"]}, "metrics[0]"),
        # Only cells have this metric.
        ({"metrics": ["share_of_alone"]}, "metrics[0]"),
        ({"metrics": []}, "metrics"),
        ({"metrics": ["goodput_bps", "phone.all.goodput_bps"]}, "metrics[1]"),
        ({"replications": 2, "precision": 0.1}, "precision"),
        *(({"precision": one}, "precision") for one in (0.0, 1.0, "150 %")),
    ],
)
def test_other_wrong_keys_are_refused_by_name(
    base: Scenario, given: dict[str, Any], key: str
) -> None:
    with pytest.raises(ScenarioError) as error:
        sweep_of(base, {COUNT: [1]}, **given)

    assert error.value.key == key


NARROW = {"precision": "5 %", "max_replications": 9}


def test_runs_and_metrics_are_those_of_the_sweep_or_of_its_scenario(base: Scenario) -> None:
    names = ["goodput", "laptop.all.goodput_per_flow", "goodput_bps"]
    kinds: list[dict[str, Any]] = [{}, {"replications": 1, "metrics": names}, NARROW]
    plain, own, narrow = (sweep_of(base, {COUNT: [1]}, **given) for given in kinds)
    assert (plain.often.replications, plain.metrics) == (2, None)
    assert own.metrics == ("goodput_bps", "laptop.all.flow_goodput_bps")
    assert [one.often.replications for one in (own, own.with_replications(7))] == [1, 7]
    assert (narrow.often.replications, narrow.often.precision, narrow.often.most) == (None, 0.05, 9)
    with pytest.raises(ValueError, match="at least 1, not 0"):
        sweep_of(base, {COUNT: [1]}, replications=0)
    with pytest.raises(ValueError, match="at least 2, not 1"):
        sweep_of(base, {COUNT: [1]}, max_replications=1)


def test_a_scenario_is_not_taken_for_a_sweep(tmp_path: Path) -> None:
    path = tmp_path / "cafe.toml"
    path.write_text('phy = { standard = "802.11g" }\n')
    with refused("sweep.file.scenario"):
        load_sweep(path)

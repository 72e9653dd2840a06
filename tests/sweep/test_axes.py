"""What varies: kinds of axes, their labels, and what is said of wrong ones."""

from pathlib import Path
from typing import Any

import pytest
from airtcp.exceptions import ScenarioError
from airtcp.scenario import Scenario
from airtcp.sweep.axes import Axis
from airtcp.sweep.points import points_of
from airtcp.sweep.spec import load_sweep, sweep_of


def axis(base: Scenario, name: str, value: Any) -> Axis:
    (found,) = sweep_of(base, {name: value}).axes
    return found


def values(found: Axis) -> list[Any]:
    return [next(iter(step.changes.values())) for step in found.steps]


@pytest.mark.parametrize(
    ("key", "written", "expected", "name", "unit"),
    [
        ("stations.laptop.count", [1, 5], [1, 5], "stations.laptop.count", ""),
        ("run.duration", ["100 ms", "2 s"], [0.1, 2.0], "run.duration", "s"),
        ("run.warmup", ["auto", "2 s"], ["auto", "2 s"], "run.warmup", ""),
        ("ap.queue", [{"discipline": "fifo"}], ['{"discipline": "fifo"}'], "ap.queue", ""),
        ("users", {"key": "stations.laptop.count", "values": [1, 2]}, [1, 2], "users", ""),
        ("remedy", {"alternatives": {"none": {}, "b": {"x": 4}}}, ["none", "b"], "remedy", ""),
    ],
)
def test_steps_are_labelled(
    base: Scenario, key: str, written: Any, expected: list[Any], name: str, unit: str
) -> None:
    found = axis(base, key, written)

    assert [step.labels[0] for step in found.steps] == expected
    assert (found.columns[0].name, found.columns[0].unit) == (name, unit)
    if isinstance(written, list):
        assert values(found) == written
    elif "values" in written:
        assert found.steps[1].changes == {"stations.laptop.count": 2}
    else:
        assert [step.changes for step in found.steps] == [{}, {"x": 4}]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"from": 1, "to": 10, "step": 3}, [1, 4, 7, 10]),
        # 1.2 is 0.4 + 2 x 0.4 but for rounding: a range does not lose its end.
        ({"from": 0.4, "to": 1.2, "step": 0.4}, [0.4, 0.8, 1.2000000000000002]),
        ({"from": 10, "to": 1, "step": -4}, [10, 6, 2]),
        ({"from": 1, "to": 3, "points": 5}, [1, 2, 3]),
        ({"from": 1.0, "to": 3.0, "points": 5}, [1.0, 1.5, 2.0, 2.5, 3.0]),
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
    found = values(axis(base, "key", written))

    assert found == pytest.approx(expected) if isinstance(found[0], float) else found == expected


def test_keys_change_together(base: Scenario) -> None:
    found = axis(
        base, "load", {"zip": {"stations.laptop.count": [1, 9], "ap.queue.limit": [10, 90]}}
    )

    assert [column.name for column in found.columns] == ["stations.laptop.count", "ap.queue.limit"]
    assert [step.labels for step in found.steps] == [(1, 10), (9, 90)]
    assert found.steps[1].changes == {"stations.laptop.count": 9, "ap.queue.limit": 90}


def test_sobol_points_are_the_first_of_the_sequence(base: Scenario) -> None:
    """Its first four points in two dimensions: (0, 0), (1/2, 1/2), (3/4, 1/4), (1/4, 3/4)."""
    spans = {"run.duration": {"from": "0 s", "to": "4 s"}, "ap.queue.limit": {"from": 0, "to": 8}}

    found = axis(base, "design", {"sobol": spans, "points": 3})

    assert [step.labels for step in found.steps] == [(0.0, 0), (2.0, 4), (3.0, 2)]
    more = axis(base, "design", {"sobol": spans, "points": 4})
    assert more.steps[:3] == found.steps
    assert more.steps[3].labels == (1.0, 6)


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
        ({"x": {"from": 1, "to": 5, "step": -1}}, "axes.x.step", "never reaches `to`"),
        ({"x": {"from": 0, "to": 5, "points": 3, "scale": "log"}}, "axes.x", "log scale"),
        ({"x": {"from": 1, "to": "5 s", "points": 3}}, "axes.x", "one kind of quantity to another"),
        ({"x": {"from": 1, "to": 1, "points": 3}}, "axes.x", "begins where it ends"),
        ({"x": {"from": "a", "to": 1, "points": 3}}, "axes.x.from", "neither a number nor a"),
        ({"x": {"from": 1, "to": 5, "pionts": 3}}, "axes.x.pionts", "did you mean points?"),
        ({"x": {"sobol": {"a": {"from": 1, "to": 2}}}}, "axes.x.points", "is missing"),
        ({"point": [1]}, "axes.point", "is a column of every store"),
        ({"x": {"zip": {"a": [1]}}, "a": [1]}, "axes.a", 'so does the axis "x"'),
        # Steps that are no scenario.
        ({"stations.laptp.count": [1]}, "axes.stations.laptp.count", "the nearest is"),
        (
            {"stations.laptop.count": [1, 0]},
            "axes (stations.laptop.count = 0): stations[0] (laptop).count",
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
        ({"metrics": []}, "metrics"),
        ({"metrics": ["goodput_bps", "phone.all.goodput_bps"]}, "metrics[1]"),
        ({"replications": 2, "precision": 0.1}, "precision"),
        ({"precision": 1.5}, "precision"),
    ],
)
def test_what_else_is_wrong_is_refused(
    base: Scenario, given: dict[str, Any], key: str, tmp_path: Path
) -> None:
    with pytest.raises(ScenarioError) as error:
        sweep_of(base, {"stations.laptop.count": [1]}, **given)

    assert error.value.key == key
    path = tmp_path / "cafe.toml"
    path.write_text('phy = { standard = "802.11g" }\n')
    with pytest.raises(ScenarioError, match=r"cafe\.toml: is a scenario, not a sweep; add --axis"):
        load_sweep(path)

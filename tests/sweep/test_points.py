"""Points: the base scenario with the changes of one step of each axis."""

import itertools
from typing import Any

import pytest
from airtcp.scenario import Scenario
from airtcp.scenario.resolved import hash_of
from airtcp.sweep.points import points_of
from airtcp.sweep.spec import sweep_of

KINDS: dict[str, dict[str, Any]] = {
    "list": {"stations.laptop.count": [1, 2, 40]},
    "times": {"run.duration": {"from": "1 s", "to": "90 s", "points": 5, "scale": "log"}},
    "zip": {"load": {"zip": {"stations.laptop.count": [1, 2, 3], "ap.queue.limit": [10, 20, 30]}}},
    "alternatives": {
        "remedy": {
            "alternatives": {
                "none": {},
                "far": {"flows.laptop.path": [{"delay": "20 ms"}]},
                "small": {"flows.laptop.tcp.receive_window": {"segments": 4}, "ap.queue.limit": 9},
            }
        },
        "stations.laptop.count": [1, 2, 3],
    },
    "sobol": {
        "design": {"sobol": {"run.duration": {"from": "1 s", "to": "9 s"}}, "points": 4},
        "run.seed": {"from": 1, "to": 3, "step": 1},
    },
    # Times and rates of the PHY follow from both.
    "dependent": {
        "phy.standard": ["802.11g", "802.11a"],
        "phy.data_rate": ["24 Mb/s", "54 Mb/s"],
    },
    "unset": {"ap.queue.limit": [None, 10]},
}


@pytest.mark.parametrize("axes", KINDS.values(), ids=KINDS)
def test_a_point_is_the_base_with_its_changes(base: Scenario, axes: dict[str, Any]) -> None:
    points = points_of(sweep_of(base, axes))

    steps = itertools.product(*(axis.steps for axis in points.sweep.axes))
    for number, chosen in enumerate(steps):
        changes: dict[str, Any] = {"run.replications": 1}
        for step in chosen:
            changes |= step.changes
        assert points.json(number) == base.vary(changes).to_json()
    assert number == len(points) - 1


def test_a_point_is_its_scenario_but_for_how_often_it_is_run(base: Scenario) -> None:
    axes = {"stations.laptop.count": [3], "ap.queue.limit": [7]}
    changes = {"stations.laptop.count": 3, "ap.queue.limit": 7, "run.replications": 1}

    points = points_of(sweep_of(base, axes, replications=40))

    assert hash_of(points.json(0)) == base.vary(changes).hash()
    assert points.told(0) == "stations.laptop.count = 3, ap.queue.limit = 7"


def test_the_last_axis_runs_fastest(base: Scenario) -> None:
    points = points_of(sweep_of(base, {"stations.laptop.count": [1, 2], "run.seed": [5, 6, 7]}))

    assert [points.labels(at) for at in range(len(points))] == [
        (1, 5), (1, 6), (1, 7), (2, 5), (2, 6), (2, 7),
    ]  # fmt: skip

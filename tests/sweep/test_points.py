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
    points = points_of(sweep_of(base, axes, replications=40))

    steps = itertools.product(*(axis.steps for axis in points.sweep.axes))
    for number, chosen in enumerate(steps):
        changes: dict[str, Any] = {"run.replications": 1}
        for step in chosen:
            changes |= step.changes
        assert points.json(number) == base.vary(changes).to_json()
        assert points.labels(number) == sum((step.labels for step in chosen), ())
    assert number == len(points) - 1
    # The hash of a point does not depend on its number of replications.
    assert hash_of(points.json(number)) == base.vary(changes).hash()

"""Points: a template filled gives what the full resolution gives."""

from pathlib import Path
from typing import Any

import pytest
from airtcp.scenario import Scenario, load
from airtcp.sweep.points import point_hash, points_of
from airtcp.sweep.spec import sweep_of

VALID = Path(__file__).parents[1] / "scenarios" / "valid"

KINDS: dict[str, dict[str, Any]] = {
    "list": {"stations.laptop.count": [1, 2, 40]},
    "texts": {"flows.laptop.tcp.variant": ["reno", "newreno", "sack"]},
    "a long range": {"run.seed": {"from": 1, "to": 60, "step": 1}},
    "times": {"run.duration": {"from": "1 s", "to": "90 s", "points": 40, "scale": "log"}},
    "sizes": {"flows.laptop.tcp.mss": {"from": "100 B", "to": "1460 B", "points": 30}},
    "two": {"stations.laptop.count": [1, 2], "ap.queue.limit": [10, 20]},
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
    "tables": {
        "ap.queue": [{"discipline": "fifo", "limit": 5}, {"discipline": "per-flow", "limit": 5}]
    },
    "sobol": {
        "design": {
            "sobol": {
                "run.duration": {"from": "1 s", "to": "9 s"},
                "ap.queue.limit": {"from": 5, "to": 500, "scale": "log"},
            },
            "points": 64,
        }
    },
    # Their values are right together only; times and rates of the PHY follow from both.
    "dependent": {
        "phy.standard": ["802.11g", "802.11a"],
        "phy.data_rate": ["24 Mb/s", "54 Mb/s"],
        "run.seed": [1, 2, 3, 4, 5, 6],
    },
    # EIFS follows from both of them.
    "shared": {
        "phy.control_rate": ["1 Mb/s", "2 Mb/s"],
        "phy.sifs": ["10 us", "16 us"],
        "run.seed": [1, 2, 3, 4, 5],
    },
    "the whole": {"phy.standard": ["802.11b", "802.11g"], "phy.preamble": ["short", "long"]},
    "unset": {"ap.queue.limit": [None, 10]},
}


@pytest.mark.parametrize("axes", KINDS.values(), ids=KINDS)
def test_every_kind_of_axis_gives_the_full_resolution(base: Scenario, axes: dict[str, Any]) -> None:
    points = points_of(sweep_of(base, axes))

    full = points_of(points.sweep, patch=False)
    assert full.resolved_each
    assert [points.json(at) for at in range(len(points))] == [
        full.json(at) for at in range(len(full))
    ]


def test_a_template_is_found_where_there_is_one(base: Scenario) -> None:
    resolved_each = {
        name: points_of(sweep_of(base, axes)).resolved_each for name, axes in KINDS.items()
    }

    # Of these two, every combination is one of its own.
    assert {name for name, each in resolved_each.items() if each} == {"the whole"}


@pytest.mark.parametrize("file", ["every_key", "minimal"])
def test_whole_scenarios_vary(file: str) -> None:
    scenario = load(VALID / f"{file}.toml")
    axes = {"run.seed": {"from": 1, "to": 40, "step": 1}, "phy.cw_max": [511, 1023]}

    points = points_of(sweep_of(scenario, axes))

    full = points_of(points.sweep, patch=False)
    assert not points.resolved_each
    assert all(points.json(at) == full.json(at) for at in range(len(points)))


def test_a_point_is_its_scenario_but_for_how_often_it_is_run(base: Scenario) -> None:
    axes = {"stations.laptop.count": [3], "ap.queue.limit": [7]}
    changes = {"stations.laptop.count": 3, "ap.queue.limit": 7, "run.replications": 1}

    points = points_of(sweep_of(base, axes, replications=40))

    assert point_hash(points.json(0)) == base.vary(changes).hash()
    assert points.told(0) == "stations.laptop.count = 3, ap.queue.limit = 7"


def test_the_last_axis_runs_fastest(base: Scenario) -> None:
    points = points_of(sweep_of(base, {"stations.laptop.count": [1, 2], "run.seed": [5, 6, 7]}))

    assert [points.labels(at) for at in range(len(points))] == [
        (1, 5), (1, 6), (1, 7), (2, 5), (2, 6), (2, 7),
    ]  # fmt: skip

"""A search: it finds the best value, the same on any machine, and simulates nothing twice."""

from pathlib import Path
from typing import Any

import pytest
from airtcp.predict import predict
from airtcp.results.query import open as opened
from airtcp.scenario import Scenario, load
from airtcp.sweep.search import Found, Goal, goal_of, search
from airtcp.sweep.workers import LocalCrew
from bases import refused
from wing import with_papers

pytest.importorskip("optuna", reason="Optuna is an optional extra")

EXAMPLES = Path(__file__).parents[2] / "python" / "airtcp" / "examples"


def searched(base: Scenario, over: dict[str, Any], goal: str, store: Path, **how: Any) -> Found:
    return search(base, over, goal_of(goal), store, crew=LocalCrew(1), **how)


@with_papers
def test_the_best_window_of_paper_l_is_found_without_its_formula(tmp_path: Path) -> None:
    """CWmin of twenty sending stations, with CWmax as in the example: (9) of paper L.

    Goodput is flat around its maximum: one step from the formula's value is as good.
    """
    base = load(EXAMPLES / "fair-uploads.toml").vary({"run.duration": "5 s", "run.warmup": "3 s"})
    windows = [2**power - 1 for power in range(2, 11)]
    key = "mac.edca.stations.AC_BE.cw_{}"
    over = {
        "window": {
            "zip": {
                key.format("min"): windows,
                key.format("max"): [32 * (window + 1) - 1 for window in windows],
            }
        }
    }

    found = searched(base, over, "max goodput_bps", tmp_path, trials=16, replications=2)

    formula = predict(base).by_source("best_cw_min_stations")
    (wanted,) = (one.value for source, one in formula.items() if "power of two" in source)
    assert isinstance(wanted, float)
    assert wanted in windows
    at = windows.index(found.changes[key.format("min")])
    assert abs(at - windows.index(wanted)) <= 1
    # Far from the standard's 31.
    assert at > windows.index(31) + 1


def test_a_search_depends_on_its_seed_alone_and_goes_on(base: Scenario, tmp_path: Path) -> None:
    over = {
        "ap.queue.limit": {"from": 2, "to": 200, "scale": "log"},
        "flows.laptop.tcp.variant": ["reno", "sack"],
        "flows.laptop.tcp.min_rto": {"from": "100 ms", "to": "1 s"},
    }
    first = searched(base, over, "min ap_queue_packets", tmp_path / "a", trials=8)
    rows = len(opened(tmp_path / "a"))
    again = searched(base, over, "min ap_queue_packets", tmp_path / "a", trials=12)
    whole = searched(base, over, "min ap_queue_packets", tmp_path / "b", trials=12)

    assert rows == 16
    assert len(opened(tmp_path / "a")) == len(opened(tmp_path / "b")) == 24
    assert (again.changes, again.value) == (whole.changes, whole.value)
    assert again.value.mean <= first.value.mean


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("min delay", Goal("packet_delay_s", most=False)),
        (" max laptop.all.goodput_per_flow", Goal("laptop.all.flow_goodput_bps", most=True)),
        *((wrong, None) for wrong in ("jain_index", "max", "most jain_index", "max happiness")),
    ],
)
def test_a_goal_may_be_spelled_as_on_a_screen(goal: str, expected: Goal | None) -> None:
    if expected is not None:
        assert goal_of(goal) == expected
        return
    with refused("sweep.search.not_a_goal"):
        goal_of(goal)


def test_what_is_no_space_or_has_no_value_is_said(base: Scenario, tmp_path: Path) -> None:
    with refused("sweep.axes.no_range"):
        searched(base, {"run.seed": {"from": 1, "to": 1}}, "max jain_index", tmp_path, trials=1)
    with refused("sweep.search.no_value", metric="transfer_time_s"):
        searched(base, {"run.seed": [1]}, "min transfer_time_s", tmp_path, trials=1)

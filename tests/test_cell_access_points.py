"""Access points of their own in several cells: what is told of them, and what mends them."""

from __future__ import annotations

from typing import Any

import pytest
from airtcp.exceptions import ScenarioError
from airtcp.remedies import Changed, Remedy, catalogue, changed, named
from airtcp.remedies.apply import lines_for
from airtcp.run.simulate import simulate
from airtcp.scenario import Scenario, loads

TEXT = """
    phy = { standard = "802.11n" }
    run = { warmup = "2 s", duration = "8 s", replications = 4 }
    stations = [
      { profile = "office-laptop", name = "well", count = 4, cell = "good", traffic = ["call"] },
      { profile = "office-laptop", name = "badly", count = 4, cell = "bad", traffic = ["call"] },
      { profile = "office-laptop", name = "load", count = 2, cell = "bad", traffic = ["download"] },
    ]
    [cells]
    good = { channel = 36, ap = { queue = { discipline = "fq-codel" } } }
    bad = { channel = 44, ap = { queue = { discipline = "fifo", limit = 1000 } } }
"""


@pytest.fixture(scope="module")
def floor() -> Scenario:
    return loads(TEXT)


def remedied(floor: Scenario, name: str) -> tuple[Changed, Remedy, Scenario]:
    (remedy,) = [one for one in catalogue() if one.name == name]
    base = named(floor)
    new = changed(base, remedy)
    assert isinstance(new, Changed)
    return new, remedy, base


def test_a_remedy_of_access_points_stands_above_those_of_cells(floor: Scenario) -> None:
    """Calls of the bad cell wait in its queue; those of the good one are as they were."""
    new, remedy, base = remedied(floor, "managed-queue")
    queues = [ap.queue for ap in new.scenario.access_points]
    assert [(queue.discipline, queue.limit) for queue in queues] == [("fq-codel", 8192)] * 2
    assert list(lines_for(remedy, new, base).by_tool) == ["tc", "iw", "debugfs"]
    assert changed(new.scenario, remedy) == "it is set already"
    before, after = (simulate(one, seed=5).simulation.groups for one in (floor, new.scenario))

    def delay_s(groups: Any, name: str) -> float:
        return float(groups[name]["download"]["packet_delay_s"].mean)

    assert delay_s(after, "badly") < 0.5 * delay_s(before, "badly")
    assert delay_s(after, "well") < 1.1 * delay_s(before, "well")


def test_limits_of_cells_are_scaled_and_told_by_cell(floor: Scenario) -> None:
    new, remedy, base = remedied(floor, "larger-buffer")
    assert dict(new.changes) == {"cells.bad.ap.queue.limit": 4_000}
    lines = lines_for(remedy, new, base).by_tool
    assert lines == {"tc of bad": ["tc qdisc replace dev wlan0 root pfifo limit 4000"]}


@pytest.mark.parametrize("cell", ["good", "bad"])
def test_a_saturated_source_and_early_detection_are_refused_in_any_cell(
    cell: str, floor: Scenario
) -> None:
    written: dict[str, Any] = floor.written
    packets = {"kind": "udp", "packet": "1500 B", "rate": "saturated"}
    written["stations"] = [
        {"name": group["name"], "count": 1, "cell": group["cell"]} for group in written["stations"]
    ]
    written["flows"] = [
        {"stations": name, "direction": "download", "application": packets}
        for name in ("well", "badly")
    ]
    floor.rewritten(written)
    written["cells"][cell]["ap"] = {"queue": {"discipline": "red"}}
    with pytest.raises(ScenarioError, match="a queue without early detection"):
        floor.rewritten(written)

"""Results of several cells: each one's share of its isolated goodput, the causes, the text."""

from __future__ import annotations

import itertools
from dataclasses import replace
from statistics import fmean
from typing import Any

import airtcp
import pytest
from airtcp.amounts import percent
from airtcp.difference import diff
from airtcp.messages.diff import separated
from airtcp.present.cautions import cautions
from airtcp.present.cells import airtime_parts, by_cell_of_both, known_share, sentences
from airtcp.present.sense import extent, sanity
from airtcp.results import SimulationResult
from airtcp.results.cells import cells
from airtcp.run.simulate import simulate
from airtcp.scenario import Scenario, loads
from airtcp.stats import Interval
from airtcp.web.timeline import timeline
from bases import short_example
from wing import with_papers


def example(name: str, **changes: Any) -> Scenario:
    """An example of cells, with short runs."""
    return short_example(name, "4 s", 2, **changes)


@pytest.fixture(scope="module")
def row() -> SimulationResult:
    return simulate(example("three-cells"), threads=1)


def test_goodputs_of_cells_add_up_and_airtime_is_conserved(row: SimulationResult) -> None:
    cells = row.simulation.cells
    goodputs = [one.goodput_bps.mean or 0.0 for one in cells.values()]
    assert sum(goodputs) == pytest.approx(row.metrics["goodput_bps"].mean)
    for one in cells.values():
        parts = (one.airtime.own, one.airtime.heard, one.airtime.idle)
        assert min(parts) >= 0.0
        assert sum(parts) == pytest.approx(1.0)
    # A cell that hears only one neighbour defers to no other.
    assert list(cells["left"].waits_for) == ["middle"]
    assert list(cells["middle"].waits_for) == ["left", "right"]


def test_of_many_culprits_those_with_the_most_time_are_named() -> None:
    """A cell in the middle of four that do not hear each other; the first of them sends least."""
    waits = {"north": 0.12, "east": 0.8, "south": 0.6, "west": 0.7}
    names = ("middle", *waits)
    bulk = {"direction": "download", "application": {"kind": "bulk"}}
    of = airtcp.load(
        {
            "phy": {"standard": "802.11a"},
            "cells": {name: {} for name in names},
            "air": {"heard": [["middle", name] for name in waits]},
            "stations": [{"name": f"at-{name}", "count": 1, "cell": name} for name in names],
            "flows": [{"stations": f"at-{name}", **bulk} for name in names],
            "run": {"warmup": "100 ms", "duration": "500 ms", "replications": 2},
        }
    )
    found = simulate(of, threads=1).simulation.cells

    (told,) = sentences(of, found | {"middle": replace(found["middle"], waits_for=waits)})
    assert "east, south, west and 1" in told
    assert told.endswith("do not hear each other.")


def test_the_goodput_of_one_flow_is_told_once_in_a_difference() -> None:
    of = example("three-cells", **{"run.replications": 6})
    found = diff(of, of.vary({"mac.rts_threshold": "0 B"}))

    told = {(row.metric, row.group) for row in separated(found)}
    assert ("goodput_bps", "reader") in told
    assert ("flow_goodput_bps", "reader") not in told
    # With three flows the mean per flow differs from the sum.
    assert {("goodput_bps", None), ("flow_goodput_bps", None)} <= told


def test_of_hidden_uploads_one_loses_nearly_all_without_rts() -> None:
    """Without RTS, the weaker station's mean share of both uploads is small."""
    of = example("hidden-uploads", **{"run.replications": 4, "run.duration": "20 s"})

    def weaker(of: Scenario) -> float:
        runs = simulate(of, threads=1).simulation.runs
        goodputs = [[flow["goodput_bps"] for flow in run.answer["flows"]] for run in runs]
        return fmean(min(each) / sum(each) for each in goodputs)

    assert weaker(of) < 0.05
    assert weaker(of.vary({"mac.rts_threshold": "0 B"})) > 0.25


def test_what_begins_at_once_is_not_laid_to_stations_that_are_not_heard() -> None:
    """Half of all frames of twenty uploads collide; the only hidden station hardly transmits."""
    of = loads(
        """
        phy = { standard = "802.11a" }
        stations = [{ name = "hall", count = 20 }, { name = "cellar", count = 1, hears = [] }]
        run = { warmup = "100 ms", duration = "1 s", replications = 2 }
        [[flows]]
        stations = "hall"
        direction = "upload"
        application = { kind = "udp", packet = "1500 B", rate = "saturated" }
        [[flows]]
        stations = "cellar"
        direction = "download"
        application = { kind = "udp", packet = "1000 B", rate = "100 kb/s" }
        """
    )
    result = airtcp.simulate(of, threads=1)

    (one,) = result.simulation.cells.values()
    assert one.failures.same_slot > 0.4
    assert 0.0 < one.failures.hidden < 0.01
    assert (one.worst_hidden or 0.0) < 0.05
    assert sentences(of, result.simulation.cells) == []
    # The hidden collisions of all stations add up to those of the cell.
    for run in result.simulation.runs:
        of_stations = sum(node["hidden"] for node in run.answer["stations"])
        assert of_stations == run.answer["cells"][0]["failures"]["hidden"]


def test_time_in_which_others_send_is_not_told_as_idle(row: SimulationResult) -> None:
    """The middle cell hears both others; the time it senses their frames is a separate part."""
    parts = airtime_parts(row.simulation)
    airtimes = [each.airtime for each in row.simulation.cells.values()]
    assert sum(parts.values()) == pytest.approx(1.0)
    assert parts["heard"] == pytest.approx(fmean(one.heard for one in airtimes))
    assert parts["heard"] > 0.2
    assert parts["idle"] == pytest.approx(fmean(one.idle for one in airtimes))
    told = dict(sanity(row))
    assert f"other cells' frames {percent(parts['heard'])}, idle" in told["airtime"]
    middle = row.simulation.cells["middle"].failures
    assert f"middle {percent(middle.same_slot)} in the same slot" in told["lost"]
    # A simulation slower than real time shows its fraction, never "0".
    slow = extent(replace(row.simulation, simulated_s=1.5, wall_s=5.0))
    assert "(0.3 simulated seconds" in slow
    # A single cell has no frames of other cells.
    hidden = simulate(example("hidden-uploads", **{"run.replications": 1}), threads=1)
    assert airtime_parts(hidden.simulation) == hidden.simulation.airtime
    (one,) = (each.failures for each in hidden.simulation.cells.values())
    lost = f"{percent(one.same_slot)} in the same slot, {percent(one.hidden)} by hidden stations"
    assert dict(sanity(hidden))["lost"] == lost


#: A download in each of two cells.
TWO = """
phy = { standard = "802.11a" }
cells = { a = {}, b = {} }
air = { heard = [["a", "b"]] }
stations = [{ name = "x", count = 1, cell = "a" }, { name = "y", count = 1, cell = "b" }]
flows = [
  { stations = "x", direction = "download", application = { kind = "bulk" } },
  { stations = "y", direction = "download", application = { kind = "bulk" } },
]
"""


AIR = {"own": 0.5, "heard": 0.25, "idle": 0.25}


def counted(attempts: int, same_slot: int, hidden: int, neighbour: int) -> dict[str, Any]:
    """Return core counters of a cell with 1 Mb/s that defers to the other cell."""
    failures = {"same_slot": same_slot, "hidden": hidden, "neighbour": neighbour}
    found = {"attempts": attempts, "failures": failures, "waits_for": [[1, 0.25]]}
    return found | {"goodput_bps": 1e6, "airtime": AIR}


def test_failures_are_shares_of_all_transmissions() -> None:
    """Two replications of 10 and 30 transmissions: 1 + 2 of 40 failed in the same slot."""
    nodes = [{"name": "a", "attempts": 9, "hidden": 0},
             {"name": "x/0", "attempts": 4, "hidden": 1}]  # fmt: skip
    each = (counted(10, 1, 0, 2), counted(30, 2, 3, 0))
    answers = [{"cells": [one, one], "stations": nodes} for one in each]

    found = cells(loads(TWO), answers, 0.95, {"a": [2e6, 4e6]})

    failures = found["a"].failures
    parts = (failures.same_slot, failures.hidden, failures.neighbour, failures.total)
    assert parts == pytest.approx((3 / 40, 3 / 40, 2 / 40, 8 / 40))
    assert (found["a"].worst_hidden, found["a"].waits_for) == (0.25, {"b": 0.25})
    # 1 of 2 and 1 of 4 Mb/s, together 2 of 6.
    assert found["a"].share_of_alone.mean == pytest.approx(2 / 6)
    assert found["b"].share_of_alone is None


@pytest.mark.parametrize(
    ("mean", "low", "high", "told"),
    [
        (0.48, 0.14, 0.82, "14 % to 82 %"),
        (0.3, -0.1, 0.7, "0 % to 70 %"),
        (0.93, 0.92, 0.94, "93 %"),
        (0.93, None, None, "93 %"),
    ],
)
def test_a_share_that_is_hardly_known_is_told_by_both_ends(mean, low, high, told):
    assert known_share(Interval(mean, low, high, 5)) == told


@pytest.mark.parametrize(
    ("alone", "share"),
    [
        # An undisturbed cell: exactly its isolated goodput, or more or less by chance.
        ([1e6, 1e6, 1e6], (1.0, 1.0, 1.0)),
        ([0.9e6, 1.0e6, 1.05e6], (1.0, pytest.approx(0.82, abs=0.01), 1.0)),
        # 66 times its goodput alone: the windows are too short for a ratio.
        ([15e3, 15e3, 15e3], None),
        # One replication has no spread.
        ([0.9e6], (1.0, None, None)),
        ([15e3], None),
    ],
)
def test_no_cell_gets_more_than_it_has_alone(alone, share):
    answers = [{"cells": [counted(0, 0, 0, 0)] * 2, "stations": []}] * len(alone)

    found = cells(loads(TWO), answers, 0.95, {"a": alone})["a"].share_of_alone

    assert (None if found is None else (found.mean, found.low, found.high)) == share


def test_a_difference_tells_what_a_channel_changes() -> None:
    a = example("three-cells", **{"run.replications": 3})
    channels = {"left": 36, "middle": 40, "right": 44}
    b = a.vary({f"cells.{name}.channel": number for name, number in channels.items()})

    found = diff(a, b, threads=1)

    change = found.cells["middle"]["goodput_bps"]
    assert change.separated
    assert change.difference.mean > 15e6
    assert set(found.to_dict()["cells"]) == set(channels)
    table = by_cell_of_both(found.a.simulation, found.b.simulation)
    name, share, _, heard, *_ = table.rows[1]
    assert name == "middle"
    assert share.endswith("% → 100 %")
    assert heard.endswith(" → 0 %")


@with_papers
def test_the_chain_of_clusters_says_who_starves() -> None:
    """The simulation has 23.1, 1.2 and 23.1 Mb/s."""
    best = airtcp.predict(example("three-cells"), glance=False).best("cell_goodput_bps")

    assert isinstance(best.value, list)
    left, middle, right = best.value
    assert left == right == pytest.approx(23.1e6, rel=0.05)
    assert middle < 0.1 * left
    assert any("cells starve (middle)" in sentence for sentence in best.broken)


def test_the_timeline_tells_who_hears_a_frame() -> None:
    shown = timeline(example("three-cells"), 1.0, 0.05)

    names = shown["nodes"]
    frames = [
        (names[one["node"]], {names[ear] for ear in one["heard"] + one["lost"]})
        for one in shown["frames"]
    ]
    ears: dict[str, set[str]] = {}
    for sender, heard in frames:
        ears.setdefault(sender, set()).update(heard)
    assert ears["left"] == {"middle", "guest/0", "reader/0"}
    assert ears["right"] == {"middle", "guest/0", "clerk/0"}
    # When both send, the middle receives the first frame and senses a busy medium in both.
    found = [one for one in shown["frames"] if names[one["node"]] in ("left", "right")]
    middle = names.index("middle")
    assert any(middle in one["sensed"] for one in found)
    assert all(middle in one["heard"] + one["lost"] + one["sensed"] for one in found)
    assert not any(
        {"left", "right"} <= {names[one["node"]], *(names[ear] for ear in one["sensed"])}
        for one in found
    )
    # Left and right do not hear each other, so they send at once; a response follows a SIFS later.
    assert shown["gaps"] == []
    assert any(
        one["begin"] < other["begin"] < one["end"]
        for one, other in itertools.pairwise(shown["frames"])
    )


@pytest.mark.parametrize(
    ("standard", "preset", "rules"),
    [
        ("802.11a", "standard", ""),
        ("802.11a", "ns-2", 'after_collision = "eifs+difs", colliders = "as-heard"'),
        ("802.11a", "ns-3", ""),
        ("802.11n", "ns-3", 'txop_protection = "multiple+cf-end"'),
    ],
)
def test_rules_of_a_preset_that_cells_do_not_have_are_told(standard, preset, rules):
    changes = {"phy.standard": standard, "mac.rules.preset": preset}
    short = {"run.warmup": "10 ms", "run.duration": "50 ms", "run.replications": 2}
    result = airtcp.simulate(example("three-cells").vary(changes | short))

    told = [one for one in cautions(result) if one.startswith("several cells")]
    assert [one.split(": ", 1)[1].split(" of the preset")[0] for one in told] == (
        [rules] if rules else []
    )

"""Goodputs of cells, which are the sums of their groups' goodputs."""

from __future__ import annotations

import math

import pytest
from airtcp.difference import diff
from airtcp.results import SimulationResult
from airtcp.run.simulate import simulate
from airtcp.scenario import Scenario, loads
from airtcp.stats import student_interval

FLOW = """
[[flows]]
stations = "{}"
direction = "{}"
application = {{ {} }}
"""
BULK = 'kind = "bulk"'
PAGES = 'kind = "web", size = "{} kB", think_time = "2 s"'


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    """Two cells that hear each other: one of readers, one of readers and a backup."""
    text = """
        run = { duration = "20 s", replications = 8 }
        phy = { standard = "802.11n", mcs = 7 }
        air = { heard = [["hall", "lab"]] }
        cells = { hall = {}, lab = {} }
        stations = [
          { name = "reader", cell = "hall", count = 8 },
          { name = "desk", cell = "lab", count = 4 },
          { name = "server", cell = "lab", count = 1 },
        ]
    """
    text += FLOW.format("reader", "download", PAGES.format(200))
    text += FLOW.format("desk", "download", PAGES.format(100))
    return loads(text + FLOW.format("server", "upload", BULK))


@pytest.fixture(scope="module")
def result(scenario: Scenario) -> SimulationResult:
    """Simulate the scenario once."""
    return simulate(scenario)


def test_a_cell_of_one_group_is_told_as_that(result: SimulationResult) -> None:
    told = result.simulation.cells["hall"].goodput_bps
    assert told == result.simulation.groups["reader"]["all"]["goodput_bps"]
    of_means = [run.answer["cells"][0]["goodput_bps"] for run in result.simulation.runs]
    assert told != student_interval(of_means)


def test_goodputs_of_groups_add_up_to_that_of_their_cell(result: SimulationResult) -> None:
    groups = result.simulation.groups
    own = [groups[name]["all"]["goodput_bps"] for name in ("desk", "server")]
    told = result.simulation.cells["lab"].goodput_bps
    assert told.mean == pytest.approx(math.fsum(one.mean or 0.0 for one in own))
    assert told.half_width <= math.fsum(one.half_width or 0.0 for one in own) * (1.0 + 1e-9)


def test_a_difference_tells_a_cell_as_a_run_does(scenario: Scenario) -> None:
    found = diff(scenario, scenario.vary({"phy.mcs": 5}))
    for name, changes in found.cells.items():
        told = [each.simulation.cells[name].goodput_bps for each in (found.a, found.b)]
        assert [changes["goodput_bps"].a, changes["goodput_bps"].b] == told


def test_the_goodput_of_a_cell_drifts_as_those_of_its_groups() -> None:
    text = """
        run = { duration = "2 s", warmup = "100 ms", replications = 6 }
        phy = { standard = "802.11n", mcs = 7 }
        air = { heard = [["hall", "lab"]] }
        cells = { hall = {}, lab = {} }
        stations = [
          { name = "near", cell = "hall", count = 1 },
          { name = "far", cell = "hall", count = 1 },
          { name = "call", cell = "lab", count = 1, traffic = ["call"] },
        ]
    """
    for name, delay_ms in (("near", 100), ("far", 150)):
        text += FLOW.format(name, "download", BULK) + 'tcp = { receive_window = "1 MiB" }\n'
        text += f'path = [{{ delay = "{delay_ms} ms", rate = "1 Gb/s" }}]\n'
    simulation = simulate(loads(text)).simulation
    told = simulation.cells["hall"].goodput_bps
    by_chance = student_interval([run.answer["cells"][0]["goodput_bps"] for run in simulation.runs])
    assert told.mean == by_chance.mean
    assert told.high is None or told.high > by_chance.mean + 2.0 * by_chance.half_width


def test_a_cell_on_another_channel_moves_no_interval() -> None:
    """With this seed round trips of the other cell drift, and those of this cell do not."""

    def group(name: str, cell: str, direction: str) -> str:
        stations = f'[[stations]]\nname = "{name}"\ncount = 3\ncell = "{cell}"\n'
        return stations + FLOW.format(name, direction, BULK)

    text = 'run = { warmup = "5 s", duration = "5 s", replications = 3 }\n'
    text += 'phy = { standard = "802.11a" }\n[cells.a]\nchannel = 36\n'
    text += group("down", "a", "download") + group("up", "a", "upload")
    other = "[cells.b]\nchannel = 149\n" + group("other", "b", "download")
    one, two = (simulate(loads(each), seed=9).simulation for each in (text, text + other))
    assert one._drift.seen_of is None
    assert two._drift.seen_of is not None
    for whose in ("down", "up"):
        for part, metrics in one.groups[whose].items():
            for name in metrics if part != "airtime" else ():
                assert one.values(name, whose, part) == two.values(name, whose, part)
        assert two.groups[whose] == one.groups[whose]


def test_the_goodput_of_a_cell_is_within_the_rates_of_its_stations() -> None:
    """A job of 300 kB in runs of 50 ms: some replications see much of it, others hardly any."""
    text = """
        run = { warmup = "0 s", duration = "50 ms", replications = 3 }
        phy = { standard = "802.11g" }
        cells = { a = { channel = 1 }, b = { channel = 11 } }
        stations = [
            { name = "fast", count = 1, cell = "a" },
            { name = "slow", count = 1, cell = "b", data_rate = "6 Mb/s" },
        ]
    """
    start = 'start = { distribution = "exponential", mean = "40 ms" }'
    text += FLOW.format("fast", "download", BULK)
    text += FLOW.format("slow", "download", f'{BULK}, size = "300 kB", {start}')
    cells = simulate(loads(text)).simulation.cells
    for name, most_bps in (("a", 54e6), ("b", 6e6)):
        goodput = cells[name].goodput_bps
        assert goodput.mean <= goodput.high <= most_bps

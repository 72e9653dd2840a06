"""Varying a scenario by key paths, with the names and units of its file."""

from pathlib import Path

import pytest
from airtcp import load
from airtcp.exceptions import ScenarioError
from airtcp.scenario import Scenario
from airtcp.scenario.vary import key_paths, varied
from bases import refused

VALID = Path(__file__).parents[1] / "scenarios" / "valid"

TEXT = """
phy = { standard = "802.11b" }
links = { wire = { rate = "10 Mb/s" } }
run = { precision = "5 %" }
stations = [{ name = "near", count = 3 }, { name = "far", count = 2 }]
title = "Two flows of one group, one of another"
[[flows]]
name = "up"
stations = "near"
direction = "upload"
application = { kind = "bulk" }
path = ["wire", { delay = "40 ms" }]
[[flows]]
stations = "near"
direction = "download"
application = { kind = "bulk", size = "30 kB" }
[[flows]]
stations = "far"
direction = "upload"
application = { kind = "bulk" }
tcp = { receive_window = "64 KiB", mss = "1000 B" }
"""


@pytest.fixture
def scenario() -> Scenario:
    return load(TEXT)


def test_groups_and_flows_go_by_their_names(scenario: Scenario) -> None:
    of_wires = {"links.wire.rate": "2 Mb/s", "flows.up.path.1.delay": "1 ms"}
    of_far = {"stations.far.count": 40, "flows.far.tcp.receive_window.segments": 4}
    others = {"flows.up.tcp.mss": "536 B", "mac.rules": {"preset": "ns-3"}, "title": None}
    changed = scenario.vary(of_wires | of_far | others)
    assert changed.title == "scenario"
    assert [group.count for group in changed.stations] == [3, 40]
    up, _, far = changed.flows
    assert (up.tcp.mss_bytes, far.tcp.receive_window_bytes) == (536, 4000)
    assert [link.delay_ns for link in changed.path_links(up)] == [0, 1_000_000]
    assert changed.links["wire"].rate_bps == 2_000_000
    assert changed.mac.rules.preset == "ns-3"
    # The first scenario is unchanged.
    assert scenario == load(TEXT)
    again = changed.vary(
        {"flows.far.tcp": None, "flows.up.path.0": {"rate": "1 Gb/s"}, "flows.up.path.1": "wire"}
    )
    assert again.flows[2].tcp == scenario.flows[0].tcp
    assert [link.rate_bps for link in again.path_links(again.flows[0])] == [10**9, 2_000_000]


def test_the_stations_of_edca_are_a_table() -> None:
    data = {"mac": {"edca": {"stations": {"AC_BE": {"cw_min": 31}}}}, "stations": []}
    changed = varied(data, {"mac.edca.stations.AC_BE.cw_min": 7})
    assert changed["mac"]["edca"]["stations"] == {"AC_BE": {"cw_min": 7}}
    # The same holds if the table did not exist.
    assert varied({}, {"mac.edca.stations.AC_BE.cw_min": 7})["mac"] == changed["mac"]


def test_a_change_is_one_of_the_file(scenario: Scenario) -> None:
    """Varied twice, at once, or in the text: the same scenario."""
    once = scenario.vary({"stations.near.count": 9, "run.seed": 7})
    twice = scenario.vary({"stations.near.count": 9}).vary({"run.seed": 7})
    text = TEXT.replace("count = 3", "count = 9").replace('5 %" }', '5 %", seed = 7 }')
    assert once == twice == load(text)
    assert once.written == load(text).written


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("stations.count", "is not a key of this scenario; the nearest is stations.far.count"),
        ("stations.near.cuont", "the nearest is stations.near.count"),
        ("stations.nera.count", "the nearest is stations.near.count"),
        ("flows.far.tpc.mss", "the nearest is flows.far.tcp.mss"),
        # Both the name and the key are wrong: the error is about the key.
        ("flows.laptop.dscp", "not modelled for single flows"),
        ("stations.laptop.min_rate", "control_rate of [phy]"),
        ("flows.laptop.path", "the nearest is flows."),
        ("flows.up.path.2.delay", "the nearest is flows.up.path.1.delay"),
        ("flows.near.tcp.mss", '2 flows have the stations "near"; allowed: a flow\'s own name'),
        ("", "is not a key of this scenario"),
        ("flows..tcp", "is not a key of this scenario"),
    ],
)
def test_a_path_that_leads_nowhere_names_the_nearest(
    scenario: Scenario, path: str, message: str
) -> None:
    with pytest.raises(ScenarioError) as caught:
        scenario.vary({path: 1})
    assert message in str(caught.value)
    assert caught.value.key == path


def test_a_wrong_value_is_refused_as_in_a_file(scenario: Scenario) -> None:
    with pytest.raises(ScenarioError, match=r"\(up\)\.tcp\.mss: 536"):
        scenario.vary({"flows.up.tcp.mss": 536})
    with refused("scenario.queue.empty_link", at="links.wire"):
        scenario.vary({"links.wire": {}})


def test_every_key_of_a_file_is_one_of_its_paths() -> None:
    """Each path may be set to its current value."""
    data = load(VALID / "every_key.toml").written
    paths = key_paths(data)
    assert len(paths) == len(set(paths)) > 300
    for path in ("phy.slot_time", "mac.edca.ap.AC_VO.aifs", "stations.laptop.queue.limit"):
        assert path in paths
    for table, value in data.items():
        assert varied(data, {table: value}) == data
        if isinstance(value, dict):
            for key, content in value.items():
                assert varied(data, {f"{table}.{key}": content}) == data


def test_a_scenario_is_loaded_from_a_file_a_text_or_tables() -> None:
    file = VALID / "minimal.toml"
    text = file.read_text(encoding="utf-8")
    scenarios = [load(file), load(str(file)), load(text), load(load(file).written)]
    assert [scenario.title for scenario in scenarios] == ["minimal", "minimal", *["scenario"] * 2]
    titled = [scenario.vary({"title": "one"}) for scenario in scenarios]
    assert all(scenario == titled[0] for scenario in titled)


def test_what_was_read_from_its_resolved_form_cannot_be_varied(scenario: Scenario) -> None:
    read = Scenario.from_json(scenario.to_json())
    run = scenario.with_run(seed=7, replications=3, warmup_ns=0, duration_ns=10**9)
    assert run.vary({}) == run
    # Forms are equal if their contents are equal.
    assert read == scenario
    assert read != scenario.vary({"run.seed": 2})
    assert read.with_run(seed=3) == scenario.with_run(seed=3)
    with refused("scenario.file.no_written_form"):
        read.vary({"run.seed": 2})

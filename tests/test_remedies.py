"""Remedies: the keys that they change. test_remedies_lines tests how equipment applies them."""

from __future__ import annotations

from typing import Any, get_args

import airtcp
import pytest
from airtcp.remedies import Changed, Cost, Remedy, catalogue, changed, named, together
from airtcp.remedies.apply import lines_for
from airtcp.run.simulate import simulate
from airtcp.scenario import Scenario, loads
from bases import refused
from cells_of_remedies import (
    AGED,
    AGGREGATES,
    DOWNLOAD,
    FAR,
    MIXED,
    OFDM,
    PLAIN,
    UPLOAD,
    applied,
    cell,
    remedy,
)


@pytest.mark.parametrize("name", ["client-fq-codel", "small-queue"])
def test_queues_of_stations_are_left_alone_where_nothing_goes_up(name: str) -> None:
    """Packets of downloads queue at the access point, and ACKs do not fill a station's queue."""
    assert changed(cell("802.11ax", DOWNLOAD), remedy(name)) == "there are no uploads"
    assert isinstance(changed(cell("802.11ax", UPLOAD), remedy(name)), Changed)


@pytest.mark.parametrize("direction", ["download", "both"])
def test_a_call_goes_by_the_name_of_its_entry_in_every_remedy(direction: str) -> None:
    call = {"stations": "laptop", "direction": direction, "application": {"kind": "call"}}
    scenario = cell("802.11g", call, UPLOAD)

    assert [one["name"] for one in scenario.written["flows"]] == ["laptop", "laptop-2"]
    parts = [(name, [flow.name for flow in flows]) for name, flows in scenario.flow_entries]
    ways = [""] if direction == "download" else ["-down", "-up"]
    speech_and_video = [f"laptop-{part}{way}" for part in ("speech", "video") for way in ways]
    assert parts == [("laptop", speech_and_video), ("laptop-2", ["laptop-2"])]
    for one in catalogue():
        new = changed(scenario, one)
        video = 0 if one.name == "no-video" else len(ways)
        flows = len(scenario.flows) - len(ways) + video
        assert isinstance(new, str) or len(new.scenario.flows) == flows


NAMES = [one.name for one in catalogue()]


def test_each_has_a_cost_and_research_is_what_no_equipment_has() -> None:
    assert {one.cost for one in catalogue()} == set(get_args(Cost))
    assert all((one.cost == "research") == one.research for one in catalogue())
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_remedy_changes_what_it_says_and_only_once(name: str) -> None:
    """Each remedy fits some cell; applied a second time, it is already set."""
    new, one = applied(name), remedy(name)

    assert new.changes
    assert all((one.title, one.source, one.where))
    if one.set or one.least:
        assert changed(new.scenario, one) in (
            "it is set already",
            "no station is slower",
            "no link has a loss",
            "the scenario has no phy.protection",
        )


DATAGRAMS = DOWNLOAD | {"application": {"kind": "udp", "packet": "1500 B"}}
MEDIUM, WIDEST = (cell("802.11ac", phy={"channel_width": f"{mhz} MHz"}) for mhz in (80, 160))
OPENWRT = cell("802.11ac", DOWNLOAD, ap={"profile": "openwrt"})
FOUR = {"flows.laptop.tcp.receive_window": {"segments": 4}}
CUBIC = dict.fromkeys(("flows.laptop.tcp.congestion", "flows.laptop-2.tcp.congestion"), "cubic")


@pytest.mark.parametrize(
    ("name", "scenario", "changes"),
    [
        # small-window changes only downloads; wider-channel needs 802.11n or later, and goes one
        # step.
        ("small-window", OFDM, FOUR),
        ("wider-channel", OFDM, "802.11a does not support it"),
        ("wider-channel", AGGREGATES, {"phy.channel_width": "40 MHz"}),
        ("wider-channel", WIDEST, "there is no wider channel"),
        ("four-times-width", AGGREGATES, {"phy.channel_width": "80 MHz"}),
        ("four-times-width", MEDIUM, "there is no wider channel"),
        ("narrower-channel", AGGREGATES, "there is no narrower channel"),
        # The openwrt profile has both: airtime fairness with its own quantum, and AQL.
        ("airtime", OPENWRT, "it is set already"),
        ("aql", OPENWRT, "it is set already"),
        ("narrower-channel", MEDIUM, {"phy.channel_width": "40 MHz"}),
        ("cubic", cell("802.11a", UPLOAD), "there are no downloads"),
        ("cubic", cell("802.11a", DOWNLOAD, DOWNLOAD), CUBIC),
        ("ack-skip", cell("802.11a", DATAGRAMS), "there are no flows with TCP"),
        # 1 Mb/s becomes the next OFDM rate above it.
        ("no-dsss", MIXED, {"stations.old.data_rate": "6 Mb/s"}),
        ("no-dsss", PLAIN, "802.11b does not support it"),
        ("least-mcs", FAR, {"stations.laptop.mcs": 4}),
        ("least-mcs", AGGREGATES, "no station is slower"),
        ("new-clients", AGED, {"stations.laptop.standard": None}),
    ],
)
def test_a_remedy_changes_keys_of_those_who_can_have_it(name, scenario, changes):
    new = changed(scenario, remedy(name))
    assert (new if isinstance(new, str) else new.changes) == changes


def test_protection_that_is_written_goes_with_the_rates_of_802_11b() -> None:
    without = applied("no-dsss", named(MIXED.vary({"phy.protection": "rts-cts"})))
    assert without.changes["phy.protection"] == "none"
    assert without.scenario.phy.protection is None


def test_acknowledgments_of_other_kinds_can_be_tried_where_flows_say_how_they_delay_acks() -> None:
    tack, skip = (applied(name, PLAIN).scenario.flows[0].tcp for name in ("tack", "ack-skip"))
    assert (tack.tack is None, skip.ack_skip is None) == (False, False)


def test_new_clients_have_the_standard_of_the_access_point_at_the_same_mcs() -> None:
    new = applied("new-clients", AGED)
    (before,), (after,) = AGED.stations, new.scenario.stations
    assert (before.pair is None, after.pair is None) == (False, True)
    # The access point's 80 MHz replaces the 40 MHz of 802.11n.
    assert (before.data_rate.high.mcs, before.data_rate.high.channel_width_mhz) == (3, 40)
    assert (after.data_rate.high.mcs, after.data_rate.high.channel_width_mhz) == (3, 80)


def test_two_remedies_go_together_unless_they_are_of_one_key() -> None:
    pair = together(PLAIN, [remedy("delayed-ack"), remedy("short-preamble")])
    assert isinstance(pair, Changed)
    assert set(pair.changes) == {"flows.laptop.tcp.delayed_ack", "phy.preamble"}
    for names in (("delayed-ack", "ack-thresholds"), ("small-window", "window-8")):
        assert together(PLAIN, [*map(remedy, names)]) == "they change the same keys"


def test_a_remedy_that_is_none_is_refused() -> None:
    with refused("plan.capacity.not_a_remedy"):
        airtcp.plan(PLAIN, vary="stations", until="goodput < 1 Mb/s", remedies=["prayer"])


@pytest.mark.parametrize("more", [{"connections": 3}, {"direction": "both"}])
def test_an_entry_that_stands_for_several_flows_is_changed_once(more: dict[str, Any]) -> None:
    """Its flows have generated names, which are not paths in the file."""
    base = cell("802.11g", DOWNLOAD | more, UPLOAD)
    new = changed(base, remedy("large-window"))
    # The flows of an entry have unique names.
    assert len({flow.name for flow in base.flows}) == len(base.flows)

    assert isinstance(new, Changed)
    assert list(new.changes) == ["flows.laptop.tcp.receive_window"]
    (_, mine), (_, upload) = new.scenario.flow_entries
    assert len(mine) > 1
    assert {flow.tcp.receive_window_bytes for flow in mine if flow.tcp} == {4 * 2**20}
    assert upload == base.flow_entries[1][1]


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
    """Both cells get the remedy's queue; only calls of the bad cell had long delays."""
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


def test_half_of_a_line_is_half_of_both_of_its_rates() -> None:
    line = {"rate": "50 Mb/s", "up_rate": "10 Mb/s"}
    scenario = cell("802.11ac", {**DOWNLOAD, "path": ["line"]}, links={"line": line})
    new = changed(scenario, remedy("second-access-point"))

    assert isinstance(new, Changed)
    rates = {path: value for path, value in new.changes.items() if path.startswith("links")}
    assert rates == {"links.line.rate": "25 Mb/s", "links.line.up_rate": "5 Mb/s"}


@pytest.mark.parametrize(
    ("queue", "limit"),
    [
        # The default queue of an access point without a profile is 1,000 packets.
        ({}, 250),
        ({"limit": 40}, 10),
        ({"limit": "unlimited"}, None),
        ({"discipline": "fq-codel"}, None),
    ],
)
def test_a_quarter_of_a_limit_is_of_the_limit_that_is_simulated(
    queue: dict[str, Any], limit: int | None
) -> None:
    scenario = cell("802.11ac", DOWNLOAD)
    if queue:
        scenario = scenario.vary({f"ap.queue.{key}": value for key, value in queue.items()})
    new = changed(scenario, remedy("smaller-buffer"))
    told = new if isinstance(new, str) else dict(new.changes)
    assert told == ("there is no limit" if limit is None else {"ap.queue.limit": limit})


@pytest.mark.parametrize("cell", ["good", "bad"])
def test_a_saturated_source_and_early_detection_are_refused_in_any_cell(cell, floor):
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
    with refused("scenario.traffic.saturated_red"):
        floor.rewritten(written)

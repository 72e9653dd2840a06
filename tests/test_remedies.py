"""Remedies: what they change; how equipment applies them is in `test_remedies_lines`."""

from typing import Any, get_args

import airtcp
import pytest
from airtcp.exceptions import QuestionError
from airtcp.remedies import Changed, Cost, catalogue, changed, named, together
from airtcp.scenario import Scenario
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


def test_queues_of_stations_are_left_alone_where_nothing_goes_up() -> None:
    """Packets of downloads wait at the access point, and ACKs do not fill a queue."""
    known = {remedy.name: remedy for remedy in catalogue()}
    for name in ("client-fq-codel", "small-queue"):
        assert changed(cell("802.11ax", DOWNLOAD), known[name]) == "there are no uploads"
        assert isinstance(changed(cell("802.11ax", UPLOAD), known[name]), Changed)


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


def test_each_says_what_it_takes() -> None:
    """One of the costs that the type names; research exactly where no equipment has it."""
    for one in catalogue():
        assert one.cost in get_args(Cost), one.name
        assert (one.cost == "research") == one.research, one.name
    assert {one.cost for one in catalogue()} == set(get_args(Cost))
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_remedy_changes_what_it_says_and_only_once(name: str) -> None:
    """Each fits some cell; where a value was set it then is so already."""
    new = applied(name)

    assert new.changes
    assert remedy(name).title
    assert remedy(name).source
    assert remedy(name).where
    if remedy(name).set or remedy(name).least:
        again = changed(new.scenario, remedy(name))
        assert isinstance(again, str)
        assert again in (
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
        # Windows of downloads alone; a wider channel in 802.11n and later; the next one, not the
        # widest.
        ("small-window", OFDM, FOUR),
        ("wider-channel", OFDM, "802.11a does not support it"),
        ("wider-channel", AGGREGATES, {"phy.channel_width": "40 MHz"}),
        ("wider-channel", WIDEST, "there is no wider channel"),
        ("four-times-width", AGGREGATES, {"phy.channel_width": "80 MHz"}),
        ("four-times-width", MEDIUM, "there is no wider channel"),
        ("narrower-channel", AGGREGATES, "there is no narrower channel"),
        # OpenWrt has both, with a quantum of its own.
        ("airtime", OPENWRT, "it is set already"),
        ("aql", OPENWRT, "it is set already"),
        ("narrower-channel", MEDIUM, {"phy.channel_width": "40 MHz"}),
        ("cubic", cell("802.11a", UPLOAD), "there are no downloads"),
        ("cubic", cell("802.11a", DOWNLOAD, DOWNLOAD), CUBIC),
        ("ack-skip", cell("802.11a", DATAGRAMS), "there are no flows with TCP"),
        # 1 Mb/s becomes the least OFDM rate that is no less.
        ("no-dsss", MIXED, {"stations.old.data_rate": "6 Mb/s"}),
        ("no-dsss", PLAIN, "802.11b does not support it"),
        ("least-mcs", FAR, {"stations.laptop.mcs": 4}),
        ("least-mcs", AGGREGATES, "no station is slower"),
        ("new-clients", AGED, {"stations.laptop.standard": None}),
    ],
)
def test_a_remedy_changes_keys_of_those_who_can_have_it(
    name: str, scenario: Scenario, changes: dict[str, Any] | str
) -> None:
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
    # The access point's 80 MHz in place of the 40 MHz of 802.11n.
    assert (before.data_rate.high.mcs, before.data_rate.high.channel_width_mhz) == (3, 40)
    assert (after.data_rate.high.mcs, after.data_rate.high.channel_width_mhz) == (3, 80)


def test_two_remedies_go_together_unless_they_are_of_one_key() -> None:
    pair = together(PLAIN, [remedy("delayed-ack"), remedy("short-preamble")])
    assert isinstance(pair, Changed)
    assert set(pair.changes) == {"flows.laptop.tcp.delayed_ack", "phy.preamble"}
    for names in (("delayed-ack", "ack-thresholds"), ("small-window", "window-8")):
        assert together(PLAIN, [*map(remedy, names)]) == "they change the same keys"


def test_a_remedy_that_is_none_is_refused() -> None:
    with pytest.raises(QuestionError, match="is not a remedy; allowed: delayed-ack"):
        airtcp.plan(PLAIN, vary="stations", until="goodput < 1 Mb/s", remedies=["prayer"])


@pytest.mark.parametrize("more", [{"connections": 3}, {"direction": "both"}])
def test_an_entry_that_stands_for_several_flows_is_changed_once(more: dict[str, Any]) -> None:
    """Its flows have names of their own, which are no paths of the file."""
    base = cell("802.11g", DOWNLOAD | more, UPLOAD)
    new = changed(base, remedy("large-window"))

    assert isinstance(new, Changed)
    assert list(new.changes) == ["flows.laptop.tcp.receive_window"]
    (_, mine), (_, upload) = new.scenario.flow_entries
    assert len(mine) > 1
    assert {flow.tcp.receive_window_bytes for flow in mine if flow.tcp} == {4 * 2**20}
    assert upload == base.flow_entries[1][1]


def test_flows_without_names_get_such_that_connections_of_another_do_not_have() -> None:
    scenario = cell("802.11g", DOWNLOAD | {"connections": 3}, UPLOAD)

    names = [flow.name for flow in scenario.flows]
    assert names == ["laptop-1", "laptop-2", "laptop-3", "laptop-4"]

"""Remedies: what they change; how equipment applies them is in `test_remedies_lines`."""

from typing import Any, get_args

import airtcp
import pytest
from airtcp.exceptions import QuestionError
from airtcp.remedies import Changed, Cost, catalogue, changed, named, together
from cells_of_remedies import (
    AGED,
    AGGREGATES,
    BURSTS,
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


def test_a_remedy_is_for_those_who_can_have_it() -> None:
    """Windows of downloads alone; a wider channel in 802.11n and later; the next one, not the
    widest."""
    both = cell("802.11a")
    window = applied("small-window", both)
    assert window.changes == {"flows.laptop.tcp.receive_window": {"segments": 4}}
    assert changed(both, remedy("wider-channel")) == "802.11a does not support it"
    assert applied("wider-channel", AGGREGATES).changes == {"phy.channel_width": "40 MHz"}
    widest = cell("802.11ac", phy={"channel_width": "160 MHz"})
    assert changed(widest, remedy("wider-channel")) == "there is no wider channel"
    assert changed(cell("802.11a", UPLOAD), remedy("cubic")) == "there are no downloads"
    datagrams = DOWNLOAD | {"application": {"kind": "udp", "packet": "1500 B"}}
    assert changed(cell("802.11a", datagrams), remedy("ack-skip")) == "there are no flows with TCP"


def test_new_clients_have_the_standard_of_the_access_point_at_the_same_mcs() -> None:
    new = applied("new-clients", AGED)
    assert new.changes == {"stations.laptop.standard": None}
    (before,), (after,) = AGED.stations, new.scenario.stations
    assert (before.pair is None, after.pair is None) == (False, True)
    # The access point's 80 MHz in place of the 40 MHz of 802.11n.
    assert (before.data_rate.high.mcs, before.data_rate.high.channel_width_mhz) == (3, 40)
    assert (after.data_rate.high.mcs, after.data_rate.high.channel_width_mhz) == (3, 80)


def test_a_channel_is_made_wider_or_narrower_by_steps_of_the_standard() -> None:
    paths = {
        name: changed(AGGREGATES, remedy(name))
        for name in ("wider-channel", "four-times-width", "narrower-channel")
    }
    assert isinstance(paths["four-times-width"], Changed)
    assert paths["four-times-width"].changes == {"phy.channel_width": "80 MHz"}
    assert paths["narrower-channel"] == "there is no narrower channel"
    half = applied("narrower-channel", cell("802.11ac", phy={"channel_width": "80 MHz"}))
    assert half.changes == {"phy.channel_width": "40 MHz"}
    wide = cell("802.11ac", phy={"channel_width": "80 MHz"})
    assert changed(wide, remedy("four-times-width")) == "there is no wider channel"


@pytest.mark.parametrize("name", ["queue-100", "codel"])
def test_a_queue_that_is_replaced_keeps_the_ring_of_the_driver(name: str) -> None:
    """`tc` replaces the discipline above the ring, and the ring stays; AQL takes its place."""
    new = applied(name, BURSTS).scenario
    assert BURSTS.ap.queue.mac_limit == 4
    assert new.ap.queue.mac_limit == 4
    assert new.ap.queue != BURSTS.ap.queue
    for takes_it in ("aql", "managed-queue"):
        assert applied(takes_it, BURSTS).scenario.ap.queue.mac_limit is None
    assert applied(name, OFDM).scenario.ap.queue.mac_limit is None


def test_what_is_raised_is_what_is_below() -> None:
    """1 Mb/s becomes the least OFDM rate that is no less; protection that is written goes too."""
    assert applied("no-dsss", MIXED).changes == {"stations.old.data_rate": "6 Mb/s"}
    kept = named(MIXED.vary({"phy.protection": "rts-cts"}))
    without = applied("no-dsss", kept)
    assert without.changes["phy.protection"] == "none"
    assert without.scenario.phy.protection is None
    assert changed(PLAIN, remedy("no-dsss")) == "802.11b does not support it"
    assert applied("least-mcs", FAR).changes == {"stations.laptop.mcs": 4}
    assert changed(AGGREGATES, remedy("least-mcs")) == "no station is slower"


def test_flows_without_names_have_key_paths_all_the_same() -> None:
    scenario = cell("802.11a", DOWNLOAD, DOWNLOAD)

    assert applied("delayed-ack", cell("802.11a", UPLOAD | {"tcp": {"delayed_ack": {"every": 1}}}))
    assert set(applied("cubic", scenario).changes) == {
        "flows.laptop.tcp.congestion",
        "flows.laptop-2.tcp.congestion",
    }


def test_two_remedies_go_together_unless_they_are_of_one_key() -> None:
    pair = together(PLAIN, [remedy("delayed-ack"), remedy("short-preamble")])
    assert isinstance(pair, Changed)
    assert pair.scenario.phy.data_rate == PLAIN.phy.data_rate
    assert set(pair.changes) == {"flows.laptop.tcp.delayed_ack", "phy.preamble"}
    assert together(PLAIN, [remedy("delayed-ack"), remedy("ack-thresholds")]) == (
        "they change the same keys"
    )
    assert together(PLAIN, [remedy("small-window"), remedy("window-8")]) == (
        "they change the same keys"
    )


def test_a_remedy_that_is_none_is_refused() -> None:
    with pytest.raises(QuestionError, match="is not a remedy; allowed: delayed-ack"):
        airtcp.plan(PLAIN, vary="stations", until="goodput < 1 Mb/s", remedies=["prayer"])


@pytest.mark.parametrize("name", ["tack", "ack-skip"])
def test_acknowledgments_of_other_kinds_take_the_place_of_those_that_are(name: str) -> None:
    """And they can be tried where the flows say how they delay ACKs."""
    new = applied(name, PLAIN)
    tcp = new.scenario.flows[0].tcp
    assert tcp is not None
    assert tcp.tack is not None if name == "tack" else tcp.ack_skip is not None


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

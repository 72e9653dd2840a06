"""Remedies: what they change, and how equipment makes them.

Does not know which helps most (`test_remedies_ranked`).
"""

import itertools
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import airtcp
import pytest
from airtcp.exceptions import QuestionError
from airtcp.remedies import Changed, Cost, Remedy, catalogue, changed, named, together
from airtcp.remedies.apply import Lines, lines_for
from airtcp.scenario import Scenario
from children import children

DOWNLOAD = {"stations": "laptop", "direction": "download", "application": {"kind": "bulk"}}
UPLOAD = DOWNLOAD | {"direction": "upload"}


def cell(standard: str, *flows: dict[str, Any], **tables: Any) -> Scenario:
    """A cell of two stations. Without flows: a download and an upload."""
    return named(
        airtcp.load(
            {
                "phy": {"standard": standard} | tables.pop("phy", {}),
                "stations": [{"name": "laptop", "count": 2} | tables.pop("laptop", {})],
                "flows": list(flows) or [DOWNLOAD, UPLOAD],
                "run": {"warmup": "1 s", "duration": "2 s", "replications": 2},
            }
            | tables
        )
    )


PLAIN = cell(
    "802.11b",
    DOWNLOAD | {"tcp": {"delayed_ack": {"every": 1}}},
    laptop={"data_rate": "2 Mb/s"},
    ap={"queue": {"limit": 100}},
    mac={"rts_threshold": "0 B"},
)
OFDM = cell("802.11a", laptop={"data_rate": "6 Mb/s"})
AGGREGATES = cell(
    "802.11ac", DOWNLOAD, phy={"channel_width": "20 MHz"}, mac={"aggregation": {"ampdu": "8 kB"}}
)
OFFICE = cell(
    "802.11n",
    DOWNLOAD | {"path": ["line"]},
    {"stations": "laptop", "direction": "both", "application": {"kind": "call", "profile": "call"}},
    links={"line": {"rate": "10 Mb/s", "delay": "10 ms", "loss": "1 %"}},
    mac={"classify": {"tcp_data": "AC_VI"}},
)
NEIGHBOURS = named(
    airtcp.load(
        {
            "phy": {"standard": "802.11ax", "mcs": 5},
            "cells": {"one": {"position": [0, 0]}, "other": {"position": [20, 0]}},
            "air": {"path_loss": {"model": "log-distance", "at_1m": "46.4 dB", "exponent": 3.5}},
            "stations": [
                {"name": f"of-{name}", "count": 1, "cell": name, "positions": [[x, 3]]}
                for name, x in (("one", 0), ("other", 20))
            ],
            "flows": [DOWNLOAD | {"stations": f"of-{name}"} for name in ("one", "other")],
            "run": {"warmup": "1 s", "duration": "2 s", "replications": 2},
        }
    )
)
CROWDED = named(
    airtcp.load(
        {
            "phy": {"standard": "802.11g"},
            "cells": {name: {"channel": 6} for name in "abcd"},
            "air": {"heard": [[*pair] for pair in itertools.combinations("abcd", 2)]},
            "stations": [{"name": f"of-{name}", "count": 1, "cell": name} for name in "abcd"],
            "flows": [DOWNLOAD | {"stations": f"of-{name}"} for name in "abcd"],
            "run": {"warmup": "1 s", "duration": "2 s", "replications": 2},
        }
    )
)
MIXED = cell(
    "802.11g",
    DOWNLOAD,
    stations=[
        {"name": "laptop", "count": 1},
        {"name": "old", "count": 1, "data_rate": "1 Mb/s"},
    ],
)
FAR = cell("802.11ac", DOWNLOAD, laptop={"mcs": 1})
BURSTS = cell(
    "802.11b",
    phy={"control_rate": "1 Mb/s"},
    ap={"access": {"scheme": "adaptive-burst"}, "queue": {"limit": 8, "mac_limit": 4}},
)
CELLS = (PLAIN, OFDM, AGGREGATES, OFFICE, NEIGHBOURS, CROWDED, MIXED, FAR, BURSTS)


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


def remedy(name: str) -> Remedy:
    return next(one for one in catalogue() if one.name == name)


def applied(name: str, *cells: Scenario) -> Changed:
    """A remedy in the first cell that takes it."""
    for one in cells or CELLS:
        new = changed(one, remedy(name))
        if isinstance(new, Changed):
            return new
    raise AssertionError(f"{name}: {[changed(one, remedy(name)) for one in cells or CELLS]}")


NAMES = [one.name for one in catalogue()]


def test_names_are_different() -> None:
    assert len(set(NAMES)) == len(NAMES)


def test_each_says_what_it_takes() -> None:
    """One of the costs that the type names; research exactly where no equipment has it."""
    for one in catalogue():
        assert one.cost in get_args(Cost), one.name
        assert (one.cost == "research") == one.research, one.name
    assert {one.cost for one in catalogue()} == set(get_args(Cost))
    assert remedy("calls-first").cost == "setting"
    assert remedy("second-access-point").cost == "hardware"
    assert remedy("wider-channel").cost == "spectrum"


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
            "it is so already",
            "no station is slower",
            "there are no wires with a loss",
        )


def test_a_remedy_is_for_those_who_can_have_it() -> None:
    """Windows of downloads alone; a wider channel in 802.11n and later; the next one, not the
    widest."""
    both = cell("802.11a")
    window = applied("small-window", both)
    assert window.changes == {"flows.laptop.tcp.receive_window": {"segments": 4}}
    assert changed(both, remedy("wider-channel")) == "802.11a has no such thing"
    assert applied("wider-channel", AGGREGATES).changes == {"phy.channel_width": "40 MHz"}
    widest = cell("802.11ac", phy={"channel_width": "160 MHz"})
    assert changed(widest, remedy("wider-channel")) == "there is none wider"
    assert changed(cell("802.11a", UPLOAD), remedy("cubic")) == "there are no downloads"
    datagrams = DOWNLOAD | {"application": {"kind": "udp", "packet": "1500 B"}}
    assert changed(cell("802.11a", datagrams), remedy("ack-skip")) == "there are no flows with TCP"


def test_a_channel_is_made_wider_or_narrower_by_steps_of_the_standard() -> None:
    paths = {
        name: changed(AGGREGATES, remedy(name))
        for name in ("wider-channel", "four-times-width", "narrower-channel")
    }
    assert isinstance(paths["four-times-width"], Changed)
    assert paths["four-times-width"].changes == {"phy.channel_width": "80 MHz"}
    assert paths["narrower-channel"] == "there is none narrower"
    half = applied("narrower-channel", cell("802.11ac", phy={"channel_width": "80 MHz"}))
    assert half.changes == {"phy.channel_width": "40 MHz"}
    wide = cell("802.11ac", phy={"channel_width": "80 MHz"})
    assert changed(wide, remedy("four-times-width")) == "there is none wider"


@pytest.mark.parametrize("name", ["queue-100", "managed-queue"])
def test_a_queue_that_is_replaced_keeps_the_ring_of_the_driver(name: str) -> None:
    """`tc` replaces the discipline above the ring, and the ring stays."""
    new = applied(name, BURSTS).scenario
    assert BURSTS.ap.queue.mac_limit == 4
    assert new.ap.queue.mac_limit == 4
    assert new.ap.queue != BURSTS.ap.queue
    assert applied("aql", BURSTS).scenario.ap.queue.mac_limit is None
    assert applied(name, OFDM).scenario.ap.queue.mac_limit is None


def test_what_is_raised_is_what_is_below() -> None:
    """1 Mb/s becomes the least OFDM rate that is no less; protection that is written goes too."""
    assert applied("no-dsss", MIXED).changes == {"stations.old.data_rate": "6 Mb/s"}
    kept = named(MIXED.vary({"phy.protection": "rts-cts"}))
    without = applied("no-dsss", kept)
    assert without.changes["phy.protection"] == "none"
    assert without.scenario.phy.protection is None
    assert changed(PLAIN, remedy("no-dsss")) == "802.11b has no such thing"
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


# How equipment makes them.


def written(name: str, *cells: Scenario) -> Lines:
    for one in cells or CELLS:
        new = changed(one, remedy(name))
        if isinstance(new, Changed):
            return lines_for(remedy(name), new, one)
    raise AssertionError(name)


def test_priority_of_acks_is_said_for_both_directions() -> None:
    """Stations are told exponents (0: a window of 0); the access point has numbers, of which 1 is
    nearest to 0, and the note says so."""
    lines = written("ack-priority", PLAIN)

    hostapd = lines.by_tool["hostapd"]
    assert "wmm_ac_vo_cwmin=0" in hostapd
    assert "wmm_ac_vo_aifs=2" in hostapd
    assert "tx_queue_data0_cwmin=1" in hostapd
    assert any("no CWmin of 0; 1 is nearest" in note for note in lines.notes)


def test_a_txop_limit_is_milliseconds_here_and_units_of_32_us_there() -> None:
    """3.008 ms are 94 units; the access point alone has it."""
    lines = written("txop", OFDM)

    assert "tx_queue_data2_burst=3.0" in lines.by_tool["hostapd"]
    assert "wmm_ac_be_txop_limit=0" in lines.by_tool["hostapd"]


def test_rates_are_in_units_of_100_kb_s() -> None:
    assert written("least-rate-dsss", PLAIN).by_tool["hostapd"] == [
        "supported_rates=55 110",
        "basic_rates=55",
    ]


def test_rates_of_a_cell_with_stations_of_802_11b_leave_theirs() -> None:
    """At 5.5 Mb/s it is one of 802.11b still, and OFDM rates alone would shut it out."""
    assert written("least-rate-dsss", MIXED).by_tool["hostapd"] == [
        "supported_rates=55 60 90 110 120 180 240 360 480 540",
        "basic_rates=55",
    ]


def test_a_window_is_said_to_ip_and_its_double_to_the_buffer() -> None:
    """4 segments of 1460 bytes."""
    tools = written("small-window", PLAIN).by_tool

    assert tools["ip"] == ["ip route replace default via 192.0.2.1 dev wlan0 window 5840"]
    assert tools["sysctl"] == ["net.ipv4.tcp_rmem = 4096 11680 11680"]


def all_lines(tool: str) -> list[str]:
    """The lines of all remedies in all cells that take them."""
    found = []
    for one in CELLS:
        for each in catalogue():
            new = changed(one, each)
            if isinstance(new, Changed):
                found += lines_for(each, new, one).by_tool.get(tool, [])
    return list(dict.fromkeys(found))


def needs(*programs: str) -> None:
    """Skip a test that cannot run here, and say why."""
    if os.geteuid() != 0:
        pytest.skip("only root may make network namespaces and interfaces")
    for program in programs:
        if shutil.which(program) is None:
            package = {"tc": "iproute2", "ip": "iproute2"}.get(program, program)
            if shutil.which("apt-get") is not None:
                command = ["apt-get", "-qq", "install", "--no-install-recommends", package]
                subprocess.run(command, capture_output=True, timeout=300, check=False)
        if shutil.which(program) is None:
            pytest.skip(f"there is no {program} here, and it cannot be installed")


def hostapd_says(lines: list[str], directory: Path) -> str:
    """What hostapd prints until it has read a configuration with these lines."""
    path = directory / "hostapd.conf"
    head = ["interface=airtcp-none", "driver=none", "ssid=airtcp", "hw_mode=g", "channel=1"]
    path.write_text("\n".join([*head, *lines]) + "\n")
    with children() as started:
        process = started.start(["hostapd", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        time.sleep(1.0)
        process.terminate()
        return str(process.communicate(timeout=30)[0])


def test_hostapd_reads_the_lines(tmp_path: Path) -> None:
    needs("hostapd")
    lines = all_lines("hostapd")
    assert len(lines) > 20

    assert "AP-ENABLED" in hostapd_says(["wmm_enabled=1"], tmp_path)
    # Each remedy alone would do; together a later line replaces an earlier one.
    said = hostapd_says([one for one in lines if not one.startswith("ht_capab")], tmp_path)
    assert "errors found" not in said, said
    # The control: what cannot be set is refused, so the test can fail.
    assert "invalid TX queue item" in hostapd_says(["tx_queue_data0_cwmin=0"], tmp_path)


@pytest.fixture
def namespace() -> Iterator[str]:
    """A network namespace with an interface wlan0 and an eth0, each with an address."""
    needs("ip", "tc")
    name = f"airtcp-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        pytest.skip(f"no network namespace can be made: {made.stderr.strip()}")
    try:
        for number, device in enumerate(("wlan0", "eth0")):
            for line in (
                f"ip link add {device} type veth peer name peer{number}",
                f"ip addr add 192.0.2.{2 + number}/24 dev {device}",
                f"ip link set {device} up",
            ):
                done = in_namespace(name, line)
                if done.returncode != 0:
                    pytest.skip(f"no interface can be made: {done.stderr.strip()}")
        yield name
    finally:
        subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)


def in_namespace(name: str, line: str) -> subprocess.CompletedProcess[str]:
    command = ["ip", "netns", "exec", name, *line.split()]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_ip_takes_the_lines(namespace: str) -> None:
    lines = all_lines("ip")
    assert len(lines) >= 4

    for line in lines:
        done = in_namespace(namespace, line)
        assert done.returncode == 0, f"{line}: {done.stderr}"
    assert in_namespace(namespace, f"{lines[0]} sideways 3").returncode != 0


def test_tc_takes_the_lines(namespace: str) -> None:
    """A kernel may not have a discipline: then it, and not tc, says that it is unknown."""
    lines = all_lines("tc")
    assert len(lines) >= 3

    for line in lines:
        done = in_namespace(namespace, line)
        known = done.returncode == 0 or "Specified qdisc kind is unknown" in done.stderr
        assert known, f"{line}: {done.stderr}"
    refused = in_namespace(namespace, "tc qdisc replace dev wlan0 root sfq sideways 3")
    assert "Specified qdisc kind is unknown" not in refused.stderr
    assert refused.returncode != 0


def test_sysctl_knows_the_names() -> None:
    lines = all_lines("sysctl")
    assert lines

    for line in lines:
        name, _, value = line.partition(" = ")
        assert re.fullmatch(r"net\.ipv4\.[a-z_]+", name)
        assert value
        path = Path("/proc/sys") / name.replace(".", "/")
        if Path("/proc/sys/net/ipv4").is_dir():
            assert path.exists(), name


def test_uci_lines_are_of_two_forms() -> None:
    lines = all_lines("uci")
    assert len(lines) > 10

    form = r"uci (set|add_list) wireless\.(radio0|default_radio0)\.[a-z_]+='[^']+'|"
    form += r"uci (set|add_list) wireless\.(radio0|default_radio0)\.[a-z_]+='[^']+'"
    for line in lines:
        assert re.fullmatch(form, line), line


def test_a_remedy_that_is_none_is_refused() -> None:
    with pytest.raises(QuestionError, match="is no remedy; allowed: delayed-ack"):
        airtcp.plan(PLAIN, vary="stations", until="goodput < 1 Mb/s", remedies=["prayer"])


@pytest.mark.parametrize("name", ["tack", "ack-skip"])
def test_acknowledgments_of_other_kinds_take_the_place_of_those_that_are(name: str) -> None:
    """And they can be tried where the flows say how they delay ACKs."""
    new = applied(name, PLAIN)
    tcp = new.scenario.flows[0].tcp
    assert tcp is not None
    assert tcp.tack is not None if name == "tack" else tcp.ack_skip is not None


def test_linux_calls_bbr_by_its_first_name() -> None:
    assert written("bbr", PLAIN).by_tool["sysctl"] == ["net.ipv4.tcp_congestion_control = bbr"]


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

"""Networks, addresses and settings that a scenario needs, and features without a kernel."""

from pathlib import Path
from typing import Any

import pytest
from airtcp.exceptions import ScenarioError
from airtcp.scenario import Scenario, loads
from airtcp.testbed import network, site
from airtcp.testbed.network import check_machine
from airtcp.testbed.site import site_of
from bases import cell, refused


def test_each_station_has_a_network_and_each_entry_a_server(scenario: Scenario) -> None:
    made = site_of(scenario, name="test")

    assert [node.name for node in made.nodes] == ["server", "laptop-0", "laptop-1", "sensor-0"]
    assert made.stations == ("10.77.0.1", "10.77.0.2", "10.77.0.3")
    assert made.servers == made.nodes[0].addresses == ("10.77.128.1", "10.77.128.2")
    assert [(one.station, one.server_address, one.index) for one in made.flows] == [
        ("laptop/0", "10.77.128.1", 0),
        ("laptop/1", "10.77.128.1", 1),
        ("sensor/0", "10.77.128.2", 0),
    ]
    # The server enables each option that one of its peers has.
    server, laptop, _, sensor = made.nodes
    timestamps = [node.sysctls["net.ipv4.tcp_timestamps"] for node in (laptop, sensor, server)]
    assert timestamps == ["1", "0", "1"]
    assert server.routes[0].startswith("10.77.0.1/32 ")
    assert [node.gso for node in made.nodes] == [True, True, True, False]
    assert sensor.asked()["gso"] is False


def test_flows_may_be_simulated_and_one_station_real_alone(scenario: Scenario) -> None:
    simulated = site_of(scenario, name="test", simulated=["upload"])
    assert simulated.servers == ("10.77.128.1", None)
    assert {one.flow.name for one in simulated.flows} == {"download"}

    alone = site_of(scenario, name="test", only="laptop/1")
    assert alone.stations == (None, "10.77.0.2", None)
    assert [node.name for node in alone.nodes] == ["server", "laptop-1"]
    assert (alone.names, alone.air_names) == (["server", "laptop/1"], ["air"])


MARKING = '[ap]\nqueue = { discipline = "codel", ecn = true }'
LINUX, RFC = 'preset = "linux"', 'variant = "newreno"'


@pytest.mark.parametrize(
    ("tcp", "route", "sysctls"),
    [
        # 1460 bytes plus 12 of timestamps; by RFC 5681 an initial window of three segments.
        (
            LINUX,
            "advmss 1460 initcwnd 10 rto_min 200ms quickack 0 congctl cubic",
            {"sack": "1", "timestamps": "1", "recovery": "1", "early_retrans": "3"},
        ),
        (
            RFC,
            "advmss 1460 initcwnd 3 rto_min 1000ms quickack 0 congctl reno",
            {"sack": "0", "timestamps": "0", "recovery": "0", "early_retrans": "0"},
        ),
        (f"{RFC}, delayed_ack = {{ every = 1 }}", "quickack 1", {}),
        # Segments of 1460 bytes. The kernel rounds the window down to whole segments.
        (f'{RFC}, receive_window = "8761 B"', "window 8760", {}),
        # Buffers are twice the window of payload; 131072 is the default of ip-sysctl.rst, and a
        # small window is available in full at once.
        (f'{RFC}, receive_window = "3 MB"', "", {"rmem": "4096 131072 6000000"}),
        (f'{RFC}, receive_window = "8760 B"', "", {"rmem": "4096 17520 17520"}),
        (f'{RFC}, receive_window = "1460 B"', "", {"rmem": "4096 4096 4096"}),
        # ProFTPD clears a buffer of this size for each transfer: half a millisecond for a MiB.
        (RFC, "", {"wmem": "4096 16384 16777216"}),
        (f"{RFC}, ecn = true", "", {"ecn": "1"}),
    ],
)
def test_routes_and_settings_are_those_of_the_flows_tcp(
    tcp: str, route: str, sysctls: dict[str, str]
) -> None:
    text = cell(tables=MARKING, flow=f"tcp = {{ {tcp} }}")
    node = site_of(loads(text), name="test").nodes[1]

    assert node.mtu == 1500
    assert route in node.routes[0]
    found = {key: node.sysctls[f"net.ipv4.tcp_{key}"] for key in sysctls}
    assert found == sysctls


def test_datagrams_need_room() -> None:
    datagrams = '{ kind = "udp", packet = "1700 B", rate = "1 Mb/s" }'
    made = site_of(loads(cell(direction="upload", application=datagrams)), name="test")
    assert {node.mtu for node in made.nodes} == {1700}


def test_each_deviation_is_told_once_with_its_flows(scenario: Scenario) -> None:
    told = site_of(scenario, name="test").deviations

    texts = [text.partition(": ")[2] for text in told]
    assert len(texts) == len(set(texts))
    [acks] = [text for text in told if "the kernel acknowledges each of the first" in text]
    assert acks.startswith("download, upload: ")
    [queues] = [text for text in told if "small_queue" in text]
    assert queues.startswith("download: ")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"tcp.aimd": {"increase": 2.0, "decrease": 0.5}}, "changes its windows, not aimd"),
        ({"tcp.handshake": "none"}, "begins with a three-way handshake"),
        # 400 bits, plus 96 bits of timestamps.
        ({"tcp.header_bits": 400}, "headers have 416 bits, and more with options, not 496"),
        ({"tcp.initial_ssthresh": {"segments": 20}}, "slow-start threshold is the kernel's"),
        ({"tcp.initial_rto": "3 s"}, "timeout is the kernel's, 1 s"),
        ({"application.size": "30 kB"}, "a request of at least 70 bytes"),
        ({"application.size": "30 kB", "direction": "upload"}, "the headers of a PUT"),
    ],
)
def test_a_setting_that_the_kernel_lacks_is_a_deviation(
    scenario: Scenario, changes: dict[str, Any], said: str
) -> None:
    changed = scenario.vary({f"flows.download.{key}": one for key, one in changes.items()})
    before, after = (set(site_of(one, name="test").deviations) for one in (scenario, changed))
    assert [said in one for one in after - before if one.startswith("download: ")] == [True]


@pytest.mark.parametrize(
    ("changes", "options", "key", "message"),
    [
        (
            {"flows.upload.tcp.ack_skip": {"skip": 1, "after_segment": 50}},
            {},
            "flows[1] (upload).tcp.ack_skip",
            "--simulated upload",
        ),
        (
            {"flows.upload.tcp.delayed_ack": {"every": 4, "timeout": "200 ms"}},
            {},
            "flows[1] (upload).tcp.delayed_ack",
            "every = 1, every = 2",
        ),
        (
            {"flows.upload.tcp.congestion": "bbr1"},
            {},
            "flows[1] (upload).tcp.congestion",
            "this kernel does not have bbr (try: modprobe tcp_bbr); allowed here: reno, cubic",
        ),
        ({"stations.laptop.count": 200}, {}, "stations", "201 stations, and each needs"),
        ({}, {"simulated": ["nobody"]}, "flows", "flows: download, upload"),
        ({}, {"simulated": ["download", "upload"]}, "flows", "some out of --simulated"),
        ({}, {"only": "laptop/9"}, "stations", "laptop/0 to laptop/1, sensor/0 to sensor/0"),
        ({}, {"only": "sensor/0", "simulated": ["upload"]}, "flows", "no path to a server"),
    ],
)
def test_what_has_no_counterpart_is_refused(
    scenario: Scenario,
    changes: dict[str, Any],
    options: dict[str, Any],
    key: str,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    (tmp_path / "available").write_text("reno cubic\n")
    monkeypatch.setattr(site, "_AVAILABLE", tmp_path / "available")
    with pytest.raises(ScenarioError) as refused:
        site_of(scenario.vary(changes) if changes else scenario, name="my.toml", **options)

    assert str(refused.value).startswith(f"my.toml: {key}: ")
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_two_hundred_stations_are_allowed(scenario: Scenario) -> None:
    made = site_of(scenario.vary({"stations.laptop.count": 199}), name="test")
    assert len(made.nodes) == 1 + 200


def test_a_device_that_is_not_for_everyone_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(network, "_PROGRAMS", {})
    monkeypatch.setattr("os.open", refuse)

    with refused("testbed.network.no_tun"):
        check_machine()

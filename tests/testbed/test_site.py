"""Which networks, addresses and settings a scenario asks for, and what no kernel does."""

from pathlib import Path

import pytest
from airtcp.exceptions import QuestionError, ScenarioError
from airtcp.scenario import Scenario, loads
from airtcp.testbed import network, site
from airtcp.testbed.network import check_machine
from airtcp.testbed.site import site_of
from bases import cell


def test_each_station_has_a_network_and_each_entry_a_server(scenario: Scenario) -> None:
    made = site_of(scenario, name="test")

    assert [node.name for node in made.nodes] == ["server", "laptop-0", "laptop-1", "sensor-0"]
    assert made.stations == ("10.77.0.1", "10.77.0.2", "10.77.0.3")
    assert made.servers == ("10.77.128.1", "10.77.128.2")
    assert made.nodes[0].addresses == made.servers
    assert [(one.station, one.server_address, one.index) for one in made.flows] == [
        ("laptop/0", "10.77.128.1", 0),
        ("laptop/1", "10.77.128.1", 1),
        ("sensor/0", "10.77.128.2", 0),
    ]


def test_routes_and_settings_say_what_tcp_is_to_do(scenario: Scenario) -> None:
    made = site_of(scenario, name="test")
    server, laptop, _, sensor = made.nodes
    tcp = scenario.flows[0].tcp

    # 1500 bytes with the headers of TCP and IP, and with timestamps where the preset has them.
    assert laptop.mtu == 1500
    advertised = tcp.mss_bytes + 12
    whole = tcp.receive_window_bytes - tcp.receive_window_bytes % tcp.mss_bytes
    assert laptop.routes == (
        f"10.77.128.1/32 dev air advmss {advertised} initcwnd 10 rto_min 200ms quickack 0 "
        f"congctl reno window {whole}",
    )
    assert "advmss 1460 initcwnd 3 rto_min 1000ms" in sensor.routes[0]
    # The laptops have rules of Linux, the sensor those of the RFCs; the server has both as peers.
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


def test_what_linux_does_otherwise_is_told_once(scenario: Scenario) -> None:
    told = site_of(scenario, name="test").deviations

    texts = [text.partition(": ")[2] for text in told]
    assert len(texts) == len(set(texts))
    [acks] = [text for text in told if "the kernel acknowledges each of the first" in text]
    assert acks.startswith("download, upload: ")
    [queues] = [text for text in told if "small_queue" in text]
    assert queues.startswith("download: ")
    assert "a TUN device releases a packet's socket at once" in queues
    aimd = scenario.vary({"flows.download.tcp.aimd": {"increase": 2.0, "decrease": 0.5}})
    more = set(site_of(aimd, name="test").deviations) - set(told)
    assert more == {"download: the kernel's congestion control changes its windows, not aimd"}


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
        ({"stations.laptop.count": 200}, {}, "stations", "at most 200"),
        ({}, {"simulated": ["nobody"]}, "flows", "flows: download, upload"),
        ({}, {"simulated": ["download", "upload"]}, "flows", "some out of --simulated"),
        ({}, {"only": "laptop/9"}, "stations", "laptop/0 to laptop/1, sensor/0 to sensor/0"),
        ({}, {"only": "sensor/0", "simulated": ["upload"]}, "flows", "no path to a server"),
    ],
)
def test_what_has_no_counterpart_is_refused(
    scenario: Scenario, changes: dict, options: dict, key: str, message: str
) -> None:
    with pytest.raises(ScenarioError) as refused:
        site_of(scenario.vary(changes) if changes else scenario, name="my.toml", **options)

    assert str(refused.value).startswith(f"my.toml: {key}: ")
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_kernel_without_the_congestion_control_is_told(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    available = tmp_path / "available"
    available.write_text("reno cubic\n")
    monkeypatch.setattr(site, "_AVAILABLE", available)

    with pytest.raises(ScenarioError, match=r"modprobe tcp_bbr.*allowed here: reno, cubic"):
        site_of(scenario.vary({"flows.upload.tcp.congestion": "bbr1"}), name="my.toml")


def test_a_device_that_is_not_for_everyone_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(network, "_PROGRAMS", {})
    monkeypatch.setattr("os.open", refuse)

    with pytest.raises(QuestionError, match=r"denied; as root: chmod a\+rw /dev/net/tun"):
        check_machine()


DATAGRAMS = cell(
    direction="upload", application='{ kind = "udp", packet = "1700 B", rate = "1 Mb/s" }'
)


def test_send_buffers_begin_small_and_grow(scenario: Scenario) -> None:
    """ProFTPD clears a buffer as large for each transfer: a MiB takes it half a millisecond."""
    for node in site_of(scenario, name="test").nodes:
        _, first, largest = map(int, node.sysctls["net.ipv4.tcp_wmem"].split())
        assert first < 1 << 20 < largest


def test_receive_buffers_begin_as_linux_has_them_and_grow_to_the_window() -> None:
    """131072 bytes are the default (ip-sysctl.rst); a small window has all its room at once."""
    large, small = (
        site_of(loads(cell(flow=f'tcp = {{ receive_window = "{window}" }}')), name="test")
        .nodes[1]
        .sysctls
        for window in ("3 MB", "8760 B")
    )
    assert large["net.ipv4.tcp_rmem"] == "4096 131072 6000000"
    assert small["net.ipv4.tcp_rmem"] == "4096 17520 17520"


def test_datagrams_need_room() -> None:
    assert {node.mtu for node in site_of(loads(DATAGRAMS), name="test").nodes} == {1700}

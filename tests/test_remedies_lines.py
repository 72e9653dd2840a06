"""Configuration lines that apply remedies: real programs accept them, and they do what was
simulated.

Programs run in a network namespace of their own. Without them, or without rights, tests are
skipped; `make programs` installs them."""

import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from airtcp.remedies import Changed, catalogue, changed
from airtcp.remedies.apply import lines_for
from airtcp.remedies.queues import Lines
from airtcp.scenario import Scenario
from bases import said
from cells_of_remedies import (
    CELLS,
    DOWNLOAD,
    MIXED,
    OFDM,
    OFFICE,
    PLAIN,
    UPLOADS,
    cell,
    fitting,
    remedy,
)
from children import children

SBIN = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
#: Interfaces that the lines name.
INTERFACES = ("wlan0", "eth0", "eth1")


def written(name: str, *cells: Scenario) -> Lines:
    """Return the lines of a remedy for the first cell that it changes."""
    return lines_for(remedy(name), *fitting(name, *cells))


@cache
def lines_by_tool() -> dict[str, list[str]]:
    """Return the lines of all remedies for all cells that they change."""
    found: dict[str, dict[str, None]] = {}
    for one in CELLS:
        for each in catalogue():
            new = changed(one, each)
            if isinstance(new, Changed):
                for tool, lines in lines_for(each, new, one).by_tool.items():
                    found.setdefault(tool, {}).update(dict.fromkeys(lines))
    return {tool: list(lines) for tool, lines in found.items()}


# The text of the lines.


def acks(every: int) -> Scenario:
    return cell("802.11g", DOWNLOAD | {"tcp": {"delayed_ack": {"every": every}}})


IP = "ip route replace default via 192.0.2.1 dev "
WIDE = cell("802.11ac", phy={"channel_width": "40 MHz"})
BONDED = "ht_capab=[HT40+]"


@pytest.mark.parametrize(
    ("name", "scenario", "tool", "lines"),
    [
        # For stations cwmin is an exponent (0: a window of 0). For the access point it is a number,
        # and the smallest valid one is 1.
        ("ack-priority", PLAIN, "hostapd", ["wmm_ac_vo_cwmin=0", "wmm_ac_vo_aifs=2"]),
        ("ack-priority", PLAIN, "hostapd", ["tx_queue_data0_cwmin=1"]),
        # 3.008 ms are 94 units of 32 us; only the access point gets this TXOP limit.
        ("txop", OFDM, "hostapd", ["tx_queue_data2_burst=3.0", "wmm_ac_be_txop_limit=0"]),
        # In units of 100 kb/s.
        ("least-rate-dsss", PLAIN, "hostapd", ["supported_rates=55 110", "basic_rates=55"]),
        # 5.5 Mb/s keeps 802.11b stations in the cell; OFDM rates only would exclude them.
        (
            "least-rate-dsss",
            MIXED,
            "hostapd",
            ["supported_rates=55 60 90 110 120 180 240 360 480 540", "basic_rates=55"],
        ),
        # 4 segments of 1460 bytes; tcp_rmem needs twice that. The server limits windows of uploads.
        ("small-window", PLAIN, "ip", [f"{IP}wlan0 window 5840"]),
        ("small-window", PLAIN, "sysctl", ["net.ipv4.tcp_rmem = 4096 11680 11680"]),
        ("window-8-everywhere", UPLOADS, "ip", [f"{IP}eth0 window 11680"]),
        ("delayed-ack", acks(1), "ip", [f"{IP}wlan0 quickack 0"]),
        ("no-delayed-ack", acks(2), "ip", [f"{IP}wlan0 quickack 1"]),
        ("bbr", PLAIN, "sysctl", ["net.ipv4.tcp_congestion_control = bbr"]),
        ("wider-channel", WIDE, "hostapd", [BONDED]),
    ],
)
def test_lines_say_what_is_changed(name, scenario, tool, lines):
    told = written(name, scenario).by_tool[tool]
    assert set(lines) <= set(told)
    assert tool == "hostapd" or told == lines


def test_a_window_of_0_and_a_channel_of_20_mhz_are_said_otherwise() -> None:
    notes = written("ack-priority", PLAIN).notes
    assert "remedies.notes.not_in_hostapd" in map(said, notes)
    assert BONDED not in written("narrower-channel", WIDE).by_tool["hostapd"]


def test_only_calls_are_marked_as_voice() -> None:
    """Rules match the ports of calls, not those of QUIC (443) and games. EF is user priority 6."""
    lines = written("calls-first", OFFICE)

    rules = [line for line in lines.by_tool["nft"] if line.endswith(" dscp set ef")]
    assert len(rules) == 4
    for rule in rules:
        ports = [range(int(low), int(high) + 1) for low, high in re.findall(r"(\d+)-(\d+)", rule)]
        assert ports
        assert not any(port in each for each in ports for port in (443, 27015))
    assert any(line.startswith("qos_map_set=46,6,") for line in lines.by_tool["hostapd"])
    marks = written("data-background", OFFICE).by_tool["nft"]
    assert "meta l4proto tcp ip dscp set cs1" in "\n".join(marks)


# The lines configure what was simulated.


def from_tc(line: str) -> dict[str, Any]:
    """Return the queue that a line of tc creates, as scenario keys."""
    kind, *words = line.split(" root ")[-1].split(" parent 1:1 ")[-1].split()
    known = {"pfifo": "fifo", "codel": "codel", "fq_codel": "fq-codel", "sfq": "per-flow"}
    marks = {"ecn": True, "noecn": False}
    queue: dict[str, Any] = {"discipline": known[kind]}
    pairs = [word for word in words if word not in marks]
    for name, value in zip(pairs[::2], pairs[1::2], strict=True):
        if name == "limit":
            queue["limit"] = "unlimited" if int(value) >= 65_535 else int(value)
        elif name in ("target", "interval"):
            queue[name] = value.replace("us", " us")
        elif name == "quantum":
            queue[name] = f"{value} B"
    if words[-1] in marks:
        queue["ecn"] = marks[words[-1]]
    return queue


def ringed(limit: int, ring: int | None) -> Scenario:
    """Downloads and an upload over a link, behind an access point with a driver's ring."""
    flows = [{**DOWNLOAD, "path": ["line"], "name": "down"}]
    flows += [{**DOWNLOAD, "direction": "upload", "path": ["line"], "name": "up"}]
    line = {"rate": "20 Mb/s", "delay": "10 ms", "queue": 500}
    queue = {"limit": limit, "mac_limit": ring}
    return cell("802.11n", links={"line": line}, flows=flows, ap={"queue": queue})


RINGS = [ringed(*each) for each in ((1000, None), (1000, 200), (8, 4))]


@pytest.mark.parametrize("base", RINGS, ids=["no ring", "ring", "short"])
@pytest.mark.parametrize(
    "name",
    [one.name for one in catalogue() if one.apply.endswith("queue") and one.name != "ack-filter"],
)
def test_tc_makes_the_queue_that_was_simulated(name: str, base: Scenario) -> None:
    """Neither the tc line nor the simulated change touches the driver's ring."""
    new = changed(base, remedy(name))
    if isinstance(new, str):
        assert new == "it is set already"
        return
    *shaper, line = lines_for(remedy(name), new, base).by_tool["tc"]
    path = "stations.laptop.queue" if remedy(name).apply == "client-queue" else "ap.queue"
    if shaper:
        path = "links.line.queue"
        assert f" rate {base.links['line'].rate_bps}bit " in shaper[0]
    if " red " in line:
        low, high = re.findall(r"m(?:in|ax) (\d+)", line)
        red = new.scenario.ap.queue.red
        assert (int(low), int(high)) == (1000 * red.min_threshold, 1000 * red.max_threshold)
        queue: dict[str, Any] = {"discipline": "red", "limit": base.ap.queue.limit}
    else:
        queue = from_tc(line)
    if path == "ap.queue" and base.ap.queue.mac_limit is not None:
        queue["mac_limit"] = base.ap.queue.mac_limit
    assert base.vary({path: queue}).to_json() == new.scenario.to_json()


@pytest.mark.parametrize("name", ["managed-queue", "aql", "airtime"])
def test_mac80211_does_what_was_simulated(name: str) -> None:
    """airtime_flags share airtime between stations; AQL replaces the driver's ring."""
    base = RINGS[1]
    new = changed(base, remedy(name))
    assert isinstance(new, Changed)
    tools = lines_for(remedy(name), new, base).by_tool
    if name == "managed-queue":
        # CoDel's times and the quantum of airtime are constants of mac80211.
        openwrt = base.vary({"ap": {"profile": "openwrt"}})
        assert new.scenario.to_json() == openwrt.to_json()
        limit, quantum = (line.split()[-1] for line in tools["iw"])
        assert (int(limit), int(quantum)) == (8192, openwrt.ap.queue.fq.quantum_bytes)
        return
    queue = base.written["ap"]["queue"]
    scheduler: Any = "airtime"
    limits = [line for line in tools["debugfs"] if line.endswith("/aql_txq_limit")]
    if limits:
        (limit,) = {re.sub(r"echo '\d (\d+) \1' .*", r"\1", line) for line in limits}
        queue = {key: value for key, value in queue.items() if key != "mac_limit"}
        scheduler = {"kind": "airtime", "aql": f"{limit} us"}
    by_lines = base.vary({"ap.queue": queue, "ap.scheduler": scheduler})
    assert by_lines.to_json() == new.scenario.to_json()


# The real programs accept the lines.


UNKNOWN = "Specified qdisc kind is unknown"


def needs(*programs: str) -> None:
    """Skip a test whose programs or rights are missing."""
    if os.geteuid() != 0:
        pytest.skip("only root may make network namespaces and interfaces")
    for program in programs:
        if shutil.which(program, path=SBIN) is None:
            pytest.skip(f"{program} is not installed; make programs installs it")


def hostapd_says(lines: list[str], directory: Path) -> str:
    """Return what hostapd prints while it reads a configuration with these lines."""
    path = directory / "hostapd.conf"
    head = ["interface=airtcp-none", "driver=none", "ssid=airtcp", "hw_mode=g", "channel=1"]
    path.write_text("\n".join([*head, *lines]) + "\n")
    with children() as started:
        process = started.start(["hostapd", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        time.sleep(1.0)
        process.terminate()
        return str(process.communicate(timeout=30)[0])


@pytest.mark.slow
def test_hostapd_reads_the_lines(tmp_path: Path) -> None:
    needs("hostapd")
    lines = lines_by_tool()["hostapd"]
    assert len(lines) > 20

    assert "AP-ENABLED" in hostapd_says(["wmm_enabled=1"], tmp_path)
    # Control: hostapd rejects an invalid value, so the test can fail.
    assert "invalid TX queue item" in hostapd_says(["tx_queue_data0_cwmin=0"], tmp_path)
    # Each ht_capab line goes alone, because a later one replaces an earlier one.
    capabilities = [["ieee80211n=1", one] for one in lines if one.startswith("ht_capab")]
    others = [one for one in lines if not one.startswith("ht_capab")]
    for each in (others, *capabilities):
        said = hostapd_says(each, tmp_path)
        assert "errors found" not in said, said


@pytest.fixture
def namespace() -> Iterator[str]:
    """A network namespace with the interfaces that lines name, each with an address."""
    needs("ip", "tc")
    name = f"airtcp-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        pytest.skip(f"no network namespace can be made: {made.stderr.strip()}")
    try:
        for number, device in enumerate(INTERFACES):
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
    """Run a line as a shell in the namespace would."""
    command = ["ip", "netns", "exec", name, *shlex.split(line)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "PATH": SBIN}
    )


@pytest.mark.parametrize(
    ("tool", "wrong"),
    [
        ("ip", f"{IP}wlan0 window 5840 sideways 3"),
        ("tc", "tc qdisc replace dev wlan0 root sfq sideways 3"),
        ("sysctl", "sysctl -w net.ipv4.tcp_sideways=1"),
    ],
)
def test_a_program_takes_its_lines(tool: str, wrong: str, namespace: str) -> None:
    """If a kernel lacks a queue discipline or congestion control, the kernel refuses it, not tc."""
    needs(tool)
    allowed = in_namespace(namespace, "sysctl -n net.ipv4.tcp_allowed_congestion_control").stdout
    lines = lines_by_tool()[tool]
    assert len(lines) >= 3
    for line in lines:
        name, _, value = line.partition(" = ")
        if name.endswith("congestion_control") and value not in allowed.split():
            continue
        done = in_namespace(namespace, f"sysctl -w '{name}={value}'" if value else line)
        assert done.returncode == 0 or UNKNOWN in done.stderr, f"{line}: {done.stderr}"
        if value:
            assert in_namespace(namespace, f"sysctl -n {name}").stdout.split() == value.split()
    refused = in_namespace(namespace, wrong)
    assert refused.returncode != 0
    assert UNKNOWN not in refused.stderr


@pytest.mark.parametrize(
    "name", ["ack-priority", "calls-first", "calls-video", "data-background", "default-wmm"]
)
def test_nft_takes_the_lines_of_each_remedy(name: str, namespace: str) -> None:
    """On a system without rules the lines first create the table and the chain."""
    needs("nft")
    takers = [one for one in CELLS if isinstance(changed(one, remedy(name)), Changed)]
    lines = next(tools["nft"] for one in takers if "nft" in (tools := written(name, one).by_tool))
    probe = in_namespace(namespace, "nft add table inet probe")
    if probe.returncode != 0:
        pytest.skip(f"this kernel has no nf_tables: {probe.stderr.strip()}")

    for line in lines:
        done = in_namespace(namespace, line)
        assert done.returncode == 0, f"{line}: {done.stderr}"
    rules = in_namespace(namespace, "nft list table inet airtcp").stdout
    assert rules.count(" dscp set ") == sum(" add rule " in line for line in lines)
    refused = in_namespace(namespace, lines[-1].replace(" inet airtcp ", " inet mangle "))
    assert refused.returncode != 0


def test_iw_knows_the_lines() -> None:
    """Without a radio iw executes nothing, but its help lists the command forms."""
    needs("iw")
    help_ = ["iw", "help"]
    shown = subprocess.run(help_, capture_output=True, text=True, check=False, env={"PATH": SBIN})
    forms = [form for line in shown.stdout.splitlines() for form in forms_of(line.strip())]
    wrong = ["iw phy phy0 set sideways 3", "iw phy phy0 set txq limit"]

    def unknown(lines: list[str]) -> list[str]:
        words = {line: line.removeprefix("iw ") for line in lines}
        return [one for one in lines if not any(re.fullmatch(form, words[one]) for form in forms)]

    assert len(lines_by_tool()["iw"]) >= 3
    assert unknown(lines_by_tool()["iw"] + wrong) == wrong


def forms_of(line: str) -> Iterator[str]:
    """The commands of a line of iw's help as patterns: alternatives share the words before them."""
    first, *others = re.sub(r"<[^>]*>", "@", line).split(" | ")
    words = first.split()
    last = max((place for place, word in enumerate(words) if word[0] not in "@["), default=0)
    shared = {other: words[: last + (other[0] == "@")] for other in others}
    for form in (first, *(" ".join([*begin, other]) for other, begin in shared.items())):
        yield re.escape(form).replace("@", r"\S+")


#: Lines for programs that the tests do not have. OpenWrt creates the sections whose options uci
#: sets.
FORMS = {
    "uci": (11, r"uci (set|add_list) wireless\.(radio0|default_radio0)\.[a-z_]+=.+"),
    "debugfs": (
        6,
        r"echo \d+( \d+ \d+)? > /sys/kernel/debug/ieee80211/phy0/(\S+/)?"
        "(airtime_flags|aql_enable|aql_txq_limit)",
    ),
}


@pytest.mark.parametrize("tool", FORMS)
def test_lines_without_a_program_have_a_form(tool: str) -> None:
    least, form = FORMS[tool]
    lines = lines_by_tool()[tool]
    assert len(lines) >= least
    assert [one for one in lines if not re.fullmatch(form, " ".join(shlex.split(one)))] == []


def test_no_other_program_is_named() -> None:
    """Every program named in a line has its test above."""
    tested = {"hostapd", "ip", "tc", "nft", "sysctl", "iw", *FORMS}
    assert {tool.partition(" of ")[0] for tool in lines_by_tool()} <= tested

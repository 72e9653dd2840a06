"""Captures of a testbed: both ends of each connection and the medium between, with its times."""

import shutil
import struct
import subprocess
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path

import pytest
from airtcp.cli.outputs import check
from airtcp.exceptions import OutputError
from airtcp.scenario import Scenario, loads
from airtcp.testbed.bench import measure
from airtcp.testbed.carrier import captured
from bases import LINUX_DOWNLOAD, RADIOS, two_cells

IN, OUT = 1, 2
#: After the radiotap header: a MAC header without QoS, LLC and SNAP.
MAC_AND_LLC = 24 + 8
DATA, MAC_ACK = 0x08, 0xD4

#: Two cells whose access points hear each other.
TWO = two_cells(
    RADIOS,
    reader=LINUX_DOWNLOAD,
    clerk=LINUX_DOWNLOAD,
    warmup="500 ms",
    duration="1500 ms",
    replications=1,
)


@dataclass(frozen=True)
class Packet:
    node: str
    way: int
    time_ns: int
    length: int
    kept: bytes

    @property
    def tcp_payload(self) -> int:
        header = 4 * (self.kept[0] & 0xF)
        return self.length - header - 4 * (self.kept[header + 12] >> 4)


def read(path: Path) -> tuple[list[str], list[Packet]]:
    """Read names of interfaces and packets, with as much pcapng as is needed here."""
    data = path.read_bytes()
    names: list[str] = []
    packets = []
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        body = data[at + 8 : at + length - 4]
        assert struct.unpack_from("<I", data, at + length - 4) == (length,)
        if kind == 1:
            code, size = struct.unpack_from("<HH", body, 8)
            assert code == 2
            names.append(body[12 : 12 + size].decode())
        elif kind == 6:
            node, high, low, kept, whole = struct.unpack_from("<IIIII", body)
            padded = 20 + (kept + 3) // 4 * 4
            flags = 0
            if len(body) > padded:
                code, size, flags = struct.unpack_from("<HHI", body, padded)
                assert (code, size) == (2, 4)
            packet = body[20 : 20 + kept]
            packets.append(Packet(names[node], flags, high << 32 | low, whole, packet))
        at += length
    return names, packets


@pytest.mark.usefixtures("machine")
def test_what_leaves_one_node_comes_to_the_other(web: Scenario, tmp_path: Path) -> None:
    file = tmp_path / "web.pcapng"
    measured = measure(web, pcap=file, snaplen=100)

    names, packets = read(file)
    assert names == ["server", "laptop/0", "laptop/1", "air"]
    assert [one.time_ns for one in packets] == sorted(one.time_ns for one in packets)
    assert max(len(one.kept) for one in packets) == 100
    packets = [one for one in packets if one.node != "air"]
    # The capture has the warm-up of 0.5 s, and then 4 s.
    assert 4e9 < packets[-1].time_ns <= 4.5e9
    assert max(one.length for one in packets) == 1500

    left = {one.kept: one for one in packets if (one.node, one.way) == ("server", OUT)}
    come = [one for one in packets if one.node != "server" and one.way == IN]
    for one in come:
        sent = left[one.kept]
        # An 802.11b frame takes at least the 192 us of its preamble.
        assert one.time_ns - sent.time_ns > 192_000
        assert one.length == sent.length
    # Sequence numbers and timestamps make all packets different.
    assert len(left) >= len(come) > 100
    # Bytes received by stations are the goodput, without the warm-up and duplicates.
    goodput = measured.metrics["goodput_bps"].mean
    later = [one for one in come if one.time_ns >= 500_000_000]
    assert sum(one.tcp_payload for one in later) == pytest.approx(goodput * 4 / 8, rel=0.02)


@pytest.mark.usefixtures("machine")
def test_what_comes_was_on_the_air_before(web: Scenario, tmp_path: Path) -> None:
    """802.11b at 11 Mb/s without errors: a packet arrives with its last transmission."""
    file = tmp_path / "web.pcapng"
    measured = measure(web, pcap=file, snaplen=2000)

    _, packets = read(file)
    frames = [Frame.of(one) for one in packets if one.node == "air"]
    sent: dict[bytes, list[Frame]] = {}
    for frame in frames:
        if frame.kind == DATA:
            sent.setdefault(frame.packet, []).append(frame)
    come = [one for one in packets if one.way == IN]
    # Without a link, packets arrive at both ends when their frame has ended.
    for one in come:
        *lost, last = sent[one.kept]
        assert last.intact
        assert not any(before.intact for before in lost)
        # 192 us of preamble and header; MAC, LLC and FCS are 36 bytes.
        frame_ns = 192_000 + (one.length + MAC_AND_LLC + 4) * 8 / 11e6 * 1e9
        assert one.time_ns - last.time_ns == pytest.approx(frame_ns, abs=2_000)
    # Each intact frame is acknowledged, in both directions, in the measured time.
    counts = measured.testbed.counts
    measured_frames = [one for one in frames if one.time_ns >= 500_000_000]
    acks = sum(one.kind == MAC_ACK for one in measured_frames)
    assert acks == pytest.approx(counts["mac_exchanges"], abs=2)
    collided = counts["mac_attempts"] - counts["mac_exchanges"]
    assert collided > 0
    assert sum(not one.intact for one in measured_frames) == pytest.approx(collided, abs=2)


@dataclass(frozen=True)
class Frame:
    time_ns: int
    kind: int
    intact: bool
    #: The number of the node with this address.
    receiver: int
    packet: bytes

    @classmethod
    def of(cls, record: Packet) -> "Frame":
        """Parse a frame by the radiotap lengths and flags of 802.11b, and its FCS."""
        header = int.from_bytes(record.kept[2:4], "little")
        frame = record.kept[header:-4]
        intact = zlib.crc32(frame) == int.from_bytes(record.kept[-4:], "little")
        return cls(record.time_ns, frame[0], intact, frame[9], frame[MAC_AND_LLC:])


@pytest.mark.usefixtures("machine")
def test_of_two_cells_each_node_has_what_it_hears(tmp_path: Path) -> None:
    """Access points hear each other and their own stations: the clerk never hears the reader."""
    file = tmp_path / "two.pcapng"
    measured = measure(loads(TWO), name="two.toml", pcap=file, snaplen=2000)

    names, packets = read(file)
    nodes = ["left", "right", "reader/0", "clerk/0"]
    assert names == ["server", "reader/0", "clerk/0", *(f"air at {node}" for node in nodes)]
    assert [one.time_ns for one in packets] == sorted(one.time_ns for one in packets)
    heard = {
        node: [Frame.of(one) for one in packets if one.node == f"air at {node}"] for node in nodes
    }
    for station, access_point in (("reader/0", "left"), ("clerk/0", "right")):
        come = {one.kept for one in packets if (one.node, one.way) == (station, IN)}
        left = {one.kept for one in packets if (one.node, one.way) == (station, OUT)}
        sent, received = (
            {one.packet for one in heard[node] if one.kind == DATA and one.intact}
            for node in (access_point, station)
        )
        # Its own packets and its access point's, with retransmissions; none of the other cell.
        assert len(come) > 100
        # One may still be on the air when the run ends.
        assert len(received - come - left) <= 1
        # One may lack its response when the run ends.
        assert come <= sent
        assert len(come - received) <= 1
        # Access points hear each other: each one's frames are on the other's interface.
        other = {"left": "right", "right": "left"}[access_point]
        assert come & {one.packet for one in heard[other]}
    acks = sum(
        one.kind == MAC_ACK and one.time_ns >= 500_000_000 and one.receiver == node
        for node in range(4)
        for one in heard[nodes[node]]
    )
    assert acks == pytest.approx(measured.testbed.counts["mac_exchanges"], abs=4)
    if shutil.which("tshark"):
        # Each packet is on several interfaces: copies of a segment are not fragments.
        each = ["-o", "tcp.desegment_tcp_streams:FALSE"]
        wrong = ["tshark", "-n", *each, "-r", str(file), "-Y", "_ws.malformed || _ws.short"]
        found = subprocess.run(wrong, capture_output=True, text=True, check=True, timeout=120)
        assert found.stdout == ""


@pytest.mark.usefixtures("machine")
def test_a_shell_has_captures_too(file: Path, tmp_path: Path) -> None:
    capture = tmp_path / "shell.pcapng"
    program = (
        "import os, socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
        ".sendto(b'hello', (os.environ['AIRTCP_SERVER'], 9))"
    )
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "airtcp", "shell", str(file), "--node", "laptop/1"),
            *("--pcap", str(capture), "--", sys.executable, "-c", program + "; input()"),
        ],
        input="\n",
        text=True,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr

    _, packets = read(capture)
    [sent] = [one for one in packets if one.node == "laptop/1" and one.way == OUT]
    assert sent.length == 33
    assert sent.kept.endswith(b"hello")


def test_only_captures_of_ours_give_way(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), captured(tmp_path / "x", ["server"], ["air"], 64, []):
        raise KeyboardInterrupt
    # A failure leaves no file.
    assert list(tmp_path.iterdir()) == []
    scenario, ours, others = (tmp_path / name for name in ("s.toml", "ours", "others"))
    with captured(ours, ["server"], ["air"], 64, []):
        pass
    others.write_bytes(ours.read_bytes().replace(b"airtcp testbed", b"somebody else."))

    check(scenario, pcap=ours)
    with pytest.raises(OutputError, match="airtcp did not write it"):
        check(scenario, pcap=others)
    check(scenario, pcap=others, force=True)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_disk_that_is_full_takes_no_result_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The temporary file cannot be written."""
    lost: list[OutputError] = []
    monkeypatch.setattr("airtcp.files.os.getpid", lambda: "now")
    (tmp_path / ".x.now").symlink_to("/dev/full")
    with captured(tmp_path / "x", ["server"], ["air"], 64, lost):
        pass

    assert [str(one) for one in lost] == [
        f"cannot write to {tmp_path / 'x'}: No space left on device"
    ]
    assert not (tmp_path / "x").exists()

"""Captures: every data frame is in the scenario or counted in a line, and no name is kept."""

import random
import re
import shutil
import struct
import subprocess
import sys
import tomllib
import zlib
from pathlib import Path

import pytest
from airtcp.cli.commands import app
from airtcp.exceptions import ScenarioError
from airtcp.importer.capture.draft import read_capture
from airtcp.importer.capture.radiotap import Reader, Sent
from airtcp.importer.files import drafts_of
from imported import draft_of, pcap, scenario_of
from test_memory import PRINT_PEAK
from typer.testing import CliRunner

AP, OTHER, GROUP = (bytes.fromhex(one) for one in ("020000000001", "020000000099", "01005e000001"))
STATIONS = [bytes.fromhex(f"0200000000{n:02x}") for n in range(16, 22)]
SNAP = bytes.fromhex("aaaa030000000800")
HOST = bytes((192, 0, 2, 7))


def udp(size: int) -> bytes:
    head = struct.pack(">BBHHHBBH", 0x45, 0, size, 0, 0, 64, 17, 0) + bytes((10, 0, 0, 1)) + HOST
    return SNAP + head + struct.pack(">HHHH", 5000, 6000, size - 20, 0) + bytes(size - 28)


def data(control: int, to_ds: int, addresses: list[bytes], number: int, body: bytes) -> bytes:
    head = struct.pack("<BBH", control, to_ds, 44) + b"".join(addresses[:3])
    return head + struct.pack("<H", number << 4 & 0xFFFF) + b"".join(addresses[3:]) + body


def accounted(text: str) -> int:
    """Count the data frames that a scenario's header reports, read or left out with a reason."""
    lines = re.sub(r"\n#   ", " ", text)
    inside = re.search(r"data frames: (\d+) in the scenario, (\d+) not read", lines)
    # Encrypted frames are in the scenario.
    reasons = sum(int(one) for one in re.findall(r"# - (\d+) data frames? (?!are )", lines))
    assert reasons == int(inside[2])
    return int(inside[1]) + reasons


def multicast(path: Path, *, unicast: int = 28, group: int = 274) -> None:
    """Write a capture without radiotap: a few unicast datagrams and many multicast ones."""
    told = [data(0x08, 2, [STATIONS[0], AP, AP], n, udp(200)) for n in range(unicast)]
    told += [data(0x08, 2, [GROUP, AP, AP], n, udp(1300)) for n in range(group)]
    frames = [(10**6 * n, one, len(one)) for n, one in enumerate(told)]
    path.write_bytes(pcap(frames, link=105))


def test_multicast_is_a_line_with_its_count(tmp_path: Path) -> None:
    path = tmp_path / "multicast.pcap"
    multicast(path)

    text = scenario_of([path])

    assert accounted(text) == 302
    assert "274 data frames multicast" in text
    # There is no TCP, so no line mentions it.
    assert not re.search("SYNs were answered|a segment|congestion control", text)


def test_frames_of_no_use_are_refused_with_their_count(tmp_path: Path) -> None:
    path = tmp_path / "air.pcap"
    multicast(path, unicast=0)
    with pytest.raises(ScenarioError, match="274 data frames multicast"):
        scenario_of([path])
    # A mesh has no access point.
    beacon = data(0x80, 0, [b"\xff" * 6, OTHER, OTHER], 1, bytes(8) + b"\x64\0\0\0")
    path.write_bytes(pcap([(10**8 * n, beacon, len(beacon)) for n in range(20)], link=105))
    with pytest.raises(ScenarioError, match="20 beacons of a mesh"):
        scenario_of([path])


def test_names_are_on_stderr_unless_they_are_kept(tmp_path: Path) -> None:
    path, out = tmp_path / "air.pcap", tmp_path / "out.toml"
    formats(path, 1)
    address = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}|\b\d+\.\d+\.\d+\.\d+\b")

    command = ["import", str(path), "--out", str(out)]
    plain = CliRunner().invoke(app, command)
    told = out.read_text()
    kept = CliRunner().invoke(app, [*command, "--force", "--keep-names"])

    assert (plain.exit_code, kept.exit_code) == (0, 0)
    assert [bool(address.search(one)) for one in (told, plain.stderr, out.read_text())] == [
        False, True, True,
    ]  # fmt: skip
    assert tomllib.loads(told)["flows"] == tomllib.loads(out.read_text())["flows"]


def test_reading_tells_how_far_it_is(tmp_path: Path) -> None:
    path = tmp_path / "air.pcap"
    formats(path, 2, 4000)
    parts: list[float] = []

    read_capture(path, parts.append)

    assert parts == sorted(parts)
    assert parts[-1] == 1.0


def radiotap(draw: random.Random, kind: int, *, has_fcs: bool) -> bytes:
    """A radiotap header with flags and no rate, a legacy rate, or an HT, VHT or HE rate."""
    # One frame in twenty is flagged as having a bad FCS.
    flags = (0x10 if has_fcs else 0) | (0x40 if draw.random() < 0.05 else 0)
    present, body = [
        (1 << 1, struct.pack("<B", flags)),
        (0b1111, struct.pack("<QBBHH", draw.randrange(1 << 40), flags, 108, 5180, 0x140)),
        (1 << 1 | 1 << 19, struct.pack("<BBBB", flags, 7, 5, draw.randrange(16))),
        (
            1 << 31 | 1 << 1 | 1 << 20 | 1 << 21,
            struct.pack("<IB3xIHBB", 0, flags, draw.randrange(9), 0, 0, 0)
            + struct.pack("<HBBBBBBBBH", 0x44, 0, 4, 0x92, 0, 0, 0, 0, 0, 0),
        ),
        (1 << 1 | 1 << 23, struct.pack("<BxHHHHHH", flags, 0x4020, 2, 5 << 8, 0, 2, 1)),
    ][kind]
    return struct.pack("<BBHI", 0, 0, 8 + len(body), present) + body


@pytest.mark.parametrize(
    ("code", "mhz"),
    # As tshark 4.0.17 has them; 2 is 20L, a part of a channel of 40 MHz.
    [(0, 20), (1, 40), (2, 20), (4, 80), (6, 40), (9, 20), (11, 160), (13, 80), (17, 40), (25, 20)],
)
def test_a_vht_frame_has_the_width_of_its_part_of_the_channel(code: int, mhz: int) -> None:
    header = struct.pack("<BBHI", 0, 0, 20, 1 << 21)
    found = Reader().read(header + struct.pack("<HBB8s", 0x44, 0, code, b"\x52"))

    assert found[0].sent == Sent("vht", 0, 5, 2, mhz, 800)


def test_a_stray_rate_of_802_11b_in_5_ghz_is_no_preamble(tmp_path: Path) -> None:
    """mac80211_hwsim of Linux 6.1 writes such rates."""
    path, told = tmp_path / "air.pcap", []
    for number in range(200):
        rate, flags = (22, 0xA0) if number == 7 else (24, 0xC0)
        header = struct.pack("<BBHIBxHH", 0, 0, 14, 0b1100, rate, 5180, flags)
        told.append(header + data(0x08, 1, [AP, STATIONS[0], AP], number, udp(1400)))
    path.write_bytes(pcap([(10**7 * n, one, len(one)) for n, one in enumerate(told)]))

    assert tomllib.loads(draft_of([path]).text())["phy"] == {"standard": "802.11a"}


def any_frame(draw: random.Random, number: int) -> bytes:
    """A frame of one of many kinds; the first 17 are data frames."""
    station, packet = draw.choice(STATIONS), udp(draw.choice((60, 200, 1400)))
    tid, host = struct.pack("<H", draw.randrange(8)), HOST + b"\0\0"
    down, up, empty = [station, AP, host], [AP, station, host], [AP, station, AP]
    inner = station + host + struct.pack(">H", len(packet)) + packet
    inner += bytes(-len(inner) % 4)
    # Subtype and flags, addresses, and what follows them.
    control, flags, addresses, body = [
        (0x08, 2, down, packet),
        (0x08, 1, up, packet),
        (0x88, 2, down, tid + packet),
        (0x88, 1, up, tid + packet),
        (0x88, 0x0A, down, tid + packet),
        (0xC8, 1, empty, tid),
        (0x48, 1, empty, b""),
        (0x58, 1, empty, b""),
        (0x88, 0x42, down, tid + bytes(8) + draw.randbytes(200)),
        (0x88, 0x49, up, tid + bytes(8) + draw.randbytes(90)),
        (0x88, 2, [station, AP, AP], b"\x80\0" + inner + inner),
        (0x08, 2, [GROUP, AP, AP], packet),
        (0x88, 3, [AP, OTHER, station, station], tid + packet),
        (0x08, 0, [station, STATIONS[0], OTHER], packet),
        (0x98, 1, up, tid + packet),
        (0x28, 2, down, packet),
        (0x88, 2, [station, OTHER, OTHER], tid + packet),
        (0x80, 0, [b"\xff" * 6, AP, AP], bytes(8) + b"\x64\0\x01\0\0\4test"),
        # Damaged: without a network name.
        (0x80, 0, [b"\xff" * 6, AP, AP], bytes(8) + b"\x64\0\x01\0"),
        (0xD0, 0, [AP, station, AP], bytes(10)),
    ][draw.randrange(20)]
    return data(control, flags, addresses, number, body)


def formats(path: Path, seed: int, frames: int = 400) -> int:
    """Write a capture in some format; return its number of data frames."""
    draw = random.Random(seed)
    link, has_fcs = draw.choice((127, 127, 105)), draw.random() < 0.5
    order, snap, kind = draw.choice("<>"), draw.choice((65535, 96, 128)), draw.randrange(5)
    told: list[tuple[int, bytes, int]] = []
    count = 0
    for number in range(frames):
        frame = any_frame(draw, number)
        count += frame[0] >> 2 & 3 == 2
        if link == 127:
            fcs = struct.pack("<I", zlib.crc32(frame)) if has_fcs else b""
            frame = radiotap(draw, kind, has_fcs=has_fcs) + frame + fcs
        told.append((10**15 + 10**6 * number, frame[:snap], len(frame)))
    if draw.random() < 0.5:
        magic, unit_ns = draw.choice(((0xA1B2C3D4, 1000), (0xA1B23C4D, 1)))
        out = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snap, link)
        for time_ns, kept, length in told:
            part = time_ns % 10**9 // unit_ns
            out += struct.pack(order + "IIII", time_ns // 10**9, part, len(kept), length) + kept
    else:
        out = block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))
        resolution = struct.pack(order + "HHB3xHH", 9, 1, 9, 0, 0)
        out += block(order, 1, struct.pack(order + "HHI", link, 0, snap) + resolution)
        for time_ns, kept, length in told:
            times = (0, time_ns >> 32, time_ns & 0xFFFFFFFF, len(kept), length)
            out += block(order, 6, struct.pack(order + "IIIII", *times) + kept)
    path.write_bytes(out)
    return count


def block(order: str, kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    size = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", kind) + size + body + size


@pytest.mark.parametrize("seed", range(12))
def test_frames_of_all_kinds_and_formats_are_accounted_for(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "air.pcap"
    count = formats(path, seed)

    assert accounted(drafts_of([path])[0].text()) == count


def damaged(whole: bytes, seed: int) -> bytes:
    """Change, cut, insert or remove bytes of a capture."""
    draw = random.Random(seed)
    content = bytearray(whole)
    for _ in range(draw.choice((1, 3, 30))):
        # Half of the positions are near the header, where damaged lengths do most harm.
        place = draw.randrange(draw.choice((min(64, len(content)), len(content))))
        kind = draw.randrange(6)
        if kind == 0:
            del content[place : place + draw.randrange(1, 40)]
        elif kind == 1:
            content[place:place] = draw.randbytes(draw.randrange(1, 40))
        elif kind == 2 and place > 64:
            del content[place:]
        else:
            content[place] = draw.choice((0, 1, 0x7F, 0xFF, draw.randrange(256)))
    return bytes(content)


@pytest.mark.parametrize("first", [0, pytest.param(1000, marks=pytest.mark.verify)])
def test_captures_with_any_bytes_are_read_or_refused(tmp_path: Path, first: int) -> None:
    path = tmp_path / "air.pcap"
    read = refused = 0
    for seed in range(first, first + (40 if first == 0 else 400)):
        formats(path, seed)
        path.write_bytes(damaged(path.read_bytes(), seed))
        try:
            read += accounted(drafts_of([path])[0].text()) >= 0
        except ScenarioError:
            refused += 1
    assert read > 0
    assert refused > 0


def shark(path: Path) -> int:
    """The number of data frames that tshark finds in a file."""
    program = shutil.which("tshark")
    if program is None:
        pytest.skip("tshark is missing")
    command = [program, "-r", str(path), "-Y", "wlan.fc.type==2", "-T", "fields"]
    said = subprocess.run(
        [*command, "-e", "frame.number"], capture_output=True, text=True, timeout=60, check=False
    ).stdout
    return len(said.split())


@pytest.mark.verify
@pytest.mark.parametrize("seed", range(200, 230))
def test_tshark_finds_as_many_frames_in_all_formats(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "air.pcap"
    formats(path, seed)

    assert accounted(drafts_of([path])[0].text()) == shark(path)


def long(path: Path, size: int) -> None:
    """Write a capture of at least `size` bytes: the same frames again and again, 200 us apart."""
    draw = random.Random(1)
    told = [radiotap(draw, n % 5, has_fcs=False) + any_frame(draw, n) for n in range(20_000)]
    with path.open("wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 127))
        number = 0
        while out.tell() < size:
            for frame in told:
                number += 1
                seconds, us = divmod(200 * number, 10**6)
                out.write(struct.pack("<IIII", seconds, us, len(frame), len(frame)) + frame)


#: Prints the peak memory of a process that read a capture, and how often it reported progress.
READ = f"""import sys
from pathlib import Path
from airtcp.importer.capture.draft import read_capture
told = []
read_capture(Path(sys.argv[1]), told.append)
{PRINT_PEAK}
print(len(told))
"""


@pytest.mark.verify
@pytest.mark.timeout(1800)
def test_memory_stays_level_over_a_gigabyte(tmp_path: Path) -> None:
    peaks = []
    for size in (10**8, 10**9):
        path = tmp_path / "long.pcap"
        long(path, size)
        command = [sys.executable, "-c", READ, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        path.unlink()
        peak, times = map(int, done.stdout.split())
        peaks.append(peak)
        # The progress bar moves at least every 1 %.
        assert times >= 100
    assert peaks[1] < 1.1 * peaks[0] < 100e6

"""Captures of 802.11n and later, and readers for their PPDUs, A-MSDUs and Block ACK windows."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from airtcp import simulate
from airtcp.scenario import loads
from bases import cell
from captures import Frame, records

WARMUP_S, DURATION_S = 0.2, 0.6

BULK, SPREAD = 'application = { kind = "bulk" }', 'start_spread = "0 s"'


def text(standard: str, phy: str = "", mac: str = "", errors: str = 'frame_errors = "5 %"') -> str:
    """Return three stations that download and upload."""
    up = ["[[flows]]", 'name = "up"', 'stations = "a"', 'direction = "upload"']
    return cell(
        3,
        standard=standard,
        phy=phy,
        tables=f"[mac]\n{mac}",
        name="a",
        group=errors,
        flow="\n".join(['name = "down"', SPREAD, *up, SPREAD, BULK]),
        warmup="200 ms",
        duration="600 ms",
        replications=1,
        seed=11,
    )


SCENARIOS = {
    "n": text("802.11n"),
    "n at 2.4 GHz, 40 MHz, two streams, A-MSDUs, RTS": text(
        "802.11n",
        'band = "2.4 GHz"\nchannel_width = "40 MHz"\nmcs = 3\nspatial_streams = 2',
        'rts_threshold = "2000 B"\naggregation = { amsdu = "7935 B" }',
    ),
    "ac, Block ACK requests": text("802.11ac", mac='rules = { preset = "ns-3" }'),
    "ax, 256 frames": text("802.11ax", 'guard_interval = "1600 ns"'),
    "be, 320 MHz, 1024 frames": text("802.11be", 'channel_width = "320 MHz"'),
    "ac, few retries, TXOP": text(
        "802.11ac",
        mac='short_retry_limit = 2\nedca = { preset = "standard" }',
        errors='frame_errors = "30 %"',
    ),
}
#: PPDUs to two of three stations at once, in resource units of 242 tones.
OF_SEVERAL = {
    how: text("802.11ax", 'channel_width = "40 MHz"', f'ofdma = {{ acknowledgment = "{how}" }}')
    for how in ("mu-bar", "bar-sequence")
}


@cache
def captured(name: str) -> tuple[list[Frame], dict[str, Any], bytes]:
    with TemporaryDirectory() as directory:
        path = Path(directory) / "air.pcap"
        result = simulate(
            loads((SCENARIOS | OF_SEVERAL)[name]), threads=1, pcap=path, snaplen=65_535
        )
        content = path.read_bytes()
    return intact(content), dict(result.simulation.runs[0].answer), content


def intact(content: bytes) -> list[Frame]:
    """Return the frames of a capture. Check that the FCS is right except in lost frames."""
    frames = list(records(content))
    assert all((zlib.crc32(frame.mpdu) == frame.fcs) != frame.bad for frame in frames)
    return frames


def ppdus(frames: list[Frame]) -> Iterator[list[Frame]]:
    """Yield frames that are sent together: subframes of an A-MPDU share its number."""
    group: list[Frame] = []
    for frame in frames:
        if group and (frame.ampdu is None or frame.ampdu[0] != group[0].ampdu[0]):
            yield group
            group = []
        if frame.ampdu is None:
            yield [frame]
        else:
            group.append(frame)
    if group:
        yield group


def window(name: str) -> int:
    """Return the number of frames that a Block ACK covers."""
    return next((count for count in (1024, 256) if str(count) in name), 64)


def packets(frame: Frame) -> Iterator[bytes]:
    """Yield the IP packets of a data frame: one, or the subframes of an A-MSDU (9.2.2)."""
    if not frame.mpdu[24] & 0x80:
        yield frame.mpdu[34:]
        return
    place = 26
    while place < len(frame.mpdu):
        place += -(place - 26) % 4
        length = int.from_bytes(frame.mpdu[place + 12 : place + 14], "big")
        llc, ip = frame.mpdu[place + 14 : place + 22], frame.mpdu[place + 22 : place + 14 + length]
        assert llc == bytes.fromhex("aaaa030000000800")
        assert int.from_bytes(ip[2:4], "big") == len(ip)
        yield ip
        place += 14 + length
    assert place == len(frame.mpdu)


def is_data(frame: Frame) -> bool:
    """Whether a frame has more than bare TCP ACKs: TCP payload, or a SYN."""
    return any(len(ip) > 20 + 4 * (ip[32] >> 4) or bool(ip[33] & 0x02) for ip in packets(frame))

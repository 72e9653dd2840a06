"""A capture equals what the simulation counts: frame by frame, to the nanosecond.

`captures` reads files independently, from the format documents. test_tshark.py uses Wireshark.
"""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from airtcp import OutputError, simulate
from airtcp.scenario import loads
from bases import refused
from captures import (
    DURATION_S,
    SCENARIOS,
    Frame,
    airtime_ns,
    capture,
    flow,
    read,
    scenario_text,
)
from children import Children

Captured = tuple[list[Frame], dict[str, Any], Path]


@pytest.fixture(scope="module", params=SCENARIOS)
def captured(
    request: pytest.FixtureRequest, air: Callable[[str], tuple[Path, dict[str, Any]]]
) -> Captured:
    path, answer = air(request.param)
    text = SCENARIOS[request.param]
    return read(path, 52 if "header_bits = 416" in text else 40), answer, path


def test_airtime_from_rates_and_lengths_is_that_of_the_result(captured: Captured) -> None:
    """To less than a nanosecond: shares are floats."""
    frames, answer, _ = captured
    parts = airtime_ns(frames)

    total = DURATION_S * 1_000_000_000
    for part, time_ns in parts.items():
        assert abs(answer["airtime"][part] * total - time_ns) < 0.1, part
    assert abs(answer["airtime"]["idle"] * total - (total - sum(parts.values()))) < 0.1


def test_frames_are_as_many_as_the_counts_say(captured: Captured) -> None:
    """Counts cover the measured time; the capture also has the warm-up."""
    frames, answer, _ = captured
    begin, end = 1_000_000_000, 5_000_000_000
    ended = [frame for frame in frames if frame.kind == "ack" and begin <= frame.end_ns < end]
    collided = {frame.start_ns for frame in frames if frame.bad and begin <= frame.start_ns < end}
    begun = [
        frame
        for frame in frames
        if frame.kind in ("data", "rts", "beacon") and begin <= frame.start_ns < end
    ]
    behind_rts = sum(frame.kind == "cts" and begin <= frame.start_ns < end for frame in frames)

    assert len(ended) == answer["counts"]["mac_exchanges"]
    assert len(collided) == answer["counts"]["collisions"]
    # The data frame of an exchange that begins with an RTS is not an attempt of its own; an
    # exchange may straddle one end of the measured time.
    assert abs(len(begun) - behind_rts - answer["counts"]["mac_attempts"]) <= 1


def test_answers_come_after_sifs_and_durations_say_when_it_is_over(captured: Captured) -> None:
    """SIFS is 10 us at 2.4 GHz and 16 us at 5 GHz, and there is no propagation delay here."""
    frames, _, _ = captured
    sifs = 16_000 if frames[0].channel_flags & 0x100 else 10_000
    for index, frame in enumerate(frames):
        if frame.kind == "ack":
            assert frame.duration_us == 0
        if frame.bad or frame.kind in ("ack", "beacon"):
            continue
        answer = frames[index + 1]
        assert answer.kind == {"rts": "cts", "cts": "data", "data": "ack"}[frame.kind]
        assert answer.start_ns == frame.end_ns + sifs
        if frame.kind == "cts":
            assert answer.transmitter == frame.receiver
        else:
            assert answer.receiver == frame.transmitter
        ack = next(at for at in range(index, len(frames)) if frames[at].kind == "ack")
        over = frames[ack]
        assert frame.duration_us == -(-(over.end_ns - frame.end_ns) // 1000)


def test_radiotap_times_are_those_of_the_first_bit_and_the_fcs_of_whole_frames(
    captured: Captured,
) -> None:
    """The FCS is right except in collisions; Wireshark checks checksums (`test_tshark`)."""
    frames, _, _ = captured
    for frame in frames:
        preamble = 20_000
        if frame.channel_flags & 0x20:
            preamble = 96_000 if frame.short_preamble else 192_000
        assert frame.tsft_us == (frame.start_ns + preamble) // 1000
        assert (zlib.crc32(frame.mpdu) == frame.fcs) != frame.bad
        assert frame.length == len(frame.mpdu) + 4
    # Frames only overlap when they collide.
    for before, after in itertools.pairwise(frames):
        collide = before.bad and after.bad and before.start_ns == after.start_ns
        assert collide or after.start_ns >= before.end_ns


def test_a_retry_is_the_same_frame_with_the_retry_bit(captured: Captured) -> None:
    frames, _, _ = captured
    last: dict[tuple[bytes, bytes], Frame] = {}
    retries = 0
    for frame in [frame for frame in frames if frame.kind == "data"]:
        tid = frame.mpdu[24:26] if frame.mpdu[0] == 0x88 else b""
        # With QoS one counter for each receiver and TID, otherwise one for each transmitter.
        key = (frame.transmitter, tid and tid + frame.receiver)
        before = last.get(key)
        if before is None:
            assert frame.number == 0
            assert not frame.retry
        elif frame.retry:
            retries += 1
            assert before.bad
            assert frame.number == before.number
            assert frame.packet == before.packet
        else:
            assert frame.number == (before.number + 1) % 4096
            assert frame.packet[4:6] != before.packet[4:6] or frame.transmitter[-1] == 0
        last[key] = frame
    collided_data = sum(frame.bad and frame.kind == "data" for frame in frames)
    # Dropped frames are not sent again; a frame that waits at the end is not sent again yet.
    assert retries <= collided_data
    assert retries > 0 or collided_data < 20


def test_beacons_are_as_many_as_the_counts_say(captured: Captured) -> None:
    frames, answer, _ = captured
    beacons = [frame for frame in frames if frame.kind == "beacon"]
    measured = [frame for frame in beacons if 1_000_000_000 <= frame.start_ns < 5_000_000_000]

    assert len(measured) == answer["counts"]["beacons"]
    assert sum(frame.bad for frame in measured) == answer["counts"]["beacon_collisions"]
    for number, frame in enumerate(beacons):
        assert frame.receiver == b"\xff" * 6
        assert frame.transmitter == bytes([2, 0, 0, 0, 0, 0])
        assert frame.number == number % 4096
        assert int.from_bytes(frame.mpdu[24:32], "little") == frame.start_ns // 1000


def test_addresses_tell_direction_and_node(captured: Captured) -> None:
    frames, answer, _ = captured
    ap = bytes([2, 0, 0, 0, 0, 0])
    sent: Counter[str] = Counter()
    for frame in [frame for frame in frames if frame.kind == "data"]:
        packet = frame.packet
        if frame.mpdu[1] & 0x02:
            assert frame.transmitter == ap
            assert packet[12:14] == bytes([198, 18])
            assert packet[16:20] == bytes([10, 0, 0, frame.receiver[-1]])
        else:
            assert frame.mpdu[1] & 0x01
            assert frame.receiver == ap
            assert packet[12:16] == bytes([10, 0, 0, frame.transmitter[-1]])
        begin = 1_000_000_000
        if not frame.bad and frame.start_ns >= begin:
            sent[f"a/{frame.transmitter[-1] - 1}" if frame.mpdu[1] & 1 else "ap"] += 1
    for station in answer["stations"]:
        # The exchange at the beginning, and the one at the end.
        assert abs(sent[station["name"]] - station["successes"]) <= 1


def test_a_capture_has_the_first_bytes_of_each_frame(tmp_path: Path) -> None:
    text = SCENARIOS["EDCA, SACK, losses"]
    capture(text, tmp_path / "whole.pcap", snaplen=65_535)
    capture(text, tmp_path / "cut.pcap", snaplen=100)
    capture(text, tmp_path / "default.pcap")
    whole, cut, default = (read(tmp_path / f"{name}.pcap") for name in ("whole", "cut", "default"))

    assert len(whole) == len(cut) == len(default)
    for one, two, three in zip(whole, cut, default, strict=True):
        assert (one.start_ns, one.length, one.bad) == (two.start_ns, two.length, two.bad)
        assert one.mpdu.startswith(two.mpdu)
        assert one.mpdu.startswith(three.mpdu)
        assert two.fcs == (one.fcs if one.length <= 78 else None)
        # All headers are kept.
        assert len(three.mpdu) >= min(len(one.mpdu), 34 + 80)
    assert max(len(frame.mpdu) for frame in whole) == 30 + 8 + 1500 - 4


@pytest.mark.parametrize("snaplen", [104, *range(107, 112)])
def test_a_capture_may_end_within_an_fcs(tmp_path: Path, snaplen: int) -> None:
    # A TCP ACK is 22 + 24 + 8 + 40 + 4 bytes with radiotap: 98, and 110 with timestamps.
    text = scenario_text("802.11b", 1, flow("download", tcp="timestamps = true"), duration_s=1)
    capture(text, tmp_path / "cut.pcap", snaplen=snaplen)

    # A record shorter than its header says would break the parsing of the next one.
    assert 110 - 22 in {frame.length for frame in read(tmp_path / "cut.pcap")}


def test_an_absurd_snaplen_is_refused() -> None:
    with refused("run.options.snaplen", snaplen=63):
        simulate(loads(SCENARIOS["downloads"]), pcap="x.pcap", snaplen=63)
    with pytest.raises(OutputError, match="No such file"):
        simulate(loads(SCENARIOS["downloads"]), pcap="/nowhere/x.pcap")


def test_an_interrupted_run_leaves_the_capture_of_its_first_replication(
    tmp_path: Path, started: Children
) -> None:
    text = SCENARIOS["downloads"].replace("replications = 2", "replications = 100000")
    (tmp_path / "s.toml").write_text(text)
    command = [sys.executable, "-m", "airtcp", "simulate", "s.toml", "-q", "--pcap", "air.pcap"]
    running = started.start(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    aside = tmp_path / f".air.pcap.{running.pid}"
    deadline = time.monotonic() + 60
    # Far more than the first replication writes.
    while not (aside.exists() and aside.stat().st_size > 500_000):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(1.0)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)

    assert running.returncode == 130
    assert "interrupted" in said
    assert {path.name for path in tmp_path.iterdir()} == {"s.toml", "air.pcap"}
    expected = tmp_path / "expected.pcap"
    capture(SCENARIOS["downloads"], expected)
    assert (tmp_path / "air.pcap").read_bytes() == expected.read_bytes()

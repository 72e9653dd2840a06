"""Captures of 802.11n, ac and ax: A-MPDUs, Block ACKs and requests, by own code and by tshark."""

from __future__ import annotations

import itertools
from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from aggregates import (
    SCENARIOS,
    WARMUP_S,
    captured,
    is_data,
    packets,
    ppdus,
    window,
)
from airtcp import simulate
from airtcp.scenario import loads
from captures import records
from witness_tools import malformed, needs_tshark, tshark


@pytest.fixture(
    params=[
        # This scenario's capture has most frames.
        pytest.param(one, marks=pytest.mark.verify if window(one) == 1024 else ())
        for one in SCENARIOS
    ]
)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_there_is_enough_to_look_at(name: str) -> None:
    frames, _, _ = captured(name)
    kinds = Counter(frame.kind for frame in frames)

    assert kinds["data"] > 400
    assert kinds["block ack"] > 50
    assert sum(frame.bad for frame in frames) > 20
    assert sum(frame.retry for frame in frames) > 20
    if "requests" in name or "few" in name:
        assert kinds["request"] > 5
    if "RTS" in name:
        assert kinds["rts"] > kinds["cts"] > 20
    if "A-MSDUs" in name:
        inside = [len(list(packets(frame))) for frame in frames if frame.kind == "data"]
        assert sum(count > 1 for count in inside) > 100


def test_subframes_of_an_ampdu_go_at_once_in_order_and_the_last_is_told(name: str) -> None:
    frames, _, _ = captured(name)
    format_field = {"n": 19, "ac": 21, "ax": 23, "be": 28}[name.split()[0].rstrip(",")]
    references = []
    for ppdu in ppdus(frames):
        first = ppdu[0]
        assert len({frame.start_ns for frame in ppdu}) == 1
        assert len({frame.receiver for frame in ppdu}) == 1
        numbers = [frame.number for frame in ppdu]
        if first.kind != "data":
            assert len(ppdu) == 1
            assert set(first.fields) == {0, 1, 2, 3}
            continue
        assert format_field in first.fields
        assert 2 not in first.fields
        steps = [(b - a) % 4096 for a, b in itertools.pairwise(numbers)]
        assert all(0 < step < 256 for step in steps)
        if first.ampdu is None:
            assert format_field == 19
            continue
        references.append(first.ampdu[0])
        alone = 0xC0 if len(ppdu) == 1 else 0
        flags = [frame.ampdu[1] for frame in ppdu if frame.ampdu]
        assert flags == [0x04 | alone] * (len(ppdu) - 1) + [0x0C | alone]
    assert references == list(range(1, len(references) + 1))


def test_answers_tell_what_came_and_what_did_not_is_sent_again(name: str) -> None:
    """After each data PPDU without a collision: an ACK, or a Block ACK whose bitmap has this PPDU's
    frames with a right FCS and no others; nothing, if no frame was received.

    Acknowledged frames are not sent again. Others are, unless they are dropped: then a request
    moves the window beyond them.
    """
    frames, answer, _ = captured(name)
    answered: dict[tuple[bytes, bytes], set[int]] = {}
    unanswered: dict[tuple[bytes, bytes], set[int]] = {}
    seen: dict[tuple[bytes, bytes], int] = {}
    told = lost = 0
    groups = list(ppdus(frames))
    for ppdu, after in itertools.pairwise(groups):
        first, then = ppdu[0], after[0]
        pair = (first.transmitter, first.receiver)
        if first.kind == "request" and not first.bad:
            assert then.kind == "block ack"
            assert then.receiver == first.transmitter
            assert (then.number - first.number) % 4096 < 2048
            behind = {
                n for n in unanswered.get(pair, set()) if (first.number - n - 1) % 4096 < 2048
            }
            unanswered[pair] = unanswered.get(pair, set()) - behind
        if first.kind != "data":
            continue
        here = {frame.number for frame in ppdu}
        again = unanswered.setdefault(pair, set())
        done = answered.setdefault(pair, set())
        for frame in ppdu:
            is_new = (frame.number - seen.get(pair, -1)) % 4096 in range(1, 2048)
            assert frame.retry != is_new, (frame.number, seen.get(pair))
            if is_new:
                seen[pair] = frame.number
        assert not here & done
        came = {frame.number for frame in ppdu if not frame.bad}
        if not came:
            # There is no response, so another exchange follows.
            assert then.kind in ("data", "rts", "request") or then.transmitter == first.transmitter
        elif len(ppdu) == 1:
            assert (then.kind, then.receiver) == ("ack", first.transmitter)
        else:
            assert (then.kind, then.receiver) == ("block ack", first.transmitter)
            assert then.transmitter == first.receiver
            assert then.received & here == came
            assert (min_number(came) - then.number) % 4096 < window(name)
            told += 1
        lost += len(here - came)
        done |= came
        again -= came
        again |= here - came
        # Sequence numbers wrap around.
        done -= {n for n in done if (seen[pair] - n) % 4096 > 2048}
    assert told > 50
    assert lost > 20
    # Frames that failed last may wait; all others were sent again or dropped.
    left = sum(len(one) for one in unanswered.values())
    given_up = answer["counts"]["mac_drops"]
    assert left <= given_up + 6 * 64, (left, given_up)
    sizes = {frame.length for frame in frames if frame.kind == "block ack"}
    assert sizes == {24 + max(window(name), 64) // 8}


def min_number(numbers: set[int]) -> int:
    """Return the first of some sequence numbers that lie near one another, modulo 4096."""
    return next(n for n in numbers if all((other - n) % 4096 < 2048 for other in numbers))


def test_sizes_of_aggregates_are_those_of_the_metric(name: str) -> None:
    """MPDUs of the access point's data PPDUs in the measured time, including collided ones."""
    frames, answer, _ = captured(name)
    sizes = [
        len(ppdu)
        for ppdu in ppdus(frames)
        if ppdu[0].kind == "data"
        and ppdu[0].mpdu[1] & 0x02
        and ppdu[0].start_ns >= WARMUP_S * 1e9
        and any(is_data(frame) for frame in ppdu)
    ]
    assert answer["metrics"]["mpdus_per_ppdu_ap"] == pytest.approx(
        sum(sizes) / len(sizes), abs=0.5 * max(sizes) / len(sizes)
    )


def asked(name: str, *options: str) -> list[str]:
    """Return the lines that tshark prints of a capture."""
    with TemporaryDirectory() as directory:
        path = Path(directory) / "air.pcap"
        path.write_bytes(captured(name)[2])
        return tshark(path, *options)


def found_malformed(name: str) -> list[str]:
    """Check the first frames, which have every kind; tshark needs seconds for ten thousand."""
    with TemporaryDirectory() as directory:
        path = Path(directory) / "air.pcap"
        path.write_bytes(captured(name)[2])
        return malformed(path, "-c", "3000")


@needs_tshark
def test_tshark_finds_nothing_malformed(name: str) -> None:
    assert found_malformed(name) == []


KIND, DATA, BLOCK_ACK = "wlan.fc.type_subtype", 0x28, 0x19
FIELDS = (
    *(KIND, "wlan_radio.data_rate", "radiotap.ampdu.reference", "wlan.seq"),
    *("wlan.fixed.ssc.sequence", "wlan.ba.bm", "wlan.ba.control.ba_type"),
)


@cache
def told(name: str) -> list[dict[str, str]]:
    """Return tshark's fields of data frames and Block ACKs, cached because that takes seconds."""
    only = f"{KIND} == {DATA} || {KIND} == {BLOCK_ACK}"
    wanted = [option for field in FIELDS for option in ("-e", field)]
    lines = asked(name, "-Y", only, "-T", "fields", *wanted)
    return [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in lines]


def of_kind(name: str, kind: int) -> list[dict[str, str]]:
    return [frame for frame in told(name) if int(frame[KIND], 0) == kind]


@needs_tshark
def test_tshark_reads_rates_and_aggregates(name: str) -> None:
    """Wireshark computes the data rate in Mb/s from radiotap's MCS, width, streams and guard."""
    rates = {
        "n": "72.2",
        "n at 2.4 GHz, 40 MHz, two streams, A-MSDUs, RTS": "120",
        "ac, Block ACK requests": "433.3",
        "ax, 256 frames": "567.1",
        "ac, few retries, TXOP": "433.3",
        # Wireshark 4.0 computes no rate for EHT.
        "be, 320 MHz, 1024 frames": "",
    }
    rows = of_kind(name, DATA)
    frames = [frame for frame in captured(name)[0] if frame.kind == "data"]
    assert len(rows) == len(frames)
    found = {row["wlan_radio.data_rate"] for row in rows}
    assert {rate and f"{round(float(rate), 1):g}" for rate in found} == {rates[name]}
    for row, frame in zip(rows, frames, strict=True):
        assert int(row["wlan.seq"]) == frame.number
        reference = "" if frame.ampdu is None else str(frame.ampdu[0])
        assert row["radiotap.ampdu.reference"] == reference


@needs_tshark
def test_tshark_reads_the_bitmaps(name: str) -> None:
    """tshark lists the frames that are missing from the whole window."""
    if window(name) > 256:
        pytest.skip("Wireshark 4.0 reads bitmaps of 64 and 256 bits")
    rows = of_kind(name, BLOCK_ACK)
    frames = [frame for frame in captured(name)[0] if frame.kind == "block ack"]
    assert len(rows) == len(frames)
    for row, frame in zip(rows, frames, strict=True):
        assert int(row["wlan.fixed.ssc.sequence"]) == frame.number
        assert bytes.fromhex(row["wlan.ba.bm"].replace(":", "")) == frame.mpdu[20:]
        assert int(row["wlan.ba.control.ba_type"], 0) == 2


TWO_DISTANCES = """
phy = { standard = "802.11n", guard_interval = "800 ns" }
stations = [
  { name = "near", count = 1, rate_control = "minstrel-ht", snr = "35 dB" },
  { name = "far", count = 1, rate_control = "minstrel-ht", snr = "11 dB" },
]
flows = [
  { stations = "near", direction = "download", application = { kind = "bulk" } },
  { stations = "far", direction = "download", application = { kind = "bulk" } },
]
run = { warmup = "500 ms", duration = "1500 ms", replications = 1, seed = 3 }
"""
#: Data bits of a symbol of 4 us, 20 MHz, one stream (IEEE 802.11-2020, Table 19-27).
BITS_PER_SYMBOL = (26, 52, 78, 104, 156, 208, 234, 260)
#: HT-mixed preamble: 20 us of legacy, HT-SIG 8, HT-STF 4, HT-LTF 4.
PREAMBLE_US = 36


def test_frames_and_trace_have_the_rate_that_rate_control_chose(tmp_path: Path) -> None:
    """Two stations with rate control: each PPDU has its rate, and the airtime that follows."""
    path = tmp_path / "air.pcap"
    result = simulate(loads(TWO_DISTANCES), threads=1, pcap=path, snaplen=65_535, trace=True)
    frames = [one for one in records(path.read_bytes()) if one.kind == "data"]
    sent = [group[0] for group in ppdus(frames)]
    trace = result.simulation.runs[0].trace
    rows = trace.ppdus()
    mcs = np.array([one.fields[19][2] for one in sent])
    receivers = np.array([one.receiver[-1] for one in sent])

    # The trace has the same PPDUs, with the same rates and receivers.
    assert len(sent) == len(rows.time_s)
    assert np.all(rows.rate_bps == np.array(BITS_PER_SYMBOL)[mcs] * 250_000)
    numbers = {"ap": 0, "near/0": 1, "far/0": 2}
    assert np.all(receivers == [numbers[name] for name in rows.receiver])

    # Airtimes of PPDUs with one MPDU: SERVICE and tail are 22 bits.
    alone = rows.mpdus == 1
    bits = 8 * rows.size_bytes[alone] + 22
    symbols = np.ceil(bits / np.array(BITS_PER_SYMBOL)[mcs[alone]])
    assert np.allclose(1e6 * rows.airtime_s[alone], PREAMBLE_US + 4 * symbols, rtol=0, atol=1e-3)
    assert len(set(mcs[alone])) > 4

    # The near station uses the highest rate, the far one those that get through, several of them.
    late = rows.time_s > 0.5
    for node, name, likely in ((1, "near/0", {7}), (2, "far/0", {2, 3, 4})):
        found = Counter(mcs[late & (receivers == node)].tolist())
        assert found.most_common(1)[0][0] in likely, (name, found)
        assert len(found) > 2, (name, found)

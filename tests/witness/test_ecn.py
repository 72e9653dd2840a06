"""ECN (RFC 3168) end to end: marks in queues, reactions of the ends, and the captured dialogue."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from captures import Frame, capture, flow, read, scenario_text

ECE, CWR, SYN = 0x40, 0x80, 0x02
NOT_ECT, ECT_0, CE = 0b00, 0b10, 0b11


def cell(queue: str, ecn: bool, congestion: str = "reno") -> str:
    """Return two downloads whose windows would fill the access point's queue."""
    tcp = (
        f'variant = "rack", congestion = "{congestion}", receive_window = "256 KiB", '
        f"ecn = {str(ecn).lower()}"
    )
    text = scenario_text("802.11g", 2, flow("download", tcp=tcp))
    return text + f"\n[ap]\nqueue = {{ limit = 1000, {queue} }}\n"


def answer(path: Path, queue: str, ecn: bool, **options: Any) -> dict[str, Any]:
    return capture(cell(queue, ecn, **options), path)


QUEUES = {
    "red": 'discipline = "red", min_threshold = 5, max_threshold = 500, ecn = true',
    "codel": 'discipline = "codel", ecn = true',
    "fq-codel": 'discipline = "fq-codel", ecn = true',
}


@pytest.mark.parametrize("queue", QUEUES)
def test_packets_are_marked_instead_of_dropped(queue: str, tmp_path: Path) -> None:
    """With ECN nothing is lost or retransmitted: only marks reduce the windows.

    RED's upper threshold is out of reach, and CoDel's queue stays below its limit.
    """
    marked = answer(tmp_path / "marked.pcap", QUEUES[queue], ecn=True)
    counts = marked["counts"]
    assert counts["ap_queue_drops"] == counts["tcp_retransmissions"] == 0
    assert counts["ecn_marks"] >= counts["ecn_reductions"] > 10

    dropped = answer(tmp_path / "dropped.pcap", QUEUES[queue].replace("true", "false"), ecn=False)
    counts = dropped["counts"]
    assert counts["ap_queue_drops"] > 10
    assert counts["ecn_marks"] == counts["ecn_reductions"] == 0
    goodputs = [run["metrics"]["goodput_bps"] for run in (marked, dropped)]
    assert goodputs[0] > 0.97 * goodputs[1]


@pytest.mark.parametrize("congestion", ["reno", "cubic"])
def test_a_capture_shows_the_dialogue(congestion: str, tmp_path: Path) -> None:
    """SYN (ECE, CWR) and SYN+ACK (ECE) negotiate ECN. Only new data is ECT(0) or CE. Each reduction
    is signalled by one CWR, and echoes appear only between a mark and a CWR.
    """
    path = tmp_path / "air.pcap"
    text = cell(QUEUES["codel"], ecn=True, congestion=congestion).replace('"1 s"', '"0 s"')
    counts = capture(text, path)["counts"]
    frames = [frame for frame in read(path) if frame.kind == "data" and not frame.bad]

    syns = Counter(flags(frame) for frame in frames if flags(frame) & SYN)
    # The station opens and has no data to send; the response to its SYN carries the ACK.
    assert {bits & (ECE | CWR) for bits in syns} == {ECE | CWR, ECE}
    assert syns[SYN | ECE | CWR] == 2
    data = [frame for frame in frames if frame.payload]
    assert {mark(frame) for frame in data} == {ECT_0, CE}
    assert {mark(frame) for frame in frames if not frame.payload} == {NOT_ECT}
    assert abs(sum(mark(frame) == CE for frame in data) - counts["ecn_marks"]) <= 2
    told = sum(bool(flags(frame) & CWR) for frame in data)
    assert abs(told - counts["ecn_reductions"]) <= 2
    assert any(flags(frame) & ECE for frame in frames if not frame.payload)

    # For each connection: an echo only after a mark, and none between CWR and the next mark.
    for station in {frame.receiver for frame in data}:
        echoing, wrong = False, 0
        for frame in frames:
            if frame.receiver == station and frame.payload:
                echoing = (echoing and not flags(frame) & CWR) or mark(frame) == CE
            elif frame.transmitter == station and not flags(frame) & SYN:
                # An ACK that was queued before the data arrived still has the earlier state.
                wrong += bool(flags(frame) & ECE) != echoing
        assert wrong < 0.05 * len(data), wrong


def mark(frame: Frame) -> int:
    """Return the ECN bits of the IP header (RFC 3168, 5)."""
    return frame.packet[1] & 0b11


def flags(frame: Frame) -> int:
    """Return the control bits of the TCP header."""
    return frame.packet[33]

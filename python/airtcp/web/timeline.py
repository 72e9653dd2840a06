"""A few milliseconds of the medium: frames with senders and receivers, collisions, backoffs.

Reads captures (pcap with radiotap, as `airtcp.simulate` writes them) and traces; `airtcp.web.heard`
combines the captures of several cells. Neither has backoff counters. They are computed backwards
from the idle slots of a cell without hidden stations: a node that next sends after a backoff had,
in each earlier gap, as many slots left as idle slots followed. Nothing is known about a node that
does not send again in the time shown. If a node had nothing to send at first, its counter may begin
too early.
"""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airtcp.airtime import Rate, ppdu_ns
from airtcp.document.page import Element, element
from airtcp.scenario import ResolvedScenario, hearing
from airtcp.web import sentences
from airtcp.web.heard import heard
from airtcp.web.parts import curves, muted

if TYPE_CHECKING:
    from airtcp.results.trace import Trace

#: How much to simulate beyond the end, to see who sends next, as a multiple of the length.
_AHEAD: Final = 4
_MOST_FRAMES: Final = 2000
_MOST_SAMPLES: Final = 300_000
_MOST_WINDOWS: Final = 12
_SNAPLEN: Final = 128

_TYPES: Final = {
    0x80: "beacon", 0x08: "data", 0x88: "data", 0xB4: "rts", 0xC4: "cts", 0xD4: "ack",
    0x84: "block ack request", 0x94: "block ack", 0xE4: "cf-end", 0xF4: "cf-end",
    0x18: "data", 0x28: "data", 0x38: "data",
    0x48: "null", 0x58: "cf-ack", 0x68: "cf-poll", 0x78: "cf-poll",
}  # fmt: skip
_CARRIES: Final = ("data", "tcp ack", "syn")
#: Responses: frames that follow another after SIFS, without a transmitter address.
_ANSWERS: Final = ("cts", "ack")


@dataclass
class _Frame:
    """One PPDU, possibly an aggregate."""

    begin: int
    end: int
    kind: str
    node: int
    to: int
    bad: bool
    length: int
    retry: bool = False
    mpdus: int = 1
    text: str = ""
    rate: int = 0
    #: The nodes that received it, and that heard only its preamble, if not all nodes hear each
    #: other.
    came: frozenset[int] | None = None
    lost: frozenset[int] | None = None


def timeline(scenario: ResolvedScenario, begin_s: float, length_s: float) -> dict[str, Any]:
    """Return the frames in replication 0 from `begin_s` on, counted from the start of the run.

    Times are in microseconds from there. `frames` each have `node` and `to` (indices of `nodes`),
    `kind`, and whether the frame was `bad` (collided or lost). `gaps` are idle times with the
    backoff slots that each node had left at their beginning. `windows` are the TCP windows by flow.
    With several cells or hidden stations, each frame also lists the nodes that `heard` it and at
    which it was `lost`, and there are no gaps, because each node has its own.
    """
    from airtcp.run.simulate import simulate

    several = scenario.air is not None
    run = scenario.run
    total_s = begin_s + (1 + _AHEAD) * length_s
    short = scenario.with_run(replications=1, warmup_ns=0, duration_ns=round(total_s * 1e9))
    flows = sum(group.count for group in scenario.stations) + 2
    interval_s = max(length_s / 100, total_s * 2 * flows / _MOST_SAMPLES)
    with tempfile.TemporaryDirectory(prefix="air-") as folder:
        path = Path(folder) / "air.pcap"
        result = simulate(
            short, threads=1, pcap=path, snaplen=_SNAPLEN, trace=True, trace_interval_s=interval_s
        )
        content = path.read_bytes()
    trace = result.simulation.runs[0].trace
    assert trace is not None  # the trace was requested
    begin, end = round(begin_s * 1e9), round((begin_s + length_s) * 1e9)
    if several:
        frames = list(_frames_of_cells(content, scenario, trace, begin))
    else:
        frames = list(_frames(content, scenario, trace, begin))
    gaps = [] if several else _gaps(frames, scenario)
    shown = [one for one in frames if one.begin < end][:_MOST_FRAMES]
    names = ["ap", *(name for name in trace.node_names if name != "ap")]
    if several:
        names = list(trace.node_names)
    # Show all access points of several cells, even idle ones.
    aps = range(len(scenario.access_points))
    nodes = sorted({*aps, *(one.node for one in shown), *(one.to for one in shown if one.to >= 0)})
    place = {node: index for index, node in enumerate(nodes)}
    sensed = _sensed(scenario, nodes) if several else {}
    told: dict[str, Any] = {
        "begin_ms": begin_s * 1e3,
        "length_us": length_s * 1e6,
        "seed": run.seed,
        "nodes": [(names[node] if 0 <= node < len(names) else "all") for node in nodes],
        "frames": [
            {
                "begin": (one.begin - begin) / 1e3,
                "end": (one.end - begin) / 1e3,
                "kind": one.kind,
                "node": place[one.node],
                "to": place.get(one.to),
                "bad": one.bad,
                "retry": one.retry,
                "mpdus": one.mpdus,
                "bytes": one.length,
                "text": one.text,
                "rate": one.rate,
            }
            | _ears(one, place, sensed)
            for one in shown
            if one.node in place
        ],
        "gaps": [
            {
                "begin": (one["begin"] - begin) / 1e3,
                "count": (one["count"] - begin) / 1e3,
                "end": (one["end"] - begin) / 1e3,
                "left": {str(place[node]): left for node, left in one["left"].items()
                         if node in place},
            }
            for one in gaps
            if one["begin"] < end
        ],
        "slot_us": scenario.phy.slot_time_ns / 1e3,
        "windows": _windows(trace, begin_s, begin_s + length_s),
    }  # fmt: skip
    for one in told["frames"]:
        one |= {"name": sentences.KINDS[one["kind"]], "said": sentences.sent(told, one)}
    told |= {"moments": sentences.moments(told), "steps": sentences.steps(told)}
    return told | {"parts": [_key(several=several), _windows_part(told["windows"]), _note(told)]}


def _key(*, several: bool) -> Element:
    """Return the legend of the picture."""
    frames = {"data": "data", "tcp-ack": "TCP ACK", "ack": "control frames", "data bad": "lost"}
    ears = {"ear heard": "hears another", "ear sensed": "senses another"}
    marks = ears if several else {"count": "counts down"}

    def line(drawn: Element, name: str) -> Element:
        size = {"width": 14, "height": 12, "class": "chart air"}
        return element("li", {}, element("svg", size, drawn), name)

    whole, low = {"width": 14, "height": 12, "rx": 2}, {"width": 14, "height": 6, "y": 3}
    return element(
        "ul",
        {"class": "legend", "aria-hidden": "true"},
        [
            line(element("g", {"class": f"air-frame k-{kind}"}, element("rect", whole)), name)
            for kind, name in frames.items()
        ],
        [line(element("rect", {"class": kind} | low), name) for kind, name in marks.items()],
    )


def _windows_part(windows: Sequence[Mapping[str, Any]]) -> Element | None:
    """Return the congestion windows of the few flows that change most as a chart."""
    colours = ("model", "simulated", "second", "third", "fourth")
    series = []
    for one, colour in zip(windows, colours, strict=False):
        sizes = [size if size >= 0 else None for size in one["cwnd"]]
        points = zip(one["times"], sizes, strict=True)
        data = [{"x": time / 1e6, "y": size} for time, size in points]
        series.append({"name": one["flow"], "kind": "line", "colour": colour, "data": data})
    if not series:
        return None
    drawn = curves(
        f"Congestion windows of {', '.join(one['name'] for one in series)}",
        200,
        series=series,
        x={"label": "time", "unit": "s", "log": False},
        y={"label": "window", "unit": "B"},
    )
    return element("div", {}, element("h2", {}, "Congestion windows"), drawn)


def _note(told: Mapping[str, Any]) -> Element:
    heard = (
        "A bar at the bottom of a row is another node's frame that this node hears, in the color "
        "of lost frames if it cannot decode it. An outline means that the node only senses the "
        "frame, because it receives another one or transmits."
    )
    slots = (
        "Numbers in gaps are a node's remaining backoff slots, computed from its next transmission."
    )
    text = heard if any("heard" in one for one in told["frames"]) else slots
    where = f"Replication 0, seed {told['seed']}, from {told['begin_ms']:g} ms on."
    return muted(f"{where} {text}")


def _sensed(scenario: ResolvedScenario, nodes: Sequence[int]) -> dict[int, frozenset[int]]:
    """Return for each node the other nodes that sense its frames."""
    return {
        one: frozenset(
            other for other in nodes if other != one and hearing.senses(scenario, one, other)
        )
        for one in nodes
        if one >= 0
    }


def _ears(
    frame: _Frame, place: dict[int, int], sensed: Mapping[int, frozenset[int]]
) -> dict[str, list[int]]:
    """Return the nodes that heard a frame, that lost it, and that only sense it.

    The last ones sense a busy medium but cannot receive the frame, because they were receiving
    another frame or sending. Empty if all nodes hear each other.
    """
    if frame.came is None or frame.lost is None:
        return {}
    alone = sensed.get(frame.node, frozenset()) - frame.came - frame.lost
    told = {"heard": frame.came, "lost": frame.lost, "sensed": alone}
    return {key: sorted(place[one] for one in of if one in place) for key, of in told.items()}


def _frames_of_cells(
    content: bytes, scenario: ResolvedScenario, trace: Trace, begin: int
) -> Iterator[_Frame]:
    """Yield the PPDUs of a capture of several cells that end after `begin`, in order of time."""
    aggregates = _aggregates(trace)
    tcp_header = next((one.tcp.header_bits // 8 for one in scenario.flows if one.tcp), 40)
    for one in heard(content):
        if one.start_ns < begin - 20_000_000:
            continue
        made: _Frame | None = None
        rate = None
        for length, record in one.records:
            header, bad, rate = _radiotap(record)
            frame = _mac(record[header:], one.start_ns, length - header, bad, tcp_header)
            if made is None:
                made = frame
                continue
            made.mpdus += 1
            made.length += frame.length
            if frame.kind == "data":
                made.kind = "data"
        if made is None:
            continue
        made.node = one.node
        made.came, made.lost = frozenset(one.came), frozenset(one.lost)
        made.bad = made.to >= 0 and made.to != made.node and made.to not in one.came
        if rate is None:
            made.end = made.begin + aggregates.get((one.start_ns, one.node), 0)
        else:
            made.rate = rate.bps
            made.end = made.begin + ppdu_ns(scenario.phy, 8 * made.length, rate)
        if made.end > begin:
            yield made


def _frames(
    content: bytes, scenario: ResolvedScenario, trace: Trace, begin: int
) -> Iterator[_Frame]:
    """Yield the PPDUs of a capture that end after `begin`, in order of time."""
    aggregates = _aggregates(trace)
    tcp_header = next((one.tcp.header_bits // 8 for one in scenario.flows if one.tcp), 40)
    asked: _Frame | None = None
    last: _Frame | None = None
    for start, length, record in _records(content):
        if start < begin - 20_000_000:
            continue  # no PPDU with its responses lasts that long
        header, bad, rate = _radiotap(record)
        frame = _mac(record[header:], start, length - header, bad, tcp_header)
        same = last is not None and (last.begin, last.node) == (start, frame.node)
        if last is not None and same and rate is None and frame.kind in _CARRIES:
            # Another MPDU of the same A-MPDU.
            last.mpdus += 1
            last.length += frame.length
            last.bad = last.bad and frame.bad
            if frame.kind == "data":
                last.kind = "data"
            continue
        if frame.kind in _ANSWERS and frame.node < 0 and asked is not None:
            frame.node = asked.to
        if rate is None:
            found = aggregates.get((start, frame.node))
            if found is None:
                found = aggregates.get((start, -1), 0)
            frame.end = start + found
        else:
            frame.rate = rate.bps
            frame.end = start + ppdu_ns(scenario.phy, 8 * frame.length, rate)
        if frame.kind in (*_CARRIES, "rts", "block ack request"):
            asked = frame
        if last is not None and last.end > begin:
            yield last
        last = frame
    if last is not None and last.end > begin:
        yield last


def _records(content: bytes) -> Iterator[tuple[int, int, bytes]]:
    place = 24
    while place + 16 <= len(content):
        seconds, nanos, kept, length = struct.unpack_from("<IIII", content, place)
        place += 16
        yield seconds * 1_000_000_000 + nanos, length, content[place : place + kept]
        place += kept


def _radiotap(record: bytes) -> tuple[int, bool, Rate | None]:
    """Return header length, whether the FCS is wrong, and the rate of non-aggregated frames."""
    length, present = struct.unpack_from("<HI", record, 2)
    bad = bool(record[16] & 0x40)
    if not present & 0b100:
        return length, bad, None
    flags = struct.unpack_from("<H", record, 20)[0]
    return length, bad, Rate(500_000 * record[17], "dsss" if flags & 0x20 else "ofdm")


def _mac(frame: bytes, begin: int, length: int, bad: bool, tcp_header: int) -> _Frame:
    """Parse a frame. `tcp_header` is the simulated size of the IP and TCP headers in bytes."""
    kind = _TYPES.get(frame[0], "other")
    receiver = _node(frame[4:10])
    transmitter = -1 if kind in _ANSWERS else _node(frame[10:16])
    made = _Frame(begin, begin, kind, transmitter, receiver, bad, length)
    made.retry = bool(frame[1] & 0x08)
    if kind == "data":
        packet = frame[34 if frame[0] == 0x88 else 32 :]
        made.kind, made.text = _packet(packet)
        if made.kind == "syn" and len(packet) > 32:
            # The capture has SYN options that were not simulated.
            made.length -= max(0, 20 + 4 * (packet[32] >> 4) - tcp_header)
    return made


def _node(address: bytes) -> int:
    """Return the node number: 0 is the access point, stations follow; -1 means broadcast."""
    return -1 if address[0] & 1 else int.from_bytes(address[2:6], "big")


def _packet(packet: bytes) -> tuple[str, str]:
    """Return the kind of frame that carries an IP packet, and a description of its content."""
    if len(packet) < 20:
        return "data", ""
    size = int.from_bytes(packet[2:4], "big")
    if packet[9] == 17:
        return "data", f"UDP, {size - 28} B"
    if len(packet) < 34:
        return "data", ""
    number, acked = struct.unpack_from(">II", packet, 24)
    payload = size - 20 - 4 * (packet[32] >> 4)
    if packet[33] & 0x02:
        return "syn", "of TCP"
    if payload <= 0:
        return "tcp ack", f"up to {acked}"
    return "data", f"TCP {number} to {number + payload}"


def _aggregates(trace: Trace) -> dict[tuple[int, int], int]:
    """Return the airtime of each PPDU of 802.11n and later, by its start and its sender."""
    rows = trace.ppdu_table
    numbers = {name: index for index, name in enumerate(trace.node_names)}
    found: dict[tuple[int, int], int] = {}
    columns = (rows["time_ns"].tolist(), rows["queue"].tolist(), rows["airtime_ns"].tolist())
    for time_ns, queue, airtime_ns in zip(*columns, strict=True):
        node = numbers.get(trace.queue_names[queue].partition(" ")[0], -1)
        found[(time_ns, node)] = airtime_ns
        found[(time_ns, -1)] = airtime_ns
    return found


def _gaps(frames: Sequence[_Frame], scenario: ResolvedScenario) -> list[dict[str, Any]]:
    """Return idle times with backoff, and the slots that the next senders had left."""
    phy = scenario.phy
    edca = scenario.mac.edca
    quiet = phy.difs_ns if edca is None else edca.stations["AC_BE"].aifs_ns
    found: list[dict[str, Any]] = []
    before: _Frame | None = None
    collided: set[int] = set()
    for index, frame in enumerate(frames):
        if before is not None and frame.begin - before.end >= quiet:
            idle = frame.begin - before.end
            # Nodes that could not decode the frame wait for EIFS (10.3.2.3.7); the sender waits for
            # a response, then as usual (10.3.2.11).
            wait = phy.eifs_ns if before.bad else quiet
            own = phy.ack_timeout_ns + quiet if before.bad else quiet
            found.append(
                {
                    "begin": before.end,
                    "count": before.end + min(wait, idle),
                    "end": frame.begin,
                    "slots": max(0, (idle - wait) // phy.slot_time_ns),
                    "own": max(0, (idle - own) // phy.slot_time_ns),
                    "collided": collided if before.bad else set(),
                    "senders": {one.node for one in frames[index:] if one.begin == frame.begin},
                    "left": {},
                }
            )
            collided = set()
        if before is None or frame.end > before.end:
            before = frame
        if frame.bad:
            collided = collided | {frame.node}
    ahead: dict[int, int] = {}
    for gap in reversed(found):
        for node in gap["senders"]:
            ahead[node] = 0
        for node in ahead:
            ahead[node] += gap["own"] if node in gap["collided"] else gap["slots"]
        gap["left"] = dict(ahead)
    return found


def _windows(trace: Trace, begin_s: float, end_s: float) -> list[dict[str, Any]]:
    """Return congestion windows of flows in a period, those that change most first."""
    import numpy as np

    told = []
    moved = []
    for name in trace.flow_names:
        series = trace.flow(name)
        inside = (series.time_s >= begin_s) & (series.time_s <= end_s)
        windows = np.where(np.isnan(series.cwnd_bytes), -1.0, series.cwnd_bytes)[inside]
        if not len(windows) or windows.max() < 0:
            continue
        told.append(
            {
                "flow": name,
                "times": ((series.time_s[inside] - begin_s) * 1e6).round(1).tolist(),
                "cwnd": windows.tolist(),
            }
        )
        there = windows[windows >= 0]
        moved.append(float(there.max() - there.min()))
    order = sorted(range(len(told)), key=lambda index: -moved[index])
    return [told[index] for index in order[:_MOST_WINDOWS]]

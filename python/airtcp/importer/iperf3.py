"""The JSON of `iperf3 -J`: what was measured, and the flow that was run.

Knows the keys of iperf3 3.1 to 3.17. The client is taken for the station: a test runs upstream,
with `-R` downstream, with `--bidir` both ways at once.
"""

from __future__ import annotations

from typing import Any, Final

from airtcp.importer.draft import Draft, Said, time_text
from airtcp.importer.samples import mean_over_time
from airtcp.importer.source import Node
from airtcp.results.measured import Measurement
from airtcp.stats import Interval

#: Names of Linux for the congestion controls of a scenario.
_CONGESTION: Final = {"reno": "reno", "cubic": "cubic", "bbr": "bbr1"}
#: Bytes of the headers of IPv4 and UDP (RFC 791, RFC 768).
_HEADERS: Final = 28
#: The words of the sums of each direction: of the test's own, and of the other one of `--bidir`.
_SUMS: Final = ("", "_bidir_reverse")


def is_iperf3(top: Node) -> bool:
    """Tell whether it is of iperf3: it tells of a start, or of an error."""
    return isinstance(top.value, dict) and ("start" in top.value or set(top.value) == {"error"})


class _Test:
    """The words of a test about itself."""

    def __init__(self, top: Node) -> None:
        if error := top.get("error").text():
            raise top.source.error("error", f"iperf3 did not finish: {error}")
        test = top.get("start", "test_start")
        if not test.table():
            raise top.source.error("start.test_start", "is missing; allowed: iperf3 -J of a client")
        self.top, self.test = top, test
        self.protocol = test.get("protocol").text()
        if self.protocol not in ("TCP", "UDP"):
            raise test.get("protocol").wrong("TCP, UDP")
        self.is_udp = self.protocol == "UDP"
        own = "download" if test.get("reverse").number() else "upload"
        other = "upload" if own == "download" else "download"
        #: The directions, each with the ending of its keys.
        self.directions = {own: _SUMS[0]}
        # Versions before 3.13 do not say `bidir`; the sums of the other direction do.
        if test.get("bidir").number() or top.get("end", f"sum_received{_SUMS[1]}").table():
            self.directions = {own: _SUMS[0], other: _SUMS[1]}
        self.streams = int(test.get("num_streams").number(least=1, most=128) or 1)

    def sums(self, ending: str) -> Node:
        """The sum over the streams at the receiver, at the sender where that told nothing."""
        end = self.top.get("end")
        for name in ("sum_received", "sum", "sum_sent"):
            node = end.get(name + ending)
            if node.table():
                return node
        raise self.top.source.error(f"end.sum_received{ending}", "is missing: nothing was measured")

    @property
    def duration_s(self) -> float:
        """The time that was measured, without what was omitted."""
        return self.sums("").get("seconds").needed(least=1e-3, most=1e7)


def measurement(top: Node) -> Measurement:
    """The measured values. Raises ScenarioError."""
    test = _Test(top)
    values: dict[str, dict[str, Interval]] = {}
    for direction, ending in test.directions.items():
        sums = test.sums(ending)
        mean = sums.get("bits_per_second").needed()
        found = {"goodput_bps": mean_over_time(_samples(test, ending), mean)}
        if test.is_udp:
            found |= _of_udp(sums)
        elif (round_trip := _round_trip(test, direction)) is not None:
            found["rtt_s"] = round_trip
        values[direction] = found
    if len(values) == 1:
        values = {"": next(iter(values.values()))}
    counts = {}
    if not test.is_udp:
        sent = [test.top.get("end", f"sum_sent{one}") for one in test.directions.values()]
        told = [one.get("retransmits").number() for one in sent]
        if None not in told:
            counts["tcp_retransmissions"] = sum(one or 0.0 for one in told)
    return Measurement(top.source.short, values, test.duration_s, counts)


def _samples(test: _Test, ending: str) -> list[float]:
    """The goodput of each interval that was not omitted."""
    rates = []
    for one in test.top.get("intervals").items():
        sums = one.get(f"sum{ending}")
        if sums.get("omitted").value is True:
            continue
        rate = sums.get("bits_per_second").number()
        # The last interval may be a splinter of a few packets.
        if rate is not None and (sums.get("seconds").number() or 0.0) >= 0.1:
            rates.append(rate)
    return rates


def _of_udp(sums: Node) -> dict[str, Interval]:
    found = {}
    jitter = sums.get("jitter_ms").number()
    if jitter is not None:
        found["jitter_s"] = Interval(jitter / 1e3, None, None, 1)
    lost = sums.get("lost_percent").number(most=100.0)
    if lost is not None:
        found["packet_loss"] = Interval(lost / 100.0, None, None, 1)
    return found


def _round_trip(test: _Test, direction: str) -> Interval | None:
    """The kernel's smoothed round-trip time, which iperf3 has in microseconds; 0: not known."""
    times = []
    for stream in test.top.get("end", "streams").items():
        sender = stream.get("sender")
        is_own = sender.get("sender").value
        # Of both ways at once, the client's own streams go up.
        if len(test.directions) > 1 and direction != "upload":
            continue
        # A client that only receives has the times of its own few packets, or none.
        mean = sender.get("mean_rtt").number()
        if mean and (is_own is True or (is_own is None and direction == "upload")):
            times.append(mean / 1e6)
    return Interval(sum(times) / len(times), None, None, 1) if times else None


def add_flow(top: Node, draft: Draft) -> None:
    """Add the flow of the test to a draft. Raises ScenarioError."""
    test, name = _Test(top), top.source.short
    both = len(test.directions) > 1
    direction = "both" if both else next(iter(test.directions))
    how = {"upload": "no reverse", "download": "reverse = 1", "both": "both ways at once"}[
        direction
    ]
    flow = {
        "stations": Said("station", ""),
        "direction": Said(
            direction, f"{name}: start.test_start: {how}; the client is taken for the station"
        ),
    }
    if test.streams > 1:
        flow["connections"] = Said(
            test.streams, f"{name}: start.test_start.num_streams = {test.streams}"
        )
    if test.is_udp:
        flow["application"] = _udp(test, name)
    else:
        flow["application"] = Said({"kind": "bulk"}, f"{name}: as much as TCP takes")
        flow["tcp"] = _tcp(test, name, draft)
    draft.flows.append(flow)
    omitted = test.test.get("omit").number(most=3600.0) or 0.0
    times = {
        "warmup": (omitted, "start.test_start.omit"),
        "duration": (test.duration_s, "the seconds of end.sum_received"),
    }
    for key, (seconds, where) in times.items():
        text = time_text(seconds)
        draft.say("run", key, text, f"{name}: {where}")


def _udp(test: _Test, name: str) -> Said:
    """The application of a test of UDP."""
    size = test.test.get("blksize").needed(least=1.0, most=65507.0)
    rate = test.test.get("target_bitrate").number()
    if rate is None:
        rate = test.sums("").get("bits_per_second").needed()
    # iperf3 counts payload alone, a scenario the IP packet.
    packet = size + _HEADERS
    text = f"{rate * packet / size:.0f} b/s" if rate else "saturated"
    table: dict[str, Any] = {"kind": "udp", "packet": f"{packet:.0f} B", "rate": text}
    return Said(table, f"{name}: start.test_start: blksize, target_bitrate")


def _tcp(test: _Test, name: str, draft: Draft) -> Said:
    """The TCP of a test."""
    table: dict[str, Any] = {"preset": "linux"}
    told = []
    mss = test.top.get("start", "tcp_mss_default").number(most=65495.0)
    if mss:
        table["mss"] = f"{mss:.0f} B"
        told.append("start.tcp_mss_default")
    sender = test.top.get("end", "sender_tcp_congestion").text()
    if sender in _CONGESTION:
        table["congestion"] = _CONGESTION[sender]
        told.append("end.sender_tcp_congestion")
    elif sender:
        draft.unknown.append(f"congestion control {sender}: the one of Linux stands instead, CUBIC")
    else:
        draft.unknown.append(f"the congestion control, which {name} does not tell: CUBIC stands")
    about = f"{name}: {', '.join(told)}; " if told else ""
    return Said(table, f"{about}the rest as Linux has it")

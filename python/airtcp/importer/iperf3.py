"""The JSON of `iperf3 -J` and `--json-stream`: the measurement, and the flow of the test.

The client is assumed to be the station: a test is an upload, with `-R` a download, with `--bidir`
both at once.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final

from airtcp.importer.draft import OF_LINUX, Draft, Said, time_text
from airtcp.importer.marks import category_of, priority_of, tell_newer
from airtcp.importer.options import unfollowed
from airtcp.importer.samples import mean_over_time, of_the_test
from airtcp.importer.source import Node, Source, phrase, without_addresses
from airtcp.results.measured import Measurement, Unfollowed
from airtcp.stats import Interval

#: A transfer of which less than this arrived counts with what arrived.
_WHOLE: Final = 0.95
#: A transfer of a given size is simulated for this many times what it took, and at least this long,
#: so that a slower one ends too.
_PATIENCE: Final = 4.0
_LEAST_S: Final = 10.0
#: Bytes of the headers of IPv4 and UDP (RFC 791, RFC 768).
_HEADERS: Final = 28
#: Suffixes of the sums by direction: the test's own direction, and the other one of `--bidir`.
_SUMS: Final = ("", "_bidir_reverse")
#: Bytes of IPv4, TCP and its timestamps around a segment (RFC 791, RFC 9293, RFC 7323).
_TCP_HEADERS: Final = 52
_TIMESTAMPS: Final = 12
#: The payload of an Ethernet frame with these headers.
_ETHERNET_MSS: Final = 1448
#: The largest IP packet in an 802.11 frame (IEEE 802.11-2020, 9.2.4.8), and in an Ethernet frame.
_MOST_PACKET: Final = 2296
_USUAL: Final = 1500
_STREAM: Final = re.compile(r"\s*\{\s*\"event\"\s*:")
#: The places of the keys in options.toml.
_PLACES: Final = ("start.test_start", "start", "end", "")


def is_stream(source: Source) -> bool:
    """Whether a text is a stream of events (`--json-stream`), one per line."""
    return _STREAM.match(source.text) is not None


def parse_stream(source: Source) -> Node:
    """Combine the events of a stream into one result. Raises ScenarioError with the line."""
    whole: dict[str, Any] = {"intervals": []}
    for number, line in source.lines():
        if line.strip() == "{":
            # The whole result follows the events (--json-stream-full-output).
            break
        try:
            event = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise source.error(f"line {number}", phrase("iperf3.cut_off")) from error
        if not isinstance(event, dict) or not isinstance(event.get("event"), str):
            raise source.error(f"line {number}", phrase("iperf3.not_an_event"))
        if event["event"] == "start" and "start" in whole:
            message = phrase("iperf3.second_result")
            raise source.error(f"line {number}", message)
        if event["event"] == "interval":
            whole["intervals"].append(event.get("data"))
        else:
            whole[event["event"]] = event.get("data")
    return Node(source, "", whole)


def is_iperf3(top: Node) -> bool:
    """Whether it is from iperf3: it has a start, or only an error."""
    return isinstance(top.value, dict) and ("start" in top.value or set(top.value) == {"error"})


class _Test:
    """The parameters of a test."""

    def __init__(self, top: Node) -> None:
        if error := top.get("error").text():
            host = top.get("start", "connecting_to", "host").text() or "\0"
            error = without_addresses(error.replace(host, "the server"))
            raise top.source.error("error", phrase("iperf3.not_finished", error=error))
        test = top.get("start", "test_start")
        if not test.table():
            raise top.source.error("start.test_start", phrase("iperf3.no_test"))
        self.top, self.test = top, test
        self.protocol = test.get("protocol").text()
        if self.protocol not in ("TCP", "UDP"):
            raise test.get("protocol").wrong("TCP, UDP")
        self.is_udp = self.protocol == "UDP"
        own = "download" if test.get("reverse").number() else "upload"
        other = "upload" if own == "download" else "download"
        #: The directions, each with the suffix of its keys.
        self.directions = {own: _SUMS[0]}
        # Versions before 3.13 do not set `bidir`, but have the sums of the other direction.
        if test.get("bidir").number() or top.get("end", f"sum_received{_SUMS[1]}").table():
            self.directions = {own: _SUMS[0], other: _SUMS[1]}
        self.streams = int(test.get("num_streams").number(least=1, most=128) or 1)
        start = top.get("start")
        rates = (
            *(test.get(one) for one in ("target_bitrate", "fqrate")),
            *(start.get(one) for one in ("target_bitrate", "fq_rate")),
        )
        #: The node of the rate limit per stream; None without one.
        self.target = next((node for node in rates if node.number()), None)

    @property
    def target_bps(self) -> float | None:
        """The rate limit per stream (-b, --fq-rate)."""
        return None if self.target is None else self.target.number()

    def named(self) -> list[str]:
        """Return lines about the keys that affect the test but are not reproduced."""
        return unfollowed("iperf3", ((name, "") for name in self._keys()))

    def _keys(self) -> Iterator[str]:
        """Yield the paths of keys with a value other than 0, false or empty."""
        for place in _PLACES:
            table = self.top.get(*place.split(".")) if place else self.top
            for key, value in table.table().items():
                path = f"{place}.{key}" if place else key
                if value not in (0, False, "", None) and path not in (*_PLACES, "title"):
                    yield path
        for stream in self.top.get("end", "streams").items():
            if stream.get("diskfile").table():
                yield "end.streams.diskfile"
                return

    def sums(self, ending: str) -> Node:
        """Return the sum over streams at the receiver, or else at the sender."""
        end = self.top.get("end")
        names = ["sum_received", "sum", "sum_sent"]
        if self.only_sent(ending):
            names.reverse()
        for name in names:
            node = end.get(name + ending)
            if node.table():
                return node
        raise self.top.source.error(f"end.sum_received{ending}", phrase("iperf3.no_sum"))

    def only_sent(self, ending: str) -> bool:
        """Whether this end is a server that sent (-R, --bidir): it does not know what arrived."""
        return self.is_server and self._has_none(ending)

    def _has_none(self, ending: str) -> bool:
        """Whether bytes were sent, and the receiver reported none."""
        end = self.top.get("end")
        sent = end.get(f"sum_sent{ending}", "bytes").number()
        return bool(sent) and end.get(f"sum_received{ending}", "bytes").number() == 0.0

    def is_too_short(self, ending: str) -> bool:
        """Whether a client of TCP ended before the server had anything (-n, -k)."""
        return not (self.is_server or self.is_udp) and self._has_none(ending)

    @property
    def is_server(self) -> bool:
        """Whether a server wrote the file."""
        return bool(self.top.get("start", "accepted_connection").value)

    @property
    def job(self) -> tuple[float, str] | None:
        """The payload of a TCP test of a given size (-n, -k), and its key; None for other tests.

        The client ends the test when it has written all; what arrived by then may be less. With
        `--bidir` the first direction that has sent all ends the other one: no size is known.
        """
        key = "bytes" if self.test.get("bytes").number() else "blocks"
        size = self.test.get(key).number(least=0.0, most=2.0**50) or 0.0
        if key == "blocks":
            size *= self.test.get("blksize").number(least=1.0, most=2.0**30) or 0.0
        if not size or self.is_udp or len(self.directions) > 1:
            return None
        arrived = self.sums("").get("bytes").number(least=0.0) or size
        if arrived < _WHOLE * size:
            return arrived, f"end.sum_received.bytes, of {size:.0f} B"
        return size, f"start.test_start.{key}"

    @property
    def duration_s(self) -> float:
        """The measured time, without the omitted part."""
        return self.sums("").get("seconds").needed(least=1e-3, most=1e7)


def measurement(top: Node) -> Measurement:
    """Return the measured values. Raises ScenarioError."""
    test = _Test(top)
    values: dict[str, dict[str, Interval]] = {}
    others: list[str] = []
    for direction, ending in test.directions.items():
        sums = test.sums(ending)
        mean = sums.get("bits_per_second").needed()
        if test.is_udp and sums.path == f"end.sum{ending}":
            # Versions up to 3.10 have only the sum of what was sent.
            mean *= 1.0 - (sums.get("lost_percent").number(most=100.0) or 0.0) / 100.0
        found = {"goodput_bps": mean_over_time(_samples(test, ending), mean)}
        if test.is_too_short(ending):
            found = {}
            others.append(phrase("iperf3.no_report", direction=direction))
        elif test.only_sent(ending):
            others.append(phrase("iperf3.bytes_sent", direction=direction))
        elif test.is_udp:
            found |= _of_udp(sums)
        if test.job is not None and found:
            found["transfer_time_s"] = Interval(test.duration_s, None, None, 1)
        if not test.is_udp and (round_trip := _round_trip(test, direction)) is not None:
            found["rtt_s"] = round_trip
        values[direction] = found
    values, direction = of_the_test(values)
    counts = {}
    if not test.is_udp:
        sent = [test.top.get("end", f"sum_sent{one}") for one in test.directions.values()]
        told = [one.get("retransmits").number() for one in sent]
        if None not in told:
            counts["tcp_retransmissions"] = sum(one or 0.0 for one in told)
    return Measurement(
        top.source.short,
        values,
        test.duration_s,
        counts,
        tuple(others),
        direction=direction,
        unfollowed=tuple(_conditions(test)),
    )


def _conditions(test: _Test) -> Iterator[Unfollowed]:
    """Yield the conditions of the test that a scenario may not reproduce."""
    if test.target_bps is not None and not test.is_udp:
        rate = f"{test.target_bps / 1e6:g} Mb/s"
        yield Unfollowed(
            phrase("iperf3.limited", streams=test.streams, rate=rate),
            above_bps=test.target_bps * test.streams * len(test.directions),
        )
    for line in test.named():
        yield Unfollowed(f"iperf3: {line}")


def span_s(top: Node) -> tuple[float, float] | None:
    """Return when the test began and ended, in seconds since 1970; None if unknown."""
    begin = top.get("start", "timestamp", "timesecs").number()
    if not begin:
        return None
    test = _Test(top)
    return begin, begin + (test.test.get("omit").number(most=3600.0) or 0.0) + test.duration_s


def _samples(test: _Test, ending: str) -> list[float]:
    """Return the goodput of each interval that was not omitted.

    A sender of UDP knows only what it sent, so it has none.
    """
    rates = []
    for one in test.top.get("intervals").items():
        sums = one.get(f"sum{ending}")
        is_of_sender = test.is_udp and sums.get("jitter_ms").value is None
        if sums.get("omitted").value is True or is_of_sender:
            continue
        rate = sums.get("bits_per_second").number()
        # The last interval may be a fragment with a few packets.
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
    """Return the kernel's smoothed RTT, which iperf3 reports in microseconds; 0 means unknown."""
    times = []
    for stream in test.top.get("end", "streams").items():
        sender = stream.get("sender")
        is_own = sender.get("sender").value
        # With both directions, the client's own streams are the uploads, a server's the downloads.
        if len(test.directions) > 1 and direction != ("download" if test.is_server else "upload"):
            continue
        # A client that only receives has the RTTs of its own few packets, or none.
        mean = sender.get("mean_rtt").number()
        if mean and (is_own is True or (is_own is None and direction == "upload")):
            times.append(mean / 1e6)
    return Interval(sum(times) / len(times), None, None, 1) if times else None


def add_flow(top: Node, draft: Draft) -> None:
    """Add the flow of the test to a draft. Raises ScenarioError."""
    test, name = _Test(top), top.source.short
    both = len(test.directions) > 1
    direction = "both" if both else next(iter(test.directions))
    how = {"upload": "no reverse", "download": "reverse = 1", "both": "both directions at once"}[
        direction
    ]
    flow = {
        "stations": Said("station", ""),
        "direction": Said(direction, phrase("iperf3.client_is_station", name=name, how=how)),
    }
    if test.streams > 1 and not test.is_udp:
        flow["connections"] = Said(
            test.streams, phrase("iperf3.streams", name=name, streams=test.streams)
        )
    if test.is_udp:
        flow["application"] = _udp(test, name, draft)
    else:
        flow["application"] = _bulk(test, name)
        flow["tcp"] = _tcp(test, name, draft)
    draft.flows.append(flow)
    _mark(test, name, draft)
    draft.unread += [f"{name}: {line}" for line in test.named()]
    omitted = test.test.get("omit").number(most=3600.0) or 0.0
    times = {
        "warmup": (omitted, "start.test_start.omit"),
        "duration": (test.duration_s, phrase("iperf3.seconds")),
    }
    if test.job is not None:
        long = phrase("iperf3.time_enough")
        times = {"duration": (max(_PATIENCE * test.duration_s, _LEAST_S), long)}
        if omitted:
            draft.unread.append(phrase("iperf3.omit", name=name))
    elif not test.is_udp and (test.test.get("bytes").value or test.test.get("blocks").value):
        draft.unread.append(phrase("iperf3.both_ways", name=name))
    for key, (seconds, where) in times.items():
        text = time_text(seconds)
        draft.say("run", key, text, f"{name}: {where}")


def _bulk(test: _Test, name: str) -> Said:
    """Return a transfer; with a rate per connection, the sender writes a block at a time (-l)."""
    table: dict[str, Any] = {"kind": "bulk"}
    about = phrase("iperf3.as_much")
    if test.job is not None:
        size, about = test.job
        table["size"] = f"{math.ceil(size / test.streams)} B"
        about += f", shared by {test.streams} connections" if test.streams > 1 else ""
    if test.target is None:
        return Said(table, f"{name}: {about}")
    written = test.test.get("blksize").number(least=1.0, most=2.0**30)
    # iperf3 -b R/N sends N blocks in a row; `fq` sends about a millisecond at a time.
    burst = test.test.get("burst").number(least=0.0, most=1000.0) or 1.0
    bps = test.target_bps or 0.0
    is_paced = test.target.path.endswith(("fqrate", "fq_rate"))
    block = max(bps / 8e3, 2.0 * _ETHERNET_MSS) if is_paced else (written or 2.0**17) * burst
    table |= {"rate": f"{bps:.0f} b/s", "block": f"{block:.0f} B"}
    sized = f", {about}" if "size" in table else ""
    return Said(table, f"{name}: {test.target.path} = {bps:.0f}, start.test_start.blksize{sized}")


def _mark(test: _Test, name: str, draft: Draft) -> None:
    """Write the access category of marked packets (-S, --dscp)."""
    tos = int(test.test.get("tos").number(most=255.0) or 0)
    category = category_of(tos)
    keys = ("udp",) if test.is_udp else ("tcp_data", "tcp_ack")
    classify = draft.tables.get("mac.classify", {})
    given = classify[keys[0]].value if keys[0] in classify else "AC_BE"
    kinds = [flow["application"].value["kind"] for flow in draft.flows[:-1]]
    if given != category and ("udp" if test.is_udp else "bulk") in kinds:
        for key in keys:
            classify.pop(key, None)
        if not classify:
            draft.tables.pop("mac.classify", None)
        draft.unread.append(
            phrase(
                "iperf3.two_marks",
                name=name,
                tos=tos,
                category=category,
                given=given,
                is_udp="UDP" if test.is_udp else "TCP",
            )
        )
        return
    if category == "AC_BE":
        tell_newer(tos, f"{name}: start.test_start.tos = {tos}", draft)
        return
    why = phrase("iperf3.mark", name=name, tos=tos, tos_2=priority_of(tos))
    standard = draft.tables["phy"]["standard"].value
    if standard in ("802.11a", "802.11b", "802.11g") and "mac.edca" not in draft.tables:
        draft.unread.append(phrase("iperf3.no_wmm", why=why))
        return
    for key in keys:
        draft.say("mac.classify", key, category, why)
    tell_newer(tos, f"{name}: start.test_start.tos = {tos}", draft)


def _udp(test: _Test, name: str, draft: Draft) -> Said:
    """Return the application of a UDP test."""
    size = test.test.get("blksize").needed(least=1.0, most=65507.0)
    rate = test.test.get("target_bitrate").number()
    if rate is None:
        rate = test.sums("").get("bits_per_second").needed()
    else:
        rate *= test.streams
    # iperf3 counts only payload, a scenario the IP packet.
    packet = size + _HEADERS
    if packet > _MOST_PACKET:
        draft.unread.append(phrase("iperf3.fragments", name=name, size=size, usual=_USUAL))
        packet, size = float(_USUAL), float(_USUAL - _HEADERS)
    text = f"{rate * packet / size:.0f} b/s" if rate else "saturated"
    table: dict[str, Any] = {"kind": "udp", "packet": f"{packet:.0f} B", "rate": text}
    streams = f", {test.streams} streams together" if test.streams > 1 else ""
    return Said(table, phrase("iperf3.datagrams", name=name, streams=streams))


def _tcp(test: _Test, name: str, draft: Draft) -> Said:
    """Return the TCP settings of a test."""
    table: dict[str, Any] = {"preset": "linux"}
    told = []
    mss = test.top.get("start", "tcp_mss_default").number(most=65495.0)
    fixed = test.top.get("start", "tcp_mss").number(least=88.0, most=65495.0)
    if fixed:
        # -M sets the option of the SYN; timestamps reduce the payload.
        mss = fixed - _TIMESTAMPS
    if mss and mss + _TCP_HEADERS > _MOST_PACKET:
        draft.unread.append(phrase("iperf3.large_mss", name=name, mss=mss))
    elif mss:
        table["mss"] = f"{mss:.0f} B"
        told.append("start.tcp_mss" if fixed else "start.tcp_mss_default")
    window = test.top.get("start", "sock_bufsize").number(most=2.0**31)
    if window:
        table["receive_window"] = f"{window:.0f} B"
        told.append("start.sock_bufsize (-w)")
    sender = test.top.get("end", "sender_tcp_congestion").text()
    if sender in OF_LINUX:
        table["congestion"] = OF_LINUX[sender]
        told.append("end.sender_tcp_congestion")
    elif sender:
        draft.unknown.append(phrase("iperf3.other_congestion", sender=sender))
    else:
        draft.unknown.append(phrase("iperf3.unknown_congestion", name=name))
    about = f"{name}: {', '.join(told)}; " if told else ""
    return Said(table, phrase("iperf3.linux", about=about))

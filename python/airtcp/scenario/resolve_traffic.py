"""Resolve flows: names, applications, wired paths.

`resolve_tcp`, `resolve_queue` and `resolve_laws` resolve their parts. `requests` reads logs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path as FilePath

from .. import distributions, standards
from ..exceptions import QuestionError
from .errors import InvalidError, Path, invalid, phrase, quoted
from .keys.phy import Phy
from .keys.tcp import Tcp
from .keys.traffic import (
    Application,
    Bulk,
    Flow,
    Ftp,
    FtpMessages,
    Link,
    Page,
    Replay,
    Udp,
    Voice,
    Web,
)
from .quantities import Written
from .requests import read_requests
from .resolve_laws import resolve_distribution
from .resolve_queue import Network, resolve_link
from .resolve_tcp import resolve_tcp

#: As measured with ProFTPD in paper H, Table II: 48, 392, 272, 704 and 184 bits.
PROFTPD = FtpMessages(
    pasv_bytes=6, reply_227_bytes=49, retr_bytes=34, reply_150_bytes=88, reply_226_bytes=23
)


#: Ie and Bpl of codecs with packet-loss concealment (ITU-T G.113, appendix I), and their look-ahead
#: in seconds (G.711, G.729 annex A).
CODECS = {"G.711": (0.0, 25.1, 0.0), "G.729A": (11.0, 19.0, 0.005)}
#: 20 ms of speech with 40 bytes of headers: IP, UDP, RTP.
SPEECH_PACKET_BYTES = {"G.711": 200, "G.729A": 60}
SPEECH_PACKETS_PER_S = 50
#: Flows begin within this time: a hundred times the duration of a frame, and a small part of a run.
START_SPREAD_NS = 100_000_000
#: What iperf3 writes at a time (DEFAULT_TCP_BLKSIZE).
BLOCK_BYTES = 128 * 1024
MOST_BLOCK_BYTES = 2**30
#: Presets in which all flows begin at once.
_IN_STEP = ("ns-2", "bianchi")
#: The maximum number of transfers of one replay.
MOST_TRANSFERS = 1_000_000
#: The latest start of a transfer, in seconds after the first: a run has 63 bits for nanoseconds.
_LATEST_S = 9e9


def resolve_flows(
    scenario: Written, phy: Phy, network: Network, base: FilePath
) -> tuple[Flow, ...]:
    """Return the resolved flows of a scenario.

    Raises:
        InvalidError: keys that do not fit together, or a data file that cannot be used.
    """
    names = _flow_names(scenario.flows)
    groups = {group.name: group for group in scenario.stations}
    flows = []
    for index, flow in enumerate(scenario.flows):
        here: Path = ("flows", index)
        if flow.stations not in groups:
            raise InvalidError(
                (*here, "stations"),
                f'there is no station group "{flow.stations}"'
                + (", it is a cell" if flow.stations in scenario.cells else "")
                + f"; allowed: {quoted(groups)}",
            )
        group = groups[flow.stations]
        path = tuple(_path(flow.path or [], network.links, (*here, "path")))
        spread_ns = _start_spread_ns(flow, scenario.mac.rules.preset, here)
        for ending, application in _applications(flow.application, group.count, here, base):
            tcp = None
            if isinstance(application, Udp):
                _check_udp(flow, application, network, here)
            else:
                _check_tcp_flow(flow, application, here)
                tcp = resolve_tcp(flow.tcp, (*here, "tcp"))
                _check_ecn(flow, tcp, network.marks(flow.stations, path), here)
            _check_dialogue(application, tcp, here)
            _check_msdu(phy, application, tcp, here)
            for beside, direction in _copies(flow):
                flows.append(
                    Flow.of(
                        flow,
                        name=names[index] + ending + beside,
                        direction=direction,
                        start_spread_ns=spread_ns,
                        application=application,
                        tcp=tcp,
                        path=path,
                    )
                )
    _check_names(flows, scenario)
    return tuple(flows)


def entries(flows: list[Written]) -> list[tuple[str, int]]:
    """Return the name of each entry of `[[flows]]`, and its number of resolved flows."""
    counts = [len(_parts(flow.application)) * len(_copies(flow)) for flow in flows]
    return list(zip(_flow_names(flows), counts, strict=True))


def _start_spread_ns(flow: Written, preset: str, here: Path) -> int:
    application = flow.application
    begins_at_zero = (application.kind == "bulk" and not application.given("start")) or (
        application.kind == "udp" and application.rate == "saturated"
    )
    if begins_at_zero:
        usual = 0 if preset in _IN_STEP else START_SPREAD_NS
        return usual if flow.start_spread is None else int(flow.start_spread)
    if flow.start_spread:
        law = "a start" if application.kind == "bulk" else "times"
        raise invalid((*here, "start_spread"), "traffic.starts", kind=application.kind, law=law)
    return 0


#: By direction of an entry: name suffix and direction of each of its flows.
_SIDES = {
    "download": [("", "download")],
    "upload": [("", "upload")],
    "both": [("-down", "download"), ("-up", "upload")],
}


def _copies(flow: Written) -> list[tuple[str, str]]:
    """Return the suffixes of the names of an entry's flows, with the directions of their data."""
    if flow.connections == 1:
        return _SIDES[flow.direction]
    return [
        (f"{side}-{number}", direction)
        for side, direction in _SIDES[flow.direction]
        for number in range(1, flow.connections + 1)
    ]


def _check_tcp_flow(flow: Written, application: Application, here: Path) -> None:
    if flow.direction == "both" and application.kind != "bulk":
        raise invalid((*here, "direction"), "traffic.one_direction", kind=application.kind)
    if flow.connections > 1 and application.kind == "replay":
        raise invalid((*here, "connections"), "traffic.replay")
    if isinstance(application, Web) and application.page is not None:
        if flow.direction == "upload":
            raise invalid((*here, "direction"), "traffic.page_upload")
        if application.request_bytes == 0:
            raise invalid((*here, "application", "request"), "traffic.page_requests")


def _check_ecn(flow: Written, tcp: Tcp, is_marked: bool, here: Path) -> None:
    if tcp.ecn and not is_marked:
        way = "its stations and the access point" + (" and on its path" if flow.path else "")
        raise invalid((*here, "tcp", "ecn"), "traffic.no_ecn", way=way)


def _check_names(flows: list[Flow], scenario: Written) -> None:
    """Check that generated names of flows (parts of a call, both directions) are not taken."""
    seen: set[str] = set()
    for flow in flows:
        if flow.name in seen:
            index = next(
                at
                for at, written in enumerate(scenario.flows)
                if flow.name.startswith(written.name or written.stations)
            )
            raise invalid(("flows", index, "name"), "traffic.name_twice", name=flow.name)
        seen.add(flow.name)


def _check_udp(flow: Written, application: Udp, network: Network, here: Path) -> None:
    if flow.given("tcp"):
        raise invalid((*here, "tcp"), "traffic.udp_tcp")
    if flow.connections > 1:
        raise invalid((*here, "connections"), "traffic.udp_connections")
    if application.rate_bps is not None:
        return
    if flow.direction == "download" and flow.path:
        raise invalid((*here, "path"), "traffic.saturated_path")
    if network.first_queue(flow.stations, flow.direction).discipline == "red":
        raise invalid((*here, "application", "rate"), "traffic.saturated_red")


def _flow_names(flows: list[Written]) -> list[str]:
    """Return the entries' names: their own, or the group's, with -2, -3, ... if needed."""
    named: set[str] = set()
    taken: set[str] = set()
    for index, flow in enumerate(flows):
        if flow.name is None:
            continue
        if flow.name in named:
            raise invalid(("flows", index, "name"), "traffic.names_twice", name=flow.name)
        named.add(flow.name)
        taken |= _made(flow, flow.name)
    names = []
    for flow in flows:
        name = flow.name
        if name is None:
            numbered = (flow.stations if n == 1 else f"{flow.stations}-{n}" for n in count(1))
            name = next(one for one in numbered if taken.isdisjoint(_made(flow, one)))
            taken |= _made(flow, name)
        names.append(name)
    return names


def _made(flow: Written, name: str) -> set[str]:
    """Return an entry's name, and the names of its flows."""
    beside = [other for other, _ in _copies(flow)]
    return {name, *(name + part + other for part in _parts(flow.application) for other in beside)}


def _path(path: list[str | Written], links: Mapping[str, Link], here: Path) -> Iterator[Link | str]:
    for index, element in enumerate(path):
        if isinstance(element, Written):
            yield resolve_link(element, (*here, index))
        elif element in links:
            yield element
        else:
            allowed = quoted(links) if links else phrase("traffic.defined_link", element=element)
            raise invalid((*here, index), "traffic.unknown_link", element=element, allowed=allowed)


def _applications(
    application: Written, stations: int, flow: Path, base: FilePath
) -> Iterator[tuple[str, Application]]:
    """Yield the applications of an entry, each with the suffix of its flow's name."""
    here: Path = (*flow, "application")
    speech, *video = _parts(application)
    if application.kind != "call":
        yield speech, _application(application, stations, here, base)
        return
    packet = SPEECH_PACKET_BYTES[application.codec]
    speech_bps = 8 * packet * SPEECH_PACKETS_PER_S
    yield (
        speech,
        Udp(
            kind="udp",
            packet_bytes=packet,
            rate_bps=speech_bps,
            voice=_voice(application.codec, packet, speech_bps),
        ),
    )
    for ending in video:
        _check_packet(application.video_packet, (*here, "video_packet"))
        yield (
            ending,
            Udp(
                kind="udp",
                packet_bytes=application.video_packet,
                rate_bps=application.video,
                voice=None,
            ),
        )


def _parts(application: Written) -> list[str]:
    """Return the suffixes of the names of an application's flows."""
    if application.kind == "call" and application.video != "none":
        return ["-speech", "-video"]
    return [""]


def _voice(codec: str, packet_bytes: int, rate_bps: int) -> Voice:
    impairment, robustness, look_ahead_s = CODECS[codec]
    return Voice(
        impairment=impairment,
        robustness=robustness,
        delay_s=8 * packet_bytes / rate_bps + look_ahead_s,
    )


def _application(application: Written, stations: int, here: Path, base: FilePath) -> Application:
    def law(key: str, of: str) -> distributions.Distribution:
        return resolve_distribution(getattr(application, key), (*here, key), base, of=of)

    match application.kind:
        case "bulk":
            size = None if application.size is None else law("size", "size")
            block = application.block
            if application.rate is None and block is not None:
                raise invalid((*here, "block"), "traffic.block_without_rate")
            if application.rate is not None and block is None:
                block = BLOCK_BYTES
            if block is not None and not 1 <= block <= MOST_BLOCK_BYTES:
                raise invalid((*here, "block"), "traffic.block", block=block)
            return Bulk.of(application, size=size, start=law("start", "time"), block_bytes=block)
        case "web":
            return Web.of(
                application,
                size=law("size", "size"),
                think_time=law("think_time", "time"),
                page=_page(application.page, (*here, "page"), base),
            )
        case "replay":
            return Replay.of(application, transfers=_transfers(application, stations, here, base))
        case "ftp":
            interarrival = law("interarrival", "time")
            if interarrival.mean() <= 0:
                raise invalid((*here, "interarrival"), "traffic.no_pause")
            return Ftp.of(
                application,
                interarrival=interarrival,
                size=law("size", "size"),
                control=PROFTPD if application.control else None,
            )
    _check_packet(application.packet, (*here, "packet"))
    rate = None if application.rate == "saturated" else application.rate
    voice = None
    if application.codec is not None:
        if rate is None:
            raise invalid((*here, "codec"), "traffic.speech")
        voice = _voice(application.codec, application.packet, rate)
    return Udp.of(application, rate_bps=rate, voice=voice)


def _check_packet(packet_bytes: int, here: Path) -> None:
    if packet_bytes <= standards.UDP_IP_HEADER_BYTES:
        raise invalid(
            here, "traffic.headers", size=packet_bytes, least=standards.UDP_IP_HEADER_BYTES
        )


def _page(page: Written | None, here: Path, base: FilePath) -> Page | None:
    if page is None:
        return None
    size = None
    if page.size is not None:
        size = resolve_distribution(page.size, (*here, "size"), base, of="size")
    objects = resolve_distribution(page.objects, (*here, "objects"), base, of="count")
    return Page.of(page, objects=objects, size=size)


def _transfers(
    application: Written, stations: int, here: Path, base: FilePath
) -> tuple[tuple[tuple[float, float], ...], ...]:
    """Return the start time and size of each station's transfers, from a log."""
    try:
        requests = read_requests(base / application.file)
    except QuestionError as error:
        raise InvalidError((*here, "file"), str(error)) from error
    found = [
        (time_s, size, client)
        for time_s, size, client in zip(
            requests.times_s, requests.sizes, requests.clients, strict=True
        )
        if time_s is not None
    ]
    if not found:
        raise invalid((*here, "file"), "traffic.no_times", base=base / application.file)
    # A server writes a line when a response ends.
    found.sort(key=lambda one: one[0])
    begin = found[0][0] + application.begin
    found = [one for one in found if one[0] >= begin]
    if not found:
        raise invalid((*here, "begin"), "traffic.late_begin")
    if (last_s := found[-1][0] - begin) > _LATEST_S:
        raise invalid((*here, "file"), "traffic.long_log", last_s=last_s, latest_s=_LATEST_S)
    if len(found) > MOST_TRANSFERS:
        raise invalid(
            (*here, "file"), "traffic.many_transfers", found=len(found), most=MOST_TRANSFERS
        )
    lists: list[list[tuple[float, float]]] = [[] for _ in range(stations)]
    known: dict[str, int] = {}
    for index, (time_s, size, client) in enumerate(found):
        turn = known.setdefault(client, len(known)) if client else index
        lists[turn % stations].append((time_s - begin, size))
    return tuple(map(tuple, lists))


def _check_dialogue(application: Application, tcp: Tcp | None, here: Path) -> None:
    has_dialogue = isinstance(application, Ftp) and application.control is not None
    if has_dialogue and tcp is not None and tcp.handshake == "two-way":
        raise invalid((*here, "tcp", "handshake"), "traffic.ftp_dialogue")


def _check_msdu(
    phy: Phy,
    application: Application,
    tcp: Tcp | None,
    here: Path,
) -> None:
    """Check that a packet fits into one MSDU, because fragmentation is not modelled."""
    if isinstance(application, Udp):
        key: Path = (*here, "application", "packet")
        packet_bits = application.packet_bytes * 8
    else:
        assert tcp is not None
        key = (*here, "tcp", "mss")
        packet_bits = tcp.mss_bytes * 8 + tcp.header_bits
    room_bits = standards.MAX_MSDU_BYTES * 8 - phy.llc_bits
    if packet_bits > room_bits:
        raise invalid(
            key,
            "traffic.msdu",
            size=math.ceil(packet_bits / 8),
            room=room_bits // 8,
            msdu=standards.MAX_MSDU_BYTES,
        )

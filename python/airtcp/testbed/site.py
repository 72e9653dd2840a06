"""The site of a testbed: networks, addresses, routes and kernel settings.

Maps a scenario to Linux settings. Features that Linux cannot set are listed in `deviations`, in
plain words; a feature that would change the medium or the programs is an error. `network` creates
the networks.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airtcp.choices import CONGESTION, RECOVERY, either
from airtcp.exceptions import ScenarioError
from airtcp.phrases import phrase

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.tcp import Tcp
    from airtcp.scenario.keys.traffic import Flow

#: Each station has its own network in the kernel, and one machine cannot serve more of them.
MOST_STATIONS: Final = 200
MOST_ENTRIES: Final = 250
SERVER: Final = "server"
#: The medium, in a capture.
_AIR: Final = "air"
#: Address ranges of the servers of entries, and of the stations.
_SERVERS: Final = "10.77.128"
_STATIONS: Final = "10.77.0"
_IP_TCP_BYTES: Final = 40
#: Timestamps with their padding (RFC 7323, appendix A).
_TIMESTAMPS_BYTES: Final = 12
#: The packet queue of a device: far larger than any window.
_DEVICE_QUEUE: Final = 10_000
#: The smallest MTU. The kernel allows less; IPv4 needs at least 68.
_LEAST_MTU: Final = 576
#: Larger than the bytes in flight of any flow: the kernel lets the send buffer grow with the
#: window. [bytes]
_SEND_BYTES: Final = 16 << 20
#: The initial send buffer, the usual value. ProFTPD allocates buffers as large as a socket's and
#: clears one per transfer: with 16 MiB it took 9 ms to respond. [bytes]
_FIRST_SEND_BYTES: Final = 16 << 10
#: The kernel's estimate of a segment's memory, relative to its payload: 2816 bytes for 1500. The
#: receive window is what the buffer holds, up to the limit of the route. With less memory, the
#: window is not a whole number of segments, and kernel senders fill the rest with a small one. With
#: far more, the kernel takes every read as a chance to open the window, and acknowledges each
#: segment.
_MEMORY_OVER_PAYLOAD: Final = 2.0
_LEAST_RECEIVE_BYTES: Final = 4096
#: The initial size of a large receive buffer, the usual value; it grows with the data received. If
#: there is more room than the first window of 64 KiB needs, the window grows with each segment, and
#: the kernel acknowledges each segment meanwhile: the first 300 of a download with 6 MiB at once.
#: [bytes]
_FIRST_RECEIVE_BYTES: Final = 128 << 10
#: <linux/if_tun.h>: packets written to the device pass through NAPI, and so through GRO.
_IFF_NAPI: Final = 0x0010

_AVAILABLE: Final = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


@dataclass(frozen=True)
class Node:
    """A network in the kernel with one TUN device."""

    name: str
    addresses: tuple[str, ...]
    routes: tuple[str, ...]
    mtu: int
    sysctls: Mapping[str, str]
    flags: int = 0
    #: Whether segments that TCP sends together stay one buffer until the device takes them (GSO).
    gso: bool = True

    def asked(self) -> dict[str, Any]:
        """Return the node in the format of `keeper`."""
        return {
            "name": self.name,
            "addresses": list(self.addresses),
            "routes": list(self.routes),
            "mtu": self.mtu,
            "queue": _DEVICE_QUEUE,
            "flags": self.flags,
            "gso": self.gso,
            "sysctls": dict(self.sysctls),
        }


@dataclass(frozen=True)
class RealFlow:
    """A flow with real packets: its entry, its station, and the addresses of its ends."""

    entry: int
    flow: Flow
    station: str
    station_address: str
    server_address: str
    #: Index among the flows of its entry.
    index: int
    #: Data rate of its station's frames.
    data_rate_bps: int


@dataclass(frozen=True)
class Site:
    """Everything that a testbed of a scenario needs from the kernel."""

    scenario: ResolvedScenario
    #: The server first, then the stations in the order of the core.
    nodes: tuple[Node, ...]
    flows: tuple[RealFlow, ...]
    #: Differences between the kernel and the scenario.
    deviations: tuple[str, ...]
    #: The address of each entry's server; None if the entry is simulated.
    servers: tuple[str | None, ...]
    #: The address of each station; None if the station is simulated.
    stations: tuple[str | None, ...]

    @property
    def names(self) -> list[str]:
        """The names of the real nodes: the server, and the real stations."""
        every = _stations(self.scenario)
        real = [one for (_, one, _), at in zip(every, self.stations, strict=True) if at is not None]
        return [SERVER, *real]

    @property
    def air_names(self) -> list[str]:
        """The names of the capture interfaces of the medium, in the order of the core.

        There is one name if all nodes hear each other, otherwise one per node.
        """
        if self.scenario.cells is None:
            return [_AIR]
        nodes = [cell.name for cell in self.scenario.cells]
        nodes += [name for _, name, _ in _stations(self.scenario)]
        return [f"{_AIR} at {node}" for node in nodes]


def site_of(
    scenario: ResolvedScenario,
    *,
    name: str,
    simulated: Collection[str] = (),
    only: str | None = None,
    gro: bool = False,
) -> Site:
    """Return the site of a scenario. All flows are real except the `simulated` entries.

    With `only`, one station is real and all others are simulated. `name` is the scenario's name in
    messages. Raises ScenarioError for features that a kernel lacks.
    """
    _check(scenario, name, simulated, only)
    if scenario.mac.ofdma is not None:
        raise ScenarioError(name, "mac.ofdma", phrase("testbed.site.ofdma"))
    if scenario.ap.links is not None:
        raise ScenarioError(name, "ap.links", phrase("testbed.site.links"))
    stations = [one for one in _stations(scenario) if only in (None, one[1])]
    servers = tuple(
        None if flow.name in simulated else f"{_SERVERS}.{index + 1}"
        for index, flow in enumerate(scenario.flows)
    )
    flows: list[RealFlow] = []
    rates = {group.name: group.data_rate.bps for group in scenario.stations}
    for group, station, address in stations:
        for entry, flow in enumerate(scenario.flows):
            server = servers[entry]
            if flow.stations == group and server is not None:
                index = sum(one.entry == entry for one in flows)
                rate = rates[group]
                flows.append(RealFlow(entry, flow, station, address, server, index, rate))
    mtu = max([_LEAST_MTU, *(_packet_bytes(one.flow) for one in flows)])
    deviations = (*_folded(flows), *dict.fromkeys(_conflicts(flows)))
    real_servers = tuple(address for address in servers if address is not None)
    flags = _IFF_NAPI if gro else 0
    server_routes = tuple(_route(address, _first_tcp(flows, address)) for _, _, address in stations)
    every = (real_servers, server_routes, mtu, _sysctls(flows), flags, _has_gso(flows))
    nodes = [Node(SERVER, *every)]
    for _, station, address in stations:
        own = [one for one in flows if one.station == station]
        routes = tuple(_route(one.server_address, one.flow.tcp) for one in own)
        settings = (routes, mtu, _sysctls(own), flags, _has_gso(own))
        nodes.append(Node(netns_name(station), (address,), *settings))
    real = {station for _, station, _ in stations}
    addresses = tuple(
        address if station in real else None for _, station, address in _stations(scenario)
    )
    return Site(scenario, tuple(nodes), tuple(flows), deviations, servers, addresses)


def netns_name(station: str) -> str:
    """Return the name of a station's network, which must be a valid file name."""
    return station.replace("/", "-")


def _stations(scenario: ResolvedScenario) -> list[tuple[str, str, str]]:
    """Return group, name and address of each station."""
    names = [
        (group.name, f"{group.name}/{index}")
        for group in scenario.stations
        for index in range(group.count)
    ]
    return [
        (group, name, f"{_STATIONS}.{number + 1}") for number, (group, name) in enumerate(names)
    ]


def _check(
    scenario: ResolvedScenario, name: str, simulated: Collection[str], only: str | None
) -> None:
    """Reject features that would change the medium or the programs. Raises ScenarioError."""
    known = {flow.name for flow in scenario.flows}
    for one in simulated:
        if one not in known:
            there = ", ".join(sorted(known))
            raise ScenarioError(
                name, "flows", phrase("testbed.site.no_flows", one=one, there=there)
            )
    if not known - set(simulated):
        raise ScenarioError(name, "flows", phrase("testbed.site.all_simulated"))
    if only is not None:
        _check_station(scenario, name, simulated, only)
    count = 1 if only else sum(group.count for group in scenario.stations)
    if count > MOST_STATIONS:
        raise ScenarioError(
            name,
            "stations",
            phrase("testbed.site.many_stations", count=count, most=MOST_STATIONS),
        )
    if len(scenario.flows) > MOST_ENTRIES:
        raise ScenarioError(name, "flows", phrase("testbed.site.at_most", most=MOST_ENTRIES))
    for index, flow in enumerate(scenario.flows):
        if flow.name not in simulated and flow.tcp is not None:
            _check_tcp(name, f"flows[{index}] ({flow.name}).tcp", flow.name, flow.tcp)


def _check_station(
    scenario: ResolvedScenario, name: str, simulated: Collection[str], only: str
) -> None:
    """Raise ScenarioError if the station does not exist, or has no real flow."""
    groups = {station: group for group, station, _ in _stations(scenario)}
    if only not in groups:
        there = [f"{group.name}/0 to {group.name}/{group.count - 1}" for group in scenario.stations]
        raise ScenarioError(
            name, "stations", phrase("testbed.site.no_station", only=only, there=there)
        )
    flows = [flow for flow in scenario.flows if flow.name not in simulated]
    if not any(flow.stations == groups[only] for flow in flows):
        raise ScenarioError(name, "flows", phrase("testbed.site.no_flow", only=only))


def _check_tcp(name: str, path: str, flow: str, tcp: Tcp) -> None:
    asked = tcp.model_dump()
    simulated = phrase("testbed.site.simulated", flow=flow)
    for key, what in (
        ("ack_skip", phrase("testbed.site.ack_skip")),
        ("tack", phrase("testbed.site.tack")),
        ("mac_feedback", phrase("testbed.site.mac_feedback")),
    ):
        if asked.get(key) is not None and asked.get(key) is not False:
            raise ScenarioError(
                name,
                f"{path}.{key}",
                phrase("testbed.site.only_none", what=what, simulated=simulated),
            )
    if asked["delayed_ack"]["policy"] is not None:
        raise ScenarioError(
            name,
            f"{path}.delayed_ack.policy",
            phrase("testbed.site.plugin_policy", simulated=simulated),
        )
    every = [count for _, count in asked["delayed_ack"]["thresholds"]]
    if every not in ([1], [2]):
        raise ScenarioError(
            name, f"{path}.delayed_ack", phrase("testbed.site.delayed_ack", simulated=simulated)
        )
    congestion = CONGESTION[asked["congestion"]].kernel
    if congestion is None:
        known = either([word for word, one in CONGESTION.items() if one.kernel is not None])
        raise ScenarioError(
            name,
            f"{path}.congestion",
            phrase("testbed.site.congestion", known=known, simulated=simulated),
        )
    try:
        available = _AVAILABLE.read_text(encoding="ascii").split()
    except OSError:
        # Not a Linux system; other checks report what is missing.
        return
    if congestion not in available:
        raise ScenarioError(
            name,
            f"{path}.congestion",
            phrase("testbed.site.not_loaded", congestion=congestion) + ", ".join(available),
        )


def _packet_bytes(flow: Flow) -> int:
    """Return the largest IP packet of a flow, in bytes."""
    if flow.tcp is None:
        return int(flow.application.model_dump()["packet_bytes"])
    return flow.tcp.mss_bytes + _IP_TCP_BYTES + (_TIMESTAMPS_BYTES if flow.tcp.timestamps else 0)


def _first_tcp(flows: list[RealFlow], station_address: str) -> Tcp | None:
    """Return the TCP of a station's first TCP flow: a route can hold only one."""
    return next(
        (
            one.flow.tcp
            for one in flows
            if one.station_address == station_address and one.flow.tcp is not None
        ),
        None,
    )


def _route(to: str, tcp: Tcp | None) -> str:
    """Return a route with all TCP settings that a route supports (ip-route(8))."""
    route = f"{to}/32 dev air"
    if tcp is None:
        return route
    advertised = tcp.mss_bytes + (_TIMESTAMPS_BYTES if tcp.timestamps else 0)
    segments = max(1, round(tcp.initial_window_bytes / tcp.mss_bytes))
    every = tcp.delayed_ack.thresholds[0][1]
    return (
        f"{route} advmss {advertised} initcwnd {segments} rto_min {tcp.min_rto_ns // 1_000_000}ms"
        f" quickack {int(every == 1)} congctl {CONGESTION[tcp.congestion].kernel}"
        f" window {_window(tcp)}"
    )


def _window(tcp: Tcp) -> int:
    """Return the window in whole segments: kernel senders fill a remainder with a small segment."""
    whole: int = tcp.receive_window_bytes - tcp.receive_window_bytes % tcp.mss_bytes
    return whole or tcp.receive_window_bytes


def _sysctls(flows: list[RealFlow]) -> dict[str, str]:
    """Return the settings of a network.

    Both ends must agree on options, so one flow enables them.
    """
    tcps = [one.flow.tcp.model_dump() for one in flows if one.flow.tcp is not None]
    has = {
        "tcp_sack": any(RECOVERY[tcp["variant"]].has_sack for tcp in tcps),
        "tcp_timestamps": any(tcp["timestamps"] for tcp in tcps),
        "tcp_window_scaling": any(tcp["window_scaling"] for tcp in tcps),
        "tcp_ecn": any(tcp.get("ecn") for tcp in tcps),
        "tcp_slow_start_after_idle": any(tcp["rules"]["restart_after_idle"] for tcp in tcps),
    }
    # RACK and the tail loss probe come together (RFC 8985), and neither without it.
    has_rack = any(RECOVERY[tcp["variant"]].times_segments for tcp in tcps)
    window = max([tcp["receive_window_bytes"] for tcp in tcps], default=_SEND_BYTES)
    receive = max(_LEAST_RECEIVE_BYTES, round(_MEMORY_OVER_PAYLOAD * window))
    return {
        "net.ipv6.conf.all.disable_ipv6": "1",
        "net.ipv4.tcp_no_metrics_save": "1",
        "net.ipv4.tcp_rmem": f"4096 {min(_FIRST_RECEIVE_BYTES, receive)} {receive}",
        "net.ipv4.tcp_wmem": f"4096 {_FIRST_SEND_BYTES} {_SEND_BYTES}",
        "net.ipv4.tcp_recovery": str(int(has_rack)),
        "net.ipv4.tcp_early_retrans": "3" if has_rack else "0",
        **{f"net.ipv4.{key}": str(int(value)) for key, value in has.items()},
    }


def _has_gso(flows: list[RealFlow]) -> bool:
    """Whether segments are sent together: a device has one setting for all its flows."""
    tcps = [one.flow.tcp for one in flows if one.flow.tcp is not None]
    return any(tcp.rules.segmentation == "linux" for tcp in tcps)


def _folded(flows: list[RealFlow]) -> list[str]:
    """List each difference of the kernel once, with the entries that it concerns."""
    told: dict[str, dict[str, None]] = {}
    for flow in {one.entry: one.flow for one in flows}.values():
        for text in _deviations(flow):
            told.setdefault(text, {})[flow.name] = None
    return [f"{', '.join(names)}: {text}" for text, names in told.items()]


def _deviations(flow: Flow) -> list[str]:
    """Describe how the kernel differs from an entry."""
    if flow.tcp is None:
        return _application_deviations(flow)
    tcp = flow.tcp.model_dump()
    told = _application_deviations(flow)
    if tcp["handshake"] != "three-way":
        told.append(phrase("testbed.site.handshake"))
    if tcp["delayed_ack"]["thresholds"][0][1] == 2:
        told.append(phrase("testbed.site.acks"))
    headers = 8 * (_IP_TCP_BYTES + (_TIMESTAMPS_BYTES if tcp["timestamps"] else 0))
    if tcp["header_bits"] != headers:
        told.append(phrase("testbed.site.headers", headers=headers, header_bits=tcp["header_bits"]))
    if RECOVERY[tcp["variant"]].kernel_differs:
        told.append(RECOVERY[tcp["variant"]].kernel_differs)
    if tcp["aimd"] != {"increase": 1.0, "decrease": 0.5}:
        told.append(phrase("testbed.site.aimd"))
    control = CONGESTION[tcp["congestion"]]
    if control.kernel_differs and tcp["slow_start"] != control.kernel_slow_start:
        told.append(control.kernel_differs)
    if tcp["pacing"] and not control.needs:
        told.append(phrase("testbed.site.pacing"))
    if tcp["initial_ssthresh_bytes"] is not None:
        told.append(phrase("testbed.site.ssthresh"))
    if tcp["initial_rto_ns"] != 1_000_000_000:
        told.append(phrase("testbed.site.initial_rto"))
    if tcp["sending_end"] is not None:
        told.append(phrase("testbed.site.receiver"))
    if tcp["small_queue"]:
        told.append(phrase("testbed.site.socket"))
    if tcp["initial_window_bytes"] % tcp["mss_bytes"]:
        told.append(phrase("testbed.site.initial_window"))
    return told


def _application_deviations(flow: Flow) -> list[str]:
    kind = flow.application.kind
    if kind == "udp" and flow.application.model_dump()["rate_bps"] is None:
        return [phrase("testbed.site.saturated")]
    if kind == "ftp" and flow.application.model_dump()["control"] is not None:
        return [phrase("testbed.site.ftp")]
    if kind == "web" and flow.application.model_dump()["page"] is not None:
        return [phrase("testbed.site.pages")]
    if kind != "udp" and flow.application.model_dump().get("size", True) is not None:
        if flow.direction == "upload":
            return [phrase("testbed.site.puts")]
        return [phrase("testbed.site.gets")]
    return []


def _conflicts(flows: list[RealFlow]) -> list[str]:
    """List settings on which flows of a station differ, although a route or network has one."""
    told = []
    for station in dict.fromkeys(one.station for one in flows):
        tcps = [one.flow.tcp for one in flows if one.station == station and one.flow.tcp]
        if any(tcp != tcps[0] for tcp in tcps):
            group = station.split("/")[0]
            told.append(phrase("testbed.site.several_tcps", group=group))
    return told

"""Keys under the names that other simulators, tools and devices use for them.

A name leads to the key of this program, or to the reason why it is not modelled and what comes
nearest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, get_args

from .quantities import Written

#: A name that is a key in more tables than these gives no hint.
_FEW: Final = 2
_NO_NAME: Final = "networks have no names, because nothing depends on one"
_RADIO: Final = (
    "powers are keys of [air]: power, noise, sense, with received or path_loss; without them "
    "place or mcs gives a station's signal"
)
_HIDDEN: Final = (
    "hears = [] of two groups: they do not hear each other; or received powers or positions, of "
    "[air]"
)
_CELLS: Final = (
    "a table [cells.NAME] for each access point, cell of its groups, and [air] with heard, "
    "received or path_loss for which cells hear each other"
)
_PLACES: Final = (
    'positions = { disc = "8 m" } with air.path_loss, received powers of [air], or place = "room": '
    '"near", "room", "edge", "far"'
)
_LINKS: Final = 'links = ["5 GHz/80 MHz", "6 GHz/160 MHz"] of [ap], in 802.11be'
_ONE_RADIO: Final = f"not modelled: one radio for several links; nearest: {_LINKS}"
_ONE_USER: Final = (
    "not modelled: several stations in the same tones; [mac.ofdma] for a PPDU to several stations, "
    'each in its resource unit, and its key uplink = "trigger" for one of several stations'
)
_SLOW_LINE: Final = (
    'path = [{ rate = "5 Mb/s" }] for a line of each station, path = ["NAME"] and [links.NAME] for '
    "one of all"
)
_RATE: Final = (
    'application = { kind = "bulk", rate = "1 Mb/s" } for a program that writes at a rate over '
    'TCP, or kind = "udp"'
)
_ONE_PLACE: Final = (
    "not modelled: a station stays in its cell; nearest: a scenario for each assignment of stations"
)
_AWAKE: Final = "not modelled: stations are always awake, so delays are those without sleep"
_NO_HOLES: Final = "not modelled: a channel is used as a whole; nearest: a smaller channel_width"
_REUSE: Final = 'obss_pd = "-72 dBm" of [air], in 802.11ax and later, with received or path_loss'
_NO_MESH: Final = (
    "not modelled: all stations communicate with an access point; nearest: a path with the "
    "rate of the hop between access points"
)
_NO_AD_HOC: Final = (
    "not modelled: all stations communicate with an access point; nearest: an access point "
    "in the place of one node"
)
_NO_MARKS: Final = (
    "not modelled for single flows; nearest: tcp_data, tcp_ack and udp of [mac.classify], an "
    'access category for all TCP or UDP packets, such as udp = "AC_VO"'
)
_NO_PEERS: Final = (
    "not modelled: flows run between stations and servers; nearest: an upload of one group "
    "and a download of the same rate of the other"
)
_NO_MULTICAST: Final = (
    "not modelled; nearest: a group of one station with data_rate, of 802.11a, b or g, which "
    'has no A-MPDUs, and a flow with application = { kind = "udp" } to it'
)
_NO_FRAGMENTS: Final = (
    "not modelled: a packet is one frame; nearest: a smaller mss of tcp, or packet of udp"
)
_BEACONS: Final = (
    "interval of [mac.beacon]; several networks of one access point send as many beacons as one "
    "with the interval divided by their number"
)
_NO_BEAM: Final = "not modelled: a gain of the signal; nearest: a higher mcs or snr of its stations"
_NO_NOISE: Final = (
    "not modelled: transmitters that are not of 802.11; nearest: frame_errors of the stations that "
    "hear them, which leaves out how long these wait"
)
_NO_TUNNEL: Final = "not modelled; nearest: a smaller mss of tcp, by the bytes of its headers"
_NO_VLAN: Final = "not modelled, because it changes nothing on the air"
_NO_RADAR: Final = "not modelled: a channel does not change; nearest: a scenario for each channel"
_RATE_FLOOR: Final = (
    "control_rate of [phy] for control frames, data_rate or mcs of stations for data: rates "
    "change only with rate_control"
)
#: Keys of a group that apply to its flows.
_OF_FLOWS: Final = (("stations", "tcp"), ("stations", "path"))
_HALF: Final = 'path = [{ delay = "10 ms" }], the one-way delay'

ANYWHERE: Final[Mapping[str, str]] = {
    **dict.fromkeys(("ssid", "bssid", "essid", "country", "password", "wpa", "security"), _NO_NAME),
    **dict.fromkeys(("tx_power", "txpower", "antenna", "antennas"), _RADIO),
    **dict.fromkeys(("hidden", "hidden_nodes", "hidden_terminals"), _HIDDEN),
    **dict.fromkeys(("interference", "neighbours", "neighbors", "obss", "bss", "aps",
                     "access_points"), _CELLS),
    **dict.fromkeys(("ofdma", "dl_ofdma", "ul_ofdma", "mu_mimo", "mumimo", "resource_units"),
                    _ONE_USER),
    **dict.fromkeys(("twt", "power_save", "powersave", "uapsd", "dtim", "dtim_period"), _AWAKE),
    **dict.fromkeys(("band_steering", "load_balancing", "max_clients", "max_stations"), _ONE_PLACE),
    **dict.fromkeys(("rate_limit", "max_rate", "shaper", "uplink", "backhaul", "wan"), _SLOW_LINE),
    **dict.fromkeys(("airtime_fairness", "atf"), 'scheduler = "airtime" of [ap]'),
    **dict.fromkeys(("multicast", "broadcast", "igmp", "mcast"), _NO_MULTICAST),
    **dict.fromkeys(("dscp", "tos", "mark", "marking", "category", "access_category", "ac",
                     "priority", "user_priority", "qos_map"), _NO_MARKS),
    **dict.fromkeys(("adhoc", "ad_hoc", "ibss", "p2p", "wifi_direct", "tdls"), _NO_AD_HOC),
    **dict.fromkeys(("to", "destination", "dst", "peer", "between"), _NO_PEERS),
    **dict.fromkeys(("fragmentation", "fragmentation_threshold", "fragm_threshold", "frag"),
                    _NO_FRAGMENTS),
    **dict.fromkeys(("multicast_to_unicast", "mcast_to_unicast", "directed_multicast"),
                    "a download with application.kind = udp to each station of the group"),
    **dict.fromkeys(("beacon_interval", "beacon_int", "beacons", "ssids"), _BEACONS),
    **dict.fromkeys(("txop", "txop_limit"),
                    "txop_limit of [mac.edca.ap.AC_BE], and of other categories and stations"),
    **dict.fromkeys(("beamforming", "txbf", "su_beamformer"), _NO_BEAM),
    **dict.fromkeys(("bluetooth", "microwave", "zigbee", "jammer"), _NO_NOISE),
    **dict.fromkeys(("vpn", "tunnel", "wireguard", "ipsec"), _NO_TUNNEL),
    **dict.fromkeys(("vlan", "vlans"), _NO_VLAN),
    **dict.fromkeys(("dfs", "radar", "cac", "acs", "channel_switch"), _NO_RADAR),
    **dict.fromkeys(("min_rate", "minimum_rate", "min_basic_rate", "minrate"), _RATE_FLOOR),
    **dict.fromkeys(("mptcp", "multipath"),
                    ("not modelled: a connection has one path; nearest: connections of a "
"flow, or one flow for each path")),
    **dict.fromkeys(("quic", "http3"),
                    "not modelled; nearest: TCP with the same congestion control"),
    **dict.fromkeys(("retry_limit", "retries", "max_retries"),
                    "short_retry_limit of [mac], and long_retry_limit for frames after an RTS"),
    **dict.fromkeys(("puncturing", "preamble_puncturing"), _NO_HOLES),
    **dict.fromkeys(("mlo", "mld", "multi_link", "links_per_station", "str"), _LINKS),
    **dict.fromkeys(("emlsr", "emlmr", "nstr"), _ONE_RADIO),
    **dict.fromkeys(("spatial_reuse", "bss_color", "bss_colour", "colour", "srg_obss_pd"), _REUSE),
    **dict.fromkeys(("mesh", "wds", "repeater"), _NO_MESH),
    **dict.fromkeys(("distance", "rssi", "signal", "location"), _PLACES),
    **dict.fromkeys(("roaming", "handover", "mobility", "speed_mps"),
                    "stations do not move"),
    **dict.fromkeys(("rtt", "latency", "ping_time", "base_rtt"), _HALF),
    **dict.fromkeys(("clients", "devices", "nodes", "users", "sta", "stas", "n_stations"),
                    'stations = [{ profile = "office-laptop", count = 40 }]'),
    **dict.fromkeys(("n", "number", "num", "quantity", "amount"), "count"),
    **dict.fromkeys(("cc", "ca", "congestion_control", "algorithm", "tcp_variant", "cca"),
                    'tcp = { congestion = "cubic" }'),
    **dict.fromkeys(("qdisc", "aqm", "buffer", "buffer_size", "queue_size", "txqueuelen", "qlen"),
                    "queue = { discipline, limit }, of ap, of stations or of a link"),
    **dict.fromkeys(("nss", "mimo", "spatial_stream"), "spatial_streams"),
    **dict.fromkeys(("ch_width", "width", "htmode", "chanwidth"), "channel_width"),
    **dict.fromkeys(("sgi", "short_gi", "gi"), 'guard_interval = "800 ns"'),
    **dict.fromkeys(("wmm", "qos"), ("[mac.edca], and [mac.classify] for the category of each "
"kind of traffic")),
    **dict.fromkeys(("rts", "rtscts", "rts_cts"), 'rts_threshold = "0 B" of [mac]: before all'),
    **dict.fromkeys(("parallel", "n_flows", "num_flows", "sessions"), "connections of a flow"),
    **dict.fromkeys(("ping", "iperf", "iperf3", "rrul", "flent"),
                    'a flow with profile = "ping", or application = { kind = "bulk" }'),
    **dict.fromkeys(("rwnd", "wnd", "rcvbuf"), "receive_window of tcp"),
    **dict.fromkeys(("iw", "initcwnd", "init_cwnd"), "initial_window of tcp"),
    **dict.fromkeys(("access_point", "router", "accesspoint"), "[ap]"),
    **dict.fromkeys(("wifi", "radio", "wlan", "network"), '[phy], such as standard = "802.11ax"'),
    **dict.fromkeys(("simulation", "sim"), "[run]"),
    **dict.fromkeys(("sim_time", "runtime", "stop_time"), "duration of [run]"),
    **dict.fromkeys(("runs", "repetitions", "repeats"), "replications of [run]"),
    **dict.fromkeys(("rng_seed", "random_seed"), "seed of [run]"),
}  # fmt: skip
"""What names mean that are keys in no table."""

_BY_TABLE: Final[Mapping[tuple[str, str], str]] = {
    ("phy", "bandwidth"): "channel_width",
    ("phy", "frequency"): "band",
    ("phy", "freq"): "band",
    ("phy", "channel"): ("channel of [cells.NAME]; one cell has one channel, whatever its number"),
    ("phy", "power"): _RADIO,
    ("phy", "noise"): _RADIO,
    ("stations", "power"): _RADIO,
    ("stations", "noise"): _RADIO,
    ("stations", "position"): _PLACES,
    ("stations", "neighbours"): _HIDDEN,
    ("phy", "links"): _LINKS,
    ("phy", "bands"): _LINKS,
    ("stations", "bands"): "links of the stations, with links of [ap]",
    ("stations", "ap"): 'cell = "NAME", of a table [cells.NAME]',
    **{("air", name): "sense" for name in ("cca", "cs_threshold", "carrier_sense")},
    **{("air", name): "energy" for name in ("ed", "ed_threshold", "cca_ed", "energy_detection")},
    ("phy", "streams"): "spatial_streams",
    ("phy", "rate"): "data_rate before 802.11n, mcs from there on",
    ("stations", "bandwidth"): "channel_width of the stations, or rate of a link of a path",
    ("stations", "streams"): "spatial_streams",
    ("stations", "rate"): "data_rate before 802.11n, mcs from there on",
    ("stations", "applications"): "traffic",
    ("stations", "type"): "profile",
    ("stations", "device"): "profile",
    ("stations", "loss"): "frame_errors",
    ("stations", "per"): "frame_errors",
    ("links", "bandwidth"): "rate",
    ("links", "speed"): "rate",
    ("links", "capacity"): "rate",
    ("links", "mtu"): "mss of tcp, or packet of udp",
    ("path", "bandwidth"): "rate",
    ("path", "speed"): "rate",
    **dict.fromkeys((("flows", name) for name in ("bandwidth", "bitrate", "rate")), _RATE),
    **dict.fromkeys((("tcp", name) for name in ("max_pacing_rate", "pacing_rate", "rate")), _RATE),
    ("flows", "protocol"): 'application: kind = "udp", all others are over TCP',
    ("flows", "type"): "profile, or application = { kind = ... }",
    ("flows", "kind"): "application = { kind = ... }",
    ("flows", "traffic"): "profile",
    ("flows", "streams"): "connections",
    ("flows", "from"): "stations, and direction",
    ("flows", "loss"): "loss of a link of path, or frame_errors of the stations",
    ("flows", "server"): "path: the wired links from the access point to the server",
    ("application", "bandwidth"): "rate",
    ("application", "bitrate"): "rate of udp or bulk, video of a call",
    ("application", "interval"): "interarrival of ftp, think_time of web",
    ("application", "packet_size"): "packet",
    ("application", "length"): "size",
    ("tcp", "window"): "receive_window",
    ("tcp", "window_size"): "receive_window",
    ("tcp", "cubic"): 'congestion = "cubic"',
    ("tcp", "bbr"): 'congestion = "bbr"',
    ("tcp", "sack"): 'variant = "sack" or "rack"; of one end, receiver = { sack = false }',
    ("tcp", "rto_min"): "min_rto",
    ("tcp", "nodelay"): "nothing: no segment waits for others here",
    ("ap", "channel"): ("channel of [cells.NAME]; one cell has one channel, whatever its number"),
    ("ap", "position"): "position of [cells.NAME]",
    ("cells", "band"): "band of [phy]: all cells have the same",
    ("", "aggregation"): "[mac.aggregation]",
    ("", "edca"): "[mac.edca]",
}
"""What names mean in a table where they are no keys, by table and name."""


def meant_key(name: str, table: str, form: type[Written]) -> str:
    """Return the key that a name means, or why there is none; "" if nothing is known.

    Args:
        name: the name that was written.
        table: the name of the table in which it was written, "" for the whole file.
        form: the written form of the file, whose other tables are searched for the key.
    """
    plain = name.lower().replace("-", "_").replace(" ", "_")
    if said := _BY_TABLE.get((table, plain)) or ANYWHERE.get(plain):
        return said
    found = [path[:-1] for path in _paths(form) if path[-1] == plain]
    # Leave out the same table: the key may belong to another kind of it.
    places = list(dict.fromkeys(_place(path) for path in found if path[-1:] != (table,)))
    return f"a key of {' and of '.join(places)}" if 0 < len(places) <= _FEW else ""


def _place(path: tuple[str, ...]) -> str:
    """Return a table as a file heads it, or a description of a nested table."""
    if not path:
        return "the whole file"
    if path[0] in ("stations", "flows"):
        inner = f"{'.'.join(path[1:])} of " if path[1:] else ""
        return f"{inner}[[{path[0]}]]"
    return f"[{'.'.join(path)}]"


@cache
def _paths(form: type[Written]) -> tuple[tuple[str, ...], ...]:
    """Return the paths of all keys, shortest first; a path enters each table only once."""
    found = list(_walk(form, (), frozenset()))
    return tuple(sorted(dict.fromkeys(found), key=lambda path: (len(path), path)))


def _walk(
    form: type[Written], path: tuple[str, ...], above: frozenset[type]
) -> Iterator[tuple[str, ...]]:
    for name, field in form.model_fields.items():
        yield (*path, name)
        if (*path, name) in _OF_FLOWS:
            continue
        for inner in _forms(field.annotation):
            if inner not in above:
                yield from _walk(inner, (*path, name), above | {inner})


def _forms(kind: Any) -> Iterator[type[Written]]:
    if isinstance(kind, type) and issubclass(kind, Written):
        yield kind
    for part in get_args(kind):
        yield from _forms(part)

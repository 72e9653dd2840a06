"""Write the configuration of a remedy: hostapd, UCI, nft, tc, ip, sysctl, debugfs.

The lines are made from the scenario with the remedy applied, so they contain the simulated numbers.
If a program cannot express a number, the line has the nearest one and a note says so. `queues` does
queues and schedulers.

hostapd (hostapd.conf of version 2.10): `wmm_ac_*` is what stations are told, with exponents of the
windows (CW = 2^n - 1) and TXOP limits in units of 32 us. `tx_queue_data*_*` is what the access
point itself does, with the windows 1, 3, 7, ..., 32767 and bursts in ms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from airtcp.amendments import AMENDMENTS
from airtcp.choices import CONGESTION
from airtcp.phrases import phrase
from airtcp.remedies import Changed, Remedy, queues
from airtcp.remedies.queues import INTERFACE, Lines

if TYPE_CHECKING:
    from airtcp.scenario import Scenario
    from airtcp.scenario.keys.mac import AccessParameters
    from airtcp.scenario.keys.tcp import Tcp
    from airtcp.standards import AccessCategory

#: Placeholders for names of the user's equipment: next router, UCI sections.
ROUTER: Final = "192.0.2.1"
RADIO: Final = "wireless.radio0"
BSS: Final = "wireless.default_radio0"
#: The nft table for all rules.
_TABLE: Final = "airtcp"

#: hostapd's names of the queues of the access categories, and of their parameters.
_QUEUES: Final = {
    "AC_VO": ("data0", "vo"),
    "AC_VI": ("data1", "vi"),
    "AC_BE": ("data2", "be"),
    "AC_BK": ("data3", "bk"),
}
#: hostapd's codes of channel widths, by MHz.
_CHWIDTH: Final = {20: 0, 40: 0, 80: 1, 160: 2, 320: 9}
#: The rates of OFDM in 20 MHz, in Mb/s.
_OFDM: Final = (6, 9, 12, 18, 24, 36, 48, 54)
_MOST_EXPONENT: Final = 15
_TXOP_UNIT_NS: Final = 32_000


def lines_for(remedy: Remedy, changed: Changed, before: Scenario) -> Lines:
    """Return the lines that change `before` into `changed`; none if no equipment supports it."""
    lines = Lines(notes=list(remedy.notes))
    writer = _WRITERS.get(remedy.apply)
    if writer is not None:
        writer(lines, changed.scenario, before)
    return lines


def channel_lines(scenario: Scenario, cell: int) -> Lines:
    """Return the lines that set the channel of a cell's access point."""
    assert scenario.cells is not None
    number = scenario.cells[cell].channel
    lines = Lines()
    lines.add("hostapd", f"channel={number}")
    lines.add("uci", f"uci set {RADIO}.channel='{number}'")
    high = scenario.phy.data_rate.high
    if high is not None and high.channel_width_mhz > 20:
        lines.notes.append(phrase("remedies.notes.center_of_channel"))
    return lines


def cell_lines(scenario: Scenario, cell: int, *, channel: bool, power_dbm: float | None) -> Lines:
    """Return the lines that set channel and, unless None, power of a cell's access point."""
    lines = channel_lines(scenario, cell) if channel else Lines()
    if power_dbm is not None:
        whole = round(power_dbm)
        lines.add("uci", f"uci set {RADIO}.txpower='{whole}'")
        lines.add("iw", f"iw dev {INTERFACE} set txpower fixed {round(100 * power_dbm)}")
        if whole != power_dbm:
            lines.notes.append(phrase("remedies.notes.whole_dbm", whole=whole, power_dbm=power_dbm))
        lines.notes.append(phrase("remedies.notes.no_power"))
    return lines


def _edca(lines: Lines, new: Scenario, old: Scenario) -> None:
    """Write the EDCA parameters that stations are told and that the access point uses."""
    assert new.mac.edca is not None
    before = old.mac.edca
    lines.add("hostapd", "wmm_enabled=1")
    for category, (queue, letters) in _QUEUES.items():
        for side, table in (("stations", new.mac.edca.stations), ("ap", new.mac.edca.ap)):
            parameters = table[category]  # type: ignore[index]
            was = None if before is None else getattr(before, side)[category]
            if parameters == was or not _in_use(new, category):  # type: ignore[arg-type]
                continue
            if side == "stations":
                _told(lines, letters, category, parameters, new)
            else:
                _done(lines, queue, category, parameters, new)
    for line in lines.by_tool["hostapd"][1:]:
        where, options = (
            (RADIO, "hostapd_options") if line.startswith("tx_") else (BSS, "hostapd_bss_options")
        )
        lines.add("uci", f"uci add_list {where}.{options}='{line}'")
    _marks(lines, new, old)


#: The DSCP value of each access category; hostapd maps it to a user priority.
_DSCP: Final = {"AC_VO": "ef", "AC_VI": "af41", "AC_BE": "cs0", "AC_BK": "cs1"}
#: EF is user priority 6 (RFC 8325, 4.2). Without this map, Linux before 6.8 treats EF as video.
_QOS_MAP: Final = "qos_map_set=46,6,0,7,8,15,16,23,24,31,32,39,40,47,48,55,56,63"
#: Media ports of Teams and Meet (STUN, TURN), of Zoom, and of Meet; not those of QUIC and games.
_CALL_PORTS: Final = "{ 3478-3481, 8801-8810, 19302-19309 }"
#: A bare ACK is small, and ACK is its only flag.
_BARE_ACK: Final = "meta length 40-80 tcp flags '& (syn|fin|rst|ack) == ack'"


def _marks(lines: Lines, new: Scenario, old: Scenario) -> None:
    """Mark packets with the DSCP of their access category."""
    selectors: dict[str, tuple[str, ...]] = {
        "udp": tuple(f"udp {side} '{_CALL_PORTS}'" for side in ("sport", "dport")),
        "tcp_data": ("meta l4proto tcp",),
        "tcp_ack": (_BARE_ACK,),
    }
    rules = [
        f"nft add rule inet {_TABLE} postrouting {selector} {family} dscp set {_DSCP[category]}"
        for traffic, each in selectors.items()
        if (category := getattr(new.classify, traffic)) != getattr(old.classify, traffic)
        or (old.mac.edca is None and category != "AC_BE")
        for selector in each
        for family in ("ip", "ip6")
    ]
    if not rules:
        return
    lines.add(
        "nft",
        f"nft add table inet {_TABLE}",
        f"nft add chain inet {_TABLE} postrouting "
        "'{ type filter hook postrouting priority mangle ; }'",
        *rules,
    )
    if new.classify.udp != old.classify.udp:
        lines.notes.append(phrase("remedies.notes.ports"))
    if "AC_VO" in (new.classify.udp, new.classify.tcp_ack):
        lines.add("hostapd", _QOS_MAP)
        lines.add("uci", f"uci add_list {BSS}.hostapd_bss_options='{_QOS_MAP}'")
    lines.notes.append(phrase("remedies.notes.bridge"))


def _in_use(scenario: Scenario, category: AccessCategory) -> bool:
    classify = scenario.classify
    return category in (classify.tcp_ack, classify.tcp_data, classify.udp)


def _told(
    lines: Lines, letters: str, category: str, parameters: AccessParameters, scenario: Scenario
) -> None:
    """Write the parameters that the access point announces to stations."""
    low, high = _exponent(parameters.cw_min), _exponent(parameters.cw_max)
    for name, exponent, window in (
        ("CWmin", low, parameters.cw_min),
        ("CWmax", high, parameters.cw_max),
    ):
        if 2**exponent - 1 != window:
            lines.notes.append(
                phrase(
                    "remedies.notes.no_encoding",
                    category=category,
                    name=name,
                    window=window,
                    exponent=2**exponent - 1,
                )
            )
    lines.add(
        "hostapd",
        f"wmm_ac_{letters}_aifs={_aifsn(lines, category, parameters, scenario)}",
        f"wmm_ac_{letters}_cwmin={low}",
        f"wmm_ac_{letters}_cwmax={high}",
        f"wmm_ac_{letters}_txop_limit={parameters.txop_limit_ns // _TXOP_UNIT_NS}",
        f"wmm_ac_{letters}_acm=0",
    )


def _done(
    lines: Lines, queue: str, category: str, parameters: AccessParameters, scenario: Scenario
) -> None:
    """Write the parameters that the access point itself uses."""
    low, high = _window(parameters.cw_min), _window(parameters.cw_max)
    for name, window, wanted in (
        ("CWmin", low, parameters.cw_min),
        ("CWmax", high, parameters.cw_max),
    ):
        if window != wanted:
            lines.notes.append(
                phrase(
                    "remedies.notes.not_in_hostapd",
                    category=category,
                    name=name,
                    wanted=wanted,
                    window=window,
                )
            )
    lines.add(
        "hostapd",
        f"tx_queue_{queue}_aifs={_aifsn(lines, category, parameters, scenario)}",
        f"tx_queue_{queue}_cwmin={low}",
        f"tx_queue_{queue}_cwmax={high}",
        f"tx_queue_{queue}_burst={parameters.txop_limit_ns / 1e6:.1f}",
    )


def _aifsn(lines: Lines, category: str, parameters: AccessParameters, scenario: Scenario) -> int:
    slots = (parameters.aifs_ns - scenario.phy.sifs_ns) / scenario.phy.slot_time_ns
    whole = min(max(1, round(slots)), 15)
    if abs(whole - slots) > 1e-9:
        lines.notes.append(
            phrase("remedies.notes.aifs", category=category, slots=slots, whole=whole)
        )
    return whole


def _exponent(window: int) -> int:
    return min(range(_MOST_EXPONENT + 1), key=lambda n: abs((1 << n) - 1 - window))


def _window(window: int) -> int:
    windows = [(1 << n) - 1 for n in range(1, _MOST_EXPONENT + 1)]
    return min(windows, key=lambda one: abs(one - window))


def _rts(lines: Lines, new: Scenario, _: Scenario) -> None:
    threshold = new.mac.rts_threshold_bytes
    # A threshold of 2347 bytes or more means never.
    value = 2347 if threshold is None else threshold
    lines.add("hostapd", f"rts_threshold={value if threshold is not None else -1}")
    lines.add("uci", f"uci set {RADIO}.rts='{value}'")
    lines.add("iw", f"iw phy phy0 set rts {'off' if threshold is None else value}")


def _preamble(lines: Lines, *_: Scenario) -> None:
    lines.add("hostapd", "preamble=1")
    lines.add("uci", f"uci set {BSS}.short_preamble='1'")


def _no_protection(lines: Lines, *_: Scenario) -> None:
    lines.add("hostapd", f"supported_rates={' '.join(str(10 * rate) for rate in _OFDM)}")
    lines.add("uci", f"uci set {RADIO}.legacy_rates='0'")


def _beacons(lines: Lines, *_: Scenario) -> None:
    lines.add("hostapd", "beacon_int=100")
    lines.add("uci", f"uci set {RADIO}.beacon_int='100'")
    lines.notes.append(phrase("remedies.notes.ssids"))


def _rates(lines: Lines, new: Scenario, _: Scenario) -> None:
    least = min(group.data_rate.bps for group in new.stations)
    dsss = [1_000_000, 2_000_000, 5_500_000, 11_000_000]
    rates = dsss if new.phy.standard == "802.11b" else [one * 1_000_000 for one in _OFDM]
    if any(group.data_rate.modulation == "dsss" for group in new.stations):
        # 802.11b stations in an 802.11g cell need the 802.11b rates.
        rates = sorted({*rates, *dsss})
    kept = [rate for rate in rates if rate >= least]
    units = " ".join(str(rate // 100_000) for rate in kept)
    lines.add("hostapd", f"supported_rates={units}", f"basic_rates={kept[0] // 100_000}")
    for rate in kept:
        lines.add("uci", f"uci add_list {RADIO}.supported_rates='{rate // 1000}'")
    lines.add("uci", f"uci add_list {RADIO}.basic_rate='{kept[0] // 1000}'")


def _width(lines: Lines, new: Scenario, _: Scenario) -> None:
    high = new.phy.data_rate.high
    assert high is not None
    width = high.channel_width_mhz
    mode = new.phy.data_rate.modulation.upper()
    lines.add("uci", f"uci set {RADIO}.htmode='{mode}{width}'")
    lines.add("hostapd", "ht_capab=[HT40+]" if width > 20 else "ht_capab=[SHORT-GI-20]")
    # Each amendment up to the cell's announces its own width, 802.11n by ht_capab.
    place = list(AMENDMENTS).index(new.phy.standard)
    for one in list(AMENDMENTS.values())[1 : place + 1]:
        announced = _CHWIDTH[min(width, max(one.subcarriers))]
        lines.add("hostapd", f"{one.format}_oper_chwidth={announced}")
    if width > 20:
        lines.notes.append(phrase("remedies.notes.center_of_width"))


def _channels(lines: Lines, new: Scenario, old: Scenario) -> None:
    """Write the channel of each access point that moves."""
    for place, (cell, before) in enumerate(zip(new.cells or (), old.cells or (), strict=True)):
        if cell.channel != before.channel:
            lines.add_of(cell.name, channel_lines(new, place))


def _spatial_reuse(lines: Lines, new: Scenario, _: Scenario) -> None:
    """Write the OBSS-PD threshold, in decibels above -82 dBm."""
    assert new.air is not None
    assert new.air.obss_pd_dbm is not None
    above = round(new.air.obss_pd_dbm + 82.0)
    # Bit 2 of the SR Control field: an offset for stations outside a group is present (9.4.2.260).
    lines.add("hostapd", "he_spr_sr_control=4", f"he_spr_non_srg_obss_pd_max_offset={above}")


def _aggregates(lines: Lines, *_: Scenario) -> None:
    lines.notes.append(phrase("remedies.notes.aggregates"))


def _basic_rates(lines: Lines, new: Scenario, _: Scenario) -> None:
    rates = [bps for bps in (1_000_000, 2_000_000) if bps <= new.phy.control_rate.bps]
    lines.add("hostapd", "basic_rates=" + " ".join(str(bps // 100_000) for bps in rates))
    for bps in rates:
        lines.add("uci", f"uci add_list {RADIO}.basic_rate='{bps // 1000}'")


def _tcp(scenario: Scenario, direction: str) -> list[Tcp]:
    """Return the TCP of the flows in a direction."""
    flows = scenario.flows
    return [flow.tcp for flow in flows if flow.tcp is not None and flow.direction == direction]


def _quickack(lines: Lines, new: Scenario, _: Scenario) -> None:
    known = _tcp(new, "download") + _tcp(new, "upload")
    every = max(count for one in known for _, count in one.delayed_ack.thresholds)
    route = f"ip route replace default via {ROUTER} dev {INTERFACE}"
    lines.add("ip", f"{route} quickack {int(every == 1)}")


def _window_lines(lines: Lines, new: Scenario, old: Scenario) -> None:
    """Limit the receive window: at the clients for downloads, at the server for uploads."""
    for direction, device in (("download", INTERFACE), ("upload", "eth0")):
        before = {one.receive_window_bytes for one in _tcp(old, direction)}
        window = min((one.receive_window_bytes for one in _tcp(new, direction)), default=None)
        if window is None or before == {window}:
            continue
        lines.add("ip", f"ip route replace default via {ROUTER} dev {device} window {window}")
        # With tcp_adv_win_scale = 1, the default, the window is half of the buffer.
        lines.add("sysctl", f"net.ipv4.tcp_rmem = 4096 {2 * window} {2 * window}")


def _large_window(direction: str) -> Callable[[Lines, Scenario, Scenario], None]:
    def write(lines: Lines, new: Scenario, _: Scenario) -> None:
        """Raise the receive buffer to twice the window."""
        window = max(one.receive_window_bytes for one in _tcp(new, direction))
        lines.add("sysctl", "net.ipv4.tcp_window_scaling = 1")
        lines.add("sysctl", f"net.ipv4.tcp_rmem = 4096 131072 {2 * window}")

    return write


def _initcwnd(lines: Lines, new: Scenario, _: Scenario) -> None:
    tcp = _tcp(new, "download")[0]
    segments = tcp.initial_window_bytes // tcp.mss_bytes
    lines.add("ip", f"ip route replace default via {ROUTER} dev eth0 initcwnd {segments}")


def _congestion(direction: str) -> Callable[[Lines, Scenario, Scenario], None]:
    def write(lines: Lines, new: Scenario, _: Scenario) -> None:
        control = CONGESTION[_tcp(new, direction)[0].congestion]
        if control.kernel is None:
            lines.notes.append(phrase("remedies.notes.not_in_linux", name=control.name))
            return
        lines.add("sysctl", f"net.ipv4.tcp_congestion_control = {control.kernel}")

    return write


def _ecn(lines: Lines, new: Scenario, old: Scenario) -> None:
    queues.of_access_points(lines, new, old)
    lines.add("sysctl", "net.ipv4.tcp_ecn = 1")


_WRITERS: Final[Mapping[str, Callable[[Lines, Scenario, Scenario], None]]] = {
    "edca": _edca,
    "rts": _rts,
    "preamble": _preamble,
    "protection": _no_protection,
    "beacons": _beacons,
    "rates": _rates,
    "basic-rates": _basic_rates,
    "width": _width,
    "aggregates": _aggregates,
    "channels": _channels,
    "spatial-reuse": _spatial_reuse,
    "quickack": _quickack,
    "window": _window_lines,
    "large-window": _large_window("download"),
    "server-window": _large_window("upload"),
    "client-queue": queues.of_clients,
    "wire-queue": queues.of_links,
    "initcwnd": _initcwnd,
    "congestion": _congestion("download"),
    "client-congestion": _congestion("upload"),
    "queue": queues.of_access_points,
    "scheduler": queues.of_schedulers,
    "mac80211": queues.of_mac80211,
    "ecn": _ecn,
}

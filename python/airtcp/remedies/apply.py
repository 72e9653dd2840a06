"""The lines by which real equipment makes a remedy: hostapd, OpenWrt, tc, ip and sysctl.

Knows the forms of these programs, not whether a remedy helps. Lines are made from the scenario with
the remedy in it, so that they say the numbers that were simulated; where a program cannot say one
the nearest stands there, and a note says so.

hostapd (hostapd.conf of version 2.10): `wmm_ac_*` is what stations are told, with exponents of the
windows (CW = 2^n - 1) and TXOP limits in units of 32 us; `tx_queue_data*_*` is what the access
point does itself, with the windows 1, 3, 7, ..., 32767 and bursts in ms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from airtcp.amendments import AMENDMENTS
from airtcp.choices import CONGESTION, DISCIPLINES
from airtcp.remedies import Changed, Remedy
from airtcp.scenario.keys.queue import CodelQueue, FqCodelQueue, RedQueue

if TYPE_CHECKING:
    from airtcp.scenario import Scenario
    from airtcp.scenario.keys.mac import AccessParameters
    from airtcp.scenario.keys.queue import Queue
    from airtcp.standards import AccessCategory

#: Names that stand for those of the equipment: network interface, next router, UCI sections.
INTERFACE: Final = "wlan0"
ROUTER: Final = "192.0.2.1"
RADIO: Final = "wireless.radio0"
BSS: Final = "wireless.default_radio0"

#: The names of hostapd for the queues of the access categories, and their parameters.
_QUEUES: Final = {
    "AC_VO": ("data0", "vo"),
    "AC_VI": ("data1", "vi"),
    "AC_BE": ("data2", "be"),
    "AC_BK": ("data3", "bk"),
}
#: The names of hostapd for the widths of channels, by MHz.
_CHWIDTH: Final = {20: 0, 40: 0, 80: 1, 160: 2, 320: 9}
_MOST_EXPONENT: Final = 15
_TXOP_UNIT_NS: Final = 32_000


@dataclass
class Lines:
    """Lines by the program that reads them, and what they do not say."""

    by_tool: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, tool: str, *lines: str) -> None:
        """More lines for a program."""
        self.by_tool.setdefault(tool, []).extend(lines)

    def add_of(self, cell: str, other: Lines) -> None:
        """The lines of a cell's access point, under its name."""
        for tool, told in other.by_tool.items():
            self.add(f"{tool} of {cell}", *told)
        self.notes.extend(note for note in other.notes if note not in self.notes)


def lines_for(remedy: Remedy, changed: Changed, before: Scenario) -> Lines:
    """The lines that make `changed` of `before`; none where no equipment has such a thing."""
    lines = Lines(notes=list(remedy.notes))
    writer = _WRITERS.get(remedy.apply)
    if writer is not None:
        writer(lines, changed.scenario, before)
    return lines


def channel_lines(scenario: Scenario, cell: int) -> Lines:
    """The lines that give the access point of a cell the channel that it has in a scenario."""
    assert scenario.cells is not None
    number = scenario.cells[cell].channel
    lines = Lines()
    lines.add("hostapd", f"channel={number}")
    lines.add("uci", f"uci set {RADIO}.channel='{number}'")
    high = scenario.phy.data_rate.high
    if high is not None and high.channel_width_mhz > 20:
        lines.notes.append("hostapd also wants the centre frequency of the channel")
    return lines


def cell_lines(scenario: Scenario, cell: int, *, channel: bool, power_dbm: float | None) -> Lines:
    """The lines that give the access point of a cell its channel, and a power unless it is None."""
    lines = channel_lines(scenario, cell) if channel else Lines()
    if power_dbm is not None:
        whole = round(power_dbm)
        lines.add("uci", f"uci set {RADIO}.txpower='{whole}'")
        lines.add("iw", f"iw dev {INTERFACE} set txpower fixed {round(100 * power_dbm)}")
        if whole != power_dbm:
            lines.notes.append(f"UCI has whole dBm: {whole} is nearest to {power_dbm:g}")
        lines.notes.append("hostapd sets no power: iw and UCI do")
    return lines


def _edca(lines: Lines, new: Scenario, old: Scenario) -> None:
    """EDCA per direction: what stations are told, and what the access point does."""
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
    if new.classify.tcp_ack == "AC_VO":
        # EF, which maps to voice (RFC 8325, 4.2); bare ACKs are small and have no flag but ACK.
        lines.add(
            "nft",
            "nft add rule inet mangle postrouting meta l4proto tcp meta length 40-80 "
            "tcp flags & (syn|fin|rst|ack) == ack ip dscp set ef",
        )
    if new.classify.udp == "AC_VO" and old.classify.udp != "AC_VO":
        # Ports are those of the program; these are what WebRTC takes by default.
        lines.add(
            "nft",
            "nft add rule inet mangle postrouting meta l4proto udp udp dport 1024-65535 "
            "ip dscp set ef",
        )


def _in_use(scenario: Scenario, category: AccessCategory) -> bool:
    classify = scenario.classify
    return category in (classify.tcp_ack, classify.tcp_data, classify.udp)


def _told(
    lines: Lines, letters: str, category: str, parameters: AccessParameters, scenario: Scenario
) -> None:
    """Say what stations are told."""
    low, high = _exponent(parameters.cw_min), _exponent(parameters.cw_max)
    for name, exponent, window in (
        ("CWmin", low, parameters.cw_min),
        ("CWmax", high, parameters.cw_max),
    ):
        if 2**exponent - 1 != window:
            lines.notes.append(
                f"stations' {category}: a {name} of {window} cannot be told; {2**exponent - 1} is "
                "nearest"
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
    """Say what the access point does."""
    low, high = _window(parameters.cw_min), _window(parameters.cw_max)
    for name, window, wanted in (
        ("CWmin", low, parameters.cw_min),
        ("CWmax", high, parameters.cw_max),
    ):
        if window != wanted:
            lines.notes.append(
                f"the access point's {category}: hostapd has no {name} of {wanted}; {window} is "
                "nearest"
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
            f"{category}: an AIFS of {slots:g} slots cannot be set; {whole} is nearest"
        )
    return whole


def _exponent(window: int) -> int:
    return min(range(_MOST_EXPONENT + 1), key=lambda n: abs((1 << n) - 1 - window))


def _window(window: int) -> int:
    windows = [(1 << n) - 1 for n in range(1, _MOST_EXPONENT + 1)]
    return min(windows, key=lambda one: abs(one - window))


def _rts(lines: Lines, new: Scenario, _: Scenario) -> None:
    threshold = new.mac.rts_threshold_bytes
    # 2347 and more: never.
    value = 2347 if threshold is None else threshold
    lines.add("hostapd", f"rts_threshold={value if threshold is not None else -1}")
    lines.add("uci", f"uci set {RADIO}.rts='{value}'")
    lines.add("iw", f"iw phy phy0 set rts {'off' if threshold is None else value}")


def _preamble(lines: Lines, *_: Scenario) -> None:
    lines.add("hostapd", "preamble=1")
    lines.add("uci", f"uci set {BSS}.short_preamble='1'")


def _rates(lines: Lines, new: Scenario, _: Scenario) -> None:
    least = min(group.data_rate.bps for group in new.stations)
    dsss = [1_000_000, 2_000_000, 5_500_000, 11_000_000]
    ofdm = [6, 9, 12, 18, 24, 36, 48, 54]
    rates = dsss if new.phy.standard == "802.11b" else [one * 1_000_000 for one in ofdm]
    if any(group.data_rate.modulation == "dsss" for group in new.stations):
        # Beside others of 802.11g those of 802.11b are to stay.
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
    lines.add("hostapd", "ht_capab=[HT40+]")
    # Each amendment up to that of the cell announces its own width, 802.11n by ht_capab.
    place = list(AMENDMENTS).index(new.phy.standard)
    for one in list(AMENDMENTS.values())[1 : place + 1]:
        announced = _CHWIDTH[min(width, max(one.subcarriers))]
        lines.add("hostapd", f"{one.format}_oper_chwidth={announced}")
    lines.notes.append("hostapd also wants the centre frequency of the channel")


def _channels(lines: Lines, new: Scenario, old: Scenario) -> None:
    """Say the channel of each access point that moves."""
    for place, (cell, before) in enumerate(zip(new.cells or (), old.cells or (), strict=True)):
        if cell.channel != before.channel:
            lines.add_of(cell.name, channel_lines(new, place))


def _spatial_reuse(lines: Lines, new: Scenario, _: Scenario) -> None:
    """Say the level at which frames of other cells are ignored, as decibels above -82 dBm."""
    assert new.air is not None
    assert new.air.obss_pd_dbm is not None
    above = round(new.air.obss_pd_dbm + 82.0)
    # Bit 2 of the SR Control field: an offset for those outside of a group is present (9.4.2.260).
    lines.add("hostapd", "he_spr_sr_control=4", f"he_spr_non_srg_obss_pd_max_offset={above}")


def _aggregates(lines: Lines, *_: Scenario) -> None:
    lines.notes.append("drivers aggregate as far as they can; look whether one was told not to")


def _quickack(lines: Lines, *_: Scenario) -> None:
    lines.add("ip", f"ip route replace default via {ROUTER} dev {INTERFACE} quickack 0")


def _window_lines(lines: Lines, new: Scenario, _: Scenario) -> None:
    windows = [
        flow.tcp.receive_window_bytes
        for flow in new.flows
        if flow.tcp is not None and flow.direction == "download"
    ]
    window = min(windows)
    lines.add("ip", f"ip route replace default via {ROUTER} dev {INTERFACE} window {window}")
    # Half of the buffer is the window with tcp_adv_win_scale = 1, the default.
    lines.add("sysctl", f"net.ipv4.tcp_rmem = 4096 {2 * window} {2 * window}")


def _large_window(lines: Lines, new: Scenario, _: Scenario) -> None:
    """Say how large the receive buffer may grow, which holds twice the window."""
    window = max(
        flow.tcp.receive_window_bytes
        for flow in new.flows
        if flow.tcp is not None and flow.direction == "download"
    )
    lines.add("sysctl", "net.ipv4.tcp_window_scaling = 1")
    lines.add("sysctl", f"net.ipv4.tcp_rmem = 4096 131072 {2 * window}")


def _client_queue(lines: Lines, *_: Scenario) -> None:
    lines.add("tc", f"tc qdisc replace dev {INTERFACE} root fq_codel")


def _wire_queue(lines: Lines, *_: Scenario) -> None:
    lines.add("tc", "tc qdisc replace dev eth0 root fq_codel")


def _initcwnd(lines: Lines, new: Scenario, _: Scenario) -> None:
    tcp = next(flow.tcp for flow in new.flows if flow.tcp and flow.direction == "download")
    segments = tcp.initial_window_bytes // tcp.mss_bytes
    lines.add("ip", f"ip route replace default via {ROUTER} dev eth0 initcwnd {segments}")


def _congestion(lines: Lines, new: Scenario, _: Scenario) -> None:
    tcp = next(flow.tcp for flow in new.flows if flow.tcp and flow.direction == "download")
    control = CONGESTION[tcp.congestion]
    if control.kernel is None:
        lines.notes.append(f"Linux has no {control.name}")
        return
    lines.add("sysctl", f"net.ipv4.tcp_congestion_control = {control.kernel}")


def _queue(lines: Lines, new: Scenario, old: Scenario) -> None:
    """Say the queue of the access points: once if all have it, else of each that has another."""
    first = new.ap.queue
    if all(ap.queue == first for ap in new.access_points):
        _queue_lines(lines, first, new)
        return
    pairs = zip(new.access_points, old.access_points, strict=True)
    for cell, (ap, before) in zip(new.cells or (), pairs, strict=True):
        if ap.queue != before.queue:
            one = Lines()
            _queue_lines(one, ap.queue, new)
            lines.add_of(cell.name, one)


def _queue_lines(lines: Lines, queue: Queue, new: Scenario) -> None:
    root = f"tc qdisc replace dev {INTERFACE} root"
    limit = queue.limit or 1000
    discipline = DISCIPLINES[queue.word]
    if queue.ack_filter is not None:
        lines.add("tc", f"{root} cake unlimited ack-filter")
    elif discipline.qdisc is None:
        lines.notes.append(f"tc has no {discipline.name}")
    elif isinstance(queue, CodelQueue | FqCodelQueue):
        codel = queue.codel
        times = f"target {codel.target_ns // 1000}us interval {codel.interval_ns // 1000}us"
        words = f"{discipline.qdisc} limit {limit} {times}"
        if isinstance(queue, FqCodelQueue):
            words += f" quantum {queue.fq.quantum_bytes}"
        lines.add("tc", f"{root} {words}")
    elif isinstance(queue, RedQueue):
        red = queue.red
        packet = 1000
        low, high = (round(one * packet) for one in (red.min_threshold, red.max_threshold))
        # tc's rule of thumb, (2 min + max) / (3 avpkt).
        burst = max(1, round((2 * low + high) / (3 * packet)))
        lines.add(
            "tc",
            f"{root} red limit {max(limit * packet, 2 * high)} min {low} max {high} "
            f"avpkt {packet} burst {burst} probability {red.max_probability:g} "
            f"bandwidth {max(1, round(new.phy.data_rate.bps / 1e6))}Mbit",
        )
    elif not discipline.leaves_stations:
        lines.add("tc", f"{root} {discipline.qdisc} limit {limit} perturb 10")
    else:
        lines.add("tc", f"{root} {discipline.qdisc} limit {limit}")
        lines.add("ip", f"ip link set dev {INTERFACE} txqueuelen {limit}")


_WRITERS: Final[Mapping[str, Callable[[Lines, Scenario, Scenario], None]]] = {
    "edca": _edca,
    "rts": _rts,
    "preamble": _preamble,
    "rates": _rates,
    "width": _width,
    "aggregates": _aggregates,
    "channels": _channels,
    "spatial-reuse": _spatial_reuse,
    "quickack": _quickack,
    "window": _window_lines,
    "large-window": _large_window,
    "client-queue": _client_queue,
    "wire-queue": _wire_queue,
    "initcwnd": _initcwnd,
    "congestion": _congestion,
    "queue": _queue,
}

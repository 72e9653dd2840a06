"""The scenario of a capture: groups of stations, their flows, and the assumptions as comments."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from airtcp.exceptions import ScenarioError
from airtcp.importer.capture import laws, radio
from airtcp.importer.capture.blocks import Progress
from airtcp.importer.capture.connections import Told
from airtcp.importer.capture.groups import Group, Law, groups_of, steady
from airtcp.importer.capture.network import Network
from airtcp.importer.capture.stations import ServiceSet, frames_of, leave_others
from airtcp.importer.capture.transfers import DOWN, UP, leave_out_control
from airtcp.importer.draft import Draft, Said, time_text
from airtcp.importer.source import phrase, without_addresses

_WAYS: Final = ("upload", "download")
#: If there are more groups than this, those with the fewest bytes are left out as stray stations.
_MOST_GROUPS: Final = 40
#: Packet sizes of the known speech codecs, headers included, at 50 packets per second.
_CODECS: Final = {200: "G.711", 60: "G.729A"}
#: Standards before 802.11n, and whether a rate of theirs is of DSSS.
_LEGACY: Final = {"802.11a": (False,), "802.11b": (True,), "802.11g": (False, True)}
_WIRE_OF_NONE_NS: Final = 5 * 10**6
_MOST_LINES: Final = 12


def read_capture(path: Path, progress: Progress = None) -> Network:
    """Read a capture. Raises ScenarioError if nothing in it can be read."""
    network = Network(without_addresses(path.name))
    network.read(path, progress)
    chosen = _chosen(network)
    if chosen is None or network.duration_ns <= 0:
        told = network.damage.told + network.account.lines() + network.damage.counted()
        if chosen is not None:
            told.insert(0, phrase("capture.one_time"))
        reason = f": {'; '.join(told[:3])}" if told else ""
        plural = "s"[: network.frames != 1]
        seen = f"{network.frames} frame{plural}, but none" if network.frames else "no frame"
        raise ScenarioError(str(path), "", phrase("capture.unusable", seen=seen, reason=reason))
    return network


def _chosen(network: Network) -> ServiceSet | None:
    """Return the basic service set with most data, or one that only sends beacons.

    Wired packets in the same file duplicate those on the medium.
    """
    found = max(
        network.sets.values(),
        key=lambda one: (bool(one.bytes) and not one.is_wired, one.bytes, one.beacons),
        default=None,
    )
    return found if found is not None and (found.bytes or found.beacons) else None


def add_capture(network: Network, draft: Draft) -> None:
    """Write all keys that the capture determines."""
    one = _chosen(network)
    assert one is not None
    leave_others(network.account, network.sets.values(), one)
    name = network.name
    draft.names.append(name)
    form = "" if one.is_wired else radio.say_radio(network, one, draft, name)
    if not draft.has("phy", "standard"):
        draft.say("phy", "standard", "802.11ax", phrase("capture.guessed_standard"))
        draft.unknown.append(phrase("capture.no_rate"))
    control = sum(leave_out_control(station.transfers) for station in one.stations.values())
    if control:
        draft.unread.append(phrase("capture.control", control=control))
    rates = [
        (station, radio.choice_of(station, form) if form else None)
        for station in one.stations.values()
    ]
    groups = groups_of(rates, network.begin_ns, network.end_ns)
    groups.sort(key=lambda group: -sum(sum(station.bytes) for station in group.stations))
    _tell_losses(network, one, draft)
    if len(groups) > _MOST_GROUPS:
        left = [station for group in groups[_MOST_GROUPS:] for station in group.stations]
        network.account.leave("rare_kinds", sum(sum(station.frames) for station in left))
        draft.unknown.append(phrase("capture.rare_kinds", groups=len(groups) - _MOST_GROUPS))
    _say_queue(one, groups, draft, name)
    draft.tables["stations"] = {}
    for group in groups[:_MOST_GROUPS]:
        _add_group(network, one, group, draft)
    if not groups:
        draft.groups.append(
            {"name": Said("station", ""), "count": Said(1, phrase("capture.guess"))}
        )
        draft.flows.append(
            {
                "stations": Said("station", ""),
                "direction": Said("download", phrase("capture.guess_no_traffic")),
                "application": Said({"kind": "bulk"}, phrase("capture.guess")),
            }
        )
        draft.unknown.append(phrase("capture.no_traffic"))
    _tell_rest(network, one, groups, draft)
    seconds = max(network.duration_ns / 1e9, 0.001)
    draft.say("run", "warmup", time_text(min(0.1 * seconds, 60.0)), phrase("capture.tenth"))
    draft.say("run", "duration", time_text(seconds), phrase("capture.span", name=name))


def _say_queue(one: ServiceSet, groups: list[Group], draft: Draft, name: str) -> None:
    """Write the limit of the access point's queue, if the queue was seen full."""
    filled = sum(station.told[DOWN].filled for station in one.stations.values())
    most, limit = max(one.wait.packets, default=0), one.wait.limit
    if one.is_wired:
        draft.unknown.append(phrase("capture.queue_of_wire"))
    elif filled >= 3 and limit >= 5:
        why = phrase("capture.queue_seen", name=name, filled=filled)
        draft.say("ap", "queue", {"discipline": "fifo", "limit": limit}, why)
    elif not one.wait.packets:
        draft.unknown.append(phrase("capture.queue_of_tcp"))
    else:
        draft.unknown.append(phrase("capture.queue_not_full", most=most))


def _add_group(network: Network, one: ServiceSet, group: Group, draft: Draft) -> None:
    name = "station" if not draft.groups else f"station-{len(draft.groups) + 1}"
    count = len(group.stations)
    names = draft.names_of(name, [station.name for station in group.stations])
    about = f"{network.name}: {names}" if names else network.name
    table = {"name": Said(name, ""), "count": Said(count, about)}
    if group.rate is not None:
        _say_rate(group, table, draft, network.name)
    share = _errors(network, group)
    if share >= 0.001:
        table["frame_errors"] = Said(f"{100 * share:.2g} %", phrase("capture.wrong_fcs"))
    draft.groups.append(table)
    for way in (DOWN, UP):
        told = _Tcp([station.told[way] for station in group.stations])
        tcp = _tcp(told, draft, f"{name}, {_WAYS[way]}s")
        flow = {"stations": Said(name, ""), "name": Said(f"{name}-{_WAYS[way]}", "")}
        flow["direction"] = Said(_WAYS[way], "")
        if group.endless[way]:
            flow_ = {**flow, "name": Said(f"{name}-bulk-{_WAYS[way]}", "")}
            if group.endless[way] > 1:
                flow_["connections"] = Said(group.endless[way], "per station")
            flow_["application"] = Said({"kind": "bulk"}, phrase("capture.endless"))
            _add_flow(draft, flow_, tcp, one)
        law = group.laws.get(way)
        if law is not None:
            table_, why = _application(law, flow["name"].value, draft)
            _add_flow(draft, {**flow, "application": Said(table_, why)}, tcp, one)
        for place in range(_flows(network, group, way)):
            _add_datagrams(network, group, way, place, draft, name)


def _say_rate(group: Group, table: dict[str, Said], draft: Draft, name: str) -> None:
    """Write the rate of a group's data frames, and its standard if that is older."""
    rate = group.rate
    assert rate is not None
    used = radio.by_bytes(group.stations)
    total = sum(used.values())
    several = sorted(used, key=lambda sent: -used[sent])
    text = "; ".join(f"{100 * used[one] / total:.0f} % {radio.words(one)}" for one in several[:4])
    why = f"{name}: bytes: {text}" + ("; and others" if len(several) > 4 else "")
    phy = draft.tables["phy"]
    standard, band = phy["standard"].value, phy["band"].value if "band" in phy else ""
    is_legacy, is_dsss = rate.form in ("dsss", "ofdm"), rate.form == "dsss"
    if is_legacy and standard in _LEGACY:
        # Stations of 802.11b are in cells of 802.11g too.
        if is_dsss in _LEGACY[standard]:
            table["data_rate"] = Said(radio.mbps(rate.kbps), why)
    elif is_legacy and (band == "2.4 GHz" or not is_dsss):
        old = "802.11b" if is_dsss else "802.11g" if band == "2.4 GHz" else "802.11a"
        table["standard"] = Said(old, why)
        table["data_rate"] = Said(radio.mbps(rate.kbps), "")
    elif is_legacy or standard in _LEGACY:
        draft.unread.append(phrase("capture.not_a_rate", why=why, standard=standard))
    else:
        table["mcs"] = Said(rate.mcs, why)
        table["spatial_streams"] = Said(rate.streams, "")
        table["channel_width"] = Said(f"{rate.width_mhz} MHz", "")


def _errors(network: Network, group: Group) -> float:
    """Return the share of frames lost without a collision; 0 if the capture does not show it."""
    if not network.bad_fcs:
        return 0.0
    frames = sum(sum(one.frames) + sum(one.bad) for one in group.stations)
    bad = sum(sum(one.bad) for one in group.stations)
    retries = sum(sum(one.retries) for one in group.stations)
    return min(bad, retries) / frames if frames else 0.0


def _flows(network: Network, group: Group, way: int) -> int:
    return min(len(steady(one, way, network.duration_ns)) for one in group.stations)


def _add_datagrams(
    network: Network, group: Group, way: int, place: int, draft: Draft, name: str
) -> None:
    each = [steady(one, way, network.duration_ns)[place] for one in group.stations]
    count = sum(one.count for one in each)
    size = round(sum(one.bytes for one in each) / count)
    rate = sum(one.rate_bps for one in each) / len(each)
    application: dict[str, Any] = {"kind": "udp", "packet": f"{max(size, 29)} B"}
    why = f"{count} datagrams"
    is_one_size = all(one.smallest == one.largest == size for one in each)
    if not is_one_size:
        why += f" of {min(one.smallest for one in each)} to {max(one.largest for one in each)} B"
    if is_one_size and size in _CODECS and abs(rate / (8 * size) - 50) < 2.5:
        application["codec"] = _CODECS[size]
        why += phrase("capture.speech")
        rate = 50 * 8 * size
    application["rate"] = f"{max(round(rate), 1)} b/s"
    draft.flows.append(
        {
            "stations": Said(name, ""),
            "name": Said(f"{name}-udp-{_WAYS[way]}-{place + 1}", ""),
            "direction": Said(_WAYS[way], ""),
            "application": Said(application, why),
        }
    )


def _application(law: Law, name: str, draft: Draft) -> tuple[dict[str, Any], str]:
    """Return the application for transfers, and the reason for it."""
    size = _law_text(draft, name, "size", law.sizes)
    cut = phrase("capture.cut_off", cut=law.cut) if law.cut else ""
    why = f"{law.count} transfers{cut}"
    if law.starts:
        application: dict[str, Any] = {"kind": "bulk", "size": size}
        application["start"] = _law_text(draft, name, "start", law.starts)
        return application, f"{why}, one per station"
    if law.is_open:
        gaps = _law_text(draft, name, "interarrival", law.pauses)
        application = {"kind": "ftp", "interarrival": gaps, "size": size}
        return application, phrase("capture.independent", why=why)
    application = {"kind": "web", "size": size}
    application["think_time"] = _law_text(draft, name, "think", law.pauses)
    request = laws.median(law.requests) if law.requests else 0
    if request:
        application["request"] = f"{request:.0f} B"
        why += "; request: the median"
    return application, why


def _law_text(draft: Draft, name: str, what: str, values: list[float]) -> Any:
    """Return the TOML value of a distribution: a constant, or a file next to the scenario."""
    is_size = what == "size"
    if len({round(value, 6) for value in values}) == 1:
        return f"{max(round(values[0]), 1)} B" if is_size else time_text(values[0])
    column = "bytes" if is_size else "seconds"
    file = f"{name}-{what}.csv"
    kept = [max(round(value), 1) for value in values] if is_size else values
    draft.files[file] = laws.table(column, kept, 0 if is_size else 6)
    return {"distribution": "empirical", "file": file, "column": column}


def _add_flow(draft: Draft, flow: dict[str, Said], tcp: Said, one: ServiceSet) -> None:
    flow["tcp"] = tcp
    wire_ns = one.wait.least_wire_ns
    if wire_ns > _WIRE_OF_NONE_NS:
        path = [{"delay": time_text(wire_ns / 2e9)}]
        flow["path"] = Said(path, phrase("capture.half_of_handshake"))
    draft.flows.append(flow)


class _Tcp:
    """The facts from the connections of several stations."""

    def __init__(self, told: list[Told]) -> None:
        self.connections = sum(one.connections for one in told)
        self.syns = sum(one.syns for one in told)
        self.sack = sum(one.sack for one in told)
        self.scaling = sum(one.scaling for one in told)
        self.timestamps = sum(one.timestamps for one in told)
        self.largest = max((one.largest for one in told), default=0)
        self.acks_of = [sum(counts) for counts in zip(*(one.acks_of for one in told), strict=True)]
        self.delays = [delay for one in told for delay in one.ack_delays]
        self.windows = _sums([one.windows for one in told])
        self.mss = _sums([one.mss for one in told])


def _sums(tables: list[dict[int, int]]) -> dict[int, int]:
    found: dict[int, int] = {}
    for table in tables:
        for key, count in table.items():
            found[key] = found.get(key, 0) + count
    return found


def _tcp(seen: _Tcp, draft: Draft, of: str) -> Said:
    """Return the TCP settings of a group's data in one direction."""
    if not seen.connections:
        return Said({"preset": "linux"}, phrase("capture.linux_unread"))
    most = seen.connections / 2
    table: dict[str, Any] = {}
    why = []
    is_linux = seen.timestamps > most and seen.scaling > seen.syns / 2 and seen.sack > seen.syns / 2
    if is_linux and seen.syns:
        table["preset"] = "linux"
        why.append(phrase("capture.linux_options"))
    elif seen.syns and seen.sack > seen.syns / 2:
        table["variant"] = "sack"
    mss = _mss(seen)
    if mss:
        table["mss"] = f"{mss} B"
    if seen.timestamps > most and not is_linux:
        table["timestamps"] = True
    window = max(seen.windows, key=lambda one: (seen.windows[one], one), default=0)
    if 0 < window < 2 * max(mss, 1):
        why.append(phrase("capture.unscaled_windows", windows=max(seen.windows)))
    elif window:
        table["receive_window"] = f"{window} B"
        if len(seen.windows) > 1:
            why.append(f"windows of {min(seen.windows)} to {max(seen.windows)} B")
        if seen.syns < seen.connections:
            why.append(phrase("capture.no_syn", connections=seen.connections - seen.syns))
    if not is_linux:
        _say_acks(seen, table, why)
    if seen.syns == 0:
        draft.unknown.append(phrase("capture.no_options", of=of))
    return Said(table, "; ".join(why) or f"{seen.connections} connections")


def _mss(seen: _Tcp) -> int:
    """Return the payload of a full segment, as seen and within the receiver's MSS option."""
    option = max(seen.mss, key=lambda one: seen.mss[one], default=0)
    if not option:
        # Segmentation offload makes larger segments than any link allows.
        return min(seen.largest, 1460)
    # RFC 6691: TCP options reduce the payload below the MSS. A larger segment will be divided by
    # the network card, and short transfers do not reveal the full size.
    least = option - 12 if seen.timestamps > seen.connections / 2 else option
    return seen.largest if least <= seen.largest <= option else least


def _say_acks(seen: _Tcp, table: dict[str, Any], why: list[str]) -> None:
    """Write the ACK policy: the usual number of segments per ACK, and the delay of others."""
    counts = seen.acks_of[1:]
    if sum(counts) < 10:
        return
    every = 1 + max(range(len(counts)), key=lambda place: counts[place])
    policy: dict[str, Any] = {"every": every}
    share = 100 * counts[every - 1] / sum(counts)
    why.append(
        phrase("capture.ack_share", share=share, every=every, every_2="s" if every > 1 else "")
    )
    if every > 1 and len(seen.delays) >= 5:
        # RFC 1122, 4.2.3.2: below 500 ms. The medium adds to the time of the timer.
        timeout_ms = min(5 * round(laws.median(seen.delays) / 5e6), 500)
        if timeout_ms >= 20:
            policy["timeout"] = f"{timeout_ms} ms"
            why.append(phrase("capture.delayed_acks", delays=len(seen.delays)))
    table["delayed_ack"] = policy


def _tell_losses(network: Network, one: ServiceSet, draft: Draft) -> None:
    """Report retries and retransmitted segments."""
    stations = one.stations.values()
    for way in (DOWN, UP):
        frames = sum(station.frames[way] for station in stations)
        retries = sum(station.retries[way] for station in stations)
        segments = sum(station.told[way].segments for station in stations)
        repeated = sum(station.told[way].repeated for station in stations)
        filled = sum(station.told[way].filled for station in stations)
        if frames and not one.is_wired:
            draft.measured.append(
                phrase("capture.retries", ways=_WAYS[way], retries=retries, frames=frames)
            )
        if segments:
            draft.measured.append(
                phrase(
                    "capture.segments",
                    ways=_WAYS[way],
                    segments=segments,
                    repeated=repeated,
                    filled=filled,
                )
            )
    if not network.bad_fcs and not one.is_wired:
        draft.unknown.append(phrase("capture.losses_unknown"))


def _tell_rest(network: Network, one: ServiceSet, groups: list[Group], draft: Draft) -> None:
    """Report what was left out, assumed or not read."""
    seconds = network.duration_ns / 1e9
    _tell_goodput(one, seconds, draft)
    if one.is_wired:
        draft.unknown.append(phrase("capture.hosts"))
    else:
        own = draft.names_of("the access point", [one.name])
        draft.unknown.append(phrase("capture.no_neighbours", own=own and f" of {own}"))
        others = sum(other is not one and not other.is_wired for other in network.sets.values())
        if others:
            draft.unread.append(
                phrase("capture.other_access_points", others=others, value="s"[: others > 1])
            )
    has = {way: any(group.laws.get(way) for group in groups) for way in (UP, DOWN)}
    if any(has.values()):
        draft.unknown += [phrase("capture.laws"), phrase("capture.transfers")]
    if any("tcp" in flow for flow in draft.flows):
        draft.unknown.append(phrase("capture.congestion"))
    if one.wait.least_wire_ns < 0:
        draft.unknown.append(phrase("capture.no_path"))
    elif one.wait.least_wire_ns <= _WIRE_OF_NONE_NS:
        draft.unknown.append(phrase("capture.path_is_short"))
    small = [
        stream
        for station in one.stations.values()
        for way in (UP, DOWN)
        for stream in station.datagrams[way].values()
        if stream not in steady(station, way, network.duration_ns)
    ]
    if small:
        size = sum(stream.bytes for stream in small)
        draft.unread.append(phrase("capture.small_pairs", small=len(small), size=size))
    if not one.is_wired:
        read = frames_of(one) - network.account.left.get("rare_kinds", 0)
        left = sum(network.account.left.values())
        draft.measured.append(phrase("capture.frames", read=read, left=left))
        draft.unread += network.account.lines()
    draft.unread += (network.damage.told + network.damage.counted())[:_MOST_LINES]


def _tell_goodput(one: ServiceSet, seconds: float, draft: Draft) -> None:
    for way in (DOWN, UP):
        size = sum(
            sum(station.transfers[way].sizes)
            + sum(station.transfers[way].endless)
            + sum(cut for _, cut in station.transfers[way].cut)
            for station in one.stations.values()
        )
        if size:
            draft.measured.append(
                phrase(
                    "capture.goodput",
                    ways=_WAYS[way],
                    size=8 * size / seconds / 1e6,
                    seconds=seconds,
                )
            )

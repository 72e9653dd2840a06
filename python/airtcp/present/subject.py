"""A scenario in words: its network, access categories and kinds of flow, one line each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from airtcp.choices import (
    ACCESS_SCHEMES,
    ACK_POLICIES,
    APPLICATIONS,
    CONGESTION,
    DISCIPLINES,
    RECOVERY,
    SCHEDULERS,
    SLOW_STARTS,
)
from airtcp.scenario.hearing import deaf_groups
from airtcp.standards import EDCA_CATEGORIES, AccessCategory
from airtcp.units import format_rate, format_size, format_time_ns, format_time_s

if TYPE_CHECKING:
    from airtcp.distributions import Distribution
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.mac import AccessParameters
    from airtcp.scenario.keys.queue import AccessPoint
    from airtcp.scenario.keys.receiver import Receiver
    from airtcp.scenario.keys.stations import StationGroup
    from airtcp.scenario.keys.tcp import Tcp
    from airtcp.scenario.keys.traffic import Flow, Page


def subject(scenario: ResolvedScenario) -> list[str]:
    """Describe the scenario in a few short lines: network, access categories, kinds of flow."""
    phy, mac = scenario.phy, scenario.mac
    threshold = mac.rts_threshold_bytes
    rts = "no RTS/CTS" if threshold is None else f"RTS/CTS above {format_size(threshold)}"
    if threshold == 0:
        rts = "RTS/CTS before every frame"
    stations = sum(group.count for group in scenario.stations)
    network = [
        f"{phy.standard} {_rates(scenario)}",
        rts,
        f"{stations} station{'s' if stations > 1 else ''}",
        *_cells(scenario),
        *_access_points(scenario),
    ]
    if mac.beacon is not None:
        network.append(f"a beacon every {format_time_ns(mac.beacon.interval_ns)}")
    if mac.pcf is not None:
        network.append(
            f"contention-free for {format_time_ns(mac.pcf.max_duration_ns)} at most every "
            f"{format_time_ns(mac.pcf.interval_ns)}"
        )
    flows = (_flow(scenario, flow) for flow in scenario.flows)
    return [", ".join(network), *_categories(scenario), *flows]


def _rates(scenario: ResolvedScenario) -> str:
    """Describe the rates of the groups with flows: one, two, or the slowest and the fastest."""
    groups = _with_flows(scenario)
    fixed = sorted({one.data_rate.bps for one in groups if one.rate_control is None})
    told = []
    if fixed:
        joint = " and " if len(fixed) < 3 else " to "
        ends = [fixed[0], fixed[-1]] if len(fixed) > 1 else fixed
        told.append(f"at {joint.join(format_rate(one, 4) for one in ends)}")
    fastest = [_fastest(one) for one in groups if one.rate_control is not None]
    if fastest:
        told.append(f"at rates up to {format_rate(max(fastest), 4)} by Minstrel-HT")
    return " or ".join(told)


def _with_flows(scenario: ResolvedScenario) -> list[StationGroup]:
    named = {flow.stations for flow in scenario.flows}
    return [group for group in scenario.stations if group.name in named]


def _fastest(group: StationGroup) -> float:
    """Return the rate of a group, or the fastest rate that its rate control may choose."""
    control = group.rate_control
    return group.data_rate.bps if control is None else control.rates[-1].rate.bps


def _own_rate(scenario: ResolvedScenario, group: StationGroup) -> str:
    """Describe the rate of a group if rates differ between groups."""
    rates = {(_fastest(one), one.rate_control is None) for one in _with_flows(scenario)}
    if len(rates) < 2:
        return ""
    up_to = "" if group.rate_control is None else "up to "
    return f" at {up_to}{format_rate(_fastest(group), 4)}"


def _cells(scenario: ResolvedScenario) -> Iterator[str]:
    """Describe cells with their channels, and how hearing is defined; nothing for a single cell."""
    if scenario.cells is None or scenario.air is None:
        return
    by_channel: dict[int | None, list[str]] = {}
    for cell in scenario.cells:
        by_channel.setdefault(cell.channel, []).append(cell.name)
    if len(scenario.cells) > 1:
        told = [
            ", ".join(names) + ("" if channel is None else f" on channel {channel}")
            for channel, names in by_channel.items()
        ]
        yield f"{len(scenario.cells)} cells ({'; '.join(told)})"
    elif any(True for _ in deaf_groups(scenario, 0)):
        yield "in which some nodes are hidden from each other"
    if scenario.air.powers_known:
        yield "reception by signal power"


def _access_points(scenario: ResolvedScenario) -> Iterator[str]:
    """Describe notable settings of access points, with names if they differ."""
    names = [cell.name for cell in scenario.cells or ()]
    for told in (_queue, _scheduler, _scheme):
        by_phrase: dict[str, list[int]] = {}
        for place, ap in enumerate(scenario.access_points):
            by_phrase.setdefault(told(ap), []).append(place)
        for phrase, places in by_phrase.items():
            if phrase and len(by_phrase) > 1:
                phrase += f" ({', '.join(names[place] for place in places)})"
            if phrase:
                yield phrase


def _scheduler(ap: AccessPoint) -> str:
    return "" if ap.scheduler is None else SCHEDULERS[ap.scheduler.word].phrase


def _scheme(ap: AccessPoint) -> str:
    return ACCESS_SCHEMES[ap.access.scheme].phrase


def law(distribution: Distribution, unit: str) -> str:
    """Describe a distribution of sizes ("B"), times ("s") or counts (""), with its mean."""
    mean = distribution.mean()
    if unit == "":
        shown = f"{mean:.3g}"
    else:
        shown = format_size(mean, 3) if unit == "B" else format_time_s(mean, 3)
    if distribution.kind == "deterministic":
        return shown
    if distribution.kind == "empirical":
        return f"{shown} on average ({sum(distribution.counts):,} measured values)"
    detail = f", shape {distribution.shape:g}" if distribution.kind == "pareto" else ""
    return f"{shown} on average ({distribution.kind}{detail})"


def _queue(ap: AccessPoint) -> str:
    queue = ap.queue
    words = (
        "AP queue without limit" if queue.limit is None else f"AP queue of {queue.limit} packets"
    )
    words += DISCIPLINES[queue.word].phrase
    if queue.mac_limit is not None:
        words += f", {queue.mac_limit} of them in the driver"
    return f"{words}, {queue.ack_filter} ACK filter" if queue.ack_filter is not None else words


def _categories(scenario: ResolvedScenario) -> Iterable[str]:
    """Return a line for each access category in use, with its main users; none with the DCF."""
    edca, classify = scenario.mac.edca, scenario.classify
    if edca is None:
        return
    uses: set[tuple[AccessCategory, str, str]] = set()
    for flow in scenario.flows:
        sender, receiver = "AP", "stations"
        if flow.direction == "upload":
            sender, receiver = receiver, sender
        if flow.tcp is None:
            uses.add((classify.udp, "UDP", sender))
        else:
            uses |= {
                (classify.tcp_data, "TCP data", sender),
                (classify.tcp_ack, "TCP ACKs", receiver),
            }
    for category in EDCA_CATEGORIES:
        kinds = sorted({kind for used, kind, _ in uses if used == category})
        sides = sorted({side for used, _, side in uses if used == category})
        parameters = {"AP": edca.ap[category], "stations": edca.stations[category]}
        if kinds:
            how = "; ".join(f"{side} {_access(parameters[side])}" for side in sides)
            yield f"EDCA {category}, {' and '.join(kinds)}: {how}"


def _access(parameters: AccessParameters) -> str:
    words = f"AIFS {format_time_ns(parameters.aifs_ns)}, CW {parameters.cw_min}"
    if parameters.cw_max != parameters.cw_min:
        words += f" to {parameters.cw_max}"
    limit = parameters.txop_limit_ns
    return f"{words}, TXOP {format_time_ns(limit)}" if limit else words


def _flow(scenario: ResolvedScenario, flow: Flow) -> str:
    group = scenario.group(flow.stations)
    app = flow.application
    what = APPLICATIONS[app.kind].name
    words = f"{group.count} x {what} {flow.direction} ({group.name}"
    words += f"{_own_rate(scenario, group)}): "
    if app.kind == "web":
        words += (
            f"{law(app.size, 'B') if app.page is None else _page(app.page)}, "
            f"think time {law(app.think_time, 's')}"
        )
    elif app.kind == "ftp":
        words += f"{law(app.size, 'B')}, one every {law(app.interarrival, 's')}"
        words += "" if app.control is None else ", with dialogue"
    elif app.kind == "udp":
        rate = "saturated" if app.rate_bps is None else format_rate(app.rate_bps)
        words += f"{rate}, packets of {app.packet_bytes} bytes"
        words += "" if app.voice is None else " with speech"
    elif app.kind == "replay":
        words += f"{sum(map(len, app.transfers))} transfers of a log at their times"
    else:
        words += "endless" if app.size is None else law(app.size, "B")
    if flow.tcp is not None:
        window = flow.tcp.receive_window_bytes
        segments = window / flow.tcp.mss_bytes
        count = f"{segments:,.0f}" if segments >= 100 else f"{segments:.3g}"
        words += (
            f"; {RECOVERY[flow.tcp.variant].name}, MSS {flow.tcp.mss_bytes} bytes, window "
            f"{_window(window)} ({count} segment{'s' if segments != 1 else ''})"
        )
        words += "".join(f", {what}" for what in _tcp_extras(flow.tcp))
    links = scenario.path_links(flow)
    if links:
        delay = sum(link.delay_ns for link in links)
        words += f"; wired path of {format_time_ns(delay)}"
    return words


def _page(page: Page) -> str:
    size = "" if page.size is None else f"{law(page.size, 'B')} in "
    return (
        f"pages of {size}{law(page.objects, '')} objects over up to {page.connections} "
        f"connection{'s' if page.connections != 1 else ''}"
    )


def _receiving(end: Receiver) -> Iterator[str]:
    """Describe the receiving side of the connection end that sends the data."""
    yield f"window {_window(end.receive_window_bytes)}"
    yield from _acks(end)


def _acks(tcp: Tcp | Receiver) -> Iterator[str]:
    """Describe the ACK policy, unless every segment is acknowledged."""
    if tcp.delayed_ack.policy is not None:
        yield f"ACKs by {ACK_POLICIES[tcp.delayed_ack.policy].name}"
        return
    (_, first), *later = tcp.delayed_ack.thresholds
    if first > 1 or later:
        words = f"an ACK for every {first} segments" if first > 1 else "an ACK for every segment"
        yield words + "".join(f", for every {every} from {begin} on" for begin, every in later)
    if tcp.ack_skip is not None and tcp.ack_skip.skip > 0:
        skip, begin = tcp.ack_skip.skip, tcp.ack_skip.after_segment
        most = "up to " if tcp.ack_skip.adaptive is not None else ""
        yield f"{most}{skip} of {skip + 1} ACKs left out" + (
            f" after segment {begin}" if begin > 0 else ""
        )
    if tcp.tack is not None:
        yield f"TACK ({tcp.tack.every} segments, {tcp.tack.beta} in a least round trip)"
    if tcp.delayed_ack.adaptive:
        yield "quick ACKs"


def _tcp_extras(tcp: Tcp) -> Iterator[str]:
    """Describe all settings of a connection that are not the plainest."""
    yield from _acks(tcp)
    if tcp.mac_feedback is not None:
        kept = ", without a window reduction" if tcp.mac_feedback.give_up == "freeze" else ""
        yield f"the MAC reports dropped frames{kept}"
    if tcp.rules.preset != "standard":
        yield f"{tcp.rules.preset.replace('linux', 'Linux')} rules"
    if tcp.congestion != "reno":
        yield CONGESTION[tcp.congestion].name
    if tcp.slow_start != "standard":
        yield SLOW_STARTS[tcp.slow_start].name
    if tcp.pacing:
        yield "pacing"
    if tcp.timestamps:
        yield "timestamps"
    if tcp.ecn:
        yield "ECN"
    if tcp.small_queue:
        yield "TCP small queues"
    if tcp.sending_end is not None:
        yield (
            "other parameters at the receiver of the data's sender "
            f"({', '.join(_receiving(tcp.sending_end))})"
        )
    if tcp.aimd != type(tcp.aimd).default():
        yield f"AIMD {tcp.aimd.increase:g} and {tcp.aimd.decrease:g}"


def _window(size_bytes: int) -> str:
    """Format a window. Most are powers of two: "64 KiB" rather than "65.5 kB"."""
    if size_bytes >= 1024 and size_bytes % 1024 == 0:
        return f"{size_bytes // 1024} KiB"
    return format_size(size_bytes, 3)

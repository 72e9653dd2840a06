"""Problems: what is wrong in a simulation, whom it concerns, and by which metric that is felt.

`PROBLEMS` has them in the order in which they are told: what a scenario says by itself (a window, a
category, a limit) comes before what is only felt, so that the first one told is what to change.
Knows causes and their signs; the thresholds stand in `thresholds`, what to do about a problem in
the catalogue of remedies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from airtcp.advice.reading import Reading, Scope, Simulated
from airtcp.advice.silence import silences
from airtcp.advice.thresholds import of
from airtcp.amendments import AMENDMENTS
from airtcp.amounts import percent, quantity
from airtcp.results.advice import Finding, Goal


@dataclass(frozen=True)
class Problem:
    """A kind of problem: its title, the search for it, and its remedies, the best bet first."""

    name: str
    title: str
    find: Callable[[Reading], Iterator[Finding]]
    remedies: tuple[str, ...]


def findings(result: Simulated) -> list[Finding]:
    """Return the problems of a simulation, the one to look at first at the head."""
    reading = Reading(result)
    found = [one for problem in PROBLEMS.values() for one in problem.find(reading)]
    # What nothing else explains is told of what is full, and no more.
    return [one for one in found if one.problem != "full"] or found


def unhappy(result: Simulated) -> set[tuple[str, str]]:
    """Return the groups and directions in which somebody waits or does not hear, for any reason."""
    reading = Reading(result)
    return {
        (scope.group, scope.part)
        for scope in reading.scopes
        if (scope.live or scope.waits_for_pages) and _complaint(reading, scope)
    }


# What is felt.


def _felt(scope: Scope) -> Goal:
    """Return the metric by which the users of a scope feel how they are served."""
    metric = "flow_goodput_bps"
    if scope.live:
        metric = "packet_delay_p95_s"
    elif scope.waits_for_pages and scope.mean("transfer_time_p90_s") is not None:
        metric = "transfer_time_p90_s"
    return Goal(metric, scope.group, scope.part)


def _suffers(reading: Reading, scope: Scope) -> str:
    """Say what the datagrams of a scope suffer; "" if nothing."""
    if not scope.live:
        return ""
    delay, lost = scope.mean("packet_delay_p95_s"), scope.mean("packet_loss")
    told = []
    if delay is not None and delay - reading.base_delay_s(scope) > of("call delay"):
        told.append(f"take up to {quantity(delay, 's', 2)} (95th percentile)")
    if lost is not None and lost > of("call loss"):
        told.append(f"lose {percent(lost)} of their packets")
    return f"{scope} {' and '.join(told)}" if told else ""


def _suffering(reading: Reading) -> list[Scope]:
    return [scope for scope in reading.scopes if _suffers(reading, scope)]


def _waits(reading: Reading, scope: Scope) -> str:
    """Say for how long segments of a scope wait; "" if for no longer than is all right."""
    wait = reading.excess_rtt_s(scope)
    bound = of("page wait") if scope.waits_for_pages else of("bulk wait")
    if wait is None or wait <= bound:
        return ""
    return f"segments of {scope} wait {quantity(wait, 's', 2)} in queues and for the air"


def _complaint(reading: Reading, scope: Scope) -> str:
    """Say what users of a scope complain about; "" if of nothing."""
    told = _suffers(reading, scope) or _waits(reading, scope)
    if told or not _slow_pages(scope):
        return told
    time = scope.mean("page_time_p90_s") or scope.mean("transfer_time_p90_s")
    return f"one in ten transfers of {scope} takes more than {quantity(time, 's', 2)}"


def _finding(problem: str, scopes: list[Scope], evidence: str, goal: Goal | None = None) -> Finding:
    """Return a finding; the first scope is the one that feels it most, by `goal` if it is given."""
    groups = tuple(dict.fromkeys(scope.group for scope in scopes))
    return Finding(problem, PROBLEMS[problem].title, groups, evidence, goal or _felt(scopes[0]))


def _wanting(reading: Reading) -> list[Scope]:
    """The scopes that could use more: those with endless flows of TCP, else all."""
    return [scope for scope in reading.scopes if scope.endless] or list(reading.scopes)


# Causes that a scenario shows by itself.


def _single_frames(reading: Reading) -> Iterator[Finding]:
    """Finds frames that go one by one where the standard has aggregates and the air is full."""
    aggregation = reading.scenario.mac.aggregation
    standard = reading.scenario.phy.standard
    alone = aggregation is None or aggregation.ampdu_bytes == 0
    if standard in AMENDMENTS and alone and reading.air_is_full:
        evidence = f"the air is full of frames that go alone: A-MPDUs of {standard} are off"
        yield _finding("aggregation", _wanting(reading), evidence)


def _priority(reading: Reading) -> Iterator[Finding]:
    """Finds datagrams that come after data."""
    scopes = [scope for scope in _suffering(reading) if reading.below_others(scope)]
    if scopes:
        told = _suffers(reading, scopes[0])
        own = reading.scenario.classify.udp
        yield _finding("priority", scopes, f"{told}: in {own} they come after the data of TCP")


def _lossy_wire(reading: Reading) -> Iterator[Finding]:
    """Finds wires that lose packets although they are not full."""
    counts = reading.simulation.counts
    packets = counts["tcp_segments"] + reading.datagrams
    scopes = [scope for scope in reading.scopes if any(flow.path for flow in scope.flows)]
    if not packets or not scopes or any(reading.full_wire(scope) for scope in scopes):
        return
    lost = counts["wired_drops"] / packets
    if lost > of("wire loss"):
        wanting = [scope for scope in scopes if scope.endless] or scopes
        yield _finding("lossy-wire", wanting, f"wires lose {percent(lost)} of all packets")


def _window(reading: Reading) -> Iterator[Finding]:
    """Finds receive windows that are full while no queue of their own is.

    A window that fills a queue is used as well; one that is too small leaves the path idle, or lets
    others have what it could carry.
    """
    for scope in reading.scopes:
        window, rtt = reading.window_bytes(scope), scope.mean("path_rtt_s")
        goodput = scope.mean("flow_goodput_bps")
        if window is None or not scope.endless or scope.live or not rtt or not goodput:
            continue
        base = reading.base_rtt_s(scope)
        idle = (reading.excess_rtt_s(scope) or 0.0) < max(0.5 * base, 0.005)
        others = [
            other.mean("flow_goodput_bps") or 0.0
            for other in reading.scopes
            if other.endless and other is not scope
        ]
        passed_by = bool(base) and 8.0 * window / base < of("passed by") * max(others, default=0.0)
        if goodput * rtt / 8.0 / window > of("window use") and (idle or passed_by):
            segments = window // min(f.tcp.mss_bytes for f in scope.flows if f.tcp is not None)
            evidence = (
                f"{scope} get {quantity(goodput, 'b/s', 2)} each: a receive window of {segments} "
                f"segments in each round trip of {quantity(rtt, 's', 2)}"
            )
            yield _finding("window", [scope], evidence)


def _wire(reading: Reading) -> Iterator[Finding]:
    """Finds wires that are full while the air is not, or in which somebody waits."""
    full = [scope for scope in reading.scopes if reading.full_wire(scope)]
    if not full:
        return
    backlogged = reading.mean("mean_backlogged_nodes") or 0.0
    if reading.air_is_full and not any(reading.waits_at_wire(scope) for scope in full):
        return
    felt = [scope for scope in full if _complaint(reading, scope)]
    if felt or backlogged < of("wire air"):
        link = reading.full_wire(full[0])
        rate = reading.scenario.links[str(link)].rate_bps
        used = percent(
            max(
                reading.wires[str(link), part]
                for part in ("download", "upload")
                if (str(link), part) in reading.wires
            )
        )
        evidence = f"the wire {link} of {quantity(rate, 'b/s', 3)} is in use {used} of the time"
        yield _finding("wire", felt or full, evidence)


def _short_queue(reading: Reading) -> Iterator[Finding]:
    """Finds a queue of the access point that loses packets before any has waited for long."""
    queue, lost = reading.scenario.ap.queue, reading.mean("ap_queue_drop_probability")
    if queue.limit is None or queue.discipline not in ("fifo", "per-flow"):
        return
    scopes = [
        scope
        for scope in reading.scopes
        if scope.part == "download" and scope.mean("ap_queue_delay_s") is not None
    ]
    if not scopes or lost is None or lost < of("queue loss"):
        return
    wait = max(reading.waits_at_ap_s(scope) for scope in scopes)
    if wait < of("short queue") or queue.limit < of("initial window"):
        tcp = [scope for scope in scopes if not scope.live] or scopes
        greedy = [scope for scope in tcp if scope.endless] or tcp
        evidence = (
            f"the access point's queue of {queue.limit} packets loses {percent(lost)} of them, and "
            f"the others wait {quantity(wait, 's', 2)} alone"
        )
        yield _finding("short-queue", greedy, evidence)


# Causes that are felt.


def _slow_station(reading: Reading) -> Iterator[Finding]:
    """Finds a group whose stations take more air than others that want as much, for less."""
    scheduler = reading.scenario.ap.scheduler
    by_airtime = scheduler is not None and scheduler.kind == "airtime"
    if not reading.air_is_full:
        return
    for part in _PARTS:
        wanting = [scope for scope in reading.scopes if scope.endless and scope.part == part]
        for slow in wanting if not (by_airtime and part == "download") else ():
            others = [scope for scope in wanting if scope is not slow]
            stations = sum(scope.count for scope in others)
            air, got = _air(slow), slow.mean("goodput_bps") or 0.0
            their_air = sum(map(_air, others))
            their_got = sum(scope.mean("goodput_bps") or 0.0 for scope in others)
            if not (air and their_air and their_got):
                continue
            of_one, of_other = air / slow.count, their_air / stations
            worth = (got / air) / (their_got / their_air)
            if of_one > of("slow airtime") * of_other and worth < of("slow rate"):
                names = ", ".join(scope.group for scope in others)
                evidence = (
                    f"a station of {slow.group} takes {percent(of_one)} of the air, one of {names} "
                    f"{percent(of_other)}, and gets {percent(worth)} of their goodput for it"
                )
                yield _finding("slow-station", others, evidence)
                return


def _air(scope: Scope) -> float:
    return scope.mean("airtime_share") or 0.0


def _calls(reading: Reading) -> Iterator[Finding]:
    """Finds more datagrams than the air carries."""
    scopes = _suffering(reading)
    live = {scope.group for scope in reading.scopes if scope.live and not _mixed(reading, scope)}
    used = sum(reading.airtime_share(group.name) for group in reading.scenario.stations)
    taken = sum(reading.airtime_share(name) for name in live)
    if scopes and used and taken / used > of("call airtime") and reading.air_is_full:
        worst = max(scopes, key=lambda scope: scope.mean("packet_delay_p95_s") or 0.0)
        evidence = f"{_suffers(reading, worst)}: datagrams take {percent(taken / used)} of the air"
        yield _finding("calls", [worst, *scopes], evidence + " that is in use")


def _client_queue(reading: Reading) -> Iterator[Finding]:
    """Finds packets of calls that wait at stations, behind uploads of their own."""
    scopes = [
        scope
        for scope in _suffering(reading)
        if scope.part == "upload" and reading.has_endless(scope.group, "upload")
    ]
    if scopes:
        evidence = f"{_suffers(reading, scopes[0])}, at the stations, behind their own uploads"
        yield _finding("client-queue", scopes, evidence)


def _ap_queue(reading: Reading) -> Iterator[Finding]:
    """Finds packets that people wait for, at the access point, in a queue that lets them wait."""
    queue = reading.scenario.ap.queue
    if queue.discipline not in _UNMANAGED:
        return
    dropped = (reading.mean("ap_queue_drop_probability") or 0.0) > of("queue loss")
    scopes = []
    for scope in reading.scopes:
        felt = _suffers(reading, scope) or (scope.waits_for_pages and _waits(reading, scope))
        waits = reading.waits_at_ap_s(scope) > 0.5 * of("page wait")
        if felt and scope.part == "download" and (waits or (dropped and scope.live)):
            scopes.append(scope)
    if scopes:
        first = min(scopes, key=lambda scope: not scope.live)
        told = _suffers(reading, first) or _waits(reading, first)
        size = "" if queue.limit is None else f" of {queue.limit} packets"
        most = quantity(max(reading.waits_at_ap_s(scope) for scope in scopes), "s", 2)
        evidence = f"{told}; in the access point's queue{size} they wait {most}"
        yield _finding("ap-queue", [first, *scopes], evidence)


def _latency(reading: Reading) -> Iterator[Finding]:
    """Finds long waits of endless transfers: whatever else shares the queue would wait as long."""
    scopes = [scope for scope in reading.scopes if scope.endless and _waits(reading, scope)]
    managed = reading.scenario.ap.queue.discipline not in _UNMANAGED
    at_stations = {
        scope.group
        for scope in scopes
        if scope.part == "upload"
        and (reading.excess_rtt_s(scope) or 0.0) > 2.0 * reading.waits_at_ap_s(scope)
    }
    scopes = [scope for scope in scopes if scope.group in at_stations or not managed]
    if scopes:
        scope = max(scopes, key=lambda one: reading.excess_rtt_s(one) or 0.0)
        place = "at the stations" if scope.group in at_stations else "mostly at the access point"
        goal = Goal("path_rtt_s", scope.group, scope.part)
        yield _finding("latency", [scope, *scopes], f"{_waits(reading, scope)}, {place}", goal)


def _starving(reading: Reading) -> Iterator[Finding]:
    """Finds endless flows that are alike and get very different shares."""
    lost = reading.mean("ap_queue_drop_probability") or 0.0
    for scope in sorted(reading.scopes, key=lambda one: one.mean("jain_index") or 1.0):
        jain = scope.mean("jain_index")
        flows = scope.count * len(scope.flows)
        alike = len(scope.flows) == 1 and scope.endless and flows > 2
        if not alike or jain is None or jain > of("uneven"):
            continue
        goods = reading.goodputs_bps(scope)
        evidence = (
            f"{scope} get very uneven shares: {quantity(min(goods), 'b/s', 2)} to "
            f"{quantity(max(goods), 'b/s', 2)}"
        )
        if lost > of("queue loss"):
            evidence += f"; the access point's queue loses {percent(lost)} of its packets"
            evidence += ", and TCP ACKs with them" if scope.part == "upload" else ""
        goal = Goal("jain_index", scope.group, scope.part)
        title = PROBLEMS["starving"].title
        yield Finding("starving", title, (scope.group,), evidence, goal)
        return


def _one_direction(reading: Reading) -> Iterator[Finding]:
    """Finds endless flows of one direction that have nearly all."""
    both = {part: [s for s in reading.scopes if s.endless and s.part == part] for part in _PARTS}
    if not all(both.values()):
        return
    total = {
        part: sum(s.mean("goodput_bps") or 0.0 for s in scopes) for part, scopes in both.items()
    }
    flows = {part: sum(s.count * len(s.flows) for s in scopes) for part, scopes in both.items()}
    for part, other in (_PARTS, _PARTS[::-1]):
        share = total[part] / (sum(total.values()) or 1.0)
        fair = flows[part] / sum(flows.values())
        if share > max(of("direction share"), (1.0 + fair) / 2.0):
            evidence = f"{part}s take {percent(share)} of the goodput of endless flows"
            yield _finding("direction", both[other], evidence)


def _acks(reading: Reading) -> Iterator[Finding]:
    """Finds an ACK for each segment, where each takes a frame of its own and the air is full."""
    if reading.scenario.mac.aggregation is not None or not reading.air_is_full:
        return
    scopes = [scope for scope in reading.scopes if scope.endless and reading.acks_each(scope)]
    if scopes:
        share = reading.simulation.airtime["tcp_ack"]
        evidence = (
            f"{scopes[0]} have a TCP ACK for each segment, and each contends for the air: their "
            f"frames alone take {percent(share)} of it"
        )
        yield _finding("acks", scopes, evidence)


def _collisions(reading: Reading) -> Iterator[Finding]:
    """Finds air that is spent on collisions."""
    share = reading.simulation.airtime["collision"]
    if share > of("collision time"):
        stations = sum(group.count for group in reading.scenario.stations)
        evidence = f"collisions take {percent(share)} of the airtime, of {stations} stations"
        yield _finding("collisions", _wanting(reading), evidence)


def _slow_pages(scope: Scope) -> bool:
    time = scope.mean("page_time_p90_s") or scope.mean("transfer_time_p90_s")
    return scope.waits_for_pages and time is not None and time > of("page time")


def _full(reading: Reading) -> Iterator[Finding]:
    """Finds an access point that has too much to do, where nothing else explains it."""
    if not reading.air_is_full:
        return
    scopes = [scope for scope in reading.scopes if _complaint(reading, scope)]
    if scopes:
        first = min(scopes, key=lambda scope: not scope.live)
        yield _finding("full", [first, *scopes], f"{_complaint(reading, first)}; the air is full")


def _silence(reading: Reading) -> Iterator[Finding]:
    """Finds flows that get nothing through, with what counters say of the reason."""
    for one in silences(reading.result):
        name = one.flows[0].rpartition("/")[0]
        scopes = [s for s in reading.scopes if any(flow.name == name for flow in s.flows)]
        hint = f" ({one.hint})" if one.hint else ""
        yield _finding("silence", scopes, f"{one}{hint}")


def _mixed(reading: Reading, scope: Scope) -> bool:
    return any(reading.has_endless(scope.group, part) for part in _PARTS)


_PARTS: Final = ("download", "upload")
#: Queues in which packets wait for as long as there is room.
_UNMANAGED: Final = ("fifo", "per-flow", "red")

_ALL: Final = (
    Problem(
        "aggregation",
        "frames go one by one",
        _single_frames,
        ("larger-aggregates",),
    ),
    Problem(
        "priority",
        "calls come after data",
        _priority,
        ("calls-first", "managed-queue"),
    ),
    Problem(
        "lossy-wire",
        "a wire loses packets",
        _lossy_wire,
        ("sound-wire", "bbr", "cubic"),
    ),
    Problem(
        "window",
        "windows too small for the path",
        _window,
        ("large-window",),
    ),
    Problem(
        "wire",
        "a slow wire",
        _wire,
        ("faster-wire", "wire-fq-codel", "calls-first"),
    ),
    Problem(
        "short-queue",
        "a queue too short",
        _short_queue,
        ("managed-queue", "larger-buffer", "codel"),
    ),
    Problem(
        "acks",
        "TCP ACKs cost too much",
        _acks,
        ("delayed-ack", "ack-filter", "tack"),
    ),
    Problem(
        "calls",
        "more calls than the air carries",
        _calls,
        ("calls-first", "no-video", "second-access-point"),
    ),
    Problem(
        "client-queue",
        "packets wait at the stations",
        _client_queue,
        ("client-fq-codel", "calls-first", "small-queue"),
    ),
    Problem(
        "ap-queue",
        "packets wait at the access point",
        _ap_queue,
        ("managed-queue", "calls-first", "ap-priority", "codel", "smaller-buffer"),
    ),
    Problem(
        "slow-station",
        "one slow station",
        _slow_station,
        ("airtime", "least-rate-dsss", "least-rate-ofdm", "per-flow"),
    ),
    Problem(
        "starving",
        "shares are very uneven",
        _starving,
        ("managed-queue", "ack-priority", "larger-buffer", "per-flow"),
    ),
    Problem(
        "direction",
        "one direction has nearly all",
        _one_direction,
        ("ap-priority", "managed-queue", "larger-buffer"),
    ),
    Problem(
        "collisions",
        "collisions",
        _collisions,
        ("second-access-point", "larger-aggregates", "rts"),
    ),
    Problem(
        "latency",
        "latency under load",
        _latency,
        ("managed-queue", "small-queue", "client-fq-codel", "codel"),
    ),
    Problem(
        "full",
        "the access point is full",
        _full,
        ("second-access-point", "wider-channel", "calls-first", "airtime"),
    ),
    Problem("silence", "flows get nothing through", _silence, ()),
)

#: The problems by name, in the order in which they are told.
PROBLEMS: Final = {problem.name: problem for problem in _ALL}

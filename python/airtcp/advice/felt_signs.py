"""Signs of causes that are only felt: by waits, shares and airtime of some beside others.

Knows whose packets wait where, and who has more than others. Causes that a scenario shows by itself
are those of `own_signs`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from airtcp.advice.complaints import (
    Sign,
    complaint,
    slow_pages,
    suffering,
    suffers,
    waits,
    wanting,
)
from airtcp.advice.reading import Reading, Scope
from airtcp.advice.silence import silences
from airtcp.advice.thresholds import of
from airtcp.amounts import percent, quantity
from airtcp.choices import CONGESTION
from airtcp.results.advice import Goal

_PARTS: Final = ("download", "upload")
#: Queues in which packets wait for as long as there is room.
_UNMANAGED: Final = ("fifo", "per-flow", "red")


def slow_station(reading: Reading) -> Iterator[Sign]:
    """Finds a group whose stations take more air than others that want as much, for less."""
    scheduler = reading.ap.scheduler
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
                yield Sign(others, evidence)
                return


def _air(scope: Scope) -> float:
    return scope.mean("airtime_share") or 0.0


def crowded_out(reading: Reading) -> Iterator[Sign]:
    """Finds endless downloads with far less than others, which another growth or way explains.

    Of a station that has its part of the air the rate is the cause, and of a window that is full
    the window. Where nothing is full, nobody takes anything from others.
    """
    wanting = [scope for scope in reading.scopes if scope.endless and scope.part == "download"]
    wanting = [scope for scope in wanting if scope.mean("flow_goodput_bps")]
    most = max(wanting, key=lambda scope: scope.mean("flow_goodput_bps") or 0.0, default=None)
    for scope in wanting:
        if most is None or reading.window_is_full(scope):
            continue
        got, theirs = (one.mean("flow_goodput_bps") or 0.0 for one in (scope, most))
        air, their_air = (_air(one) / one.count for one in (scope, most))
        both = {wire.name for wire in reading.wires(scope)}
        wire = reading.full_wire(most)
        meet = reading.air_is_full or (wire is not None and wire.name in both)
        if not meet or max(got / theirs, air / their_air) > of("crowded out"):
            continue
        why = _unlike(reading, scope, most)
        if why:
            evidence = (
                f"{scope} get {quantity(got, 'b/s', 2)} each and {most} "
                f"{quantity(theirs, 'b/s', 2)}: {why}"
            )
            yield Sign([scope], evidence)


def _unlike(reading: Reading, scope: Scope, most: Scope) -> str:
    """Tell the difference by which flows in one queue get less than others; "" if there is none."""
    own, theirs = (
        {flow.tcp.congestion for flow in one.flows if flow.tcp is not None} for one in (scope, most)
    )
    if len(own) == len(theirs) == 1 and own != theirs:
        names = [CONGESTION[word].label for word in (*own, *theirs)]
        return f"they grow by {names[0]}, and the others by {names[1]}"
    ways = [reading.base_rtt_s(one) for one in (scope, most)]
    if own == theirs and ways[0] > of("longer way") * ways[1]:
        told = [quantity(way, "s", 2) for way in ways]
        return f"the wires alone take them {told[0]} there and back, and the others {told[1]}"
    return ""


def many_calls(reading: Reading) -> Iterator[Sign]:
    """Finds more datagrams than the air carries."""
    scopes = suffering(reading)
    live = {scope.group for scope in reading.scopes if scope.live and not _mixed(reading, scope)}
    used = reading.air_in_use
    taken = sum(reading.airtime_share(name) for name in live)
    if scopes and used and taken / used > of("call airtime") and reading.air_is_full:
        worst = max(scopes, key=lambda scope: scope.mean("packet_delay_p95_s") or 0.0)
        evidence = (
            f"{suffers(reading, worst)}: datagrams take {percent(taken / used)} of {reading.air}"
        )
        yield Sign([worst, *scopes], evidence + " that is in use")


def _mixed(reading: Reading, scope: Scope) -> bool:
    return any(reading.has_endless(scope.group, part) for part in _PARTS)


def client_queue(reading: Reading) -> Iterator[Sign]:
    """Finds packets of calls that wait at stations, behind uploads of their own."""
    scopes = [
        scope
        for scope in suffering(reading)
        if scope.part == "upload" and reading.has_endless(scope.group, "upload")
    ]
    if scopes:
        evidence = f"{suffers(reading, scopes[0])}, at the stations, behind their own uploads"
        yield Sign(scopes, evidence)


def ap_queue(reading: Reading) -> Iterator[Sign]:
    """Finds packets that people wait for, at the access point, in a queue that lets them wait.

    Where all are pages for which the air has too little room, they wait for that in any order.
    """
    alike = not any(scope.live or scope.endless for scope in reading.scopes)
    if reading.ap.queue.discipline not in _UNMANAGED or (alike and reading.air_is_full):
        return
    dropped = (reading.mean("ap_queue_drop_probability") or 0.0) > of("queue loss")
    scopes = []
    for scope in reading.scopes:
        felt = suffers(reading, scope) or (scope.waits_for_pages and waits(reading, scope))
        here = reading.waits_at_ap_s(scope) > 0.5 * of("page wait")
        if felt and scope.part == "download" and (here or (dropped and scope.live)):
            scopes.append(scope)
    if scopes:
        first = min(scopes, key=lambda scope: not scope.live)
        told = suffers(reading, first) or waits(reading, first)
        most = quantity(max(reading.waits_at_ap_s(scope) for scope in scopes), "s", 2)
        evidence = f"{told}; in {reading.ap_queue} they wait {most}"
        yield Sign([first, *scopes], evidence)


def latency(reading: Reading) -> Iterator[Sign]:
    """Finds long waits of endless transfers: whatever else shares the queue would wait as long.

    Those in the queue of a wire are its sign.
    """
    scopes = [
        scope
        for scope in reading.scopes
        if scope.endless and waits(reading, scope) and not _waits_in_wire(reading, scope)
    ]
    managed = reading.ap.queue.discipline not in _UNMANAGED
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
        yield Sign([scope, *scopes], f"{waits(reading, scope)}, {place}", goal)


def _waits_in_wire(reading: Reading, scope: Scope) -> bool:
    """Tell whether the segments of endless transfers wait in a wire, and not at a node."""
    if scope.part == "upload":
        return reading.full_wire(scope) is not None
    return reading.wire_waited_for(scope) is not None


def starving(reading: Reading) -> Iterator[Sign]:
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
        yield Sign([scope], evidence, goal)
        return


def one_direction(reading: Reading) -> Iterator[Sign]:
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
            yield Sign(both[other], evidence)


def collisions(reading: Reading) -> Iterator[Sign]:
    """Finds air that is spent on collisions."""
    if reading.cells:
        # Frames overlap there that come through.
        return
    share = reading.simulation.airtime["collision"]
    if share > of("collision time"):
        stations = sum(group.count for group in reading.stations)
        evidence = f"collisions take {percent(share)} of the airtime, of {stations} stations"
        yield Sign(wanting(reading), evidence)


def slow_rate(reading: Reading) -> Iterator[Sign]:
    """Finds people who wait too long for pages, although the air has room: for their own frames."""
    if reading.air_is_full:
        return
    for scope in reading.scopes:
        told, used = slow_pages(reading, scope), reading.air_while_waiting(scope)
        if told and used is not None and used > of("rate airtime"):
            rate = quantity(reading.scenario.group(scope.group).data_rate.bps, "b/s", 2)
            evidence = f"{told}; while they come, frames of {scope.group} have the air for "
            yield Sign([scope], f"{evidence}{percent(min(used, 1.0))} of the time, at {rate}")


def full_air(reading: Reading) -> Iterator[Sign]:
    """Finds an access point that has too much to do, where nothing else explains it."""
    if not reading.air_is_full:
        return
    scopes = [scope for scope in reading.scopes if complaint(reading, scope)]
    if scopes:
        first = min(scopes, key=lambda scope: not scope.live)
        yield Sign([first, *scopes], f"{complaint(reading, first)}; {reading.air} is full")


def silence(reading: Reading) -> Iterator[Sign]:
    """Finds flows that get nothing through, with what counters say of the reason."""
    for one in silences(reading.result):
        name = one.flows[0].rpartition("/")[0]
        scopes = [s for s in reading.scopes if any(flow.name == name for flow in s.flows)]
        hint = f" ({one.hint})" if one.hint else ""
        yield Sign(scopes, f"{one}{hint}")

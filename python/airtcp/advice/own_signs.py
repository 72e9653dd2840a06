"""Signs of causes that a scenario shows by itself: frames, categories, windows, wires, limits.

Knows what of a scenario is too small, too slow or in the wrong order, by what a simulation says of
it. Does not know of waits whose cause nobody wrote down (`felt_signs`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from airtcp.advice.complaints import (
    ROUND_TRIPS,
    Sign,
    complaint,
    slow_pages,
    suffering,
    suffers,
    too_little,
    waits,
    wanting,
)
from airtcp.advice.profiles import targets_of
from airtcp.advice.reading import Reading, Scope
from airtcp.advice.thresholds import of
from airtcp.amendments import AMENDMENTS
from airtcp.amounts import percent, quantity
from airtcp.results.advice import Goal
from airtcp.standards import DSSS

_NO_WAY: Final = "nothing at the access point mends that"


def single_frames(reading: Reading) -> Iterator[Sign]:
    """Finds frames that go one by one where the standard has aggregates and the air is full."""
    aggregation = reading.scenario.mac.aggregation
    standard = reading.scenario.phy.standard
    alone = aggregation is None or aggregation.ampdu_bytes == 0
    if standard in AMENDMENTS and alone and reading.air_is_full:
        evidence = f"{reading.air} is full of frames that go alone: A-MPDUs of {standard} are off"
        yield Sign(wanting(reading), evidence)


def protection(reading: Reading) -> Iterator[Sign]:
    """Finds a full air of which much goes to the frames that stations of 802.11b understand."""
    before, share = reading.scenario.phy.protection, reading.simulation.airtime["control"]
    old = [one.name for one in reading.stations if one.data_rate.modulation == DSSS]
    others = [scope for scope in reading.scopes if scope.group not in old]
    # Of several cells nothing tells what of the air in each is of this kind.
    if reading.cells or before is None or not (old and others and reading.air_is_full):
        return
    if share > of("protection"):
        greedy = [scope for scope in others if scope.endless] or others
        evidence = (
            f"beside stations of 802.11b ({', '.join(old)}) each OFDM frame has {before.kind} at "
            f"{quantity(before.rate.bps, 'b/s', 2)} before it: control frames take "
            f"{percent(share)} of the air"
        )
        yield Sign(greedy, evidence)


def calls_after_data(reading: Reading) -> Iterator[Sign]:
    """Finds datagrams that come after data."""
    scopes = [scope for scope in suffering(reading) if reading.below_others(scope)]
    if scopes:
        told = suffers(reading, scopes[0])
        own = reading.scenario.classify.udp
        yield Sign(scopes, f"{told}: in {own} they come after the data of TCP")


def long_way(reading: Reading) -> Iterator[Sign]:
    """Finds targets on delays to which the propagation over the wires alone leaves no room.

    Then pages that are slow by the many round trips that they take, of which the wires have nearly
    all.
    """
    for scope in reading.scopes:
        way = reading.base_delay_s(scope) if scope.live else reading.base_rtt_s(scope)
        delays = ("packet_delay",) if scope.live else ROUND_TRIPS
        for target in (one.condition for one in targets_of(reading.scenario)[0]):
            is_delay = target.metric.startswith(delays) and not target.above
            hopeless = way > of("way") * target.bound and reading.is_about(target, scope)
            if is_delay and hopeless and reading.misses(target):
                evidence = (
                    f"{target.label} shall be below {quantity(target.bound, 's', 3)}, and the "
                    f"wires alone take {quantity(way, 's', 3)}: {_NO_WAY}"
                )
                yield Sign([scope], evidence)
                return
        told, rtt = slow_pages(reading, scope), scope.mean("path_rtt_s")
        sound = reading.wire_loss(scope) < of("wire loss")
        if told and rtt and sound and way > of("way") * rtt:
            evidence = (
                f"{told}; of each round trip of {quantity(rtt, 's', 2)} the wires alone take "
                f"{quantity(way, 's', 2)}: {_NO_WAY}"
            )
            yield Sign([scope], evidence)
            return


def lossy_wire(reading: Reading) -> Iterator[Sign]:
    """Finds wires that lose packets by themselves: many, or all that holds endless flows back.

    What the queue of a full wire drops is no loss of the wire.
    """
    lossy = [scope for scope in reading.scopes if reading.wire_loss(scope)]
    if not lossy or any(reading.full_wire(scope) for scope in lossy):
        return
    scopes = [
        scope
        for scope in lossy
        if reading.wire_loss(scope) > of("wire loss") or _held_back_by_loss(reading, scope)
    ]
    if scopes:
        wanting = [scope for scope in scopes if scope.endless] or scopes
        lost = max(map(reading.wire_loss, scopes))
        yield Sign(wanting, f"wires lose {percent(lost)} of all packets")


def _held_back_by_loss(reading: Reading, scope: Scope) -> bool:
    """Tell whether neither air, window nor a queue explains what endless flows get."""
    used = reading.window_use(scope)
    if not scope.endless or not reading.air_has_room or not used:
        return False
    dropped = (reading.mean("ap_queue_drop_probability") or 0.0) > of("queue loss")
    return not dropped and used < of("window use")


def small_window(reading: Reading) -> Iterator[Sign]:
    """Finds receive windows that are full while no queue of their own is.

    A window that fills a queue is used as well; one that is too small leaves the path idle, or lets
    others have what it could carry. Where all together fill the air, a larger one would gain
    nothing.
    """
    for one in reading.by_cell:
        for scope in one.scopes:
            window, rtt = one.window_bytes(scope), scope.mean("path_rtt_s")
            goodput = scope.mean("flow_goodput_bps")
            if window is None or not scope.endless or scope.live or not rtt or not goodput:
                continue
            base = one.base_rtt_s(scope)
            waited = one.excess_rtt_s(scope) or 0.0
            timer = one.waits_for_timer(scope)
            idle = (timer or waited < max(0.5 * base, 0.005)) and not one.air_is_full
            others = [
                other.mean("flow_goodput_bps") or 0.0
                for other in one.scopes
                if other.endless and other is not scope
            ]
            most = max(others, default=0.0)
            passed_by = bool(base) and 8.0 * window / base < of("passed by") * most
            if one.window_is_full(scope) and (idle or passed_by):
                segments = window // min(f.tcp.mss_bytes for f in scope.flows if f.tcp is not None)
                evidence = (
                    f"{scope} get {quantity(goodput, 'b/s', 2)} each: a receive window of "
                    f"{segments} segment{'' if segments == 1 else 's'} in each round trip of "
                    f"{quantity(rtt, 's', 2)}"
                )
                if timer:
                    evidence += ", which ends with the timer of delayed ACKs: these wait for more"
                yield Sign([scope], evidence)


def short_wire_queue(reading: Reading) -> Iterator[Sign]:
    """Finds queues of wires that drop so much that neither wire nor air is in use throughout."""
    counts = reading.simulation.counts
    packets = counts["tcp_segments"] + reading.datagrams
    scopes = [
        scope
        for scope in reading.scopes
        if scope.endless and any(wire.queue for wire in reading.wires(scope))
    ]
    if not packets or not scopes or any(map(reading.full_wire, scopes)):
        return
    lost = counts["wired_drops"] / packets - max(map(reading.wire_loss, reading.scopes))
    if lost > of("wire loss") and reading.air_has_room:
        wire = next(wire for wire in reading.wires(scopes[0]) if wire.queue)
        evidence = (
            f"{wire.name} of {quantity(wire.rate_bps, 'b/s', 3)} is in use "
            f"{percent(max(wire.used.values()))} of the time alone: its queue of {wire.queue} "
            f"packets drops {percent(lost)} of all packets"
        )
        yield Sign(scopes, evidence)


def slow_wire(reading: Reading) -> Iterator[Sign]:
    """Finds wires that are full while the air is not, or in which somebody waits."""
    scopes = reading.scopes
    full = [(scope, wire) for scope in scopes if (wire := reading.full_wire(scope))]
    if reading.air_is_full and not any(reading.waits_at_wire(scope) for scope, _ in full):
        full = []
    felt = [(scope, wire) for scope, wire in full if complaint(reading, scope)]
    waited = [
        (scope, wire)
        for scope in scopes
        if complaint(reading, scope) and (wire := reading.wire_waited_for(scope))
    ]
    felt += [(scope, wire) for scope, wire in waited if scope not in [one for one, _ in felt]]
    found = felt or (full if reading.air_has_room else [])
    # Those who wait behind others come before those who fill the wire.
    found = sorted(found, key=lambda one: one[0].endless)
    if found:
        scope, wire = found[0]
        fullest = max(wire.used, key=lambda one: wire.used[one])
        part = scope.part if wire.full(scope.part) else fullest
        told = complaint(reading, scope)
        told = f"{told}; " if told else ""
        rate = quantity(wire.rate_bps, "b/s", 3)
        evidence = f"{told}{wire.name} of {rate} is in use {percent(wire.used[part])} of the time"
        group, share = wire.crowded.get(part, ("", 0.0))
        if group and any(one.group != group for one, _ in found):
            evidence += f", {percent(share)} of that by {group} {part}s"
        goal = None
        if scope.endless and waits(reading, scope) and not too_little(reading, scope):
            goal = Goal("path_rtt_s", scope.group, scope.part)
        yield Sign([scope for scope, _ in found], evidence, goal)


def short_queue(reading: Reading) -> Iterator[Sign]:
    """Finds a queue of the access point that loses packets before any has waited for long."""
    queue, lost = reading.ap.queue, reading.mean("ap_queue_drop_probability")
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
            f"{reading.ap_queue} loses {percent(lost)} of them, and the others wait "
            f"{quantity(wait, 's', 2)} alone"
        )
        yield Sign(greedy, evidence)


def ack_for_each_segment(reading: Reading) -> Iterator[Sign]:
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
        yield Sign(scopes, evidence)

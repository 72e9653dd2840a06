"""Saturated UDP: Bianchi's model for several senders, the theoretical maximum for a lone one.

A node is saturated when it has such a flow: a station with an upload, the access point with any
download. Nodes may differ in packet sizes and rates: 802.11 gives each as many chances to send, so
their mean times stand in for Bianchi's single ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, log2
from typing import TYPE_CHECKING, Final

from airtcp.models.airtime import Phy, Rate
from airtcp.models.bianchi import SlotTimes, fixed_point, saturation, slot_times
from airtcp.models.max_throughput import lone_sender, maximum_throughput
from airtcp.predict.answers import Answers, Origin
from airtcp.predict.facts import rate_of, weighted

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario
    from airtcp.standards import AfterCollision

#: IPv4 and UDP headers, which are in a packet and not in goodput.
UDP_HEADER_BYTES: Final = 28

_BIANCHI: Final = "models.bianchi"
_LONE: Final = "models.max_throughput"

_ASSUMES: Final = (
    "every sender always has a packet",
    "a frame is given up at the retry limit, as in Wu et al. (2002)",
    "an attempt collides with the same probability in every backoff stage",
    "nodes are alike: what differs in packet size and rate is averaged",
)
_ASSUMES_LONE: Final = (
    "one sender that always has a packet",
    "no collision and no loss",
    "a backoff before every packet",
)


@dataclass(frozen=True, slots=True)
class _Sender:
    """`count` nodes that send such packets: IP packet in bits, rates, retry limit."""

    count: int
    packet_bits: float
    flows: tuple[tuple[int, Rate, Rate], ...]


def predict(scenario: ResolvedScenario, answers: Answers) -> None:
    """Goodput, collisions and drops of saturated UDP senders."""
    senders = _senders(scenario)
    nodes = sum(sender.count for sender in senders)
    if nodes == 1:
        with answers.attempt("Jun et al. (2003)"):
            _lone(scenario, senders[0], answers)
        return
    with answers.attempt("Bianchi (2000)"):
        _contending(scenario, senders, answers)


def _contending(scenario: ResolvedScenario, senders: list[_Sender], answers: Answers) -> None:
    counts = [sender.count for sender in senders]
    nodes, w0 = sum(counts), scenario.phy.cw_min + 1
    doublings = ceil(log2((scenario.phy.cw_max + 1) / w0))
    point = fixed_point(nodes, w0, doublings, scenario.mac.short_retry_limit - 1)
    payload = weighted([_payload_bits(sender) for sender in senders], counts)
    broken = _broken(scenario, senders)
    wait = scenario.mac.rules.after_collision
    freezing = saturation(point, _slot_times(scenario, senders, wait), variant="freezing", w0=w0)
    printed = saturation(point, _slot_times(scenario, senders, "difs"), variant="bianchi")
    for said, source, hints in (
        (freezing, "Bianchi, Tinnirello (2005)", broken),
        (printed, "Bianchi (2000) (13)", [*broken, *_printed_form(wait)]),
    ):
        goodput = float(said.success_rate_per_s) * payload
        answers.add(
            Origin(_BIANCHI, source, _ASSUMES, hints),
            {"goodput_bps": goodput, "flow_goodput_bps": goodput / _flows(scenario)},
        )
    answers.add(
        Origin(_BIANCHI, "Bianchi (2000) (9)", _ASSUMES, broken),
        {
            "collision_probability": float(point.p),
            "drop_probability_mac": float(point.drop),
            "mean_backlogged_nodes": float(nodes),
        },
    )


def _flows(scenario: ResolvedScenario) -> int:
    return sum(scenario.group(flow.stations).count for flow in scenario.flows)


def _senders(scenario: ResolvedScenario) -> list[_Sender]:
    senders = []
    for group in scenario.stations:
        data, control = rate_of(group)
        packets = [
            (flow.application.packet_bytes, data, control)
            for flow in scenario.flows
            if flow.stations == group.name
            and flow.direction == "upload"
            and flow.application.kind == "udp"
        ]
        if packets:
            mean = sum(8 * size for size, _, _ in packets) / len(packets)
            senders.append(_Sender(group.count, mean, tuple(packets)))
    down = []
    weights = []
    for flow in scenario.flows:
        if flow.direction == "download" and flow.application.kind == "udp":
            group = scenario.group(flow.stations)
            down.append((flow.application.packet_bytes, *rate_of(group)))
            weights.append(group.count)
    if down:
        mean = weighted([8.0 * size for size, _, _ in down], weights)
        senders.append(_Sender(1, mean, tuple(down)))
    return senders


def _payload_bits(sender: _Sender) -> float:
    return max(0.0, sender.packet_bits - 8 * UDP_HEADER_BYTES)


def _slot_times(
    scenario: ResolvedScenario, senders: list[_Sender], wait: AfterCollision
) -> SlotTimes:
    """Mean times over the nodes; a collision lasts as long as the longer of two senders' frames."""
    single = [_sender_times(scenario, sender, wait) for sender in senders]
    counts = [sender.count for sender in senders]
    nodes = sum(counts)
    collision = 0.0
    for i, one in enumerate(single):
        for j, other in enumerate(single):
            pairs = counts[i] * (counts[j] - (i == j)) / (nodes * (nodes - 1))
            collision += pairs * max(one.collision_s, other.collision_s)
    return SlotTimes(
        slot_s=single[0].slot_s,
        success_s=weighted([times.success_s for times in single], counts),
        collision_s=collision,
        payload_s=weighted([times.payload_s for times in single], counts),
    )


def _sender_times(scenario: ResolvedScenario, sender: _Sender, wait: AfterCollision) -> SlotTimes:
    phy = Phy.from_resolved(scenario.phy.model_dump())
    flows = [
        slot_times(
            phy,
            8 * size,
            rts=_rts(scenario, size),
            after_collision=wait,
            data_rate=data,
            control_rate=control,
        )
        for size, data, control in sender.flows
    ]
    n = len(flows)
    return SlotTimes(
        slot_s=flows[0].slot_s,
        success_s=sum(times.success_s for times in flows) / n,
        collision_s=sum(times.collision_s for times in flows) / n,
        payload_s=sum(times.payload_s for times in flows) / n,
    )


def _rts(scenario: ResolvedScenario, packet_bytes: int) -> bool:
    threshold = scenario.mac.rts_threshold_bytes
    overhead = scenario.phy.mac_header_bits + scenario.phy.llc_bits
    return threshold is not None and 8 * packet_bytes + overhead > 8 * threshold


def _lone(scenario: ResolvedScenario, sender: _Sender, answers: Answers) -> None:
    phy = Phy.from_resolved(scenario.phy.model_dump())
    cycles = [
        lone_sender(phy, 8 * size, rts=_rts(scenario, size), data_rate=data, control_rate=control)
        for size, data, control in sender.flows
    ]
    exchange = sum(float(cycle.exchange_s) for cycle in cycles) / len(cycles)
    goodput = float(
        maximum_throughput(
            _payload_bits(sender), phy.difs_ns / 1e9, float(cycles[0].backoff_s), exchange
        )
    )
    answers.add(
        Origin(_LONE, "Jun et al. (2003)", _ASSUMES_LONE),
        {
            "goodput_bps": goodput,
            "flow_goodput_bps": goodput / _flows(scenario),
            "collision_probability": 0.0,
            "drop_probability_mac": 0.0,
        },
    )


def _broken(scenario: ResolvedScenario, senders: list[_Sender]) -> list[str]:
    sentences = []
    if len({flow for sender in senders for flow in sender.flows}) > 1:
        sentences.append(
            "nodes are alike; here packet sizes or rates differ, and mean times stand in: the "
            "total should hold, the shares of the nodes are not told"
        )
    return sentences


def _printed_form(wait: AfterCollision) -> Iterator[str]:
    """What the printed (13) has otherwise than 802.11, whatever the scenario."""
    yield (
        "every node may use the first slot after a transmission; in 802.11 only the one that just "
        "succeeded can, since the others' counters are frozen; goodput is a little off"
    )
    if wait != "difs":
        yield f"all wait DIFS after a collision; here {wait.upper()}: goodput is too high"

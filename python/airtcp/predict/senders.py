"""The facts that models of saturated nodes ask for: senders, their frames and durations.

A node is saturated when it has UDP that always has a packet: a station with an upload, the access
point with any download. Knows counts, packets and rates. Asks no model of contention.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from airtcp.airtime import needs_rts
from airtcp.models.airtime import Phy, Rate, collision_time_ns
from airtcp.models.bianchi import SlotTimes, slot_times
from airtcp.models.heusse import phy_exchange_s
from airtcp.predict.facts import rate_of, weighted
from airtcp.standards import UDP_IP_HEADER_BYTES

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.mac import AfterCollision


@dataclass(frozen=True, slots=True)
class Sender:
    """`count` nodes at the access point or among `stations`, each with the same flows.

    `packets` has the bytes of the IP packet, data rate and control rate of each flow; `receivers`
    how many connections it stands for, by which the access point's turns are counted.
    """

    side: Literal["ap", "stations"]
    count: int
    packets: tuple[tuple[int, Rate, Rate], ...]
    receivers: tuple[int, ...]

    def mean(self, value: Callable[[int, Rate, Rate], float]) -> float:
        """Mean of `value` over the node's packets: its flows take turns."""
        return weighted([value(*packet) for packet in self.packets], self.receivers)

    @property
    def payload_bits(self) -> float:
        """Say what of a packet counts as goodput, on average."""
        return self.mean(lambda size, *_: 8.0 * max(0, size - UDP_IP_HEADER_BYTES))

    def times(self, scenario: ResolvedScenario, phy: Phy, wait: AfterCollision) -> SlotTimes:
        """Mean durations of a success and of a collision of this node's frames alone."""

        def of(size: int, data: Rate, control: Rate) -> SlotTimes:
            return slot_times(
                phy,
                8 * size,
                rts=rts_before(scenario, size),
                after_collision=wait,
                data_rate=data,
                control_rate=control,
            )

        return SlotTimes(
            slot_s=phy.slot_time_ns / 1e9,
            success_s=self.mean(lambda *packet: of(*packet).success_s),
            collision_s=self.mean(lambda *packet: of(*packet).collision_s),
            payload_s=self.mean(lambda *packet: of(*packet).payload_s),
        )

    def exchange_s(self, scenario: ResolvedScenario, phy: Phy) -> float:
        """Mean duration of DIFS and an exchange."""

        def of(size: int, data: Rate, control: Rate) -> float:
            rts = rts_before(scenario, size)
            exchange = phy_exchange_s(phy, 8 * size, rts=rts, data_rate=data, control_rate=control)
            return float(exchange)

        return self.mean(of)

    def rts_collision_s(self, scenario: ResolvedScenario, phy: Phy) -> float | None:
        """Say what a collided RTS takes, with the DIFS before it; None if some frame has no RTS."""
        if not all(rts_before(scenario, size) for size, _, _ in self.packets):
            return None

        def of(size: int, data: Rate, control: Rate) -> float:
            frame = collision_time_ns(phy, 8 * size, rts=True, data_rate=data, control_rate=control)
            return (int(frame) + phy.difs_ns) / 1e9

        return self.mean(of)


def senders_of(scenario: ResolvedScenario) -> list[Sender]:
    """The saturated nodes: stations group by group, then the access point."""
    senders = []
    for group in scenario.stations:
        packets = [
            (flow.application.packet_bytes, *rate_of(group))
            for flow in scenario.flows
            if flow.stations == group.name
            and flow.direction == "upload"
            and flow.application.kind == "udp"
        ]
        if packets:
            senders.append(
                Sender("stations", group.count, tuple(packets), tuple(1 for _ in packets))
            )
    down, receivers = [], []
    for flow in scenario.flows:
        if flow.direction == "download" and flow.application.kind == "udp":
            group = scenario.group(flow.stations)
            down.append((flow.application.packet_bytes, *rate_of(group)))
            receivers.append(group.count)
    if down:
        senders.append(Sender("ap", 1, tuple(down), tuple(receivers)))
    return senders


def counts_of(senders: Sequence[Sender]) -> list[int]:
    """Nodes of each kind."""
    return [sender.count for sender in senders]


def flow_count(scenario: ResolvedScenario) -> int:
    """Single flows in a scenario."""
    return sum(scenario.group(flow.stations).count for flow in scenario.flows)


def doublings(w0: int, cw_max: int) -> int:
    """The first backoff stage with the largest window: m of Bianchi."""
    stage = 0
    while w0 << stage < cw_max + 1:
        stage += 1
    return stage


def rts_before(scenario: ResolvedScenario, packet_bytes: int) -> bool:
    """Tell whether an RTS goes before the frame of such an IP packet."""
    return needs_rts(scenario.phy, 8 * packet_bytes, scenario.mac.rts_threshold_bytes)


def jain_index(senders: Sequence[Sender], node_bps: Sequence[float]) -> float:
    """Jain's index over flows, where a node of each kind gets so much and its flows take turns.

    Turns are packets: a node's flows share what it gets as their payloads do.
    """
    total = squares = flows = 0.0
    for sender, bps in zip(senders, node_bps, strict=True):
        payload = [8.0 * max(0, size - UDP_IP_HEADER_BYTES) for size, _, _ in sender.packets]
        one_turn = sum(n * bits for n, bits in zip(sender.receivers, payload, strict=True))
        for n, bits in zip(sender.receivers, payload, strict=True):
            share = bps * bits / one_turn
            total += sender.count * n * share
            squares += sender.count * n * share**2
            flows += sender.count * n
    return total**2 / (flows * squares)

"""Derive the inputs of models of saturated nodes: senders, their frames and durations.

A node is saturated if it always has a UDP packet: a station with an upload, the access point with
any download.
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

    `packets` has the size of the IP packet in bytes, the data rate and the control rate of each
    flow; `receivers` has the number of connections of each, by which the access point's turns are
    counted.
    """

    side: Literal["ap", "stations"]
    count: int
    packets: tuple[tuple[int, Rate, Rate], ...]
    receivers: tuple[int, ...]

    def mean(self, value: Callable[[int, Rate, Rate], float]) -> float:
        """Return the mean of `value` over the node's packets; its flows take turns."""
        return weighted([value(*packet) for packet in self.packets], self.receivers)

    @property
    def payload_bits(self) -> float:
        """The mean payload of a packet that counts as goodput."""
        return self.mean(lambda size, *_: 8.0 * max(0, size - UDP_IP_HEADER_BYTES))

    def times(self, scenario: ResolvedScenario, phy: Phy, wait: AfterCollision) -> SlotTimes:
        """Return the mean durations of successes and of collisions with this node's frames only."""

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
        """Return the mean duration of DIFS and an exchange."""

        def of(size: int, data: Rate, control: Rate) -> float:
            rts = rts_before(scenario, size)
            exchange = phy_exchange_s(phy, 8 * size, rts=rts, data_rate=data, control_rate=control)
            return float(exchange)

        return self.mean(of)

    def rts_collision_s(self, scenario: ResolvedScenario, phy: Phy) -> float | None:
        """Return the duration of DIFS and a collided RTS, or None if some frame has no RTS."""
        if not all(rts_before(scenario, size) for size, _, _ in self.packets):
            return None

        def of(size: int, data: Rate, control: Rate) -> float:
            frame = collision_time_ns(phy, 8 * size, rts=True, data_rate=data, control_rate=control)
            return (int(frame) + phy.difs_ns) / 1e9

        return self.mean(of)


def senders_of(scenario: ResolvedScenario) -> list[Sender]:
    """Return the saturated nodes: stations group by group, then the access point."""
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
    """Return the number of nodes of each kind."""
    return [sender.count for sender in senders]


def flow_count(scenario: ResolvedScenario) -> int:
    """Return the number of single flows in a scenario."""
    return sum(scenario.group(flow.stations).count for flow in scenario.flows)


def doublings(w0: int, cw_max: int) -> int:
    """Return m of Bianchi: the first backoff stage with the largest window."""
    stage = 0
    while w0 << stage < cw_max + 1:
        stage += 1
    return stage


def rts_before(scenario: ResolvedScenario, packet_bytes: int) -> bool:
    """Return whether an RTS precedes the frame of an IP packet of this size."""
    return needs_rts(scenario.phy, 8 * packet_bytes, scenario.mac.rts_threshold_bytes)


def jain_index(senders: Sequence[Sender], node_bps: Sequence[float]) -> float:
    """Return Jain's index over flows, given the goodput of a node of each kind.

    A node's flows take turns by packets, so they share its goodput in proportion to their payloads.
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

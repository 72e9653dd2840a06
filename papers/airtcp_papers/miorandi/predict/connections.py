"""Derive the inputs of paper M's models: connections, windows, frame times.

Paper M has one kind of connection. If flows differ, their mean over connections is used, and
`differ` lists the differences. `assumptions` reports what is broken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from airtcp.models.airtime import Phy
from airtcp.predict.facts import rate_of, tcp_of, weighted, window_segments

from airtcp_papers.miorandi.model import Parameters

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.traffic import Flow


@dataclass(frozen=True, slots=True)
class Connections:
    """TCP flows of one kind, as paper M sees them: `count` identical connections.

    `windows` are W* in segments, one per flow entry; `every` is d, the mean number of segments per
    TCP ACK; `differ` names the properties that are not the same for all and are averaged.
    """

    scenario: ResolvedScenario
    flows: tuple[Flow, ...]
    count: int
    parameters: Parameters
    windows: tuple[int, ...]
    every: float
    differ: tuple[str, ...]

    @classmethod
    def of(cls, scenario: ResolvedScenario, flows: Sequence[Flow]) -> Connections:
        """Return the connections of some TCP flows of a scenario; at least one flow is needed."""
        counts = [scenario.group(flow.stations).count for flow in flows]
        single = [_parameters(scenario, flow) for flow in flows]
        every = [tcp_of(flow).delayed_ack.every for flow in flows]
        groups = [scenario.group(flow.stations) for flow in flows]
        differ = {
            "data rates": {group.data_rate.bps for group in groups},
            "segment sizes": {tcp_of(flow).mss_bytes for flow in flows},
            "ACKs per segment": set(every),
        }
        return cls(
            scenario=scenario,
            flows=tuple(flows),
            count=sum(counts),
            parameters=_mean_parameters(single, counts),
            windows=tuple(window_segments(flow) for flow in flows),
            every=weighted([float(d) for d in every], counts),
            differ=tuple(name for name, values in differ.items() if len(values) > 1),
        )

    @property
    def counts(self) -> list[int]:
        """The connections of each flow entry."""
        return [self.scenario.group(flow.stations).count for flow in self.flows]

    @property
    def smallest_window(self) -> int:
        """The smallest W* in segments."""
        return min(self.windows)

    @property
    def total_window(self) -> int:
        """The sum of all windows: the most segments in flight."""
        return sum(n * window for n, window in zip(self.counts, self.windows, strict=True))

    @property
    def alone(self) -> bool:
        """Whether the scenario has no other flows."""
        return len(self.flows) == len(self.scenario.flows)

    @property
    def backlog_as_assumed(self) -> bool:
        """Whether the access point is backlogged, and stations only while they have an ACK to send.

        Other flows add backlogged nodes. An upload with a window of several segments keeps its
        station backlogged whenever the access point is not the only bottleneck.
        """
        large = any(
            flow.direction == "upload" and window > 1
            for flow, window in zip(self.flows, self.windows, strict=True)
        )
        return self.alone and not large

    @property
    def uploads(self) -> int:
        """The number of connections that are uploads."""
        return sum(
            n for n, flow in zip(self.counts, self.flows, strict=True) if flow.direction == "upload"
        )


def _parameters(scenario: ResolvedScenario, flow: Flow) -> Parameters:
    data_rate, control_rate = rate_of(scenario.group(flow.stations))
    tcp = tcp_of(flow)
    return Parameters.from_phy(
        Phy.of(scenario.phy),
        mss_bytes=tcp.mss_bytes,
        header_bits=tcp.header_bits,
        retry_limit=scenario.mac.short_retry_limit,
        rts_threshold_bytes=scenario.mac.rts_threshold_bytes,
        data_rate=data_rate,
        control_rate=control_rate,
    )


def _mean_parameters(single: Sequence[Parameters], counts: Sequence[int]) -> Parameters:
    """Return mean frame times and payload over connections.

    802.11 gives every station as many packets, not as much airtime, so the mean time per packet
    counts. RTS/CTS follows the most numerous flow.
    """
    most = max(range(len(single)), key=counts.__getitem__)
    times = ("data_s", "tcp_ack_s", "rts_s", "cts_s", "mac_ack_s", "data_rate_bps")
    (payload_bits,) = means(single, counts, "tcp_payload_bits").values()
    over_flows = means(single, counts, *times)
    return replace(single[most], tcp_payload_bits=8 * round(payload_bits / 8), **over_flows)


def means(single: Sequence[object], counts: Sequence[int], *names: str) -> dict[str, Any]:
    """Return the means of fields of parameters over connections, by name."""
    return {name: weighted([float(getattr(one, name)) for one in single], counts) for name in names}

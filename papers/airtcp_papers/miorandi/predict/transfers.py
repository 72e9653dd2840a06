"""Derive the inputs of models of finite transfers: sizes, segments, setup and ending.

If flows differ, their mean over connections is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from airtcp.predict.facts import size_of, tcp_of, weighted

from airtcp_papers.miorandi.model import CORRECTED, Variant
from airtcp_papers.miorandi.predict.connections import Connections

if TYPE_CHECKING:
    from airtcp.distributions import Distribution
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.tcp import Tcp
    from airtcp.scenario.keys.traffic import Flow, FtpMessages


class Transfers:
    """The flows of a scenario as one law of sizes, with what precedes and follows the data.

    `sizes` has the law of each flow entry. All transfers must be finite.
    """

    def __init__(self, scenario: ResolvedScenario) -> None:
        self.connections = Connections.of(scenario, scenario.flows)
        self.sizes = [size_of(flow) for flow in scenario.flows]
        self.mean_size_bytes = self.over_flows(lambda flow: size_of(flow).mean())
        self.segments = self.expected_segments(self.connections.parameters.tcp_payload_bits // 8)
        self.padded = all(tcp_of(flow).pad_last_segment for flow in scenario.flows)

    def over_flows(self, value: Callable[[Flow], float]) -> float:
        """Return the mean of `value` over connections."""
        flows = self.connections.scenario.flows
        return weighted([value(flow) for flow in flows], self.connections.counts)

    def mean(self) -> float:
        """Return E[X] in bytes; with `expected_segments` and `survival` this is a law of sizes."""
        return self.mean_size_bytes

    def expected_segments(self, mss_bytes: int) -> float:
        """Return E[ceil(X / mss)] over flows, with their MSS scaled to a mean of `mss_bytes`."""
        longer = 8 * mss_bytes / self.connections.parameters.tcp_payload_bits
        return self.over_flows(
            lambda flow: size_of(flow).expected_segments(round(longer * tcp_of(flow).mss_bytes))
        )

    def survival(self, x: float) -> float:
        """Return P(X > x), over all connections."""
        return self.over_flows(lambda flow: float(size_of(flow).survival(x)))

    @property
    def variant(self) -> Variant:
        """The corrected reading, with last packets as in the scenario."""
        return replace(CORRECTED, last_packet="padded" if self.padded else "trimmed")

    def service_bits(self, alone_bps: float) -> float:
        """Return a transfer's work for a processor that serves it at `alone_bps` when alone.

        The work is whole segments minus the bits that a trimmed last segment does not need; these
        save time at the data rate.
        """
        parameters = self.connections.parameters
        bits = self.segments * parameters.tcp_payload_bits
        if not self.padded:
            bits -= (bits - 8.0 * self.mean_size_bytes) * alone_bps / parameters.data_rate_bps
        return bits

    def setup_s(self) -> float:
        """Return the time before the first data segment: (13) with the scenario's packets."""
        return self.over_flows(self._setup_of)

    @cached_property
    def timer_s(self) -> float:
        """The mean time that the delayed-ACK timer adds to the last ACK.

        The timer runs if fewer than d segments remain for the last ACK.
        """
        return self.over_flows(
            lambda flow: tcp_of(flow).delayed_ack.timeout_ns / 1e9 * _waits(flow)
        )

    @property
    def last_ack_s(self) -> float:
        """The time from the last byte to the last TCP ACK."""
        parameters = self.connections.parameters
        return parameters.t_tcp_ack_s + parameters.mean_first_backoff_s

    @property
    def scv(self) -> float:
        """The largest squared coefficient of variation of the flows' sizes."""
        return max(size.scv() for size in self.sizes)

    def _setup_of(self, flow: Flow) -> float:
        parameters = self.connections.parameters
        packets = _HANDSHAKE_PACKETS[tcp_of(flow).handshake]
        request = request_bytes(flow)
        if request and tcp_of(flow).handshake != "three-way":
            # With a three-way handshake the request is in its third packet.
            packets += 1
        dialogue = dialogue_of(flow)
        if dialogue is not None:
            packets += _DIALOGUE_PACKETS
            request += sum(dialogue.model_dump().values())
        one = parameters.t_tcp_ack_s + parameters.mean_first_backoff_s
        return packets * one + 8 * request / parameters.data_rate_bps


#: Packets before the data that are only headers; (13) has the two of a two-way handshake.
_HANDSHAKE_PACKETS: Final = {"three-way": 3, "two-way": 2, "none": 0}
#: PASV, 227, RETR, 150 and 226, and the last FIN and its ACK; the first FIN is in the file.
_DIALOGUE_PACKETS: Final = 7
#: Sum the probability of an incomplete last group up to this many segments. For the few longer
#: transfers, groups are incomplete as often as their lengths allow.
_LAST_SEGMENT: Final = 200_000


def incomplete(size: Distribution, tcp: Tcp) -> float:
    """Return P(fewer than d full segments remain for the last ACK), which then waits for a timer.

    An ACK is due for d segments' worth of bytes. A last segment that is not full therefore leaves
    its group incomplete, whatever their number, unless it is padded. Sizes are whole bytes.
    """
    d, mss = tcp.delayed_ack.every, float(tcp.mss_bytes)
    if d == 1:
        return 0.0
    last = mss if tcp.pad_last_segment else 1.0
    whole = np.arange(d, _LAST_SEGMENT, d, dtype=np.float64)
    complete = np.sum(size.survival(whole * mss - last) - size.survival(whole * mss))
    longer = float(size.survival(whole[-1] * mss))
    return max(0.0, 1.0 - float(complete) - longer * last / (d * mss))


def dialogue_of(flow: Flow) -> FtpMessages | None:
    """Return the FTP messages around each transfer, or None."""
    return flow.application.control if flow.application.kind == "ftp" else None


def _waits(flow: Flow) -> float:
    """Return P(the last ACK waits for the timer); that of a dialogue's last reply always does."""
    if dialogue_of(flow) is not None:
        return 1.0 if tcp_of(flow).delayed_ack.every > 1 else 0.0
    return incomplete(size_of(flow), tcp_of(flow))


def request_bytes(flow: Flow) -> int:
    """Return the bytes of the request before the data; 0 for none."""
    return flow.application.request_bytes if flow.application.kind == "web" else 0


def think_time(flow: Flow) -> Distribution:
    """Return the law of a flow's think times; ValueError if it has none."""
    if flow.application.kind != "web":
        raise ValueError(f"flow {flow.name} has no think times")
    return flow.application.think_time


def arrival_rate(transfers: Transfers) -> float:
    """Return the rate at which transfers of all FTP flows start, per second."""
    connections = transfers.connections
    return connections.count * transfers.over_flows(lambda flow: 1.0 / interarrival(flow).mean())


def interarrival(flow: Flow) -> Distribution:
    """Return the law of the times between transfers; ValueError if transfers wait for others."""
    if flow.application.kind != "ftp":
        raise ValueError(f"flow {flow.name} starts no transfer while another is in progress")
    return flow.application.interarrival

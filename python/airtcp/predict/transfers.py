"""Transfers that end: their sizes, their segments, what goes before the data and after it.

Knows flows with a law of sizes, and what models of single transfers ask of them: where flows
differ, their mean over connections stands in. Asks no model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from airtcp.models.miorandi import CORRECTED, Variant
from airtcp.predict.facts import Connections, tcp_of, weighted

if TYPE_CHECKING:
    from airtcp.distributions import Distribution
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.tcp import Tcp
    from airtcp.scenario.keys.traffic import Flow, FtpMessages


class Transfers:
    """The flows of a scenario as one law of sizes, and what goes before and after the data.

    `sizes` has the law of each flow entry. Flows whose transfers do not end have no place here.
    """

    def __init__(self, scenario: ResolvedScenario) -> None:
        self.connections = Connections.of(scenario, scenario.flows)
        self.sizes = [size_of(flow) for flow in scenario.flows]
        self.mean_size_bytes = self.over_flows(lambda flow: size_of(flow).mean())
        self.segments = self.expected_segments(self.connections.parameters.tcp_payload_bits // 8)
        self.padded = all(tcp_of(flow).pad_last_segment for flow in scenario.flows)

    def over_flows(self, value: Callable[[Flow], float]) -> float:
        """The mean of `value` over connections."""
        flows = self.connections.scenario.flows
        return weighted([value(flow) for flow in flows], self.connections.counts)

    def mean(self) -> float:
        """E[X] in bytes; with `expected_segments` and `survival` this is a law of sizes."""
        return self.mean_size_bytes

    def expected_segments(self, mss_bytes: int) -> float:
        """E[ceil(X / mss)] where a mean segment is so long: those of the flows in proportion."""
        longer = 8 * mss_bytes / self.connections.parameters.tcp_payload_bits
        return self.over_flows(
            lambda flow: size_of(flow).expected_segments(round(longer * tcp_of(flow).mss_bytes))
        )

    def survival(self, x: float) -> float:
        """P(X > x), over all connections."""
        return self.over_flows(lambda flow: float(size_of(flow).survival(x)))

    @property
    def variant(self) -> Variant:
        """The corrected reading, with last packets as the scenario has them."""
        return replace(CORRECTED, last_packet="padded" if self.padded else "trimmed")

    def service_bits(self, alone_bps: float) -> float:
        """Say what a transfer takes of a processor that gives it `alone_bps` when it is alone.

        Whole segments, less the bits that a trimmed last one does not need: they save their time
        at the data rate.
        """
        parameters = self.connections.parameters
        bits = self.segments * parameters.tcp_payload_bits
        if not self.padded:
            bits -= (bits - 8.0 * self.mean_size_bytes) * alone_bps / parameters.data_rate_bps
        return bits

    def setup_s(self) -> float:
        """Time before the first segment of data: (13) with the packets that the scenario has."""
        return self.over_flows(self._setup_of)

    @cached_property
    def timer_s(self) -> float:
        """Mean time that the delayed-ACK timer adds to the last ACK, for want of d segments."""
        return self.over_flows(
            lambda flow: tcp_of(flow).delayed_ack.timeout_ns / 1e9 * _waits(flow)
        )

    @property
    def last_ack_s(self) -> float:
        """Say what the last TCP ACK adds to the time of the last byte."""
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
            # With a three-way handshake the request rides on its third packet.
            packets += 1
        dialogue = dialogue_of(flow)
        if dialogue is not None:
            packets += _DIALOGUE_PACKETS
            request += sum(dialogue.model_dump().values())
        one = parameters.t_tcp_ack_s + parameters.mean_first_backoff_s
        return packets * one + 8 * request / parameters.data_rate_bps


#: Packets of headers alone before data: (13) has the two of a two-way handshake.
_HANDSHAKE_PACKETS: Final = {"three-way": 3, "two-way": 2, "none": 0}
#: PASV, 227, RETR, 150 and 226, and the last FIN and its ACK; the first one rides on the file.
_DIALOGUE_PACKETS: Final = 7
#: Segments up to which the odds of an incomplete last group are added up; of the few longer
#: transfers, groups are incomplete as often as their lengths allow.
_LAST_SEGMENT: Final = 200_000


def incomplete(size: Distribution, tcp: Tcp) -> float:
    """P(less than d full segments are left for the last ACK): then it waits for the timer.

    An ACK is due for d segments' worth of bytes. So a last segment that is not full leaves its
    group incomplete, whatever their number, unless it is padded. Sizes are whole bytes.
    """
    d, mss = tcp.delayed_ack.every, float(tcp.mss_bytes)
    if d == 1:
        return 0.0
    last = mss if tcp.pad_last_segment else 1.0
    whole = np.arange(d, _LAST_SEGMENT, d, dtype=np.float64)
    complete = np.sum(size.survival(whole * mss - last) - size.survival(whole * mss))
    longer = float(size.survival(whole[-1] * mss))
    return max(0.0, 1.0 - float(complete) - longer * last / (d * mss))


def size_of(flow: Flow) -> Distribution:
    """The law of a flow's sizes; ValueError where its transfer does not end."""
    application = flow.application
    if application.kind == "udp" or application.kind == "replay" or application.size is None:
        raise ValueError(f"flow {flow.name} has no transfers that end")
    return application.size


def dialogue_of(flow: Flow) -> FtpMessages | None:
    """The messages of FTP around each transfer, None for none."""
    return flow.application.control if flow.application.kind == "ftp" else None


def _waits(flow: Flow) -> float:
    """P(the last ACK waits for the timer); that of a dialogue's last reply always does."""
    if dialogue_of(flow) is not None:
        return 1.0 if tcp_of(flow).delayed_ack.every > 1 else 0.0
    return incomplete(size_of(flow), tcp_of(flow))


def request_bytes(flow: Flow) -> int:
    """The request that goes before the data; 0 for none."""
    return flow.application.request_bytes if flow.application.kind == "web" else 0


def think_time(flow: Flow) -> Distribution:
    """The law of a flow's think times; ValueError where it has none."""
    if flow.application.kind != "web":
        raise ValueError(f"flow {flow.name} has no think times")
    return flow.application.think_time


def interarrival(flow: Flow) -> Distribution:
    """The law of the time from one transfer to the next; ValueError where a transfer waits."""
    if flow.application.kind != "ftp":
        raise ValueError(f"flow {flow.name} begins no transfer while another is under way")
    return flow.application.interarrival

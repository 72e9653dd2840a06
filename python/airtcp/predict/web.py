"""Web transfers: paper M (14) for one station, the queueing model (16), (17) for several."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from airtcp.models.miorandi import (
    CORRECTED,
    PAPER,
    Variant,
    active_distribution,
    capacity,
    mean_session_time,
    processor_sharing,
    session_delay,
    setup_time,
)
from airtcp.predict import assumptions
from airtcp.predict.answers import Answers, Origin
from airtcp.predict.facts import Connections, tcp_of, weighted

if TYPE_CHECKING:
    from airtcp.scenario import Distribution, Flow, ResolvedScenario, Tcp, Web

_SESSION: Final = "models.miorandi.session"


def predict(scenario: ResolvedScenario, answers: Answers) -> None:
    """Transfer times, transfers in progress and goodput of web flows."""
    traffic = _Traffic(scenario)
    if traffic.connections.count == 1:
        with answers.attempt("M (14)"):
            _one(traffic, answers)
    else:
        with answers.attempt("M (17), corrected"):
            _several_corrected(traffic, answers)
        with answers.attempt("M (17)"):
            _several_paper(traffic, answers)


class _Traffic:
    """The web flows of a scenario as one law of sizes and one mean think time."""

    def __init__(self, scenario: ResolvedScenario) -> None:
        self.connections = Connections.of(scenario, scenario.flows)
        counts = self.connections.counts
        self.apps: list[Web] = [
            flow.application for flow in scenario.flows if flow.application.kind == "web"
        ]
        self.mean_size_bytes = weighted([app.size.mean() for app in self.apps], counts)
        self.think_time_s = weighted([app.think_time.mean() for app in self.apps], counts)
        self.segments = weighted(
            [
                app.size.expected_segments(tcp_of(flow).mss_bytes)
                for app, flow in zip(self.apps, scenario.flows, strict=True)
            ],
            counts,
        )
        self.padded = all(tcp_of(flow).pad_last_segment for flow in scenario.flows)

    def mean(self) -> float:
        """E[X] in bytes; with `expected_segments` and `survival` this is a law of sizes."""
        return self.mean_size_bytes

    def expected_segments(self, mss_bytes: int) -> float:
        """E[ceil(X / mss)] at the segment sizes of the flows."""
        return self.segments

    def survival(self, x: float) -> float:
        """P(X > x), over all connections."""
        counts = self.connections.counts
        return weighted([float(app.size.survival(x)) for app in self.apps], counts)

    @property
    def variant(self) -> Variant:
        """The corrected reading, with last packets as the scenario has them."""
        return replace(CORRECTED, last_packet="padded" if self.padded else "trimmed")

    def setup_s(self) -> float:
        """Time before the first segment of data: (13) with the packets that the scenario has."""
        flows, counts = self.connections.scenario.flows, self.connections.counts
        return weighted([self._setup_of(flow) for flow in flows], counts)

    def timer_s(self) -> float:
        """Mean time that the delayed-ACK timer adds to the last ACK, for want of d segments."""
        flows, counts = self.connections.scenario.flows, self.connections.counts
        waits = [
            tcp_of(flow).delayed_ack.timeout_ns / 1e9 * _incomplete(app.size, tcp_of(flow))
            for flow, app in zip(flows, self.apps, strict=True)
        ]
        return weighted(waits, counts)

    def broken_in_network(self) -> list[str]:
        """What the flows break of paper M's assumptions, in every reading."""
        scv = max(app.size.scv() for app in self.apps)
        sentences = [
            *assumptions.network(self.connections),
            *assumptions.web_window(self.connections, scv),
        ]
        if len({(app.size, app.think_time) for app in self.apps}) > 1:
            sentences.append(
                "one law of sizes and one mean think time; here groups differ, and their means "
                f"stand in; {assumptions.UNKNOWN}"
            )
        return sentences

    def _setup_of(self, flow: Flow) -> float:
        parameters = self.connections.parameters
        packets = _HANDSHAKE_PACKETS[tcp_of(flow).handshake]
        request = 0
        if flow.application.kind == "web":
            request = flow.application.request_bytes
        if request and tcp_of(flow).handshake != "three-way":
            # With a three-way handshake the request rides on its third packet.
            packets += 1
        one = parameters.t_tcp_ack_s + parameters.mean_first_backoff_s
        return packets * one + 8 * request / parameters.data_rate_bps


#: Packets of headers alone before data: (13) has the two of a two-way handshake.
_HANDSHAKE_PACKETS: Final = {"three-way": 3, "two-way": 2, "none": 0}
#: Segments up to which the odds of an incomplete last group are added up; of the few longer
#: transfers, groups are incomplete as often as not.
_LAST_SEGMENT: Final = 200_000


def _incomplete(size: Distribution, tcp: Tcp) -> float:
    """P(the number of segments is no multiple of d): then the last ACK waits for the timer."""
    d, mss = tcp.delayed_ack.every, float(tcp.mss_bytes)
    if d == 1:
        return 0.0
    whole = np.arange(d, _LAST_SEGMENT, d, dtype=np.float64)
    complete = np.sum(size.survival((whole - 1.0) * mss) - size.survival(whole * mss))
    longer = float(size.survival(whole[-1] * mss))
    return max(0.0, 1.0 - float(complete) - longer / d)


def _one(traffic: _Traffic, answers: Answers) -> None:
    """One station alternates between a transfer and a think time: T of every T + think seconds."""
    parameters = traffic.connections.parameters
    last_ack = parameters.t_tcp_ack_s + parameters.mean_first_backoff_s
    paper = mean_session_time(traffic, parameters, PAPER)
    corrected = mean_session_time(traffic, parameters, traffic.variant)
    corrected += traffic.setup_s() - setup_time(parameters, traffic.variant)
    for session, variant, label in ((corrected, CORRECTED, ", corrected"), (paper, PAPER, "")):
        cycle = session + traffic.think_time_s
        values: dict[str, float | list[float]] = {
            "transfer_time_to_last_ack_s": session,
            "active_flows": session / cycle,
            "goodput_bps": 8.0 * traffic.mean_size_bytes / cycle,
            "flow_goodput_bps": 8.0 * traffic.mean_size_bytes / cycle,
            "active_flows_distribution": [traffic.think_time_s / cycle, session / cycle],
        }
        if variant is CORRECTED:
            values["transfer_time_to_last_ack_s"] = session + traffic.timer_s()
            values["transfer_time_s"] = session - last_ack
        answers.add(_origin(traffic, f"M (14){label}"), values)


def _several_corrected(traffic: _Traffic, answers: Answers) -> None:
    """(16), (17) in units of whole segments, with the corrected capacities and delayed ACK.

    The service of a transfer is that of its segments, less the bits that a trimmed last one does
    not need; the set-up is part of the time in which a station is not in (16), like its think time.
    The timer of a last ACK keeps nobody waiting but that ACK.
    """
    connections, parameters = traffic.connections, traffic.connections.parameters
    capacities = capacity(connections.count, parameters, traffic.variant, d=connections.every)
    service_bits = traffic.segments * parameters.tcp_payload_bits
    if not traffic.padded:
        unneeded = service_bits - 8.0 * traffic.mean_size_bytes
        service_bits -= unneeded * float(capacities[0]) / parameters.data_rate_bps
    setup, away = traffic.setup_s(), traffic.think_time_s + traffic.setup_s()
    said = processor_sharing(connections.count, capacities, away, service_bits / 8.0, setup_s=setup)
    session, rate = float(said.session_s), float(said.arrival_rate_per_s)
    pi = active_distribution(capacities, away, service_bits / 8.0)
    last_ack = parameters.t_tcp_ack_s + parameters.mean_first_backoff_s
    answers.add(
        _origin(traffic, "M (17), corrected"),
        {
            "transfer_time_s": session - last_ack,
            "transfer_time_to_last_ack_s": session + traffic.timer_s(),
            "active_flows": float(said.mean_active) + rate * setup,
            "goodput_bps": 8.0 * rate * traffic.mean_size_bytes,
            "flow_goodput_bps": 8.0 * rate * traffic.mean_size_bytes / connections.count,
        },
    )
    answers.add(
        _origin(traffic, "M (16), corrected"),
        {"active_flows_distribution": [float(share) for share in pi]},
    )


def _several_paper(traffic: _Traffic, answers: Answers) -> None:
    connections, parameters = traffic.connections, traffic.connections.parameters
    said = session_delay(
        connections.count,
        parameters,
        PAPER,
        think_time_s=traffic.think_time_s,
        mean_size_bytes=traffic.mean_size_bytes,
    )
    capacities = capacity(connections.count, parameters, PAPER)
    pi = active_distribution(capacities, traffic.think_time_s, traffic.mean_size_bytes)
    answers.add(
        _origin(traffic, "M (17)"),
        {
            "transfer_time_to_last_ack_s": float(said.session_s),
            "active_flows": float(said.mean_active),
            "goodput_bps": float(said.goodput_bps),
            "flow_goodput_bps": float(said.goodput_bps) / connections.count,
        },
    )
    answers.add(
        _origin(traffic, "M (16)"),
        {"active_flows_distribution": [float(share) for share in pi]},
    )


def _origin(traffic: _Traffic, source: str) -> Origin:
    """What the corrected readings take in (delayed ACK, handshake, request) the paper's lack."""
    broken = traffic.broken_in_network()
    if not source.endswith("corrected"):
        broken += assumptions.web_transfers(traffic.connections)
    broken += assumptions.web_first_ack(traffic.connections)
    return Origin(_SESSION, source, assumptions.WEB, broken)

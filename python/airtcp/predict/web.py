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
from airtcp.predict.facts import Connections, tcp_of, weighted
from airtcp.units import format_size

if TYPE_CHECKING:
    from airtcp.predict.answers import Answers
    from airtcp.scenario import ResolvedScenario, Web

_SESSION: Final = "models.miorandi.session"


def predict(scenario: ResolvedScenario, answers: Answers) -> None:
    """Transfer times, transfers in progress and goodput of web flows."""
    traffic = _Traffic(scenario)
    if traffic.connections.count == 1:
        with answers.attempt("M (14)"):
            _one(traffic, answers)
    else:
        with answers.attempt("M (16), (17), corrected"):
            _several_corrected(traffic, answers)
        with answers.attempt("M (16), (17)"):
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
        self.handshakes = {tcp_of(flow).handshake for flow in scenario.flows}

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
        """(13) corrected, and none of it without a handshake."""
        if self.handshakes == {"none"}:
            return 0.0
        return setup_time(self.connections.parameters, self.variant)

    def broken(self) -> list[str]:
        """What of paper M's assumptions these flows break."""
        scv = max(app.size.scv() for app in self.apps)
        sentences = [
            *assumptions.network(self.connections),
            *assumptions.web_window(self.connections, scv),
            *assumptions.web_acks(self.connections),
        ]
        if len({(app.size, app.think_time) for app in self.apps}) > 1:
            sentences.append(
                "one law of sizes and one mean think time; here groups differ, and their means "
                f"stand in; {assumptions.UNKNOWN}"
            )
        request = max(app.request_bytes for app in self.apps)
        if request:
            sentences.append(
                f"nothing is requested; here a request of {format_size(request)} comes first: one "
                "more packet and its wait; times are too low, a little"
            )
        return sentences


def _one(traffic: _Traffic, answers: Answers) -> None:
    """One station alternates between a transfer and a think time: T of every T + think seconds."""
    for variant, label in ((traffic.variant, ", corrected"), (PAPER, "")):
        parameters = traffic.connections.parameters
        session = mean_session_time(traffic, parameters, variant)
        if variant is not PAPER:
            session += traffic.setup_s() - setup_time(parameters, variant)
        cycle = session + traffic.think_time_s
        busy = session / cycle
        _answer(
            answers,
            traffic,
            f"M (14){label}",
            session_s=session,
            active=busy,
            goodput=8.0 * traffic.mean_size_bytes / cycle,
            distribution=[1.0 - busy, busy],
        )


def _several_corrected(traffic: _Traffic, answers: Answers) -> None:
    """(16), (17) in units of whole segments, with the corrected capacities and delayed ACK.

    The service of a transfer is that of its segments, less the bits that a trimmed last one does
    not need; the set-up is part of the time in which a station is not in (16), like its think time.
    """
    connections, parameters = traffic.connections, traffic.connections.parameters
    capacities = capacity(connections.count, parameters, traffic.variant, d=connections.every)
    service_bits = traffic.segments * parameters.tcp_payload_bits
    if not traffic.padded:
        unneeded = service_bits - 8.0 * traffic.mean_size_bytes
        service_bits -= unneeded * float(capacities[0]) / parameters.data_rate_bps
    setup, away = traffic.setup_s(), traffic.think_time_s + traffic.setup_s()
    said = processor_sharing(connections.count, capacities, away, service_bits / 8.0, setup_s=setup)
    rate = float(said.arrival_rate_per_s)
    pi = active_distribution(capacities, away, service_bits / 8.0)
    _answer(
        answers,
        traffic,
        "M (16), (17), corrected",
        session_s=float(said.session_s),
        active=float(said.mean_active) + rate * setup,
        goodput=8.0 * rate * traffic.mean_size_bytes,
        distribution=[float(share) for share in pi],
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
    pi = active_distribution(
        capacity(connections.count, parameters, PAPER),
        traffic.think_time_s,
        traffic.mean_size_bytes,
    )
    _answer(
        answers,
        traffic,
        "M (16), (17)",
        session_s=float(said.session_s),
        active=float(said.mean_active),
        goodput=float(said.goodput_bps),
        distribution=[float(share) for share in np.asarray(pi)],
    )


def _answer(
    answers: Answers,
    traffic: _Traffic,
    source: str,
    *,
    session_s: float,
    active: float,
    goodput: float,
    distribution: list[float],
) -> None:
    values: dict[str, float | list[float]] = {
        "transfer_time_to_last_ack_s": session_s,
        "active_flows": active,
        "goodput_bps": goodput,
        "flow_goodput_bps": goodput / traffic.connections.count,
        "active_flows_distribution": distribution,
    }
    broken = traffic.broken()
    for metric, value in values.items():
        answers.add(
            metric, value, by=_SESSION, source=source, assumes=assumptions.WEB, broken=broken
        )

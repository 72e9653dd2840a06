"""Predict web transfers: paper M (14) for one station, the queue (16), (17) for several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from airtcp.predict.answers import Answers
from airtcp.predict.card import Origin
from airtcp.predict.facts import size_of

from airtcp_papers.miorandi.model import (
    CORRECTED,
    PAPER,
    active_distribution,
    capacity,
    mean_session_time,
    processor_sharing,
    session_delay,
    setup_time,
)
from airtcp_papers.miorandi.predict import CARDS, assumed_windows, assumptions, sentence
from airtcp_papers.miorandi.predict.jobs import of_sources
from airtcp_papers.miorandi.predict.transfers import Transfers, think_time

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario

_CARD: Final = CARDS["web"]


def predict(scenario: ResolvedScenario, answers: Answers) -> None:
    """Predict transfer times, transfers in progress and goodput of web flows."""
    traffic = _Traffic(scenario)
    if traffic.connections.count == 1:
        with answers.attempt("M (14)"):
            _one(traffic, answers)
    else:
        with answers.attempt("M (17), corrected"):
            _several_corrected(traffic, answers)
        with answers.attempt("M (17)"):
            _several_paper(traffic, answers)


class _Traffic(Transfers):
    """The web flows of a scenario as one law of sizes and one mean think time."""

    def __init__(self, scenario: ResolvedScenario) -> None:
        super().__init__(scenario)
        self.think_time_s = self.over_flows(lambda flow: think_time(flow).mean())

    def broken_in_network(self) -> list[str]:
        """Report which assumptions of paper M the flows break, in every reading."""
        sentences = [
            *assumptions.network(self.connections),
            *assumed_windows.web_window(self.connections, self.scv),
            *assumed_windows.window_opens(self.connections),
        ]
        if len({(size_of(flow), think_time(flow)) for flow in self.connections.flows}) > 1:
            sentences.append(sentence("groups_differ"))
        return sentences


def _one(traffic: _Traffic, answers: Answers) -> None:
    """Predict one station that alternates between transfers (T) and think times.

    The paper's T ends with the last ACK; a measured transfer ends with the last byte.
    """
    parameters = traffic.connections.parameters
    last_ack = traffic.last_ack_s
    paper = mean_session_time(traffic, parameters, PAPER)
    corrected = mean_session_time(
        traffic, parameters, traffic.variant, d=round(traffic.connections.every)
    )
    corrected += traffic.setup_s() - setup_time(parameters, traffic.variant)
    for session, variant, label in ((corrected, CORRECTED, ", corrected"), (paper, PAPER, "")):
        cycle = session + traffic.think_time_s
        share = (session - last_ack if variant is CORRECTED else session) / cycle
        values: dict[str, float | list[float]] = {
            "transfer_time_to_last_ack_s": session,
            "active_flows": share,
            "goodput_bps": 8.0 * traffic.mean_size_bytes / cycle,
            "flow_goodput_bps": 8.0 * traffic.mean_size_bytes / cycle,
            "active_flows_distribution": [1.0 - share, share],
        }
        if variant is CORRECTED:
            values["transfer_time_to_last_ack_s"] = session + traffic.timer_s
            values["transfer_time_s"] = session - last_ack
        answers.add(_origin(traffic, f"M (14){label}"), values)


def _several_corrected(traffic: _Traffic, answers: Answers) -> None:
    """Predict by (16), (17) in whole segments, with corrected capacities and delayed ACKs.

    The service of a transfer is its segments, minus the bits that a trimmed last one does not need.
    Like a think time, the setup is part of the time in which a station is not in (16). The timer of
    the last ACK delays only that ACK. The number in progress follows from the time to the last byte
    by Little's law.
    """
    count, jobs = traffic.connections.count, of_sources(traffic)
    setup, away = jobs.setup_s, traffic.think_time_s + jobs.setup_s
    size_bytes = jobs.service_bits / 8.0
    said = processor_sharing(count, jobs.capacities_bps, away, size_bytes, setup_s=setup)
    session, rate = float(said.session_s), float(said.arrival_rate_per_s)
    pi = active_distribution(jobs.capacities_bps, away, size_bytes)
    answers.add(
        _origin(traffic, "M (17), corrected"),
        {
            "transfer_time_s": session - traffic.last_ack_s,
            "transfer_time_to_last_ack_s": session + traffic.timer_s,
            "active_flows": rate * (session - traffic.last_ack_s),
            "goodput_bps": 8.0 * rate * traffic.mean_size_bytes,
            "flow_goodput_bps": 8.0 * rate * traffic.mean_size_bytes / count,
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
    """Return the origin: the corrected readings, or what the others leave out."""
    broken = traffic.broken_in_network()
    if not source.endswith("corrected"):
        broken += assumed_windows.web_transfers(traffic.connections)
    broken += assumed_windows.web_first_ack(traffic.connections)
    return _CARD.origin(source, broken)

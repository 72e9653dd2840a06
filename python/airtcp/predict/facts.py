"""Derive the inputs of models of TCP from a flow: its rates, window, sizes and losses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from airtcp.models.airtime import Rate
from airtcp.phrases import phrase

if TYPE_CHECKING:
    from airtcp.distributions import Distribution
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.stations import StationGroup
    from airtcp.scenario.keys.tcp import Tcp
    from airtcp.scenario.keys.traffic import Flow


def endless_flows(scenario: ResolvedScenario) -> list[Flow]:
    """Return the flows that never end."""
    return [
        flow
        for flow in scenario.flows
        if flow.application.kind == "bulk" and flow.application.size is None
    ]


def tcp_of(flow: Flow) -> Tcp:
    """Return the TCP of a flow; ValueError if it has none."""
    if flow.tcp is None:
        raise ValueError(phrase("predict.facts.no_tcp", name=flow.name))
    return flow.tcp


def size_of(flow: Flow) -> Distribution:
    """Return the law of a flow's sizes; ValueError if its transfer does not end."""
    application = flow.application
    if application.kind == "udp" or application.kind == "replay" or application.size is None:
        raise ValueError(phrase("predict.facts.no_end", name=flow.name))
    return application.size


def window_segments(flow: Flow) -> int:
    """Return W*, the full segments that fit into the receive window."""
    return tcp_of(flow).window_segments


def rate_of(group: StationGroup) -> tuple[Rate, Rate]:
    """Return data rate and control rate of a group; ValueError for 802.11n and later."""
    return legacy(group.data_rate), legacy(group.control_rate)


def legacy(rate: Rate) -> Rate:
    """Return a rate older than 802.11n; ValueError for any other."""
    if rate.high is not None:
        raise ValueError(phrase("predict.facts.no_rate", upper=rate.modulation.upper()))
    return rate


def lossy(scenario: ResolvedScenario, assumption: str) -> Iterator[str]:
    """Report that losses on wired links break `assumption` of a model."""
    losses = [
        link.loss
        for flow in scenario.flows
        for link in scenario.path_links(flow)
        if link.loss is not None
    ]
    if losses:
        lost = max(1.0 / loss.every if loss.every else (loss.rate or 0.0) for loss in losses)
        yield phrase("predict.facts.lossy", assumption=assumption, lost=100 * lost)


def weighted(values: Sequence[float], counts: Sequence[int]) -> float:
    """Return the mean of values weighted by their numbers of connections."""
    return sum(n * value for n, value in zip(counts, values, strict=True)) / sum(counts)

"""Predict endless TCP transfers through a shared wired link slower than Wi-Fi: paper L, 5.1.

The Wi-Fi capacity comes from `uploads` if TCP ACKs have priority, otherwise from paper M.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from airtcp.exceptions import ModelError
from airtcp.predict.access import as_dcf
from airtcp.predict.answers import Answers
from airtcp.predict.assumptions import skipped_acks
from airtcp.predict.facts import endless_flows, lossy, tcp_of, window_segments
from airtcp.units import format_rate

from airtcp_papers.leith.aimd import uploads as through_both_hops
from airtcp_papers.leith.aimd import wired_shares
from airtcp_papers.leith.predict import CARDS, sentence
from airtcp_papers.leith.predict import uploads as prioritised_uploads
from airtcp_papers.miorandi.model import CORRECTED, throughput
from airtcp_papers.miorandi.predict.connections import Connections

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.traffic import Flow, Link

_SOURCE: Final = "L, section 5.1"
_CARD: Final = CARDS["bottleneck"]


@dataclass(frozen=True, slots=True)
class _Shared:
    """The link that all flows share, and the flows."""

    scenario: ResolvedScenario
    link: Link
    flows: tuple[Flow, ...]

    @property
    def counts(self) -> list[int]:
        return [self.scenario.group(flow.stations).count for flow in self.flows]

    def packet_bits(self, flow: Flow) -> int:
        return 8 * tcp_of(flow).mss_bytes + tcp_of(flow).header_bits

    @property
    def payload_share(self) -> float:
        """The ratio of payload to packet size, averaged over packets."""
        counts = self.counts
        payload = sum(n * 8 * tcp_of(f).mss_bytes for n, f in zip(counts, self.flows, strict=True))
        packets = sum(n * self.packet_bits(f) for n, f in zip(counts, self.flows, strict=True))
        return payload / packets

    def round_trip_s(self, flow: Flow, queue: int) -> float:
        """Return the round trip in both directions, behind `queue` packets of this flow's size."""
        delay = sum(link.delay_ns for link in self.scenario.path_links(flow))
        rate = self.link.rate_bps
        assert rate is not None
        return 2.0 * delay / 1e9 + (queue + 1) * self.packet_bits(flow) / rate


def predict(scenario: ResolvedScenario, answers: Answers) -> str | None:
    """Predict goodput and shares if the link is the bottleneck, or return why not, or None."""
    shared = _shared_link(scenario)
    if shared is None or shared.link.rate_bps is None:
        return None
    rate = shared.link.rate_bps
    name = f"the wired link of {format_rate(rate)}"
    try:
        air_bps = _air_bps(scenario)
    except (ModelError, ValueError) as error:
        return sentence("unknown_air", error=error)
    wired_bps = rate * shared.payload_share
    if wired_bps >= air_bps:
        return sentence("fast_link", name=name, air_bps=format_rate(round(air_bps, -4)))
    queue = shared.link.queue.limit
    under_way = sum(
        n * window_segments(flow) for n, flow in zip(shared.counts, shared.flows, strict=True)
    )
    if queue is None:
        return sentence("no_limit", name=name)
    fit = min(
        shared.round_trip_s(flow, queue) * rate / shared.packet_bits(flow) for flow in shared.flows
    )
    if under_way < fit:
        return sentence("windows_fit", under_way=under_way, name=name, fit=fit)
    with answers.attempt(_SOURCE):
        _shares(shared, queue, wired_bps, air_bps, answers)
    return None


def _shares(
    shared: _Shared, queue: int, wired_bps: float, air_bps: float, answers: Answers
) -> None:
    counts = shared.counts
    increase = [tcp_of(f).aimd.increase / tcp_of(f).delayed_ack.every for f in shared.flows]
    beta = [tcp_of(flow).aimd.decrease for flow in shared.flows]
    rtt = [shared.round_trip_s(flow, queue) for flow in shared.flows]
    forms = [("peak", "")]
    if len(set(beta)) > 1:
        # With equal beta both forms coincide.
        forms.insert(0, ("mean", ", mean windows"))
    for window, label in forms:
        said = wired_shares(
            np.repeat(increase, counts),
            np.repeat(beta, counts),
            np.repeat(rtt, counts),
            window="mean" if window == "mean" else "peak",
        )
        both = through_both_hops(wired_bps, air_bps, said.flow_share)
        answers.add(
            _CARD.origin(f"{_SOURCE}{label}", _broken(shared, queue)),
            {
                "goodput_bps": float(both.goodput_bps),
                "flow_goodput_bps": float(both.goodput_bps) / sum(counts),
                "jain_index": float(both.jain_index),
            },
        )


def _air_bps(scenario: ResolvedScenario) -> float:
    """Return the Wi-Fi capacity with backlogged flows, in bit/s of payload.

    Raises ModelError if no model applies.
    """
    uploads = prioritised_uploads.prioritised(scenario)
    if isinstance(uploads, prioritised_uploads.Uploads):
        return float(uploads.throughput().goodput_bps)
    access = as_dcf(scenario)
    if access.scenario is None:
        raise ModelError(access.reason)
    connections = Connections.of(access.scenario, endless_flows(access.scenario))
    said = throughput(connections.count, connections.parameters, CORRECTED, d=connections.every)
    return float(said.goodput_bps)


def _shared_link(scenario: ResolvedScenario) -> _Shared | None:
    """Return the slowest link common to all flows, if all are endless and in one direction."""
    flows = endless_flows(scenario)
    if len(flows) < len(scenario.flows) or len({flow.direction for flow in flows}) > 1:
        return None
    named = set.intersection(
        *({link for link in flow.path if isinstance(link, str)} for flow in flows)
    )
    (direction,) = {flow.direction for flow in flows}
    rates = {name: scenario.links[name].rate_of(direction) for name in named}
    finite = {name: rate for name, rate in rates.items() if rate is not None}
    if not finite:
        return None
    slowest = min(sorted(finite), key=finite.__getitem__)
    link = scenario.links[slowest].model_copy(update={"rate_bps": finite[slowest]})
    return _Shared(scenario, link, tuple(flows))


def _broken(shared: _Shared, queue: int) -> Iterator[str]:
    rate = shared.link.rate_bps
    assert rate is not None
    yield sentence("uneven_losses")
    others = [
        link.rate_of(flow.direction)
        for flow in shared.flows
        for link in shared.scenario.path_links(flow)
    ]
    slower = [other for other in others if other is not None and other < rate]
    if slower:
        yield sentence("slower_link", slower=format_rate(min(slower)))
    if shared.link.queue.discipline != "fifo":
        yield sentence("other_discipline", discipline=shared.link.queue.discipline)
    yield from lossy(shared.scenario, "none loses elsewhere")
    left = min(tcp_of(flow).aimd.decrease for flow in shared.flows)
    for flow in shared.flows:
        delay = shared.round_trip_s(flow, 0) * rate / shared.packet_bits(flow)
        # A loss in all flows leaves this fraction of path plus queue. The path must stay full.
        if left * (delay + queue) < delay:
            yield sentence("runs_empty", queue=queue, delay=delay)
            break
    short = [flow for flow in shared.flows if window_segments(flow) < 2 + queue / len(shared.flows)]
    if short:
        yield sentence("short_window", name=short[0].name, window=window_segments(short[0]))
    yield from skipped_acks(shared.flows)

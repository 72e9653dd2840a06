"""Limit all predictions: a window per round trip of the path, and the rates of wired links.

`apply` takes the smaller of each prediction and these bounds, and names the bound in the source and
the assumptions. It is independent of the models.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from airtcp.phrases import phrase
from airtcp.predict.answers import Answers
from airtcp.predict.facts import size_of, tcp_of, window_segments
from airtcp.predict.wording import OfDelay
from airtcp.standards import UDP_IP_HEADER_BYTES
from airtcp.units import format_rate

if TYPE_CHECKING:
    from airtcp.results import Predicted
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.traffic import Flow, Link

#: A bound that differs only by rounding is not named as a source.
_ROUNDING: Final = 1e-9
#: The effects on metrics of nodes that have a frame to send less often than in a model.
_OF_BUSY_NODES: Final = {
    "collision_probability": "unknown",
    "drop_probability_mac": "unknown",
    "mean_backlogged_nodes": "value_too_high",
    "mpdus_per_": "value_too_high",
}
_LOW: Final = re.compile(r"goodput (is )?(a little )?too low")
_TIMES: Final = ("transfer_time_s", "transfer_time_to_last_ack_s")


@dataclass(frozen=True, slots=True)
class Most:
    """An upper bound for the payload of all flows together, in bit/s, and its cause.

    `source` is appended to the model's source, `why` to its assumptions; `by_window` is true if no
    link limits.
    """

    bps: float
    source: str
    why: str
    by_window: bool


def apply(scenario: ResolvedScenario, answers: Answers) -> None:
    """Limit predicted goodput and times to what the paths allow."""
    most = most_goodput(scenario)
    flows = sum(scenario.group(flow.stations).count for flow in scenario.flows)
    if most is not None and answers.model.get("goodput_bps"):
        best = answers.model["goodput_bps"][0].value
        bound = isinstance(best, float) and best > most.bps * (1.0 + _ROUNDING)
        for metric, share in (("goodput_bps", 1), ("flow_goodput_bps", flows)):
            entries = answers.model.get(metric, [])
            entries[:] = [_at_most(entry, most, share) for entry in entries]
        if bound and all(flow.tcp is not None for flow in scenario.flows):
            _busy_nodes(scenario, answers, most)
    least_s = least_time_s(scenario)
    for metric in _TIMES:
        entries = answers.model.get(metric, [])
        entries[:] = [_at_least(entry, least_s) for entry in entries]


def most_goodput(scenario: ResolvedScenario) -> Most | None:
    """Return the lowest bound on the goodput of all flows, or None if nothing limits it.

    Each flow gets at most a window per round trip, and the rate of its own links; flows that name
    the same link share its rate in each direction. A flow that names several links counts at the
    slowest of them.
    """
    windows = [_window_bps(scenario, flow) for flow in scenario.flows]
    counts = [scenario.group(flow.stations).count for flow in scenario.flows]
    own = [_own_links_bps(flow) for flow in scenario.flows]
    each = [min(pair) for pair in zip(windows, own, strict=True)]
    shared: dict[tuple[str, str] | int, list[int]] = {}
    for i, flow in enumerate(scenario.flows):
        names = (name for name in flow.path if isinstance(name, str))
        named = {name: scenario.links[name].rate_of(flow.direction) for name in names}
        finite = {name: rate for name, rate in named.items() if rate is not None}
        slowest = min(sorted(finite), key=finite.__getitem__, default=None)
        shared.setdefault((slowest, flow.direction) if slowest else i, []).append(i)
    total, links = 0.0, []
    for place, members in shared.items():
        bound = sum(counts[i] * each[i] for i in members)
        if isinstance(place, tuple):
            rate = scenario.links[place[0]].rate_of(place[1])
            assert rate is not None
            # Of the flows that share it, those with the largest packets carry the most payload.
            carries = rate * max(_payload_share(scenario.flows[i]) for i in members)
            if carries < bound:
                bound, here = carries, rate
                links.append(here)
        links += [
            rate
            for i in members
            if own[i] < windows[i] and bound == sum(counts[j] * each[j] for j in members)
            for rate in _own_rates(scenario.flows[i])
        ]
        total += bound
    if total == float("inf"):
        return None
    if links:
        what = phrase("predict.limits.link", links=min(links))
        return Most(total, phrase("predict.limits.by_link"), f"{what}: {_shown(total)}", False)
    trips = [
        2 * sum(link.delay_ns for link in scenario.path_links(flow)) for flow in scenario.flows
    ]
    what = phrase("predict.limits.window", trips=max(trips))
    return Most(total, phrase("predict.limits.by_window"), f"{what}: {_shown(total)}", True)


def least_time_s(scenario: ResolvedScenario) -> float:
    """Return a lower bound for the mean transfer time: link rates, and windows per round trip."""
    return min((_least_time_s(scenario, flow) for flow in scenario.flows), default=0.0)


def _least_time_s(scenario: ResolvedScenario, flow: Flow) -> float:
    app = flow.application
    if flow.tcp is None or app.kind not in ("bulk", "web", "ftp") or app.size is None:
        return 0.0
    mean_bits = 8.0 * size_of(flow).mean()
    rates = _rates(flow, scenario.path_links(flow))
    through = mean_bits / (min(rates) * _payload_share(flow)) if rates else 0.0
    window_bits = 8.0 * window_segments(flow) * tcp_of(flow).mss_bytes
    # The last window arrives before its round trip is over.
    rounds = max(0.0, mean_bits / window_bits - 1.0)
    return max(through, rounds * _round_trip_s(scenario.path_links(flow), flow))


def _window_bps(scenario: ResolvedScenario, flow: Flow) -> float:
    """Return a window per round trip of the path; infinite without a window or a path."""
    if flow.tcp is None or flow.application.kind not in ("bulk", "web"):
        # FTP transfers do not wait for each other, and each has its own window.
        return float("inf")
    trip = _round_trip_s(scenario.path_links(flow), flow)
    bits = 8.0 * window_segments(flow) * tcp_of(flow).mss_bytes
    return bits / trip if trip > 0.0 else float("inf")


def _round_trip_s(links: tuple[Link, ...], flow: Flow) -> float:
    """Return the delays of the links plus transmission times of a segment and its ACK."""
    tcp = tcp_of(flow)
    bits = 8 * tcp.mss_bytes + 2 * tcp.header_bits
    return sum(
        2.0 * link.delay_ns / 1e9 + (bits / rate if (rate := link.rate_of(flow.direction)) else 0.0)
        for link in links
    )


def _own_rates(flow: Flow) -> list[int]:
    return _rates(flow, [link for link in flow.path if not isinstance(link, str)])


def _rates(flow: Flow, links: Sequence[Link]) -> list[int]:
    """Return the rates of the links that have one, in the direction of a flow's data."""
    each = (link.rate_of(flow.direction) for link in links)
    return [rate for rate in each if rate is not None]


def _own_links_bps(flow: Flow) -> float:
    """Return the capacity of the links that a flow does not share."""
    rates = _own_rates(flow)
    return min(rates) * _payload_share(flow) if rates else float("inf")


def _payload_share(flow: Flow) -> float:
    """Return the ratio of payload to IP packet size."""
    if flow.tcp is not None:
        payload = 8.0 * flow.tcp.mss_bytes
        return payload / (payload + flow.tcp.header_bits)
    size = flow.application.packet_bytes if flow.application.kind == "udp" else 0
    return max(0, size - UDP_IP_HEADER_BYTES) / size if size else 1.0


def _shown(bps: float) -> str:
    return f"{format_rate(round(bps, -4) or round(bps))} of payload"


def _at_most(entry: Predicted, most: Most, flows: int) -> Predicted:
    if isinstance(entry.value, list) or entry.value * flows <= most.bps * (1.0 + _ROUNDING):
        return entry
    # Assumptions that make the model's value too low do not affect the bound, so drop them.
    left = [
        text
        for text in entry.broken
        if not (most.by_window and isinstance(text, OfDelay)) and not _LOW.search(text)
    ]
    return replace(
        entry,
        value=most.bps / flows,
        source=f"{entry.source}, {most.source}",
        assumes=[*entry.assumes, most.why],
        broken=left,
    )


def _at_least(entry: Predicted, least_s: float) -> Predicted:
    if isinstance(entry.value, list) or entry.value >= least_s * (1.0 - _ROUNDING):
        return entry
    why = phrase("predict.limits.transfer", least=least_s)
    return replace(
        entry,
        value=least_s,
        source=phrase("predict.limits.by_path", source=entry.source),
        assumes=[*entry.assumes, why],
    )


def _busy_nodes(scenario: ResolvedScenario, answers: Answers, most: Most) -> None:
    """Report that nodes have less to send than in the models."""
    for metric, entries in answers.model.items():
        for text in _of_metric(scenario, metric, most):
            for entry in entries:
                entry.broken.append(text)


def _of_metric(scenario: ResolvedScenario, metric: str, most: Most) -> Iterator[str]:
    what = "a wired link" if not most.by_window else phrase("predict.limits.window_a_round_trip")
    for begins, effect in _OF_BUSY_NODES.items():
        if metric.startswith(begins):
            yield phrase(
                "predict.limits.bottleneck", what=what, effect=phrase(f"predict.effects.{effect}")
            )
    if metric == "jain_index" and len(scenario.flows) > 1:
        yield phrase("predict.limits.divided", what=what)

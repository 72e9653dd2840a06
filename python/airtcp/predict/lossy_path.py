"""Predict endless TCP transfers over lossy wired links: the window that losses allow.

It uses the mean window of CUBIC (RFC 9438) or of AIMD (Mathis et al.) at a loss probability. Other
models predict the Wi-Fi capacity; a transfer gets the smaller of both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from airtcp.choices import CONGESTION
from airtcp.models.cubic import average_window, square_root_window
from airtcp.phrases import phrase
from airtcp.predict.answers import Answers
from airtcp.predict.card import card
from airtcp.predict.facts import endless_flows, tcp_of

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.traffic import Flow, Link

#: Windows limited by losses on wired links: Wi-Fi effects do not break them.
BY: Final = "models.cubic"
_CARD: Final = card(__file__)
CARDS: Final = (_CARD,)


def predict(scenario: ResolvedScenario, answers: Answers) -> str | None:
    """Predict goodput at the mean window that the path's losses allow, if there are losses."""
    flows = endless_flows(scenario)
    paths = [scenario.path_links(flow) for flow in flows]
    if len(flows) < len(scenario.flows) or not any(_loss(links) for links in paths):
        return None
    if not all(_loss(links) and _round_trip_s(links) for links in paths):
        return phrase("predict.lossy_path.needs")
    known = {word: one.name for word, one in CONGESTION.items() if one.loss_window is not None}
    others = {tcp_of(flow).congestion for flow in flows} - set(known)
    if others:
        return phrase("predict.lossy_path.congestion", values=known.values(), others=sorted(others))
    source = "RFC 9438, 5.1" if _cubic(flows) else "Mathis et al. (1997)"
    with answers.attempt(source):
        counts = [scenario.group(flow.stations).count for flow in flows]
        rates = [_rate_bps(flow, links) for flow, links in zip(flows, paths, strict=True)]
        total = sum(n * rate for n, rate in zip(counts, rates, strict=True))
        air = answers.model.get("goodput_bps", [])
        less = not air or (isinstance(air[0].value, float) and total < air[0].value)
        answers.add(
            _CARD.origin(source, _broken(scenario)),
            {"goodput_bps": total, "flow_goodput_bps": total / sum(counts)},
            best=less,
        )
    return None


def _rate_bps(flow: Flow, links: Sequence[Link]) -> float:
    tcp, p, rtt_s = tcp_of(flow), _loss(links), _round_trip_s(links)
    if CONGESTION[tcp.congestion].loss_window == "cubic":
        window = float(average_window(p, rtt_s))
    else:
        aimd = tcp.aimd
        # A window grows with each ACK, one per d segments.
        increase = aimd.increase / tcp.delayed_ack.every
        window = float(square_root_window(p, increase=increase, decrease=aimd.decrease))
    most = max(1.0, tcp.receive_window_bytes / tcp.mss_bytes)
    return min(window, most) * 8 * tcp.mss_bytes / rtt_s


def _cubic(flows: Sequence[Flow]) -> bool:
    return any(CONGESTION[tcp_of(flow).congestion].loss_window == "cubic" for flow in flows)


def _loss(links: Sequence[Link]) -> float:
    """Return the probability that any of the links loses a segment."""
    kept = 1.0
    for link in links:
        if link.loss is not None:
            kept *= 1.0 - (1.0 / link.loss.every if link.loss.every else link.loss.rate or 0.0)
    return 1.0 - kept


def _round_trip_s(links: Sequence[Link]) -> float:
    return 2.0 * sum(link.delay_ns for link in links) / 1e9


def _broken(scenario: ResolvedScenario) -> Iterator[str]:
    losses = [
        link.loss for flow in scenario.flows for link in scenario.path_links(flow) if link.loss
    ]
    if any(not loss.every for loss in losses):
        yield phrase("predict.lossy_path.random")
    yield phrase("predict.lossy_path.recovery")
    if any(loss.acks for loss in losses):
        yield phrase("predict.lossy_path.lost_acks")

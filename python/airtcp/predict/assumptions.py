"""Report what models of TCP assume about senders, receivers and ACKs, if a scenario differs.

Each sentence names the assumption, what the scenario has instead, and the effect on the model's
value: too optimistic (goodput too high, times too low), too pessimistic (the reverse), or unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from airtcp.phrases import phrase
from airtcp.predict.card import harmless
from airtcp.predict.facts import tcp_of

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.tcp import Tcp
    from airtcp.scenario.keys.traffic import Flow

#: Endless transfers: their windows have reached the receive window before the warm-up ends.
ENDLESS_HARMLESS: Final = harmless("endless")


#: Features of connections that no model of TCP has, by the name of their sentence.
_FEATURES: Final[Mapping[str, Callable[[Tcp], bool]]] = {
    "slow_start": lambda tcp: tcp.slow_start != "standard",
    "pacing": lambda tcp: tcp.pacing,
    "policy": lambda tcp: tcp.delayed_ack.policy is not None,
    "tack": lambda tcp: tcp.tack is not None,
    "mac_feedback": lambda tcp: tcp.mac_feedback is not None,
    "ecn": lambda tcp: tcp.ecn,
    "small_queue": lambda tcp: tcp.small_queue,
    "adaptive": lambda tcp: tcp.delayed_ack.adaptive,
}


def senders(scenario: ResolvedScenario) -> Iterator[str]:
    """Report senders and receivers that differ from those of all TCP models."""
    connections = [flow.tcp for flow in scenario.flows if flow.tcp is not None]
    others = sorted({tcp.congestion for tcp in connections} - {"reno"})
    if others:
        yield phrase("predict.senders.congestion", names=others)
    probing = [tcp for tcp in connections if tcp.variant == "rack"]
    if probing:
        waits = max(tcp.delayed_ack.timeout_ns for tcp in probing)
        yield phrase("predict.senders.rack", time=waits)
    for name, has in _FEATURES.items():
        if any(map(has, connections)):
            yield phrase(f"predict.senders.{name}")


def filtered_acks(scenario: ResolvedScenario) -> Iterator[str]:
    """Report ACK filters in queues."""
    queues = [scenario.ap.queue, *(group.queue for group in scenario.stations)]
    filters = {queue.ack_filter for queue in queues} - {None}
    if filters and any(flow.tcp is not None for flow in scenario.flows):
        yield phrase("predict.senders.filtered_acks")


def skipped_acks(flows: Sequence[Flow]) -> Iterator[str]:
    """Report ACKs that are omitted as in paper G."""
    skips = [tcp_of(flow).ack_skip for flow in flows]
    skipping = [skip for skip in skips if skip is not None and skip.skip > 0]
    if skipping:
        most = max(skip.skip for skip in skipping)
        adapts = any(skip.adaptive is not None for skip in skipping)
        begin = min(skip.after_segment for skip in skipping)
        yield phrase(
            "predict.senders.skipped_acks",
            adapts="up to " if adapts else "",
            most=most,
            of=most + 1,
            begin=begin,
        )

"""Report what models of TCP assume about senders, receivers and ACKs, if a scenario differs.

Each sentence names the assumption, what the scenario has instead, and the effect on the model's
value: too optimistic (goodput too high, times too low), too pessimistic (the reverse), or unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from airtcp.predict.card import harmless
from airtcp.predict.facts import tcp_of
from airtcp.predict.wording import UNKNOWN
from airtcp.units import format_time_ns

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.traffic import Flow

#: Endless transfers: their windows have reached the receive window before the warm-up ends.
ENDLESS_HARMLESS: Final = harmless("endless")


def senders(scenario: ResolvedScenario) -> Iterator[str]:
    """Report senders and receivers that differ from those of all TCP models."""
    connections = [flow.tcp for flow in scenario.flows if flow.tcp is not None]
    others = sorted({tcp.congestion for tcp in connections} - {"reno"})
    if others:
        yield (
            f"the sender uses Reno; here congestion is {' and '.join(others)}: if losses and "
            "not the receiver limit a window, the model does not describe this sender; "
            f"{UNKNOWN}"
        )
    probing = [tcp for tcp in connections if tcp.variant == "rack"]
    if probing:
        waits = max(tcp.delayed_ack.timeout_ns for tcp in probing)
        yield (
            "duplicate ACKs and timeouts detect losses; here variant is rack, which detects them "
            "by time and sends a probe after two round trips without an ACK. Without losses and "
            "late ACKs nothing differs, but the delayed-ACK timer may hold an ACK for up to "
            f"{format_time_ns(waits)}; {UNKNOWN}"
        )
    if any(tcp.slow_start != "standard" for tcp in connections):
        yield (
            "slow start ends at the threshold or at a loss; here it ends when round trips "
            "grow, and then a window opens more slowly: the effect is small if the access "
            "point's queue makes them grow, and unknown over a path with delay"
        )
    if any(tcp.pacing for tcp in connections):
        yield (
            "a segment leaves as soon as the window allows it; here segments are paced, and "
            f"a window that is not full leaves fewer of them in the queue; {UNKNOWN}"
        )
    if any(tcp.delayed_ack.policy is not None for tcp in connections):
        yield (
            "an ACK for every d segments; here a plug-in decides when ACKs leave, and the "
            f"model uses d = 1; {UNKNOWN}"
        )
    if any(tcp.tack is not None for tcp in connections):
        yield (
            "an ACK for every d segments; here ACKs also wait for a fraction of the minimum "
            "round trip (TACK): fewer ACKs are sent, but a window no longer than this fraction "
            f"waits for its ACK; {UNKNOWN}"
        )
    if any(tcp.mac_feedback is not None for tcp in connections):
        yield (
            "a sender learns of losses only from the other end; here a station's MAC reports "
            "frames that it drops, so its sender needs no timer after losses on the channel; "
            f"{UNKNOWN}"
        )
    if any(tcp.ecn for tcp in connections):
        yield (
            "windows shrink when packets are lost; here queues mark packets before they are "
            f"full (ECN), and windows shrink without retransmissions; {UNKNOWN}"
        )
    if any(tcp.small_queue for tcp in connections):
        yield (
            "all segments in flight wait in queues; here a station's queue holds no more of "
            f"an upload than leaves in 8 ms; {UNKNOWN}"
        )
    if any(tcp.delayed_ack.adaptive for tcp in connections):
        yield (
            "the ACK policy never changes; here a receiver acknowledges the first segments, "
            f"and the first after a pause, at once; {UNKNOWN}"
        )


def filtered_acks(scenario: ResolvedScenario) -> Iterator[str]:
    """Report ACK filters in queues."""
    queues = [scenario.ap.queue, *(group.queue for group in scenario.stations)]
    filters = {queue.ack_filter for queue in queues} - {None}
    if filters and any(flow.tcp is not None for flow in scenario.flows):
        yield (
            "queues keep all ACKs; here a filter removes an ACK when a newer one covers it: "
            "if ACKs wait, fewer of them are sent, and goodput is too low, by up to 20 % "
            "with uploads and an ACK for each segment"
        )


def skipped_acks(flows: Sequence[Flow]) -> Iterator[str]:
    """Report ACKs that are omitted as in paper G."""
    skips = [tcp_of(flow).ack_skip for flow in flows]
    skipping = [skip for skip in skips if skip is not None and skip.skip > 0]
    if skipping:
        most = max(skip.skip for skip in skipping)
        adapts = any(skip.adaptive is not None for skip in skipping)
        begin = min(skip.after_segment for skip in skipping)
        yield (
            f"every ACK is sent; here {'up to ' if adapts else ''}{most} of {most + 1} ACKs "
            f"are skipped after segment {begin:,}, and no timer replaces them: fewer ACKs "
            "leave more airtime for data (goodput too low), but a window smaller than an ACK "
            "needs continues only by retransmission timeouts (goodput far too high); "
            f"{UNKNOWN}"
        )

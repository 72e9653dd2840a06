"""List paper M's assumptions, and report those that a scenario breaks.

Each sentence about a broken assumption names the assumption, what the scenario has instead, and the
effect on the model's value: too optimistic (goodput too high, times too low), too pessimistic (the
reverse), or unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from airtcp.models.miorandi import CORRECTED, contention
from airtcp.predict.card import Assumption
from airtcp.predict.facts import Connections, lossy, tcp_of
from airtcp.predict.keys import ALL_ACKS, FRAMES, NO_BEACONS, NO_ERRORS, RENO, SEGMENTS
from airtcp.predict.wording import OPTIMISTIC, PESSIMISTIC, UNKNOWN, OfDelay, segments
from airtcp.scenario import ResolvedScenario
from airtcp.units import format_time_ns

if TYPE_CHECKING:
    from airtcp.scenario.keys.traffic import Flow

#: Assumptions of every equation of paper M.
COMMON: Final = (
    Assumption(
        "only downloads, one TCP connection per station, all alike",
        ("flows.direction", "flows.application.kind"),
    ),
    Assumption(
        "no packet is lost: queues have no limit, and drops at the retry limit are neglected",
        (
            "ap.queue",
            "stations.queue",
            "flows.tcp.receive_window_bytes",
            "mac.short_retry_limit",
        ),
    ),
    Assumption("the server is at the access point: no wired path", ("flows.path", "links")),
    Assumption(
        "every transmission has a backoff, drawn when the packet reaches the head of the queue",
        (
            "mac.rules.immediate_access",
            "mac.rules.post_backoff",
            "mac.rules.arrival_before_own_ack",
        ),
    ),
    Assumption(
        "a collision costs a frame and SIFS, and is equally likely in every backoff stage",
        (
            "mac.rules.after_collision",
            "mac.rules.colliders",
            "phy.eifs_ns",
            "phy.ack_timeout_ns",
        ),
    ),
    Assumption(
        "TCP's retransmission timer never expires",
        ("flows.tcp.min_rto_ns", "flows.tcp.initial_rto_ns"),
    ),
    Assumption("an ACK for every d segments, from the first to the last", ("flows.tcp.ack_skip",)),
    NO_BEACONS,
    NO_ERRORS,
    RENO,
    ALL_ACKS,
)
_WINDOW: Final = ("flows.tcp.receive_window_bytes", "flows.tcp.mss_bytes")
#: Assumptions of (9) to (12).
ENDLESS: Final = (
    *COMMON,
    Assumption(
        "W* = d: the window is the number of segments per ACK",
        (*_WINDOW, "flows.tcp.delayed_ack"),
    ),
    Assumption(
        "the access point is always backlogged; stations have packets independently of each other",
        ("flows.direction", "flows.application.kind"),
    ),
)
#: Assumptions of (7) and (8), where one connection has a large window.
LONE: Final = (
    *COMMON,
    Assumption(
        "W* is much larger than d: access point and station always contend",
        (*_WINDOW, "flows.tcp.delayed_ack"),
    ),
)
#: Assumptions of (A.3).
WINDOWED: Final = (
    *COMMON,
    Assumption("geometric backoff: access point and station are equally likely next", ()),
)
#: Assumptions of (13) and (14).
TRANSFER: Final = (
    *COMMON,
    Assumption(
        "W* = 1: a connection has one packet in flight, so transfers share the channel equally",
        (
            *_WINDOW,
            "flows.tcp.initial_window_bytes",
            "flows.tcp.initial_ssthresh_bytes",
            "flows.tcp.aimd",
        ),
    ),
    Assumption(
        "a transfer starts with two header-only packets (13)",
        ("flows.tcp.handshake", "flows.application.request_bytes"),
    ),
)
#: Assumptions of (15) to (17).
WEB: Final = (
    *TRANSFER,
    Assumption(
        "sizes and think times are independent; a think time follows each transfer",
        ("flows.application.think_time",),
    ),
)
#: The keys in the formulas of paper M.
READS: Final = (*FRAMES, *SEGMENTS, "phy.cw_max", "mac.short_retry_limit")
#: Endless transfers: their windows have reached the receive window before the warm-up ends.
ENDLESS_HARMLESS: Final = MappingProxyType(
    {
        "flows.tcp.initial_window_bytes": (
            "the start of an endless transfer ends before the warm-up does"
        ),
        "flows.tcp.initial_ssthresh_bytes": "as flows.tcp.initial_window_bytes",
        "flows.tcp.aimd": "windows equal the receive window, and nothing is lost",
        "flows.tcp.handshake": "an endless transfer has one handshake, at its start",
        "flows.tcp.pad_last_segment": "an endless transfer has no last segment",
        "flows.application.start": "all transfers have started when the warm-up ends",
    }
)

#: Report frames given up at the retry limit from this probability on.
_DROPS: Final = 1e-3


def network(connections: Connections) -> Iterator[str]:
    """Report which of `COMMON` the scenario breaks."""
    yield from alike(connections)
    yield from losses(connections)
    yield from path(connections)
    yield from acknowledgments(connections)
    yield from skipped_acks(connections.flows)
    yield from backoffs(connections)
    yield from _collisions(connections)


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
            "duplicate ACKs and timeouts detect losses; here variant is rack, which uses "
            "time and sends a probe after two round trips without an ACK: the same if "
            "nothing is lost and no ACK is that late, but the delayed-ACK timer may hold one "
            f"for up to {format_time_ns(waits)}; {UNKNOWN}"
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
            "round trip (TACK): fewer of them are sent, but a window that is no longer than "
            f"that waits for them; {UNKNOWN}"
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


def alike(connections: Connections) -> Iterator[str]:
    """Report traffic other than identical downloads, one per station."""
    uploads, count = connections.uploads, connections.count
    if uploads:
        yield (
            f"only downloads; here {uploads} of {count} connections are uploads: data and TCP "
            "ACKs swap senders, so an exchange takes as long, but stations with data contend "
            "more often than stations with ACKs; the total goodput is off by -3 to 5 % in "
            "802.11b and too high by 2 to 11 % with the smaller windows of 802.11a and "
            "802.11g, most at low rates; how uploads and downloads share it is unknown"
        )
    others = len(connections.scenario.flows) - len(connections.flows)
    if others:
        kinds = sorted(
            {
                flow.application.kind
                for flow in connections.scenario.flows
                if flow not in connections.flows
            }
        )
        yield (
            f"only endless transfers; here {' and '.join(kinds)} transfers share the channel "
            "with them: their number hardly changes the total goodput, but changes the "
            "goodput of each flow"
        )
    if connections.differ:
        yield (
            "all connections are alike; here they differ in "
            f"{' and '.join(connections.differ)}, and the model uses means: {UNKNOWN}, and "
            "the shares of the stations have no value"
        )
    per_station = len(connections.flows) - len({flow.stations for flow in connections.flows})
    if per_station:
        yield (
            "each station has one connection; here stations have several, so fewer nodes "
            "contend; the effect is small"
        )


def losses(connections: Connections) -> Iterator[str]:
    """Report packet losses: at queues that windows can fill, and at the retry limit."""
    queue, under_way = connections.scenario.ap.queue, connections.total_window
    only_acks = connections.uploads == connections.count
    if only_acks and queue.limit is not None and under_way / connections.every > queue.limit:
        yield (
            f"the access point's queue has no limit; here its limit is {queue.limit} packets: "
            "TCP ACKs are dropped, later ones cover the same segments, and more airtime is "
            "left for data; goodput is therefore too low, by up to 8 %"
        )
    elif queue.limit is not None and under_way > queue.limit and not only_acks:
        yield (
            f"the access point's queue has no limit; here its limit is {queue.limit} packets, "
            f"and the windows allow {under_way:,} in flight: packets are dropped, TCP "
            f"retransmits and slows down; {OPTIMISTIC}"
        )
    if not only_acks and queue.discipline == "own":
        yield (
            "packets leave in the order of arrival, and none is lost before the queue is "
            f"full; here the queue discipline is a plug-in; {UNKNOWN}"
        )
    if not only_acks and queue.discipline == "red" and under_way >= queue.red.min_threshold:
        yield (
            "the access point's queue loses no packet; here random early detection (RED) "
            f"drops from a mean of {queue.red.min_threshold:g} packets on, and the windows "
            f"allow {under_way:,} in flight: TCP retransmits and slows down; {OPTIMISTIC}"
        )
    if not only_acks and queue.discipline in ("codel", "fq-codel") and under_way > 2:
        yield (
            "the access point's queue loses no packet; here CoDel drops if packets wait "
            f"longer than {format_time_ns(queue.codel.target_ns)} throughout "
            f"{format_time_ns(queue.codel.interval_ns)}, and the windows allow {under_way:,} "
            f"in flight: TCP then retransmits and slows down; {OPTIMISTIC}"
        )
    for flow, window in zip(connections.flows, connections.windows, strict=True):
        at_station = connections.scenario.group(flow.stations).queue
        if at_station.limit is not None and window > at_station.limit:
            yield (
                f"the stations' queues have no limit; here the limit is {at_station.limit} "
                f"packets at {flow.stations}, and the window is {segments(window)}: packets "
                f"are dropped there; {UNKNOWN}"
            )
        if at_station.discipline == "red" and window >= at_station.red.min_threshold:
            yield (
                "the stations' queues lose no packet; here random early detection (RED) "
                f"drops at {flow.stations} from a mean of {at_station.red.min_threshold:g} "
                f"packets on, and the window is {segments(window)}; {UNKNOWN}"
            )
    yield from _timers(connections)
    drop = float(contention(2.0, connections.parameters, CORRECTED).p_drop)
    if drop > _DROPS:
        yield (
            "drops at the retry limit are neglected; here a frame is sent at most "
            f"{connections.parameters.m} time{'s' if connections.parameters.m > 1 else ''} "
            f"and about {100 * drop:.2g} % are dropped, which TCP takes for congestion; the "
            "effect is small if the dropped packets are ACKs, and unknown otherwise"
        )


def _timers(connections: Connections) -> Iterator[str]:
    parameters, limit = connections.parameters, connections.scenario.ap.queue.limit
    under_way = min(connections.total_window, limit or connections.total_window)
    least_s = (
        min(min(tcp_of(flow).min_rto_ns, tcp_of(flow).initial_rto_ns) for flow in connections.flows)
        / 1e9
    )
    round_s = under_way * (parameters.t_tcp_data_s + parameters.t_tcp_ack_s / connections.every)
    if round_s > least_s:
        yield (
            "TCP's retransmission timer never expires; here all windows together take "
            f"{round_s:.2g} s to send, and the minimum RTO is {least_s:.2g} s: as round trips "
            f"grow, timers may expire without a loss; {UNKNOWN}"
        )


def path(connections: Connections) -> Iterator[str]:
    """Report a wired path; the models have the server at the access point."""
    paths = [connections.scenario.path_links(flow) for flow in connections.flows]
    delay = max((sum(link.delay_ns for link in links) for links in paths), default=0)
    if delay:
        yield OfDelay(
            "the server is at the access point; here the wired path has a one-way delay of "
            f"up to {format_time_ns(delay)}: segments are in flight longer, and transfers "
            f"wait for round trips; {OPTIMISTIC}"
        )
    yield from lossy(connections.scenario, "the server is at the access point")


def acknowledgments(connections: Connections) -> Iterator[str]:
    """Report that d, the number of segments per ACK, changes."""
    tcps = [tcp_of(flow) for flow in connections.flows]
    changing = [tcp.delayed_ack for tcp in tcps if len(tcp.delayed_ack.thresholds) > 1]
    if changing:
        begin = max(ack.thresholds[-1][0] for ack in changing)
        yield (
            "the number of segments per ACK, d, never changes; here d changes up to segment "
            f"{begin:,}, and the model uses its last value (d = {connections.every:.3g}): no "
            "effect on long transfers; short transfers have more ACKs, and their times are "
            "too low, by up to 7 %"
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


def backoffs(connections: Connections) -> Iterator[str]:
    """Report MAC rules that skip the backoff before some transmissions."""
    rules = connections.scenario.mac.rules
    if rules.immediate_access or rules.post_backoff:
        what = [
            words
            for words, on in (
                (
                    "a packet that finds the channel idle may be sent without backoff",
                    rules.immediate_access,
                ),
                ("a backoff runs after each success, even without a packet", rules.post_backoff),
                (
                    "a packet that arrives before the MAC ACK of the frame that caused it "
                    "may be sent without backoff",
                    rules.arrival_before_own_ack == "idle" and rules.immediate_access,
                ),
            )
            if on
        ]
        yield f"every transmission has a backoff; here {' and '.join(what)}; {PESSIMISTIC}"


def _collisions(connections: Connections) -> Iterator[str]:
    rules, phy = connections.scenario.mac.rules, connections.scenario.phy
    if rules.after_collision != "difs":
        wait = phy.eifs_ns + (phy.difs_ns if rules.after_collision == "eifs+difs" else 0)
        own = phy.ack_timeout_ns + phy.difs_ns
        took_part = (
            f", and the colliding nodes wait {format_time_ns(own)}"
            if rules.colliders != "as-others"
            else ""
        )
        yield (
            "a collision costs a frame and SIFS; here nodes that hear one wait "
            f"{format_time_ns(wait)} ({rules.after_collision.upper()}) after it{took_part}; "
            f"{OPTIMISTIC}, a little"
        )

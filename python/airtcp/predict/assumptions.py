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
        "downloads alone, one TCP connection per station, all alike",
        ("flows.direction", "flows.application.kind"),
    ),
    Assumption(
        "no packet is lost: queues without limit, drops at the retry limit neglected",
        (
            "ap.queue",
            "stations.queue",
            "flows.tcp.receive_window_bytes",
            "mac.short_retry_limit",
        ),
    ),
    Assumption("the server is at the access point: no wired path", ("flows.path", "links")),
    Assumption(
        "a backoff before every transmission, drawn when the packet reaches the head of the queue",
        (
            "mac.rules.immediate_access",
            "mac.rules.post_backoff",
            "mac.rules.arrival_before_own_ack",
        ),
    ),
    Assumption(
        "collisions cost a frame and SIFS, and are as likely in every backoff stage",
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
        "W* = d: the window is as many segments as are acknowledged at a time",
        (*_WINDOW, "flows.tcp.delayed_ack"),
    ),
    Assumption(
        "the access point is always backlogged; stations are so independently of each other",
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
        "W* = 1: a connection has one packet under way, so transfers share the channel equally",
        (
            *_WINDOW,
            "flows.tcp.initial_window_bytes",
            "flows.tcp.initial_ssthresh_bytes",
            "flows.tcp.aimd",
        ),
    ),
    Assumption(
        "a transfer starts with two packets of headers alone (13)",
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
        "flows.tcp.initial_window_bytes": "the start of an endless transfer is over before the "
        "warm-up is",
        "flows.tcp.initial_ssthresh_bytes": "as flows.tcp.initial_window_bytes",
        "flows.tcp.aimd": "windows stand at the receive window, and nothing is lost",
        "flows.tcp.handshake": "an endless transfer has one, at its start",
        "flows.tcp.pad_last_segment": "an endless transfer has no last segment",
        "flows.application.start": "when the warm-up is over all have begun",
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
            f"Reno's congestion control; here congestion is {' and '.join(others)}: where a window "
            "is bounded by losses and not by the receiver, the model is not about this sender; "
            f"{UNKNOWN}"
        )
    probing = [tcp for tcp in connections if tcp.variant == "rack"]
    if probing:
        waits = max(tcp.delayed_ack.timeout_ns for tcp in probing)
        yield (
            "losses told by duplicate ACKs and timeouts; here variant is rack, which goes by time "
            "and probes after two round trips of silence: the same where nothing is lost and no "
            f"ACK waits so long, which one that is delayed may, up to {format_time_ns(waits)}; "
            f"{UNKNOWN}"
        )
    if any(tcp.slow_start != "standard" for tcp in connections):
        yield (
            "slow start up to the threshold or a loss; here it ends when round trips grow, and a "
            "window opens more slowly from then on: the effect is small at the access point, whose "
            "queue has made them grow, and unknown over a path with delay"
        )
    if any(tcp.pacing for tcp in connections):
        yield (
            "segments that leave as soon as the window lets them; here they are paced, and a "
            f"window that is not full leaves fewer in the queue; {UNKNOWN}"
        )
    if any(tcp.delayed_ack.policy is not None for tcp in connections):
        yield (
            "an ACK for every d segments; here ACKs leave by a policy of one's own, of which "
            f"nothing is known, and d is taken as 1; {UNKNOWN}"
        )
    if any(tcp.tack is not None for tcp in connections):
        yield (
            "an ACK for every d segments; here ACKs also wait for a part of the least round trip "
            "(TACK): fewer of them go on the air, but a window that is no longer than that waits "
            f"for them; {UNKNOWN}"
        )
    if any(tcp.mac_feedback is not None for tcp in connections):
        yield (
            "a sender that hears of losses from the other end alone; here the MAC of a station "
            "tells it of frames that it gives up, and it waits for no timer where frames are lost "
            f"in the air; {UNKNOWN}"
        )
    if any(tcp.ecn for tcp in connections):
        yield (
            "windows that fall when packets are lost; here queues mark packets before that (ECN), "
            f"and windows fall with nothing sent again; {UNKNOWN}"
        )
    if any(tcp.small_queue for tcp in connections):
        yield (
            "all of a window that is not acknowledged waits in queues; here no more of an upload "
            f"than leaves in 8 ms waits in its station's; {UNKNOWN}"
        )
    if any(tcp.delayed_ack.adaptive for tcp in connections):
        yield (
            "one policy of acknowledgments throughout; here the first segments, and those after a "
            f"pause, are acknowledged at once; {UNKNOWN}"
        )


def filtered_acks(scenario: ResolvedScenario) -> Iterator[str]:
    """Report ACK filters in queues."""
    queues = [scenario.ap.queue, *(group.queue for group in scenario.stations)]
    filters = {queue.ack_filter for queue in queues} - {None}
    if filters and any(flow.tcp is not None for flow in scenario.flows):
        yield (
            "an ACK that was sent is not taken out of a queue; here a filter takes those out that "
            "a newer one covers: where ACKs wait, fewer of them go on the air, and goodput is too "
            "low, by up to 20 % with uploads and an ACK for each segment"
        )


def alike(connections: Connections) -> Iterator[str]:
    """Report traffic other than identical downloads, one per station."""
    uploads, count = connections.uploads, connections.count
    if uploads:
        yield (
            f"downloads alone; here {uploads} of {count} connections are uploads: data and TCP ACK "
            "swap senders, so the time of an exchange is the same, but stations with data contend "
            "more than stations with ACKs; the total goodput is off by -3 to 5 % in 802.11b and "
            "too high by 2 to 11 % with the smaller windows of 802.11a and 802.11g, most at low "
            "rates; how uploads and downloads share it is unknown"
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
            f"endless transfers alone; here {' and '.join(kinds)} transfers share the channel with "
            "them: the total goodput hardly depends on how many are active, the goodput of each "
            "flow does"
        )
    if connections.differ:
        yield (
            f"all connections are alike; here they differ in {' and '.join(connections.differ)}: "
            f"means stand in; {UNKNOWN}, and the shares of the stations are not told"
        )
    per_station = len(connections.flows) - len({flow.stations for flow in connections.flows})
    if per_station:
        yield (
            "one connection per station; here stations have several, so fewer nodes contend; "
            "the effect is small"
        )


def losses(connections: Connections) -> Iterator[str]:
    """Report packet losses: at queues that windows can fill, and at the retry limit."""
    queue, under_way = connections.scenario.ap.queue, connections.total_window
    only_acks = connections.uploads == connections.count
    if only_acks and queue.limit is not None and under_way / connections.every > queue.limit:
        yield (
            f"a queue without limit at the access point; here {queue.limit} packets: TCP ACKs are "
            "dropped, later ones answer for them, and leave more room for data; goodput is too low "
            "for that, by up to 8 %"
        )
    elif queue.limit is not None and under_way > queue.limit and not only_acks:
        yield (
            f"a queue without limit at the access point; here {queue.limit} packets, and the "
            f"windows let {under_way:,} be under way: packets are dropped, TCP retransmits and "
            f"slows down; {OPTIMISTIC}"
        )
    if not only_acks and queue.discipline == "own":
        yield (
            "packets go in the order of arrival, and none is lost while there is room; here the "
            f"queue's discipline is one's own, of which nothing is known; {UNKNOWN}"
        )
    if not only_acks and queue.discipline == "red" and under_way >= queue.red.min_threshold:
        yield (
            "no packet is lost in the access point's queue; here random early detection drops from "
            f"an average of {queue.red.min_threshold:g} packets on, and the windows let "
            f"{under_way:,} be under way: TCP retransmits and slows down; {OPTIMISTIC}"
        )
    if not only_acks and queue.discipline in ("codel", "fq-codel") and under_way > 2:
        yield (
            "no packet is lost in the access point's queue; here CoDel drops where packets wait "
            f"for more than {format_time_ns(queue.codel.target_ns)} throughout "
            f"{format_time_ns(queue.codel.interval_ns)}, and the windows let {under_way:,} be "
            f"under way: TCP retransmits and slows down where that takes so long; {OPTIMISTIC}"
        )
    for flow, window in zip(connections.flows, connections.windows, strict=True):
        at_station = connections.scenario.group(flow.stations).queue
        if at_station.limit is not None and window > at_station.limit:
            yield (
                f"queues without limit at the stations; here {at_station.limit} packets at "
                f"{flow.stations} and a window of {segments(window)}: packets are dropped there; "
                f"{UNKNOWN}"
            )
        if at_station.discipline == "red" and window >= at_station.red.min_threshold:
            yield (
                "no packet is lost in the stations' queues; here random early detection drops at "
                f"{flow.stations} from an average of {at_station.red.min_threshold:g} packets on, "
                f"and the window is {segments(window)}; {UNKNOWN}"
            )
    yield from _timers(connections)
    drop = float(contention(2.0, connections.parameters, CORRECTED).p_drop)
    if drop > _DROPS:
        yield (
            "drops at the retry limit neglected; here a frame is sent "
            f"{connections.parameters.m} time{'s' if connections.parameters.m > 1 else ''} at most "
            f"and about {100 * drop:.2g} % are given up, which TCP takes for congestion; "
            "the effect is small where ACKs make up for ACKs, and unknown elsewhere"
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
            f"TCP's timer never expires; here the windows together take {round_s:.2g} s, and the "
            f"least RTO is {least_s:.2g} s: as round trips grow, timers may expire without a loss; "
            f"{UNKNOWN}"
        )


def path(connections: Connections) -> Iterator[str]:
    """Report a wired path; the models have the server at the access point."""
    paths = [connections.scenario.path_links(flow) for flow in connections.flows]
    delay = max((sum(link.delay_ns for link in links) for links in paths), default=0)
    if delay:
        yield OfDelay(
            f"the server is at the access point; here a wired path takes up to "
            f"{format_time_ns(delay)} each way: windows are under way longer, and transfers wait "
            f"for round trips; {OPTIMISTIC}"
        )
    yield from lossy(connections.scenario, "the server is at the access point")


def acknowledgments(connections: Connections) -> Iterator[str]:
    """Report that d, the number of segments per ACK, changes."""
    tcps = [tcp_of(flow) for flow in connections.flows]
    changing = [tcp.delayed_ack for tcp in tcps if len(tcp.delayed_ack.thresholds) > 1]
    if changing:
        begin = max(ack.thresholds[-1][0] for ack in changing)
        yield (
            f"an ACK for every d segments throughout; here d changes up to segment {begin:,}, and "
            f"its last value stands in (d = {connections.every:.3g}): next to nothing where "
            "transfers are long; where they are short there are more ACKs than that, and times are "
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
            f"each ACK that is due is sent; here {'up to ' if adapts else ''}{most} of {most + 1} "
            f"are left out after segment {begin:,}, and no timer makes up for them: fewer "
            "ACKs leave more room for data (goodput too low), but a window that falls below what "
            "an ACK waits for moves on by retransmission timeouts alone (goodput far too high); "
            f"{UNKNOWN}"
        )


def backoffs(connections: Connections) -> Iterator[str]:
    """Report MAC rules that skip the backoff before some transmissions."""
    rules = connections.scenario.mac.rules
    if rules.immediate_access or rules.post_backoff:
        what = [
            words
            for words, on in (
                ("a packet that meets an idle channel may go at once", rules.immediate_access),
                ("backoff runs after each success, also without a packet", rules.post_backoff),
                (
                    "a packet that comes before the MAC ACK of the frame that caused it may go at "
                    "once",
                    rules.arrival_before_own_ack == "idle" and rules.immediate_access,
                ),
            )
            if on
        ]
        yield f"a backoff before every transmission; here {' and '.join(what)}; {PESSIMISTIC}"


def _collisions(connections: Connections) -> Iterator[str]:
    rules, phy = connections.scenario.mac.rules, connections.scenario.phy
    if rules.after_collision != "difs":
        wait = phy.eifs_ns + (phy.difs_ns if rules.after_collision == "eifs+difs" else 0)
        own = phy.ack_timeout_ns + phy.difs_ns
        took_part = (
            f", those who took part in it {format_time_ns(own)}"
            if rules.colliders != "as-others"
            else ""
        )
        yield (
            "collisions cost a frame and SIFS; here those who hear one wait "
            f"{format_time_ns(wait)} ({rules.after_collision.upper()}) after it{took_part}; "
            f"{OPTIMISTIC}, a little"
        )

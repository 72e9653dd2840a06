"""Report which of paper M's assumptions (`cards.toml`) a scenario breaks.

Each sentence about a broken assumption names the assumption, what the scenario has instead, and the
effect on the model's value: too optimistic (goodput too high, times too low), too pessimistic (the
reverse), or unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from airtcp.predict.assumptions import skipped_acks
from airtcp.predict.facts import lossy, tcp_of
from airtcp.predict.wording import OPTIMISTIC, PESSIMISTIC, UNKNOWN, OfDelay, segments
from airtcp.units import format_time_ns

from airtcp_papers.miorandi.model import CORRECTED, contention
from airtcp_papers.miorandi.predict.connections import Connections

#: Report frames given up at the retry limit from this probability on.
_DROPS: Final = 1e-3


def network(connections: Connections) -> Iterator[str]:
    """Report which of the assumptions in COMMON the scenario breaks."""
    yield from alike(connections)
    yield from losses(connections)
    yield from path(connections)
    yield from acknowledgments(connections)
    yield from skipped_acks(connections.flows)
    yield from backoffs(connections)
    yield from _collisions(connections)


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

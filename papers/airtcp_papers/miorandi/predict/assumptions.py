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
from airtcp.predict.wording import OfDelay
from airtcp.units import format_time_ns

from airtcp_papers.common.cards import segments
from airtcp_papers.miorandi.model import CORRECTED, contention
from airtcp_papers.miorandi.predict import sentence
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
        yield sentence("uploads", uploads=uploads, count=count)
    others = len(connections.scenario.flows) - len(connections.flows)
    if others:
        kinds = sorted(
            {
                flow.application.kind
                for flow in connections.scenario.flows
                if flow not in connections.flows
            }
        )
        yield sentence("others", names=" and ".join(kinds))
    if connections.differ:
        yield sentence("differ", names=" and ".join(connections.differ))
    per_station = len(connections.flows) - len({flow.stations for flow in connections.flows})
    if per_station:
        yield sentence("several_connections")


def losses(connections: Connections) -> Iterator[str]:
    """Report packet losses: at queues that windows can fill, and at the retry limit."""
    queue, under_way = connections.scenario.ap.queue, connections.total_window
    only_acks = connections.uploads == connections.count
    if only_acks and queue.limit is not None and under_way / connections.every > queue.limit:
        yield sentence("acks_dropped", limit=queue.limit)
    elif queue.limit is not None and under_way > queue.limit and not only_acks:
        yield sentence("queue_overflows", limit=queue.limit, under_way=under_way)
    if not only_acks and queue.discipline == "own":
        yield sentence("plug_in")
    if not only_acks and queue.discipline == "red" and under_way >= queue.red.min_threshold:
        yield sentence("red", min_threshold=queue.red.min_threshold, under_way=under_way)
    if not only_acks and queue.discipline in ("codel", "fq-codel") and under_way > 2:
        yield sentence(
            "codel",
            target=format_time_ns(queue.codel.target_ns),
            interval=format_time_ns(queue.codel.interval_ns),
            under_way=under_way,
        )
    for flow, window in zip(connections.flows, connections.windows, strict=True):
        at_station = connections.scenario.group(flow.stations).queue
        if at_station.limit is not None and window > at_station.limit:
            yield sentence(
                "station_queue",
                limit=at_station.limit,
                stations=flow.stations,
                window=segments(window),
            )
        if at_station.discipline == "red" and window >= at_station.red.min_threshold:
            yield sentence(
                "station_red",
                stations=flow.stations,
                min_threshold=at_station.red.min_threshold,
                window=segments(window),
            )
    yield from _timers(connections)
    drop = float(contention(2.0, connections.parameters, CORRECTED).p_drop)
    if drop > _DROPS:
        yield sentence(
            "drops",
            m=connections.parameters.m,
            plural="s" if connections.parameters.m > 1 else "",
            drop=100 * drop,
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
        yield sentence("slow_windows", round_s=round_s, least_s=least_s)


def path(connections: Connections) -> Iterator[str]:
    """Report a wired path; the models have the server at the access point."""
    paths = [connections.scenario.path_links(flow) for flow in connections.flows]
    delay = max((sum(link.delay_ns for link in links) for links in paths), default=0)
    if delay:
        yield OfDelay(sentence("path", delay=format_time_ns(delay)))
    yield from lossy(connections.scenario, "the server is at the access point")


def acknowledgments(connections: Connections) -> Iterator[str]:
    """Report that d, the number of segments per ACK, changes."""
    tcps = [tcp_of(flow) for flow in connections.flows]
    changing = [tcp.delayed_ack for tcp in tcps if len(tcp.delayed_ack.thresholds) > 1]
    if changing:
        begin = max(ack.thresholds[-1][0] for ack in changing)
        yield sentence("changing_d", begin=begin, every=connections.every)


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
        yield sentence("backoffs", names=" and ".join(what))


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
        yield sentence(
            "wait_after_collision",
            wait=format_time_ns(wait),
            after_collision=rules.after_collision.upper(),
            took_part=took_part,
        )

"""Endless TCP transfers over A-MPDUs, all one way: the ACK-aware model of `models.tcp_ampdu`.

802.11n, ac and ax. Stations that differ in rate, segments or windows are asked about as if all were
like them, and their mean time for a segment stands in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from airtcp.models.tcp_ampdu import Throughput, Times, throughput
from airtcp.predict.air import READS, Air
from airtcp.predict.answers import Answers
from airtcp.predict.assumptions import (
    ENDLESS_HARMLESS,
    OPTIMISTIC,
    UNKNOWN,
    skipped_acks,
)
from airtcp.predict.card import Assumption, Card
from airtcp.predict.facts import lossy, tcp_of, weighted
from airtcp.predict.keys import ALIKE, NEVER_ENDS, NO_BEACONS, NO_ERRORS, RENO, SEGMENTS
from airtcp.predict.saturated import head_start
from airtcp.predict.senders import flow_count
from airtcp.units import format_rate, format_time_ns

if TYPE_CHECKING:
    from airtcp.scenario import Flow, ResolvedScenario, StationGroup

SOURCE: Final = "TCP over A-MPDUs (A9)"
_BOUND: Final = "TCP over A-MPDUs, no ACK access"
_READS: Final = (*READS, *SEGMENTS, "flows.tcp.receive_window_bytes")
_LOSSES: Final = Assumption(
    "no packet is lost: queues hold all windows, and TCP's timer never expires",
    (
        "ap.queue",
        "stations.queue",
        "flows.tcp.receive_window_bytes",
        "flows.tcp.min_rto_ns",
        "flows.tcp.initial_rto_ns",
    ),
)
_SERVER: Final = Assumption(
    "the server is at the access point: no wired path", ("flows.path", "links")
)
_CARD: Final = Card(
    name="TCP over A-MPDUs",
    by="models.tcp_ampdu",
    asked="endless TCP transfers of one direction, 802.11n and later",
    answers=(
        "goodput_bps",
        "flow_goodput_bps",
        "collision_probability",
        "collision_probability_ap",
        "collision_probability_stations",
        "mpdus_per_ppdu_ap",
        "mpdus_per_ppdu_stations",
        "mpdus_per_ack_ppdu_ap",
        "mpdus_per_ack_ppdu_stations",
    ),
    reads=_READS,
    assumes=(
        Assumption(
            "endless transfers of one direction, one for each station, all alike",
            ("flows.direction", "flows.application.kind", "stations.data_rate", "ap.scheduler"),
        ),
        _LOSSES,
        _SERVER,
        Assumption(
            "a backoff before every PPDU: none runs while there is nothing to send",
            (
                "mac.rules.immediate_access",
                "mac.rules.post_backoff",
                "mac.rules.arrival_before_own_ack",
                "mac.rules.delivery",
            ),
        ),
        Assumption(
            "of all nodes with something to send each is equally likely to be next; stations have "
            "it independently of each other",
            ("mac.edca",),
        ),
        Assumption(
            "after a collision all go on together, and what collided is sent again",
            ("mac.rules.colliders", "phy.ack_timeout_ns", "mac.rules.failed_block_ack"),
        ),
        Assumption("an ACK for every d segments", ("flows.tcp.ack_skip",)),
        NO_BEACONS,
        NO_ERRORS,
        RENO,
    ),
    needs=(ALIKE, NEVER_ENDS),
    harmless={
        **ENDLESS_HARMLESS,
        "phy.cw_min": "802.11n and later have EDCA, which has windows of its own",
        "phy.cw_max": "as phy.cw_min",
    },
)
_BOUND_CARD: Final = Card(
    name="TCP over A-MPDUs without ACKs",
    by="models.tcp_ampdu",
    asked="endless TCP transfers of one direction, 802.11n and later, as a bound",
    answers=("goodput_bps",),
    reads=_READS,
    assumes=(
        Assumption("one sender with all windows, full PPDUs, and nothing else on the air", ()),
        NO_BEACONS,
        NO_ERRORS,
        RENO,
    ),
    needs=(ALIKE, NEVER_ENDS),
    harmless={
        **_CARD.harmless,
        "ap.scheduler": "a bound: what is lost or waits leaves goodput below it",
        "ap.queue": "as ap.scheduler",
        "stations.queue": "as ap.scheduler",
        "flows.path": "as ap.scheduler",
        "links": "as ap.scheduler",
        "flows.tcp.min_rto_ns": "as ap.scheduler",
        "flows.tcp.initial_rto_ns": "as ap.scheduler",
        "flows.tcp.ack_skip": "there are no ACKs",
        "mac.rules.immediate_access": "one sender, which always has a packet",
        "mac.rules.post_backoff": "as mac.rules.immediate_access",
        "mac.rules.arrival_before_own_ack": "as mac.rules.immediate_access",
        "mac.rules.delivery": "there are no ACKs",
        "mac.rules.colliders": "one sender never collides",
        "mac.rules.failed_block_ack": "as mac.rules.colliders",
        "phy.ack_timeout_ns": "as mac.rules.colliders",
    },
)
CARDS: Final = (_CARD, _BOUND_CARD)


@dataclass(frozen=True, slots=True)
class _Kind:
    """The stations of a group, each with one window: how PPDUs from and to them last."""

    group: StationGroup
    flows: tuple[Flow, ...]
    segment_bits: int
    payload_bits: int
    window: int
    every: int
    times: Times


def predict(scenario: ResolvedScenario, answers: Answers) -> str | None:
    """Goodput and collisions; a reason where directions or kinds of traffic are mixed."""
    directions = {flow.direction for flow in scenario.flows}
    if len(directions) > 1:
        return (
            "the model of TCP over aggregates has transfers of one direction; here some are "
            "uploads and some downloads"
        )
    if any(flow.application.kind != "bulk" or flow.application.size for flow in scenario.flows):
        return (
            "the model of TCP over aggregates has endless transfers alone; here are others beside "
            "them"
        )
    air = Air.of(scenario)
    if isinstance(air, str):
        return air
    with answers.attempt(SOURCE):
        _contending(air, _kinds(air), answers)
    with answers.attempt(_BOUND):
        kinds = _kinds(air)
        bound = [_ask(air, kind, 1, acks=False) for kind in kinds]
        limit = "ACKs take no airtime and no access; goodput is too high: this is a bound"
        answers.add(_BOUND_CARD.origin(_BOUND, [limit]), {"goodput_bps": _together(bound, kinds)})
    return None


def _contending(air: Air, kinds: Sequence[_Kind], answers: Answers) -> None:
    counts = [kind.group.count for kind in kinds]
    said = [_ask(air, kind, sum(counts)) for kind in kinds]
    goodput = _together(said, kinds)
    broken = [*_broken(air, kinds, goodput), *air.broken, *air.rules()]
    broken += head_start(air.as_dcf, 2)
    values: dict[str, float | list[float]] = {
        "goodput_bps": goodput,
        "flow_goodput_bps": goodput / flow_count(air.scenario),
    }
    sides = ("ap", "stations")
    data, acks = sides if kinds[0].flows[0].direction == "download" else sides[::-1]
    for name, attribute in (
        ("collision_probability", "collision_probability"),
        ("collision_probability_ap", "collision_probability_ap"),
        ("collision_probability_stations", "collision_probability_stations"),
        (f"mpdus_per_ppdu_{data}", "segments_per_ppdu"),
        (f"mpdus_per_ack_ppdu_{acks}", "acks_per_ppdu"),
    ):
        values[name] = weighted([float(getattr(one, attribute)) for one in said], counts)
    answers.add(_CARD.origin(SOURCE, broken), values)


def _kinds(air: Air) -> list[_Kind]:
    kinds = (_kind(air, group) for group in air.scenario.stations)
    return [kind for kind in kinds if kind is not None]


def _kind(air: Air, group: StationGroup) -> _Kind | None:
    flows = tuple(flow for flow in air.scenario.flows if flow.stations == group.name)
    if not flows:
        return None
    tcp, exchange = tcp_of(flows[0]), air.exchange(group)
    segment = 8 * tcp.mss_bytes + tcp.header_bits
    return _Kind(
        group=group,
        flows=flows,
        segment_bits=segment,
        payload_bits=8 * tcp.mss_bytes,
        # Several connections of a station have their windows together.
        window=sum(max(1, tcp_of(one).receive_window_bytes // tcp.mss_bytes) for one in flows),
        every=tcp.delayed_ack.every,
        times=Times.of(
            exchange,
            exchange,
            segment_bits=segment,
            ack_bits=tcp.header_bits,
            aifs_ns=air.aifs_ns,
            after_collision_ns=air.after_collision_ns,
        ),
    )


def _ask(air: Air, kind: _Kind, n: int, *, acks: bool = True) -> Throughput:
    return throughput(
        n,
        kind.window,
        kind.every,
        kind.times,
        slot_s=air.slot_s,
        w0=air.w0,
        m=air.stages,
        retries=air.retries,
        direction="upload" if kind.flows[0].direction == "upload" else "download",
        acks="contends" if acks else "none",
    )


def _together(said: Sequence[Throughput], kinds: Sequence[_Kind]) -> float:
    """All get as many bits: the mean time for one, each group in the company of its like."""
    times = [
        1.0 / (float(one.segments_per_s) * kind.payload_bits)
        for one, kind in zip(said, kinds, strict=True)
    ]
    return 1.0 / weighted(times, [kind.group.count for kind in kinds])


def _broken(air: Air, kinds: Sequence[_Kind], goodput: float) -> Iterator[str]:
    yield from _alike(air.scenario, kinds)
    yield from _losses(air.scenario, kinds, goodput)
    yield from _path(air.scenario, kinds, goodput)
    yield from skipped_acks([flow for kind in kinds for flow in kind.flows])
    rules = air.scenario.mac.rules
    if rules.immediate_access or rules.post_backoff:
        yield (
            "no backoff runs while there is nothing to send; here one may be over before the next "
            "packet comes, or is not needed; the model is too pessimistic, by 1 or 2 % with one "
            "station"
        )


def _alike(scenario: ResolvedScenario, kinds: Sequence[_Kind]) -> Iterator[str]:
    tcps = [tcp_of(flow) for kind in kinds for flow in kind.flows]
    differ = {
        "data rates": {kind.group.data_rate.bps for kind in kinds},
        "segment sizes": {tcp.mss_bytes for tcp in tcps},
        "windows": {kind.window for kind in kinds},
        "ACKs per segment": {tcp.delayed_ack.every for tcp in tcps},
    }
    names = [name for name, values in differ.items() if len(values) > 1]
    if names:
        yield (
            f"all stations are alike; here they differ in {' and '.join(names)}, and the mean time "
            f"of a bit stands in, as if all got as many; {UNKNOWN}, and the shares of the stations "
            "are not told"
        )
    scheduler = scenario.ap.scheduler
    if names and scheduler is not None and scheduler.kind != "oldest":
        yield (
            "packets go in the order in which they came; here stations take turns "
            f"({scheduler.kind}): fast ones get more than slow ones; goodput is too low"
        )
    if any(len(kind.flows) > 1 for kind in kinds):
        yield (
            "one connection for each station; here some have several, and their windows are taken "
            "for one; the effect is small"
        )


def _losses(scenario: ResolvedScenario, kinds: Sequence[_Kind], goodput: float) -> Iterator[str]:
    under_way = sum(kind.group.count * kind.window for kind in kinds)
    queue, down = scenario.ap.queue, kinds[0].flows[0].direction == "download"
    if down and queue.limit is not None and under_way > queue.limit:
        yield (
            f"a queue that holds all windows; here {queue.limit} packets at the access point, and "
            f"the windows let {under_way:,} be under way: packets are dropped, TCP slows down; "
            f"{OPTIMISTIC}"
        )
    if down and queue.discipline != "fifo":
        yield (
            f"one queue in order of arrival; here {queue.discipline}, which may drop packets or "
            f"take stations in turn; {UNKNOWN}"
        )
    for kind in kinds:
        own = kind.group.queue
        if not down and own.limit is not None and kind.window > own.limit:
            yield (
                f"queues that hold all windows; here {own.limit} packets at {kind.group.name} and "
                f"a window of {kind.window} segments: packets are dropped there; {OPTIMISTIC}"
            )
        if own.discipline != "fifo":
            yield f"one queue in order of arrival; here {own.discipline} at stations; {UNKNOWN}"
    least_s = min(
        min(tcp_of(flow).min_rto_ns, tcp_of(flow).initial_rto_ns) / 1e9
        for kind in kinds
        for flow in kind.flows
    )
    round_s = sum(kind.group.count * kind.window * kind.payload_bits for kind in kinds) / goodput
    if round_s > least_s:
        yield (
            f"TCP's timer never expires; here the windows together take {round_s:.2g} s, and the "
            f"least RTO is {least_s:.2g} s: as round trips grow, timers may expire without a loss; "
            f"{OPTIMISTIC}"
        )


def _path(scenario: ResolvedScenario, kinds: Sequence[_Kind], goodput: float) -> Iterator[str]:
    paths = [scenario.path_links(flow) for kind in kinds for flow in kind.flows]
    delay = max((sum(link.delay_ns for link in links) for links in paths), default=0)
    if delay:
        held = 2.0 * delay / 1e9 * goodput / kinds[0].payload_bits
        windows = sum(kind.group.count * kind.window for kind in kinds)
        yield (
            f"the server is at the access point; here a wired path takes up to "
            f"{format_time_ns(delay)} each way and holds {held:.3g} of {windows:,} segments: "
            f"{OPTIMISTIC}, little where that is a small part"
        )
    yield from lossy(scenario, "no packet is lost")
    rates = [link.rate_bps for links in paths for link in links if link.rate_bps is not None]
    if rates and min(rates) < goodput:
        yield (
            f"the air is the bottleneck; here a wired link has {format_rate(min(rates))}; "
            f"{OPTIMISTIC}"
        )

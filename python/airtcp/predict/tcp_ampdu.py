"""Predict endless TCP transfers in one direction over A-MPDUs: `models.tcp_ampdu`.

802.11n, ac and ax. If stations differ in rate, segments or windows, the model is evaluated as if
all were like each of them, and the access point's scheduler determines their shares.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from airtcp.models.airtime_fairness import Shares, shares
from airtcp.models.tcp_ampdu import Throughput, Times, throughput
from airtcp.phrases import phrase
from airtcp.predict.air import Air, jain, sharing_of
from airtcp.predict.answers import Answers
from airtcp.predict.assumptions import skipped_acks
from airtcp.predict.card import card
from airtcp.predict.facts import lossy, tcp_of
from airtcp.predict.senders import flow_count

if TYPE_CHECKING:
    from airtcp.models.checks import Values
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.stations import StationGroup
    from airtcp.scenario.keys.traffic import Flow

SOURCE: Final = "TCP over A-MPDUs (A9)"
_BOUND: Final = "TCP over A-MPDUs, no ACK access"
_CARD: Final = card(__file__)
_BOUND_CARD: Final = card(__file__, "bound")
CARDS: Final = (_CARD, _BOUND_CARD)
#: Up to this multiple of the Wi-Fi capacity, wired links leave the channel idle at times.
_NEAR: Final = 1.7
#: Down to this fraction, windows of several stations meet on the channel by more than 3 %.
_IDLE: Final = 0.4


@dataclass(frozen=True, slots=True)
class _Kind:
    """The stations of a group, each with one window, and the durations of their PPDUs."""

    group: StationGroup
    flows: tuple[Flow, ...]
    segment_bits: int
    payload_bits: int
    window: int
    every: int
    path_s: float
    times: Times


def predict(scenario: ResolvedScenario, answers: Answers) -> str | None:
    """Predict goodput and collisions, or return why mixed traffic has no model."""
    directions = {flow.direction for flow in scenario.flows}
    if len(directions) > 1:
        return phrase("predict.tcp_ampdu.both_directions")
    if any(flow.application.kind != "bulk" or flow.application.size for flow in scenario.flows):
        return phrase("predict.tcp_ampdu.others")
    air = Air.of(scenario)
    if isinstance(air, str):
        return air
    with answers.attempt(SOURCE):
        _contending(air, _kinds(air), answers)
    with answers.attempt(_BOUND):
        kinds = _kinds(air)
        bound = [_ask(air, kind, 1, acks=False) for kind in kinds]
        limit = phrase("predict.tcp_ampdu.no_acks")
        most = _together(air, bound, kinds).total_bps
        answers.add(_BOUND_CARD.origin(_BOUND, [limit]), {"goodput_bps": most})
    return None


def _contending(air: Air, kinds: Sequence[_Kind], answers: Answers) -> None:
    counts = [kind.group.count for kind in kinds]
    said = [_ask(air, kind, sum(counts)) for kind in kinds]
    shared = _together(air, said, kinds)
    goodput = shared.total_bps
    down = kinds[0].flows[0].direction == "download"
    broken = [*_broken(air, kinds, goodput), *_near(said, down=down), *air.broken, *air.rules()]
    values: dict[str, float | list[float]] = {
        "goodput_bps": goodput,
        "flow_goodput_bps": goodput / flow_count(air.scenario),
    }
    if all(len(kind.flows) == 1 for kind in kinds):
        values["jain_index"] = jain(shared.rate_bps)
    # The number of PPDUs per group: its airtime over the cycle of one PPDU.
    first = np.cumsum([0, *counts[:-1]])
    cycle = [float(one.segments_per_ppdu / one.segments_per_s) for one in said]
    visits = np.array(counts) * shared.airtime[first] / np.array(cycle)

    def mean(attribute: str, weights: Values = visits) -> float:
        single = [float(getattr(one, attribute)) for one in said]
        return float(np.dot(weights, single) / weights.sum())

    sides = ("ap", "stations")
    data, acks = sides if down else sides[::-1]
    values[f"mpdus_per_ppdu_{data}"] = mean("segments_per_ppdu")
    accesses = visits * [float(one.ack_accesses) for one in said]
    values[f"mpdus_per_ack_ppdu_{acks}"] = mean("acks_per_ppdu", accesses)
    told = len(kinds) == 1 or sharing_of(air.scenario) == "ppdus"
    if told and all(float(one.undisturbed) >= _NEAR for one in said):
        # Otherwise PPDUs of one group follow each other, or windows are on the wired links, and
        # fewer stations have something to send.
        for name in ("", "_ap", "_stations"):
            values[f"collision_probability{name}"] = mean(f"collision_probability{name}")
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
        # Several connections of a station have the sum of their windows.
        window=sum(max(1, tcp_of(one).receive_window_bytes // tcp.mss_bytes) for one in flows),
        every=tcp.delayed_ack.every,
        path_s=max(
            2.0 * sum(link.delay_ns for link in air.scenario.path_links(one)) / 1e9 for one in flows
        ),
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
        path_s=kind.path_s,
        aifs_s=air.aifs_ns / 1e9,
        at_once=air.scenario.mac.rules.immediate_access,
    )


def _together(air: Air, said: Sequence[Throughput], kinds: Sequence[_Kind]) -> Shares:
    """Return each station's share, with PPDUs as long as among stations like itself.

    In order of arrival the windows take turns. Stations with data contend alike, so they have as
    many PPDUs each, as if each had a turn.
    """
    counts = [kind.group.count for kind in kinds]
    segments = np.array([float(one.segments_per_ppdu) for one in said])
    cycle = segments / np.array([float(one.segments_per_s) for one in said])
    down = kinds[0].flows[0].direction == "download"
    return shares(
        np.repeat(segments * [kind.payload_bits for kind in kinds], counts),
        np.repeat(cycle, counts),
        np.repeat(cycle, counts),
        sharing_of(air.scenario) if down else "ppdus",
        packets=np.repeat(segments / [kind.window for kind in kinds], counts),
        weight=np.repeat([float(kind.group.airtime_weight) for kind in kinds], counts),
    )


def _broken(air: Air, kinds: Sequence[_Kind], goodput: float) -> Iterator[str]:
    yield from _alike(air.scenario, kinds)
    yield from _losses(air.scenario, kinds, goodput)
    yield from _path(air.scenario, kinds)
    yield from skipped_acks([flow for kind in kinds for flow in kind.flows])
    rules = air.scenario.mac.rules
    spared = [
        words
        for words, on in (
            (phrase("predict.tcp_ampdu.idle"), rules.immediate_access),
            (phrase("predict.tcp_ampdu.backoff_of_none"), rules.post_backoff),
        )
        if on
    ]
    if spared:
        yield phrase("predict.tcp_ampdu.no_backoff", spared=spared)


def _near(said: Sequence[Throughput], *, down: bool) -> Iterator[str]:
    """Report windows that rarely wait for each other but nearly fill the channel."""
    # The windows of one station queue behind each other even on a mostly idle channel.
    least = 0.0 if int(said[0].n) == 1 else _IDLE
    if not any(least < float(one.undisturbed) < _NEAR for one in said):
        return
    effect = phrase("predict.tcp_ampdu.near_either")
    if down and int(said[0].n) <= 2:
        effect = phrase("predict.tcp_ampdu.near_high")
    yield phrase("predict.tcp_ampdu.near", effect=effect)


def _alike(scenario: ResolvedScenario, kinds: Sequence[_Kind]) -> Iterator[str]:
    tcps = [tcp_of(flow) for kind in kinds for flow in kind.flows]
    differ = {
        "data rates": {kind.group.data_rate.bps for kind in kinds},
        "segment sizes": {tcp.mss_bytes for tcp in tcps},
        "windows": {kind.window for kind in kinds},
        phrase("predict.tcp_ampdu.acks_per_segment"): {tcp.delayed_ack.every for tcp in tcps},
    }
    names = [name for name, values in differ.items() if len(values) > 1]
    if names:
        effect = {
            "ppdus": phrase("predict.tcp_ampdu.little"),
            "airtime": phrase("predict.tcp_ampdu.little"),
            "packets": phrase("predict.tcp_ampdu.low"),
        }[sharing_of(scenario)]
        if kinds[0].flows[0].direction == "upload":
            effect = phrase("predict.tcp_ampdu.high")
        yield phrase("predict.tcp_ampdu.unequal", names=names, effect=effect)
    if any(len(kind.flows) > 1 for kind in kinds):
        yield phrase("predict.tcp_ampdu.several_connections")


def _losses(scenario: ResolvedScenario, kinds: Sequence[_Kind], goodput: float) -> Iterator[str]:
    under_way = sum(kind.group.count * kind.window for kind in kinds)
    queue, down = scenario.ap.queue, kinds[0].flows[0].direction == "download"
    if down and queue.limit is not None and under_way > queue.limit:
        yield phrase("predict.tcp_ampdu.queue", limit=queue.limit, under_way=under_way)
    acks = sum(kind.group.count * (kind.window // kind.every) for kind in kinds)
    if not down and queue.limit is not None and acks > queue.limit:
        yield phrase("predict.tcp_ampdu.ack_queue", limit=queue.limit, acks=acks)
    if down and queue.discipline != "fifo":
        yield phrase("predict.tcp_ampdu.discipline", discipline=queue.discipline)
    for kind in kinds:
        own = kind.group.queue
        if not down and own.limit is not None and kind.window > own.limit:
            yield phrase(
                "predict.tcp_ampdu.station_queue",
                limit=own.limit,
                name=kind.group.name,
                window=kind.window,
            )
        if own.discipline != "fifo":
            yield phrase("predict.tcp_ampdu.station_discipline", discipline=own.discipline)
    least_s = min(
        min(tcp_of(flow).min_rto_ns, tcp_of(flow).initial_rto_ns) / 1e9
        for kind in kinds
        for flow in kind.flows
    )
    round_s = sum(kind.group.count * kind.window * kind.payload_bits for kind in kinds) / goodput
    if round_s > least_s:
        yield phrase("predict.tcp_ampdu.timers", round_s=round_s, least=least_s)


def _path(scenario: ResolvedScenario, kinds: Sequence[_Kind]) -> Iterator[str]:
    trips = [kind.path_s for kind in kinds]
    if max(trips) > 0.0 and min(trips) < max(trips):
        yield phrase("predict.tcp_ampdu.paths")
    yield from lossy(scenario, "no packet is lost")

"""Predict saturated UDP over A-MPDUs (802.11n, ac, ax): Bianchi's senders, or a single one.

Nodes contend for PPDUs as Bianchi's do for frames. The limits of A-MPDUs and the lost MPDUs
determine what a PPDU carries. An access point with several receivers is one sender; its scheduler
determines their shares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from airtcp.models.airtime_fairness import Shares, Sharing, shares
from airtcp.models.ampdu import sent_mpdus
from airtcp.models.bianchi import SlotTimes, fixed_point, saturation
from airtcp.models.max_throughput import mean_backoff_s
from airtcp.phrases import phrase
from airtcp.predict.air import (
    Air,
    error_probability,
    jain,
    sharing_of,
)
from airtcp.predict.answers import Answers
from airtcp.predict.card import card
from airtcp.predict.facts import weighted
from airtcp.predict.saturated import crowded, head_start, wired
from airtcp.predict.senders import flow_count
from airtcp.standards import UDP_IP_HEADER_BYTES

if TYPE_CHECKING:
    from airtcp.models.checks import Values
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.stations import StationGroup

#: Modules whose predictions include frame errors, so frame errors do not break them.
BY: Final = "models.ampdu"
FAIR_BY: Final = "models.airtime_fairness"
#: Report PPDUs that lose all MPDUs from this probability on.
_ALL_LOST: Final = 0.01

_CARD: Final = card(__file__, "several")
_LONE_CARD: Final = card(__file__, "lone")
_FAIR_CARD: Final = card(__file__, "fair")
CARDS: Final = (_CARD, _LONE_CARD, _FAIR_CARD)


@dataclass(frozen=True, slots=True)
class _Ppdus:
    """The PPDUs from or to each of `count` stations: means, and times in seconds.

    `packets` is how many of the `sent` MPDUs arrive, `payload_bits` their payload, and `lasts_s`
    the duration of the exchange.
    """

    count: int
    weight: float
    sent: float
    payload_bits: float
    packets: float
    none_arrives: float
    lasts_s: float
    cycle_s: float
    collision_s: float


def predict(scenario: ResolvedScenario, answers: Answers) -> str | None:
    """Predict goodput, shares and collisions of saturated senders, or return why not."""
    air = Air.of(scenario)
    if isinstance(air, str):
        return air
    sends = {flow.stations for flow in scenario.flows if flow.direction == "upload"}
    nodes = sum(scenario.group(name).count for name in sends)
    nodes += any(flow.direction == "download" for flow in scenario.flows)
    with answers.attempt("Bianchi (2000), A-MPDUs" if nodes > 1 else "Jun et al. (2003), A-MPDUs"):
        up, down = _ppdus(air, "upload"), _ppdus(air, "download")
        if nodes > 1:
            _contending(air, up, down, nodes, answers)
        else:
            _lone(air, up, down, answers)
    return None


def _ppdus(air: Air, direction: str) -> list[_Ppdus]:
    """Return the PPDUs of each group with flows in this direction; several flows take turns."""
    found = []
    for group in air.scenario.stations:
        sizes = [
            app.packet_bytes
            for flow in air.scenario.flows
            if flow.stations == group.name and flow.direction == direction
            for app in [flow.application]
            if app.kind == "udp"
        ]
        if sizes:
            found.append(_of_group(air, group, sizes))
    return found


def _of_group(air: Air, group: StationGroup, sizes: Sequence[int]) -> _Ppdus:
    exchange = air.exchange(group)
    bits = 8 * round(sum(sizes) / len(sizes))
    lost = error_probability(group, bits // 8)
    sent = float(sent_mpdus(exchange.most_mpdus(bits), exchange.block_ack_window, lost).sent)
    payload = 8.0 * sum(max(0, size - UDP_IP_HEADER_BYTES) for size in sizes) / len(sizes)
    # Mean numbers of MPDUs need not be whole; interpolate times linearly between integers.
    counts = np.array([np.floor(sent), np.ceil(sent)])
    part = sent - counts[0]
    lasts_s = float(np.dot([1.0 - part, part], exchange.exchange_time_ns(counts, bits))) / 1e9
    collision = float(np.dot([1.0 - part, part], exchange.collision_time_ns(counts, bits))) / 1e9
    backoff_s = mean_backoff_s(air.w0 - 1, air.slot_s)
    return _Ppdus(
        count=group.count,
        weight=float(group.airtime_weight),
        sent=sent,
        payload_bits=sent * (1.0 - lost) * payload,
        packets=sent * (1.0 - lost),
        none_arrives=lost**sent,
        lasts_s=lasts_s,
        cycle_s=lasts_s + air.aifs_ns / 1e9 + float(backoff_s),
        collision_s=collision,
    )


def _shares(receivers: Sequence[_Ppdus], sharing: Sharing) -> Shares:
    """Return each receiver's share of one sender's time, station by station."""
    counts = [one.count for one in receivers]

    def each(value: Callable[[_Ppdus], float]) -> Values:
        return np.repeat([value(one) for one in receivers], counts)

    cycle = each(lambda one: one.cycle_s)
    return shares(
        each(lambda one: one.payload_bits),
        cycle,
        cycle,
        sharing,
        packets=each(lambda one: one.packets),
        weight=each(lambda one: one.weight),
    )


def _lone(air: Air, up: Sequence[_Ppdus], down: Sequence[_Ppdus], answers: Answers) -> None:
    own, receivers = sharing_of(air.scenario), up or down
    broken = [*air.broken, *air.amsdus(), *_broken(receivers)]
    for sharing, origin in (
        (own, _LONE_CARD.origin("Jun et al. (2003), A-MPDUs")),
        ("airtime", _FAIR_CARD.origin("Hoeiland-Joergensen et al. (2017) (5)")),
    ):
        if sharing == own and origin.by != BY:
            continue
        if len(receivers) == 1 and origin.by != BY:
            continue
        said = _shares(receivers, sharing)
        hints = [*broken, *wired(air.scenario)]
        values: dict[str, float | list[float]] = {
            "goodput_bps": said.total_bps,
            "flow_goodput_bps": said.total_bps / flow_count(air.scenario),
            "jain_index": jain(said.rate_bps),
        }
        if origin.by == BY:
            values["collision_probability"] = 0.0
            side = "stations" if up else "ap"
            values[f"mpdus_per_ppdu_{side}"] = _mean(receivers, own).sent
        else:
            hints.append(
                phrase("predict.ampdu.scheduler", own="packets" if own == "packets" else "PPDUs")
            )
        answers.add(replace(origin, broken=hints), values)


def _contending(
    air: Air, up: Sequence[_Ppdus], down: Sequence[_Ppdus], nodes: int, answers: Answers
) -> None:
    """Predict contention: every node, including the access point, delivers as many PPDUs."""
    ppdus = [*up, *([_mean(down, sharing_of(air.scenario))] if down else [])]
    counts = [one.count for one in ppdus]
    point = fixed_point(nodes, air.w0, air.stages, air.retries)
    wait_s = air.after_collision_ns / 1e9
    collision = 0.0
    for i, one in enumerate(ppdus):
        for j, other in enumerate(ppdus):
            pairs = counts[i] * (counts[j] - (i == j)) / (nodes * (nodes - 1))
            collision += pairs * (max(one.collision_s, other.collision_s) + wait_s)
    times = SlotTimes(
        slot_s=air.slot_s,
        success_s=weighted([one.lasts_s for one in ppdus], counts) + air.aifs_ns / 1e9,
        collision_s=collision,
        payload_s=0.0,
    )
    each = float(saturation(point, times).success_rate_per_s) / nodes
    rates = [np.full(one.count, each * one.payload_bits) for one in up]
    if down:
        shared = _shares(down, sharing_of(air.scenario)).rate_bps
        rates.append(each * ppdus[-1].payload_bits * shared / shared.sum())
    by_station = np.concatenate(rates)
    goodput = float(by_station.sum())
    broken = [*air.broken, *_broken([*up, *down]), *crowded(float(point.p), air.w0)]
    broken += [*head_start(air.as_dcf, nodes), *air.rules(), *wired(air.scenario)]
    values: dict[str, float | list[float]] = {
        "goodput_bps": goodput,
        "flow_goodput_bps": goodput / flow_count(air.scenario),
        "jain_index": jain(by_station),
        "collision_probability": float(point.p),
    }
    if up:
        values["mpdus_per_ppdu_stations"] = weighted([one.sent for one in up], counts[: len(up)])
    if down:
        values["mpdus_per_ppdu_ap"] = ppdus[-1].sent
    answers.add(_CARD.origin("Bianchi (2000), A-MPDUs", broken), values)


def _mean(down: Sequence[_Ppdus], sharing: Sharing) -> _Ppdus:
    """Return the mean PPDU of an access point with these receivers."""
    turns = {"packets": [1.0 / one.packets for one in down], "ppdus": [1.0] * len(down)}
    turns["airtime"] = [one.weight / one.cycle_s for one in down]
    weights = np.array([one.count for one in down]) * np.array(turns[sharing])
    weights /= weights.sum()

    def mean(value: Callable[[_Ppdus], float]) -> float:
        return float(np.dot(weights, [value(one) for one in down]))

    return _Ppdus(
        count=1,
        weight=mean(lambda one: one.weight),
        sent=mean(lambda one: one.sent),
        payload_bits=mean(lambda one: one.payload_bits),
        packets=mean(lambda one: one.packets),
        none_arrives=mean(lambda one: one.none_arrives),
        lasts_s=mean(lambda one: one.lasts_s),
        cycle_s=mean(lambda one: one.cycle_s),
        collision_s=mean(lambda one: one.collision_s),
    )


def _broken(ppdus: Sequence[_Ppdus]) -> Iterator[str]:
    worst = max(one.none_arrives for one in ppdus)
    if worst > _ALL_LOST:
        yield phrase("predict.ampdu.all_lost", worst=100 * worst)

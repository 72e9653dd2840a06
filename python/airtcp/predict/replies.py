"""Predict contention of endless TCP transfers, and downloads whose ACKs skip the backoff.

The latter is a model of airtcp's own, for MAC rules that let a TCP ACK be sent without a backoff.
If all ACKs draw a backoff, paper M applies (`downloads`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from airtcp.models import replies
from airtcp.models.airtime import Phy
from airtcp.models.bianchi import SlotTimes
from airtcp.models.replies import Contention
from airtcp.predict import assumptions
from airtcp.predict.answers import Answers
from airtcp.predict.card import Assumption, Card
from airtcp.predict.facts import Connections, tcp_of, window_segments
from airtcp.predict.keys import (
    ALIKE,
    COLLISIONS,
    FRAMES,
    NEVER_ENDS,
    SEGMENTS,
)
from airtcp.predict.senders import Sender, doublings

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario

_SOURCE: Final = "ACKs at once"
_RULES: Final = (
    "mac.rules.immediate_access",
    "mac.rules.post_backoff",
    "mac.rules.arrival_before_own_ack",
)
_CARD: Final = Card(
    name=_SOURCE,
    by="models.replies",
    asked=(
        "endless downloads whose TCP ACKs find the medium idle, several segments for each "
        "station's ACK"
    ),
    answers=("goodput_bps", "flow_goodput_bps"),
    reads=(
        *FRAMES,
        *SEGMENTS,
        *_RULES,
        *COLLISIONS,
    ),
    assumes=(
        *(one for one in assumptions.COMMON if not {*one.keys} & {*_RULES, "phy.eifs_ns"}),
        Assumption("the access point is always backlogged", ()),
        Assumption("segments for a station arrive one after the other", ("ap.queue",)),
    ),
    needs=(ALIKE, NEVER_ENDS),
    harmless={
        **assumptions.ENDLESS_HARMLESS,
        "mac.rules.colliders": "0.1 % of goodput, measured with 2 to 20 downloads",
        "phy.ack_timeout_ns": "as mac.rules.colliders",
    },
)
CARDS: Final = (_CARD,)
#: A window of this many times the segments per ACK keeps the access point backlogged.
_LARGE: Final = 10


def predict(connections: Connections, answers: Answers) -> None:
    """Predict goodput of endless downloads, if the rules let their ACKs skip the backoff.

    Excludes one download with an ACK per segment, of which half would skip it: the dependence
    between the backoffs of station and access point is not understood well enough for that.
    """
    scenario, segments = connections.scenario, connections.every * connections.count
    if (
        not _goes_at_once(scenario)
        or connections.uploads
        or not connections.alone
        or segments < 2.0
        or connections.total_window < _LARGE * connections.every
    ):
        return
    origin = _CARD.origin(_SOURCE, _broken(connections))
    with answers.attempt(_SOURCE):
        said = replies.goodput(
            contention(scenario),
            connections.parameters.tcp_payload_bits,
            w0=scenario.phy.cw_min + 1,
            m=doublings(scenario.phy.cw_min + 1, scenario.phy.cw_max),
            retries=scenario.mac.short_retry_limit - 1,
        )
        answers.add(
            origin, {"goodput_bps": said, "flow_goodput_bps": said / connections.count}, best=True
        )


def contention(cell: ResolvedScenario) -> Contention:
    """Return the contention in a cell whose flows all use TCP.

    Uploads and downloads share the access point's queue in proportion to their windows, which wait
    in it.
    """
    phy, wait = Phy.of(cell.phy), cell.mac.rules.after_collision
    data: list[SlotTimes] = []
    acks: list[SlotTimes] = []
    counts: list[float] = []
    every: list[float] = []
    stations = {"download": 0, "upload": 0}
    queued = {"download": 0.0, "upload": 0.0}
    for flow in cell.flows:
        group, tcp = cell.group(flow.stations), tcp_of(flow)
        header, d = tcp.header_bits // 8, tcp.delayed_ack.every
        for size, times in ((tcp.mss_bytes + header, data), (header, acks)):
            packet = (size, group.data_rate, group.control_rate)
            times.append(Sender("ap", 1, (packet,), (1,)).times(cell, phy, wait))
        counts.append(float(group.count))
        every.append(float(d))
        stations[flow.direction] += group.count
        packets = window_segments(flow) / (1.0 if flow.direction == "download" else d)
        queued[flow.direction] += packets * group.count
    mean_every = float(np.average(every, weights=counts))
    exchanges = mean(data, counts), mean(acks, counts)
    window = cell.phy.cw_min + 1
    at_once = 0.0
    if _goes_at_once(cell) and stations["download"]:
        has_backoff = cell.mac.rules.post_backoff
        at_once = (
            replies.share_at_once(window, mean_every, stations["download"]) if has_backoff else 1.0
        )
    down = replies.download(*exchanges, w0=window, d=mean_every, at_once=at_once)
    if not stations["upload"]:
        return down
    up = replies.upload(*exchanges, d=mean_every, stations=stations["upload"])
    part = queued["download"] / (queued["download"] + queued["upload"])
    return Contention(
        times=mean([down.times, up.times], [part, 1.0 - part]),
        contenders=part * down.contenders + (1.0 - part) * up.contenders,
        failing=part * down.failing,
        segments=part * down.segments + (1.0 - part) * up.segments,
    )


def mean(times: Sequence[SlotTimes], weights: Sequence[float]) -> SlotTimes:
    """Return the weighted means of durations."""

    def of(values: list[float]) -> float:
        return float(np.average(values, weights=weights))

    return SlotTimes(
        slot_s=times[0].slot_s,
        success_s=of([one.success_s for one in times]),
        collision_s=of([one.collision_s for one in times]),
        payload_s=of([one.payload_s for one in times]),
    )


def _goes_at_once(scenario: ResolvedScenario) -> bool:
    rules = scenario.mac.rules
    return rules.immediate_access and rules.arrival_before_own_ack == "idle"


def _broken(connections: Connections) -> Iterator[str]:
    yield from assumptions.alike(connections)
    yield from assumptions.losses(connections)
    yield from assumptions.path(connections)
    yield from assumptions.acknowledgments(connections)
    yield from assumptions.skipped_acks(connections.flows)

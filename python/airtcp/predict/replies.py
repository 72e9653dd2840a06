"""Derive the contention in a cell whose flows all use TCP, for `airtcp.models.replies`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from airtcp.models import replies
from airtcp.models.airtime import Phy
from airtcp.models.bianchi import SlotTimes
from airtcp.models.replies import Contention
from airtcp.predict.facts import tcp_of, window_segments
from airtcp.predict.senders import Sender

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario


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
    if goes_at_once(cell) and stations["download"]:
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


def goes_at_once(scenario: ResolvedScenario) -> bool:
    """Return whether the MAC rules let a TCP ACK be sent without a backoff."""
    rules = scenario.mac.rules
    return rules.immediate_access and rules.arrival_before_own_ack == "idle"

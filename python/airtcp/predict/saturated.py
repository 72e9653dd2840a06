"""Saturated UDP under one DCF for all: Bianchi's model, and the theoretical maximum of a lone node.

Nodes may differ in packet sizes and rates: 802.11 gives each as many chances to send, so their mean
times stand in for Bianchi's single ones; Heusse's model tells their shares.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from airtcp.models.airtime import Phy
from airtcp.models.bianchi import SlotTimes, fixed_point, saturation
from airtcp.models.heusse import anomaly
from airtcp.models.max_throughput import maximum_throughput, mean_backoff_s
from airtcp.predict import simultaneous
from airtcp.predict.answers import Answers, Origin
from airtcp.predict.facts import weighted
from airtcp.predict.senders import (
    Sender,
    counts_of,
    doublings,
    flow_count,
    jain_index,
    senders_of,
)

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.mac import AfterCollision

_BIANCHI: Final = "models.bianchi"
_LONE: Final = "models.max_throughput"
_HEUSSE: Final = "models.heusse"

_ASSUMES: Final = (
    "every sender always has a packet",
    "a frame is given up at the retry limit, as in Wu et al. (2002)",
    "an attempt collides with the same probability in every backoff stage",
    "nodes are alike: what differs in packet size and rate is averaged",
)
_ASSUMES_LONE: Final = (
    "one sender that always has a packet",
    "no collision and no loss",
    "a backoff before every packet",
)
_ASSUMES_ANOMALY: Final = (
    "every sender always has a packet",
    "every sender gets as many packets through as any other, whatever its rate",
    "a collision has two senders, and costs as much as the longer of their exchanges",
    "CW stays CWmin: a frame that collided has no longer backoff, and is never given up",
)


def predict(scenario: ResolvedScenario, answers: Answers) -> None:
    """Goodput, collisions and drops of saturated UDP senders."""
    senders = senders_of(scenario)
    phy = Phy.from_resolved(scenario.phy.model_dump())
    if sum(counts_of(senders)) == 1:
        with answers.attempt("Jun et al. (2003)"):
            _lone(scenario, phy, senders[0], answers)
        return
    with answers.attempt("Bianchi (2000)"):
        _contending(scenario, phy, senders, answers)
    for backoff, label in (("whole", ", whole backoff"), ("published", "")):
        with answers.attempt(f"Heusse et al. (2003){label}"):
            _anomaly(scenario, phy, senders, answers, whole=backoff == "whole")
    simultaneous.predict(sum(counts_of(senders)) - 1, scenario.phy.cw_min + 1, answers)


def _contending(
    scenario: ResolvedScenario, phy: Phy, senders: list[Sender], answers: Answers
) -> None:
    counts = counts_of(senders)
    nodes, w0 = sum(counts), phy.cw_min + 1
    stages = doublings(w0, phy.cw_max)
    point = fixed_point(nodes, w0, stages, scenario.mac.short_retry_limit - 1)
    payload = weighted([sender.payload_bits for sender in senders], counts)
    broken = _broken(senders)
    wait = scenario.mac.rules.after_collision
    answers.add(
        Origin(_BIANCHI, "Bianchi (2000) (9)", _ASSUMES, broken),
        {
            "collision_probability": float(point.p),
            "drop_probability_mac": float(point.drop),
            "mean_backlogged_nodes": float(nodes),
        },
    )
    printed = saturation(point, _slot_times(scenario, phy, senders, "difs"), variant="bianchi")
    told = [(printed, "Bianchi (2000) (13)", [*broken, *_printed_form(wait)])]
    if w0 > 1:
        times = _slot_times(scenario, phy, senders, wait)
        freezing = saturation(point, times, variant="freezing", w0=w0)
        told.insert(0, (freezing, "Bianchi, Tinnirello (2005)", broken))
    for said, source, hints in told:
        goodput = float(said.success_rate_per_s) * payload
        answers.add(
            Origin(_BIANCHI, source, _ASSUMES, hints),
            {"goodput_bps": goodput, "flow_goodput_bps": goodput / flow_count(scenario)},
        )


def _slot_times(
    scenario: ResolvedScenario, phy: Phy, senders: list[Sender], wait: AfterCollision
) -> SlotTimes:
    """Mean times over the nodes; a collision lasts as long as the longer of two senders' frames."""
    single = [sender.times(scenario, phy, wait) for sender in senders]
    counts = counts_of(senders)
    nodes = sum(counts)
    collision = 0.0
    for i, one in enumerate(single):
        for j, other in enumerate(single):
            pairs = counts[i] * (counts[j] - (i == j)) / (nodes * (nodes - 1))
            collision += pairs * max(one.collision_s, other.collision_s)
    return SlotTimes(
        slot_s=single[0].slot_s,
        success_s=weighted([times.success_s for times in single], counts),
        collision_s=collision,
        payload_s=weighted([times.payload_s for times in single], counts),
    )


def _lone(scenario: ResolvedScenario, phy: Phy, sender: Sender, answers: Answers) -> None:
    backoff = mean_backoff_s(phy.cw_min, phy.slot_time_ns / 1e9)
    # The exchange has its DIFS with it.
    cycle = sender.exchange_s(scenario, phy)
    goodput = float(maximum_throughput(sender.payload_bits, 0.0, backoff, cycle))
    answers.add(
        Origin(_LONE, "Jun et al. (2003)", _ASSUMES_LONE),
        {
            "goodput_bps": goodput,
            "flow_goodput_bps": goodput / flow_count(scenario),
            "collision_probability": 0.0,
            "drop_probability_mac": 0.0,
        },
    )


def _anomaly(
    scenario: ResolvedScenario, phy: Phy, senders: list[Sender], answers: Answers, *, whole: bool
) -> None:
    counts = counts_of(senders)
    collisions = [sender.rts_collision_s(scenario, phy) for sender in senders]
    rts = [time for time in collisions if time is not None]
    said = anomaly(
        [sender.exchange_s(scenario, phy) for sender in senders],
        counts,
        [sender.payload_bits for sender in senders],
        cw_min=phy.cw_min,
        slot_s=phy.slot_time_ns / 1e9,
        collision_s=weighted(rts, counts) if len(rts) == len(senders) else None,
        backoff="whole" if whole else "published",
    )
    goodput = float(said.throughput_bps)
    values: dict[str, float | list[float]] = {
        "goodput_bps": goodput,
        "flow_goodput_bps": goodput / flow_count(scenario),
        "jain_index": jain_index(senders, said.host_throughput_bps.tolist()),
    }
    if whole:
        # The published wait has the same collisions.
        values["collision_probability"] = float(said.p_c)
    label = ", whole backoff" if whole else ""
    broken = list(_anomaly_broken(scenario, sum(counts), phy.cw_min, whole=whole))
    origin = Origin(_HEUSSE, f"Heusse et al. (2003){label}", _ASSUMES_ANOMALY, broken)
    answers.add(origin, values)


def _broken(senders: list[Sender]) -> list[str]:
    sentences = []
    if len({packet for sender in senders for packet in sender.packets}) > 1:
        sentences.append(
            "nodes are alike; here packet sizes or rates differ, and mean times stand in: the "
            "total should hold, the shares of the nodes are not told"
        )
    return sentences


def _printed_form(wait: AfterCollision) -> Iterator[str]:
    """What the printed (13) has otherwise than 802.11, whatever the scenario."""
    yield (
        "every node may use the first slot after a transmission; in 802.11 only the one that just "
        "succeeded can, since the others' counters are frozen; goodput is a little off"
    )
    if wait != "difs":
        yield f"all wait DIFS after a collision; here {wait.upper()}: goodput is too high"


def _anomaly_broken(
    scenario: ResolvedScenario, nodes: int, cw_min: int, *, whole: bool
) -> Iterator[str]:
    """What Heusse's model has otherwise than 802.11."""
    if not whole:
        yield (
            "the wait before a frame is half of what CWmin makes; goodput is too high, most with "
            "few senders"
        )
    if scenario.phy.cw_max > cw_min:
        yield (
            f"CW stays {cw_min}; here it doubles up to {scenario.phy.cw_max} with each collision: "
            "the collision probability is too high with many senders"
        )
    if nodes > 2:
        yield (
            "a collision is charged to every sender in it, though they lose the same time; "
            "goodput is too low, the more the more senders"
        )

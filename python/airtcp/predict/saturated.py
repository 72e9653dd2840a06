"""Predict saturated UDP under a single DCF: Bianchi's model, or the maximum of one node.

Nodes may differ in packet sizes and rates. 802.11 gives each node as many chances to send, so their
mean times replace Bianchi's single ones; Heusse's model gives their shares.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from airtcp.models.airtime import Phy
from airtcp.models.bianchi import SlotTimes, fixed_point, saturation
from airtcp.models.heusse import anomaly
from airtcp.models.max_throughput import maximum_throughput, mean_backoff_s
from airtcp.phrases import phrase
from airtcp.predict.answers import Answers
from airtcp.predict.card import card
from airtcp.predict.facts import lossy, weighted
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

#: Report a head start from this product of senders and slots on: about 0.5 %.
_HEAD_START: Final = 80.0
#: With fewer slots per window than this, stages differ (measured: 6 % at 4 slots, 2 % at 8).
_FEW_SLOTS: Final = 8
#: Report frames given up at the retry limit from this probability on.
_DROPS: Final = 1e-3
#: From this collision probability on, stages differ (measured: below 1 % until there).
_CROWDED: Final = 0.75

_CARD: Final = card(__file__, "several")
_LONE_CARD: Final = card(__file__, "lone")
_ANOMALY_CARD: Final = card(__file__, "anomaly")
CARDS: Final = (_CARD, _LONE_CARD, _ANOMALY_CARD)


def predict(scenario: ResolvedScenario, answers: Answers) -> None:
    """Predict goodput, collisions and drops of saturated UDP senders."""
    senders = senders_of(scenario)
    phy = Phy.of(scenario.phy)
    if sum(counts_of(senders)) == 1:
        with answers.attempt("Jun et al. (2003)"):
            _lone(scenario, phy, senders[0], answers)
        return
    with answers.attempt("Bianchi (2000)"):
        _contending(scenario, phy, senders, answers)
    for backoff, label in (("whole", ", whole backoff"), ("published", "")):
        with answers.attempt(f"Heusse et al. (2003){label}"):
            _anomaly(scenario, phy, senders, answers, whole=backoff == "whole")


def _contending(
    scenario: ResolvedScenario, phy: Phy, senders: list[Sender], answers: Answers
) -> None:
    counts = counts_of(senders)
    nodes, w0 = sum(counts), phy.cw_min + 1
    stages = doublings(w0, phy.cw_max)
    point = fixed_point(nodes, w0, stages, scenario.mac.short_retry_limit - 1)
    payload = weighted([sender.payload_bits for sender in senders], counts)
    broken = [*_broken(senders), *crowded(float(point.p), w0), *head_start(scenario, nodes)]
    wait = scenario.mac.rules.after_collision
    answers.add(
        _CARD.origin("Bianchi (2000) (9)", broken),
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
            _CARD.origin(source, [*hints, *wired(scenario)]),
            {"goodput_bps": goodput, "flow_goodput_bps": goodput / flow_count(scenario)},
        )


def _slot_times(
    scenario: ResolvedScenario, phy: Phy, senders: list[Sender], wait: AfterCollision
) -> SlotTimes:
    """Return mean times over nodes; a collision lasts as long as the longer of two frames."""
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
    # The exchange includes its DIFS.
    cycle = sender.exchange_s(scenario, phy)
    goodput = float(maximum_throughput(sender.payload_bits, 0.0, backoff, cycle))
    answers.add(
        _LONE_CARD.origin("Jun et al. (2003)", wired(scenario)),
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
        # The published wait gives the same collisions.
        values["collision_probability"] = float(said.p_c)
    label = ", whole backoff" if whole else ""
    broken = list(_anomaly_broken(scenario, sum(counts), phy.cw_min, whole=whole))
    broken += [*head_start(scenario, sum(counts)), *wired(scenario)]
    drop = float(said.p_c) ** scenario.mac.short_retry_limit
    if drop > _DROPS:
        broken.append(
            phrase(
                "predict.saturated.drops",
                drop=100 * drop,
                most=scenario.mac.short_retry_limit,
            )
        )
    answers.add(_ANOMALY_CARD.origin(f"Heusse et al. (2003){label}", broken), values)


def _broken(senders: list[Sender]) -> list[str]:
    sentences = []
    if len({packet for sender in senders for packet in sender.packets}) > 1:
        sentences.append(phrase("predict.saturated.unequal"))
    return sentences


def after_collision_ns(scenario: ResolvedScenario) -> int:
    """Return the wait of nodes that heard a collision, from its end to their first slot."""
    phy = scenario.phy
    waits = {"difs": phy.difs_ns, "eifs": phy.eifs_ns, "eifs+difs": phy.eifs_ns + phy.difs_ns}
    return waits[scenario.mac.rules.after_collision]


def head_start_ns(scenario: ResolvedScenario) -> int:
    """Return by how much the colliding nodes resume before those that heard the collision.

    They resume after the ACK timeout and DIFS; the value is negative if that is longer.
    """
    phy = scenario.phy
    return after_collision_ns(scenario) - phy.ack_timeout_ns - phy.difs_ns


def head_start(scenario: ResolvedScenario, nodes: int) -> Iterator[str]:
    """Report that colliding nodes wait for an ACK and resume at another time than the others.

    They resume their countdown after the ACK timeout and DIFS, the others after EIFS. During the
    difference they contend only among themselves. accuracy.md has the effect.
    """
    if scenario.mac.rules.colliders == "as-others":
        return
    early = head_start_ns(scenario)
    slots = abs(early) / scenario.phy.slot_time_ns
    if nodes * slots < _HEAD_START:
        return
    here = phrase("predict.saturated.resume", early=abs(early), slots=slots)
    if early > 0:
        yield phrase("predict.saturated.resume_before", here=here)
    else:
        yield phrase("predict.saturated.resume_after", here=here)


def wired(scenario: ResolvedScenario) -> Iterator[str]:
    """Report that wired links lose packets that have crossed the channel."""
    yield from lossy(scenario, phrase("predict.saturated.delivery"))


def crowded(p: float, w0: int) -> Iterator[str]:
    """Report that one collision probability for all stages is not accurate enough."""
    if w0 < _FEW_SLOTS:
        yield phrase("predict.saturated.small_window", w0=w0 - 1)
    if p > _CROWDED:
        yield phrase("predict.saturated.large_window", p=p)


def _printed_form(wait: AfterCollision) -> Iterator[str]:
    """Report how the printed (13) differs from 802.11 in any scenario."""
    yield phrase("predict.saturated.first_slot")
    if wait != "difs":
        yield phrase("predict.saturated.difs", upper=wait.upper())


def _anomaly_broken(
    scenario: ResolvedScenario, nodes: int, cw_min: int, *, whole: bool
) -> Iterator[str]:
    """Report how Heusse's model differs from 802.11."""
    if not whole:
        yield phrase("predict.saturated.half_backoff")
    wait = scenario.mac.rules.after_collision
    if wait != "difs":
        yield phrase(
            "predict.saturated.collision_time",
            scenario=after_collision_ns(scenario),
            upper=wait.upper(),
        )
    if scenario.phy.cw_max > cw_min:
        yield phrase("predict.saturated.one_window", cw_min=cw_min, cw_max=scenario.phy.cw_max)
    if nodes > 2:
        yield phrase("predict.saturated.collision_twice")

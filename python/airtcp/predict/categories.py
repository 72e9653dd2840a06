"""Predict saturated UDP under EDCA, where access point and stations contend differently.

Each kind of node is a class with its own AIFS, window and frames. It uses one access category per
node, the one for UDP. See `saturated` for nodes that contend alike.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from airtcp.models.airtime import Phy
from airtcp.models.edca import FixedPoint, fixed_point, saturation
from airtcp.phrases import phrase
from airtcp.predict.answers import Answers
from airtcp.predict.card import card
from airtcp.predict.saturated import head_start, wired
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
    from airtcp.scenario.keys.mac import AccessParameters

_SOURCE: Final = "Ramaiyan et al. (2008)"
_CARD: Final = card(__file__)
CARDS: Final = (_CARD,)


def predict(scenario: ResolvedScenario, answers: Answers) -> str | None:
    """Predict goodput, shares, collisions and drops, or return why AIFS does not fit into slots."""
    edca = scenario.mac.edca
    if edca is None:
        return None
    senders = senders_of(scenario)
    if sum(counts_of(senders)) == 1:
        return None
    category = scenario.classify.udp
    sides = {"ap": edca.ap[category], "stations": edca.stations[category]}
    access = [sides[sender.side] for sender in senders]
    first = min(one.aifs_ns for one in access)
    slot = scenario.phy.slot_time_ns
    if any((one.aifs_ns - first) % slot for one in access):
        return phrase(
            "predict.categories.slots", aifs=max(one.aifs_ns for one in access) - first, slot=slot
        )
    with answers.attempt(_SOURCE):
        _classes(scenario, senders, access, answers)
    return None


def _classes(
    scenario: ResolvedScenario,
    senders: list[Sender],
    access: list[AccessParameters],
    answers: Answers,
) -> None:
    slot = scenario.phy.slot_time_ns
    first = min(one.aifs_ns for one in access)
    phy = Phy.of(scenario.phy)
    # The waits end with the smallest AIFS, where the model's slots begin.
    phy = replace(phy, difs_ns=first, eifs_ns=phy.eifs_ns - phy.difs_ns + first)
    wait = scenario.mac.rules.after_collision
    point = fixed_point(
        counts_of(senders),
        [one.cw_min + 1 for one in access],
        [doublings(one.cw_min + 1, one.cw_max) for one in access],
        [(one.aifs_ns - first) // slot for one in access],
        scenario.mac.short_retry_limit - 1,
    )
    said = saturation(point, [sender.times(scenario, phy, wait) for sender in senders])
    rates = np.asarray(said.success_rate_per_s)
    payload = np.array([sender.payload_bits for sender in senders])
    node_bps = rates * payload / np.asarray(counts_of(senders))
    goodput = float((rates * payload).sum())
    values: dict[str, float | list[float]] = {
        "goodput_bps": goodput,
        "flow_goodput_bps": goodput / flow_count(scenario),
        "jain_index": jain_index(senders, node_bps.tolist()),
        "mean_backlogged_nodes": float(sum(counts_of(senders))),
        **_collisions(point, senders),
    }
    # Served frames are delivered or given up.
    served = rates / np.maximum(1.0 - point.drop, 1e-300)
    values["drop_probability_mac"] = float((served * point.drop).sum() / served.sum())
    broken = [
        *_broken(access),
        *head_start(scenario, sum(counts_of(senders))),
        *wired(scenario),
    ]
    answers.add(_CARD.origin(_SOURCE, broken), values)


def _collisions(point: FixedPoint, senders: list[Sender]) -> dict[str, float]:
    """Return collisions per attempt, over all nodes and per side; a class attempts n tau share."""
    attempts = np.asarray(point.zones.share) * point.n * point.tau
    at_ap = np.array([sender.side == "ap" for sender in senders])
    sides = {"": np.ones(len(senders), bool), "_ap": at_ap, "_stations": ~at_ap}
    return {
        f"collision_probability{name}": float(
            (attempts * point.p)[chosen].sum() / attempts[chosen].sum()
        )
        for name, chosen in sides.items()
        if attempts[chosen].sum() > 0.0
    }


def _broken(access: list[AccessParameters]) -> list[str]:
    limit = max(one.txop_limit_ns for one in access)
    if not limit:
        return []
    return [phrase("predict.categories.txop", limit=limit)]

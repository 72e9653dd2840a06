"""Predict m*, the number of active stations that maximizes paper B's throughput.

This is a setting of the paper's scheme; predictions for the scenario as it is are in `cycles`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from airtcp.models.airtime import Phy
from airtcp.predict.access import as_dcf
from airtcp.predict.answers import Answers
from airtcp.predict.facts import rate_of, tcp_of
from airtcp.predict.senders import rts_before
from airtcp.scenario.keys.queue import StandardAccess

from airtcp_papers.bruno.model import Overheads, best_stations
from airtcp_papers.bruno.predict import CARDS, sentence
from airtcp_papers.miorandi.predict.connections import means

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.traffic import Flow

_Collision: TypeAlias = Literal["as-success", "difs", "eifs"]

_BURSTS: Final = CARDS["target"]


def bursts(scenario: ResolvedScenario, answers: Answers) -> str | None:
    """Find m* if two or more stations have TCP downloads and contend by one DCF."""
    flows = [flow for flow in scenario.flows if flow.tcp and flow.direction == "download"]
    counts = [scenario.group(flow.stations).count for flow in flows]
    if sum(counts) < 2:
        return None
    ap = scenario.ap.model_copy(update={"access": StandardAccess(scheme="standard")})
    alike = as_dcf(scenario.model_copy(update={"ap": ap})).scenario
    if alike is None:
        return None
    access = scenario.ap.access
    own = access.window_slots if access.scheme == "adaptive-burst" else alike.phy.cw_min + 1
    here: _Collision = "difs" if scenario.mac.rules.after_collision == "difs" else "eifs"
    broken = list(_rts(scenario, flows))
    readings: list[tuple[_Collision, str, list[str]]] = [(here, "B (1), m*", broken)]
    if access.scheme == "adaptive-burst":
        printed = [*broken, sentence("as_success", wait=here.upper())]
        readings.append(("as-success", "B (1), m*, T_c = T_s", printed))
    for collision, source, hints in readings:
        with answers.attempt(source):
            said = float(best_stations(own, _overheads(alike, flows, counts, collision)))
            answers.add(_BURSTS.origin(source, hints), {"best_target_active": said})
    return None


def _overheads(
    scenario: ResolvedScenario, flows: list[Flow], counts: list[int], collision: _Collision
) -> Overheads:
    phy = Phy.of(scenario.phy)
    single = []
    for flow in flows:
        data, control = rate_of(scenario.group(flow.stations))
        single.append(
            Overheads.from_phy(
                phy,
                msdu_bits=tcp_of(flow).header_bits,
                collision=collision,
                data_rate=data,
                control_rate=control,
            )
        )
    return replace(single[0], **means(single, counts, "success_s", "collision_s"))


def _rts(scenario: ResolvedScenario, flows: list[Flow]) -> Iterator[str]:
    if any(rts_before(scenario, tcp_of(flow).header_bits // 8) for flow in flows):
        yield sentence("rts_before_acks")

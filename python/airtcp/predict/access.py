"""Convert the channel access of a scenario to the single DCF that most models assume.

It detects access categories that are equivalent to a DCF, and reports channel access features that
the models lack.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from airtcp.amounts import percent
from airtcp.models.airtime import Phy, ppdu_time_ns
from airtcp.phrases import phrase
from airtcp.predict.facts import legacy
from airtcp.units import format_rate

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.mac import AccessParameters
    from airtcp.scenario.keys.traffic import Flow
    from airtcp.standards import AccessCategory


@dataclass(frozen=True, slots=True)
class Access:
    """The equivalent scenario under the DCF, and how it differs from the original.

    `scenario` is None if there is no equivalent; `reason` then says why. `txop_limit_ns` is that of
    its category, 0 for one exchange per access.
    """

    scenario: ResolvedScenario | None
    broken: tuple[str, ...] = ()
    reason: str = ""
    txop_limit_ns: int = 0


def as_dcf(scenario: ResolvedScenario) -> Access:
    """Return the scenario with one DCF for all nodes, if its access categories allow that.

    With one category in use, and the same AIFS and CWmin at access point and stations, EDCA is a
    DCF whose DIFS is that AIFS. Only a TXOP limit and CWmax can then differ. An access point that
    sends in bursts has no equivalent DCF.
    """
    if scenario.ap.access.scheme != "standard" and _access_point_sends(scenario):
        return Access(None, reason=phrase("predict.access.bursts"))
    edca = scenario.mac.edca
    if edca is None:
        return Access(scenario)
    used = {pair for flow in scenario.flows for pair in _used(scenario, flow)}
    categories = sorted({category for _, category in used})
    if len(categories) > 1:
        return Access(
            None, reason=phrase("predict.access.several_categories", categories=categories)
        )
    (category,) = categories
    sides = {"ap": edca.ap[category], "stations": edca.stations[category]}
    parameters = [sides[side] for side in sorted({side for side, _ in used})]
    if len({(one.aifs_ns, one.cw_min) for one in parameters}) > 1:
        return Access(
            None,
            reason=phrase(
                "predict.access.unequal",
                category=category,
                ap=_shown(sides["ap"]),
                stations=_shown(sides["stations"]),
            ),
        )
    phy = scenario.phy
    # Stations meet more collisions than the access point, so their CWmax matters more.
    one = parameters[-1]
    changed = phy.model_copy(
        update={
            "difs_ns": one.aifs_ns,
            "eifs_ns": phy.eifs_ns - phy.difs_ns + one.aifs_ns,
            "cw_min": one.cw_min,
            "cw_max": one.cw_max,
        }
    )
    mac = scenario.mac.model_copy(update={"edca": None})
    return Access(
        scenario.model_copy(update={"phy": changed, "mac": mac}),
        tuple(_broken(parameters, aggregates=mac.aggregation is not None)),
        txop_limit_ns=max(one.txop_limit_ns for one in parameters),
    )


def beacons(scenario: ResolvedScenario) -> list[str]:
    """Report that the models have no beacons."""
    beacon = scenario.mac.beacon
    if beacon is None:
        return []
    phy = scenario.phy
    frame = int(
        ppdu_time_ns(
            Phy.of(phy),
            legacy(beacon.rate),
            beacon.size_bits,
        )
    )
    share = percent((phy.difs_ns + frame) / beacon.interval_ns)
    return [phrase("predict.access.beacons", interval=beacon.interval_ns, share=share)]


def protection(scenario: ResolvedScenario) -> list[str]:
    """Report that the models have no protection frames for 802.11b stations in 802.11g."""
    if scenario.phy.protection is None:
        return []
    frames = {"cts-to-self": "a CTS", "rts-cts": "RTS and CTS"}[scenario.phy.protection.kind]
    rate = format_rate(scenario.phy.protection.rate.bps)
    return [phrase("predict.access.protection", frames=frames, rate=rate)]


def rate_control(scenario: ResolvedScenario) -> list[str]:
    """Report that the models have no rate control."""
    groups = [group.name for group in scenario.stations if group.rate_control is not None]
    if not groups:
        return []
    return [phrase("predict.access.rate_control", groups=groups)]


def frame_errors(scenario: ResolvedScenario) -> list[str]:
    """Report that the models have no frame errors except collisions."""
    lossy = [group for group in scenario.stations if group.frame_errors is not None]
    if not lossy:
        return []
    worst = max(group.frame_errors.rate for group in lossy if group.frame_errors is not None)
    return [
        phrase(
            "predict.access.frame_errors",
            worst=worst,
            name=", ".join(group.name for group in lossy),
        )
    ]


def _access_point_sends(scenario: ResolvedScenario) -> bool:
    """Return whether the access point sends; with TCP it always sends data or ACKs."""
    return any(flow.tcp is not None or flow.direction == "download" for flow in scenario.flows)


def _used(scenario: ResolvedScenario, flow: Flow) -> list[tuple[str, AccessCategory]]:
    """Return which side sends packets of a flow, with the access category of each."""
    classify = scenario.classify
    if flow.tcp is None:
        return [("ap" if flow.direction == "download" else "stations", classify.udp)]
    kinds = (classify.tcp_data, classify.tcp_ack)
    return [(side, category) for side in ("ap", "stations") for category in kinds]


def _broken(parameters: list[AccessParameters], *, aggregates: bool) -> list[str]:
    sentences = []
    limit = max(one.txop_limit_ns for one in parameters)
    if limit and aggregates:
        sentences.append(phrase("predict.access.txop_of_ppdus", limit=limit))
    elif limit:
        sentences.append(phrase("predict.access.txop_of_frames", limit=limit))
    windows = [one.cw_max for one in parameters]
    if len(set(windows)) > 1:
        sentences.append(phrase("predict.access.cw_max", ap=windows[0], stations=windows[-1]))
    return sentences


def _shown(parameters: AccessParameters) -> str:
    return phrase("predict.access.parameters", aifs=parameters.aifs_ns, cw_min=parameters.cw_min)

"""Predict downloads as jobs of a processor, by their effective service time: paper H.

A transfer occupies the channel for its effective service time EST, and shares it equally with the
others in progress. Stations that think between transfers are the finite sources of an Engset queue;
a Poisson process of transfers, as in the paper, is the M/G/1-PS queue.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
from airtcp.models.airtime import Phy
from airtcp.models.processor_sharing import (
    engset,
    engset_distribution,
    engset_sojourn_quantile,
    mean_sojourn,
    number_distribution,
    sojourn_quantile,
    stable_load,
)
from airtcp.predict.answers import Answers
from airtcp.predict.assumptions import skipped_acks
from airtcp.predict.card import Card
from airtcp.predict.facts import legacy, rate_of, size_of, tcp_of
from airtcp.units import format_time_ns

from airtcp_papers.common.cards import cards, said
from airtcp_papers.hoekstra import model
from airtcp_papers.miorandi.predict import assumed_windows, assumptions
from airtcp_papers.miorandi.predict.assumed_sharing import (
    is_exponential,
    near_one,
    not_poisson,
    unequal_shares,
)
from airtcp_papers.miorandi.predict.connections import Connections
from airtcp_papers.miorandi.predict.transfers import (
    Transfers,
    arrival_rate,
    dialogue_of,
    request_bytes,
    think_time,
)

if TYPE_CHECKING:
    from airtcp.models.checks import Values
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.traffic import Flow

_said: Final = partial(said, "hoekstra")

_CARD: Final = cards("hoekstra")["few_sources"]
_POISSON_CARD: Final = cards("hoekstra")["poisson"]
_QUANTILES_CARD: Final = cards("hoekstra")["quantiles"]
_FEW_QUANTILES_CARD: Final = cards("hoekstra")["few_quantiles"]
_LONE_CARD: Final = cards("hoekstra")["alone"]
#: Up to this many segments the window hardly matters; paper H's testbed has 6.
_SMALL_WINDOW: Final = 8
#: Truncate a distribution where states fall below this probability.
_NEGLIGIBLE: Final = 1e-9
_MOST_STATES: Final = 1000
#: Report the EIFS of collisions from this part of the service time on.
_NOTABLE: Final = 0.01
#: The percentiles of `_QUANTILES_CARD`, in the order of its answers.
_QUANTILES: Final = (0.5, 0.9, 0.99)


@dataclass(frozen=True, slots=True)
class _Service:
    """EST of a mean transfer up to the last TCP ACK, and the part of it after the last byte."""

    est_s: float
    last_ack_s: float


def fits(scenario: ResolvedScenario) -> bool:
    """Return whether flows have larger windows, an ACK per two segments, and basic access.

    Then EST is more accurate than paper M, whose access point and station never contend.
    """
    connections = Connections.of(scenario, scenario.flows)
    return (
        connections.smallest_window > 1
        and connections.every == 2.0
        and not connections.parameters.rts_before_data
    )


def web(scenario: ResolvedScenario, answers: Answers) -> None:
    """Predict transfer times, transfers in progress and goodput of web flows."""
    transfers = Transfers(scenario)
    count = transfers.connections.count
    broken = list(_broken(transfers))
    with answers.attempt("H (19), few sources"):
        service = _service(transfers)
        _few_sources(transfers, service, answers, broken)
        rate = transfers.over_flows(lambda flow: 1.0 / think_time(flow).mean()) * count
        few = _said("waiting_stations" if count < _MOST_STATES else "many_stations", count=count)
        with answers.attempt("H (29)"):
            _open(transfers, service, rate, answers, [*broken, few])


def _few_sources(
    transfers: Transfers, service: _Service, answers: Answers, broken: Sequence[str]
) -> None:
    """Predict EST shared by stations that think after each transfer: an Engset queue."""
    count = transfers.connections.count
    ratio = service.est_s / transfers.over_flows(lambda flow: think_time(flow).mean())
    said = engset(count, ratio, mean_service_s=service.est_s)
    sojourn = float(said.mean_sojourn_s)
    time_s = sojourn - service.last_ack_s
    bits = 8.0 * transfers.mean_size_bytes * float(said.carried) / service.est_s
    answers.add(
        _CARD.origin("H (19), few sources", broken),
        {
            "transfer_time_s": time_s,
            "transfer_time_to_last_ack_s": sojourn + transfers.timer_s,
            "active_flows": float(said.carried) / service.est_s * time_s,
            "goodput_bps": bits,
            "flow_goodput_bps": bits / count,
            "active_flows_distribution": engset_distribution(count, ratio).tolist(),
        },
    )
    if all(is_exponential(law) for law in transfers.sizes):
        times_s = engset_sojourn_quantile(_QUANTILES, count, ratio, service.est_s)
        _quantiles(_FEW_QUANTILES_CARD, "H (26), few sources", times_s, transfers, answers, broken)


def ftp(scenario: ResolvedScenario, answers: Answers) -> None:
    """Predict transfer times and transfers in progress of FTP, which start independently."""
    transfers = Transfers(scenario)
    broken = [*_broken(transfers), *not_poisson(transfers)]
    rate = arrival_rate(transfers)
    for variant, label in ((model.CORRECTED, ", H2 corrected"), (model.PAPER, "")):
        with answers.attempt(f"H (29){label}"):
            _open(transfers, _service(transfers, variant), rate, answers, broken, label)


def alone(scenario: ResolvedScenario, answers: Answers) -> None:
    """Predict the only transfer of a scenario, which has the channel to itself."""
    transfers = Transfers(scenario)
    broken = list(_broken(transfers))
    with answers.attempt("H (19)"):
        service = _service(transfers)
        answers.add(
            _LONE_CARD.origin("H (19)", broken),
            {
                "transfer_time_s": service.est_s - service.last_ack_s,
                "transfer_time_to_last_ack_s": service.est_s + transfers.timer_s,
            },
        )


def _open(
    transfers: Transfers,
    service: _Service,
    rate_per_s: float,
    answers: Answers,
    broken: Sequence[str],
    label: str = "",
) -> None:
    """Predict by (27) to (30), and by (26) if sizes are exponential.

    A measured transfer ends with the last byte; in (30) it also waits for an ACK.
    """
    rho = float(stable_load("rho_eff", rate_per_s * service.est_s))
    sojourn = float(mean_sojourn(service.est_s, rho))
    bits = 8.0 * transfers.mean_size_bytes * rate_per_s
    broken = [*broken, *near_one(rho)]
    states = np.arange(_MOST_STATES)
    pi = np.asarray(number_distribution(states, rho))
    answers.add(
        _POISSON_CARD.origin(f"H (29){label}", broken),
        {
            "transfer_time_s": sojourn - service.last_ack_s,
            "transfer_time_to_last_ack_s": sojourn + transfers.timer_s,
            "active_flows": rho / (1.0 - rho) - rate_per_s * service.last_ack_s,
            "goodput_bps": bits,
            "flow_goodput_bps": bits / transfers.connections.count,
        },
    )
    answers.add(
        _POISSON_CARD.origin(f"H (30){label}", broken),
        {"active_flows_distribution": pi[: int(np.count_nonzero(pi > _NEGLIGIBLE))].tolist()},
    )
    if all(is_exponential(law) for law in transfers.sizes):
        times_s = sojourn_quantile(_QUANTILES, rho, service.est_s)
        _quantiles(_QUANTILES_CARD, f"H (26){label}", times_s, transfers, answers, broken)


def _quantiles(
    card: Card,
    source: str,
    times_s: Values,
    transfers: Transfers,
    answers: Answers,
    broken: Sequence[str],
) -> None:
    """Predict percentiles of transfer times, and report the effect of large windows on them."""
    windows = max(transfers.connections.windows)
    if windows > _SMALL_WINDOW:
        broken = [*broken, _said("open_windows", windows=windows)]
    answers.add(card.origin(source, broken), dict(zip(card.answers, times_s.tolist(), strict=True)))


def _service(transfers: Transfers, variant: model.Variant = model.CORRECTED) -> _Service:
    """Return EST of (19), with FTP's dialogue around the data if the flows have one.

    Without a dialogue the exchanges before the data replace it, and closing the connection is left
    out because it follows the last TCP ACK. Here that ACK waits for a timer; in the paper it is
    sent at once.
    """
    return _Service(
        est_s=transfers.over_flows(lambda flow: _est_s(transfers, flow, variant)),
        last_ack_s=transfers.last_ack_s,
    )


def _est_s(
    transfers: Transfers, flow: Flow, variant: model.Variant, *, has_eifs: bool = True
) -> float:
    """Return EST of a flow; without EIFS, collisions cost DIFS instead."""
    scenario = transfers.connections.scenario
    data_rate, control_rate = rate_of(scenario.group(flow.stations))
    request, messages = request_bytes(flow), dialogue_of(flow)
    dialogue = model.Dialogue(get_bits=8 * request)
    if messages is not None:
        sizes = messages.model_dump()
        dialogue = model.Dialogue(
            **{name.replace("_bytes", "_bits"): 8 * size for name, size in sizes.items()}
        )
    parameters = model.Parameters.from_phy(
        Phy.of(scenario.phy),
        mss_bytes=tcp_of(flow).mss_bytes,
        header_bits=tcp_of(flow).header_bits,
        data_rate=data_rate,
        control_rate=control_rate,
        dialogue=dialogue,
        beacon=_beacon(scenario),
    )
    if not has_eifs:
        parameters = replace(parameters, eifs_s=parameters.difs_s)
    said = model.effective_service_time(size_of(flow).mean(), parameters, variant, model="refined")
    if messages is not None:
        return float(said.est_with_beacons_s)
    est = float(said.est_s) - said.overhead_s
    if tcp_of(flow).handshake != "none":
        est += model.tcp_setup_time(parameters)
    if request:
        est += model.ftp_get_time(parameters)
    return est * said.beacon_factor


def _beacon(scenario: ResolvedScenario) -> model.Beacon | None:
    beacon = scenario.mac.beacon
    if beacon is None:
        return None
    return model.Beacon.from_phy(
        Phy.of(scenario.phy),
        legacy(beacon.rate),
        interval_s=beacon.interval_ns / 1e9,
        bits=beacon.size_bits,
    )


def _broken(transfers: Transfers) -> Iterator[str]:
    connections = transfers.connections
    yield from assumptions.alike(connections)
    yield from assumptions.losses(connections)
    yield from assumptions.path(connections)
    yield from assumed_windows.web_first_ack(connections)
    yield from assumed_windows.window_opens(connections)
    yield from skipped_acks(connections.flows)
    parameters = connections.parameters
    if parameters.rts_before_data:
        yield _said("rts")
    if connections.every != 2.0:
        yield _said("more_acks" if connections.every < 2.0 else "fewer_acks", d=connections.every)
    if connections.smallest_window < 2:
        yield _said("one_segment")
    handshakes = {tcp_of(flow).handshake for flow in connections.flows}
    if "three-way" in handshakes and any(request_bytes(flow) for flow in connections.flows):
        yield _said("request_in_handshake")
    if "two-way" in handshakes:
        yield _said("two_way")
    if connections.scenario.mac.rules.after_collision != "eifs":
        wait = connections.scenario.phy.eifs_ns
        yield _said(
            "other_wait",
            wait=format_time_ns(wait),
            after_collision=connections.scenario.mac.rules.after_collision.upper(),
        )
    rules = connections.scenario.mac.rules
    if rules.arrival_before_own_ack == "idle" and rules.immediate_access:
        yield _said("at_once")
    yield from _collisions(transfers)
    yield from unequal_shares(transfers)


def _collisions(transfers: Transfers) -> Iterator[str]:
    """Report that the model's collisions include EIFS, if no node waits for it and it matters."""
    connections = transfers.connections
    rules, phy = connections.scenario.mac.rules, connections.scenario.phy
    if connections.count > 1 or rules.colliders == "as-others" or rules.after_collision != "eifs":
        return
    flow = connections.flows[0]
    est_s, without_s = (
        _est_s(transfers, flow, model.CORRECTED, has_eifs=has_eifs) for has_eifs in (True, False)
    )
    share = 1.0 - without_s / est_s
    if share >= _NOTABLE:
        yield _said("eifs_of_two", eifs=format_time_ns(phy.eifs_ns), share=100.0 * share)

"""Predict endless TCP downloads through a bursting access point: airtcp's form of paper B."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from airtcp.models.airtime import Phy
from airtcp.predict.answers import Answers
from airtcp.predict.assumptions import skipped_acks
from airtcp.predict.facts import endless_flows, rate_of, tcp_of
from airtcp.predict.saturated import after_collision_ns, head_start_ns
from airtcp.predict.senders import rts_before
from airtcp.units import format_time_ns

from airtcp_papers.bruno.burst_model import Exchanges, goodput
from airtcp_papers.bruno.predict import CARDS, sentence
from airtcp_papers.common.cards import segments
from airtcp_papers.miorandi.predict import assumptions
from airtcp_papers.miorandi.predict.connections import Connections, means

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario

_SOURCE: Final = "B (8), cycles"
_CARD: Final = CARDS["bursts"]
#: A window of this many ACKs keeps a single station's queue filled.
_FILLED: Final = 4


def predict(scenario: ResolvedScenario, answers: Answers) -> str | None:
    """Predict goodput and collisions if all endless flows are downloads, or return why not."""
    access = scenario.ap.access
    if access.scheme != "adaptive-burst" or scenario.mac.edca is not None:
        return None
    connections = Connections.of(scenario, endless_flows(scenario))
    if connections.uploads:
        return sentence("uploads", uploads=connections.uploads)
    if not connections.alone:
        return sentence("others_share")
    with answers.attempt(_SOURCE):
        said = goodput(
            connections.count,
            _exchanges(scenario, connections),
            window_slots=access.window_slots,
            target=access.target_active,
            acks_per_segment=1.0 / connections.every,
            cw_min=scenario.phy.cw_min,
            cw_max=scenario.phy.cw_max,
            attempts=scenario.mac.short_retry_limit,
        )
        total = float(said.goodput_bps)
        answers.add(
            _CARD.origin(_SOURCE, _broken(connections)),
            {
                "goodput_bps": total,
                "flow_goodput_bps": total / connections.count,
                "collision_probability_ap": float(said.p_ap),
                "collision_probability_stations": float(said.p_stations),
            },
        )
    return None


def _exchanges(scenario: ResolvedScenario, connections: Connections) -> Exchanges:
    """Return the mean exchanges over all connections."""
    phy, rules = Phy.of(scenario.phy), scenario.mac.rules
    single = []
    for flow in connections.flows:
        tcp, (data, control) = tcp_of(flow), rate_of(scenario.group(flow.stations))
        header = tcp.header_bits
        one = Exchanges.from_phy(
            phy,
            payload_bits=8 * tcp.mss_bytes,
            header_bits=header,
            after_collision="difs" if rules.after_collision == "difs" else "eifs",
            rts=(
                rts_before(scenario, tcp.mss_bytes + header // 8),
                rts_before(scenario, header // 8),
            ),
            data_rate=data,
            control_rate=control,
        )
        single.append(one)
    return replace(single[0], **means(single, connections.counts, *Exchanges.__dataclass_fields__))


def _after_collisions(scenario: ResolvedScenario) -> Iterator[str]:
    """Report that colliding nodes resume earlier than the others after a collision."""
    early, phy = head_start_ns(scenario), scenario.phy
    apart = scenario.mac.rules.colliders == "ack-timeout+difs"
    if apart and early > phy.cw_min / 2 * phy.slot_time_ns:
        heard = after_collision_ns(scenario)
        yield sentence(
            "resume_apart", heard=format_time_ns(heard), colliders=format_time_ns(heard - early)
        )


def _broken(connections: Connections) -> Iterator[str]:
    yield from assumptions.alike(connections)
    yield from assumptions.losses(connections)
    yield from assumptions.path(connections)
    yield from assumptions.acknowledgments(connections)
    yield from skipped_acks(connections.flows)
    yield from assumptions.backoffs(connections)
    yield from _after_collisions(connections.scenario)
    window, count = connections.smallest_window, connections.count
    if count == 1 and window < _FILLED * connections.every:
        yield sentence("small_lone_window", window=segments(window))

"""Predict endless TCP uploads with prioritized TCP ACKs: paper L, section 4.

It determines whether the access categories fit, and which of the paper's assumptions are broken.
`bottleneck` has the shares of a wired link.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from airtcp.models.airtime import Phy
from airtcp.predict.answers import Answers
from airtcp.predict.assumptions import skipped_acks
from airtcp.predict.facts import (
    endless_flows,
    lossy,
    rate_of,
    tcp_of,
    weighted,
    window_segments,
)
from airtcp.predict.saturated import after_collision_ns
from airtcp.predict.senders import doublings
from airtcp.predict.wording import OfDelay
from airtcp.units import format_time_ns

from airtcp_papers.leith.model import (
    CORRECTED,
    PAPER,
    Parameters,
    Throughput,
    simplified_throughput,
    throughput,
)
from airtcp_papers.leith.predict import CARDS, sentence
from airtcp_papers.miorandi.predict.connections import means

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.mac import AccessParameters
    from airtcp.scenario.keys.traffic import Flow

SOURCE: Final = "L (9)"
_CARD: Final = CARDS["uploads"]
_SIMPLIFIED_CARD: Final = CARDS["simplified"]
#: Above this fraction of colliding frames the paper's simulations depart from its model: timeouts.
_TOO_MANY: Final = 0.3
#: Report frames given up at the retry limit from this probability on.
_DROPS: Final = 1e-3


@dataclass(frozen=True, slots=True)
class Uploads:
    """Uploads as in paper L: `count` identical stations, the times of `parameters`, and d.

    `ack` and `data` are the access parameters of the access point's TCP ACKs and of the stations'
    data; `hold_slots` is D.
    """

    scenario: ResolvedScenario
    flows: tuple[Flow, ...]
    count: int
    parameters: Parameters
    every: float
    ack: AccessParameters
    data: AccessParameters
    hold_slots: int

    def throughput(self) -> Throughput:
        """Return the paper's own model, which is closer to simulations than the corrected (L4)."""
        return throughput(self.count, *self.windows, self.parameters, PAPER, d=self.every)

    @property
    def windows(self) -> tuple[int, int, int]:
        """The parameters W, m and D."""
        w0 = self.data.cw_min + 1
        return w0, doublings(w0, self.data.cw_max), self.hold_slots


def predict(scenario: ResolvedScenario, answers: Answers) -> str | None:
    """Predict goodput, shares and collisions, or return why no model has such priorities."""
    uploads = prioritised(scenario)
    if uploads is None or isinstance(uploads, str):
        return uploads
    for source, variant in ((SOURCE, PAPER), (f"{SOURCE}, L4 and L5 corrected", CORRECTED)):
        with answers.attempt(source):
            said = throughput(
                uploads.count, *uploads.windows, uploads.parameters, variant, d=uploads.every
            )
            broken = list(breaks(uploads, said))
            if variant is CORRECTED:
                broken.append(sentence("ap_always_sends"))
            answers.add(_CARD.origin(source, broken), _values(uploads, said))
    source = "L, simplified model"
    with answers.attempt(source):
        w0, m, _ = uploads.windows
        said = simplified_throughput(uploads.count, w0, m, uploads.parameters, d=uploads.every)
        broken = list(breaks(uploads, said))
        if uploads.hold_slots:
            broken.append(sentence("no_aifs", hold_slots=uploads.hold_slots))
        answers.add(_SIMPLIFIED_CARD.origin(source, broken), _values(uploads, said))
    return None


def prioritised(scenario: ResolvedScenario) -> Uploads | str | None:
    """Return the uploads, why paper L does not apply, or None if the scenario is out of scope."""
    edca, flows = scenario.mac.edca, endless_flows(scenario)
    if edca is None or len(flows) < len(scenario.flows):
        return None
    if any(flow.direction == "download" for flow in flows):
        return None
    if scenario.ap.access.scheme != "standard":
        return sentence("sends_bursts")
    classify = scenario.classify
    ack, data = edca.ap[classify.tcp_ack], edca.stations[classify.tcp_data]
    wait = data.aifs_ns - ack.aifs_ns
    if wait < 0 or ack.cw_min > data.cw_min or (wait == 0 and ack.cw_min == data.cw_min):
        return sentence("no_priority")
    slot = scenario.phy.slot_time_ns
    if wait % slot:
        return sentence("part_of_slot", wait=wait, slot=slot)
    counts = [scenario.group(flow.stations).count for flow in flows]
    return Uploads(
        scenario=scenario,
        flows=tuple(flows),
        count=sum(counts),
        parameters=_mean_parameters([_parameters(scenario, flow, ack) for flow in flows], counts),
        every=weighted([float(tcp_of(flow).delayed_ack.every) for flow in flows], counts),
        ack=ack,
        data=data,
        hold_slots=wait // slot,
    )


def _parameters(scenario: ResolvedScenario, flow: Flow, ack: AccessParameters) -> Parameters:
    data_rate, control_rate = rate_of(scenario.group(flow.stations))
    tcp = tcp_of(flow)
    return Parameters.from_phy(
        Phy.of(scenario.phy),
        mss_bytes=tcp.mss_bytes,
        header_bits=tcp.header_bits,
        ack_timeout_ns=scenario.phy.ack_timeout_ns,
        aifs_ns=ack.aifs_ns,
        data_rate=data_rate,
        control_rate=control_rate,
    )


def _mean_parameters(single: Sequence[Parameters], counts: Sequence[int]) -> Parameters:
    (payload_bits,) = means(single, counts, "payload_bits").values()
    times = means(single, counts, "t_s1_s", "t_s2_s", "t_c_s", "payload_s")
    return replace(single[0], payload_bits=8 * round(payload_bits / 8), **times)


def _values(uploads: Uploads, said: Throughput) -> dict[str, float | list[float]]:
    return {
        "goodput_bps": float(said.goodput_bps),
        "flow_goodput_bps": float(said.flow_goodput_bps),
        # The MAC gives all stations the same, whatever their TCP.
        "jain_index": 1.0,
        "collision_probability_stations": float(said.collision_probability),
    }


def breaks(uploads: Uploads, said: Throughput) -> Iterator[str]:
    """Report which of the paper's assumptions the scenario breaks, given the model's result."""
    yield from _not_alike(uploads)
    yield from _empty_queues(uploads, said)
    yield from _medium(uploads, said)


def _not_alike(uploads: Uploads) -> Iterator[str]:
    scenario, flows = uploads.scenario, uploads.flows
    differ = {
        "data rates": {scenario.group(flow.stations).data_rate.bps for flow in flows},
        "segment sizes": {tcp_of(flow).mss_bytes for flow in flows},
        "ACKs per segment": {tcp_of(flow).delayed_ack.every for flow in flows},
    }
    names = [name for name, values in differ.items() if len(values) > 1]
    if names:
        yield sentence("differ", names=" and ".join(names))
    if len({flow.stations for flow in flows}) < len(flows):
        yield sentence("several_connections")
    if uploads.ack.cw_min > 0:
        yield sentence("acks_back_off", cw_min=uploads.ack.cw_min)


def _empty_queues(uploads: Uploads, said: Throughput) -> Iterator[str]:
    each_bps = float(said.flow_goodput_bps)
    for flow in uploads.flows:
        links = uploads.scenario.path_links(flow)
        delay_s = 2.0 * sum(link.delay_ns for link in links) / 1e9
        away = each_bps * delay_s / (8 * tcp_of(flow).mss_bytes) + uploads.every
        window = window_segments(flow)
        if window <= away:
            yield OfDelay(sentence("few_segments", away=away, window=window))
        limit = uploads.scenario.group(flow.stations).queue.limit
        if limit is not None and limit < min(window, away + 2.0):
            yield sentence("short_queue", limit=limit, stations=flow.stations)
    yield from lossy(uploads.scenario, "the stations always have data")


def _medium(uploads: Uploads, said: Throughput) -> Iterator[str]:
    scenario, p = uploads.scenario, float(said.collision_probability)
    if scenario.mac.rts_threshold_bytes is not None:
        yield sentence("rts")
    drop = p**scenario.mac.short_retry_limit
    if drop > _DROPS:
        yield sentence("drops", drop=100 * drop, short_retry_limit=scenario.mac.short_retry_limit)
    if p > _TOO_MANY:
        yield sentence("many_collisions", p=100 * p)
    if scenario.mac.rules.after_collision != "difs":
        yield sentence(
            "other_wait",
            after_collision=scenario.mac.rules.after_collision.upper(),
            scenario=format_time_ns(after_collision_ns(scenario)),
        )
    if scenario.mac.rules.colliders == "as-others":
        yield sentence("colliders_wait")
    round_s = max(
        window_segments(flow) * 8 * tcp_of(flow).mss_bytes / float(said.flow_goodput_bps)
        for flow in uploads.flows
    )
    least_s = min(
        min(tcp_of(flow).min_rto_ns, tcp_of(flow).initial_rto_ns) / 1e9 for flow in uploads.flows
    )
    if round_s > least_s:
        yield sentence("slow_windows", round_s=round_s, least_s=least_s)
    yield from skipped_acks(uploads.flows)
    limit = max(uploads.ack.txop_limit_ns, uploads.data.txop_limit_ns)
    if limit:
        yield sentence("txop", limit=format_time_ns(limit))

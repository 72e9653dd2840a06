"""Predict saturated UDP downloads with downlink OFDMA: one cycle after the other, all alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from airtcp.high_rate import HighRate
from airtcp.models.airtime import Phy, mpdu_bits
from airtcp.models.max_throughput import mean_backoff_s
from airtcp.models.ofdma import Answers as Acknowledgments
from airtcp.models.ofdma import User, cycle, division
from airtcp.phrases import phrase
from airtcp.predict.air import Air, jain
from airtcp.predict.answers import Answers
from airtcp.predict.card import card
from airtcp.predict.senders import flow_count
from airtcp.standards import UDP_IP_HEADER_BYTES

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario

#: A saturated source keeps this many Block ACK windows of packets in the queue.
_WINDOWS: Final = 3
_SOURCE: Final = "saturated OFDMA"
_CARD: Final = card(__file__)
CARDS: Final = (_CARD,)


def predict(scenario: ResolvedScenario, answers: Answers) -> str | None:
    """Predict goodput and its shares, or return why no closed form applies."""
    air = Air.of(scenario)
    if isinstance(air, str):
        return air
    if any(flow.direction != "download" for flow in scenario.flows):
        return phrase("predict.ofdma.uplink")
    if scenario.mac.ofdma is not None and scenario.mac.ofdma.uplink == "trigger":
        return phrase("predict.ofdma.triggers")
    if scenario.mac.ofdma is not None and scenario.mac.ofdma.scheduler == "fixed":
        return phrase("predict.ofdma.scheduler")
    if any(group.frame_errors is not None for group in scenario.stations):
        return phrase("predict.ofdma.errors")
    users, payloads = _users(scenario)
    if len(users) != sum(group.count for group in scenario.stations):
        return phrase("predict.ofdma.several_flows")
    units = division(users[0].rate.channel_width_mhz, len(users)).units
    if units < len(users) and len({*zip(users, payloads, strict=True)}) > 1:
        return phrase("predict.ofdma.unequal", units=units)
    mac, count = scenario.mac, len(users)
    aggregation, ofdma, timing = mac.aggregation, mac.ofdma, scenario.phy.high_rate
    assert aggregation is not None
    assert ofdma is not None
    assert timing is not None
    with answers.attempt(_SOURCE):
        found = cycle(
            users[:units],
            Acknowledgments(
                mu_bar=ofdma.acknowledgment == "mu-bar",
                block_ack_mcs=ofdma.block_ack_mcs,
                block_ack_bits=aggregation.block_ack_bits,
                block_ack_rate=aggregation.block_ack_rate,
                request_bits=aggregation.block_ack_request_bits,
            ),
            Phy.of(scenario.phy),
            timing,
            ampdu_bits=8 * aggregation.ampdu_bytes,
            longest_ns=aggregation.ppdu_time_ns,
            window=aggregation.block_ack_window,
        )
        backoff_s = float(mean_backoff_s(air.w0 - 1, air.slot_s))
        cycle_s = (air.aifs_ns + found.exchange_ns) / 1e9 + backoff_s
        turns = count / units
        rates = [mpdus * bits / cycle_s for mpdus, bits in zip(found.mpdus, payloads, strict=False)]
        by_station = [rates[index % units] / turns for index in range(count)]
        goodput = sum(by_station)
        broken = [*air.broken, *air.amsdus(), *_short_queue(scenario, count)]
        answers.add(
            _CARD.origin(_SOURCE, broken),
            {
                "goodput_bps": goodput,
                "flow_goodput_bps": goodput / flow_count(scenario),
                "jain_index": jain(np.array(by_station)),
                "collision_probability": 0.0,
                "mpdus_per_ppdu_ap": float(sum(found.mpdus)),
            },
        )
    return None


def _short_queue(scenario: ResolvedScenario, stations: int) -> Iterator[str]:
    """Report a queue in which some saturated sources may leave no room for others."""
    limit, aggregation = scenario.ap.queue.limit, scenario.mac.aggregation
    if aggregation is None or limit is None:
        return
    if limit < _WINDOWS * aggregation.block_ack_window * stations:
        yield phrase("predict.ofdma.short_queue", limit=limit)


def _users(scenario: ResolvedScenario) -> tuple[list[User], list[float]]:
    """Return the stations, one for each flow, and the payload of an MPDU in bits."""
    users, payloads = [], []
    phy = Phy.of(scenario.phy)
    for flow in scenario.flows:
        group, app = scenario.group(flow.stations), flow.application
        assert app.kind == "udp"
        parts = group.data_rate.high
        assert parts is not None
        user = User(
            rate=HighRate.of(group.data_rate.modulation, parts),
            preamble_time_ns=parts.preamble_time_ns,
            mpdu_bits=int(mpdu_bits(phy, 8 * app.packet_bytes)),
            control_rate=group.control_rate,
        )
        users += [user] * group.count
        payloads += [8.0 * max(0, app.packet_bytes - UDP_IP_HEADER_BYTES)] * group.count
    return users, payloads

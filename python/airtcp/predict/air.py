"""Derive the inputs of models for 802.11n and later: frame exchanges per group, and waits.

Access point and stations must share the parameters of one access category (`access` checks that).
Limits of A-MPDUs and frame errors are included.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from airtcp.choices import SCHEDULERS
from airtcp.models.airtime import Phy
from airtcp.models.airtime_fairness import Sharing
from airtcp.models.ampdu import Exchange
from airtcp.phrases import phrase
from airtcp.predict.access import as_dcf
from airtcp.predict.saturated import after_collision_ns
from airtcp.predict.senders import doublings

if TYPE_CHECKING:
    from airtcp.models.checks import Values
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.stations import StationGroup


@dataclass(frozen=True, slots=True)
class Air:
    """An 802.11n or later scenario in which all nodes contend alike.

    `broken` lists how the scenario deviates from that. `as_dcf` is the scenario with the
    inter-frame space and windows of its access category. Times are in nanoseconds; `w0`, `stages`
    and `retries` as in `bianchi.fixed_point`.
    """

    scenario: ResolvedScenario
    as_dcf: ResolvedScenario
    aifs_ns: int
    after_collision_ns: int
    w0: int
    stages: int
    retries: int
    txop_limit_ns: int
    broken: tuple[str, ...]

    @classmethod
    def of(cls, scenario: ResolvedScenario) -> Air | str:
        """Return the inputs for a scenario, or the reason why no model applies."""
        access = as_dcf(scenario)
        if access.scenario is None:
            return access.reason
        changed = access.scenario
        phy, w0 = changed.phy, changed.phy.cw_min + 1
        return cls(
            scenario=scenario,
            as_dcf=changed,
            aifs_ns=phy.difs_ns,
            after_collision_ns=max(after_collision_ns(changed), 0),
            w0=w0,
            stages=doublings(w0, phy.cw_max),
            retries=changed.mac.short_retry_limit - 1,
            txop_limit_ns=access.txop_limit_ns,
            broken=access.broken,
        )

    @property
    def slot_s(self) -> float:
        """The duration of an idle slot."""
        return self.scenario.phy.slot_time_ns / 1e9

    def exchange(self, group: StationGroup) -> Exchange:
        """Return the exchange of PPDUs with the stations of a group."""
        aggregation = self.scenario.mac.aggregation
        assert aggregation is not None, "all standards with an MCS have it"
        threshold_bytes = self.scenario.mac.rts_threshold_bytes
        return Exchange(
            phy=Phy.of(self.scenario.phy),
            data_rate=group.data_rate,
            control_rate=group.control_rate,
            block_ack_rate=aggregation.block_ack_rate,
            block_ack_bits=aggregation.block_ack_bits,
            ampdu_bits=8 * aggregation.ampdu_bytes,
            ppdu_time_ns=aggregation.ppdu_time_ns,
            block_ack_window=aggregation.block_ack_window,
            rts_threshold_bits=None if threshold_bytes is None else 8 * threshold_bytes,
            txop_limit_ns=self.txop_limit_ns,
        )

    def amsdus(self) -> Iterator[str]:
        """Report the effect of A-MSDUs, which the models lack."""
        aggregation = self.scenario.mac.aggregation
        if aggregation is not None and aggregation.amsdu_bytes:
            yield phrase("predict.access.amsdus", amsdu=aggregation.amsdu_bytes)

    def rules(self) -> Iterator[str]:
        """Report A-MSDUs and Block ACK rules, which the models lack."""
        yield from self.amsdus()
        if self.scenario.mac.rules.failed_block_ack == "block-ack-request":
            yield phrase("predict.access.block_ack_request")


def error_probability(group: StationGroup, packet_bytes: int) -> float:
    """Return the error probability of an MPDU with an IP packet of this size."""
    errors = group.frame_errors
    if errors is None or packet_bytes < errors.least_bytes:
        return 0.0
    if errors.of_bytes is None:
        return errors.rate
    return float(1.0 - (1.0 - errors.rate) ** (packet_bytes / errors.of_bytes))


def sharing_of(scenario: ResolvedScenario) -> Sharing:
    """Return what the access point's scheduler equalizes among receivers.

    A FIFO queue equalizes packets: receivers have equal numbers of packets in it, and the oldest
    packet is next. (Packets aggregated with the oldest one skip part of the queue, so receivers of
    long PPDUs get a few percent more.)
    """
    kind = scenario.ap.scheduler.kind if scenario.ap.scheduler is not None else "oldest"
    shares = SCHEDULERS[kind].shares
    assert shares is not None  # No model covers a registered scheduler.
    return shares


def jain(rates: Values) -> float:
    """Return Jain's index of the rates of all flows."""
    return float(rates.sum() ** 2 / (len(rates) * (rates**2).sum()))

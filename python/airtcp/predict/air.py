"""The facts that models of 802.11n and later ask for: exchanges of each group, and waits.

Knows one access category whose parameters access point and stations share (`access` finds out), the
limits of aggregates, and what a frame error costs. Asks no model of contention.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from airtcp.choices import SCHEDULERS
from airtcp.models.airtime import Phy
from airtcp.models.airtime_fairness import Sharing
from airtcp.models.ampdu import Exchange
from airtcp.predict.access import as_dcf
from airtcp.predict.saturated import after_collision_ns
from airtcp.predict.senders import doublings
from airtcp.units import format_size

if TYPE_CHECKING:
    from airtcp.models._checks import Values
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.stations import StationGroup

#: The durations of PPDUs, and of the waits around them.
READS: Final = (
    "phy.slot_time_ns",
    "phy.sifs_ns",
    "phy.ofdm",
    "phy.symbol_rounding",
    "phy.high_rate",
    "phy.propagation_delay_ns",
    "phy.ack_bits",
    "phy.rts_bits",
    "phy.cts_bits",
    "phy.mac_header_bits",
    "phy.llc_bits",
    "mac.rts_threshold_bytes",
    "mac.aggregation",
    "mac.edca",
    "classify",
    "stations.data_rate",
    "stations.control_rate",
    "stations.count",
    "flows.stations",
    "flows.direction",
)

#: Features that these standards do not have.
NOT_HERE: Final = {
    "phy.dsss": "802.11n and later have no rate of DSSS",
    "phy.cw_min": "802.11n and later have EDCA, which has windows of its own",
    "phy.cw_max": "as phy.cw_min",
}
#: What several senders add to that: how long collisions are, and how often what collided is sent.
COLLISIONS: Final = (
    "phy.difs_ns",
    "phy.eifs_ns",
    "mac.rules.after_collision",
    "mac.short_retry_limit",
)
#: Why they do nothing to a lone sender.
NO_COLLISIONS: Final = {
    "phy.difs_ns": "EDCA has inter-frame spaces of its own",
    "phy.eifs_ns": "a lone sender never collides",
    "mac.rules.after_collision": "as phy.eifs_ns",
    "mac.short_retry_limit": "as phy.eifs_ns",
}


@dataclass(frozen=True, slots=True)
class Air:
    """A scenario of 802.11n or later in which all contend alike.

    `broken` is what of that is not quite so, `as_dcf` the scenario with the inter-frame space and
    windows of that category. Times in nanoseconds; `w0`, `stages` and `retries` as in
    `bianchi.fixed_point`.
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
        """The air of a scenario, or why no model has one like it."""
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
        """An idle slot."""
        return self.scenario.phy.slot_time_ns / 1e9

    def exchange(self, group: StationGroup) -> Exchange:
        """PPDUs from and to the stations of a group."""
        aggregation = self.scenario.mac.aggregation
        assert aggregation is not None, "all standards that have MCSs have it"
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
        """Say what becomes of MPDUs of one packet each where several may share one."""
        aggregation = self.scenario.mac.aggregation
        if aggregation is not None and aggregation.amsdu_bytes:
            yield (
                "each MPDU has one packet; here an A-MSDU may have "
                f"{format_size(aggregation.amsdu_bytes)}: fewer headers, and more packets in a "
                "Block ACK window; goodput is too low, far too low without A-MPDUs"
            )

    def rules(self) -> Iterator[str]:
        """Say what of A-MSDUs and of the rules of Block ACKs no model has."""
        yield from self.amsdus()
        if self.scenario.mac.rules.failed_block_ack == "block-ack-request":
            yield (
                "a PPDU that collided is sent again; here a Block ACK request goes first and "
                "contends for itself, which takes an access more for each collision; goodput is "
                "too high: by up to 5 % with TCP; with saturated senders by 1 % with two, 8 % with "
                "five and 23 % with 20"
            )


def error_probability(group: StationGroup, packet_bytes: int) -> float:
    """Tell how likely an MPDU with such an IP packet is lost on its way from or to a group."""
    errors = group.frame_errors
    if errors is None or packet_bytes < errors.least_bytes:
        return 0.0
    if errors.of_bytes is None:
        return errors.rate
    return float(1.0 - (1.0 - errors.rate) ** (packet_bytes / errors.of_bytes))


def sharing_of(scenario: ResolvedScenario) -> Sharing:
    """Say what the access point's scheduler gives all receivers alike.

    In order of arrival those are packets: each receiver has as many waiting, and the oldest goes
    next, so that all wait equally long (but for the packets that go with the oldest one, which have
    not waited so long: long PPDUs get a few per cent more).
    """
    kind = scenario.ap.scheduler.kind if scenario.ap.scheduler is not None else "oldest"
    shares = SCHEDULERS[kind].shares
    assert shares is not None  # of one's own no model is made
    return shares


def jain(rates: Values) -> float:
    """Jain's index of rates, one for each flow."""
    return float(rates.sum() ** 2 / (len(rates) * (rates**2).sum()))

"""Determine from received powers which stations are within range, and their rates.

`airtcp.error_rates` has the SINR that a rate needs. `resolve_air` provides the powers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .. import standards
from ..airtime import Rate
from ..amendments import AMENDMENTS
from ..error_rates import READ, Receiver
from ..standards import OFDM
from ..units import format_rate
from .errors import InvalidError, Path, invalid
from .keys.air import Needs
from .quantities import Written
from .resolve_air import Hearing
from .resolve_high_rate import rate_of, receiver_of
from .resolve_pair import phy_of
from .resolve_radio_links import on_first_link

#: The error rate of frames of 1458 bytes if one bit in a million is corrupted.
_IDEAL = 1.0 - (1.0 - 1e-6) ** (8 * 1458)
#: Powers and noise are rounded to two digits: a signal that is exactly sufficient must pass.
_SLACK_DB = 1e-6


def needs_db(receiver: Receiver, rate: Rate) -> float:
    """Return the SINR in dB that frames at a rate need."""
    if rate.high is not None:
        return receiver.needed_db(rate.high.mcs)
    return receiver.needed_db_at(rate.bps)


def needs_of(
    hearing: Hearing | None, receiver: Receiver, data_rate: Rate, control_rate: Rate
) -> Needs | None:
    """Return the SINRs that a group's frames need; None if powers are not known."""
    if hearing is None or hearing.signal_dbm is None:
        return None
    return Needs(
        data_db=needs_db(receiver, data_rate),
        control_db=receiver.needed_db_at(control_rate.bps, short=True),
    )


def within_range(scenario: Written, hearing: Hearing) -> Hearing:
    """Return the hearing with the stations out of range, and the weakest signal of the others.

    A station is out of range if it or its access point receives the other below `air.sense`. If the
    file gives no rate, it is also out of range below the SNR of the lowest rate.
    """
    if hearing.signals_dbm is None:
        return hearing
    out_of_range, signals = [], []
    for group, stations in zip(scenario.stations, hearing.signals_dbm, strict=True):
        phy = phy_of(scenario.phy, group)
        least = hearing.air.sense_dbm
        if not _has_rate(phy, group):
            lowest = _lowest_db(receiver_of(phy, scenario.mac.rules), phy)
            least = max(least, hearing.air.noise_dbm + lowest)
        within = [signal for signal in stations if signal >= least]
        out = tuple(place for place, signal in enumerate(stations) if signal < least)
        out_of_range.append(out)
        # If all stations of a group are out of range, it never sends, so any signal is valid.
        signals.append(min(within, default=least))
    return replace(hearing, signal_dbm=signals, out_of_range=tuple(out_of_range))


def _has_rate(phy: Written, group: Written) -> bool:
    key = "mcs" if phy.standard in AMENDMENTS else "data_rate"
    return group.rate_control == "fixed" and (
        getattr(group, key) is not None or bool(phy.given(key))
    )


def _lowest_db(receiver: Receiver, phy: Written) -> float:
    if phy.standard in AMENDMENTS:
        return receiver.needed_db(0)
    return receiver.needed_db_at(_plain_rates(phy)[0])


def with_rates(scenario: Written, hearing: Hearing | None) -> Written:
    """Return the scenario with a rate for each group without one, according to its signal.

    The rate is the highest at which the weakest station loses less than a tenth of frames to noise.
    For `ideal` it is the highest with less than one corrupted bit in a million. For `minstrel-ht`
    the SNR is set, and errors follow from it.

    Raises:
        InvalidError: a rate that the standard does not have, or an ideal one without a signal.
    """
    rules = scenario.mac.rules
    signals = None if hearing is None else hearing.signal_dbm
    groups = []
    for index, group in enumerate(scenario.stations):
        here: Path = ("stations", index)
        phy = phy_of(on_first_link(scenario, group).phy, group)
        loss_db = receiver_of(phy, rules).loss_db
        snr = None if group.snr is None else group.snr - loss_db
        if hearing is not None and signals is not None:
            snr = signals[index] - hearing.air.noise_dbm
        if group.rate_control == "ideal":
            if snr is None:
                raise invalid((*here, "rate_control"), "signal.ideal")
            best = _best(phy, rules, group, snr, here, _IDEAL)
            given = _chosen_mcs(phy, group)
            group = group.model_copy(
                update={"rate_control": "fixed", "mcs": best if given is None else min(best, given)}
            )
        elif snr is not None and signals is not None and group.rate_control == "minstrel-ht":
            if group.snr is None and group.error_table is None:
                group = group.filled(snr=snr + loss_db)
        elif signals is not None and snr is not None and not _has_rate(phy, group):
            key = "mcs" if phy.standard in AMENDMENTS else "data_rate"
            group = group.filled(**{key: _best(phy, rules, group, snr, here)})
        groups.append(group)
    return scenario.model_copy(update={"stations": groups})


def _chosen_mcs(phy: Written, group: Written) -> int | None:
    chosen: int | None = phy.mcs if group.mcs is None else group.mcs
    return chosen


def check_rates(hearing: Hearing | None, groups: tuple[Any, ...]) -> None:
    """Reject a rate that the weakest station of a group cannot receive.

    Raises:
        InvalidError: the rate needs a higher SNR than the signal has.
    """
    if hearing is None or hearing.signal_dbm is None:
        return
    for index, group in enumerate(groups):
        rates = [] if group.rate_control is None else group.rate_control.rates
        needs = min(one.needs_db for one in rates) if rates else group.needs.data_db
        snr = hearing.signal_dbm[index] - hearing.air.noise_dbm
        if snr < needs - _SLACK_DB:
            rate = "the lowest of its rates" if rates else _called(group.data_rate)
            raise invalid(
                ("stations", index),
                "signal.weak",
                name=group.name,
                snr=snr,
                cell=hearing.cell_of[index],
                rate=rate,
                needs=needs,
            )


def _called(rate: Rate) -> str:
    return format_rate(rate.bps) if rate.high is None else f"MCS {rate.high.mcs}"


def _best(
    phy: Written, rules: Written, group: Written, snr: float, here: Path, lost: float = READ
) -> int:
    """Return the highest MCS, or rate in b/s, that loses at most `lost` of the frames.

    If even the lowest loses more, return the lowest.
    """
    amendment = AMENDMENTS.get(phy.standard)
    receiver = receiver_of(phy, rules)
    if amendment is None:
        lowest, *others = _plain_rates(phy)
        return max([lowest, *(one for one in others if receiver.needed_db_at(one) <= snr)])
    for mcs in range(amendment.highest_mcs, -1, -1):
        if mcs and receiver.needed_db(mcs, lost) > snr:
            continue
        try:
            rate_of(phy, rules, group.filled(mcs=mcs), here)
        except InvalidError:
            if mcs == 0:
                raise
            continue  # the tables of 21.5 leave this one out
        return mcs
    raise AssertionError("every width and number of streams has MCS 0")


def _plain_rates(phy: Written) -> list[int]:
    """Return the rates before 802.11n in ascending order; of 802.11g the OFDM rates."""
    rates = standards.STANDARDS[phy.standard].rates_bps
    return sorted(rates[OFDM] if OFDM in rates else next(iter(rates.values())))

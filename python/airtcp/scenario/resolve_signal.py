"""Rates by powers: those that are not given, and those that nobody could read.

Knows the signal of each group over noise. Does not know what a rate needs (`airtcp.sensitivity`),
nor where powers come from: `resolve_air` does.
"""

from __future__ import annotations

from typing import Any

from .. import standards
from ..airtime import Rate
from ..amendments import AMENDMENTS
from ..sensitivity import needed_db, needed_db_at
from ..standards import OFDM
from ..units import format_rate
from .errors import InvalidError, Path
from .keys.air import Needs
from .quantities import Written
from .resolve_air import Hearing
from .resolve_high_rate import rate_of
from .resolve_pair import phy_of


def needs_db(rate: Rate) -> float:
    """The ratio of signal to noise and interference that frames at a rate need."""
    if rate.high is not None:
        return needed_db(rate.high.mcs)
    return needed_db_at(rate.bps)


def needs_of(hearing: Hearing | None, data_rate: Rate, control_rate: Rate) -> Needs | None:
    """The ratios that a group's frames need; None where powers are not known."""
    if hearing is None or hearing.signal_dbm is None:
        return None
    return Needs(data_db=needs_db(data_rate), control_db=needed_db_at(control_rate.bps, short=True))


def with_rates(scenario: Written, hearing: Hearing) -> Written:
    """The scenario with the rate of each group that its signal allows, where none is given.

    The highest of which the weakest of its stations loses less than a tenth over the noise; of
    `minstrel-ht` the ratio of signal to noise, from which follow its errors.

    Raises:
        InvalidError: no rate that a station can use, given or not.
    """
    if hearing.signal_dbm is None:
        return scenario
    rules = scenario.mac.rules
    groups = []
    for index, group in enumerate(scenario.stations):
        here: Path = ("stations", index)
        snr = hearing.signal_dbm[index] - hearing.air.noise_dbm
        told = f'{group.name} has {snr:.1f} dB over noise in cell "{hearing.cell_of[index]}"'
        if group.rate_control == "minstrel-ht":
            if group.snr is None and group.error_table is None:
                group = group.filled(snr=snr)
            groups.append(group)
            continue
        phy = phy_of(scenario.phy, group)
        key = "mcs" if phy.standard in AMENDMENTS else "data_rate"
        if getattr(group, key) is None and not phy.given(key):
            found = _best(phy, rules, group, snr, here)
            if found is None:
                least = needed_db(0) if key == "mcs" else needed_db_at(_plain_rates(phy)[0])
                raise InvalidError(
                    here, f"{told}, and the lowest rate needs {least:g} dB; allowed: that or more"
                )
            group = group.filled(**{key: found})
        groups.append(group)
    return scenario.model_copy(update={"stations": groups})


def check_rates(hearing: Hearing | None, groups: tuple[Any, ...]) -> None:
    """Refuses a rate that the weakest station of a group cannot read.

    Raises:
        InvalidError: it needs more than the signal is above the noise.
    """
    if hearing is None or hearing.signal_dbm is None:
        return
    for index, group in enumerate(groups):
        rates = [] if group.rate_control is None else [one.rate for one in group.rate_control.rates]
        needs = min(map(needs_db, rates)) if rates else group.needs.data_db
        snr = hearing.signal_dbm[index] - hearing.air.noise_dbm
        if snr < needs:
            rate = "the lowest of its rates" if rates else _called(group.data_rate)
            raise InvalidError(
                ("stations", index),
                f'{group.name} has {snr:.1f} dB over noise in cell "{hearing.cell_of[index]}", and '
                f"{rate} needs {needs:g} dB; allowed: a lower rate, or no rate: then it is the "
                "highest that can be read",
            )


def _called(rate: Rate) -> str:
    return format_rate(rate.bps) if rate.high is None else f"MCS {rate.high.mcs}"


def _best(phy: Written, rules: Written, group: Written, snr: float, here: Path) -> int | None:
    """The highest MCS, or rate in bits per second, that can be read; None for none."""
    amendment = AMENDMENTS.get(phy.standard)
    if amendment is None:
        read = (rate for rate in _plain_rates(phy) if needed_db_at(rate) <= snr)
        return max(read, default=None)
    for mcs in range(amendment.highest_mcs, -1, -1):
        if needed_db(mcs) > snr:
            continue
        try:
            rate_of(phy, rules, group.filled(mcs=mcs), here)
        except InvalidError:
            if mcs == 0:
                raise
            continue  # one of those that the tables of 21.5 leave out
        return mcs
    return None


def _plain_rates(phy: Written) -> list[int]:
    """The rates before 802.11n in ascending order; of 802.11g those of OFDM."""
    rates = standards.STANDARDS[phy.standard].rates_bps
    return sorted(rates[OFDM] if OFDM in rates else next(iter(rates.values())))

"""Resolve `[phy]` and the rates of stations.

DIFS, EIFS and the ACK timeout follow from slot, SIFS and preamble, also if the file overrides
these. `standards` has the numbers of the standards.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from .. import standards
from ..airtime import Rate, dsss_ns, ofdm_ns
from ..amendments import AMENDMENTS
from ..standards import DSSS, OFDM, DsssTiming, Modulation, OfdmTiming, Standard
from ..units import format_rate
from .errors import Path, above, invalid, quoted
from .keys.phy import Phy, Protection
from .quantities import Written
from .resolve_high_rate import (
    check_keys,
    high_rate_timing,
    rate_of,
    rates_up_to,
    reference_bps,
)
from .resolve_pair import phy_of, standard_of


def resolve_phy(
    phy: Written,
    groups: list[Written],
    rules: Written,
    *,
    edca: bool = False,
    places: list[int] | None = None,
) -> Phy:
    """Return the resolved `[phy]`.

    Args:
        phy: the written one.
        groups: the stations, whose rates affect the ACK timeout.
        rules: the written rules of the MAC; some presets have an ACK timeout of their own.
        edca: whether data frames have a QoS Control field.
        places: the places of the groups in the file, if these are not all.

    Raises:
        InvalidError: rates that the standard does not have, or numbers that contradict each other.
    """
    check_keys(phy, phy.standard, ("phy",))
    numbered = list(zip(places or range(len(groups)), groups, strict=True))
    for index, group in numbered:
        check_keys(group, phy_of(phy, group).standard, ("stations", index))
    standard = standard_of(phy)
    modern = phy.standard in AMENDMENTS
    header_bits = standards.MAC_HEADER_BITS + (standards.QOS_CONTROL_BITS if edca else 0)
    beside_dsss = any(is_dsss_station(phy, group) for group in groups)
    slot = standards.STANDARDS["802.11b"] if beside_dsss else standard
    phy = phy.filled(
        data_rate=standard.default_data_rate_bps,
        slot_time=slot.slot_time_ns,
        sifs=standard.sifs_ns,
        cw_min=standard.cw_min,
        cw_max=standard.cw_max,
        mac_header_bits=header_bits,
    )
    if not modern:
        _check_rate(standard, phy.data_rate, ("phy", "data_rate"))
    if phy.given("block_ack_rate"):
        _check_rate(standard, phy.block_ack_rate, ("phy", "block_ack_rate"))
    if phy.given("control_rate"):
        _check_rate(standard, phy.control_rate, ("phy", "control_rate"))
    for index, group in numbered:
        if group.given("data_rate"):
            of_pair = standard_of(phy_of(phy, group))
            _check_rate(of_pair, group.data_rate, ("stations", index, "data_rate"))
    data, control = cell_rates(phy, rules)
    control_rate = control.bps
    modulation = _modulation(standard, phy.data_rate)
    _check_preamble(phy, standard, modulation, control_rate, groups, rules)

    dsss = _dsss(phy, standard, modulation)
    ofdm = _ofdm(phy, standard, modulation)
    phy = phy.filled(difs=phy.sifs + 2 * phy.slot_time)
    pifs = phy.sifs + phy.slot_time
    if phy.difs < pifs:
        raise invalid(("phy", "difs"), "phy.difs", difs=phy.difs, sifs=phy.sifs, pifs=pifs)
    if phy.cw_min > phy.cw_max:
        raise above(phy, ("phy",), "cw_min", "cw_max")
    phy = phy.filled(eifs=phy.sifs + _eifs_ack_ns(phy, standard, ofdm) + phy.difs)
    if phy.eifs < phy.difs:
        raise invalid(("phy", "eifs"), "phy.eifs", eifs=phy.eifs, difs=phy.difs)
    responses = {control}
    responses |= {
        station_rates(phy, group, rules, ("stations", index))[1] for index, group in numbered
    }
    if rules.preset == "ns-2":
        answer = max(_ack_ns(phy, rate, dsss, ofdm) for rate in responses)
        phy = phy.filled(ack_timeout=phy.sifs + answer + standards.NS2_ROUND_TRIP_NS)
    elif modern and rules.preset == "ns-3":
        # ns-3 waits for the preamble and SIGNAL of a legacy response, to the microsecond.
        assert ofdm is not None, "responses are legacy frames"
        phy = phy.filled(ack_timeout=pifs + ofdm.preamble_time_ns + ofdm.plcp_header_time_ns)
    else:
        delay = max(_rx_start_delay_ns(standard, rate.modulation, dsss, ofdm) for rate in responses)
        phy = phy.filled(ack_timeout=pifs + delay)
    if phy.ack_timeout < phy.sifs:
        raise invalid(
            ("phy", "ack_timeout"), "phy.ack_timeout", ack_timeout=phy.ack_timeout, sifs=phy.sifs
        )
    return Phy.of(
        phy,
        data_rate=data,
        control_rate=control,
        dsss=dsss,
        ofdm=ofdm,
        high_rate=high_rate_timing(phy, rules) if modern else None,
        protection=_protection(phy, standard, beside_dsss=beside_dsss),
    )


def is_dsss_station(phy: Written, group: Written) -> bool:
    """Return whether a station is an 802.11b station in an OFDM cell: its data have a DSSS rate."""
    if standards.STANDARDS[phy.standard].ofdm is None:
        return False
    phy = phy_of(phy, group)
    if phy.standard in AMENDMENTS:
        return False
    return standard_of(phy).modulation(group.data_rate or _data_rate(phy)) == DSSS


def station_cw_min(phy: Written, group: Written) -> int:
    """Return the aCWmin of a station: aCWmin(0) if it knows only DSSS rates (Table 18-5)."""
    if phy.cw_min is not None:
        return int(phy.cw_min)
    name = "802.11b" if is_dsss_station(phy, group) else phy.standard
    return standards.STANDARDS[name].cw_min


def _protection(phy: Written, standard: Standard, *, beside_dsss: bool) -> Protection | None:
    """Return the protection of OFDM frames (10.27), at the highest basic rate that all understand.

    Raises:
        InvalidError: protection although all stations understand each other.
    """
    if phy.given("protection") and not (standard.has_dsss and standard.ofdm):
        raise invalid(("phy", "protection"), "phy.no_protection", standard=phy.standard)
    default: Literal["cts-to-self", "none"] = "cts-to-self" if beside_dsss else "none"
    kind: Literal["cts-to-self", "rts-cts", "none"] = phy.protection or default
    if kind == "none":
        return None
    wanted = phy.control_rate if phy.given("control_rate") else None
    if wanted is None or standard.modulation(wanted) != DSSS:
        wanted = max(standard.basic_rates_bps[DSSS])
    return Protection(kind=kind, rate=_rate(standard, wanted))


def cell_rates(phy: Written, rules: Written) -> tuple[Rate, Rate]:
    """Return data rate and control rate of the cell. The file's control rate is already checked."""
    if phy.standard in AMENDMENTS:
        return _with_responses(phy, rate_of(phy, rules))
    standard = standards.STANDARDS[phy.standard]
    control_rate = standards.response_rate_bps(standard, _data_rate(phy), phy.control_rate)
    return _rate(standard, _data_rate(phy)), _rate(standard, control_rate)


def _with_responses(phy: Written, rate: Rate) -> tuple[Rate, Rate]:
    """Return a rate of 802.11n or later, and the rate of legacy responses to it."""
    standard = standard_of(phy)
    bps = standards.response_rate_bps(standard, reference_bps(rate), phy.control_rate)
    return rate, _rate(standard, bps)


def station_rates(
    phy: Written, group: Written, rules: Written, path: Path = ()
) -> tuple[Rate, Rate]:
    """Return data rate and control rate of a station group at `path`, already checked.

    Raises:
        InvalidError: an MCS that the standard does not have.
    """
    phy = phy_of(phy, group)
    if phy.standard in AMENDMENTS:
        return _with_responses(phy, rate_of(phy, rules, group, path))
    standard = standards.STANDARDS[phy.standard]
    data_rate = group.data_rate or _data_rate(phy)
    control_rate = standards.response_rate_bps(standard, data_rate, phy.control_rate)
    return _rate(standard, data_rate), _rate(standard, control_rate)


def controlled_rates(
    phy: Written, group: Written, rules: Written, path: Path
) -> list[tuple[Rate, Rate]]:
    """Return the data rates of rate control, each with the rate of its control frames."""
    phy = phy_of(phy, group)
    rates = rates_up_to(phy, rules, group, path)
    return [_with_responses(phy, rate) for rate in rates]


def beacon_rate(phy: Written, rate_bps: int | None, path: Path) -> Rate:
    """Return the rate of beacons: the given one, or the lowest mandatory one with the preamble.

    Raises:
        InvalidError: no rate of the standard, or one without the short preamble that is requested.
    """
    standard = standard_of(phy)
    short = _is_short(phy, _modulation(standard, _data_rate(phy)))
    if rate_bps is None:
        _, rate_bps = standard.lowest_mandatory
        if short:
            rate_bps = max(rate_bps, standards.SHORT_PREAMBLE_SLOWEST_BPS)
    _check_rate(standard, rate_bps, path)
    if short:
        _check_short(rate_bps, path)
    return _rate(standard, rate_bps)


def _check_rate(standard: Standard, rate_bps: int, path: Path) -> None:
    if standard.modulation(rate_bps) is None:
        allowed = quoted(map(format_rate, standard.all_rates_bps))
        raise invalid(path, "phy.unknown_rate", rate=rate_bps, name=standard.name, allowed=allowed)


def _check_preamble(
    phy: Written,
    standard: Standard,
    modulation: Modulation,
    control_rate: int,
    groups: list[Written],
    rules: Written,
) -> None:
    """Reject a preamble without DSSS rates, and a short preamble at 1 Mb/s."""
    if phy.given("preamble") and not standard.has_dsss:
        raise invalid(("phy", "preamble"), "phy.no_preamble", name=standard.name)
    if not _is_short(phy, modulation):
        return
    used: list[tuple[Path, int]] = [
        (("phy", "data_rate"), phy.data_rate),
        (("phy", "control_rate"), control_rate),
    ]
    for index, group in enumerate(groups):
        data, control = station_rates(phy, group, rules)
        used += [
            (("stations", index, "data_rate"), data.bps),
            (("stations", index, "data_rate"), control.bps),
        ]
    for path, rate in used:
        _check_short(rate, path)


def _is_short(phy: Written, modulation: Modulation) -> bool:
    """Whether DSSS frames have the standard's short preamble; `modulation` is of `data_rate`."""
    overridden = modulation == DSSS and phy.given("preamble_time")
    return phy.preamble == "short" and not overridden


def _check_short(rate_bps: int, path: Path) -> None:
    if rate_bps < standards.SHORT_PREAMBLE_SLOWEST_BPS:
        raise invalid(path, "phy.no_short_preamble", rate=rate_bps)


def _dsss(phy: Written, standard: Standard, modulation: Modulation) -> DsssTiming | None:
    if not standard.has_dsss:
        return None
    preamble = standards.DSSS_PREAMBLES[phy.preamble]
    times = _preamble_times(
        phy, modulation == DSSS, preamble.preamble_time_ns, preamble.plcp_header_time_ns
    )
    return DsssTiming(preamble_time_ns=times[0], plcp_header_time_ns=times[1])


def _ofdm(phy: Written, standard: Standard, modulation: Modulation) -> OfdmTiming | None:
    ofdm = standard.ofdm
    if ofdm is None:
        return None
    # In 802.11n and later, the keys apply to data PPDUs, and these times to legacy control frames.
    overridden = modulation == OFDM and phy.standard not in AMENDMENTS
    times = _preamble_times(phy, overridden, ofdm.preamble_time_ns, ofdm.plcp_header_time_ns)
    return replace(ofdm, preamble_time_ns=times[0], plcp_header_time_ns=times[1])


def _preamble_times(
    phy: Written, overridden: bool, preamble_ns: int, header_ns: int
) -> tuple[int, int]:
    """Return preamble and header times: the overrides if they apply, else the standard's."""
    if not overridden:
        return preamble_ns, header_ns
    phy = phy.filled(preamble_time=preamble_ns, plcp_header_time=header_ns)
    return phy.preamble_time, phy.plcp_header_time


def _eifs_ack_ns(phy: Written, standard: Standard, ofdm: OfdmTiming | None) -> int:
    """ACKTxTime of IEEE 802.11-2020, 10.3.7: an ACK at the lowest mandatory rate.

    At 1 Mb/s that is a long PPDU even if others are short (16.2.2.3), unless its times are
    overridden.
    """
    modulation, rate_bps = standard.lowest_mandatory
    dsss = None
    if modulation == DSSS:
        long = standards.DSSS_PREAMBLES["long"]
        overridden = _modulation(standard, _data_rate(phy)) == DSSS
        preamble, header = _preamble_times(
            phy, overridden, long.preamble_time_ns, long.plcp_header_time_ns
        )
        dsss = DsssTiming(preamble_time_ns=preamble, plcp_header_time_ns=header)
    return _ack_ns(phy, Rate(bps=rate_bps, modulation=modulation), dsss, ofdm)


def _ack_ns(phy: Written, rate: Rate, dsss: DsssTiming | None, ofdm: OfdmTiming | None) -> int:
    """Return the duration of a MAC ACK at `rate`."""
    bits: int = phy.ack_bits
    if rate.modulation == DSSS:
        assert dsss is not None, "rates are checked first"
        return dsss_ns(dsss, bits, rate.bps, rounding=phy.symbol_rounding)
    assert ofdm is not None, "rates are checked first"
    return ofdm_ns(ofdm, bits, rate.bps, rounding=phy.symbol_rounding)


def _rx_start_delay_ns(
    standard: Standard,
    modulation: str,
    dsss: DsssTiming | None,
    ofdm: OfdmTiming | None,
) -> int:
    """aPHY-RX-START-Delay: preamble and header, plus a margin of the PHY."""
    ppdu = dsss if modulation == DSSS else ofdm
    assert ppdu is not None
    margin = standard.rx_start_margin_ns["dsss" if modulation == DSSS else "ofdm"]
    return ppdu.preamble_time_ns + ppdu.plcp_header_time_ns + margin


def _data_rate(phy: Written) -> int:
    """Return the data rate as written, or the standard's default."""
    data_rate: int | None = phy.data_rate
    return data_rate or standards.STANDARDS[phy.standard].default_data_rate_bps


def _modulation(standard: Standard, rate_bps: int) -> Modulation:
    modulation = standard.modulation(rate_bps)
    assert modulation is not None, "rates are checked first"
    return modulation


def _rate(standard: Standard, rate_bps: int) -> Rate:
    return Rate(bps=rate_bps, modulation=_modulation(standard, rate_bps))

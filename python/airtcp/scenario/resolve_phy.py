"""From the written `[phy]` and station rates to the resolved ones.

Knows which default follows from which key: DIFS, EIFS and ACK timeout follow from slot, SIFS and
preamble, also where those are overridden. Does not know the numbers (`standards`) nor how long data
frames are.
"""

from __future__ import annotations

from typing import TypeVar

from .. import standards
from ..airtime import dsss_ns, ofdm_ns
from ..standards import DSSS, OFDM, Modulation, Standard
from ..units import format_rate, format_time_ns
from . import resolved, written
from .errors import InvalidError

__all__ = ["beacon_rate", "resolve_phy", "station_rates"]

Path = tuple[str | int, ...]
T = TypeVar("T")


def resolve_phy(
    phy: written.Phy,
    groups: list[written.Stations],
    *,
    edca: bool = False,
    preset: standards.Preset = "standard",
) -> resolved.Phy:
    """The resolved `[phy]`.

    Args:
        phy: the written one.
        groups: the stations, for their rates, on which the ACK timeout depends.
        edca: whether data frames have a QoS Control field.
        preset: the rules of the MAC, of which ns-2's have an ACK timeout of their own.
    """
    standard = standards.STANDARDS[phy.standard]
    data_rate = _or(phy.data_rate, standard.default_data_rate_bps)
    _check_rate(standard, data_rate, ("phy", "data_rate"))
    if phy.control_rate is not None:
        _check_rate(standard, phy.control_rate, ("phy", "control_rate"))
    for index, group in enumerate(groups):
        if group.data_rate is not None:
            _check_rate(standard, group.data_rate, ("stations", index, "data_rate"))
    control_rate = standards.response_rate_bps(standard, data_rate, phy.control_rate)
    modulation = _modulation(standard, data_rate)
    _check_preamble(phy, standard, modulation, data_rate, control_rate, groups)

    dsss = _dsss(phy, standard, modulation)
    ofdm = _ofdm(phy, standard, modulation)
    slot = _or(phy.slot_time, standard.slot_time_ns)
    sifs = _or(phy.sifs, standard.sifs_ns)
    difs = _or(phy.difs, sifs + 2 * slot)
    if difs < sifs + slot:
        raise InvalidError(
            ("phy", "difs"),
            f"is {format_time_ns(difs)}; after a SIFS of {format_time_ns(sifs)} come MAC ACKs, "
            f"which others need a slot to hear; allowed: {format_time_ns(sifs + slot)} (PIFS) or "
            "more",
        )
    ack_bits = _or(phy.ack_bits, standards.ACK_BITS)
    rounding = _or(phy.symbol_rounding, True)
    header_bits = standards.MAC_HEADER_BITS + (standards.QOS_CONTROL_BITS if edca else 0)
    cw_min = _or(phy.cw_min, standard.cw_min)
    cw_max = _or(phy.cw_max, standard.cw_max)
    if cw_min > cw_max:
        key = "cw_min" if phy.cw_min is not None else "cw_max"
        raise InvalidError(
            ("phy", key),
            f"cw_min is {cw_min} and cw_max {cw_max}; allowed: cw_min <= cw_max",
        )
    if phy.eifs is not None:
        eifs = phy.eifs
        if eifs < difs:
            raise InvalidError(
                ("phy", "eifs"),
                f"is {format_time_ns(eifs)}, and DIFS is {format_time_ns(difs)}; "
                "allowed: DIFS or more",
            )
    else:
        eifs = sifs + _eifs_ack_ns(phy, standard, ofdm, ack_bits, rounding) + difs
    if phy.ack_timeout is not None:
        ack_timeout = phy.ack_timeout
        if ack_timeout < sifs:
            raise InvalidError(
                ("phy", "ack_timeout"),
                f"is {format_time_ns(ack_timeout)}, and a MAC ACK comes after a SIFS of "
                f"{format_time_ns(sifs)}; allowed: SIFS or more",
            )
    else:
        responses = {_rate(standard, control_rate)} | {
            station_rates(phy, group)[1] for group in groups
        }
        if preset == "ns-2":
            answer = max(
                _control_ns(rate, ack_bits, dsss, ofdm, rounding=rounding) for rate in responses
            )
            ack_timeout = sifs + answer + standards.NS2_ROUND_TRIP_NS
        else:
            ack_timeout = (
                sifs
                + slot
                + max(
                    _rx_start_delay_ns(standard, rate.modulation, dsss, ofdm) for rate in responses
                )
            )
    return resolved.Phy(
        standard=phy.standard,
        data_rate=_rate(standard, data_rate),
        control_rate=_rate(standard, control_rate),
        slot_time_ns=slot,
        sifs_ns=sifs,
        difs_ns=difs,
        eifs_ns=eifs,
        ack_timeout_ns=ack_timeout,
        dsss=dsss,
        ofdm=ofdm,
        symbol_rounding=rounding,
        propagation_delay_ns=_or(phy.propagation_delay, standards.PROPAGATION_DELAY_NS),
        cw_min=cw_min,
        cw_max=cw_max,
        rts_bits=_or(phy.rts_bits, standards.RTS_BITS),
        cts_bits=_or(phy.cts_bits, standards.CTS_BITS),
        ack_bits=ack_bits,
        mac_header_bits=_or(phy.mac_header_bits, header_bits),
        llc_bits=_or(phy.llc_bits, standards.LLC_BITS),
    )


def station_rates(phy: written.Phy, group: written.Stations) -> tuple[resolved.Rate, resolved.Rate]:
    """Data rate and control rate of a station group whose rates have been checked."""
    standard = standards.STANDARDS[phy.standard]
    data_rate = _or(group.data_rate, _or(phy.data_rate, standard.default_data_rate_bps))
    control_rate = standards.response_rate_bps(standard, data_rate, phy.control_rate)
    return _rate(standard, data_rate), _rate(standard, control_rate)


def beacon_rate(phy: written.Phy, rate_bps: int | None, path: Path) -> resolved.Rate:
    """The rate of beacons: the one given, or the lowest mandatory one that has the preamble.

    Raises:
        InvalidError: no rate of the standard, or one without the short preamble that is asked for.
    """
    standard = standards.STANDARDS[phy.standard]
    short = _is_short(phy, _modulation(standard, _data_rate(phy)))
    if rate_bps is None:
        _, rate_bps = standard.lowest_mandatory
        if short:
            rate_bps = max(rate_bps, standards.SHORT_PREAMBLE_SLOWEST_BPS)
    _check_rate(standard, rate_bps, path)
    if short:
        _check_short(rate_bps, path)
    return _rate(standard, rate_bps)


def _or(given: T | None, default: T) -> T:
    return default if given is None else given


def _check_rate(standard: Standard, rate_bps: int, path: Path) -> None:
    if standard.modulation(rate_bps) is None:
        allowed = ", ".join(f'"{format_rate(rate)}"' for rate in standard.all_rates_bps)
        raise InvalidError(
            path,
            f'"{format_rate(rate_bps)}" is not a rate of {standard.name}; allowed: {allowed}',
        )


def _check_preamble(
    phy: written.Phy,
    standard: Standard,
    modulation: Modulation,
    data_rate: int,
    control_rate: int,
    groups: list[written.Stations],
) -> None:
    """Refuses what has no meaning: a preamble without DSSS rates, a short one at 1 Mb/s."""
    if phy.preamble is not None and not standard.has_dsss:
        raise InvalidError(
            ("phy", "preamble"),
            f"{standard.name} has no long and short preamble; allowed: no such key, or "
            "preamble_time",
        )
    if not _is_short(phy, modulation):
        return
    used: list[tuple[Path, int]] = [
        (("phy", "data_rate"), data_rate),
        (("phy", "control_rate"), control_rate),
    ]
    for index, group in enumerate(groups):
        data, control = station_rates(phy, group)
        used += [
            (("stations", index, "data_rate"), data.bps),
            (("stations", index, "data_rate"), control.bps),
        ]
    for path, rate in used:
        _check_short(rate, path)


def _is_short(phy: written.Phy, modulation: Modulation) -> bool:
    """Whether DSSS frames have the standard's short preamble; `modulation` is of `data_rate`."""
    overridden = modulation == DSSS and phy.preamble_time is not None
    return phy.preamble == "short" and not overridden


def _check_short(rate_bps: int, path: Path) -> None:
    if rate_bps < standards.SHORT_PREAMBLE_SLOWEST_BPS:
        raise InvalidError(
            path,
            f'"{format_rate(rate_bps)}" has no short preamble; '
            'allowed: "2 Mb/s" or more, or phy.preamble = "long"',
        )


def _dsss(phy: written.Phy, standard: Standard, modulation: Modulation) -> resolved.DsssPhy | None:
    if not standard.has_dsss:
        return None
    preamble = standards.DSSS_PREAMBLES[phy.preamble or "long"]
    times = _preamble_times(
        phy, modulation == DSSS, preamble.preamble_time_ns, preamble.plcp_header_time_ns
    )
    return resolved.DsssPhy(preamble_time_ns=times[0], plcp_header_time_ns=times[1])


def _ofdm(phy: written.Phy, standard: Standard, modulation: Modulation) -> resolved.OfdmPhy | None:
    ofdm = standard.ofdm
    if ofdm is None:
        return None
    times = _preamble_times(
        phy, modulation == OFDM, ofdm.preamble_time_ns, ofdm.plcp_header_time_ns
    )
    return resolved.OfdmPhy(
        preamble_time_ns=times[0],
        plcp_header_time_ns=times[1],
        symbol_time_ns=ofdm.symbol_time_ns,
        service_bits=ofdm.service_bits,
        tail_bits=ofdm.tail_bits,
        signal_extension_ns=ofdm.signal_extension_ns,
    )


def _preamble_times(
    phy: written.Phy, overridden: bool, preamble_ns: int, header_ns: int
) -> tuple[int, int]:
    """Preamble and header: the overrides if they are for this modulation, else the standard's."""
    if not overridden:
        return preamble_ns, header_ns
    return _or(phy.preamble_time, preamble_ns), _or(phy.plcp_header_time, header_ns)


def _eifs_ack_ns(
    phy: written.Phy,
    standard: Standard,
    ofdm: resolved.OfdmPhy | None,
    ack_bits: int,
    rounding: bool,
) -> int:
    """ACKTxTime of IEEE 802.11-2012, 9.3.7: an ACK at the lowest mandatory rate.

    At 1 Mb/s that is a long PPDU even where others are short (17.2.2.3), unless its times are
    overridden.
    """
    modulation, rate_bps = standard.lowest_mandatory
    if modulation == DSSS:
        long = standards.DSSS_PREAMBLES["long"]
        overridden = _modulation(standard, _data_rate(phy)) == DSSS
        preamble, header = _preamble_times(
            phy, overridden, long.preamble_time_ns, long.plcp_header_time_ns
        )
        times = resolved.DsssPhy(preamble_time_ns=preamble, plcp_header_time_ns=header)
        return dsss_ns(times, ack_bits, rate_bps, rounding=rounding)
    assert ofdm is not None
    return ofdm_ns(ofdm, ack_bits, rate_bps, rounding=rounding)


def _control_ns(
    rate: resolved.Rate,
    bits: int,
    dsss: resolved.DsssPhy | None,
    ofdm: resolved.OfdmPhy | None,
    *,
    rounding: bool,
) -> int:
    """A control frame of `bits` at `rate`."""
    if rate.modulation == DSSS:
        assert dsss is not None, "rates are checked first"
        return dsss_ns(dsss, bits, rate.bps, rounding=rounding)
    assert ofdm is not None, "rates are checked first"
    return ofdm_ns(ofdm, bits, rate.bps, rounding=rounding)


def _rx_start_delay_ns(
    standard: Standard,
    modulation: Modulation,
    dsss: resolved.DsssPhy | None,
    ofdm: resolved.OfdmPhy | None,
) -> int:
    """aPHY-RX-START-Delay: preamble and header, and what the PHY needs beside them."""
    ppdu = dsss if modulation == DSSS else ofdm
    assert ppdu is not None
    margin = standard.rx_start_margin_ns[modulation]
    return ppdu.preamble_time_ns + ppdu.plcp_header_time_ns + margin


def _data_rate(phy: written.Phy) -> int:
    return _or(phy.data_rate, standards.STANDARDS[phy.standard].default_data_rate_bps)


def _modulation(standard: Standard, rate_bps: int) -> Modulation:
    modulation = standard.modulation(rate_bps)
    assert modulation is not None, "rates are checked first"
    return modulation


def _rate(standard: Standard, rate_bps: int) -> resolved.Rate:
    return resolved.Rate(bps=rate_bps, modulation=_modulation(standard, rate_bps))

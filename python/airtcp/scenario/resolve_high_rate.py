"""Rates and aggregation of 802.11n, ac and ax: from what a file says of them to the resolved form.

Knows which of the keys of `[phy]` and of stations make a rate, and what follows where one is left
out. Which rates there are, and what comes before their data, is in `airtcp.high_rate`.
"""

from __future__ import annotations

from typing import Final

from ..error_rates import packet_error_rate
from ..high_rate import Format, HighRate, HighRateRules, HighRateTiming, NoSuchRateError
from ..units import format_time_ns
from .errors import InvalidError, Path
from .keys import phy as keys
from .keys.mac import Aggregation
from .keys.phy import HighRatePhy, Phy, Rate
from .quantities import Written

__all__ = [
    "FORMATS",
    "check_keys",
    "error_rates",
    "high_rate_phy",
    "rate_of",
    "rates_up_to",
    "reference_bps",
    "resolve_aggregation",
    "rules_of",
]

#: PPDU format by standard.
FORMATS: Final[dict[str, Format]] = {"802.11n": "ht", "802.11ac": "vht", "802.11ax": "he"}

_HIGHEST_MCS: Final[dict[Format, int]] = {"ht": 7, "vht": 9, "he": 11}
_WIDTH_MHZ: Final[dict[Format, int]] = {"ht": 20, "vht": 80, "he": 80}
_GUARD_INTERVAL_NS: Final[dict[Format, int]] = {"ht": 400, "vht": 400, "he": 800}
_BANDS: Final[dict[Format, tuple[str, ...]]] = {
    "ht": ("2.4 GHz", "5 GHz"),
    "vht": ("5 GHz",),
    "he": ("2.4 GHz", "5 GHz", "6 GHz"),
}
#: Longest A-MPDU that a receiver may announce, bytes.
_AMPDU_BYTES: Final[dict[Format, int]] = {"ht": 65_535, "vht": 1_048_575, "he": 6_500_631}
#: Longest A-MSDU that a receiver may announce; in ac and ax the longest MPDU is what limits it.
_AMSDU_BYTES: Final[dict[Format, int]] = {"ht": 7_935, "vht": 11_454, "he": 11_454}
_MPDU_BYTES: Final = 11_454
_HT_MPDU_BYTES_IN_AMPDU: Final = 4_095
_WINDOW: Final[dict[Format, int]] = {"ht": 64, "vht": 64, "he": 256}
#: The rate of 802.11a with the modulation and coding of each MCS, Mb/s (10.6.11); from 256-QAM on
#: the highest.
_REFERENCE_MBPS: Final = (6, 12, 18, 24, 36, 48, 54, 54, 54, 54, 54, 54)
_MBPS: Final = 1_000_000
#: Keys that only 802.11n and later have, in `[phy]` and in stations.
_HIGH_KEYS: Final = ("band", "channel_width", "mcs", "spatial_streams", "guard_interval")
_BLOCK_ACK_KEYS: Final = ("block_ack_bits", "block_ack_rate")
_BLOCK_ACK_REQUEST_BITS: Final = 192
_STATION_KEYS: Final = ("rate_control", "error_table", "snr")
#: Of the packets that errors by MCS are given for.
_TABLE_BITS: Final = 8 * 1_500


def check_keys(phy: Written, groups: list[Written]) -> None:
    """Refuses keys that the standard at hand has no use for.

    Raises:
        InvalidError: `mcs` and the like before 802.11n, `data_rate` from there on.
    """
    modern = phy.standard in FORMATS
    tables: list[tuple[Path, Written]] = [(("phy",), phy)]
    tables += [(("stations", index), group) for index, group in enumerate(groups)]
    for path, table in tables:
        known = table.allowed_keys()
        unfit = ("data_rate",) if modern else (*_HIGH_KEYS, *_BLOCK_ACK_KEYS, *_STATION_KEYS)
        for name in unfit:
            if name in known and table.given(name):
                allowed = (
                    "mcs, spatial_streams, channel_width, guard_interval"
                    if modern
                    else 'data_rate, or a standard such as "802.11n"'
                )
                raise InvalidError(
                    (*path, name), f"is no key of {phy.standard}; allowed: {allowed}"
                )


def rules_of(rules: Written) -> HighRateRules:
    """What the rules of the MAC say of PPDUs."""
    ns3 = rules.preset == "ns-3"
    filled = rules.filled(
        vht_sig_b=not ns3, short_gi_rounding=not ns3, he_tail=ns3, he_ltf=8_000 if ns3 else None
    )
    return HighRateRules(
        vht_sig_b=filled.vht_sig_b,
        he_ltf_ns=filled.he_ltf,
        short_gi_rounding=filled.short_gi_rounding,
        he_tail=filled.he_tail,
    )


def rate_of(phy: Written, rules: Written, group: Written | None = None, path: Path = ()) -> Rate:
    """The rate of data frames, of the cell or of a station group.

    Raises:
        InvalidError: a combination that the standard does not have.
    """
    ppdu = FORMATS[phy.standard]
    width = _number(_chosen(phy, group, "channel_width")) or _WIDTH_MHZ[ppdu]
    streams = _chosen(phy, group, "spatial_streams") or 1
    guard = _number(phy.guard_interval) or _GUARD_INTERVAL_NS[ppdu]
    mcs = _chosen(phy, group, "mcs")
    where: Path = ("phy",) if group is None else path
    rate: HighRate | None = None
    for highest in range(_HIGHEST_MCS[ppdu], -1, -1):
        index = highest if mcs is None else int(mcs)
        try:
            rate = HighRate(
                format=ppdu,
                mcs=index,
                spatial_streams=int(streams),
                channel_width_mhz=width,
                guard_interval_ns=guard,
            )
            break
        except NoSuchRateError as error:
            if error.part != "mcs" or mcs is not None:
                table = group if group is not None and group.given(error.part) else phy
                here = where if table is group else ("phy",)
                raise InvalidError(
                    (*here, error.part),
                    f"{error.found} is not in {phy.standard}; allowed: {error.allowed}",
                ) from None
    assert rate is not None
    if group is not None and width > (_number(phy.channel_width) or _WIDTH_MHZ[ppdu]):
        raise InvalidError(
            (*where, "channel_width"),
            f"is {width} MHz, wider than the cell's channel; allowed: that of [phy] or less",
        )
    preamble = rate.preamble_time_ns(rules_of(rules))
    if phy.given("preamble_time") or phy.given("plcp_header_time"):
        # Both together are all of a data PPDU before its Data field.
        times = phy.filled(preamble_time=preamble - 4_000, plcp_header_time=4_000)
        preamble = times.preamble_time + times.plcp_header_time
    return Rate(
        bps=rate.bps,
        modulation=ppdu,
        high=keys.HighRate(
            mcs=rate.mcs,
            spatial_streams=rate.spatial_streams,
            channel_width_mhz=rate.channel_width_mhz,
            guard_interval_ns=rate.guard_interval_ns,
            preamble_time_ns=preamble,
        ),
    )


def error_rates(group: Written, path: Path) -> dict[int, float]:
    """By MCS, the share of frames with 1500 bytes that a group loses; empty if nothing is said.

    Raises:
        InvalidError: a table of what is no MCS, or two sources of errors.
    """
    sources = [name for name in ("frame_errors", "error_table", "snr") if group.given(name)]
    if len(sources) > 1:
        raise InvalidError(
            (*path, sources[-1]), f"stands beside {sources[0]}; allowed: one of the two"
        )
    most = max(_HIGHEST_MCS.values())
    if group.snr is not None:
        return {
            mcs: packet_error_rate(mcs, snr_db=group.snr, bits=_TABLE_BITS)
            for mcs in range(most + 1)
        }
    if group.error_table is None:
        return {}
    listed: dict[int, float] = {}
    for name, share in group.error_table.items():
        if not (name.isascii() and name.isdecimal() and int(name) <= most):
            raise InvalidError((*path, "error_table", name), f"is no MCS; allowed: 0 to {most}")
        if share > 1.0:
            raise InvalidError(
                (*path, "error_table", name), f"is {share:.0%}; allowed: 100 % at most"
            )
        listed[int(name)] = share
    table: dict[int, float] = {}
    for mcs in range(most + 1):
        table[mcs] = listed.get(mcs, table.get(mcs - 1, 0.0))
    return table


def rates_up_to(phy: Written, rules: Written, group: Written, path: Path) -> list[Rate]:
    """The rates of a group at its MCS and all below that its width and streams have."""
    highest = rate_of(phy, rules, group, path).high
    assert highest is not None
    rates = []
    for mcs in range(highest.mcs + 1):
        one = group.model_copy()
        one.__dict__["mcs"] = mcs
        try:
            rates.append(rate_of(phy, rules, one, path))
        except InvalidError:
            continue  # one of those that the tables of 21.5 leave out
    return rates


def reference_bps(rate: Rate) -> int:
    """The rate of 802.11a whose modulation and coding an MCS has (10.6.11)."""
    assert rate.high is not None
    return _REFERENCE_MBPS[rate.high.mcs] * _MBPS


def high_rate_phy(phy: Written, rules: Written) -> HighRatePhy:
    """What all rates of the cell have in common.

    Raises:
        InvalidError: a band that the standard does not have.
    """
    ppdu = FORMATS[phy.standard]
    band = phy.band or "5 GHz"
    if band not in _BANDS[ppdu]:
        allowed = ", ".join(f'"{one}"' for one in _BANDS[ppdu])
        raise InvalidError(
            ("phy", "band"), f'"{band}" is no band of {phy.standard}; allowed: {allowed}'
        )
    rate = rate_of(phy, rules).high
    assert rate is not None
    timing: HighRateTiming = HighRate(
        format=ppdu,
        mcs=rate.mcs,
        spatial_streams=rate.spatial_streams,
        channel_width_mhz=rate.channel_width_mhz,
        guard_interval_ns=rate.guard_interval_ns,
    ).timing(rules_of(rules), band_ghz=2.4 if band == "2.4 GHz" else 5.0)
    return HighRatePhy(
        service_bits=timing.service_bits,
        tail_bits=timing.tail_bits,
        short_gi_rounding=timing.short_gi_rounding,
        signal_extension_ns=timing.signal_extension_ns,
    )


def resolve_aggregation(mac: Written, phy: Phy, written_phy: Written) -> Aggregation | None:
    """How frames are aggregated; None before 802.11n.

    Raises:
        InvalidError: aggregation before 802.11n, or more than a receiver can announce.
    """
    ppdu = FORMATS.get(phy.standard)
    here: Path = ("mac", "aggregation")
    if ppdu is None:
        if mac.given("aggregation"):
            raise InvalidError(
                here,
                f"{phy.standard} sends each frame alone; allowed: no such table, or a standard "
                'such as "802.11n"',
            )
        return None
    table = mac.aggregation if mac.aggregation is not None else Aggregation.written_default()
    table = table.filled(ampdu=_AMPDU_BYTES[ppdu], block_ack_window=_WINDOW[ppdu])
    if table.ampdu > _AMPDU_BYTES[ppdu]:
        raise InvalidError(
            (*here, "ampdu"),
            f"is {table.ampdu} B; allowed: {_AMPDU_BYTES[ppdu]} B at most in {phy.standard}",
        )
    if table.amsdu > _AMSDU_BYTES[ppdu]:
        raise InvalidError(
            (*here, "amsdu"),
            f"is {table.amsdu} B; allowed: {_AMSDU_BYTES[ppdu]} B at most in {phy.standard}",
        )
    if table.block_ack_window > _WINDOW[ppdu]:
        raise InvalidError(
            (*here, "block_ack_window"),
            f"is {table.block_ack_window}; allowed: {_WINDOW[ppdu]} at most in {phy.standard}",
        )
    least = phy.data_rate.high.preamble_time_ns if phy.data_rate.high else 0
    if table.ppdu_time <= least:
        raise InvalidError(
            (*here, "ppdu_time"),
            f"is {format_time_ns(table.ppdu_time)}, and preamble and signal fields alone last "
            f"{format_time_ns(least)}; allowed: more than that",
        )
    long = table.block_ack_window > 64
    bits = written_phy.filled(block_ack_bits=448 if long else 256).block_ack_bits
    rate_bps = written_phy.block_ack_rate or phy.control_rate.bps
    limited = mac.rules.filled(ht_mpdu_limit=mac.rules.preset != "ns-3").ht_mpdu_limit
    is_limited = ppdu == "ht" and limited and table.ampdu > 0
    return Aggregation.of(
        table,
        mpdu_bytes=_HT_MPDU_BYTES_IN_AMPDU if is_limited else _MPDU_BYTES,
        block_ack_bits=bits,
        block_ack_rate=Rate(bps=rate_bps, modulation="ofdm", high=None),
        block_ack_request_bits=_BLOCK_ACK_REQUEST_BITS,
    )


def _chosen(phy: Written, group: Written | None, name: str) -> int | str | None:
    """A key of a group, or that of the cell."""
    own = None if group is None else getattr(group, name)
    value: int | str | None = own if own is not None else getattr(phy, name)
    return value


def _number(text: int | str | None) -> int:
    """The number of a text such as "80 MHz"; 0 for none."""
    return int(str(text).split()[0]) if text is not None else 0

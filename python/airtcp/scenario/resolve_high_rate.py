"""Resolve rates and aggregation of 802.11n, ac and ax.

`airtcp.high_rate` has the rates, and the parts of a PPDU before its data.
"""

from __future__ import annotations

import itertools
from typing import Final

from ..airtime import Rate
from ..amendments import AMENDMENTS, SCHEMES, Amendment, block_ack_bits
from ..error_rates import Receiver
from ..high_rate import HighRate, HighRateRules, HighRateTiming, NoSuchRateError
from ..standards import STANDARDS
from .errors import InvalidError, Path, invalid, refuse_together
from .keys.mac import Aggregation
from .keys.phy import Phy
from .quantities import Written

_MBPS: Final = 1_000_000
#: Keys of `[phy]` and of stations that only 802.11n and later have.
_HIGH_KEYS: Final = (
    "band",
    "channel_width",
    "mcs",
    "spatial_streams",
    "guard_interval",
    "coding",
)
_BLOCK_ACK_KEYS: Final = ("block_ack_bits", "block_ack_rate")
_BLOCK_ACK_REQUEST_BITS: Final = 192
_STATION_KEYS: Final = ("rate_control", "error_table", "snr")
#: The size of the packets for which errors by MCS are given.
_TABLE_BITS: Final = 8 * 1_500
_IMPLEMENTATION_LOSS_DB: Final = 2.0


def check_keys(table: Written, standard: str, path: Path) -> None:
    """Reject keys of `[phy]` or of a group, at `path`, that do not apply to a standard.

    Raises:
        InvalidError: `mcs` and the like before 802.11n, `data_rate` from there on.
    """
    modern = standard in AMENDMENTS
    known = table.allowed_keys()
    unfit = ("data_rate",) if modern else (*_HIGH_KEYS, *_BLOCK_ACK_KEYS, *_STATION_KEYS)
    for name in unfit:
        if name in known and table.given(name):
            allowed = (
                "mcs, spatial_streams, channel_width, guard_interval"
                if modern
                else 'data_rate, or a standard such as "802.11n"'
            )
            if modern and path[:1] == ("stations",):
                allowed += ', or standard = "802.11g" (or b, or a) of this group next to it'
            raise invalid((*path, name), "rates.not_a_key", standard=standard, allowed=allowed)


def rules_of(rules: Written) -> HighRateRules:
    """Return the MAC rules that concern PPDUs."""
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
    """Return the rate of data frames, of the cell or of a station group.

    Raises:
        InvalidError: a combination that the standard does not have.
    """
    amendment = AMENDMENTS[phy.standard]
    widest = channel_width_mhz(phy)
    width = _chosen(phy, group, "channel_width") or widest
    streams = _chosen(phy, group, "spatial_streams") or 1
    guard = _chosen(phy, group, "guard_interval") or amendment.default_guard_interval_ns
    mcs = _chosen(phy, group, "mcs")
    where: Path = ("phy",) if group is None else path
    rate: HighRate | None = None
    for highest in range(amendment.highest_mcs, -1, -1):
        index = highest if mcs is None else mcs
        try:
            rate = HighRate(
                format=amendment.format,
                mcs=index,
                spatial_streams=streams,
                channel_width_mhz=width,
                guard_interval_ns=guard,
            )
            break
        except NoSuchRateError as error:
            if error.part != "mcs" or mcs is not None:
                table = group if group is not None and group.given(error.part) else phy
                here = where if table is group else ("phy",)
                raise invalid(
                    (*here, error.part),
                    "rates.not_in_standard",
                    found=error.found,
                    standard=phy.standard,
                    allowed=error.allowed,
                ) from None
    assert rate is not None
    if group is not None and width > widest:
        raise invalid((*where, "channel_width"), "rates.too_wide", width=width)
    preamble = rate.preamble_time_ns(rules_of(rules))
    if phy.given("preamble_time") or phy.given("plcp_header_time"):
        # Together, the two times are the whole data PPDU before its Data field.
        times = phy.filled(preamble_time=preamble - 4_000, plcp_header_time=4_000)
        preamble = times.preamble_time + times.plcp_header_time
    return Rate(
        bps=rate.bps,
        modulation=amendment.format,
        high=rate.parts(preamble),
    )


def receiver_of(phy: Written, rules: Written) -> Receiver:
    """Return the receiver of frames in the format of `[phy]`, or of a pair of stations."""
    ns3 = rules.preset == "ns-3"
    model = phy.error_model
    amendment = AMENDMENTS.get(phy.standard)
    usual = "bcc" if amendment is None or ns3 else amendment.coding
    loss = phy.implementation_loss
    if loss is None:
        loss = 0.0 if ns3 or model == "nist" else _IMPLEMENTATION_LOSS_DB
    return Receiver(model, phy.coding or usual, loss)


def error_rates(phy: Written, rules: Written, group: Written, path: Path) -> dict[int, float]:
    """Return by MCS the share of frames with 1500 bytes that a group loses; empty by default.

    Raises:
        InvalidError: a table with an invalid MCS, or two sources of errors.
    """
    sources = [name for name in ("frame_errors", "error_table", "snr") if group.given(name)]
    if sources:
        refuse_together(path, sources[-1], {sources[0]: len(sources) > 1})
    if phy.standard not in AMENDMENTS:
        return {}  # `check_keys` has rejected the keys
    highest = AMENDMENTS[phy.standard].highest_mcs
    if group.snr is not None:
        receiver = receiver_of(phy, rules)
        return {
            mcs: receiver.error_rate(mcs, snr_db=group.snr, bits=_TABLE_BITS)
            for mcs in range(highest + 1)
        }
    if group.error_table is None:
        return {}
    listed: dict[int, float] = {}
    for name, share in group.error_table.items():
        if not (name.isascii() and name.isdecimal() and int(name) <= highest):
            raise invalid(
                (*path, "error_table", name),
                "rates.unknown_mcs",
                standard=phy.standard,
                highest=highest,
            )
        if share > 1.0:
            raise invalid((*path, "error_table", name), "rates.share", share=share)
        listed[int(name)] = share
    table: dict[int, float] = {}
    for mcs in range(highest + 1):
        table[mcs] = listed.get(mcs, table.get(mcs - 1, 0.0))
    return table


def rates_up_to(phy: Written, rules: Written, group: Written, path: Path) -> list[Rate]:
    """Return the rates of a group at its MCS and all lower ones that its width and streams have.

    The `MinstrelHtWifiManager` of ns-3 also tries longer guard intervals.
    """
    highest = rate_of(phy, rules, group, path).high
    assert highest is not None
    shortest = HighRate.of(AMENDMENTS[phy.standard].format, highest).guard_interval_ns
    guards = [shortest]
    if rules.preset == "ns-3":
        intervals = AMENDMENTS[phy.standard].guard_intervals_ns
        guards = [guard for guard in intervals if guard >= shortest]
    rates = []
    for mcs, guard in itertools.product(range(highest.mcs + 1), guards):
        one = group.model_copy()
        one.__dict__.update(mcs=mcs, guard_interval=guard)
        try:
            rates.append(rate_of(phy, rules, one, path))
        except InvalidError:
            continue  # the tables of 21.5 leave this one out
    return sorted(rates, key=lambda rate: rate.bps)


def reference_bps(rate: Rate) -> int:
    """Return the 802.11a rate with the modulation and coding of an MCS (10.6.11)."""
    assert rate.high is not None
    return SCHEMES[rate.high.mcs].reference_mbps * _MBPS


def high_rate_timing(phy: Written, rules: Written) -> HighRateTiming:
    """Return the timing that all rates of the cell share.

    Raises:
        InvalidError: a band that the standard does not have.
    """
    amendment = AMENDMENTS[phy.standard]
    parts = rate_of(phy, rules).high
    assert parts is not None
    rate = HighRate.of(amendment.format, parts)
    return rate.timing(rules_of(rules), band_ghz=band_ghz(phy))


def resolve_aggregation(mac: Written, phy: Phy, written_phy: Written) -> Aggregation | None:
    """Return the limits of aggregation; None before 802.11n.

    Raises:
        InvalidError: aggregation before 802.11n, or more than a receiver can announce.
    """
    amendment = AMENDMENTS.get(phy.standard)
    here: Path = ("mac", "aggregation")
    if amendment is None:
        if mac.given("aggregation"):
            raise invalid(here, "rates.no_aggregation", standard=phy.standard)
        return None
    table = mac.aggregation if mac.aggregation is not None else Aggregation.written_default()
    table = table.filled(ampdu=amendment.ampdu_bytes, block_ack_window=amendment.window)
    for name, found, most, unit in (
        ("ampdu", table.ampdu, amendment.ampdu_bytes, " B"),
        ("amsdu", table.amsdu, amendment.amsdu_bytes, " B"),
        ("block_ack_window", table.block_ack_window, amendment.window, ""),
    ):
        if found > most:
            raise invalid(
                (*here, name),
                "rates.aggregation",
                found=found,
                unit=unit,
                most=most,
                standard=phy.standard,
            )
    least = phy.data_rate.high.preamble_time_ns if phy.data_rate.high else 0
    if table.ppdu_time <= least:
        raise invalid(
            (*here, "ppdu_time"), "rates.ppdu_time", ppdu_time=table.ppdu_time, least=least
        )
    bits = written_phy.filled(block_ack_bits=block_ack_bits(table.block_ack_window)).block_ack_bits
    rate_bps = written_phy.block_ack_rate or phy.control_rate.bps
    return Aggregation.of(
        table,
        mpdu_bytes=_mpdu_bytes(amendment, table.ampdu, mac.rules),
        block_ack_bits=bits,
        block_ack_rate=legacy_rate(rate_bps),
        block_ack_request_bits=_BLOCK_ACK_REQUEST_BITS,
    )


def legacy_rate(bps: int) -> Rate:
    """Return a rate of 802.11a, b or g. Each rate belongs to only one modulation."""
    modulation = STANDARDS["802.11g"].modulation(bps)
    assert modulation is not None, "rates are checked first"
    return Rate(bps=bps, modulation=modulation)


def limited_aggregation(
    own: Aggregation, phy: Written, rules: Written, control_rate: Rate
) -> Aggregation:
    """Return an access point's aggregation within the limits of `phy`'s older amendment."""
    amendment = AMENDMENTS[phy.standard]
    window = min(own.block_ack_window, amendment.window)
    ampdu = min(own.ampdu_bytes, amendment.ampdu_bytes)
    rate_bps = phy.block_ack_rate or control_rate.bps
    return Aggregation(
        ampdu_bytes=ampdu,
        amsdu_bytes=min(own.amsdu_bytes, amendment.amsdu_bytes),
        mpdu_bytes=_mpdu_bytes(amendment, ampdu, rules),
        ppdu_time_ns=own.ppdu_time_ns,
        block_ack_window=window,
        block_ack_bits=block_ack_bits(window),
        block_ack_rate=legacy_rate(rate_bps),
        block_ack_request_bits=own.block_ack_request_bits,
    )


def _mpdu_bytes(amendment: Amendment, ampdu_bytes: int, rules: Written) -> int:
    """Return the longest MPDU that carries several packets, in bytes."""
    limited = rules.filled(ht_mpdu_limit=rules.preset != "ns-3").ht_mpdu_limit
    in_ampdu = ampdu_bytes > 0 and limited
    return amendment.mpdu_bytes_in_ampdu if in_ampdu else amendment.mpdu_bytes


def band_ghz(phy: Written) -> float:
    """Return the band of the cell in GHz; 5 GHz unless only a higher one has the channel width.

    Raises:
        InvalidError: a band that the standard does not have, or that has no channel so wide.
    """
    amendment = AMENDMENTS[phy.standard]
    width = phy.channel_width or 0
    fit = [ghz for ghz, widest in amendment.widest_mhz.items() if width <= widest]
    band: float = phy.band or (5 if 5 in fit or not fit else fit[-1])
    if band not in amendment.widest_mhz:
        allowed = ", ".join(f'"{ghz} GHz"' for ghz in amendment.widest_mhz)
        raise invalid(
            ("phy", "band"), "rates.unknown_band", band=band, standard=phy.standard, allowed=allowed
        )
    if width in amendment.subcarriers and band not in fit:
        raise invalid(
            ("phy", "channel_width"),
            "rates.width_of_band",
            width=width,
            widest=amendment.widest_mhz[band],
            band=band,
            standard=phy.standard,
        )
    return band


def channel_width_mhz(phy: Written) -> int:
    """Return the width of the cell's channel: the given one, or the default limited by the band."""
    amendment = AMENDMENTS[phy.standard]
    widest = amendment.widest_mhz[band_ghz(phy)]
    width: int = phy.channel_width or min(amendment.default_width_mhz, widest)
    return width


def _chosen(phy: Written, group: Written | None, name: str) -> int | None:
    """Return a key of a group, or the cell's key if the group has none."""
    own = None if group is None else getattr(group, name)
    value: int | None = own if own is not None else getattr(phy, name)
    return value

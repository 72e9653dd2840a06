"""`[phy]`: the standard, and each of its numbers that a paper may have changed.

`resolve_phy` computes interframe spaces and timeouts from each other.
"""

from collections.abc import Callable
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal, Protocol, Self

from pydantic import Field

from ...airtime import Rate
from ...amendments import (
    BANDS_GHZ,
    BLOCK_ACK_BITS,
    GUARD_INTERVALS_NS,
    HIGHEST_MCS,
    MOST_STREAMS,
    WIDTHS_MHZ,
    Amendment,
    amended,
)
from ...high_rate import HighRateTiming
from ...standards import (
    DSSS_PREAMBLES,
    MAC_HEADER_BITS,
    OFDM_TIMING,
    QOS_CONTROL_BITS,
    STANDARDS,
    DsssTiming,
    OfdmTiming,
    Standard,
)
from ...units import format_time_ns
from ..declare import Key, Table, derived, file_only, key
from ..quantities import Decibels, ExchangeTimeNs, RateBps, in_any_case, one_of

StandardName = Literal[
    "802.11b", "802.11a", "802.11g", "802.11n", "802.11ac", "802.11ax", "802.11be"
]


def _standards(number: Callable[[Standard], int], show: Callable[[int], str] = str) -> str:
    """Describe a number by standard: "20 us (b), 9 us (a, g)"."""
    having: dict[int, list[str]] = {}
    for name, standard in STANDARDS.items():
        having.setdefault(number(standard), []).append(name.removeprefix("802.11"))
    if len(having) == 1:
        return show(next(iter(having)))
    return ", ".join(f"{show(value)} ({', '.join(have)})" for value, have in having.items())


def _guard_intervals(amendment: Amendment) -> str:
    *most, last = amendment.guard_intervals_ns
    return f"{', '.join(map(str, most))} or {last} ns"


def _formats(time_ns: Callable[[DsssTiming | OfdmTiming], int]) -> str:
    """Describe a time by PPDU format: "144 us (long), 72 us (short), 16 us (OFDM)"."""
    formats: list[tuple[str, DsssTiming | OfdmTiming]] = [
        *DSSS_PREAMBLES.items(),
        ("OFDM", OFDM_TIMING),
    ]
    return ", ".join(f"{format_time_ns(time_ns(ppdu))} ({name})" for name, ppdu in formats)


class Protection(Table):
    """The frames before OFDM frames that keep 802.11b stations quiet."""

    kind: Literal["cts-to-self", "rts-cts"] = derived()
    rate: Rate = derived()


class SharesFormat(Protocol):
    """The capabilities of a pair of stations that determine the duration of its PPDUs."""

    @property
    def high_rate(self) -> HighRateTiming | None:
        """Timing of 802.11n and later; None if the pair does not have it."""


class Phy(Table):
    """Physical layer: the standard, and each of its numbers that a paper may have changed."""

    computed = MappingProxyType(
        {
            "bands": amended(lambda one: ", ".join(f"{ghz} GHz" for ghz in one.widest_mhz)),
            "widest": amended(lambda one: f"{max(one.subcarriers)} MHz"),
            "usual_width": amended(lambda one: f"{one.default_width_mhz} MHz"),
            "highest_mcs": amended(lambda one: f"{one.highest_mcs}"),
            "most_streams": amended(lambda one: f"{one.most_streams}"),
            "guard_intervals": amended(_guard_intervals),
            "usual_guard_interval": amended(lambda one: f"{one.default_guard_interval_ns} ns"),
            "coding": amended(lambda one: one.coding),
            "slot_times": _standards(lambda one: one.slot_time_ns, format_time_ns),
            "long_slot": format_time_ns(STANDARDS["802.11b"].slot_time_ns),
            "sifs": _standards(lambda one: one.sifs_ns, format_time_ns),
            "cw_min": _standards(lambda one: one.cw_min),
            "cw_max": _standards(lambda one: one.cw_max),
            "preambles": _formats(lambda ppdu: ppdu.preamble_time_ns),
            "plcp_headers": _formats(lambda ppdu: ppdu.plcp_header_time_ns),
            "mac_header": str(MAC_HEADER_BITS),
            "qos_header": str(MAC_HEADER_BITS + QOS_CONTROL_BITS),
            "block_acks": ", ".join(
                f"{bits} with a window of {window}" for window, bits in BLOCK_ACK_BITS.items()
            ),
        }
    )

    standard: StandardName = key(Annotated[StandardName, in_any_case(*STANDARDS)])
    band: ClassVar[Key] = file_only(one_of(BANDS_GHZ, "GHz"))
    channel_width: ClassVar[Key] = file_only(one_of(WIDTHS_MHZ, "MHz"))
    mcs: ClassVar[Key] = file_only(Annotated[int, Field(ge=0, le=HIGHEST_MCS)])
    spatial_streams: ClassVar[Key] = file_only(Annotated[int, Field(ge=1, le=MOST_STREAMS)])
    guard_interval: ClassVar[Key] = file_only(one_of(GUARD_INTERVALS_NS, "ns"))
    coding: ClassVar[Key] = file_only(Literal["bcc", "ldpc"])
    error_model: ClassVar[Key] = file_only(Literal["tables", "nist"])
    implementation_loss: ClassVar[Key] = file_only(Decibels)
    data_rate: Rate = key(RateBps)
    control_rate: Rate = key(RateBps)
    protection: Protection | None = key(Literal["cts-to-self", "rts-cts", "none"])
    preamble: ClassVar[Key] = file_only(Literal["long", "short"])
    slot_time_ns: int = key(ExchangeTimeNs)
    sifs_ns: int = key(ExchangeTimeNs)
    difs_ns: int = key(ExchangeTimeNs)
    eifs_ns: int = key(ExchangeTimeNs)
    ack_timeout_ns: int = key(ExchangeTimeNs)
    dsss: DsssTiming | None = derived()
    ofdm: OfdmTiming | None = derived()
    high_rate: HighRateTiming | None = derived()
    preamble_time: ClassVar[Key] = file_only(ExchangeTimeNs)
    plcp_header_time: ClassVar[Key] = file_only(ExchangeTimeNs)
    propagation_delay_ns: int = key(ExchangeTimeNs)
    cw_min: int = key()
    cw_max: int = key()
    rts_bits: int = key()
    cts_bits: int = key()
    ack_bits: int = key()
    mac_header_bits: int = key()
    block_ack_bits: ClassVar[Key] = file_only(Annotated[int, Field(ge=0, le=10**6)])
    block_ack_rate: ClassVar[Key] = file_only(RateBps)
    llc_bits: int = key()
    symbol_rounding: bool = key()

    def shared_with(self, pair: SharesFormat | None) -> Self:
        """Return the PHY for frames of a pair of stations, or this PHY if `pair` is None."""
        return self if pair is None else self.model_copy(update={"high_rate": pair.high_rate})

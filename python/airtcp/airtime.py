"""Durations of PPDUs and frame exchanges at DSSS and OFDM rates, in nanoseconds.

Rates, timing and sizes of a PHY have the names that they have in the `[phy]` section of the
resolved form. The resolver and the models both call these functions with their own PHY objects. The
module follows the same clauses as the Rust core but shares no code with it, so that a test can
compare the two.

All arithmetic is exact integer arithmetic, on single values or NumPy arrays. Values are rounded
only where the standard rounds. Callers check that arguments are in range.

Clauses are those of IEEE Std 802.11-2020: 15 (DSSS), 16 (HR/DSSS), 17 (OFDM), 18 (ERP).
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Annotated, Final, Protocol

from .amendments import BY_FORMAT, amended
from .high_rate import HighRate, HighRateParts, HighRateTiming
from .standards import DsssTiming, OfdmTiming

if TYPE_CHECKING:
    from .high_rate import Bits

_NS_PER_S = 1_000_000_000
_US_PER_S = 1_000_000
_NS_PER_US = 1_000
_FASTEST_BPS = 10**12

MODULATIONS: Final = ("dsss", "ofdm", *BY_FORMAT)
"""DSSS and CCK, OFDM, and the PPDU formats of 802.11n and later."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A PHY rate in bits per second and its modulation."""

    bps: Annotated[int, "Bits per second."]
    modulation: Annotated[
        str,
        "DSSS and CCK, OFDM, or the PPDU format of 802.11n and later: "
        + amended(lambda one: one.format.upper())
        + ".",
    ]
    high: Annotated[
        HighRateParts | None, "What makes it a rate of 802.11n and later; none: before."
    ] = None

    def __post_init__(self) -> None:
        if not (isinstance(self.bps, Integral) and 0 < self.bps <= _FASTEST_BPS):
            raise ValueError(f"bps must be greater than 0, whole, at most 10^12, not {self.bps!r}")
        if self.modulation not in MODULATIONS:
            known = ", ".join(map(repr, MODULATIONS))
            raise ValueError(f"modulation must be one of {known}, not {self.modulation!r}")
        if (self.high is None) != (self.modulation not in BY_FORMAT):
            raise ValueError(f"high is only for 802.11n and later, not {self.high!r}")


class PhyTiming(Protocol):
    """PHY parameters that determine the length of an exchange.

    `propagation_delay_ns` is added after every frame.
    """

    @property
    def dsss(self) -> DsssTiming | None: ...
    @property
    def ofdm(self) -> OfdmTiming | None: ...
    @property
    def high_rate(self) -> HighRateTiming | None: ...
    @property
    def symbol_rounding(self) -> bool: ...
    @property
    def sifs_ns(self) -> int: ...
    @property
    def propagation_delay_ns(self) -> int: ...
    @property
    def rts_bits(self) -> int: ...
    @property
    def cts_bits(self) -> int: ...
    @property
    def ack_bits(self) -> int: ...
    @property
    def mac_header_bits(self) -> int: ...
    @property
    def llc_bits(self) -> int: ...


def dsss_ns(dsss: DsssTiming, bits: Bits, rate_bps: int, *, rounding: bool) -> Bits:
    """Return the duration of a PPDU with `bits` of payload at a DSSS or CCK rate.

    The duration includes preamble and header. With `rounding` the payload is rounded up to whole
    microseconds (16.3.4), otherwise to whole nanoseconds.
    """
    if rounding:
        payload = _ceil(bits * _US_PER_S, rate_bps) * _NS_PER_US
    else:
        payload = _ceil(bits * _NS_PER_S, rate_bps)
    return payload + (dsss.preamble_time_ns + dsss.plcp_header_time_ns)


def ofdm_ns(ofdm: OfdmTiming, bits: Bits, rate_bps: int, *, rounding: bool) -> Bits:
    """Return the duration of a PPDU with `bits` of payload at an OFDM rate.

    The duration includes the signal extension. With `rounding`, service bits, payload and tail bits
    fill whole symbols (17.4.3); otherwise their duration is rounded up to whole nanoseconds.
    """
    # Bits per symbol (rate * symbol time) need not be whole, so they are kept as a fraction.
    unit = ofdm.symbol_time_ns if rounding else 1
    coded = bits + (ofdm.service_bits + ofdm.tail_bits)
    payload = _ceil(coded * _NS_PER_S, rate_bps * unit) * unit
    return payload + (ofdm.preamble_time_ns + ofdm.plcp_header_time_ns + ofdm.signal_extension_ns)


def ppdu_ns(phy: PhyTiming, bits: Bits, rate: Rate) -> Bits:
    """Return the duration of the PPDU that carries an MPDU or control frame of `bits` at `rate`.

    Raises ValueError if `phy` lacks the modulation of the rate.
    """
    if rate.high is not None:
        if phy.high_rate is None:
            raise ValueError(f"rate is {rate.modulation.upper()}, but phy has no high_rate section")
        high = HighRate.of(rate.modulation, rate.high)
        preamble_ns = rate.high.preamble_time_ns
        return high.ppdu_time_ns(bits, phy.high_rate, preamble_time_ns=preamble_ns)
    if rate.modulation == "dsss":
        if phy.dsss is None:
            raise ValueError("rate is DSSS, but phy has no dsss section")
        return dsss_ns(phy.dsss, bits, rate.bps, rounding=phy.symbol_rounding)
    if phy.ofdm is None:
        raise ValueError("rate is OFDM, but phy has no ofdm section")
    return ofdm_ns(phy.ofdm, bits, rate.bps, rounding=phy.symbol_rounding)


def mpdu_bits(phy: PhyTiming, msdu_bits: Bits) -> Bits:
    """Return the size in bits of the MPDU that carries an MSDU, with MAC header, FCS and LLC."""
    return msdu_bits + (phy.mac_header_bits + phy.llc_bits)


def needs_rts(phy: PhyTiming, msdu_bits: int, threshold_bytes: int | None) -> bool:
    """Whether RTS/CTS precedes an MSDU: its MPDU is longer than the threshold (10.3.1).

    A threshold of None disables RTS/CTS.
    """
    return threshold_bytes is not None and mpdu_bits(phy, msdu_bits) > 8 * threshold_bytes


def exchange_ns(
    phy: PhyTiming,
    msdu_bits: Bits,
    data_rate: Rate,
    control_rate: Rate,
    *,
    rts: bool,
) -> Bits:
    """Return the duration of a successful exchange, from its first bit to the end of the MAC ACK.

    The exchange is DATA, SIFS, ACK. With `rts`, RTS, SIFS, CTS, SIFS come first (10.3.2). Every
    frame is followed by the propagation delay. DIFS and backoff are not included. Raises the errors
    of `ppdu_ns`.
    """
    gap = phy.sifs_ns + phy.propagation_delay_ns
    around = gap + ppdu_ns(phy, phy.ack_bits, control_rate) + phy.propagation_delay_ns
    if rts:
        around += ppdu_ns(phy, phy.rts_bits, control_rate) + gap
        around += ppdu_ns(phy, phy.cts_bits, control_rate) + gap
    return ppdu_ns(phy, mpdu_bits(phy, msdu_bits), data_rate) + around


def _ceil(numerator: Bits, denominator: int) -> Bits:
    return -(-numerator // denominator)

"""How long frames and exchanges are on the air: PPDU durations of DSSS and OFDM, in nanoseconds.

Knows timing and sizes of a PHY, under the names of the `[phy]` section of the resolved form. Does
not know contention, queues or TCP, nor where a PHY comes from: the resolver and the models both
hand in theirs. Written from the same clauses as the Rust core and sharing no line with it, so that
a test can hold the two equal.

All arithmetic is on integers, single ones or NumPy arrays of them: nothing is rounded but where
the standard rounds. Arguments are taken to be in range: callers check them.

Clauses are those of IEEE Std 802.11-2020: 15 (DSSS), 16 (HR/DSSS), 17 (OFDM), 18 (ERP).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from .high_rate import HighRate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Bits = TypeVar("Bits", int, NDArray[np.int64])
    """One size, or an array of sizes; times have the same shape."""

_NS_PER_S = 1_000_000_000
_US_PER_S = 1_000_000
_NS_PER_US = 1_000
_SHORT_GUARD_INTERVAL_NS = 400
_LONG_SYMBOL_NS = 4_000


class RateTiming(Protocol):
    """A PHY rate: `bps` in bits per second, `modulation` "dsss" (CCK included) or "ofdm"."""

    @property
    def bps(self) -> int: ...
    @property
    def modulation(self) -> str: ...


class HighRateParts(Protocol):
    """What makes a rate of 802.11n and later, as the resolved form has it in `high`."""

    @property
    def mcs(self) -> int: ...
    @property
    def spatial_streams(self) -> int: ...
    @property
    def channel_width_mhz(self) -> int: ...
    @property
    def guard_interval_ns(self) -> int: ...
    @property
    def preamble_time_ns(self) -> int: ...


class HighRateTiming(Protocol):
    """What all such rates of a cell have in common (`airtcp.high_rate.HighRateTiming`)."""

    @property
    def service_bits(self) -> int: ...
    @property
    def tail_bits(self) -> int: ...
    @property
    def short_gi_rounding(self) -> bool: ...
    @property
    def signal_extension_ns(self) -> int: ...


class DsssTiming(Protocol):
    """Preamble and PLCP header of DSSS and HR/DSSS (16.2.2), nanoseconds."""

    @property
    def preamble_time_ns(self) -> int: ...
    @property
    def plcp_header_time_ns(self) -> int: ...


class OfdmTiming(Protocol):
    """Timing of OFDM (Table 17-5) and signal extension of ERP-OFDM (18.5.3), nanoseconds."""

    @property
    def preamble_time_ns(self) -> int: ...
    @property
    def plcp_header_time_ns(self) -> int: ...
    @property
    def symbol_time_ns(self) -> int: ...
    @property
    def service_bits(self) -> int: ...
    @property
    def tail_bits(self) -> int: ...
    @property
    def signal_extension_ns(self) -> int: ...


class PhyTiming(Protocol):
    """What the length of an exchange depends on; `propagation_delay_ns` follows every frame."""

    @property
    def dsss(self) -> DsssTiming | None: ...
    @property
    def ofdm(self) -> OfdmTiming | None: ...
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
    """A PPDU with a payload of `bits` at a DSSS or CCK rate, preamble and header included.

    With `rounding` the payload lasts whole microseconds (16.3.4), else whole nanoseconds.
    """
    if rounding:
        payload = _ceil(bits * _US_PER_S, rate_bps) * _NS_PER_US
    else:
        payload = _ceil(bits * _NS_PER_S, rate_bps)
    return payload + (dsss.preamble_time_ns + dsss.plcp_header_time_ns)


def ofdm_ns(ofdm: OfdmTiming, bits: Bits, rate_bps: int, *, rounding: bool) -> Bits:
    """A PPDU with a payload of `bits` at an OFDM rate, signal extension included.

    With `rounding` service bits, payload and tail bits fill whole symbols (17.4.3), else they last
    whole nanoseconds.
    """
    # Bits per symbol are rate * symbol time; kept as a fraction, they need not be whole.
    unit = ofdm.symbol_time_ns if rounding else 1
    coded = bits + (ofdm.service_bits + ofdm.tail_bits)
    payload = _ceil(coded * _NS_PER_S, rate_bps * unit) * unit
    return payload + (ofdm.preamble_time_ns + ofdm.plcp_header_time_ns + ofdm.signal_extension_ns)


def ppdu_ns(phy: PhyTiming, bits: Bits, rate: RateTiming) -> Bits:
    """The PPDU that carries an MPDU (or control frame) of `bits` at `rate`.

    Raises ValueError if `phy` lacks the rate's modulation.
    """
    high: HighRateParts | None = getattr(rate, "high", None)
    if high is not None:
        timing: HighRateTiming | None = getattr(phy, "high_rate", None)
        if timing is None:
            raise ValueError(f"rate is {rate.modulation.upper()}, but phy has no high_rate section")
        return _high_ns(timing, bits, rate.modulation, high)
    if rate.modulation == "dsss":
        if phy.dsss is None:
            raise ValueError("rate is DSSS, but phy has no dsss section")
        return dsss_ns(phy.dsss, bits, rate.bps, rounding=phy.symbol_rounding)
    if phy.ofdm is None:
        raise ValueError("rate is OFDM, but phy has no ofdm section")
    return ofdm_ns(phy.ofdm, bits, rate.bps, rounding=phy.symbol_rounding)


def _high_ns(timing: HighRateTiming, bits: Bits, modulation: str, parts: HighRateParts) -> Bits:
    """A PPDU of 802.11n or later (`airtcp.high_rate`)."""
    rate = HighRate(
        format=modulation,
        mcs=parts.mcs,
        spatial_streams=parts.spatial_streams,
        channel_width_mhz=parts.channel_width_mhz,
        guard_interval_ns=parts.guard_interval_ns,
    )
    coded = bits + (timing.service_bits + timing.tail_bits * rate.encoders)
    data = _ceil(coded, rate.data_bits_per_symbol) * rate.symbol_time_ns
    if timing.short_gi_rounding and rate.guard_interval_ns == _SHORT_GUARD_INTERVAL_NS:
        data = _ceil(data, _LONG_SYMBOL_NS) * _LONG_SYMBOL_NS
    return data + (parts.preamble_time_ns + timing.signal_extension_ns)


def mpdu_bits(phy: PhyTiming, msdu_bits: Bits) -> Bits:
    """Bits of the MPDU that carries an MSDU: MAC header, FCS and LLC are added."""
    return msdu_bits + (phy.mac_header_bits + phy.llc_bits)


def needs_rts(phy: PhyTiming, msdu_bits: int, threshold_bytes: int | None) -> bool:
    """Whether RTS/CTS comes before an MSDU: its MPDU is longer than the threshold (10.3.1).

    None is a threshold that no frame exceeds.
    """
    return threshold_bytes is not None and mpdu_bits(phy, msdu_bits) > 8 * threshold_bytes


def exchange_ns(
    phy: PhyTiming,
    msdu_bits: Bits,
    data_rate: RateTiming,
    control_rate: RateTiming,
    *,
    rts: bool,
) -> Bits:
    """A successful exchange, from its first bit to the end of the MAC ACK.

    DATA, SIFS, ACK; with `rts`: RTS, SIFS, CTS, SIFS before them (10.3.2). The propagation delay
    comes after every frame. DIFS and backoff are not included. Errors as `ppdu_ns`.
    """
    gap = phy.sifs_ns + phy.propagation_delay_ns
    around = gap + ppdu_ns(phy, phy.ack_bits, control_rate) + phy.propagation_delay_ns
    if rts:
        around += ppdu_ns(phy, phy.rts_bits, control_rate) + gap
        around += ppdu_ns(phy, phy.cts_bits, control_rate) + gap
    return ppdu_ns(phy, mpdu_bits(phy, msdu_bits), data_rate) + around


def _ceil(numerator: Bits, denominator: int) -> Bits:
    return -(-numerator // denominator)

"""PPDUs of 802.11n and later: valid rates and frame durations.

A rate combines MCS, spatial streams, channel width and guard interval. `airtcp.amendments` holds
the parameters of each amendment. The module follows the tables of the standard but shares no code
with the Rust core, so that a test can compare the two.

Clauses are those of IEEE Std 802.11-2020, 19 (HT) and 21 (VHT), and of IEEE Std 802.11ax-2021, 27
(HE). Times are integer nanoseconds.

>>> rate = HighRate(
...     format="vht", mcs=9, spatial_streams=2, channel_width_mhz=80, guard_interval_ns=400
... )
>>> rate.bps
866666666
>>> rate.preamble_time_ns()
44000
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Self, TypeVar

from .amendments import BY_FORMAT, LONG_TRAINING_FIELDS, SCHEMES, Amendment

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Bits = TypeVar("Bits", int, NDArray[np.int64])
    """One size, or an array of sizes. Times have the same shape."""

_US = 1_000
_LEGACY_PREAMBLE_NS = 20 * _US
"""L-STF, L-LTF and L-SIG: every format begins with them so that older stations defer."""
_TAIL_BITS = 6
_SIGNAL_SYMBOL_NS = 4 * _US
_SIGNAL_BITS = (26, 52)
"""Data bits per 20 MHz symbol with 52 subcarriers at MCS 0 and 1, for further signal fields."""


@dataclass(frozen=True)
class HighRateRules:
    """PPDU rules on which the standard and its simulators disagree.

    `vht_sig_b`: a VHT PPDU to one user has VHT-SIG-B, as 21.3.8.3.6 says. `he_ltf_ns`: duration of
    one HE-LTF with its guard interval; None takes 27.3.11.10: 7.2, 8 or 16 us, depending on the
    guard interval of the data. `short_gi_rounding`: data with the short guard interval end on a
    boundary of 4 us (19.4.3, 21.4.3). `he_tail`: HE data end with the tail bits of a convolutional
    code; LDPC, which HE requires above 20 MHz, has none.
    """

    vht_sig_b: bool = True
    he_ltf_ns: int | None = None
    short_gi_rounding: bool = True
    he_tail: bool = False


@dataclass(frozen=True, slots=True)
class HighRateTiming:
    """PPDU parameters shared by all rates of 802.11n and later in a cell."""

    service_bits: Annotated[int, "The SERVICE field."]
    tail_bits: Annotated[int, "Tail bits of a convolutional encoder; 0: LDPC."]
    short_gi_rounding: Annotated[bool, "Data with 400 ns end on a boundary of 4 us."]
    signal_extension_ns: Annotated[int, "The end of a PPDU in 2.4 GHz, without signal."]


@dataclass(frozen=True, slots=True)
class HighRateParts:
    """The parameters of a rate of 802.11n and later."""

    mcs: Annotated[int, "Modulation and coding of each stream, from 0 on."]
    spatial_streams: Annotated[int, "Spatial streams."]
    channel_width_mhz: Annotated[int, "Channel width in MHz."]
    guard_interval_ns: Annotated[int, "Guard interval."]
    preamble_time_ns: Annotated[
        int, "Everything before the Data field, or `preamble_time` + `plcp_header_time`."
    ]


class NoSuchRateError(ValueError):
    """The standard does not define this rate.

    `part` names the wrong parameter, and `allowed` says which values it may have.
    """

    def __init__(self, part: str, found: str, allowed: str) -> None:
        super().__init__(f"there is no {found}; allowed: {allowed}")
        self.part = part
        self.found = found
        self.allowed = allowed


@dataclass(frozen=True, kw_only=True)
class HighRate:
    """A rate of 802.11n and later. `format` is its PPDU format; `mcs` counts within one stream.

    Raises `NoSuchRateError` if the standard does not define the rate.
    """

    format: str
    mcs: int
    spatial_streams: int
    channel_width_mhz: int
    guard_interval_ns: int

    def __post_init__(self) -> None:
        amendment = self.amendment
        if self.channel_width_mhz not in amendment.subcarriers:
            widths = ", ".join(f"{width} MHz" for width in amendment.subcarriers)
            raise NoSuchRateError("channel_width", f"{self.channel_width_mhz} MHz", widths)
        if not 1 <= self.spatial_streams <= amendment.most_streams:
            streams = f"1 to {amendment.most_streams}"
            raise NoSuchRateError("spatial_streams", f"{self.spatial_streams} streams", streams)
        if self.guard_interval_ns not in amendment.guard_intervals_ns:
            intervals = ", ".join(f"{value} ns" for value in amendment.guard_intervals_ns)
            raise NoSuchRateError("guard_interval", f"{self.guard_interval_ns} ns", intervals)
        missing = {
            mcs
            for mcs in range(amendment.highest_mcs + 1)
            if (self.channel_width_mhz, self.spatial_streams, mcs) in amendment.missing
        }
        if self.mcs in missing or not 0 <= self.mcs <= amendment.highest_mcs:
            of = f" at {self.channel_width_mhz} MHz with {self.spatial_streams} spatial streams"
            but = f" but {', '.join(map(str, sorted(missing)))}{of}" if missing else ""
            raise NoSuchRateError("mcs", f"MCS {self.mcs}", f"0 to {amendment.highest_mcs}{but}")

    @classmethod
    def of(cls, format: str, parts: HighRateParts) -> Self:  # noqa: A002
        """Return the rate with these `parts` in a PPDU format."""
        return cls(
            format=format,
            mcs=parts.mcs,
            spatial_streams=parts.spatial_streams,
            channel_width_mhz=parts.channel_width_mhz,
            guard_interval_ns=parts.guard_interval_ns,
        )

    def parts(self, preamble_time_ns: int) -> HighRateParts:
        """Return the parameters of the rate, including the time before the Data field."""
        return HighRateParts(
            mcs=self.mcs,
            spatial_streams=self.spatial_streams,
            channel_width_mhz=self.channel_width_mhz,
            guard_interval_ns=self.guard_interval_ns,
            preamble_time_ns=preamble_time_ns,
        )

    @property
    def amendment(self) -> Amendment:
        """The amendment that introduced the format."""
        return BY_FORMAT[self.format]

    @property
    def data_bits_per_symbol(self) -> int:
        """N_DBPS, rounded down as in Tables 27-12 and 36-18 (HT and VHT have no fractions)."""
        scheme = SCHEMES[self.mcs]
        subcarriers = self.amendment.subcarriers[self.channel_width_mhz]
        return int(subcarriers * scheme.coded_bits * self.spatial_streams * scheme.coding)

    @property
    def encoders(self) -> int:
        """N_ES, the number of convolutional encoders, each with its own tail; 1 from HE on."""
        amendment = self.amendment
        if amendment.encoder_bps is None:
            return 1
        even = -(-self._long_gi_bps() // amendment.encoder_bps)
        key = self.channel_width_mhz, self.spatial_streams, self.mcs
        return amendment.more_encoders.get(key, even)

    def _long_gi_bps(self) -> int:
        return self.data_bits_per_symbol * 250_000

    @property
    def symbol_time_ns(self) -> int:
        """Duration of a Data field symbol, including its guard interval."""
        return self.amendment.symbol_ns + self.guard_interval_ns

    @property
    def bps(self) -> int:
        """Bits per second, rounded down."""
        return self.data_bits_per_symbol * 1_000_000_000 // self.symbol_time_ns

    def preamble_time_ns(self, rules: HighRateRules | None = None) -> int:
        """Return the time before the Data field: preambles, training and signal fields.

        HT mixed (19.3.2): HT-SIG of 8 us, HT-STF and HT-LTFs of 4 us each. VHT (21.3.2): VHT-SIG-A
        of 8 us, VHT-STF and VHT-LTFs of 4 us each, VHT-SIG-B of 4 us. HE SU (27.3.4): RL-SIG of 4
        us, HE-SIG-A of 8 us, HE-STF of 4 us, HE-LTFs.
        """
        rules = rules or HighRateRules()
        amendment = self.amendment
        signal = _LEGACY_PREAMBLE_NS + amendment.signal_ns
        if amendment.signal_bits:
            bits = _SIGNAL_BITS[min(self.mcs, len(_SIGNAL_BITS) - 1)]
            signal += -(-amendment.signal_bits // bits) * _SIGNAL_SYMBOL_NS
        long_training = amendment.long_training_ns[self.guard_interval_ns]
        if rules.he_ltf_ns is not None and amendment.has_long_symbols:
            long_training = rules.he_ltf_ns
        training = LONG_TRAINING_FIELDS[self.spatial_streams] * long_training
        sig_b = amendment.sig_b_ns if rules.vht_sig_b else 0
        return signal + amendment.training_ns + training + sig_b

    def timing(self, rules: HighRateRules | None = None, *, band_ghz: float) -> HighRateTiming:
        """Return the overhead of the Data field in the 2.4, 5 or 6 GHz band.

        In 2.4 GHz the frame ends with 6 us without signal (aSignalExtension).
        """
        rules = rules or HighRateRules()
        has_tail = self.amendment.has_tail or rules.he_tail
        return HighRateTiming(
            service_bits=16,
            tail_bits=_TAIL_BITS if has_tail else 0,
            short_gi_rounding=rules.short_gi_rounding,
            signal_extension_ns=6 * _US if band_ghz == 2.4 else 0,
        )

    def ppdu_time_ns(
        self, bits: Bits, timing: HighRateTiming, *, preamble_time_ns: int | None = None
    ) -> Bits:
        """Return the duration of a PPDU whose PSDU has `bits` bits (19.4.3, 21.4.3, 27.4.3).

        `preamble_time_ns` defaults to the value of `preamble_time_ns()`.

        31 packets of 1500 bytes in an A-MPDU at MCS 7:

        >>> rate = HighRate(
        ...     format="ht",
        ...     mcs=7,
        ...     spatial_streams=1,
        ...     channel_width_mhz=20,
        ...     guard_interval_ns=400,
        ... )
        >>> timing = rate.timing(HighRateRules(short_gi_rounding=False), band_ghz=5.0)
        >>> rate.ppdu_time_ns(8 * 47862, timing)
        5338800
        """
        if preamble_time_ns is None:
            preamble_time_ns = self.preamble_time_ns()
        coded = bits + (timing.service_bits + timing.tail_bits * self.encoders)
        data = -(-coded // self.data_bits_per_symbol) * self.symbol_time_ns
        if timing.short_gi_rounding and self.guard_interval_ns == 400:
            data = -(-data // (4 * _US)) * 4 * _US
        return data + (preamble_time_ns + timing.signal_extension_ns)

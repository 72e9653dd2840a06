"""PPDUs of 802.11n, ac and ax: which rates there are, and how long a frame at one lasts.

Knows MCS, spatial streams, channel width and guard interval, the fields before the Data field, and
whole symbols. Does not know scenarios, MPDUs or who sends. Written from the standard's tables and
sharing no line with the Rust core, so that a test can hold the two equal.

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
from fractions import Fraction
from typing import Final, Literal

__all__ = ["Format", "HighRate", "HighRateRules", "HighRateTiming", "NoSuchRateError"]
__all__ += ["code_rate", "coded_bits"]

Format = Literal["ht", "vht", "he"]

_US = 1_000
_LEGACY_PREAMBLE_NS = 20 * _US
"""L-STF, L-LTF and L-SIG, with which every format begins so that older stations wait."""
_TAIL_BITS = 6

_CODED_BITS: Final = (1, 2, 2, 4, 4, 6, 6, 6, 8, 8, 10, 10)
"""N_BPSCS by MCS (Tables 19-27, 21-29, 27-111): BPSK, QPSK twice, 16-QAM twice, 64-QAM three
times, 256-QAM twice, 1024-QAM twice."""
_CODING: Final = tuple(
    Fraction(*parts)
    for parts in (
        (1, 2),
        (1, 2),
        (3, 4),
        (1, 2),
        (3, 4),
        (2, 3),
        (3, 4),
        (5, 6),
        (3, 4),
        (5, 6),
        (3, 4),
        (5, 6),
    )
)
"""R by MCS."""


@dataclass(frozen=True)
class _Amendment:
    """What distinguishes a format: N_SD by width in MHz (Tables 19-6, 21-5, 27-13), symbols."""

    subcarriers: dict[int, int]
    highest_mcs: int
    most_streams: int
    guard_intervals_ns: tuple[int, ...]
    symbol_ns: int


_AMENDMENTS: Final[dict[Format, _Amendment]] = {
    "ht": _Amendment({20: 52, 40: 108}, 7, 4, (400, 800), 3_200),
    "vht": _Amendment({20: 52, 40: 108, 80: 234, 160: 468}, 9, 8, (400, 800), 3_200),
    "he": _Amendment({20: 234, 40: 468, 80: 980, 160: 1960}, 11, 8, (800, 1_600, 3_200), 12_800),
}

_NOT_IN_VHT: Final = frozenset(
    {(20, streams, 9) for streams in (1, 2, 4, 5, 7, 8)}
    | {(80, 3, 6), (80, 7, 6), (80, 6, 9), (160, 3, 9)}
)
"""(width, streams, MCS) that the tables of 21.5 leave out."""

_MORE_ENCODERS: Final = {
    (80, 7, 2): 3,
    (80, 7, 7): 6,
    (80, 7, 8): 6,
    (80, 8, 7): 6,
    (160, 4, 7): 6,
    (160, 5, 8): 8,
    (160, 6, 7): 8,
    (160, 7, 3): 4,
    (160, 7, 4): 6,
    (160, 7, 5): 7,
    (160, 7, 7): 9,
    (160, 7, 8): 12,
    (160, 7, 9): 12,
    (160, 8, 5): 8,
    (160, 8, 8): 12,
}
"""(width, streams, MCS) whose N_ES in the tables of 21.5 is more than one for each 540 Mb/s (long
guard interval): fewer could not share the bits of a symbol evenly."""


def coded_bits(mcs: int) -> int:
    """N_BPSCS: coded bits in a subcarrier of one stream."""
    return _CODED_BITS[mcs]


def code_rate(mcs: int) -> Fraction:
    """R: the share of coded bits that is data."""
    return _CODING[mcs]


_LONG_TRAINING_FIELDS: Final = (0, 1, 2, 4, 4, 6, 6, 8, 8)
"""N_LTF by number of streams (Tables 19-13, 21-13, 27-14)."""


@dataclass(frozen=True)
class HighRateRules:
    """Where the standard and its simulators disagree on what a PPDU consists of.

    `vht_sig_b`: a VHT PPDU to one user has VHT-SIG-B, as 21.3.8.3.6 says. `he_ltf_ns`: how long one
    HE-LTF lasts with its guard interval; None: as 27.3.11.10 makes it, 7.2, 8 or 16 us by the guard
    interval of the data. `short_gi_rounding`: data with the short guard interval end on a boundary
    of 4 us (19.4.3, 21.4.3). `he_tail`: HE data end with tail bits, as a convolutional code has
    them; an LDPC code, which HE demands above 20 MHz, has none.
    """

    vht_sig_b: bool = True
    he_ltf_ns: int | None = None
    short_gi_rounding: bool = True
    he_tail: bool = False


@dataclass(frozen=True)
class HighRateTiming:
    """What all rates of a cell have in common, as the resolved form has it."""

    service_bits: int
    tail_bits: int
    short_gi_rounding: bool
    signal_extension_ns: int


class NoSuchRateError(ValueError):
    """The standard has no such rate: which `part` of it is wrong, and what is `allowed` there."""

    def __init__(self, part: str, found: str, allowed: str) -> None:
        super().__init__(f"there is no {found}; allowed: {allowed}")
        self.part = part
        self.found = found
        self.allowed = allowed


@dataclass(frozen=True, kw_only=True)
class HighRate:
    """A rate of 802.11n and later; `mcs` counts within one stream (0 to 7, 9, 11).

    Raises `NoSuchRateError` where the standard has no such rate.
    """

    format: Format
    mcs: int
    spatial_streams: int
    channel_width_mhz: int
    guard_interval_ns: int

    def __post_init__(self) -> None:
        amendment = _AMENDMENTS[self.format]
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
            if self.format == "vht"
            and (self.channel_width_mhz, self.spatial_streams, mcs) in _NOT_IN_VHT
        }
        if self.mcs in missing or not 0 <= self.mcs <= amendment.highest_mcs:
            of = f" at {self.channel_width_mhz} MHz with {self.spatial_streams} spatial streams"
            but = f" but {', '.join(map(str, sorted(missing)))}{of}" if missing else ""
            raise NoSuchRateError("mcs", f"MCS {self.mcs}", f"0 to {amendment.highest_mcs}{but}")

    @property
    def _key(self) -> tuple[int, int, int]:
        return self.channel_width_mhz, self.spatial_streams, self.mcs

    @property
    def data_bits_per_symbol(self) -> int:
        """N_DBPS, rounded down as in Table 27-12 (only HE has fractions)."""
        subcarriers = _AMENDMENTS[self.format].subcarriers[self.channel_width_mhz]
        coded = subcarriers * _CODED_BITS[self.mcs] * self.spatial_streams
        return int(coded * _CODING[self.mcs])

    @property
    def encoders(self) -> int:
        """N_ES: convolutional encoders, each with a tail of its own; 1 in HE."""
        match self.format:
            case "he":
                return 1
            case "ht":
                # 19.3.11.4: two above 300 Mb/s, with the long guard interval.
                return 1 if self._long_gi_bps() <= 300_000_000 else 2
            case "vht":
                even = -(-self._long_gi_bps() // 540_000_000)
                return _MORE_ENCODERS.get(self._key, even)

    def _long_gi_bps(self) -> int:
        return self.data_bits_per_symbol * 250_000

    @property
    def symbol_time_ns(self) -> int:
        """A symbol of the Data field with its guard interval."""
        return _AMENDMENTS[self.format].symbol_ns + self.guard_interval_ns

    @property
    def bps(self) -> int:
        """Bits per second, rounded down."""
        return self.data_bits_per_symbol * 1_000_000_000 // self.symbol_time_ns

    def preamble_time_ns(self, rules: HighRateRules | None = None) -> int:
        """Everything before the Data field: preambles, training and signal fields.

        HT mixed (19.3.2): HT-SIG of 8 us, HT-STF and HT-LTFs of 4 us each. VHT (21.3.2): VHT-SIG-A
        of 8 us, VHT-STF and VHT-LTFs of 4 us each, VHT-SIG-B of 4 us. HE SU (27.3.4): RL-SIG of
        4 us, HE-SIG-A of 8 us, HE-STF of 4 us, HE-LTFs.
        """
        rules = rules or HighRateRules()
        fields = _LONG_TRAINING_FIELDS[self.spatial_streams]
        signal = _LEGACY_PREAMBLE_NS + 8 * _US
        match self.format:
            case "ht":
                return signal + 4 * _US + fields * 4 * _US
            case "vht":
                sig_b = 4 * _US if rules.vht_sig_b else 0
                return signal + 4 * _US + fields * 4 * _US + sig_b
            case "he":
                # The 2x LTF of 6.4 us with the guard intervals 0.8 and 1.6 us, the 4x LTF of
                # 12.8 us with 3.2 us.
                by_guard = {800: 7_200, 1_600: 8_000, 3_200: 16_000}
                ltf = rules.he_ltf_ns or by_guard[self.guard_interval_ns]
                return signal + 4 * _US + 4 * _US + fields * ltf

    def timing(self, rules: HighRateRules | None = None, *, band_ghz: float) -> HighRateTiming:
        """What the Data field has beside the PSDU, in the band of 2.4, 5 or 6 GHz.

        In 2.4 GHz 6 us of silence (aSignalExtension) count as part of the frame.
        """
        rules = rules or HighRateRules()
        has_tail = self.format != "he" or rules.he_tail
        return HighRateTiming(
            service_bits=16,
            tail_bits=_TAIL_BITS if has_tail else 0,
            short_gi_rounding=rules.short_gi_rounding,
            signal_extension_ns=6 * _US if band_ghz == 2.4 else 0,
        )

    def ppdu_time_ns(
        self, bits: int, timing: HighRateTiming, *, preamble_time_ns: int | None = None
    ) -> int:
        """Airtime of a PPDU whose PSDU has `bits` bits (19.4.3, 21.4.3, 27.4.3).

        `preamble_time_ns` is that of `preamble_time_ns()` if not given.

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
        coded = timing.service_bits + bits + timing.tail_bits * self.encoders
        data = -(-coded // self.data_bits_per_symbol) * self.symbol_time_ns
        if timing.short_gi_rounding and self.guard_interval_ns == 400:
            data = -(-data // (4 * _US)) * 4 * _US
        return preamble_time_ns + data + timing.signal_extension_ns

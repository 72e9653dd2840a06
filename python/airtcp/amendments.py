"""The amendments of 802.11 since 802.11n: one record with all parameters of each.

A record holds channel widths, MCSs, guard intervals, the fields before the Data field, and
aggregation limits. `airtcp.high_rate` computes frame durations from them. The core has its own
records in `crates/wlan/src/amendment`; a test checks that the two are equal.

Clauses are those of IEEE Std 802.11-2020, 19 (HT) and 21 (VHT), of IEEE Std 802.11ax-2021, 27 (HE),
and of IEEE Std 802.11be-2024, 36 (EHT). Times are integer nanoseconds, sizes are bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Final, Literal

_US: Final = 1_000


@dataclass(frozen=True)
class Scheme:
    """A modulation and coding scheme.

    `coded_bits` is N_BPSCS, the coded bits per subcarrier and spatial stream. `coding` is the code
    rate R. `reference_mbps` is the 802.11a rate with this modulation and coding (10.6.11); from
    256-QAM on it is the highest 802.11a rate.
    """

    coded_bits: int
    coding: Fraction
    reference_mbps: int


def _scheme(coded_bits: int, data: int, coded: int, reference_mbps: int) -> Scheme:
    return Scheme(coded_bits, Fraction(data, coded), reference_mbps)


SCHEMES: Final = (
    _scheme(1, 1, 2, 6),
    _scheme(2, 1, 2, 12),
    _scheme(2, 3, 4, 18),
    _scheme(4, 1, 2, 24),
    _scheme(4, 3, 4, 36),
    _scheme(6, 2, 3, 48),
    _scheme(6, 3, 4, 54),
    _scheme(6, 5, 6, 54),
    _scheme(8, 3, 4, 54),
    _scheme(8, 5, 6, 54),
    _scheme(10, 3, 4, 54),
    _scheme(10, 5, 6, 54),
    _scheme(12, 3, 4, 54),
    _scheme(12, 5, 6, 54),
)
"""By MCS of one stream (Tables 19-27, 21-29, 27-111, 36-71): BPSK, QPSK twice, 16-QAM twice, 64-QAM
three times, then 256-, 1024- and 4096-QAM twice each."""

LONG_TRAINING_FIELDS: Final = (0, 1, 2, 4, 4, 6, 6, 8, 8)
"""N_LTF by number of streams (Tables 19-13, 21-13, 27-14, 36-43)."""


@dataclass(frozen=True, kw_only=True)
class UserSignal:
    """The signal field that describes the users of a PPDU: HE-SIG-B or EHT-SIG.

    `in_single_user`: PPDUs to a single user have the field too. For one user of the whole channel
    it has `alone_bits`. Otherwise it consists of a common field, whose `common_bits` depend on the
    channel width, and of user blocks: `block_bits` has the bits of a block of two users and of a
    last block with one user, each with CRC and tail. `symbols` has the data bits per symbol of 4 us
    by MCS. The field uses the highest of these MCSs that does not exceed the MCS of any user.
    """

    in_single_user: bool
    alone_bits: int
    common_bits: Mapping[int, int]
    block_bits: tuple[int, int]
    symbols: Mapping[int, int]


@dataclass(frozen=True, kw_only=True)
class Amendment:
    """The parameters of one amendment.

    PHY: `subcarriers` is N_SD by width in MHz (Tables 19-6, 21-5, 27-13, 36-20), and `widest_mhz`
    the widest channel by band in GHz. Every format begins with a legacy preamble of 20 us. The
    following fields come between it and the Data field. `signal_ns`: further signal fields of a
    fixed length. `signal_bits`: signal fields sent at the lower of the data's MCS and MCS 1, in
    symbols of 4 us. `training_ns`: the short training field. `long_training_ns`: one long training
    field, by guard interval. `sig_b_ns`: VHT-SIG-B. `has_tail`: data end with the tail bits of a
    convolutional code; False means LDPC. `coding`: the error curves of today's receivers.
    `user_signal`: PPDUs to several users; None: there are none.

    MAC: `ampdu_bytes` and `amsdu_bytes` are the longest lengths that a receiver may announce.
    `mpdu_bytes` is the longest MPDU with several packets, alone or in an A-MPDU. `window` is the
    largest number of outstanding MPDUs per receiver. `lone_delimiter`: a single MPDU is sent as an
    A-MPDU too.

    Market: `generation` is the name on the box, and `sold` the parameters of common equipment.
    """

    standard: str
    format: str
    generation: str
    widest_mhz: Mapping[float, int]
    subcarriers: Mapping[int, int]
    default_width_mhz: int
    highest_mcs: int
    most_streams: int
    guard_intervals_ns: tuple[int, ...]
    default_guard_interval_ns: int
    symbol_ns: int
    signal_ns: int
    signal_bits: int = 0
    training_ns: int = 4 * _US
    long_training_ns: Mapping[int, int]
    sig_b_ns: int = 0
    has_tail: bool
    coding: Literal["bcc", "ldpc"] = "ldpc"
    user_signal: UserSignal | None = None
    encoder_bps: int | None = None
    more_encoders: Mapping[tuple[int, int, int], int] = field(default_factory=dict)
    missing: frozenset[tuple[int, int, int]] = frozenset()
    ampdu_bytes: int
    amsdu_bytes: int = 11_454
    mpdu_bytes: int = 11_454
    mpdu_bytes_in_ampdu: int = 11_454
    window: int
    lone_delimiter: bool = True
    sold: Mapping[str, int]

    @property
    def has_long_symbols(self) -> bool:
        """Whether symbols are four times as long as before (from HE on)."""
        return self.symbol_ns == 12_800


_HT: Final = Amendment(
    standard="802.11n",
    format="ht",
    generation="Wi-Fi 4",
    widest_mhz={2.4: 40, 5: 40},
    subcarriers={20: 52, 40: 108},
    default_width_mhz=20,
    highest_mcs=7,
    most_streams=4,
    guard_intervals_ns=(400, 800),
    default_guard_interval_ns=400,
    symbol_ns=3_200,
    signal_ns=8 * _US,  # HT-SIG (19.3.2)
    long_training_ns={400: 4 * _US, 800: 4 * _US},
    has_tail=True,
    coding="bcc",
    # 19.3.11.4: a second encoder is used above 300 Mb/s (at the long guard interval).
    encoder_bps=300_000_000,
    ampdu_bytes=65_535,
    amsdu_bytes=7_935,
    mpdu_bytes_in_ampdu=4_095,
    window=64,
    lone_delimiter=False,
    sold={"channel_width": 20, "mcs": 7, "spatial_streams": 2},
)

_VHT: Final = Amendment(
    standard="802.11ac",
    format="vht",
    generation="Wi-Fi 5",
    widest_mhz={5: 160},
    subcarriers={20: 52, 40: 108, 80: 234, 160: 468},
    default_width_mhz=80,
    highest_mcs=9,
    most_streams=8,
    guard_intervals_ns=(400, 800),
    default_guard_interval_ns=400,
    symbol_ns=3_200,
    signal_ns=8 * _US,  # VHT-SIG-A (21.3.2)
    long_training_ns={400: 4 * _US, 800: 4 * _US},
    sig_b_ns=4 * _US,
    has_tail=True,
    # N_ES of the tables of 21.5: one encoder for each 540 Mb/s (at the long guard interval).
    # `more_encoders` lists, by (width, streams, MCS), the cases in which that number of encoders
    # could not share the bits of a symbol evenly.
    encoder_bps=540_000_000,
    more_encoders={
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
    },
    # Combinations (width, streams, MCS) that are missing from the tables of 21.5.
    missing=frozenset(
        {(20, streams, 9) for streams in (1, 2, 4, 5, 7, 8)}
        | {(80, 3, 6), (80, 7, 6), (80, 6, 9), (160, 3, 9)}
    ),
    ampdu_bytes=1_048_575,
    window=64,
    sold={"channel_width": 80, "mcs": 7, "spatial_streams": 2},
)

# The 2x LTF of 6.4 us plus a guard interval of 0.8 or 1.6 us, and the 4x LTF of 12.8 us plus 3.2
# us.
_LONG_TRAINING_NS: Final = {800: 7_200, 1_600: 8_000, 3_200: 16_000}

_HE: Final = Amendment(
    standard="802.11ax",
    format="he",
    generation="Wi-Fi 6",
    widest_mhz={2.4: 40, 5: 160, 6: 160},
    subcarriers={20: 234, 40: 468, 80: 980, 160: 1_960},
    default_width_mhz=80,
    highest_mcs=11,
    most_streams=8,
    guard_intervals_ns=(800, 1_600, 3_200),
    default_guard_interval_ns=800,
    symbol_ns=12_800,
    signal_ns=12 * _US,  # RL-SIG and HE-SIG-A (27.3.4)
    # 27.3.11.8: 8 bits for each 20 MHz of a content channel, one for the central unit of 80 MHz.
    user_signal=UserSignal(
        in_single_user=False,
        alone_bits=31,
        common_bits={20: 18, 40: 18, 80: 27, 160: 43},
        block_bits=(52, 31),
        symbols={0: 26, 1: 52, 2: 78, 3: 104, 4: 156, 5: 208},
    ),
    long_training_ns=_LONG_TRAINING_NS,
    has_tail=False,
    ampdu_bytes=6_500_631,
    window=256,
    sold={"channel_width": 80, "mcs": 9, "spatial_streams": 2},
)

_EHT: Final = Amendment(
    standard="802.11be",
    format="eht",
    generation="Wi-Fi 7",
    widest_mhz={2.4: 40, 5: 160, 6: 320},
    subcarriers={20: 234, 40: 468, 80: 980, 160: 1_960, 320: 3_920},
    default_width_mhz=80,
    highest_mcs=13,
    most_streams=8,
    guard_intervals_ns=(800, 1_600, 3_200),
    default_guard_interval_ns=800,
    symbol_ns=12_800,
    signal_ns=12 * _US,  # RL-SIG and U-SIG (36.3.12)
    # EHT-SIG to one user: 20 common bits, 22 of the user, 4 of CRC and 6 of tail (36.3.12.8).
    signal_bits=52,
    user_signal=UserSignal(
        in_single_user=True,
        alone_bits=52,
        common_bits={20: 36, 40: 36, 80: 45, 160: 73},
        block_bits=(54, 32),
        symbols={0: 26, 1: 52, 3: 104},
    ),
    long_training_ns=_LONG_TRAINING_NS,
    has_tail=False,
    ampdu_bytes=15_523_200,
    window=1_024,
    sold={"channel_width": 160, "mcs": 11, "spatial_streams": 2},
)

AMENDMENTS: Final[Mapping[str, Amendment]] = MappingProxyType(
    {one.standard: one for one in (_HT, _VHT, _HE, _EHT)}
)
"""Amendments by the name of the standard, oldest first."""

BY_FORMAT: Final[Mapping[str, Amendment]] = MappingProxyType(
    {one.format: one for one in AMENDMENTS.values()}
)
"""Amendments by the PPDU format of a rate."""

WIDTHS_MHZ: Final = tuple(sorted({mhz for one in AMENDMENTS.values() for mhz in one.subcarriers}))
HIGHEST_MCS: Final = max(one.highest_mcs for one in AMENDMENTS.values())
MOST_STREAMS: Final = max(one.most_streams for one in AMENDMENTS.values())
LARGEST_WINDOW: Final = max(one.window for one in AMENDMENTS.values())
GUARD_INTERVALS_NS: Final = tuple(
    sorted({ns for one in AMENDMENTS.values() for ns in one.guard_intervals_ns})
)
BANDS_GHZ: Final = tuple(sorted({ghz for one in AMENDMENTS.values() for ghz in one.widest_mhz}))


def amended(text: Callable[[Amendment], str]) -> str:
    """Describe a value of each amendment, grouped by value: "20 MHz (n), 80 MHz (ac, ax)"."""
    having: dict[str, list[str]] = {}
    for name, amendment in AMENDMENTS.items():
        having.setdefault(text(amendment), []).append(name.removeprefix("802.11"))
    return ", ".join(f"{value} ({', '.join(have)})" for value, have in having.items())


BLOCK_ACK_BITS: Final[Mapping[int, int]] = MappingProxyType(
    {64: 256, 256: 448, 512: 704, 1_024: 1_216}
)
"""Size in bits of a compressed Block ACK, by the bits of its bitmap (9.3.1.8, with 802.11be's)."""


def block_ack_bits(window: int) -> int:
    """Return the size in bits of the Block ACK with the shortest bitmap that covers the window."""
    return next(bits for frames, bits in BLOCK_ACK_BITS.items() if window <= frames)

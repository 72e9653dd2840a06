"""The amendments of 802.11 since 802.11n: one record of `amendments.toml` with all parameters.

A record holds channel widths, MCSs, guard intervals, the fields before the Data field, and
aggregation limits. `airtcp.high_rate` computes frame durations from them. The core has its own
records in `crates/wlan/src/amendment`; a test checks that the two are equal.

Clauses are those of IEEE Std 802.11-2020, 19 (HT) and 21 (VHT), of IEEE Std 802.11ax-2021, 27 (HE),
and of IEEE Std 802.11be-2024, 36 (EHT). Times are integer nanoseconds, sizes are bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Final, Literal

from .data import beside

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


def _amendments() -> Iterator[Amendment]:
    """Iterate over the records of `amendments.toml`, whose tables have texts as keys."""
    for standard, record in beside(__file__).items():
        for key in ("subcarriers", "long_training_ns"):
            record[key] = _by_number(record[key])
        bands = record["widest_mhz"].items()
        record["widest_mhz"] = {float(ghz) if "." in ghz else int(ghz): mhz for ghz, mhz in bands}
        record["guard_intervals_ns"] = tuple(record["guard_intervals_ns"])
        record["missing"] = frozenset(map(tuple, record.get("missing", ())))
        more = record.get("more_encoders", ())
        record["more_encoders"] = {(mhz, streams, mcs): n for mhz, streams, mcs, n in more}
        if signal := record.get("user_signal"):
            signal |= {key: _by_number(signal[key]) for key in ("common_bits", "symbols")}
            record["user_signal"] = UserSignal(**signal | {"block_bits": (*signal["block_bits"],)})
        yield Amendment(standard=standard, **record)


def _by_number(table: Mapping[str, int]) -> dict[int, int]:
    return {int(key): value for key, value in table.items()}


AMENDMENTS: Final[Mapping[str, Amendment]] = MappingProxyType(
    {one.standard: one for one in _amendments()}
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

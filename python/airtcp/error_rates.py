"""Frame error rates of an OFDM link in white noise, as a function of the SNR.

`Receiver` uses either published packet error curves of convolutional codes (BCC) and LDPC codes, or
NIST's upper bound for a hard-decision Viterbi decoder. Fading and interference are not covered.

The curves are the link simulations of ns-3's `TableBasedErrorRateModel`, for frames of 1458 bytes.
R. Patidar, S. Roy, T. Henderson and A. Chandramohan, "Link-to-system mapping for ns-3 Wi-Fi OFDM
error models" (2017), explain them.

The bound is that of G. Pei and T. Henderson, "Validation of OFDM error rate model in ns-3" (2010),
after L. Miller, "Validation of 802.11a/UWB coexistence simulation" (2003). The code weights are
those of D. Haccoun and G. Begin (IEEE Transactions on Communications 37, 1989), Tables for the
punctured codes of the standard's encoder of 64 states (IEEE 802.11-2020, 17.3.5.6).

>>> today = Receiver("tables", "ldpc", loss_db=2.0)
>>> f"{today.error_rate(7, snr_db=25.0, bits=12_000):.3f}"
'0.000'
>>> f"{today.error_rate(7, snr_db=19.0, bits=12_000):.3f}"
'0.992'
>>> today.needed_db(0), today.needed_db(7), today.needed_db_at(54_000_000)
(-0.62, 18.0, 18.38)
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any, Final, Literal

from .amendments import SCHEMES
from .data import beside

Coding = Literal["bcc", "ldpc"]
ErrorModel = Literal["tables", "nist"]

_SHARES: Final = (0.9, 0.5, 0.1, 0.01, 0.001)
_TABLE_BITS: Final = 8 * 1458
#: SNR in dB at which 10 % of control frames (32 bytes) are lost, by MCS up to that of 48 Mb/s.
_SHORT_DB: Final = (-0.4, 2.6, 5.1, 8.1, 11.3, 15.3, 16.6)
_SHORT_BITS: Final = 8 * 32
#: The frame error rate up to which a rate counts as usable.
READ: Final = 0.1
#: The MCS with the modulation and coding of a rate in Mb/s. 9 Mb/s is BPSK with the code of 18 Mb/s
#: and needs half its power.
_MCS_OF_OFDM: Final[Mapping[int, int]] = {6: 0, 9: 2, 12: 1, 18: 2, 24: 3, 36: 4, 48: 5, 54: 6}
_HALF_DB: Final = 3.0
#: DSSS: the levels above the noise that they assume, -101 dBm in 20 MHz with a noise figure of 10
#: dB and a margin of 5 dB (17.3.10.2). Rates without a level use that of the next higher rate.
_DSSS_NEEDED_DB: Final[Mapping[int, float]] = {1: 6.0, 2: 6.0, 5: 10.0, 11: 10.0}
_DIGITS: Final = 2
_LOWEST_DB: Final = -10.0
_HIGHEST_DB: Final = 60.0


@cache
def _data() -> dict[str, Any]:
    """Return the curves and code weights of `error_rates.toml`."""
    return beside(__file__)


def raw_bit_error_rate(bits_per_symbol: int, snr: float) -> float:
    """Return the bit error rate before decoding, with Gray mapping, at a subcarrier SNR `snr`.

    `snr` is a ratio of energies, not in dB. The modulation is BPSK, QPSK, or a square constellation
    whose symbol errors hit nearest neighbours only.
    """
    if bits_per_symbol == 1:
        return 0.5 * math.erfc(math.sqrt(snr))
    points = 2**bits_per_symbol
    side = math.isqrt(points)
    scale = (side - 1) / (side * (bits_per_symbol / 2))
    return scale * math.erfc(math.sqrt(1.5 * snr / (points - 1)))


def bound(mcs: int, snr_db: float, bits: int) -> float:
    """Return NIST's upper bound on the error rate of frames of `bits` at an MCS."""
    raw = raw_bit_error_rate(SCHEMES[mcs].coded_bits, 10.0 ** (snr_db / 10.0))
    rate = SCHEMES[mcs].coding
    code = _data()["code"][f"{rate.numerator}/{rate.denominator}"]
    distance, step = code["free_distance"], code["step"]
    base = math.sqrt(4.0 * raw * (1.0 - raw))
    union = sum(
        weight * base ** (distance + step * place) for place, weight in enumerate(code["weights"])
    )
    decoded = min(1.0, union / (2.0 * rate.numerator))
    if decoded >= 1.0:
        return 1.0
    return -math.expm1(bits * math.log1p(-decoded))


@dataclass(frozen=True)
class Receiver:
    """A receiver of OFDM frames in white noise.

    `model` is the source of the error rates, and `coding` chooses the curves of `tables`. `loss_db`
    is the implementation loss, which acts as additional noise.
    """

    model: ErrorModel
    coding: Coding
    loss_db: float

    def error_rate(self, mcs: int, *, snr_db: float, bits: int) -> float:
        """Return the error rate of frames of `bits` at an MCS of 802.11n or later."""
        return self._lost(mcs, snr_db - self.loss_db, bits)

    def _lost(self, mcs: int, ratio_db: float, bits: int) -> float:
        if self.model == "nist" or mcs >= len(_data()["snr_db"][self.coding]):
            return bound(mcs, ratio_db, bits)
        lost = _between(_data()["snr_db"][self.coding][mcs], ratio_db)
        # Bits are lost independently.
        return -math.expm1(bits / _TABLE_BITS * math.log1p(-lost)) if lost < 1.0 else 1.0

    def needed_db(self, mcs: int, share: float = READ) -> float:
        """Return the SINR in dB at which `share` of frames of 1458 bytes is lost.

        `mcs` is an MCS of 802.11n or later, at any width. The implementation loss counts as noise.
        """
        return round(self._needed(mcs, share, _TABLE_BITS), _DIGITS)

    def needed_db_at(self, rate_bps: int, *, short: bool = False) -> float:
        """Return the SINR in dB at which a tenth is lost at a rate of 802.11b, a or g.

        `short` means control frames instead of frames of 1458 bytes. For DSSS both follow from the
        level that the standard requires, which allows for the implementation loss.
        """
        mbps = rate_bps // 1_000_000
        if mbps in _DSSS_NEEDED_DB:
            return _DSSS_NEEDED_DB[mbps] - self.loss_db
        mcs = _MCS_OF_OFDM[mbps]
        if short and self.model == "tables":
            needed = _SHORT_DB[mcs]
        else:
            # Frames of 802.11a and g have no LDPC code, whatever else the receiver decodes.
            plain = replace(self, coding="bcc")
            needed = plain._needed(mcs, READ, _SHORT_BITS if short else _TABLE_BITS)
        return round(needed - (_HALF_DB if mbps == 9 else 0.0), _DIGITS)

    def _needed(self, mcs: int, share: float, bits: int) -> float:
        low, high = _LOWEST_DB, _HIGHEST_DB
        while high - low > 1e-6:
            middle = (low + high) / 2.0
            if self._lost(mcs, middle, bits) > share:
                low = middle
            else:
                high = middle
        return high


def _between(lost_db: Sequence[float], ratio_db: float) -> float:
    """Interpolate the error rate at an SNR: its logit is linear between two points."""
    pieces = list(pairwise(zip(lost_db, map(_logit, _SHARES), strict=True)))
    place = min(max(bisect(lost_db, ratio_db) - 1, 0), len(pieces) - 1)
    (start_db, start), (end_db, end) = pieces[place]
    logit = start + (end - start) * (ratio_db - start_db) / (end_db - start_db)
    return 1.0 / (1.0 + math.exp(-logit)) if logit > -700.0 else 0.0


def _logit(share: float) -> float:
    return math.log(share / (1.0 - share))

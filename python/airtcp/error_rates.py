"""Frame error rates of an OFDM link in white noise, as a function of the SNR.

Contains bit error rates of the modulations, convolutional codes, and an upper bound on the errors
left by a hard-decision Viterbi decoder. Fading and interference are not covered.

The model is NIST's: G. Pei and T. Henderson, "Validation of OFDM error rate model in ns-3" (2010),
after L. Miller, "Validation of 802.11a/UWB coexistence simulation" (2003). The code weights are
those of D. Haccoun and G. Begin (IEEE Transactions on Communications 37, 1989), Tables for the
punctured codes of the standard's encoder of 64 states (IEEE 802.11-2020, 17.3.5.6).

>>> f"{packet_error_rate(7, snr_db=25.0, bits=12_000):.3f}"
'0.000'
>>> f"{packet_error_rate(7, snr_db=20.0, bits=12_000):.3f}"
'1.000'
"""

from __future__ import annotations

import math
from typing import Final

from .amendments import SCHEMES

_WEIGHTS: Final[dict[tuple[int, int], tuple[int, int, tuple[int, ...]]]] = {
    (1, 2): (10, 2, (36, 211, 1404, 11633, 77433, 502690, 3322763, 21292910, 134365911)),
    (2, 3): (6, 1, (3, 70, 285, 1276, 6160, 27128, 117019, 498860, 2103891, 8784123)),
    (3, 4): (
        5,
        1,
        (42, 201, 1492, 10469, 62935, 379644, 2253373, 13073811, 75152755, 428005675),
    ),
    (5, 6): (
        4,
        1,
        (92, 528, 8694, 79453, 792114, 7375573, 67884974, 610875423, 5427275376, 47664215639),
    ),
}
"""By code rate: the free distance, the step to the next distance, and the weights from the free
distance on."""


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


def packet_error_rate(mcs: int, *, snr_db: float, bits: int) -> float:
    """Return the packet error rate of packets of `bits` at an MCS of 802.11n, ac or ax."""
    raw = raw_bit_error_rate(SCHEMES[mcs].coded_bits, 10.0 ** (snr_db / 10.0))
    rate = SCHEMES[mcs].coding
    distance, step, weights = _WEIGHTS[rate.numerator, rate.denominator]
    base = math.sqrt(4.0 * raw * (1.0 - raw))
    union = sum(weight * base ** (distance + step * place) for place, weight in enumerate(weights))
    decoded = min(1.0, union / (2.0 * rate.numerator))
    if decoded >= 1.0:
        return 1.0
    return -math.expm1(bits * math.log1p(-decoded))

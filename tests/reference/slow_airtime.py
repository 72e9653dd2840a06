"""How long a frame is on the air, worked out the long way, in integer nanoseconds.

Knows: the PPDU durations of DSSS/CCK (IEEE 802.11-2016, clauses 15.4.2 and 16.3.4) and of OFDM
(clause 17.4.3; 18.5.3 for the signal extension of ERP-OFDM). Knows nothing of airtcp, of
contention, or of which rate a frame is sent at. Rounding is always upwards, in integers.
"""

from __future__ import annotations

NS_PER_US = 1_000
NS_PER_S = 1_000_000_000

LONG_PREAMBLE_NS = 144_000
LONG_HEADER_NS = 48_000
SHORT_PREAMBLE_NS = 72_000
SHORT_HEADER_NS = 24_000

OFDM_PREAMBLE_NS = 16_000
OFDM_SIGNAL_NS = 4_000
OFDM_SYMBOL_NS = 4_000
OFDM_SERVICE_BITS = 16
OFDM_TAIL_BITS = 6
ERP_SIGNAL_EXTENSION_NS = 6_000


def divide_up(numerator: int, denominator: int) -> int:
    """The quotient of two non-negative integers, rounded upwards."""
    return (numerator + denominator - 1) // denominator


def dsss_ns(
    bits: int,
    rate_bps: int,
    preamble_ns: int = LONG_PREAMBLE_NS,
    header_ns: int = LONG_HEADER_NS,
    whole_microseconds: bool = True,
) -> int:
    """Duration of a DSSS or CCK PPDU that carries `bits` (MAC header and FCS included).

    The PLCP header announces the payload's length in whole microseconds, upwards; with
    `whole_microseconds=False` it lasts bits / rate, upwards to a whole nanosecond (papers).
    """
    if whole_microseconds:
        payload_ns = divide_up(bits * 1_000_000, rate_bps) * NS_PER_US
    else:
        payload_ns = divide_up(bits * NS_PER_S, rate_bps)
    return preamble_ns + header_ns + payload_ns


def ofdm_ns(
    bits: int,
    rate_bps: int,
    signal_extension_ns: int = 0,
    whole_symbols: bool = True,
) -> int:
    """Duration of an OFDM PPDU at 20 MHz that carries `bits` (MAC header and FCS included).

    Symbols of 4 us hold rate * 4 us bits each: 24 at 6 Mb/s, 216 at 54 Mb/s. The service field and
    the tail travel with the payload. ERP-OFDM (802.11g) adds a signal extension of 6 us.
    """
    payload_bits = OFDM_SERVICE_BITS + bits + OFDM_TAIL_BITS
    if whole_symbols:
        bits_per_symbol = rate_bps * OFDM_SYMBOL_NS // NS_PER_S
        payload_ns = divide_up(payload_bits, bits_per_symbol) * OFDM_SYMBOL_NS
    else:
        payload_ns = divide_up(payload_bits * NS_PER_S, rate_bps)
    return OFDM_PREAMBLE_NS + OFDM_SIGNAL_NS + payload_ns + signal_extension_ns

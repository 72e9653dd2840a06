"""How long frames are on the air, in whole nanoseconds, from the resolved `[phy]`.

Knows what the resolver needs of it: the ACK that EIFS allows for, the exchange that a TXOP limit
must have room for, the packet time of random early detection, how long a beacon is. Does not know
contention. The models and the simulator have airtimes of their own; a test holds all of them equal.
"""

from __future__ import annotations

from ..standards import DSSS
from . import resolved

__all__ = ["dsss_ns", "exchange_ns", "ofdm_ns", "ppdu_ns"]

_S = 1_000_000_000
_US = 1_000


def dsss_ns(phy: resolved.DsssPhy, bits: int, rate_bps: int, *, rounding: bool) -> int:
    """A frame of `bits` at a DSSS or CCK rate, preamble and header included.

    With `rounding` the payload lasts whole microseconds (IEEE 802.11-2012, 17.2.3.6).
    """
    unit = _US if rounding else 1
    payload = _ceil(bits * _S, rate_bps * unit) * unit
    return phy.preamble_time_ns + phy.plcp_header_time_ns + payload


def ofdm_ns(phy: resolved.OfdmPhy, bits: int, rate_bps: int, *, rounding: bool) -> int:
    """A frame of `bits` at an OFDM rate, signal extension included.

    With `rounding` service bits, frame and tail bits fill whole symbols (IEEE 802.11-2012, 18.4.3).
    """
    # Symbol time and rate give whole bits for every OFDM rate.
    unit = phy.symbol_time_ns if rounding else 1
    payload = _ceil((phy.service_bits + bits + phy.tail_bits) * _S, rate_bps * unit) * unit
    return phy.preamble_time_ns + phy.plcp_header_time_ns + payload + phy.signal_extension_ns


def exchange_ns(
    phy: resolved.Phy,
    rts_threshold_bytes: int | None,
    packet_bits: int,
    data_rate: resolved.Rate,
    control_rate: resolved.Rate,
) -> int:
    """The frame exchange of a packet, from the first frame to the end of the MAC ACK.

    DATA, SIFS, ACK; with RTS, SIFS, CTS, SIFS in front if the frame is longer than the threshold
    (IEEE 802.11-2012, 9.3.2). The propagation delay comes after every frame.
    """
    mpdu_bits = phy.mac_header_bits + phy.llc_bits + packet_bits
    frames = [ppdu_ns(phy, mpdu_bits, data_rate), ppdu_ns(phy, phy.ack_bits, control_rate)]
    if rts_threshold_bytes is not None and mpdu_bits > 8 * rts_threshold_bytes:
        frames += [ppdu_ns(phy, bits, control_rate) for bits in (phy.rts_bits, phy.cts_bits)]
    spaces = (len(frames) - 1) * phy.sifs_ns
    return sum(frames) + spaces + len(frames) * phy.propagation_delay_ns


def ppdu_ns(phy: resolved.Phy, bits: int, rate: resolved.Rate) -> int:
    """A frame of `bits` at one of the scenario's rates, preamble and header included."""
    if rate.modulation == DSSS:
        assert phy.dsss is not None, "rates are checked first"
        return dsss_ns(phy.dsss, bits, rate.bps, rounding=phy.symbol_rounding)
    assert phy.ofdm is not None, "rates are checked first"
    return ofdm_ns(phy.ofdm, bits, rate.bps, rounding=phy.symbol_rounding)


def _ceil(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)

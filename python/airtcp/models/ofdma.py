"""Model saturated downlink OFDMA: equal resource units, the PPDU to several users, what follows it.

The access point always has packets for all stations and nobody else contends, so every cycle is
AIFS, a mean backoff, a PPDU and its acknowledgments. Each user's A-MPDU is the longest that fits.

Clauses are those of IEEE Std 802.11ax-2021: Tables 27-8 and 27-13 (resource units), 27.3.11.8
(HE-SIG-B), 27.3.4 (trigger-based PPDUs), 9.3.1.22 (MU-BAR); and of IEEE Std 802.11be-2024,
36.3.12.8 (EHT-SIG).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from airtcp.amendments import LONG_TRAINING_FIELDS, SCHEMES, UserSignal
from airtcp.high_rate import HighRate, HighRateTiming
from airtcp.models import checks
from airtcp.models.airtime import Phy, Rate, ppdu_time_ns
from airtcp.phrases import phrase

__all__ = ["Answers", "Cycle", "Division", "User", "cycle", "division"]

_SUBCARRIERS: Final = (24, 48, 102, 234, 468, 980, 1_960)
"""N_SD of resource units of 26, 52, 106, 242, 484, 996 and 2 x 996 tones."""
_UNITS: Final = {
    20: (9, 4, 2, 1),
    40: (18, 8, 4, 2, 1),
    80: (37, 16, 8, 4, 2, 1),
    160: (74, 32, 16, 8, 4, 2, 1),
}
_DELIMITER_BITS: Final = 32
_SIGNAL_SYMBOL_NS: Final = 4_000
_TRIGGER_BITS, _TRIGGER_USER_BITS = 8 * 28, 8 * 9
#: Legacy preamble, repeated L-SIG, signal field, and a short training field of 8 us.
_TRIGGER_BASED_NS: Final = 20_000 + 4_000 + 8_000 + 8_000
_TRIGGER_BASED_GUARD_NS: Final = 1_600
_LONG_TRAINING_NS: Final = 8_000


@dataclass(frozen=True, slots=True)
class Division:
    """A channel as `units` equal resource units of `subcarriers` data subcarriers each."""

    subcarriers: int
    units: int


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A station: its rate, the time before the Data field to it alone, and its MPDUs."""

    rate: HighRate
    preamble_time_ns: int
    mpdu_bits: int
    control_rate: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What follows a PPDU: an MU-BAR trigger, or Block ACK requests from the second user on.

    Block ACKs after the trigger have `block_ack_mcs` at most.
    """

    mu_bar: bool
    block_ack_mcs: int
    block_ack_bits: int
    block_ack_rate: Rate
    request_bits: int


@dataclass(frozen=True, slots=True)
class Cycle:
    """The MPDUs of each user, and the durations of the PPDU and of the exchange that it begins."""

    mpdus: tuple[int, ...]
    ppdu_ns: int
    exchange_ns: int


def division(width_mhz: int, users: int) -> Division:
    """Return the division with the smallest resource units, but at most one unit for each user.

    Raises `ValueError` for a width without resource units, or without users.

    Nine units of 26 tones are more than eight users, so four of 52 tones remain:

    >>> division(20, 8)
    Division(subcarriers=48, units=4)
    """
    checks.scalar("users", users, at_least=1, whole=True)
    if width_mhz not in _UNITS:
        raise ValueError(phrase("models.ofdma.width", values=[*_UNITS], width_mhz=width_mhz))
    sizes = zip(_SUBCARRIERS, _UNITS[width_mhz], strict=False)
    return next(Division(tones, units) for tones, units in sizes if units <= users)


def _preamble_ns(users: Sequence[User]) -> int:
    """Return the time before the Data field of a PPDU to `users`."""
    lowest = min(user.rate.mcs for user in users)
    return max(
        user.preamble_time_ns
        - (_signal_ns(signal, 20, 1, min(user.rate.mcs, 1)) if signal.in_single_user else 0)
        + _signal_ns(signal, user.rate.channel_width_mhz, len(users), lowest)
        for user in users
        for signal in [_signal_of(user)]
    )


def cycle(
    users: Sequence[User],
    answers: Answers,
    phy: Phy,
    timing: HighRateTiming,
    *,
    ampdu_bits: int,
    longest_ns: int,
    window: int,
) -> Cycle:
    """Return the cycle of an access point that serves `users`, without AIFS and backoff.

    `ampdu_bits`, `longest_ns` and `window` limit each A-MPDU. Raises `ValueError` if there are
    not as many resource units as users, or if not even one MPDU fits.

    Four users of 52 tones at MCS 11 in 20 MHz, with ns-3's preambles:

    >>> from airtcp.models.ampdu import HT_20MHZ
    >>> legacy = Rate(bps=24_000_000, modulation="ofdm")
    >>> rate = HighRate(
    ...     format="he", mcs=11, spatial_streams=1, channel_width_mhz=20, guard_interval_ns=800
    ... )
    >>> user = User(rate=rate, preamble_time_ns=44_000, mpdu_bits=8 * 1538, control_rate=legacy)
    >>> answers = Answers(
    ...     mu_bar=True,
    ...     block_ack_mcs=5,
    ...     block_ack_bits=8 * 56,
    ...     block_ack_rate=legacy,
    ...     request_bits=8 * 24,
    ... )
    >>> cycle(
    ...     [user] * 4,
    ...     answers,
    ...     HT_20MHZ.phy,
    ...     HighRateTiming(16, 6, False, 0),
    ...     ampdu_bits=8 * 6_500_631,
    ...     longest_ns=5_484_000,
    ...     window=256,
    ... )
    Cycle(mpdus=(12, 12, 12, 12), ppdu_ns=5093600, exchange_ns=5260800)
    """
    width = users[0].rate.channel_width_mhz if users else 0
    parts = division(width, len(users))
    if parts.units != len(users):
        raise ValueError(phrase("models.ofdma.users", units=parts.units))
    before = _preamble_ns(users)
    mpdus, ppdu = [], 0
    for user in users:
        bits = _symbol_bits(user.rate.mcs, user.rate.spatial_streams, parts)
        symbol_ns = user.rate.symbol_time_ns
        around = timing.service_bits + timing.tail_bits
        left_ns = longest_ns - before - timing.signal_extension_ns
        most = min(ampdu_bits, left_ns // symbol_ns * bits - around)
        subframe = _DELIMITER_BITS + user.mpdu_bits
        padded = -(-subframe // 32) * 32
        count = min(window, 1 + (most - subframe) // padded)
        if count < 1:
            raise ValueError(phrase("models.ofdma.longest", longest_ns=longest_ns))
        mpdus.append(count)
        symbols = -(-(around + (count - 1) * padded + subframe) // bits)
        ppdu = max(ppdu, before + symbols * symbol_ns + timing.signal_extension_ns)
    after = _after_ns(users, answers, phy, timing, parts)
    hop = phy.propagation_delay_ns + phy.sifs_ns
    return Cycle(tuple(mpdus), ppdu, ppdu + hop + after + phy.propagation_delay_ns)


def _after_ns(
    users: Sequence[User], answers: Answers, phy: Phy, timing: HighRateTiming, parts: Division
) -> int:
    """Return the time from the start of the first response or trigger to the end of the last."""
    hop = phy.propagation_delay_ns + phy.sifs_ns

    def control(rate: Rate, bits: int) -> int:
        return int(ppdu_time_ns(phy, rate, bits))

    if not answers.mu_bar:
        block_ack = control(answers.block_ack_rate, answers.block_ack_bits)
        requests = (control(user.control_rate, answers.request_bits) for user in users[1:])
        return block_ack + sum(2 * hop + request + block_ack for request in requests)
    bits = _TRIGGER_BITS + _TRIGGER_USER_BITS * len(users)
    trigger = max(control(user.control_rate, bits) for user in users)
    preamble = _TRIGGER_BASED_NS + LONG_TRAINING_FIELDS[1] * _LONG_TRAINING_NS
    response = 0
    for user in users:
        per_symbol = _symbol_bits(min(answers.block_ack_mcs, user.rate.mcs), 1, parts)
        around = timing.service_bits + timing.tail_bits + _DELIMITER_BITS
        symbols = -(-(around + answers.block_ack_bits) // per_symbol)
        symbol_ns = user.rate.amendment.symbol_ns + _TRIGGER_BASED_GUARD_NS
        response = max(response, preamble + symbols * symbol_ns + timing.signal_extension_ns)
    return trigger + hop + response


def _symbol_bits(mcs: int, streams: int, parts: Division) -> int:
    scheme = SCHEMES[mcs]
    return int(parts.subcarriers * scheme.coded_bits * streams * scheme.coding)


def _signal_of(user: User) -> UserSignal:
    signal = user.rate.amendment.user_signal
    if signal is None:
        raise ValueError(phrase("models.ofdma.no_ofdma", format=user.rate.format))
    return signal


def _signal_ns(signal: UserSignal, width_mhz: int, users: int, lowest_mcs: int) -> int:
    """Return the duration of the signal field; two content channels share its users from 40 MHz."""
    bits = signal.alone_bits
    if users > 1:
        in_channel = users if width_mhz == 20 else -(-users // 2)
        two, one = signal.block_bits
        bits = signal.common_bits[width_mhz] + in_channel // 2 * two + in_channel % 2 * one
    per_symbol = max(symbol for mcs, symbol in signal.symbols.items() if mcs <= lowest_mcs)
    return -(-bits // per_symbol) * _SIGNAL_SYMBOL_NS

"""Model PPDUs with several frames: how many fit, their duration, and a single sender's rate.

The model has A-MPDUs of equal MPDUs to one receiver, the Block ACK, the limits of bytes, time and
Block ACK window, and independent MPDU errors. TCP is in `tcp_ampdu`. Collisions are in Bianchi's
model (`airtcp.models.bianchi`) with the times of `slot_times`: under EDCA a counter also decreases
at the end of AIFS, so a busy period is one of his slots.

Clauses are those of IEEE Std 802.11-2020: 9.7.1 and 10.12 (A-MPDU), 10.25.6 (Block ACK), 10.23.2.4
(EDCA).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from airtcp.amendments import BY_FORMAT
from airtcp.exceptions import ConvergenceError, ModelError
from airtcp.models import checks
from airtcp.models.airtime import (
    HighRateParts,
    HighRateTiming,
    OfdmTiming,
    Phy,
    Rate,
    mpdu_bits,
    ppdu_time_ns,
)
from airtcp.models.bianchi import SlotTimes
from airtcp.models.checks import Values
from airtcp.phrases import phrase

__all__ = ["HT_20MHZ", "Exchange", "Rounds", "sent_mpdus", "slot_times"]

_DELIMITER_BITS = 32
_ALIGNMENT_BITS = 32
_MOST_MPDUS = 65536
_WIDEST = 1024
"""The widest Block ACK window of any amendment (802.11be)."""
_SLOW = 256
"""The widest window that is solved if losses hold it back. Work grows with its third power."""
_UNHURT = 1e-6
"""A smaller relative effect of the window is none."""
_MOST_ROUNDS = 10_000
_SETTLED = 1e-9
_NEGLIGIBLE = 1e-15

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A PPDU at one data rate, its response, and the limits on its contents.

    `ampdu_bits` and `ppdu_time_ns` limit the PSDU, `block_ack_window` the MPDUs; `ampdu_bits` 0: no
    aggregation. `rts_threshold_bits`: an RTS precedes longer PSDUs (None: never). `txop_limit_ns`:
    limit for PPDU, SIFS and Block ACK together (0: none).

    Raises `ValueError` with the name of an invalid field.
    """

    phy: Phy
    data_rate: Rate
    control_rate: Rate
    block_ack_rate: Rate
    block_ack_bits: int
    ampdu_bits: int
    ppdu_time_ns: int
    block_ack_window: int
    rts_threshold_bits: int | None = None
    txop_limit_ns: int = 0

    def __post_init__(self) -> None:
        checks.scalar("block_ack_bits", self.block_ack_bits, at_least=0, whole=True)
        checks.scalar("ampdu_bits", self.ampdu_bits, at_least=0, whole=True)
        checks.scalar("ppdu_time_ns", self.ppdu_time_ns, above=0, whole=True)
        checks.scalar(
            "block_ack_window",
            self.block_ack_window,
            at_least=1,
            at_most=_MOST_MPDUS,
            whole=True,
        )
        checks.scalar("txop_limit_ns", self.txop_limit_ns, at_least=0, whole=True)

    def psdu_bits(self, mpdus: ArrayLike, msdu_bits: ArrayLike) -> Counts:
        """Return the bits of a PSDU of `mpdus` MPDUs with MSDUs of `msdu_bits` (9.7.1, 10.12.7).

        Each MPDU except the last is padded to whole words after its delimiter; a single one has a
        delimiter from VHT on.

        Raises `ValueError` unless both are whole, `mpdus` >= 1 and `msdu_bits` >= 0.
        """
        count, bits = self._numbers(mpdus, msdu_bits)
        subframe = _DELIMITER_BITS + bits
        padded = -(-subframe // _ALIGNMENT_BITS) * _ALIGNMENT_BITS
        lone = subframe if BY_FORMAT[self.data_rate.modulation].lone_delimiter else bits
        return np.where(count == 1, lone, (count - 1) * padded + subframe)[()]

    def data_time_ns(self, mpdus: ArrayLike, msdu_bits: ArrayLike) -> Counts:
        """Return the duration of the PPDU; errors as in `psdu_bits`."""
        return ppdu_time_ns(self.phy, self.data_rate, self.psdu_bits(mpdus, msdu_bits))

    def exchange_time_ns(self, mpdus: ArrayLike, msdu_bits: ArrayLike) -> Counts:
        """Return the time from the start of the PPDU or its RTS to the end of the response.

        A Block ACK acknowledges several MPDUs, an ACK a single one. Errors as in `psdu_bits`.
        """
        count, _ = self._numbers(mpdus, msdu_bits)
        delay = self.phy.propagation_delay_ns
        ack = int(ppdu_time_ns(self.phy, self.control_rate, self.phy.ack_bits))
        answer = np.where(count == 1, ack, self._block_ack_ns())
        data = self.data_time_ns(mpdus, msdu_bits)
        rts = self._rts_ns(self.psdu_bits(mpdus, msdu_bits))
        return np.asarray(rts + data + delay + self.phy.sifs_ns + answer + delay)[()]

    def collision_time_ns(self, mpdus: ArrayLike, msdu_bits: ArrayLike) -> Counts:
        """Return how long such a PPDU, or its RTS, occupies the medium when it collides.

        The wait after that is not included. Errors as in `psdu_bits`.
        """
        data = self.data_time_ns(mpdus, msdu_bits)
        rts = int(ppdu_time_ns(self.phy, self.control_rate, self.phy.rts_bits))
        has_rts = self._rts_ns(self.psdu_bits(mpdus, msdu_bits)) > 0
        return np.asarray(np.where(has_rts, rts, data) + self.phy.propagation_delay_ns)[()]

    def most_mpdus(self, msdu_bits: int) -> int:
        """Return the most MPDUs with MSDUs of `msdu_bits` that fit into a PPDU; at least 1.

        Raises `ValueError` unless `msdu_bits` is whole and >= 0.
        """
        counts = np.arange(1, self.block_ack_window + 1)
        psdu, time = self.psdu_bits(counts, msdu_bits), self.data_time_ns(counts, msdu_bits)
        fits = (psdu <= self.ampdu_bits) & (time <= self.ppdu_time_ns)
        if self.txop_limit_ns:
            after = self.phy.sifs_ns + self._block_ack_ns() + 2 * self.phy.propagation_delay_ns
            fits &= self._rts_ns(psdu) + time + after <= self.txop_limit_ns
        fits[0] = True
        return int(counts[fits].max())

    def _block_ack_ns(self) -> int:
        return int(ppdu_time_ns(self.phy, self.block_ack_rate, self.block_ack_bits))

    def _rts_ns(self, psdu_bits: Counts) -> Counts:
        """Return the duration of RTS, CTS and their gaps if an RTS precedes such a PSDU, else 0."""
        if self.rts_threshold_bits is None:
            return np.zeros_like(psdu_bits)
        gap = self.phy.sifs_ns + self.phy.propagation_delay_ns
        frames = [self.phy.rts_bits, self.phy.cts_bits]
        around = int(ppdu_time_ns(self.phy, self.control_rate, frames).sum()) + 2 * gap
        return np.where(psdu_bits > self.rts_threshold_bits, around, 0)

    def _numbers(self, mpdus: ArrayLike, msdu_bits: ArrayLike) -> tuple[Counts, Counts]:
        count = checks.real("mpdus", mpdus, at_least=1, at_most=_MOST_MPDUS, whole=True)
        bits = np.asarray(mpdu_bits(self.phy, msdu_bits), dtype=np.float64)
        count, bits = checks.broadcast(mpdus=count, msdu_bits=bits)
        return count.astype(np.int64), bits.astype(np.int64)


def slot_times(
    exchange: Exchange,
    mpdus: int,
    msdu_bits: int,
    *,
    aifs_ns: int,
    after_collision_ns: int,
    payload_bits: int | None = None,
) -> SlotTimes:
    """Return Ts and Tc of senders with `mpdus` MPDUs per PPDU, for `airtcp.models.bianchi`.

    Ts = exchange + AIFS. Tc = PPDU (or RTS) + `after_collision_ns`, which is AIFS if third parties
    decode nothing of a collision, and EIFS minus DIFS more if they do (10.23.2.4). `payload_s` is
    the duration of `payload_bits` of each MSDU (default: all) at the data rate.

    Raises `ValueError` like `Exchange`.

    >>> times = slot_times(HT_20MHZ, 31, 12000, aifs_ns=43_000, after_collision_ns=43_000)
    >>> round(times.success_s * 1e6, 1), round(times.collision_s * 1e6, 1)
    (5429.8, 5381.8)
    """
    payload = msdu_bits if payload_bits is None else payload_bits
    return SlotTimes(
        slot_s=exchange.phy.slot_time_ns / 1e9,
        success_s=(int(exchange.exchange_time_ns(mpdus, msdu_bits)) + aifs_ns) / 1e9,
        collision_s=(int(exchange.collision_time_ns(mpdus, msdu_bits)) + after_collision_ns) / 1e9,
        payload_s=mpdus * payload / exchange.data_rate.bps,
    )


@dataclass(frozen=True, slots=True)
class Rounds:
    """The mean load of a PPDU with independent MPDU errors: `sent` and `delivered`."""

    sent: Values
    delivered: Values


def sent_mpdus(most: ArrayLike, window: ArrayLike, error: ArrayLike) -> Rounds:
    """Return the mean number of MPDUs per PPDU if each is lost with probability `error`.

    The window (10.25.6.3) begins at the first missing MPDU, and a PPDU carries the first `most`
    missing ones of its `window` positions; there are always new ones. A loss near the start of the
    window therefore holds back new MPDUs, the more so the closer `most` is to `window`.

    The last move of the window says how many of its positions are new; given that, positions are
    assumed to be missing independently. u[a, j] is the probability that position j is missing when
    a PPDU is built after the window has moved by a. A missing MPDU is sent with the probability
    that fewer than `most` before it are missing. It stays missing unless it was sent and not lost;
    the window then moves to the first that is still missing. u and the distribution of a are a
    fixed point of this step. Exact without losses; there is no retry limit.

    The window holds nothing back before one of its MPDUs is lost window / most times.

    Raises `ValueError` unless most >= 1, 1 <= window <= 1024 and 0 <= error < 1,
    `ConvergenceError`, and `ModelError` if losses hold back a window beyond 256.

    >>> sent_mpdus([31, 64], 64, 0.1).sent.round(1)
    array([29.1, 34.1])
    """
    count = checks.real("most", most, at_least=1, whole=True)
    positions = checks.real("window", window, at_least=1, at_most=_WIDEST, whole=True)
    lost = checks.real("error", error, at_least=0.0, at_most=1.0 - 1e-9)
    count, positions, lost = checks.broadcast(most=count, window=positions, error=lost)
    sent = np.empty(count.shape)
    for place in np.ndindex(count.shape):
        most_here = int(min(count[place], positions[place]))
        sent[place] = _window(most_here, int(positions[place]), float(lost[place]))
    return Rounds(sent=sent[()], delivered=np.asarray(sent * (1.0 - lost))[()])


def _window(most: int, window: int, error: float) -> float:
    """Return the mean number of MPDUs sent, at the fixed point of u and the moves."""
    if most * error ** (window // most) < _UNHURT:
        return float(most)
    if window > _SLOW:
        raise ModelError(phrase("models.solver.slow_window", window=window, slow=_SLOW))
    moves = window + 1
    missing, moved = np.ones((moves, window)), np.full(moves, 1.0 / moves)
    for _ in range(_MOST_ROUNDS):
        reached = _fewer_before(missing, most)
        still = missing * (1.0 - reached * (1.0 - error))
        # The first missing one is at position f with probability first[:, f]; at `window` if none
        # is missing. All before it have arrived; those after it are as independent as before.
        clear = np.cumprod(1.0 - still, axis=1)
        some = still * np.hstack([np.ones((moves, 1)), clear[:, :-1]])
        weight = moved[:, np.newaxis] * np.hstack([some, clear[:, -1:]])
        after, total = np.ones((moves, window)), weight.sum(axis=0)
        for f in np.flatnonzero(total[:window] > _NEGLIGIBLE):
            after[f, : window - f] = weight[:, f] @ still[:, f:] / total[f]
        after[:, 0] = 1.0
        change = np.abs(total[:, np.newaxis] * after - moved[:, np.newaxis] * missing).max()
        missing, moved = after, total
        if change < _SETTLED:
            return float(moved @ (missing * _fewer_before(missing, most)).sum(axis=1))
    raise ConvergenceError(phrase("models.solver.window_unsettled", most=_MOST_ROUNDS))


def _fewer_before(missing: Values, most: int) -> Values:
    """Return for each position the probability that fewer than `most` before it are missing."""
    rows, window = missing.shape
    if most >= window:
        return np.ones((rows, window))
    counts = np.zeros((rows, most + 1))
    counts[:, 0] = 1.0
    reached = np.empty((rows, window))
    for j in range(window):
        one = missing[:, j : j + 1]
        reached[:, j] = counts[:, :most].sum(axis=1)
        more = counts[:, :-1] * one
        counts[:, :-1] -= more
        counts[:, 1:] += more
    return reached


HT_20MHZ: Final = Exchange(
    phy=Phy(
        data_rate=Rate(72_222_222, "ht", HighRateParts(7, 1, 20, 400, 36_000)),
        control_rate=Rate(24_000_000, "ofdm"),
        slot_time_ns=9_000,
        sifs_ns=16_000,
        difs_ns=34_000,
        eifs_ns=94_000,
        dsss=None,
        ofdm=OfdmTiming(16_000, 4_000, 4_000, 16, 6, 0),
        symbol_rounding=True,
        propagation_delay_ns=0,
        cw_min=15,
        cw_max=1023,
        rts_bits=160,
        cts_bits=112,
        ack_bits=112,
        mac_header_bits=240,
        llc_bits=64,
        high_rate=HighRateTiming(
            service_bits=16, tail_bits=6, short_gi_rounding=False, signal_extension_ns=0
        ),
    ),
    data_rate=Rate(72_222_222, "ht", HighRateParts(7, 1, 20, 400, 36_000)),
    control_rate=Rate(24_000_000, "ofdm"),
    block_ack_rate=Rate(24_000_000, "ofdm"),
    block_ack_bits=256,
    ampdu_bits=8 * 65_535,
    ppdu_time_ns=5_484_000,
    block_ack_window=64,
)
"""802.11n at 20 MHz and MCS 7, short guard interval without rounding, as ns-3 has it."""

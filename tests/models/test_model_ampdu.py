"""PPDUs of several frames: rows computed by hand, Komondor's table, and the effect of errors."""

import dataclasses

import numpy as np
import pytest
from airtcp.high_rate import HighRateTiming
from airtcp.models.airtime import HighRateParts, Phy, Rate
from airtcp.models.ampdu import Exchange, sent_mpdus, slot_times
from airtcp.models.bianchi import SlotTimes, fixed_point, saturation
from bases import refused
from phys import PHY_80211A

N = Rate(72_222_222, "ht", HighRateParts(7, 1, 20, 400, 36_000))
AC = Rate(433_333_333, "vht", HighRateParts(9, 1, 80, 400, 36_000))
AX = Rate(600_490_196, "he", HighRateParts(11, 1, 80, 800, 44_000))
LEGACY_24 = Rate(24_000_000, "ofdm")
LEGACY_6 = Rate(6_000_000, "ofdm")


def phy(rate: Rate, **keys: int) -> Phy:
    """A 5 GHz PHY with ns-3's rules: no rounding of short guard intervals, tail bits in HE."""
    timing = HighRateTiming(
        service_bits=16, tail_bits=6, short_gi_rounding=False, signal_extension_ns=0
    )
    own = {"data_rate": rate, "high_rate": timing, "mac_header_bits": 240, **keys}
    return dataclasses.replace(PHY_80211A, **own)  # type: ignore[arg-type]


def exchange(rate: Rate, ampdu_bytes: int, window: int) -> Exchange:
    return Exchange(
        phy=phy(rate), data_rate=rate, control_rate=LEGACY_24, block_ack_rate=LEGACY_24,
        block_ack_bits=256 if window <= 64 else 448, ampdu_bits=8 * ampdu_bytes,
        ppdu_time_ns=5_484_000, block_ack_window=window,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("one", "mpdus", "data_us", "cycle_us", "mbps"),
    [
        # 30 x 1544 + 1542 = 47862 bytes; 36 + 3.6 ceil((16 + 382896 + 6) / 260); + 16 + 32 + 110.5.
        (exchange(N, 65_535, 64), 31, 5338.8, 5497.3, 66.406),
        (exchange(AC, 1_048_575, 64), 64, 1861.2, 2019.7, 373.156),
        # A Block ACK of 40 us.
        (exchange(AX, 6_500_631, 256), 256, 5320.8, 5487.3, 549.388),
    ],
)
def test_a_lone_sender_by_hand(
    one: Exchange, mpdus: int, data_us: float, cycle_us: float, mbps: float
) -> None:
    assert one.most_mpdus(12_000) == mpdus
    assert one.data_time_ns(mpdus, 12_000) == data_us * 1e3
    cycle = 43e3 + 7.5 * 9e3 + int(one.exchange_time_ns(mpdus, 12_000))
    assert cycle == cycle_us * 1e3
    assert mpdus * 1472 * 8 / (cycle / 1e3) == pytest.approx(mbps, abs=5e-4)


def test_sizes_of_ppdus() -> None:
    ht, vht = exchange(N, 65_535, 64), exchange(AC, 1_048_575, 64)
    # One more MPDU would be too long: 36 + 1521 x 3.6.
    assert ht.data_time_ns(32, 12_000) == 5_511_600 > 5_484_000
    # 43 would exceed 65,535 bytes.
    forty = exchange(Rate(150_000_000, "ht", HighRateParts(7, 1, 40, 400, 36_000)), 65_535, 64)
    assert forty.most_mpdus(12_000) == 42
    assert forty.psdu_bits([42, 43], 12_000).tolist() == [8 * 64_846, 8 * 66_390]
    # A TXOP limit covers the PPDU, 36 + 666 x 3.6 us, and the Block ACK, 48 us. With 15 MPDUs the
    # PPDU would take 2606.4 us.
    limited = dataclasses.replace(ht, txop_limit_ns=2_528_000)
    assert limited.most_mpdus(12_000) == 14
    assert limited.data_time_ns(14, 12_000) == 2_433_600
    # A single MPDU has a delimiter only in VHT and HE. Its ACK takes 28 us instead of 32.
    assert ht.psdu_bits(1, 12_000) == 8 * 1538
    assert vht.psdu_bits(1, 12_000) == 8 * 1542
    for mpdus, answer_ns in ((1, 28_000), (2, 32_000)):
        whole, data = vht.exchange_time_ns(mpdus, 12_000), vht.data_time_ns(mpdus, 12_000)
        assert whole - data == 16_000 + answer_ns


#: N senders with RTS/CTS, a fixed CW of 16 values, 43 MPDUs of 11728 bits: Mb/s of each and the
#: collision probability. N = 3, 7 and 30 stand for the rows between them.
KOMONDOR = {
    1: (88.25, 0.0),
    2: (44.31, 0.1187),
    4: (22.13, 0.3144),
    10: (8.71, 0.6757),
    20: (4.10, 0.9074),
    50: (0.57, 0.9979),
}


def komondor() -> SlotTimes:
    """HE at 20 MHz, MCS 9, guard interval 3.2 us: 1560 bits in 16 us, after 100 us of preamble.

    RTS 52, CTS 44 and Block ACK 32 us. T_c = RTS + SIFS + CTS + DIFS + slot.
    """
    rate = Rate(97_500_000, "he", HighRateParts(9, 1, 20, 3_200, 100_000))
    one = dataclasses.replace(
        exchange(rate, 6_500_631, 43),
        phy=phy(rate, mac_header_bits=320, llc_bits=0),
        control_rate=LEGACY_6,
        rts_threshold_bits=0,
    )
    assert one.most_mpdus(11_728) == 43
    times = slot_times(one, 43, 11_728, aifs_ns=43_000, after_collision_ns=16_000 + 44_000 + 43_000)
    assert times.collision_s == pytest.approx(155e-6)
    # Komondor has no padding, which makes 334 symbols from its 333.
    assert times.success_s == pytest.approx(5647e-6 + 16e-6)
    return times


@pytest.mark.parametrize("n", KOMONDOR)
def test_komondors_table(n: int) -> None:
    mbps, collisions = KOMONDOR[n]
    point = fixed_point(n, 16, 0)
    rate = float(saturation(point, komondor()).success_rate_per_s) / n * 43 * 11_728 / 1e6
    assert float(point.p) == pytest.approx(collisions, abs=0.002)
    # The last row only has two decimals.
    assert rate == pytest.approx(mbps, rel=0.005, abs=0.005)


def simulated(most: int, window: int, error: float, rounds: int = 20_000) -> float:
    """Simulate the Block ACK window, MPDU by MPDU."""
    draws = np.random.default_rng(1)
    missing, total = np.ones(window, dtype=bool), 0
    for _ in range(rounds):
        sent = np.flatnonzero(missing)[:most]
        total += len(sent)
        missing[sent[draws.random(len(sent)) >= error]] = False
        still = np.flatnonzero(missing)
        moves = still[0] if len(still) else window
        missing = np.concatenate([missing[moves:], np.ones(moves, dtype=bool)])
    return total / rounds


# The mean over 20,000 PPDUs is known to 0.5 % or better (sizes vary by some 40 % and are correlated
# over a few PPDUs). With 30 % losses the missing MPDUs depend on more than one move.
@pytest.mark.parametrize(
    ("most", "window", "error", "bound"),
    [
        (64, 64, 0.01, 0.01),
        (64, 64, 0.1, 0.01),
        (31, 64, 0.1, 0.015),
        (42, 64, 0.1, 0.015),
        (64, 64, 0.3, 0.06),
        (31, 64, 0.3, 0.06),
        (5, 5, 0.2, 0.02),
    ],
)
def test_what_losses_leave_of_a_ppdu(most: int, window: int, error: float, bound: float) -> None:
    assert float(sent_mpdus(most, window, error).sent) == pytest.approx(
        simulated(most, window, error), rel=bound
    )


def test_where_the_window_holds_nothing_back_all_is_exact() -> None:
    assert sent_mpdus([1, 31, 64], 64, 0.0).sent.tolist() == [1.0, 31.0, 64.0]
    lone = sent_mpdus(1, 1, [0.0, 0.3, 0.9])
    assert lone.sent == pytest.approx([1.0, 1.0, 1.0])
    assert lone.delivered == pytest.approx([1.0, 0.7, 0.1])
    # One of 50 MPDUs is lost 1,024 / 50 = 20 times in 10^20 PPDUs; the fixed point agrees.
    assert sent_mpdus(50, 1024, 0.1).sent == 50.0
    # An MPDU is lost eight times in a row with a probability of .02^8 = 3e-14.
    assert sent_mpdus(3, 24, 0.02).sent == 3.0
    # A window of eight waits for an MPDU that is lost twice.
    assert 2.99 < sent_mpdus(3, 8, 0.02).sent < 3.0
    with refused("models.solver.slow_window", window=1024):
        sent_mpdus(500, 1024, 0.1)

"""Rates and PPDUs of 802.11n, ac and ax (airtcp.high_rate)."""

import contextlib
import itertools
from typing import Any

import pytest
from airtcp.high_rate import HighRate, HighRateRules, NoSuchRateError

SIMULATOR = HighRateRules(vht_sig_b=False, he_ltf_ns=8_000, short_gi_rounding=False, he_tail=True)
"""What ns-3 sends."""


def rate(amendment: str, mcs: int, streams: int, width: int, guard: int) -> HighRate:
    keys: dict[str, Any] = {"spatial_streams": streams, "channel_width_mhz": width}
    return HighRate(format=amendment, mcs=mcs, guard_interval_ns=guard, **keys)


@pytest.mark.parametrize(
    ("key", "mbps"),
    [
        (("ht", 7, 1, 20, 800), 65.0),
        (("ht", 7, 1, 20, 400), 72.2),
        (("ht", 7, 2, 40, 400), 300.0),
        (("vht", 9, 1, 80, 400), 433.3),
        (("vht", 9, 8, 160, 400), 6933.3),
        (("he", 11, 1, 80, 800), 600.4),
        (("he", 0, 1, 20, 3200), 7.3),
    ],
)
def test_rates_are_those_of_the_tables(key: Any, mbps: float) -> None:
    assert rate(*key).bps / 1e6 == pytest.approx(mbps, abs=0.1)


# (format, streams, guard interval): L-STF 8, L-LTF 8, L-SIG 4; HT: 8 + 4 + 4 n; VHT: 8 + 4 + 4 n
# + 4; HE: 4 + 8 + 4 + n times 7.2 or 16.
@pytest.mark.parametrize(
    ("amendment", "streams", "guard", "standard_us", "simulator_us"),
    [
        ("ht", 1, 800, 36.0, 36.0),
        ("ht", 3, 400, 48.0, 48.0),
        ("vht", 1, 400, 40.0, 36.0),
        ("vht", 5, 800, 60.0, 56.0),
        ("he", 1, 800, 43.2, 44.0),
        ("he", 2, 3200, 68.0, 52.0),
    ],
)
def test_what_comes_before_the_data(
    amendment: str, streams: int, guard: int, standard_us: float, simulator_us: float
) -> None:
    one = rate(amendment, 0, streams, 20, guard)
    assert one.preamble_time_ns() == standard_us * 1e3
    assert one.preamble_time_ns(SIMULATOR) == simulator_us * 1e3


def test_encoders_share_the_bits_of_a_symbol_evenly() -> None:
    """21.3.10.5.4: each encoder gets as many bits as the others, and whole puncturing blocks."""
    tried = 0
    for mcs, streams, width in itertools.product(range(10), range(1, 9), (20, 40, 80, 160)):
        with contextlib.suppress(NoSuchRateError):
            one = rate("vht", mcs, streams, width, 800)
            assert one.data_bits_per_symbol % one.encoders == 0
            tried += 1
    assert tried > 300
    # A symbol of 4 us has 24960 bits. Service bits, 16, and tail bits, 6 for each of 12 encoders,
    # are 88.
    most = rate("vht", 9, 8, 160, 800)
    timing, preamble_ns = most.timing(band_ghz=5.0), most.preamble_time_ns()
    lasts = [most.ppdu_time_ns(24_960 - left, timing) - preamble_ns for left in (88, 87)]
    assert lasts == [4_000, 8_000]


@pytest.mark.parametrize(
    ("key", "part", "allowed"),
    [
        (("ht", 8, 1, 20, 800), "mcs", "0 to 7"),
        (("ht", 7, 1, 80, 800), "channel_width", "20 MHz, 40 MHz"),
        (("ht", 7, 5, 20, 800), "spatial_streams", "1 to 4"),
        (("ht", 7, 0, 20, 800), "spatial_streams", "1 to 4"),
        (("vht", 9, 1, 20, 800), "mcs", "0 to 9 but 9 at 20 MHz with 1 spatial streams"),
        (("vht", 6, 3, 80, 800), "mcs", "0 to 9 but 6 at 80 MHz with 3 spatial streams"),
        (("he", 11, 1, 80, 400), "guard_interval", "800 ns, 1600 ns, 3200 ns"),
        (("he", 12, 1, 80, 800), "mcs", "0 to 11"),
    ],
)
def test_rates_that_do_not_exist(key: Any, part: str, allowed: str) -> None:
    with pytest.raises(NoSuchRateError) as caught:
        rate(*key)
    assert (caught.value.part, caught.value.allowed) == (part, allowed)


@pytest.mark.parametrize(
    ("key", "count", "simulator_ns", "standard_ns"),
    [
        # 47862 bytes are 1473 symbols of 3.6 us after 36 us; 5302.8 us of symbols end at 5304.
        (("ht", 7, 1, 20, 400), 31, 5_338_800, 5_340_000),
        # 98814 bytes are 507 symbols of 3.6 us after 36 us, and 4 us of SIG-B; 1825.2 us of
        # symbols end at 1828.
        (("vht", 9, 1, 80, 400), 64, 1_861_200, 1_868_000),
        # 395262 bytes are 388 symbols of 13.6 us after 44 us, with an LTF of 7.2 instead of 8 us,
        # and no tail.
        (("he", 11, 1, 80, 800), 256, 5_320_800, 5_320_000),
    ],
)
def test_frames_by_hand(key: Any, count: int, simulator_ns: int, standard_ns: int) -> None:
    """Saturated 1472-byte datagrams in MPDUs of 1538 bytes, by ns-3's rules or the standard."""
    one = rate(*key)
    bits = 8 * ((count - 1) * 1544 + 1542)
    preamble_ns, timing = one.preamble_time_ns(SIMULATOR), one.timing(SIMULATOR, band_ghz=5.0)
    assert one.ppdu_time_ns(bits, timing, preamble_time_ns=preamble_ns) == simulator_ns
    assert one.ppdu_time_ns(bits, one.timing(band_ghz=5.0)) == standard_ns


def test_2_4_ghz_has_a_signal_extension() -> None:
    one = rate("ht", 0, 1, 20, 800)
    at_2_4, at_5 = (one.timing(band_ghz=band) for band in (2.4, 5.0))
    assert one.ppdu_time_ns(112, at_2_4) - one.ppdu_time_ns(112, at_5) == 6_000

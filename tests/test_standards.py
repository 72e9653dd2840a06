"""The standards' numbers, worked out from each other and from the tables that they come from."""

import pytest
from airtcp import standards
from airtcp.standards import DSSS, OFDM, STANDARDS

US = 1000
MBPS = 1_000_000


@pytest.mark.parametrize(
    ("name", "slot_us", "sifs_us", "difs_us", "cw_min"),
    # DIFS = SIFS + 2 slots: 10 + 40, 16 + 18, 10 + 18.
    [("802.11b", 20, 10, 50, 31), ("802.11a", 9, 16, 34, 15), ("802.11g", 9, 10, 28, 15)],
)
def test_timing(name: str, slot_us: int, sifs_us: int, difs_us: int, cw_min: int) -> None:
    standard = STANDARDS[name]

    assert standard.name == name
    assert standard.slot_time_ns == slot_us * US
    assert standard.sifs_ns == sifs_us * US
    assert standard.sifs_ns + 2 * standard.slot_time_ns == difs_us * US
    assert (standard.cw_min, standard.cw_max) == (cw_min, 1023)


def test_contention_windows_are_powers_of_two_less_one() -> None:
    for standard in STANDARDS.values():
        for cw in (standard.cw_min, standard.cw_max):
            assert (cw + 1) & cw == 0


def test_the_short_preamble_takes_half_the_time() -> None:
    long, short = (standards.DSSS_PREAMBLES[kind] for kind in ("long", "short"))

    assert long.preamble_time_ns + long.plcp_header_time_ns == 192 * US
    assert short.preamble_time_ns + short.plcp_header_time_ns == 96 * US


def test_ofdm_symbols_carry_whole_bits() -> None:
    """Otherwise a whole number of symbols would not be a whole number of bits."""
    for name in ("802.11a", "802.11g"):
        ofdm = STANDARDS[name].ofdm
        assert ofdm is not None
        for rate in STANDARDS[name].rates_bps[OFDM]:
            assert rate * ofdm.symbol_time_ns % 10**9 == 0


def test_rates() -> None:
    assert STANDARDS["802.11b"].all_rates_bps == (1 * MBPS, 2 * MBPS, 5_500_000, 11 * MBPS)
    assert STANDARDS["802.11a"].all_rates_bps == tuple(
        rate * MBPS for rate in (6, 9, 12, 18, 24, 36, 48, 54)
    )
    assert STANDARDS["802.11g"].all_rates_bps == tuple(
        sorted(STANDARDS["802.11b"].all_rates_bps + STANDARDS["802.11a"].all_rates_bps)
    )
    assert STANDARDS["802.11g"].modulation(11 * MBPS) == DSSS
    assert STANDARDS["802.11g"].modulation(12 * MBPS) == OFDM
    assert STANDARDS["802.11b"].modulation(54 * MBPS) is None
    assert [
        STANDARDS[name].default_data_rate_bps for name in ("802.11b", "802.11a", "802.11g")
    ] == [
        11 * MBPS,
        54 * MBPS,
        54 * MBPS,
    ]


@pytest.mark.parametrize(
    ("name", "data_mbps", "wanted_mbps", "response_mbps"),
    [
        ("802.11b", 11, None, 2),
        ("802.11b", 5.5, None, 2),
        ("802.11b", 2, None, 2),
        ("802.11b", 1, None, 1),
        ("802.11b", 11, 1, 1),
        ("802.11b", 11, 11, 11),
        ("802.11b", 1, 2, 1),
        ("802.11a", 54, None, 24),
        ("802.11a", 18, None, 12),
        ("802.11a", 9, None, 6),
        ("802.11a", 18, 24, 12),  # 18 is not a basic rate: the highest one below it
        ("802.11g", 54, None, 24),
        ("802.11g", 11, None, 2),  # of the same modulation
        ("802.11g", 11, 24, 2),
        ("802.11g", 54, 2, 2),
    ],
)
def test_a_response_is_never_faster_than_what_it_answers(
    name: str, data_mbps: float, wanted_mbps: float | None, response_mbps: float
) -> None:
    wanted = None if wanted_mbps is None else int(wanted_mbps * MBPS)

    response = standards.response_rate_bps(STANDARDS[name], int(data_mbps * MBPS), wanted)

    assert response == response_mbps * MBPS


def test_a_rate_of_another_standard_has_no_response() -> None:
    with pytest.raises(KeyError):
        standards.response_rate_bps(STANDARDS["802.11b"], 54 * MBPS)


@pytest.mark.parametrize(
    ("mss_bytes", "segments"), [(1, 4), (1095, 4), (1096, 3), (2190, 3), (2191, 2), (9000, 2)]
)
def test_initial_window_of_rfc_5681(mss_bytes: int, segments: int) -> None:
    assert standards.initial_window_segments(mss_bytes) == segments


def edca(name: str, category: standards.AccessCategory, *, ap: bool) -> tuple[int, int, int, int]:
    """AIFSN, windows and TXOP limit in us of a category, as a PHY without overrides has them."""
    standard = STANDARDS[name]
    found = standards.edca_defaults(
        standard, category, ap=ap, cw_min=standard.cw_min, cw_max=standard.cw_max
    )
    return found.aifsn, found.cw_min, found.cw_max, found.txop_limit_ns // US


# IEEE 802.11-2020, Table 9-155.
@pytest.mark.parametrize(
    ("category", "aifsn", "dsss", "ofdm"),
    [
        ("AC_VO", 2, (7, 15, 3264), (3, 7, 2080)),
        ("AC_VI", 2, (15, 31, 6016), (7, 15, 4096)),
        ("AC_BE", 3, (31, 1023, 3264), (15, 1023, 2528)),
        ("AC_BK", 7, (31, 1023, 3264), (15, 1023, 2528)),
    ],
)
def test_default_edca_parameter_set_of_stations(
    category: standards.AccessCategory,
    aifsn: int,
    dsss: tuple[int, int, int],
    ofdm: tuple[int, int, int],
) -> None:
    assert edca("802.11b", category, ap=False) == (aifsn, *dsss)
    assert edca("802.11a", category, ap=False) == (aifsn, *ofdm)
    assert edca("802.11g", category, ap=False) == (aifsn, *ofdm)


def test_the_access_point_goes_first_and_doubles_best_effort_twice_at_most() -> None:
    """The defaults of dot11QAPEDCATable, as access points have them out of the box."""
    for name, cw in (("802.11b", 31), ("802.11a", 15)):
        assert [edca(name, category, ap=True)[0] for category in standards.EDCA_CATEGORIES] == [
            1,
            1,
            3,
            7,
        ]
        assert edca(name, "AC_BE", ap=True)[1:3] == (cw, 4 * (cw + 1) - 1)
        for category in ("AC_VO", "AC_VI", "AC_BK"):
            assert edca(name, category, ap=True)[1:] == edca(name, category, ap=False)[1:]


def test_txop_limits_are_whole_numbers_of_the_unit_of_their_field() -> None:
    """9.4.2.29: the field counts 32 us."""
    for name in STANDARDS:
        for category in standards.EDCA_CATEGORIES:
            assert edca(name, category, ap=False)[3] % 32 == 0


def test_windows_of_categories_are_powers_of_two_less_one() -> None:
    for name in STANDARDS:
        for ap in (False, True):
            for category in standards.EDCA_CATEGORIES:
                for cw in edca(name, category, ap=ap)[1:3]:
                    assert (cw + 1) & cw == 0

"""Numbers of the standards, checked against each other and against the standards' tables."""

import pytest
from airtcp import standards
from airtcp.standards import STANDARDS

US = 1000
MBPS = 1_000_000


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
    with pytest.raises(KeyError):
        standards.response_rate_bps(STANDARDS["802.11b"], 54 * MBPS)


@pytest.mark.parametrize(
    ("mss_bytes", "segments"), [(1, 4), (1095, 4), (1096, 3), (2190, 3), (2191, 2), (9000, 2)]
)
def test_initial_window_of_rfc_5681(mss_bytes: int, segments: int) -> None:
    assert standards.initial_window_segments(mss_bytes) == segments


def edca(name: str, category: standards.AccessCategory, *, ap: bool) -> tuple[int, int, int, int]:
    """Return a category's AIFSN, windows and TXOP limit in us, for a PHY without overrides."""
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
    category: standards.AccessCategory, aifsn: int, dsss: tuple[int, ...], ofdm: tuple[int, ...]
) -> None:
    assert edca("802.11b", category, ap=False) == (aifsn, *dsss)
    assert edca("802.11a", category, ap=False) == (aifsn, *ofdm)
    assert edca("802.11g", category, ap=False) == (aifsn, *ofdm)


@pytest.mark.parametrize(("name", "cw_max"), [("802.11b", 4 * 32 - 1), ("802.11a", 4 * 16 - 1)])
def test_the_access_point_goes_first_and_doubles_best_effort_twice_at_most(
    name: str, cw_max: int
) -> None:
    """The values of dot11QAPEDCATable, which access points use by default."""
    for category, aifsn in zip(standards.EDCA_CATEGORIES, (1, 1, 3, 7), strict=True):
        _, cw_min, most, txop_us = edca(name, category, ap=False)
        most = cw_max if category == "AC_BE" else most
        assert edca(name, category, ap=True) == (aifsn, cw_min, most, txop_us)

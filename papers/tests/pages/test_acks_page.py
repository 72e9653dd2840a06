"""The text of docs/papers/acks.md agrees with its tables."""

from pathlib import Path

import pytest
import tables

PAGE = Path(__file__).parents[3] / "docs" / "papers" / "acks.md"


def test_the_closed_form_is_the_limit() -> None:
    """With one station no policy gains more than a sender that gets only MAC ACKs, no TCP ACKs."""
    for standard, (base, bound, most, *_) in tables.numbers(PAGE, "limits").items():
        ways = tables.numbers(PAGE, standard)
        found = ways.pop("an ACK for every two segments")
        assert base == found[0] < bound
        assert max(gain[0] for gain in ways.values()) < most
        assert max(gain[2] for gain in ways.values()) < most + 1


def test_who_wins_where() -> None:
    for standard in ("802.11b", "802.11g"):
        ways = tables.numbers(PAGE, standard)
        _, _, most, *_ = tables.numbers(PAGE, "limits")[standard]
        for thinned in ("an ACK for every eight", "G: three of four left out"):
            assert min(ways[thinned][:3]) > 0.6 * most
            assert ways[thinned][3] < ways[thinned][2]
        for way in ("ACK filter", "ACK filter, aggressive"):
            assert max(ways[way][:3]) < 2.6
            assert ways[way][3] > 2.3
    ways = tables.numbers(PAGE, "802.11n")
    assert all(0 < gain < 4 for name in ways if name.startswith("ACK") for gain in ways[name])
    for standard in ("802.11b", "802.11g", "802.11n"):
        *_, uploads = tables.numbers(PAGE, standard)["L: ACKs go first (AC_VO)"]
        assert -6 < uploads < -3


def test_bbr_leaves_tack_little_to_leave_out() -> None:
    ways = tables.numbers(PAGE, "bbr")
    assert max(map(abs, ways["802.11b, TACK, four in a least round trip"])) < 1.0
    for standard in ("802.11g", "802.11n"):
        one_download, _, one_upload, _ = ways[f"{standard}, an ACK for every eight"]
        # Each is a mean of pairs, known to 2 points.
        assert 0 < one_download == pytest.approx(one_upload, abs=3)

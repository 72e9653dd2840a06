"""Claims: well formed, and judged by their values alone."""

from pathlib import Path

import pytest
from airtcp.reproduce import catalogue
from airtcp.reproduce.claims import Claim, Reading, judge, load_claims, tally
from airtcp.reproduce.item import Value
from airtcp.stats import Interval


def claim(relation: str = "=", bound: float = 10.0, tolerance: float = 1.0) -> Claim:
    return Claim(
        id="M.test",
        quantity="a number",
        where="section 1",
        relation=relation,  # type: ignore[arg-type]
        bound=bound,
        item="M.fig1",
        value="plain",
        tolerance=tolerance,
        reason="a test",
        readings=(Reading("another reading", "other"),),
        why="Because.",
    )


def around(mean: float, half: float) -> Interval:
    return Interval(mean, mean - half, mean + half, 5)


@pytest.mark.parametrize(
    ("relation", "value", "met"),
    [
        ("=", 10.9, True),
        ("=", 11.1, False),
        ("=", around(10.5, 1.0), True),
        ("=", around(11.5, 1.0), True),  # reaches from 10.5
        ("=", around(12.5, 1.0), False),
        ("=", around(10.0, 2.1), False),  # too wide to tell
        (">", 10.1, True),
        (">", 10.0, False),
        (">", around(11.0, 0.9), True),
        (">", around(11.0, 1.1), False),
        ("<", around(9.0, 0.9), True),
        ("<", around(9.0, 1.1), False),
        (">", Interval(None, None, None, 0), False),
        ("=", Interval(10.0, None, None, 1), True),
    ],
)
def test_verdicts(relation: str, value: Value, met: bool) -> None:
    verdict = judge(claim(relation), {"plain": value, "other": 1e9 if relation != ">" else -1e9})

    assert verdict.verdict == ("met" if met else "not met")
    assert verdict.ours == value
    assert (verdict.why == "") == met


def test_another_reading_is_named() -> None:
    verdict = judge(claim(), {"plain": 20.0, "other": 10.0})

    assert verdict.verdict == "met with a named reading"
    assert verdict.reading == "another reading"
    assert verdict.ours == 10.0
    assert "20" in verdict.why


def test_of_an_item_that_was_not_made_nothing_is_said() -> None:
    judged = judge(claim(), None)

    assert judged.verdict == "not made"
    assert judged.why == f"airtcp reproduce {claim().item}"
    assert tally([judged]) == ("1 claims: 0 met, 0 met with a named reading, 0 not met, 1 not made")
    assert "made" not in tally([judge(claim(), {"plain": 10.0, "other": 10.0})])


def test_claims_are_about_items() -> None:
    known = catalogue.items()
    for one in load_claims():
        assert one.item in known, one.id
        assert one.paper in catalogue.PAPERS, one.id
        assert one.paper == known[one.item].paper, one.id


def test_a_number_needs_a_tolerance_with_its_reason(tmp_path: Path) -> None:
    file = tmp_path / "claims.toml"
    entry = '[[claims]]\nid="M.x"\nquantity="q"\nwhere="w"\nrelation="="\nbound=1.0\n'
    file.write_text(entry + 'item="M.fig1"\nvalue="v"\ntolerance=0.1\n')

    with pytest.raises(ValueError, match="reason"):
        load_claims(file)

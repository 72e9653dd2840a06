"""Claims: well formed, and judged by their values alone."""

from pathlib import Path

import pytest
from airtcp.reproduce import catalogue
from airtcp.reproduce.claims import (
    By,
    Claim,
    Reading,
    Relation,
    judge,
    load_claims,
    parameters,
    tally,
)
from airtcp.reproduce.item import Value
from airtcp.reproduce.measure import changed, gap, least, magnitude, most, off
from airtcp.stats import Interval

NOBODY = Interval(None, None, None, 0)
ALONE = Interval(10.0, None, None, 1)


def claim(
    relation: Relation = "=", bound: float = 10.0, tolerance: float = 1.0, by: By = "simulation"
) -> Claim:
    return Claim(
        id="M.test",
        quantity="a number",
        where="section 1",
        says="it is so",
        relation=relation,
        bound=bound,
        reason="a test",
        item="M.fig1",
        value="plain",
        by=by,
        tolerance=tolerance,
        readings=(Reading("another reading", "other"),),
        why="Because.",
    )


def around(mean: float, half: float) -> Interval:
    return Interval(mean, mean - half, mean + half, 5)


@pytest.mark.parametrize(
    ("relation", "value", "verdict"),
    [
        ("=", around(10.5, 0.5), "met"),
        ("=", around(10.5, 0.6), "not decided"),  # reaches out of the tolerance
        ("=", around(11.5, 0.6), "not decided"),  # reaches into it
        ("=", around(12.5, 1.0), "not met"),
        ("=", around(7.5, 1.0), "not met"),
        ("=", around(10.0, 2.1), "not decided"),  # too wide to tell
        (">", around(11.0, 0.9), "met"),
        (">", around(11.0, 1.1), "not decided"),
        (">", around(9.0, 0.9), "not met"),
        ("<", around(9.0, 0.9), "met"),
        ("<", around(9.0, 1.1), "not decided"),
        ("<", around(11.0, 0.9), "not met"),
        ("=", NOBODY, "not decided"),
        (">", NOBODY, "not decided"),
        ("=", ALONE, "not decided"),  # one replication says nothing about its spread
    ],
)
def test_all_of_an_interval_lies_on_one_side(
    relation: Relation, value: Value, verdict: str
) -> None:
    other = around(1e9, 1.0) if relation != ">" else around(-1e9, 1.0)
    judged = judge(claim(relation), {"plain": value, "other": other})

    assert judged.verdict == verdict
    assert judged.ours == value


@pytest.mark.parametrize(
    ("relation", "value", "met"),
    [("=", 10.9, True), ("=", 11.1, False), (">", 10.1, True), (">", 10.0, False), ("<", 9, True)],
)
def test_what_is_computed_is_met_or_not(relation: Relation, value: float, met: bool) -> None:
    other = 1e9 if relation != ">" else -1e9
    judged = judge(claim(relation, by="model"), {"plain": float(value), "other": other})

    assert judged.verdict == ("met" if met else "not met")
    assert (judged.why == "") == met


def test_another_reading_is_named() -> None:
    judged = judge(claim(), {"plain": around(20.0, 0.1), "other": around(10.0, 0.1)})

    assert judged.verdict == "met with a named reading"
    assert judged.reading == "another reading"
    assert judged.ours == around(10.0, 0.1)
    assert "20" in judged.why


def test_an_item_that_was_not_made_is_not_one_that_fails() -> None:
    judged = judge(claim(), None)

    assert judged.verdict == "not made"
    assert judged.why == "airtcp reproduce M.fig1"
    assert tally([judged]) == "1 claims: 0 met, 0 met with a named reading, 0 not met, 1 not made"


@pytest.mark.parametrize(("by", "value"), [("simulation", 10.0), ("model", around(10.0, 0.1))])
def test_what_is_simulated_has_an_interval_and_nothing_else_has(by: By, value: Value) -> None:
    with pytest.raises(ValueError, match=r"M\.test: plain"):
        judge(claim(by=by), {"plain": value, "other": value})


def test_extremes_cover_what_each_interval_covers() -> None:
    some = [around(1.0, 0.3), around(0.9, 0.5), around(-2.0, 0.1)]

    assert most(some) == Interval(1.0, 0.7, 1.4, 5)
    assert least(some) == Interval(-2.0, -2.1, -1.9, 5)
    assert most([around(1.0, 0.3), ALONE]) == Interval(10.0, None, None, 1)


def test_distances_have_no_sign() -> None:
    assert magnitude(around(-2.0, 0.5)) == Interval(2.0, 1.5, 2.5, 5)
    assert magnitude(around(-0.5, 1.0)) == Interval(0.5, 0.0, 1.5, 5)
    # 1.5 to 2.5 are a quarter below and above 2.
    assert off(around(2.0, 0.5), 2.0) == Interval(0.0, 0.0, 0.25, 5)
    # 3 over 2 to 3 over 6, less 1.
    assert gap(3.0, around(4.0, 2.0)) == Interval(0.25, 0.0, 0.5, 5)
    assert changed(around(1.0, 0.5), lambda x: -x) == Interval(-1.0, -1.5, -0.5, 5)
    assert magnitude(NOBODY) == NOBODY


def test_claims_are_about_items() -> None:
    known = catalogue.items()
    for one in load_claims():
        assert one.item in known, one.id
        assert one.paper in catalogue.PAPERS, one.id
        assert one.paper == known[one.item].paper, one.id


def test_no_reading_changes_a_parameter() -> None:
    """Values of readings are of the same simulations: none is named after a key that is varied."""
    values = {reading.value for one in load_claims() for reading in one.readings}

    assert not [value for value in values if "rto" in value or "ns2" in value]
    assert len(load_claims()) >= 160


def test_each_paper_has_one_set_of_parameters() -> None:
    assert set(parameters()) == set(catalogue.PAPERS)


ENTRY = (
    '[[claims]]\nid="M.x"\nquantity="q"\nwhere="w"\nsays="s"\nreason="r"\nby="model"\n'
    'item="M.fig1"\nvalue="v"\nbound=1.0\n'
)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (ENTRY + 'relation="="\n', "tolerance"),
        (ENTRY + 'relation="<"\ntolerance=0.1\n', "tolerance"),
        (ENTRY + 'relation="~"\n', "relation"),
        (ENTRY.replace('"model"', '"magic"') + 'relation="<"\n', "by"),
        (ENTRY.replace('reason="r"', 'reason=" "') + 'relation="<"\n', "reason is empty"),
        (ENTRY.replace('reason="r"\n', "") + 'relation="<"\n', "reason"),
        (ENTRY.replace('says="s"\n', "") + 'relation="<"\n', "says"),
        (2 * (ENTRY + 'relation="<"\n'), "two claims"),
    ],
)
def test_a_claim_has_its_sentence_and_the_reason_of_its_bound(
    tmp_path: Path, text: str, wrong: str
) -> None:
    file = tmp_path / "claims.toml"
    file.write_text(text)

    with pytest.raises(ValueError, match=wrong):
        load_claims(file)

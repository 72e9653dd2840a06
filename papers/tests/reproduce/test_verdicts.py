"""Verdicts on the papers' claims: computed, and compared with the last reviewed state.

Investigate a changed verdict before editing `verdicts.toml`. Every test run makes cheap items, and
`make verify` makes all.
"""

import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
from airtcp_papers.common import catalogue
from airtcp_papers.common.bench import Settings
from airtcp_papers.common.claims import VERDICTS, Judgement, load_claims
from airtcp_papers.common.item import Item
from airtcp_papers.common.make import make, record_of
from airtcp_papers.common.pages import judgements, write_pages

#: A second or so each, one of every kind: a model, a table, a drawing, a simulation.
CHEAP = ("M.table1", "M.fig1", "M.fig7", "M.figA1", "M.figA2")

#: Maximum events of a quick item, and of all: less than one and ten minutes of CPU time, at 70 ns
#: each on a quiet machine, including solving, drawing and writing.
MOST_EVENTS, MOST_OF_ALL = 700_000_000, 7_000_000_000

EXPECTED: dict[str, list[str]] = tomllib.loads(
    (Path(__file__).parent / "verdicts.toml").read_text(encoding="utf-8")
)


def expected(claim: str) -> str:
    return next((verdict for verdict, claims in EXPECTED.items() if claim in claims), "met")


def check(judged: list[Judgement]) -> None:
    assert {one.claim.id: one.verdict for one in judged} == {
        one.claim.id: expected(one.claim.id) for one in judged
    }


def events_of(item: Item, out: Path) -> int:
    record = record_of(item, out)
    assert record is not None
    return int(record["events"])


def check_points_of_papers(items: Iterable[Item], out: Path) -> None:
    """An item marks the paper's points exactly if it draws some."""
    for item in items:
        record = record_of(item, out)
        assert record is not None
        drawn = any(str(row[0]).startswith("paper") for row in record["rows"] if row)
        assert drawn == bool(item.printed), item.name


def test_expectations_are_about_claims() -> None:
    known = {claim.id for claim in load_claims()}

    assert set(EXPECTED) <= set(VERDICTS)
    for claims in EXPECTED.values():
        assert set(claims) <= known


def test_claims_that_are_not_met_say_why() -> None:
    for claim in load_claims():
        if expected(claim.id) == "not met":
            assert len(claim.why) > 10, claim.id


def test_cheap_items_meet_what_they_met(tmp_path: Path) -> None:
    known = catalogue.items()
    made = make([known[name] for name in CHEAP], Settings(quick=True), tmp_path)
    write_pages(tmp_path)

    assert [one.how for one in made] == ["made"] * len(CHEAP)
    assert max(events_of(one.item, tmp_path) for one in made) < MOST_EVENTS / 10
    mine = [one for one in judgements(tmp_path) if one.claim.item in CHEAP]
    assert {one.claim.item for one in mine} >= {"M.fig1", "M.figA1", "M.figA2"}
    check(mine)
    check_points_of_papers((one.item for one in made), tmp_path)


@pytest.mark.verify
@pytest.mark.timeout(1800)
def test_all_items_meet_what_they_met(tmp_path: Path) -> None:
    """Like `airtcp reproduce all claims --quick`: each item is made, each claim has a value."""
    made = make(catalogue.items().values(), Settings(quick=True), tmp_path)
    pages = write_pages(tmp_path)

    # Without a testbed its items are not made, and no claim depends on them.
    others = [one for one in made if one.how != "made"]
    assert [one for one in others if one.how != "not made"] == []
    assert all(one.item.name.startswith("H.testbed-") for one in others)
    assert len(pages) == 1 + len(catalogue.SOURCES)
    events = {one.item.name: events_of(one.item, tmp_path) for one in made if one.how == "made"}
    assert {name: some for name, some in events.items() if some > MOST_EVENTS} == {}
    assert sum(events.values()) <= MOST_OF_ALL
    check(judgements(tmp_path))
    check_points_of_papers((one.item for one in made if one.how == "made"), tmp_path)

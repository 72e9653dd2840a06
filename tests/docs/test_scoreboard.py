"""The scoreboard says what the claims and the verdicts of the tests say."""

from types import ModuleType

import pytest
from airtcp.reproduce.catalogue import PAPERS
from airtcp.reproduce.claims import Claim, judge, load_claims
from airtcp.reproduce.make import value_of

TABLES = [
    "scoreboard",
    "claims",
    *(f"{kind}-{letter}" for kind in ("claims", "failures") for letter in PAPERS),
]


def test_the_tables_are_these(make_scoreboard: ModuleType) -> None:
    assert set(make_scoreboard.TABLES) == set(TABLES)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_up_to_date(make_scoreboard: ModuleType, name: str) -> None:
    page = make_scoreboard.TABLES[name][0].read_text(encoding="utf-8")

    assert make_scoreboard.with_table(name) == page, "run: python docs/make_scoreboard.py"


@pytest.mark.parametrize("claim", load_claims(), ids=lambda claim: claim.id)
def test_the_number_shown_has_the_verdict_shown(make_scoreboard: ModuleType, claim: Claim) -> None:
    """The number that is kept for the tables, judged again: of the reading, if it needed one."""
    kept = make_scoreboard.numbers()[claim.id]
    readings = {reading.name: reading.value for reading in claim.readings}
    shown = value_of(kept["ours"])
    # One value is kept; where the plain one fails, readings are taken to fail as it does.
    values = dict.fromkeys((claim.value, *readings.values()), shown)
    verdict = judge(claim, values).verdict
    if kept["reading"] is not None:
        assert kept["reading"] in readings
        verdict = "met with a named reading" if verdict == "met" else verdict

    assert make_scoreboard.verdict(claim) == verdict

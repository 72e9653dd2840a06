"""The numbers of the scoreboard have the verdicts that the tests hold the claims to."""

import tomllib
from pathlib import Path

import make_scoreboard
import pytest
from airtcp.reproduce.claims import Judgement

EXPECTED: dict[str, list[str]] = tomllib.loads(
    (Path(__file__).parents[1] / "reproduce" / "verdicts.toml").read_text("utf-8")
)


@pytest.mark.parametrize("one", make_scoreboard.judged(), ids=lambda one: one.claim.id)
def test_the_number_shown_has_the_verdict_shown(one: Judgement) -> None:
    expected = (word for word, claims in EXPECTED.items() if one.claim.id in claims)

    assert one.verdict == next(expected, "met")

"""The numbers of the scoreboard have the verdicts that the tests hold the claims to."""

import make_scoreboard
import pytest
from airtcp.reproduce.claims import Claim, judge, load_claims
from airtcp.reproduce.make import value_of


@pytest.mark.parametrize("claim", load_claims(), ids=lambda claim: claim.id)
def test_the_number_shown_has_the_verdict_shown(claim: Claim) -> None:
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

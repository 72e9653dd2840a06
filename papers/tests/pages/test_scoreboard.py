"""The numbers of the scoreboard have the verdicts that the tests expect of the claims."""

import csv
import tomllib
from pathlib import Path

import make_scoreboard
import pytest
from airtcp_papers.common.catalogue import PAPERS
from airtcp_papers.common.claims import Judgement, load_claims
from airtcp_papers.common.scoreboard import command_of, long_runs

ROOT = Path(__file__).parents[3]
VERDICTS = ROOT / "papers" / "tests" / "reproduce"
EXPECTED: dict[str, list[str]] = tomllib.loads((VERDICTS / "verdicts.toml").read_text("utf-8"))
LONG: dict[str, dict[str, list[str]]] = tomllib.loads(
    (VERDICTS / "verdicts-long.toml").read_text("utf-8")
)


@pytest.mark.parametrize("one", make_scoreboard.judged(), ids=lambda one: one.claim.id)
def test_the_number_shown_has_the_verdict_shown(one: Judgement) -> None:
    command = command_of(one.claim.id)
    held = EXPECTED if command is None else LONG[command]
    expected = (word for word, claims in held.items() if one.claim.id in claims)

    assert one.verdict == next(expected, "met")


def test_longer_runs_are_of_whole_items_and_their_commands_make_them() -> None:
    runs = long_runs()

    assert set(runs) == set(LONG)
    for command, kept in runs.items():
        item = command.removeprefix("airtcp reproduce ")
        assert set(kept) == {claim.id for claim in load_claims() if claim.item == item}
        shown = [one for one in make_scoreboard.judged() if one.claim.id in kept]
        assert all(f"(`{command}`)" in make_scoreboard.ours(one) for one in shown)


@pytest.mark.parametrize("letter", PAPERS)
def test_each_claim_stands_beside_its_statement(letter: str) -> None:
    _, _, *rows = make_scoreboard.statements(letter).splitlines()
    named = [name for row in rows for name in row.split(" | ")[-2].split(", ")]

    assert sorted(named) == sorted(one.id for one in load_claims() if one.paper == letter)
    assert f"| {letter} | " in make_scoreboard.scoreboard()
    assert f" | {len(named)} | {len(rows)} | " in make_scoreboard.scoreboard()


def test_at_most_five_causes_are_not_shown() -> None:
    failed = [one for one in make_scoreboard.judged() if one.verdict == "not met"]

    assert len(failed) > 20
    assert len([one.claim.id for one in failed if not one.cause]) <= 5


def test_what_is_at_its_bound_says_why() -> None:
    undecided = [one for one in make_scoreboard.judged() if one.verdict == "at the bound"]

    assert undecided
    assert [one.claim.id for one in undecided if not one.claim.why] == []


def test_the_cause_of_the_collisions_is_what_ns2_has_nearby() -> None:
    """M.collisions-downloads: the cause is the real ns-2 with stations at 10 m, not the window."""
    rows = csv.DictReader((ROOT / "validation/ns2/near.csv").read_text("utf-8").splitlines())
    near = {
        row["parameters"]: float(row["mean"])
        for row in rows
        if row["metric"] == "collision_probability"
    }
    judged = {one.claim.id: one for one in make_scoreboard.judged()}["M.collisions-downloads"]
    told = [f"{near[f'nc={n} W=1 d=1 r=10m']:.3f}" for n in (5, 10, 20)]

    assert f"{told[0]}, {told[1]} and {told[2]}" in judged.about
    assert f"{near['nc=5 W=1000 d=1 r=10m']:.3f} at 10 m with W*" in judged.about
    assert all(abs(float(one) - judged.claim.bound) < judged.claim.tolerance for one in told)

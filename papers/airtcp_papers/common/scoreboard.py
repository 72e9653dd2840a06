"""The scoreboard: each figure and table of the papers, and the verdicts on its claims.

The latest numbers of all claims are in `claims.json` (quick runs) and `claims-long.json` (longer
runs, by command), and small pictures of all figures in `pictures`, so the scoreboard is whole
before anything is made.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from airtcp_papers.common.claims import REPORTED, VERDICTS, Judgement, Verdict, judge, load_claims
from airtcp_papers.common.item import Item
from airtcp_papers.common.make import value_of
from airtcp_papers.common.measure import words

QUICK: Final = Path(__file__).parent / "claims.json"
LONG: Final = Path(__file__).parent / "claims-long.json"
#: Small pictures of the figures, as `docs/make_scoreboard.py --pictures` made them.
PICTURES: Final = Path(__file__).parent / "pictures"
#: The end of a sentence, but not of an abbreviation.
_END: Final = re.compile(r"(?<!Fig)(?<!Figs)(?<!al)\. ")
#: Longest reason of a row, characters.
_LINE: Final = 200
#: Width of a thumbnail, pixels, and its colors.
_WIDTH: Final = 180
_COLORS: Final = 64


@cache
def numbers() -> Mapping[str, Mapping[str, Any]]:
    """Return the values of each claim from quick runs, by its id and by their names in its item."""
    kept: Mapping[str, Mapping[str, Any]] = json.loads(QUICK.read_text("utf-8"))
    return kept


@cache
def long_runs() -> Mapping[str, Mapping[str, Any]]:
    """Return the values of claims from longer runs, by the command of each run."""
    kept: Mapping[str, Mapping[str, Any]] = json.loads(LONG.read_text("utf-8"))
    return kept


def command_of(claim: str) -> str | None:
    """Return the command of the longer run that decides a claim; None if a quick run does."""
    return next((command for command, claims in long_runs().items() if claim in claims), None)


def _values(claim: str) -> Mapping[str, Any]:
    command = command_of(claim)
    values: Mapping[str, Any] = (
        numbers().get(claim, {}) if command is None else long_runs()[command][claim]
    )
    return values


@cache
def kept() -> tuple[Judgement, ...]:
    """Return the verdict on every claim from the kept numbers."""
    return tuple(
        judge(claim, {name: value_of(value) for name, value in _values(claim.id).items()})
        for claim in load_claims()
    )


def with_kept(judgements: Iterable[Judgement]) -> list[Judgement]:
    """Return judgements; those whose items were not made use the stored numbers."""
    known = {one.claim.id: one for one in kept()}
    return [known[one.claim.id] if one.verdict == "not made" else one for one in judgements]


@dataclass(frozen=True, slots=True)
class Row:
    """A figure or table, the verdicts on its claims by id, and a line that says why."""

    item: Item
    verdicts: Mapping[str, Verdict]
    line: str

    @property
    def counts(self) -> dict[Verdict, int]:
        """The number of claims per verdict, without verdicts that no claim has."""
        told = list(self.verdicts.values())
        return {verdict: told.count(verdict) for verdict in VERDICTS if verdict in told}

    def named(self, verdict: Verdict) -> list[str]:
        """Return the claims with a verdict."""
        return [claim for claim, one in self.verdicts.items() if one == verdict]


def rows(items: Iterable[Item], judgements: Sequence[Judgement]) -> list[Row]:
    """Return a row for each item, in order."""
    found = []
    for item in items:
        mine = [one for one in judgements if one.claim.item == item.name]
        found.append(Row(item, {one.claim.id: one.verdict for one in mine}, _line(mine)))
    return found


def _line(mine: Sequence[Judgement]) -> str:
    """Return why the worst claim is not simply met, or the first number; "" without a claim."""
    if not mine:
        return ""
    worst = min(mine, key=lambda one: REPORTED.index(one.verdict))
    claim = worst.claim
    if worst.verdict == "met":
        first = mine[0]
        ours = "" if first.ours is None else words(first.ours, first.claim.unit)
        return _short(f"{first.claim.quantity}: {ours} (paper: {first.claim.states})")
    why = worst.reading or worst.why or worst.about
    return _short(f"{claim.id.partition('.')[2]}: {why}")


def _short(text: str) -> str:
    """Return the text up to the end of its first sentence, or cut at a word."""
    first = _END.split(text)[0].rstrip(".")
    if len(first) <= _LINE:
        return first
    return first[:_LINE].rsplit(" ", 1)[0] + " ..."


def picture(item: Item) -> bytes | None:
    """Return the small picture of a figure that airtcp has, as PNG; None for a table."""
    file = PICTURES / f"{item.name}.png"
    return file.read_bytes() if file.exists() else None


def thumbnail(png: bytes) -> bytes:
    """Return a small picture of a figure, as PNG."""
    from PIL import Image

    with Image.open(io.BytesIO(png)) as whole, io.BytesIO() as file:
        height = round(whole.height * _WIDTH / whole.width)
        small = whole.convert("RGB").resize((_WIDTH, height), Image.Resampling.LANCZOS)
        small.quantize(_COLORS).save(file, format="PNG", optimize=True)
        return file.getvalue()

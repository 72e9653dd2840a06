"""Make the scoreboard of README.md and the failures on each paper's page, which are stored.

Knows the claims, the verdicts that the tests hold them to, and the numbers that were found when
they were last looked at (docs/claims.json). The tables of all claims are built from these with the
documentation. Makes no item: `make verify` does, and compares each verdict.

    .venv/bin/airtcp reproduce all claims --quick --json > FILE
    .venv/bin/python docs/make_scoreboard.py FILE   # keeps the numbers of that run
    .venv/bin/python docs/make_scoreboard.py        # takes those that are kept
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import tables
from airtcp.reproduce.catalogue import PAPERS, items
from airtcp.reproduce.claims import VERDICTS, Claim, load_claims
from airtcp.reproduce.measure import words
from airtcp.stats import Interval

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
EXPECTED = tomllib.loads((ROOT / "tests" / "reproduce" / "verdicts.toml").read_text("utf-8"))
#: What a claim can be when its item is made.
JUDGED = VERDICTS[:4]


#: Digits of a number that are kept: more than are shown.
DIGITS = 6


@cache
def numbers() -> Mapping[str, Mapping[str, Any]]:
    """Reads our number for each claim, by its id: `ours`, and the `reading` if one was needed."""
    kept: Mapping[str, Mapping[str, Any]] = json.loads((DOCS / "claims.json").read_text("utf-8"))
    return kept


def keep(answer: Path) -> None:
    """Keeps the numbers that `airtcp reproduce all claims --json` printed, one claim a line."""
    lines = []
    for one in json.loads(answer.read_text("utf-8")):
        found = {"ours": _rounded(one["ours"]), "reading": one["reading"]}
        lines.append(f"{json.dumps(one['id'])}: {json.dumps(found)}")
    (DOCS / "claims.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in value.items()}
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def verdict(claim: Claim) -> str:
    """Looks up the verdict that the tests hold the claim to."""
    return next((word for word, claims in EXPECTED.items() if claim.id in claims), VERDICTS[0])


def ours(claim: Claim) -> str:
    """Shows our number for a claim, with its interval."""
    kept = numbers()[claim.id]["ours"]
    return words(Interval(**kept) if isinstance(kept, dict) else kept, claim.unit)


def scoreboard() -> str:
    """Counts the items, the claims and the verdicts of each paper."""
    claims, known = load_claims(), items()
    counts = {}
    for letter in PAPERS:
        mine = [verdict(claim) for claim in claims if claim.paper == letter]
        made = sum(item.paper == letter for item in known.values())
        counts[letter] = [made, len(mine), *(mine.count(word) for word in JUDGED)]
    counts["all"] = [sum(column) for column in zip(*counts.values(), strict=True)]
    rows = [[letter, *counted] for letter, counted in counts.items()]
    return _table(["paper", "figures and tables", "claims", *JUDGED], rows)


def exceptions() -> str:
    """Lists the claims that are not simply met, with the reading that meets one, or the reason."""
    rows = []
    for claim in load_claims():
        word = verdict(claim)
        if word == VERDICTS[0]:
            continue
        how = f"**{word}**: {claim.why}" if claim.why else f"**{word}**"
        if word == VERDICTS[1]:
            how = numbers()[claim.id]["reading"]
        what = f"{claim.quantity} ({claim.where}: {claim.says})"
        rows.append([claim.id, what, claim.states, ours(claim), how])
    return _table(["claim", "what", "the paper", "ours", "met with this reading, or why not"], rows)


def every_claim(letter: str) -> str:
    """Lists the claims of a paper."""
    rows = [
        [
            claim.id,
            f"{claim.says} ({claim.where})",
            claim.quantity,
            f"{claim.states}: {claim.reason}",
            ours(claim),
            verdict(claim),
        ]
        for claim in load_claims()
        if claim.paper == letter
    ]
    head = ["claim", "the paper says", "what is judged", "bound, and why", "ours", "verdict"]
    return _table(head, rows)


def failures(letter: str) -> str:
    """Lists the statements of a paper that do not come out, and the reasons."""
    lines = []
    for claim in load_claims():
        word = verdict(claim)
        if claim.paper != letter or word not in VERDICTS[2:4]:
            continue
        end = f" {claim.why}" if claim.why else ""
        lines.append(
            f"- **{claim.id}**, {word}: {claim.says} ({claim.where}). {_capital(claim.quantity)}: "
            f"{claim.states} is wanted, {ours(claim)} comes out.{end}"
        )
    return _escaped("\n".join(lines))


README = ROOT / "README.md"
#: The stored tables, and the page of each.
TABLES: Mapping[str, Callable[[], str]] = {
    "scoreboard": scoreboard,
    **{f"failures-{letter}": partial(failures, letter) for letter in PAPERS},
}
PAGES = {name: DOCS / f"paper-{name[-1].lower()}.md" for name in TABLES} | {"scoreboard": README}
#: The tables that are built with the documentation.
BUILT: Mapping[str, Callable[[], str]] = {
    "exceptions": exceptions,
    **{f"claims-{letter}": partial(every_claim, letter) for letter in PAPERS},
}


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _escaped(text: str) -> str:
    # An asterisk would begin emphasis: W* is a window here, m* a number of stations.
    return text.replace("W*", "W\\*").replace("m*", "m\\*")


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    # A bar would end a cell.
    cells = [[_escaped(str(cell).replace("|", "\\|")) for cell in row] for row in rows]
    return tables.markdown(head, cells)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        keep(Path(sys.argv[1]))
    for table, page in PAGES.items():
        tables.remake(page, TABLES, [table])

"""Make the scoreboard of README.md and docs/reproduce.md: how many claims of the papers are met.

Knows the claims, the verdicts that the tests hold them to, and the markers between which the tables
stand. Makes no item: `make verify` does, and compares each verdict.

    .venv/bin/python docs/make_scoreboard.py
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

import tables
from airtcp.reproduce.catalogue import PAPERS, items
from airtcp.reproduce.claims import VERDICTS, Claim, load_claims

ROOT = Path(__file__).parents[1]
PAGES = {"scoreboard": ROOT / "README.md", "claims": ROOT / "docs" / "reproduce.md"}
EXPECTED = tomllib.loads((ROOT / "tests" / "reproduce" / "verdicts.toml").read_text("utf-8"))


def verdict(claim: Claim) -> str:
    """What the tests hold the claim to."""
    return next((word for word, claims in EXPECTED.items() if claim.id in claims), VERDICTS[0])


def scoreboard() -> str:
    """A row for each paper: how many items, how many claims, how many with each verdict."""
    claims, known = load_claims(), items()
    rows = []
    for letter in PAPERS:
        mine = [verdict(claim) for claim in claims if claim.paper == letter]
        made = sum(item.paper == letter for item in known.values())
        rows.append([letter, made, len(mine), *(mine.count(word) for word in VERDICTS)])
    rows.append(["all", *(sum(row[column] for row in rows) for column in range(1, 6))])
    return _table(["paper", "figures and tables", "claims", *VERDICTS], rows)


def exceptions() -> str:
    """A row for each claim that is not simply met, and how it is read or why it is not."""
    rows = []
    for claim in load_claims():
        if verdict(claim) == VERDICTS[1]:
            how = "; or ".join(reading.name for reading in claim.readings)
            rows.append([claim.id, f"{claim.quantity} ({claim.where})", claim.states, how])
        elif verdict(claim) == VERDICTS[2]:
            why = f"**not met**: {claim.why}"
            rows.append([claim.id, f"{claim.quantity} ({claim.where})", claim.states, why])
    return _table(["claim", "what", "the paper", "met with this reading, or why not"], rows)


TABLES = {"scoreboard": scoreboard, "claims": exceptions}


def with_table(name: str) -> str:
    """The page of that table with the table made anew."""
    return tables.put(PAGES[name].read_text(encoding="utf-8"), name, TABLES[name]())


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    # A bar would end a cell, an asterisk begin emphasis: W* is a window here.
    cells = [[str(cell).replace("|", "\\|").replace("W*", "W\\*") for cell in row] for row in rows]
    return tables.markdown(head, cells)


if __name__ == "__main__":
    for table, page in PAGES.items():
        page.write_text(with_table(table), encoding="utf-8")

"""Make the scoreboard of the papers, the tables of their figures, and the claim files.

Judges the numbers that were stored when the claims were last reviewed (claims.json in
airtcp_papers); tests compare the verdicts with the expected ones. Numbers of items that
need longer runs are stored separately by command (claims-long.json), and have priority.
Computes no item; `make verify` does.

    .venv/bin/airtcp reproduce all claims --quick --json > FILE
    .venv/bin/python docs/make_scoreboard.py FILE   # store its numbers
    airtcp reproduce H.fig1 --json > FILE
    .venv/bin/python docs/make_scoreboard.py FILE "airtcp reproduce H.fig1"   # a longer run
    .venv/bin/python docs/make_scoreboard.py --pictures out/reproduce   # makes thumbnails again
    .venv/bin/python docs/make_scoreboard.py        # uses the stored numbers
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import tables
from airtcp_papers.common.catalogue import PAPERS, items
from airtcp_papers.common.claims import (
    VERDICTS,
    Judgement,
    load_claims,
    load_rules,
    sentences,
)
from airtcp_papers.common.item import Item
from airtcp_papers.common.measure import words
from airtcp_papers.common.scoreboard import (
    LONG,
    PICTURES,
    QUICK,
    command_of,
    kept,
    long_runs,
    numbers,
    rows,
    thumbnail,
)

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
#: The verdicts of a claim whose item has been computed.
JUDGED = VERDICTS[:-1]
#: The heading of the claims whose tolerance was chosen after airtcp's number was known.
LATE = "claims with a late bound"


#: Spaces that make a column as wide as a thumbnail.
_WIDE = 30
#: Stored digits of a number: more than are shown.
DIGITS = 6


def keep(answer: Path) -> None:
    """Store the values printed by `airtcp reproduce all claims --json`, one claim per line.

    The file may also have the results of some items only. Values of other claims are not
    changed.
    """
    old = numbers()
    told = json.loads(answer.read_text("utf-8"))
    made = told["claims"] if isinstance(told, dict) else told
    new = {one["id"]: one["values"] for one in made}
    lines = []
    for claim in load_claims():
        values = new.get(claim.id) or old.get(claim.id, {})
        lines.append(f"{json.dumps(claim.id)}: {json.dumps(_rounded(values))}")
    QUICK.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    numbers.cache_clear()
    kept.cache_clear()


def keep_long(answer: Path, command: str) -> None:
    """Store the values of a longer run, by its command."""
    told = json.loads(answer.read_text("utf-8"))
    values = {one["id"]: _rounded(one["values"]) for one in told["claims"]}
    runs = {**long_runs(), command: values}
    shown = []
    for run, claims in sorted(runs.items()):
        lines = (f"{json.dumps(name)}: {json.dumps(some)}" for name, some in claims.items())
        shown.append(f"{json.dumps(run)}: {{\n" + ",\n".join(lines) + "\n}")
    LONG.write_text("{\n" + ",\n".join(shown) + "\n}\n", encoding="utf-8")
    long_runs.cache_clear()
    kept.cache_clear()


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in value.items()}
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def judged() -> Sequence[Judgement]:
    """Judge every claim by the stored values."""
    return kept()


def ours(one: Judgement) -> str:
    """Format airtcp's number for a claim, with its interval, and the command of a longer run."""
    if one.ours is None:
        return "–"
    command = command_of(one.claim.id)
    shown = words(one.ours, one.claim.unit)
    return shown if command is None else f"{shown} (`{command}`)"


def scoreboard() -> str:
    """Count the items, the claims, the statements and their verdicts of each paper."""
    known, counts = items(), {}
    for letter in PAPERS:
        mine = [one for one in judged() if one.claim.paper == letter]
        verdicts = sentences(mine)
        made = sum(item.paper == letter for item in known.values())
        told = (verdicts.count(word) for word in JUDGED)
        late = sum(one.claim.after_look for one in mine)
        counts[letter] = [made, len(mine), len(verdicts), *told, late]
    counts["all"] = [sum(column) for column in zip(*counts.values(), strict=True)]
    rows = [[letter, *counted] for letter, counted in counts.items()]
    return _table(["paper", "figures and tables", "claims", "statements", *JUDGED, LATE], rows)


def counts(letter: str) -> str:
    """Return how many statements of a paper have each verdict."""
    mine = [one for one in judged() if one.claim.paper == letter]
    verdicts = sentences(mine)
    told = (f"{verdicts.count(word)} {word}" for word in JUDGED if word in verdicts)
    file = f"[claims](../data/claims-{letter}.csv)"
    return f"Of {len(verdicts)} statements: {', '.join(told)} ({file})."


def matrix(letter: str, where: str = "../../papers") -> str:
    """List the figures and tables of a paper: thumbnail, verdicts, and a short reason.

    `where` is the path of the papers' folder from the page. Next to the code, the heading is wide,
    because Markdown renderers shrink pictures to it.
    """
    shown = []
    for row in rows([one for one in items().values() if one.paper == letter], judged()):
        name = row.item.name
        picture = PICTURES / f"{name}.png"
        place = picture.relative_to(ROOT / "papers").as_posix()
        small = f"![{name}]({where}/{place})" if picture.exists() else ""
        told = ", ".join(f"{count} {verdict}" for verdict, count in row.counts.items())
        shown.append([f"{named(row.item, where)} {row.item.title}", small, told, row.line])
    ours = f"ours{'&nbsp;' * _WIDE}" if where == "." else "ours"
    return _table(["figure or table", ours, "claims", "number or reason"], shown)


def named(item: Item, where: str) -> str:
    """Return the name of an item; on the page next to the code, with a link."""
    code = item.make.__module__.replace(".", "/")
    return f"[{item.name}]({code}.py)" if where == "." else f"`{item.name}`"


def keep_pictures(out: Path) -> None:
    """Make the thumbnails of the items in `out`."""
    PICTURES.mkdir(exist_ok=True)
    for item in items().values():
        whole = out / item.paper / f"{item.stem}.png"
        if item.paper in PAPERS and whole.exists():
            (PICTURES / f"{item.name}.png").write_bytes(thumbnail(whole.read_bytes()))


def rules() -> str:
    """List the sets of rules for claims."""
    rows = [
        [one.name, one.uses, f"{'fitted: ' if one.fitted else ''}{one.why}"]
        for one in load_rules().values()
    ]
    return _table(["rules", "hold", "for"], rows)


def every_claim(letter: str) -> str:
    """List the claims of a paper."""
    rows = [
        [
            one.claim.id,
            f"{one.claim.says} ({one.claim.where})",
            one.claim.quantity,
            f"{one.claim.states}: {one.claim.reason}"
            f"{' (chosen after a look at our number)' if one.claim.after_look else ''}",
            one.claim.made_with,
            ours(one),
            one.verdict,
            "" if one.verdict == VERDICTS[0] else one.about,
        ]
        for one in judged()
        if one.claim.paper == letter
    ]
    head = ["claim", "the paper says", "what is judged", "bound, and why", "made with", "ours"]
    return _table([*head, "verdict", "reading, or reason"], rows)


def statements(letter: str) -> str:
    """List each statement of a paper once, with its claims and its verdict."""
    found: dict[tuple[str, str, str], list[Judgement]] = {}
    for one in judged():
        if one.claim.paper == letter:
            found.setdefault(one.claim.sentence, []).append(one)
    rows = [
        [where, says, ", ".join(one.claim.id for one in some), *sentences(some)]
        for (_, where, says), some in found.items()
    ]
    return _table(["where", "the paper says", "claims", "verdict"], rows)


PAPERS_PAGES = DOCS / "papers"
INDEX = PAPERS_PAGES / "index.md"
CLAIMS = PAPERS_PAGES / "claims.md"
REPRODUCE = PAPERS_PAGES / "reproduce.md"
#: All figures and tables on one page, next to the code.
BOARD = ROOT / "papers" / "SCOREBOARD.md"
#: The tables, and each one's page.
PLACED: Mapping[str, tuple[Callable[[], str], Path]] = {
    "scoreboard": (scoreboard, INDEX),
    "totals": (scoreboard, BOARD),
    "claim-rules": (rules, REPRODUCE),
    **{
        f"{name}-{letter}": (partial(make, letter), page)
        for letter in PAPERS
        for name, make, page in (
            ("counts", counts, PAPERS_PAGES / f"paper-{letter.lower()}.md"),
            ("matrix", matrix, PAPERS_PAGES / f"paper-{letter.lower()}.md"),
            ("board", partial(matrix, where="."), BOARD),
            ("claims", every_claim, CLAIMS),
            ("statements", statements, CLAIMS),
        )
    },
}
TABLES: Mapping[str, Callable[[], str]] = {name: make for name, (make, _) in PLACED.items()}
PAGES: Mapping[str, Path] = {name: page for name, (_, page) in PLACED.items()}


def _escaped(text: str) -> str:
    # An asterisk would begin emphasis: W* is a window here, m* a number of stations.
    return text.replace("W*", "W\\*").replace("m*", "m\\*")


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    # A bar would end a cell.
    cells = [[_escaped(str(cell).replace("|", "\\|")) for cell in row] for row in rows]
    return tables.markdown(head, cells)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--pictures"]:
        keep_pictures(Path(sys.argv[2]))
    elif len(sys.argv) > 2:
        keep_long(Path(sys.argv[1]), sys.argv[2])
    elif len(sys.argv) > 1:
        keep(Path(sys.argv[1]))
    for table, page in PAGES.items():
        tables.remake(page, TABLES, [table])

"""The Papers view of the web page: the questions of its script, and its runs."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

from airtcp.exceptions import QuestionError
from airtcp.extensions import Question, Tell, View
from pydantic import BaseModel, ConfigDict, Field

_Word = Annotated[str, Field(min_length=1, max_length=200)]


class Nothing(BaseModel):
    """A question without parameters."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Figure(BaseModel):
    """A figure of a paper, and its parameters by name."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    item: _Word
    values: dict[_Word, Annotated[float, Field(allow_inf_nan=False)]] = Field(
        default_factory=dict, max_length=20
    )


def _papers(body: Mapping[str, Any], uploads: Path) -> dict[str, Any]:
    """Return all items that can be reproduced, and which of them have sliders."""
    from airtcp_papers.common.catalogue import SOURCES, items
    from airtcp_papers.common.scoreboard import kept, picture, rows
    from airtcp_papers.common.view import catalogue

    board = {row.item.name: row for row in rows(items().values(), kept())}

    listed = [
        {
            "item": one.name,
            "paper": one.paper,
            "title": one.title,
            "caption": f"{one.caption} {one.printed}".rstrip(),
            "states": one.states,
            "still": one.still,
            "verdicts": board[one.name].counts,
            "line": board[one.name].line,
            "picture": base64.b64encode(picture(one) or b"").decode(),
        }
        for one in items().values()
    ]
    cited = [
        {"paper": letter, "heading": paper.heading, "citation": paper.citation}
        for letter, paper in SOURCES.items()
    ]
    return {"figures": catalogue(), "items": listed, "papers": cited}


def _figure(body: Mapping[str, Any], uploads: Path) -> dict[str, Any]:
    from airtcp_papers.common.view import figure

    asked = Figure.model_validate(body)
    return figure(asked.item, asked.values)


def _reproduce(names: Sequence[str], tell: Tell) -> None:
    """Reproduce a figure or table of a paper as `airtcp reproduce --quick` does."""
    from airtcp.present import drawing

    from airtcp_papers.common.bench import Bench, Settings
    from airtcp_papers.common.catalogue import SOURCES, items
    from airtcp_papers.common.view import points

    known = items()
    if len(names) != 1 or names[0] not in known:
        raise QuestionError("there is no such figure or table; allowed: one of airtcp reproduce")
    item = known[names[0]]
    with tempfile.TemporaryDirectory() as store:
        bench = Bench(
            folder=SOURCES[item.paper].folder,
            store=Path(store),
            settings=Settings(quick=True),
            on_run=lambda part: tell({"progress": part}),
        )
        outcome = item.make(bench)
    rows = [["" if cell is None else cell for cell in row] for row in outcome.data.rows[:200]]
    tell(
        {
            "result": {
                "item": item.name,
                "found": outcome.found,
                "svg": None if outcome.figure is None else drawing.svg(outcome.figure),
                "head": list(outcome.data.columns),
                "rows": rows,
                "points": points(item.name, outcome),
            }
        }
    )


PAPERS: Final = View(
    "papers",
    "Papers",
    Path(__file__).parent / "static" / "papers.js",
    questions={"papers": Question(Nothing, _papers), "figure": Question(Figure, _figure)},
    runs={"figure": _reproduce},
)

"""Sentences of `messages/*.toml`: each is used, and gets the quantities that its template names."""

import ast
import pickle
import re
import string
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.phrases import Phrase, phrase

ROOT = Path(airtcp.__file__).parent
OF_ALL = re.compile(r"^from (airtcp|\.\.)\.?phrases import .*phrase", re.MULTILINE)
ROOMS = sorted(path.stem for path in (ROOT / "messages").glob("*.toml"))


def templates(table: dict[str, Any], above: str) -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from templates(value, f"{above}.{name}")
        else:
            yield f"{above}.{name}", value


def identifiers(given: ast.expr) -> Iterator[str]:
    """The identifiers that an argument may be, with * for a part known only when it runs."""
    if isinstance(given, ast.IfExp):
        yield from (*identifiers(given.body), *identifiers(given.orelse))
        return
    parts = given.values if isinstance(given, ast.JoinedStr) else [given]
    yield "".join(str(one.value) if isinstance(one, ast.Constant) else "*" for one in parts)


def calls() -> Iterator[tuple[str, str, set[str | None]]]:
    """Place, identifier and quantities of each use. A room's own `phrase` adds its name."""
    for path in sorted(ROOT.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        above = "" if OF_ALL.search(source) else f"{path.relative_to(ROOT).parts[0]}."
        for node in ast.walk(ast.parse(source)):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
                continue
            if node.func.id in ("phrase", "invalid"):
                own, place = ("scenario.", 1) if node.func.id == "invalid" else (above, 0)
                for name in identifiers(node.args[place]):
                    where = f"{path.name}:{node.lineno}"
                    yield where, own + name, {one.arg for one in node.keywords}


def test_each_sentence_is_used_with_the_quantities_that_it_names() -> None:
    known = {
        name: {field for _, field, _, _ in string.Formatter().parse(text) if field is not None}
        for room in ROOMS
        for name, text in templates(
            tomllib.loads((ROOT / "messages" / f"{room}.toml").read_text("utf-8")), room
        )
    }
    used: set[str] = set()
    for where, name, given in calls():
        if "*" not in name:
            assert name in known, where
            assert known[name] == given or None in given, (where, name)
        used |= {one for one in known if Path(one).match(name)}
    assert set(known) - used == set()


def test_a_sentence_knows_its_identifier_and_its_numbers_in_another_process_too() -> None:
    said = phrase("scenario.queue.thresholds", low=30, high=20)

    assert (
        said == "min_threshold is 30 and max_threshold 20; allowed: min_threshold < max_threshold"
    )
    again = pickle.loads(pickle.dumps(said))
    assert isinstance(again, Phrase)
    assert (again, again.id) == (said, "scenario.queue.thresholds")
    assert again.values["low"] == 30


def test_a_quantity_is_written_with_its_unit() -> None:
    said = phrase("scenario.phy.eifs", eifs=50_000, difs=60_000)

    assert said.startswith("is 50 us, and DIFS is 60 us")


@pytest.mark.parametrize("room", ROOMS)
def test_a_sentence_has_no_empty_ends(room: str) -> None:
    texts = tomllib.loads((ROOT / "messages" / f"{room}.toml").read_text("utf-8"))
    assert [name for name, text in templates(texts, room) if not text.strip()] == []

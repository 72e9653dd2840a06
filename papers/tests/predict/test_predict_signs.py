"""A simulation checks each sentence about a broken assumption that states a sign or a size.

`signs` has tables of rows by mechanism. A row is a scenario whose model breaks an assumption in
`words`. The model's error, its value less the simulated mean in per cent of that, lies between
`low` and `high`. If other effects in the scenario are larger, `base` has the changes for a scenario
without this effect, and the difference of both errors is compared. `source` begins the name of the
model, `metric` is goodput by default; the other keys are the parameters of `text_of`. Texts that
several rows use are in `names`.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import airtcp
import airtcp_papers
import pytest
from airtcp import predict, simulate
from airtcp.predict.cards import cards
from airtcp.scenario import loads
from airtcp_papers.common.cards import EFFECTS

CARDS = cards()
PAPERS = Path(airtcp_papers.__file__).parent

TABLES = Path(__file__).parent / "signs"
#: Rows with at least this many simulated seconds are slow.
LONG_S = 5000


def text_of(
    stations: int,
    standard: str = "802.11b",
    *,
    direction: str = "download",
    application: str = '{ kind = "bulk" }',
    phy: str = "",
    top: str = "",
    group: str = "",
    window: int = 0,
    every: int = 2,
    tcp: str = "",
    path: str = "",
    also: str = "",
    run: tuple[int, int, int] = (5, 20, 3),
) -> str:
    """Return a scenario with this number of stations and a flow for each.

    `phy`, `group` and `top` add to [phy], to the stations, and tables before them; `also` adds
    tables after the flow. A `window` of segments, if given, has an ACK for `every` few of them.
    `run` has warm-up and duration in seconds, and replications.
    """
    own = [f"receive_window = {{ segments = {window} }}"] if window else []
    own += [f"delayed_ack = {{ every = {every} }}"] if window else []
    own += [tcp] if tcp else []
    lines = ["[phy]", f'standard = "{standard}"', phy, top]
    lines += ["[[stations]]", 'name = "sta"', f"count = {stations}", group]
    lines += ["[[flows]]", 'stations = "sta"', f'direction = "{direction}"']
    lines += [f"application = {application}", f"path = [{path}]" if path else ""]
    lines += [f"tcp = {{ {', '.join(own)} }}" if own else "", also]
    warmup, duration, replications = run
    lines += ["[run]", f'warmup = "{warmup} s"', f'duration = "{duration} s"', "seed = 1"]
    return "\n".join([*lines, f"replications = {replications}", ""])


@dataclass(frozen=True)
class Held:
    """A row, with `scenario` and `base` (if it has one) as texts."""

    scenario: str
    words: str
    low: float
    high: float
    source: str
    metric: str
    base: str | None
    slow: bool


def held(row: dict[str, Any], names: dict[str, str]) -> Held:
    """Return a row of a table, with `names` replaced by their texts."""

    def named(value: Any) -> Any:
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return "\n".join(map(named, value))
        return names.get(value, value) if isinstance(value, str) else value

    own = dict(row)
    words, low, high = own.pop("words"), own.pop("low"), own.pop("high")
    source, metric = own.pop("source", ""), own.pop("metric", "goodput_bps")
    changed = own.pop("base", None)
    cell = {key: named(value) for key, value in own.items()}
    base = None
    if changed is not None:
        base = text_of(**{**cell, **{key: named(value) for key, value in changed.items()}})
    slow = cell.get("run", [0, 0, 0])[1] >= LONG_S
    return Held(text_of(**cell), words, low, high, source, metric, base, slow)


def tables() -> dict[str, Held]:
    """Return all rows by name."""
    rows: dict[str, Held] = {}
    for path in sorted(TABLES.glob("*.toml")):
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        more = {name: held(row, table.get("names", {})) for name, row in table["rows"].items()}
        assert not rows.keys() & more.keys(), "two rows have a name"
        rows |= more
    return rows


HELD = tables()


def off(text: str, held: Held) -> tuple[float, list[str]]:
    """Return the model's error in per cent, and its broken assumptions."""
    scenario = loads(text)
    entries = predict(scenario).model[held.metric]
    entries = [one for one in entries if one.source.startswith(held.source)]
    said = [one for one in entries if any(held.words in text for text in one.broken)]
    entry = (said or entries)[0]
    measured = simulate(scenario).metrics[held.metric].mean
    assert isinstance(entry.value, float)
    assert measured
    return 100.0 * (entry.value / measured - 1.0), entry.broken


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.verify] * row.slow) for name, row in HELD.items()],
)
def test_the_simulation_has_the_sign_and_the_size(name: str) -> None:
    row = HELD[name]

    error, broken = off(row.scenario, row)

    assert any(row.words in text for text in broken), broken
    if row.base is not None:
        without, others = off(row.base, row)
        assert not any(row.words in text for text in others), others
        error -= without
    assert row.low <= error <= row.high


SIGN = re.compile(
    r"too (high|low|optimistic|pessimistic|frequent)|off by|by up to|\d %"
    r"|the effect is small|by little|a packet's time"
)


FIELD = re.compile(r"\{(\w+)[^}]*\}")


def sentences() -> Iterator[str]:
    """Yield all texts of `predict` with a sign or a size, without the inserted values.

    Regular expressions are not sentences, nor are the reasons on cards for keys that change
    nothing.
    """
    reasons = {reason for card in CARDS for reason in card.harmless.values()}
    messages = Path(airtcp.__file__).parent / "messages" / "predict.toml"
    for name, table in tomllib.loads(messages.read_text(encoding="utf-8")).items():
        if name != "effects":
            yield from (said for text in table.values() if SIGN.search(said := blank(text)))
    for path in sorted((*PAPERS.glob("*/predict.py"), *PAPERS.glob("*/predict/*.py"))):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        inner = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
        inner |= {id(v) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for v in n.values}
        calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
        inner |= {id(arg) for n in calls if is_pattern(n) for arg in n.args}
        for node in ast.walk(tree):
            # Shorter texts are inserted into sentences.
            if id(node) in inner or len(text := static(node)) <= 10 or text in reasons:
                continue
            if SIGN.search(text):
                yield text
    for path in sorted(PAPERS.glob("*/cards.toml")):
        for text in tomllib.loads(path.read_text(encoding="utf-8")).get("broken", {}).values():
            if SIGN.search(said := blank(text)):
                yield said


def blank(text: str) -> str:
    """Return a template without its fields, except for the effects that sentences share."""
    return FIELD.sub(lambda match: EFFECTS.get(match[1], "..."), text)


def is_pattern(node: ast.Call) -> bool:
    """Whether a call compiles a regular expression."""
    return ast.unparse(node.func) == "re.compile"


def static(node: ast.AST) -> str:
    """Return the text of a string, with the words that sentences share."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if not isinstance(node, ast.JoinedStr):
        return ""
    parts = (
        value.value if isinstance(value, ast.FormattedValue) else value for value in node.values
    )
    return "".join(
        EFFECTS.get(ast.unparse(one).removeprefix("wording."), "...")
        if isinstance(one, ast.Name | ast.Attribute)
        else static(one)
        if isinstance(one, ast.Constant)
        else "..."
        for one in parts
    )


def test_every_sentence_with_a_sign_or_a_size_is_held() -> None:
    """A row's words identify one sentence: the shortest that has them; all others contain it."""
    told = set(sentences())
    of_row = {row.words: [text for text in told if row.words in text] for row in HELD.values()}

    assert [words for words, texts in of_row.items() if not texts] == []
    shortest = {words: min(texts, key=len) for words, texts in of_row.items()}
    vague = {
        words: texts
        for words, texts in of_row.items()
        if not all(shortest[words] in text for text in texts)
    }
    assert vague == {}, "several sentences have these words"
    assert told - set(shortest.values()) == set(), "no simulation holds these: give each a row"

"""The sheets of the package: their texts, their questions, and the files that a student gets."""

from __future__ import annotations

import json
import os
import re
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airtcp.exceptions import OutputError, QuestionError
from airtcp.phrases import phrase
from airtcp.scenario.toml_text import option_value

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

#: The sheets in the order of the course.
NAMES: Final = ("dcf", "anomaly", "uploads", "bufferbloat", "aggregation", "capacity")
#: The expected form of an answer, by kind of question.
FORMS: Final = {
    "number": phrase("labs.sheet.number"),
    "factor": "a number",
    "choice": "one of the words",
    "most": "a whole number",
    "setting": phrase("labs.sheet.setting"),
}


@dataclass(frozen=True)
class Question:
    """A question: its text, and the runs that check an answer.

    `set` has the values of the run. A `factor` compares that run with the run of `against`. A
    `choice` has a run for each word in `options`; `want` says whether the highest or lowest metric
    is right. `most` is the largest number at `path` for which `holds` is met. A `setting` may
    change the keys in `allowed`.
    """

    kind: str
    text: str
    metric: str = ""
    of: str = ""
    within: float = 0.1
    set: Mapping[str, Any] = field(default_factory=dict)
    against: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    want: str = "highest"
    path: str = ""
    step: int = 1
    holds: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sheet:
    """A sheet: `text` is Markdown, `scenario` TOML."""

    name: str
    title: str
    text: str
    scenario: str
    questions: Mapping[str, Question]

    @property
    def answers(self) -> str:
        """The template of the file of answers."""
        lines = [
            f"# Answers to the lab sheet {self.name}: airtcp lab check {self.name}.answers.toml"
        ]
        for name, one in self.questions.items():
            lines += ["", f"# {name}. {one.text}", f"# Form: {FORMS[one.kind]}"]
            if one.options:
                lines.append(f"# One of: {', '.join(one.options)}")
            lines.append(f"# {name} = ")
        return "\n".join(lines) + "\n"


def sheets() -> tuple[Sheet, ...]:
    """Return all sheets, in the order of the course."""
    return tuple(map(sheet, NAMES))


def sheet(name: str) -> Sheet:
    """Return the sheet with a name. Raises QuestionError if there is none."""
    if name not in NAMES:
        raise QuestionError(phrase("labs.sheet.unknown", name=name, names=NAMES))
    text = (_directory() / f"{name}.md").read_text(encoding="utf-8")
    told = tomllib.loads((_directory() / f"{name}.questions.toml").read_text(encoding="utf-8"))
    questions = {key: _question(one) for key, one in told.items()}
    title = text.partition("\n")[0].removeprefix("# ")
    scenario = (_directory() / f"{name}.toml").read_text(encoding="utf-8")
    return Sheet(name, title, text, scenario, questions)


def _question(told: Mapping[str, Any]) -> Question:
    values: dict[str, Any] = {
        word: tuple(value) if isinstance(value, list) else value for word, value in told.items()
    }
    return Question(**values)


def write(name: str, to: Path | str = ".", *, force: bool = False) -> list[Path]:
    """Write a sheet, its scenario, its notebook and a file for answers into a directory.

    Raises QuestionError for an unknown sheet, OutputError if a file exists or cannot be written.
    `force` overwrites.
    """
    one, folder = sheet(name), Path(to)
    files = {
        f"{name}.md": one.text,
        f"{name}.toml": one.scenario,
        f"{name}.ipynb": notebook(one),
        f"{name}.answers.toml": one.answers,
    }
    there = [str(folder / file) for file in files if os.path.exists(folder / file)]
    if there and not force:
        raise OutputError(phrase("labs.sheet.exists", there=there))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(
            phrase("labs.sheet.cannot_write", folder=folder, why=error.strerror or error)
        ) from error
    return [folder / file for file in files]


def _directory() -> Traversable:
    from importlib import resources

    return resources.files("airtcp") / "labs"


_BLOCK: Final = re.compile(r"(?ms)^```sh\n(.*?)^```\n")


def notebook(of: Sheet) -> str:
    """Return the notebook as JSON (nbformat 4.5)."""
    cells = [_code("import airtcp\nimport airtcp.labs")]
    for number, part in enumerate(_BLOCK.split(of.text)):
        if number % 2:
            cells += [_code(call_of(line)) for line in part.splitlines()]
        elif part.strip():
            cells.append({"cell_type": "markdown", "metadata": {}, "source": part.strip()})
    text = (
        f'for one in airtcp.labs.check("{of.name}.answers.toml"):\n'
        "    print(one.question, one.state, one.why)"
    )
    cells.append(_code(text))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    data = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(data, indent=1, sort_keys=True) + "\n"


def _code(source: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": source,
    }


def call_of(line: str) -> str:
    """Return the Python call for a command. Raises ValueError for an unsupported command."""
    _, verb, file, *options = shlex.split(line)
    changes: dict[str, Any] = {}
    others: dict[str, str] = {}
    for name, value in zip(options[::2], options[1::2], strict=True):
        if name == "--set":
            path, _, text = value.partition("=")
            changes[path] = option_value(text)
        else:
            others[name] = value
    base = f"airtcp.load({file!r})"
    varied = f"{base}.vary({changes!r})" if changes else base
    if verb == "simulate" and not others:
        return f"airtcp.simulate({varied})"
    if verb == "diff" and not others:
        return f"airtcp.diff({base}, {varied})"
    if verb == "plan" and set(others) == {"--vary", "--until"}:
        return f"airtcp.plan({varied}, vary={others['--vary']!r}, until={others['--until']!r})"
    raise ValueError(phrase("labs.sheet.no_call", line=line))

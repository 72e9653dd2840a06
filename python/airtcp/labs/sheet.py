"""The sheets of the package: their texts, their questions, and the files that a student gets.

Knows files and the form of questions. Does not know how an answer is judged (`judge`).
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airtcp.exceptions import OutputError, QuestionError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

#: The sheets in the order of the course.
NAMES: Final = ("dcf", "anomaly", "uploads", "bufferbloat", "aggregation", "capacity")
#: Forms of answers, by the kind of their question.
FORMS: Final = {
    "number": 'a number with its unit, such as "12 Mb/s" or "30 ms"; shares as "5 %"',
    "factor": "a number",
    "choice": "one of the words",
    "most": "a whole number",
    "setting": "a list of settings, such as ['ap.queue={ discipline = \"codel\" }']",
}


@dataclass(frozen=True)
class Question:
    """A question: its text, and the runs by which an answer is judged.

    `set` has the values of the run; of a factor it stands over the run with `against`. `options` of
    a choice are such runs by word, of which the metric of one is `want`: the highest or the lowest.
    `most` is a number at `path` up to which `holds` does; a setting may change `allowed`.
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
        """The file of answers, to be filled in."""
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
    """The sheets, in the order of the course."""
    return tuple(map(sheet, NAMES))


def sheet(name: str) -> Sheet:
    """The sheet of a name. Raises QuestionError if there is none."""
    if name not in NAMES:
        raise QuestionError(f"there is no sheet {name!r}; allowed: {', '.join(NAMES)}")
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
    """Write a sheet, its scenario, its notebook and a file of answers into a directory.

    Raises QuestionError for a name that no sheet has, OutputError if a file is there or cannot be
    written; `force` overwrites.
    """
    from airtcp.labs.notebook import notebook

    one, folder = sheet(name), Path(to)
    files = {
        f"{name}.md": one.text,
        f"{name}.toml": one.scenario,
        f"{name}.ipynb": notebook(one),
        f"{name}.answers.toml": one.answers,
    }
    there = [str(folder / file) for file in files if os.path.exists(folder / file)]
    if there and not force:
        raise OutputError(f"{', '.join(there)}: already there; --force overwrites")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(f"cannot write to {folder}: {error.strerror or error}") from error
    return [folder / file for file in files]


def _directory() -> Traversable:
    from importlib import resources

    return resources.files("airtcp") / "labs"

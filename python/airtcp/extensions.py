"""Extensions: installed packages that add verbs, views of the page, and models.

A package declares entry points in these groups, and each entry point names an object:

- `airtcp.verbs`: a `Verb`, such as `airtcp reproduce`
- `airtcp.views`: a `View`, such as the page's Papers
- `airtcp.models`: `airtcp.predict.families.Models`, which `airtcp.predict` asks next to its own
- `airtcp.equations`: a module with equations, which becomes an attribute of `airtcp.models`

With `AIRTCP_EXTENSIONS=0` in the environment no extension is loaded. Algorithms for scenarios, such
as a congestion control, are plug-ins (`airtcp.plugins`).
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

__all__ = [
    "ANSWER",
    "EXPLORE",
    "PAPERS",
    "Question",
    "Tell",
    "Verb",
    "View",
    "equations",
    "loaded",
    "verbs",
    "views",
]

#: Groups of commands in `airtcp --help`.
ANSWER: Final = "Answer a question"
EXPLORE: Final = "Explore many scenarios"
PAPERS: Final = "Make papers again"

_SWITCH: Final = "AIRTCP_EXTENSIONS"

_Kind = TypeVar("_Kind")
#: Sends a message of a run to the page: `progress` from 0 to 1, or its `result`.
Tell = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Verb:
    """A command of `airtcp`: its name, the function that Typer calls, and its group in the help."""

    name: str
    run: Callable[..., None]
    group: str = EXPLORE


@dataclass(frozen=True, slots=True)
class Question:
    """A question that the page asks: the form of its body (a Pydantic model), and the answer.

    `answer` gets the body and the folder of uploaded files, and returns JSON.
    """

    body: type[Any]
    answer: Callable[[Mapping[str, Any], Path], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class View:
    """A view of the page: its name in links, its title, and its script.

    The script is an ES module that exports `view(app)`. It may import the scripts of the page,
    because the server serves both under the same path. `questions` has the questions that the
    script asks at `/api/NAME`. `runs` has kinds of runs, each a function of the names in its job
    and of `tell`.
    """

    name: str
    title: str
    script: Path
    questions: Mapping[str, Question] = field(default_factory=dict)
    runs: Mapping[str, Callable[[Sequence[str], Tell], None]] = field(default_factory=dict)


def verbs() -> tuple[Verb, ...]:
    """Return the verbs of all extensions, by name."""
    return loaded("airtcp.verbs", Verb)


def views() -> tuple[View, ...]:
    """Return the views of all extensions, by name."""
    return loaded("airtcp.views", View)


@cache
def equations() -> Mapping[str, str]:
    """Return the modules with equations that extensions add to `airtcp.models`, by name."""
    if os.environ.get(_SWITCH) == "0":
        return {}
    from importlib.metadata import entry_points

    return {one.name: one.value for one in entry_points(group="airtcp.equations")}


@cache
def loaded(group: str, kind: type[_Kind]) -> tuple[_Kind, ...]:
    """Return the objects of a group of entry points. One that fails is left out, with a warning."""
    if os.environ.get(_SWITCH) == "0":
        return ()
    from importlib.metadata import entry_points

    found = []
    for entry in sorted(entry_points(group=group), key=lambda one: one.name):
        try:
            one = entry.load()
            if not isinstance(one, kind):
                raise TypeError(f"{entry.value} is no {kind.__name__}")
        except Exception as error:
            warnings.warn(
                f"the extension {entry.name!r} ({group}) cannot be loaded and is left out: "
                f"{type(error).__name__}: {error}",
                RuntimeWarning,
                stacklevel=2,
            )
        else:
            found.append(one)
    return tuple(found)

"""The bodies of requests, validated by type and range before use.

Workers check the scenarios in them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from airtcp.exceptions import value_problem
from airtcp.extensions import views

_MOST_VALUES = 64
_MOST_CHANGES = 200
#: The kinds of runs, without the kinds that extensions add.
RUNS: Final = ("run", "points", "remedies", "plan", "timeline", "report")
#: The largest work of a quick simulation, as a multiple of the default: under a second.
MOST_TIMES = 9

_Text = Annotated[str, Field(max_length=1_000_000)]
_Word = Annotated[str, Field(min_length=1, max_length=200)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Source(_Body):
    """The origin of a scenario: an example or a text, with other values at some key paths.

    `stations` is the number of all stations, distributed among the groups in proportion after the
    changes. `files` maps file names in the scenario to identifiers of uploaded files.
    """

    example: _Word | None = None
    text: _Text | None = None
    changes: dict[_Word, Any] = Field(default_factory=dict, max_length=_MOST_CHANGES)
    stations: int | None = Field(default=None, ge=1, le=2007)
    files: dict[_Word, Annotated[str, Field(pattern="^[0-9a-f]{64}$")]] = Field(
        default_factory=dict, max_length=20
    )


class Ask(_Body):
    """A question about a scenario."""

    source: Source


def _as_name(name: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,59}", name) is None:
        raise PydanticCustomError(
            "name",
            "{name} is not a name; allowed: up to 60 letters, digits, _ and -, but no - in front",
            {"name": json.dumps(name[:80], ensure_ascii=False)},
        )
    return name


class Edit(_Body):
    """An edit: add, copy, remove or rename a group or flow, or set a key.

    `path` is the key path, or for `add` the table. `entry` is the new entry, `name` the new name,
    and `text` the value in the syntax of `--set`.
    """

    op: Literal["add", "copy", "remove", "rename", "set"]
    path: _Word
    entry: dict[_Word, Any] = Field(default_factory=dict, max_length=30)
    name: Annotated[str, AfterValidator(_as_name)] = "station"
    text: Annotated[str, Field(max_length=10_000)] = ""


class Restructure(_Body):
    """A request for the text of a scenario after an edit."""

    source: Source
    edit: Edit


class Search(_Body):
    """A search for keys of a scenario by words."""

    source: Source
    words: Annotated[str, Field(max_length=200)] = ""


class Typed(_Body):
    """A question about completions at a place: the text of a scenario before it."""

    before: _Text


class Curve(_Body):
    """A question about a scenario at several values of a key, or of the number of stations.

    With `times` a quick simulation answers at every value, with this work as in `airtcp.glance`;
    with 0 only where models do not answer.
    """

    source: Source
    axis: _Word
    times: int = Field(default=0, ge=0, le=MOST_TIMES)
    values: list[Any] = Field(min_length=1, max_length=_MOST_VALUES)


class Lights(_Body):
    """A question about targets, answered by a quick simulation with the work `times`."""

    source: Source
    times: int | None = Field(default=None, ge=1, le=MOST_TIMES)


class Choice(_Body):
    """The choices of a page of a store's picture; None if open."""

    name: _Word | None = None
    y: _Word | None = None
    x: _Word | None = None
    by: Annotated[str, Field(max_length=200)] | None = None
    kind: str = Field(default="line", max_length=20)
    where: dict[_Word, Any] = Field(default_factory=dict, max_length=20)


class Shown(_Body):
    """A question about stores, with the choices of the page."""

    asked: Choice = Choice()


class Look(_Body):
    """A picture of a store: a metric along an axis, with a line or a row per step of another axis.

    `where` selects steps of other axes; axes it does not mention are averaged.
    """

    store: _Word
    y: _Word
    x: _Word
    by: _Word | None = None
    kind: Literal["line", "heat"] = "line"
    where: dict[_Word, bool | int | float | _Word | None] = Field(
        default_factory=dict, max_length=20
    )


def _as_kind(name: str) -> str:
    known = [*RUNS, *(one for view in views() for one in view.runs)]
    if name not in known:
        raise PydanticCustomError("kind", "is unknown; allowed: {known}", {"known": _or(known)})
    return name


def _or(words: list[str]) -> str:
    quoted = [repr(word) for word in words]
    return " or ".join([", ".join(quoted[:-1]), quoted[-1]])


class Job(_Body):
    """A run. Which other fields are used depends on `kind`.

    `auto` marks a run that the page starts by itself; it gives way to runs that somebody requested.
    """

    kind: Annotated[str, AfterValidator(_as_kind)]
    source: Source = Source()
    axis: _Word | None = None
    values: list[Any] = Field(default_factory=list, max_length=_MOST_VALUES)
    names: list[_Word] = Field(default_factory=list, max_length=30)
    until: _Word | None = None
    begin_ms: float = Field(default=1000.0, ge=0.0, le=5000.0, allow_inf_nan=False)
    length_ms: float = Field(default=20.0, ge=0.5, le=200.0, allow_inf_nan=False)
    auto: bool = False


def first_problem(error: ValidationError, form: type[BaseModel]) -> str:
    """Return the first error in a body of a form as a sentence."""
    detail = error.errors(include_url=False, include_input=False, include_context=False)[0]
    if detail["type"] == "name":
        # The field name adds nothing to this message.
        return str(detail["msg"])
    where = ".".join(str(part) for part in detail["loc"])[:200]
    what = _in_words(error.errors(include_url=False)[0], form)
    return f"{where}: {what}" if where else what


def _fields(model: Any, place: Sequence[str | int]) -> Iterable[str]:
    """Return the names of the fields next to the one at `place`."""
    for part in place[:-1]:
        model = model.model_fields[part].annotation
    fields: dict[str, Any] = model.model_fields
    return fields


def _in_words(detail: ErrorDetails, model: Any) -> str:
    """Describe what is wrong with a field of a request, and what is allowed."""
    bound = detail.get("ctx", {})
    match detail["type"]:
        case "missing":
            return "required field is missing"
        case "extra_forbidden":
            return f"is not a field here; allowed: {', '.join(_fields(model, detail['loc']))}"
        case "json_invalid":
            return f"the request is not JSON: {bound['error']}"
        case "model_type" | "model_attributes_type" | "dict_type":
            return "is not an object; allowed: { ... }"
        case "list_type":
            return "is not a list; allowed: [ ... ]"
        case "float_type" | "float_parsing" | "finite_number":
            return "is not a number; allowed: a finite number without quotes"
        case "literal_error":
            return f"is unknown; allowed: {bound['expected']}"
        case "too_short":
            return f"has too few items; allowed: {bound['min_length']} or more"
        case "too_long" | "string_too_long":
            return f"is too long; allowed: a length of {bound['max_length']} at most"
        case kind:
            return value_problem(kind, bound) or detail["msg"]

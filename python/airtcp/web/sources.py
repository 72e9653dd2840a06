"""Read a scenario that came over the network, without access to this machine's files.

A scenario may only name uploaded files, and files of the package's examples; no other file is
opened.
"""

from __future__ import annotations

import copy
import re
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from airtcp.examples import Example, directory, examples
from airtcp.exceptions import QuestionError, ScenarioError
from airtcp.plan.axis import STATIONS
from airtcp.scenario import Scenario
from airtcp.scenario.errors import InvalidError, scenario_error
from airtcp.scenario.expand import expand
from airtcp.scenario.toml_text import option_value, parse
from airtcp.scenario.vary import MOST_STATIONS, shared_out
from airtcp.web.bodies import Edit, Source
from airtcp.web.edits import edited, line_of
from airtcp.web.structure import restructured

_Edited = TypeVar("_Edited")

_NAME = "scenario"
_DEEPEST = 40
#: The CPU time limit for reading a text; the slowest of ordinary size take a second.
_MOST_CPU_S: Final = 4.0
_TIMER: Final = getattr(signal, "ITIMER_VIRTUAL", 0)


@dataclass(frozen=True, slots=True)
class Read:
    """A scenario, its text, and its written form.

    In both forms, files have the names that the page uses. The written form has no profiles.
    """

    scenario: Scenario
    text: str
    written: dict[str, Any]


class _OutOfTimeError(BaseException):
    """Raised by a signal handler. A BaseException, so that no error handler catches it."""


@contextmanager
def _within_bounds() -> Iterator[None]:
    """Limit the CPU time of a block, the body of the with statement. Raises ScenarioError.

    A worker that reads for too long blocks all other questions. Signals only work in the main
    thread. A nested block uses the limit of the outer one. The timer repeats, because Python drops
    an exception that is raised in a callback of the garbage collector or in a finalizer.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or not hasattr(signal, "setitimer") or signal.getitimer(_TIMER)[0] > 0.0:
        yield
        return

    def stop(*_: object) -> None:
        raise _OutOfTimeError

    before = signal.signal(signal.SIGVTALRM, stop)
    try:
        signal.setitimer(_TIMER, _MOST_CPU_S, _MOST_CPU_S)
        try:
            yield
        finally:
            signal.setitimer(_TIMER, 0.0)
    except _OutOfTimeError:
        text = f"takes more than {_MOST_CPU_S:g} s to read; allowed: fewer groups and flows"
        raise ScenarioError(_NAME, "", text) from None
    finally:
        signal.signal(signal.SIGVTALRM, before)


def read(source: Source, uploads: Path) -> Read:
    """Return the scenario of a source.

    Raises ScenarioError, without paths of this machine, and QuestionError for a number of stations
    that cannot be distributed.
    """
    with _within_bounds():
        text = _text(source, uploads)
        scenario = _resolved(_tables(text), source, uploads)
        return Read(scenario, text, expand(_tables(text)).data)


def _text(source: Source, uploads: Path) -> str:
    """Return the text of a source with all its changes."""
    text = _varied(text_of(source), source.changes)
    if source.stations is not None:
        counts = shares(_resolved(_tables(text), source, uploads), source.stations)
        text = _varied(text, counts)
    return text


def shares(scenario: Scenario, total: int) -> dict[str, int]:
    """Return the counts of all groups, by key path, for a total. Raises QuestionError."""
    groups = scenario.stations
    if not len(groups) <= total <= MOST_STATIONS:
        raise QuestionError(
            f"{total} is not a valid number of stations; allowed: {len(groups)} to {MOST_STATIONS}"
        )
    counts = shared_out(total, [group.count for group in groups])
    return {
        f"stations.{group.name}.count": count for group, count in zip(groups, counts, strict=True)
    }


def at(source: Source, axis: str, value: Any) -> Source:
    """Return the source at a value of an axis. Raises QuestionError."""
    if axis != STATIONS:
        changes = {key: one for key, one in source.changes.items() if key != axis}
        return source.model_copy(update={"changes": changes | {axis: value}})
    if type(value) is not int:
        raise QuestionError(f"{value!r:.60} is not a number of stations; allowed: a whole number")
    return source.model_copy(update={"stations": value})


def _resolved(data: Mapping[str, Any], source: Source, uploads: Path) -> Scenario:
    local = copy.deepcopy(dict(data))
    shown: dict[str, str] = {}
    for table, key in _naming(local):
        name = table[key]
        path = _path(name, source, uploads)
        shown[str(path)] = name
        table[key] = str(path)
    try:
        return Scenario.from_written(local, name=_NAME, base=uploads)
    except ScenarioError as error:
        raise _without_paths(error, shown) from None


def rebuilt(source: Source, edit: Edit, uploads: Path) -> tuple[str, str]:
    """Return the text of a source after an edit, and the key path of the edit.

    Raises ScenarioError, and QuestionError if the edit is impossible.
    """
    with _within_bounds():
        text = _text(source, uploads)
        if edit.op == "set":
            return _varied(text, {edit.path: option_value(edit.text)}), edit.path
        _check_depth(edit.entry)
        return _guarded(text, edit.entry, lambda: restructured(text, edit))


def _varied(text: str, changes: Mapping[str, Any]) -> str:
    """Return the text of a scenario with other values at key paths, keeping its comments.

    Raises ScenarioError.
    """
    _check_depth(changes)
    return _guarded(text, changes, lambda: edited(text, changes))


def _guarded(text: str, changes: Mapping[str, Any], edit: Callable[[], _Edited]) -> _Edited:
    """Edit a text; if the text is not a scenario, report its error instead."""
    data = _tables(text)
    try:
        return edit()
    except InvalidError as error:
        raise scenario_error(_NAME, data, error) from None
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        # Lists or tables have wrong types: reading the file reports which.
        Scenario.from_written(data, name=_NAME, base=Path())
        raise ScenarioError(
            _NAME,
            next(iter(changes), ""),
            "does not fit the other changes; allowed: other values",
        ) from None


def where(error: ScenarioError, asked: Any) -> tuple[str | None, int | None]:
    """Return the text of the file that an error concerns, and its line, if they are known."""
    try:
        source = Source.model_validate(asked)
        text = text_of(source)
    except (ValidationError, ScenarioError):
        return None, None
    with suppress(ScenarioError), _within_bounds():
        return _place(error, source, text)
    return text, None


def _place(error: ScenarioError, source: Source, text: str) -> tuple[str, int | None]:
    if at_line := re.search(r"\(at line (\d+),", error.message):
        return text, int(at_line[1])
    if error.message.endswith("(at end of document)"):
        return text, text.count("\n") + 1
    text = _varied(text, source.changes)
    return text, line_of(text, error.key) if error.key else None


def field_of(key: str) -> str:
    """Return the key path of a key as in messages: `flows[0] (laptop).tcp.mss`."""
    return re.sub(r"\[(\d+)\](?: \(([^)]*)\))?", lambda m: f".{m[2] or m[1]}", key)


def text_of(source: Source) -> str:
    """Return the original text of a source. Raises ScenarioError."""
    if (source.example is None) == (source.text is None):
        raise ScenarioError(_NAME, "", "must be one of the two; allowed: an example or a text")
    if source.example is None:
        return source.text or ""
    known = [item.name for item in _examples()]
    if source.example not in known:
        raise ScenarioError(
            _NAME, "", f'there is no example "{source.example}"; allowed: {", ".join(known)}'
        )
    return (directory() / f"{source.example}.toml").read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _examples() -> tuple[Example, ...]:
    """Return the package's examples, cached for the lifetime of a worker."""
    return tuple(examples())


@lru_cache(maxsize=8)
def _tables(text: str) -> dict[str, Any]:
    """Parse a text as TOML, cached because sliders send the same text repeatedly."""
    try:
        return parse(text)
    except ValueError as error:  # TOMLDecodeError, or a number with thousands of digits
        raise ScenarioError(_NAME, "", f"is not TOML: {error}") from None
    except RecursionError:
        raise ScenarioError(_NAME, "", "is not TOML that can be read: nested too deeply") from None


def _check_depth(changes: Mapping[str, Any]) -> None:
    """Reject values that are nested too deeply, and numbers that TOML cannot express."""
    waiting: list[tuple[Any, int]] = [(value, 0) for value in changes.values()]
    while waiting:
        value, depth = waiting.pop()
        if depth > _DEEPEST:
            raise ScenarioError(_NAME, "", "a change is nested too deeply; allowed: values")
        if isinstance(value, Mapping):
            waiting += [(one, depth + 1) for one in value.values()]
        elif isinstance(value, list):
            waiting += [(one, depth + 1) for one in value]


def _naming(value: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield all tables that name a file, with the keys that do."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            # Received powers may also be a list of rows.
            yield from ((one, key) for key in ("file", "received") if isinstance(one.get(key), str))
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def _path(name: str, source: Source, uploads: Path) -> Path:
    if name in source.files:
        # The file name says whether it is a table or a log.
        path = uploads / source.files[name] / ("table.csv" if _is_table(name) else "log")
        if path.is_file():
            return path
        raise ScenarioError(
            _NAME, "", f'the file "{name}" is no longer on the server; upload it again'
        )
    packaged = {file for item in _examples() for file in item.files if not file.endswith(".toml")}
    if name in packaged:
        return Path(str(directory() / name))
    raise ScenarioError(
        _NAME,
        "",
        f'names the file "{name[:80]}", which was not uploaded; '
        f"allowed: an uploaded file, {', '.join(sorted(packaged))}",
    )


def _is_table(name: str) -> bool:
    return name.lower().endswith((".csv", ".csv.gz"))


def _without_paths(error: ScenarioError, shown: Mapping[str, str]) -> ScenarioError:
    def clean(text: str) -> str:
        for path, name in shown.items():
            text = text.replace(path, name)
        return text

    more = [(key, clean(message)) for key, message in error.more]
    return ScenarioError(error.file, error.key, clean(error.message), more)

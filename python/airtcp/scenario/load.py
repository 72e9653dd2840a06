"""Load scenarios from files, TOML texts, tables and results."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from ..exceptions import ScenarioError
from .errors import phrase
from .resolved import ResolvedScenario
from .scenario import Scenario
from .toml_text import parse

#: The file name that stands for standard input.
STDIN = Path("-")

#: Enough for 100,000 stations, each with a group and a flow of its own.
LARGEST_FILE_BYTES = 32 * 2**20


_Resolved = TypeVar("_Resolved", bound=ResolvedScenario)


def load(source: str | os.PathLike[str] | Mapping[str, Any]) -> Scenario:
    """Load the scenario of a TOML file, of a TOML text, or of tables such as `tomllib` returns.

    A string with more than one line is a text. Any other string is the name of a file. Names of
    files in the scenario are relative to it, or to the working directory if it is no file.

    Raises:
        ScenarioError: the file cannot be read, or the scenario is wrong: the message names the
            file, the key, and what is allowed there.
        TypeError: `source` is none of these.

    >>> import airtcp
    >>> cafe = airtcp.load('''
    ... [phy]
    ... standard = "802.11g"
    ... [[stations]]
    ... name = "laptop"
    ... count = 5
    ... [[flows]]
    ... stations = "laptop"
    ... direction = "download"
    ... application = { kind = "bulk" }
    ... [run]
    ... warmup = "1 s"
    ... duration = "2 s"
    ... replications = 3
    ... ''')
    >>> cafe.stations[0].count
    5
    """
    if isinstance(source, Mapping):
        return resolve(source)
    if isinstance(source, str) and "\n" in source:
        return loads(source)
    if not isinstance(source, str | os.PathLike):
        raise _no_scenario(source)
    return loads(read(source), name=os.fspath(source), base=Path(source).parent)


def read(path: str | os.PathLike[str]) -> str:
    """Return the text of a scenario file, or of standard input for "-".

    The file may be a pipe: it is read once, from the beginning.

    Raises:
        ScenarioError: the file cannot be read, is too large, or is not UTF-8.
    """
    from_stdin = Path(path) == STDIN
    name = "standard input" if from_stdin else os.fspath(path)
    try:
        content = _beginning(None if from_stdin else path, LARGEST_FILE_BYTES + 1)
    except FileNotFoundError:
        raise ScenarioError(name, "", phrase("file.not_found")) from None
    except IsADirectoryError:
        raise ScenarioError(name, "", phrase("file.directory")) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise ScenarioError(name, "", phrase("file.not_readable", reason=reason)) from error
    except ValueError as error:  # a null byte in the name
        raise ScenarioError(name, "", phrase("file.not_a_name", error=error)) from error
    if len(content) > LARGEST_FILE_BYTES:
        raise ScenarioError(name, "", phrase("file.too_large", most=LARGEST_FILE_BYTES // 2**20))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ScenarioError(name, "", phrase("file.not_utf8", line=line)) from error


def _beginning(path: str | os.PathLike[str] | None, size: int) -> bytes:
    """Return the first bytes of a file, or of standard input."""
    if path is not None:
        with open(path, "rb") as file:
            return file.read(size)
    if sys.stdin is None:
        raise OSError(errno.EBADF, "it is closed")
    return sys.stdin.buffer.read(size)


def as_scenario(source: _Resolved | str | os.PathLike[str]) -> _Resolved | Scenario:
    """Return a given scenario unchanged, or load it from a file name or a text.

    Raises ScenarioError and TypeError as `load` does.
    """
    if isinstance(source, ResolvedScenario):
        return source
    if isinstance(source, str | os.PathLike):
        return load(source)
    raise _no_scenario(source)


def _no_scenario(source: object) -> TypeError:
    return TypeError(phrase("file.no_scenario", source=source))


def loads(text: str, *, name: str = "scenario", base: str | os.PathLike[str] = ".") -> Scenario:
    """Load the scenario of a TOML text.

    Args:
        text: the scenario.
        name: the file name for messages. Without its extension it is the title if the text has
            none.
        base: the directory that file names in the scenario are relative to.

    Raises:
        ScenarioError: not TOML, or the scenario is wrong.

    >>> from airtcp.scenario import loads
    >>> text = '''
    ... phy = { standard = "802.11ax", mcs = 11 }
    ... stations = [{ name = "laptop", count = 2 }]
    ... flows = [{ stations = "laptop", direction = "upload", application = { kind = "bulk" } }]
    ... '''
    >>> loads(text, name="office.toml").title
    'office'
    """
    if text.lstrip()[:1] == "{":
        return _of_result(text, name=name, base=base)
    try:
        data = parse(text)
    except ValueError as error:  # TOMLDecodeError, or a number with thousands of digits
        raise ScenarioError(name, "", phrase("file.not_toml", error=error)) from error
    except RecursionError:
        raise ScenarioError(name, "", phrase("file.too_deep")) from None
    return resolve(data, name=name, base=base)


def _of_result(text: str, *, name: str, base: str | os.PathLike[str]) -> Scenario:
    """Return the scenario of a result, such as results.json.

    It is loaded from the scenario file in the result, if this version resolves that file as the
    result did. Otherwise it is the resolved form, which has neither targets nor profiles.

    Raises:
        ScenarioError: not JSON, or no result of airtcp.
    """
    allowed = phrase("file.result")
    try:
        result = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ScenarioError(
            name, "", phrase("file.not_json", error=error, allowed=allowed)
        ) from None
    provenance = result.get("provenance")
    if "scenario" not in result or not isinstance(provenance, Mapping):
        raise ScenarioError(name, "", phrase("file.not_a_result", allowed=allowed))
    if isinstance(file := provenance.get("file"), str):
        try:
            scenario = loads(file, name=name, base=base)
        except ScenarioError:
            pass  # A key of another version. The resolved form may still be valid.
        else:
            if scenario.hash() == provenance.get("scenario_hash"):
                return scenario
    try:
        return Scenario.from_dict(result["scenario"])
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, ("scenario", *first["loc"])))
        raise ScenarioError(
            name, key, phrase("file.other_version", msg=first["msg"], allowed=allowed)
        ) from None


def resolve(
    data: Mapping[str, Any],
    *,
    name: str = "scenario",
    base: str | os.PathLike[str] = ".",
) -> Scenario:
    """Load the scenario of a parsed written form, such as `tomllib` returns.

    Raises:
        ScenarioError: the scenario is wrong.
    """
    return Scenario.from_written(data, name=name, base=Path(base))

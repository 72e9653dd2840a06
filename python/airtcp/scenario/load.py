"""Reads scenario files: TOML text to the resolved form.

Knows files, text and TOML. Does not know keys.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..exceptions import ScenarioError
from .declare import written
from .errors import InvalidError, scenario_error
from .resolve import resolve_scenario
from .resolved import ResolvedScenario

__all__ = ["load", "loads", "read", "resolve"]

#: Room for a group and a flow of its own for each of 100,000 stations.
LARGEST_FILE_BYTES = 32 * 2**20


def load(path: str | os.PathLike[str]) -> ResolvedScenario:
    """The scenario of a TOML file, in its resolved form.

    Files that the scenario names are looked for beside it.

    Raises:
        ScenarioError: the file cannot be read, or the scenario is wrong: the message names the
        file, the
            key, and what is allowed there.
    """
    return loads(read(path), name=os.fspath(path), base=Path(path).parent)


def read(path: str | os.PathLike[str]) -> str:
    """The text of a scenario file, which may be a pipe: it is read once, and from the beginning.

    Raises:
        ScenarioError: the file cannot be read, is too large, or is not UTF-8.
    """
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            content = file.read(LARGEST_FILE_BYTES + 1)
    except FileNotFoundError:
        raise ScenarioError(name, "", "there is no such file; allowed: a scenario file") from None
    except IsADirectoryError:
        raise ScenarioError(name, "", "is a directory; allowed: a scenario file") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise ScenarioError(
            name, "", f"cannot be read: {reason}; allowed: a file that can be read"
        ) from error
    except ValueError as error:  # a null byte in the name
        raise ScenarioError(name, "", f"is not a file name: {error}") from error
    if len(content) > LARGEST_FILE_BYTES:
        raise ScenarioError(
            name, "", f"is too large; allowed: {LARGEST_FILE_BYTES // 2**20} MiB at most"
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ScenarioError(
            name, "", f"is not UTF-8 (line {line}); allowed: TOML, which is UTF-8 text"
        ) from error


def loads(
    text: str, *, name: str = "scenario", base: str | os.PathLike[str] = "."
) -> ResolvedScenario:
    """The scenario of a TOML text, in its resolved form.

    Args:
        text: the scenario.
        name: the file name that messages give; without its ending it is the title if there is none.
        base: the directory that file names in the scenario are relative to.

    Raises:
        ScenarioError: not TOML, or the scenario is wrong.
    """
    try:
        data = tomllib.loads(text)
    except ValueError as error:  # TOMLDecodeError, or a number of thousands of digits
        raise ScenarioError(name, "", f"is not TOML: {error}") from error
    except RecursionError:
        raise ScenarioError(name, "", "is not TOML that can be read: nested too deeply") from None
    return resolve(data, name=name, base=base)


def resolve(
    data: Mapping[str, Any],
    *,
    name: str = "scenario",
    base: str | os.PathLike[str] = ".",
) -> ResolvedScenario:
    """The resolved form of a written form that is already parsed, such as `tomllib` gives it.

    Raises:
        ScenarioError: the scenario is wrong.
    """
    data = dict(data)
    try:
        form = written(ResolvedScenario).model_validate(data)
        return resolve_scenario(form, title=_title(name), base=Path(base))
    except (ValidationError, InvalidError) as error:
        raise scenario_error(name, data, error) from None


def _title(name: str) -> str:
    """What a scenario is called that does not say so; a file name may be anything but text."""
    return Path(name).stem.encode(errors="replace").decode()

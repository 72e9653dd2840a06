"""Plug-ins: algorithms as Python files, loaded once and passed on to worker processes.

A plug-in is a file or an entry point. The hash of its code is part of the resolved scenario, and so
of provenance and of a store's keys. `airtcp.congestion`, `airtcp.acks`, `airtcp.queues` and
`airtcp.schedulers` define the interfaces. Neither scenario files nor the web page ever load code.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import inspect
import os
import re
import sys
import traceback
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ..choices import Choice, add
from ..exceptions import PluginError, PluginFailedError, one_line
from ..files import read_text

__all__ = ["Kind", "carried", "code_of", "explained", "load", "registered", "take"]

GROUP: Final = "airtcp.plugins"
"""The group of entry points. Each names a module that registers algorithms."""

_HASH_DIGITS: Final = 12
_MOST_BYTES: Final = 2**22
#: Texts of the loaded files, by file name.
_LOADED: Final[dict[str, str]] = {}
#: The resolved names of all registered algorithms.
_REGISTERED: Final[list[str]] = []


def load(name: str | Path) -> None:
    """Load a plug-in: a Python file, or an entry point of an installed package.

    The file runs once, and registers its algorithms (`airtcp.congestion.register`). Loading it
    again has no effect.

    Raises:
        PluginError: the file or entry point does not exist, or it raises; the message names the
            line. Or the file registers no algorithm.
    """
    path = Path(name)
    if path.suffix == ".py" or os.path.exists(path):
        try:
            text = read_text(path, _MOST_BYTES)
        except FileNotFoundError as error:
            raise PluginError(f"{name}: file not found") from error
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or one_line(str(error))
            raise PluginError(f"{name}: cannot be read: {reason}") from error
        before = len(_REGISTERED)
        if _run(str(path), text) and len(_REGISTERED) == before:
            raise PluginError(
                f"{name}: registers no algorithm; allowed: a file that calls register of "
                "airtcp.congestion, airtcp.acks, airtcp.queues or airtcp.schedulers"
            )
        return
    found = importlib.metadata.entry_points(group=GROUP, name=str(name))
    if not found:
        known = sorted({one.name for one in importlib.metadata.entry_points(group=GROUP)})
        raise PluginError(
            f"{name}: no such file, and no package has an entry point of that name in "
            f"{GROUP}; allowed: a file of Python{''.join(f', {one}' for one in known)}"
        )
    try:
        next(iter(found)).load()
    except Exception as error:
        raise PluginError(_told(error, str(name))) from error


def carried() -> Mapping[str, str]:
    """Return the names and texts of the loaded files, for `take` in another process."""
    return dict(_LOADED)


def take(files: Mapping[str, str]) -> None:
    """Load the files that `carried` returned in another process."""
    for name, text in files.items():
        _run(name, text)


def code_of(made: type) -> str:
    """Return the first digits of the SHA-256 of a class's code.

    The code is the plug-in's file, or the source of the class itself.

    Raises:
        PluginError: the code cannot be read.
    """
    text = _LOADED.get(getattr(sys.modules.get(made.__module__), "__file__", None) or "")
    if text is None:
        try:
            text = inspect.getsource(made)
        except (OSError, TypeError) as error:
            raise PluginError(
                f"{made.__name__}: its source cannot be read, so results could not name it; "
                "allowed: a class in a file"
            ) from error
    return hashlib.sha256(text.encode()).hexdigest()[:_HASH_DIGITS]


@dataclass(frozen=True)
class Kind:
    """A kind of algorithm: its name in sentences, and the methods that a class must have.

    `known` holds the existing words, and `base` names a class to extend. `core` is the function of
    the core that registers a class under its resolved name. `choice` returns the record of a word,
    given the algorithm's name and the word.
    """

    name: str
    known: Mapping[str, Choice]
    methods: tuple[str, ...]
    base: str
    core: str
    choice: Callable[[str, str], Choice]


def registered(kind: Kind, name: str, made: type) -> str:
    """Register a class in the core and as a word for scenarios, unless it is registered already.

    Args:
        kind: the kind of algorithm.
        name: its name in scenario files.
        made: the class, which the core instantiates without arguments.

    Returns:
        its name in the resolved scenario: the name, "@" and a hash of the class's code.

    Raises:
        PluginError: the name is taken or not a valid word, the class lacks a method, or its code
            cannot be read.
    """
    from .. import _core

    subject = f'{kind.name} "{name}"'
    if not re.fullmatch("[a-z][a-z0-9-]*", name):
        raise PluginError(f'{subject}: allowed: small letters, digits and "-"')
    missing = [one for one in kind.methods if not callable(getattr(made, one, None))]
    if missing:
        raise PluginError(
            f"{subject}: {made.__name__} has no {', '.join(missing)}; allowed: a class with "
            f"{', '.join(kind.methods)}, such as one that extends {kind.base}"
        )
    later = [one for one in dir(made) if not one.startswith("_") and _is_later(getattr(made, one))]
    if later:
        raise PluginError(
            f"{subject}: {made.__name__}.{later[0]} is a coroutine or a generator, whose code "
            "would not run when it is called; allowed: a plain method, def without async and yield"
        )
    word = f"{name}@{code_of(made)}"
    if name in kind.known and kind.known[name].resolved != word:
        taken = "by other code" if kind.known[name].resolved else "by airtcp itself"
        raise PluginError(f"{subject}: the name is taken {taken}")
    if name not in kind.known:
        getattr(_core, kind.core)(word, made)
        for one in (name, word):
            add(kind.name, replace(kind.choice(name, one), resolved=word))
    _REGISTERED.append(word)
    return word


def _is_later(method: object) -> bool:
    """Whether calling a method does not run its code yet (coroutine or generator)."""
    return any(
        is_one(method)
        for is_one in (
            inspect.iscoroutinefunction,
            inspect.isasyncgenfunction,
            inspect.isgeneratorfunction,
        )
    )


def _print(*values: object, **options: Any) -> None:
    """Print to stderr by default: stdout has results, which may be JSON."""
    options.setdefault("file", sys.stderr)
    print(*values, **options)


def explained(name: str, error: BaseException) -> PluginFailedError:
    """Return the error of a run that a plug-in ended: the exception and the line of its code."""
    failed = PluginFailedError(f'the plug-in "{name}" has ended the run: {_told(error)}')
    failed.__cause__ = error
    return failed


def _run(name: str, text: str) -> bool:
    """Run a plug-in's file, unless it has run already. Return whether it ran."""
    if _LOADED.get(name) == text:
        return False
    if name in _LOADED:
        raise PluginError(f"{name}: has changed since it was loaded; start a new process")
    module = types.ModuleType(f"airtcp_plugin_{len(_LOADED)}")
    module.__file__ = name
    module.__dict__["print"] = _print
    sys.modules[module.__name__] = module
    _LOADED[name] = text
    try:
        exec(compile(text, name, "exec"), module.__dict__)
    except PluginError:
        _forget(module)
        raise
    except Exception as error:
        _forget(module)
        raise PluginError(_told(error, name)) from error
    return True


def _forget(module: types.ModuleType) -> None:
    del sys.modules[module.__name__]
    del _LOADED[str(module.__file__)]


def _told(error: BaseException, name: str = "") -> str:
    """Describe an exception and the line of the user's code that raised it.

    A file `name` begins the description, and is not repeated.
    """
    file = f"{name}: " if name else ""
    if isinstance(error, SyntaxError):
        return f"{file}line {error.lineno}: {type(error).__name__}: {error.msg}"
    what = f"{type(error).__name__}: {one_line(str(error))}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [one for one in frames if one.filename in _LOADED or one.filename == name] or frames
    if not own:
        return f"{file}{what}"
    last = own[-1]
    where = f"line {last.lineno}, {last.name}: {what}"
    return f"{file}{where}" if last.filename == name else f"{file}{last.filename}, {where}"

"""Algorithms that a user brings as files of Python: loaded once, and carried to workers.

Knows files, entry points, and which code a name stands for; the hash of that code is part of the
resolved form, and so of provenance and of a store's keys. Does not know what an algorithm is told:
`airtcp.congestion`, `airtcp.acks`, `airtcp.queues` and `airtcp.schedulers` do. A scenario file
never loads code, and neither does the page.
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
"""The group of entry points: each names a module that registers what it has."""

_HASH_DIGITS: Final = 12
_MOST_BYTES: Final = 2**22
#: Texts of the files that were loaded, by the names of their modules.
_LOADED: Final[dict[str, str]] = {}


def load(name: str | Path) -> None:
    """Loads a plug-in: a file of Python, or else an entry point of a package that is installed.

    The file is run once, and registers what it has (`airtcp.congestion.register`). Loading it again
    does nothing.

    Raises:
        PluginError: there is no such file or entry point, or it raises; the text names the line.
    """
    path = Path(name)
    if path.suffix == ".py" or os.path.exists(path):
        try:
            text = read_text(path, _MOST_BYTES)
        except (OSError, UnicodeDecodeError) as error:
            raise PluginError(f"{name}: cannot be read: {one_line(str(error))}") from error
        _run(str(path), text)
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
        raise PluginError(f"{name}: {_told(error)}") from error


def carried() -> Mapping[str, str]:
    """The files that were loaded, as names and texts, which another process takes by `take`."""
    return dict(_LOADED)


def take(files: Mapping[str, str]) -> None:
    """Loads the files of another process, as `carried` told them there."""
    for name, text in files.items():
        _run(name, text)


def code_of(made: type) -> str:
    """The first digits of the SHA-256 of the code that a class is in: its file, or its own text.

    Raises:
        PluginError: the code cannot be read.
    """
    text = _LOADED.get(getattr(sys.modules.get(made.__module__), "__file__", None) or "")
    if text is None:
        try:
            text = inspect.getsource(made)
        except (OSError, TypeError) as error:
            raise PluginError(
                f"{made.__name__}: its code cannot be read, so that no result could name it; "
                "allowed: a class in a file"
            ) from error
    return hashlib.sha256(text.encode()).hexdigest()[:_HASH_DIGITS]


@dataclass(frozen=True)
class Kind:
    """A kind of algorithm: what sentences call it, and what a class of it must have.

    `known` are the words that there are, and `base` is a class to extend.
    """

    name: str
    known: Mapping[str, Choice]
    methods: tuple[str, ...]
    base: str


def registered(
    kind: Kind,
    name: str,
    made: type,
    register: Callable[[str, type], None],
    choice: Callable[[str], Choice],
) -> str:
    """Registers a class in the core and among the words of scenarios, unless it is there.

    Args:
        kind: what it is.
        name: the word for it in a file.
        made: the class, which the core makes without arguments.
        register: registers it in the core under the word of the resolved form.
        choice: all that is said of a word for it.

    Returns:
        the word of the resolved form.

    Raises:
        PluginError: a name that is taken or no word, a class without one of the methods, or one
            whose code cannot be read.
    """
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
        register(word, made)
        for one in (name, word):
            add(kind.name, replace(choice(one), resolved=word))
    return word


def _is_later(method: object) -> bool:
    """True if a call of a method runs none of its code."""
    return any(
        is_one(method)
        for is_one in (
            inspect.iscoroutinefunction,
            inspect.isasyncgenfunction,
            inspect.isgeneratorfunction,
        )
    )


def _print(*values: object, **options: Any) -> None:
    """Print as Python does, but to stderr: stdout has results, which may be JSON."""
    options.setdefault("file", sys.stderr)
    print(*values, **options)


def explained(name: str, error: BaseException) -> PluginFailedError:
    """The error of a run that a plug-in ended: the line of its code that raised, and what."""
    failed = PluginFailedError(f'the plug-in "{name}" has ended the run: {_told(error)}')
    failed.__cause__ = error
    return failed


def _run(name: str, text: str) -> None:
    if _LOADED.get(name) == text:
        return
    if name in _LOADED:
        raise PluginError(f"{name}: has changed since it was loaded; allowed: a new process")
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
        raise PluginError(f"{name}: {_told(error)}") from error


def _forget(module: types.ModuleType) -> None:
    del sys.modules[module.__name__]
    del _LOADED[str(module.__file__)]


def _told(error: BaseException) -> str:
    """The line of the user's code that raised, and the exception."""
    what = f"{type(error).__name__}: {one_line(str(error))}"
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {what}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [one for one in frames if one.filename in _LOADED] or frames
    return f"{own[-1].filename}, line {own[-1].lineno}, {own[-1].name}: {what}" if own else what

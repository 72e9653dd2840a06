"""Algorithms that a user brings as files of Python: loaded once, and carried to workers.

Knows files, entry points, and which code a name stands for; the hash of that code is part of the
resolved form, and so of provenance and of a store's keys. Does not know what is registered:
`airtcp.congestion` does. A scenario file never loads code, and neither does the page.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import inspect
import sys
import traceback
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ..exceptions import PluginError, PluginFailedError, one_line

__all__ = ["carried", "code_of", "explained", "load", "take"]

GROUP: Final = "airtcp.plugins"
"""The group of entry points: each names a module that registers what it has."""

_HASH_DIGITS: Final = 12
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
    if path.suffix == ".py" or path.exists():
        try:
            text = path.read_text(encoding="utf-8")
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

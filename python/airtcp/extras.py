"""Packages that not everybody has, and how one gets them.

Knows the extras of the distribution by name (`airtcp[sweeps]`). Does not know what a package does.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from airtcp.exceptions import QuestionError


def needed(package: str, extra: str, what: str) -> Any:
    """Import a package of an extra for `what`. Raises QuestionError, which says how to get it."""
    try:
        return import_module(package)
    except ImportError as error:
        raise QuestionError(how_to_get(package, extra, what)) from error


def how_to_get(package: str, extra: str, what: str) -> str:
    """Say in one line that a package is missing and what brings it."""
    return f"{what} needs {package}, which is not installed; allowed: pip install 'airtcp[{extra}]'"


def is_installed(package: str) -> bool:
    """Tell whether a package can be imported, without doing so."""
    return find_spec(package) is not None

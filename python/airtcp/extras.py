"""Optional packages and the extras that install them (`airtcp[sweeps]`)."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from airtcp.exceptions import QuestionError


def needed(package: str, extra: str, what: str) -> Any:
    """Import an optional package needed for `what`.

    Raises QuestionError with install instructions.
    """
    try:
        return import_module(package)
    except ImportError as error:
        raise QuestionError(how_to_get(package, extra, what)) from error


def how_to_get(package: str, extra: str, what: str) -> str:
    """Say in one line that a package is missing and how to install it."""
    return f"{what} needs {package}, which is not installed; allowed: pip install 'airtcp[{extra}]'"


def is_installed(package: str) -> bool:
    """Whether a package is installed, without importing it."""
    return find_spec(package) is not None

"""The tables of advice.md that follow from code: problems, and the thresholds of signs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import tables
from airtcp.advice.problems import PROBLEMS
from airtcp.advice.profiles import EXPECTED
from airtcp.advice.thresholds import THRESHOLDS


def problems() -> str:
    """Lists the problems in the order in which they are told, with their remedies."""
    rows = [
        [f"`{one.name}`", one.title, ", ".join(f"`{name}`" for name in one.remedies) or "none"]
        for one in PROBLEMS.values()
    ]
    return tables.markdown(("problem", "in words", "remedies, the best bet first"), rows)


def thresholds() -> str:
    """Lists the thresholds with their reasons."""
    rows = [
        [name, f"{one.value:g}{' ' if one.unit else ''}{one.unit}", one.reason]
        for name, one in THRESHOLDS.items()
    ]
    return tables.markdown(("threshold", "value", "what it is of, and why"), rows)


def profiles() -> str:
    """Lists what traffic is held to that has no targets of its own."""
    rows = [
        [name, f"`{one.metric} {one.bound}`", one.source]
        for name, expected in EXPECTED.items()
        for one in expected
    ]
    return tables.markdown(("profile", "target", "what it is of, and why"), rows)


TABLES: Mapping[str, Callable[[], str]] = {
    "problems": problems,
    "thresholds": thresholds,
    "profiles": profiles,
}

"""Results as plain JSON data: the fields of a record are the keys of its JSON."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, NoReturn, TypeVar

from airtcp.metrics import METRICS


def plain(value: Any) -> Any:
    """Return a value as JSON has it: records and mappings as dictionaries, tuples as lists."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return of_fields(value)
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value


def of_fields(record: Any, *without: str) -> dict[str, Any]:
    """Return the fields of a record as plain data, without some of them."""
    names = (one.name for one in fields(record) if one.name not in without)
    return {name: plain(getattr(record, name)) for name in names}


class Record:
    """A dataclass whose fields are the keys of its JSON."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the record as in the JSON: a key for each field."""
        return of_fields(self)


_Value = TypeVar("_Value")


class ByMetric(dict[str, _Value]):
    """Values by the name of their metric. The KeyError for another name says which one is meant.

    >>> ByMetric({"goodput_bps": 1e6})["goodput"]
    Traceback (most recent call last):
        ...
    KeyError: '"goodput" is not a metric here; use "goodput_bps"'
    """

    def __missing__(self, name: object) -> NoReturn:
        short = [one for one in self if one in METRICS and METRICS[one].short == name]
        near = short or difflib.get_close_matches(str(name), self, n=1, cutoff=0.6)
        hint = f'use "{near[0]}"' if near else f"allowed: {', '.join(self)}"
        raise KeyError(f'"{name}" is not a metric here; {hint}')

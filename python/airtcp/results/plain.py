"""Results as plain JSON data: the fields of a record are the keys of its JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any


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

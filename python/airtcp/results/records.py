"""Records of one replication, stored by column in an eighth of the memory of dictionaries.

Records are dictionaries with equal keys, whose values are texts, numbers, booleans or None. A
simulation keeps the records of all flows and stations of all replications, which may be tens of
thousands.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

#: The range of 64-bit integers.
_LEAST, _MOST = -(2**63), 2**63 - 1


class Records(Sequence[dict[str, Any]]):
    """A sequence of records. Each record is created on access."""

    __slots__ = ("_columns", "_length")

    def __init__(self, records: Sequence[Mapping[str, Any]]) -> None:
        keys = list(records[0]) if records else []
        if any(list(record) != keys for record in records):
            raise ValueError("the records do not have the same keys")
        self._length = len(records)
        self._columns = {key: _column([record[key] for record in records]) for key in keys}

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        """Return the record at `index`, or a list of records for a slice."""
        if isinstance(index, slice):
            return [self[one] for one in range(*index.indices(self._length))]
        if not -self._length <= index < self._length:
            raise IndexError(index)
        return {key: column[index] for key, column in self._columns.items()}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        keys = tuple(self._columns)
        return (
            dict(zip(keys, row, strict=True)) for row in zip(*self._columns.values(), strict=True)
        )

    def __eq__(self, other: object) -> bool:
        """Whether `other` has the same records, as a list or as Records."""
        if isinstance(other, Records):
            return self._length == other._length and self._columns == other._columns
        return isinstance(other, list) and list(self) == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Records({list(self)!r})"


def kept(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return `answer` with its many records of flows and stations stored as `Records`."""
    return {
        key: Records(value) if key in ("flows", "stations") else value
        for key, value in answer.items()
    }


def _column(values: list[Any]) -> Sequence[Any]:
    types = {type(value) for value in values}
    if types == {float}:
        return array("d", values)
    if types == {int} and min(values) >= _LEAST and max(values) <= _MOST:
        return array("q", values)
    # Names are the same in every replication, so intern them.
    return tuple(sys.intern(value) if isinstance(value, str) else value for value in values)

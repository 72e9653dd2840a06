"""Received powers of nodes as a matrix: from a CSV file, a list of rows, `heard` or `hears`."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Container
from pathlib import Path as FilePath
from typing import Any, Final

from ..files import read_text
from .errors import InvalidError, Path, invalid, phrase, quoted
from .quantities import Written

#: The maximum number of classes: a pair of them takes some 60 bytes in Python and 8 in the core.
MOST_CLASSES: Final = 2_000
_PAIR_BYTES: Final = 68
_LARGEST_CSV: Final = 64 * 2**20
Matrix = list[list[float | None]]
"""Received power in dBm by sender and listener; None: nothing."""


def check_size(classes: int) -> None:
    """Reject more classes of nodes than fit into memory.

    Raises:
        InvalidError: there are more; the message gives the memory that they would take.
    """
    if classes > MOST_CLASSES:
        raise invalid(
            ("air",),
            "received.too_large",
            classes=classes,
            size=classes**2 * _PAIR_BYTES / 1000000000.0,
            most=MOST_CLASSES,
            most_size=MOST_CLASSES**2 * _PAIR_BYTES / 1000000000.0,
        )


def received_powers(
    scenario: Written, cells: dict[str, Written], given: Any, base: FilePath
) -> tuple[list[int], Matrix]:
    """Return classes and powers from rows of powers.

    A group is one class, unless a row names one of its stations. A row about a station overrides
    rows about its group.

    Raises:
        InvalidError: a file that cannot be read, a node that does not exist, no power, or a pair of
            nodes twice.
    """
    here: Path = ("air", "received")
    lines = _lines_of_file(base / given, here) if isinstance(given, str) else None
    rows = list(lines.values()) if lines is not None else given
    places = [f'"{given}", line {line}: ' for line in lines or ()]
    counts = {group.name: group.count for group in scenario.stations}
    split = {
        name.partition("/")[0]
        for row in rows
        for name in row[:2]
        if isinstance(name, str) and "/" in name
    }
    parts: dict[str, list[int]] = {}
    classes: list[int] = []
    number = 0
    for name in cells:
        parts[name] = [number]
        classes.append(number)
        number += 1
    check_size(len(cells) + sum(counts[name] if name in split else 1 for name in counts))
    for name, count in counts.items():
        own = list(range(number, number + (count if name in split else 1)))
        parts[name] = own
        if name in split:
            parts.update({f"{name}/{station}": [own[station]] for station in range(count)})
        classes += own if name in split else own * count
        number += len(own)
    powers: Matrix = [[None] * number for _ in range(number)]
    said: dict[tuple[str, str], float] = {}
    for place, row in enumerate(rows):
        try:
            sender, listener, power = _row(row, parts, cells)
            if (sender, listener) in said:
                raise ValueError(phrase("received.repeated", sender=sender, listener=listener))
        except ValueError as error:
            path = here if places else (*here, place)
            raise InvalidError(path, f"{places[place] if places else ''}{error}") from None
        said[sender, listener] = power
    for (sender, listener), power in sorted(said.items(), key=lambda one: _stations(one[0])):
        for one in parts[sender]:
            for other in parts[listener]:
                powers[one][other] = power
    for one in range(number):
        for other in range(number):
            if powers[one][other] is None:
                powers[one][other] = powers[other][one]
    return classes, powers


def _stations(pair: tuple[str, str]) -> int:
    """Count the names of a pair that name a single station."""
    return sum("/" in name for name in pair)


def _row(
    row: list[Any], parts: dict[str, list[int]], cells: Container[str]
) -> tuple[str, str, float]:
    """Check and convert a row. Raises ValueError with what is wrong."""
    if len(row) != 3:
        raise ValueError(phrase("received.fields", row=len(row)))
    sender, listener, power = row
    for name in (sender, listener):
        if name not in parts:
            raise ValueError(phrase("received.unknown_node", name=name) + quoted(list(parts)[:4]))
    if sender == listener and ("/" in sender or sender in cells):
        raise ValueError(phrase("received.itself", sender=sender))
    try:
        dbm = float(str(power).removesuffix("dBm"))
    except ValueError:
        dbm = math.nan
    if not -300.0 <= dbm <= 100.0:
        raise ValueError(phrase("received.not_a_power", power=power))
    return sender, listener, dbm


def _lines_of_file(file: FilePath, here: Path) -> dict[int, list[Any]]:
    """Return the rows of a CSV file with the columns `from`, `to`, `dbm`, by line number.

    A row whose number of fields differs from the header stays unchanged.
    """
    try:
        text = read_text(file, _LARGEST_CSV)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or phrase("received.not_utf8")
        raise invalid(here, "received.not_readable", file=file, reason=reason) from None
    reader = csv.reader(io.StringIO(text))
    columns = [name.strip().lower() for name in next(reader, ())]
    if not {"from", "to", "dbm"} <= set(columns):
        told = f"has the columns {', '.join(columns)}" if columns else "is empty"
        raise invalid(here, "received.wrong_file", file=file, told=told)
    places = [columns.index(name) for name in ("from", "to", "dbm")]
    lines: dict[int, list[Any]] = {}
    for row in reader:
        if row:
            whole = len(row) == len(columns)
            lines[reader.line_num] = [row[place].strip() for place in places] if whole else row
    return lines


#: Stands for any signal that is heard if powers are not known.
_HEARD_DBM: Final = -50.0


def by_words(
    scenario: Written, cells: dict[str, Written], cell_of: list[str]
) -> tuple[list[int], Matrix]:
    """Return classes of nodes and powers between them from `heard` and `hears`.

    Raises:
        InvalidError: `hears` names a group that does not exist, or that is not heard.
    """
    names = list(cells)
    pairs = () if scenario.air is None or scenario.air.heard is None else scenario.air.heard
    heard = {frozenset(pair) for pair in pairs} | {frozenset((name,)) for name in names}
    groups = {group.name: index for index, group in enumerate(scenario.stations)}
    for index, group in enumerate(scenario.stations):
        for name in group.hears or ():
            if name not in groups:
                known = quoted(other for other in groups if other != group.name)
                raise invalid(
                    ("stations", index, "hears"),
                    "received.unknown_group",
                    name=name,
                    known=known or "an empty list",
                )
            if frozenset((cell_of[index], cell_of[groups[name]])) not in heard:
                raise invalid(
                    ("stations", index, "hears"),
                    "received.no_pair",
                    name=name,
                    cell=cell_of[groups[name]],
                    listener=cell_of[index],
                )
    where = [*names, *cell_of]
    check_size(len(where))
    rows = {
        one: [_HEARD_DBM if frozenset((one, other)) in heard else None for other in where]
        for one in names
    }
    powers: Matrix = [list(rows[one]) for one in where]
    first = len(names)
    for one, group in enumerate(scenario.stations):
        if group.hears is None:
            continue  # The group that leaves the other out has its own `hears`.
        for other, partner in enumerate(scenario.stations):
            if one != other and not _hear_each_other(one, group, partner):
                powers[first + one][first + other] = powers[first + other][first + one] = None
    counts = [group.count for group in scenario.stations]
    classes = [*range(first)]
    for index, count in enumerate(counts):
        classes += [first + index] * count
    return classes, powers


def _hear_each_other(index: int, one: Written, other: Written) -> bool:
    """Return True if two groups hear each other: neither leaves the other out of its `hears`.

    Raises:
        InvalidError: one names the other, which leaves it out.
    """
    does = one.hears is None or other.name in one.hears
    is_heard = other.hears is None or one.name in other.hears
    if one.hears is not None and does and not is_heard:
        raise invalid(
            ("stations", index, "hears"), "received.not_mutual", name=other.name, name_2=one.name
        )
    return does and is_heard

"""Turn `heard` of cells and `hears` of groups into a matrix of powers."""

from __future__ import annotations

from typing import Final

from .errors import InvalidError, quoted
from .quantities import Written
from .received import Matrix, check_size

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
                raise InvalidError(
                    ("stations", index, "hears"),
                    f'there is no group "{name}"; allowed: {known or "an empty list"}',
                )
            if frozenset((cell_of[index], cell_of[groups[name]])) not in heard:
                raise InvalidError(
                    ("stations", index, "hears"),
                    f'"{name}" is in cell "{cell_of[groups[name]]}", which air.heard does not pair '
                    f'with "{cell_of[index]}"; allowed: groups of cells that hear each other',
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
    """True if two groups hear each other: neither leaves the other out of its `hears`.

    Raises:
        InvalidError: one names the other, which leaves it out.
    """
    does = one.hears is None or other.name in one.hears
    is_heard = other.hears is None or one.name in other.hears
    if one.hears is not None and does and not is_heard:
        raise InvalidError(
            ("stations", index, "hears"),
            f'names "{other.name}", whose own hears leaves out "{one.name}"; allowed: both or '
            "neither, because hearing is mutual",
        )
    return does and is_heard

"""The hearing of a resolved scenario: which nodes, groups and cells sense which others.

Knows received powers between classes of nodes, and the threshold of carrier sense. Does not know
what is sent, nor what is made of it where frames overlap.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario


def nodes_of_group(scenario: ResolvedScenario, group: str) -> range:
    """Return the places of a group's stations among all nodes. Raises KeyError."""
    first = len(scenario.cells or ())
    for one in scenario.stations:
        if one.name == group:
            return range(first, first + one.count)
        first += one.count
    raise KeyError(group)


def nodes_of_cell(scenario: ResolvedScenario, index: int) -> list[int]:
    """Return the places of all nodes of a cell, its access point first."""
    nodes = [index]
    for group in scenario.stations:
        if group.cell == index:
            nodes += nodes_of_group(scenario, group.name)
    return nodes


def senses(scenario: ResolvedScenario, sender: int, listener: int) -> bool:
    """Tell whether a node senses the frames of another."""
    power = _received(scenario, sender, listener)
    assert scenario.air is not None, "cells come with the air"
    return power is not None and power >= scenario.air.sense_dbm


def hear(scenario: ResolvedScenario, one: int, other: int) -> bool:
    """Tell whether two nodes sense each other; the first ones are the access points of cells."""
    return senses(scenario, one, other) and senses(scenario, other, one)


def reaches(scenario: ResolvedScenario, cell: int, other: int) -> bool:
    """Tell whether a node of a cell is heard at all by one of another."""
    return any(
        _received(scenario, one, two) is not None
        for one in nodes_of_cell(scenario, cell)
        for two in nodes_of_cell(scenario, other)
    )


def deaf_groups(scenario: ResolvedScenario, index: int) -> Iterator[tuple[str, str]]:
    """Yield pairs of groups of a cell, or a group twice, of which some do not hear each other."""
    own = [group for group in scenario.stations if group.cell == index]
    for place, group in enumerate(own):
        for other in own[place:]:
            several = group is not other or group.count > 1
            if several and not all(
                senses(scenario, one, two)
                for one in nodes_of_group(scenario, group.name)
                for two in nodes_of_group(scenario, other.name)
                if one != two
            ):
                yield group.name, other.name


def _received(scenario: ResolvedScenario, sender: int, listener: int) -> float | None:
    air = scenario.air
    assert air is not None, "cells come with the air"
    power: float | None = air.received_dbm[air.classes[sender]][air.classes[listener]]
    return power

"""Determine which nodes, groups and cells of a resolved scenario sense which others.

It compares received powers with the threshold of carrier sense.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from airtcp.scenario import ResolvedScenario

#: Rules of `[mac.rules]` that apply only if all nodes hear each other, and their allowed values
#: otherwise. Then each node waits after a collision by what it has heard, and TXOPs follow the
#: standard.
RULES_ELSEWHERE: Final[Mapping[str, tuple[str, ...]]] = {
    "after_collision": ("eifs", "difs"),
    "colliders": ("ack-timeout+difs",),
    "txop_protection": ("single",),
}


def nodes_of_group(scenario: ResolvedScenario, group: str) -> range:
    """Return the node indices of a group's stations. Raises KeyError."""
    first = len(scenario.cells or ())
    for one in scenario.stations:
        if one.name == group:
            return range(first, first + one.count)
        first += one.count
    raise KeyError(group)


def nodes_of_cell(scenario: ResolvedScenario, index: int) -> list[int]:
    """Return the node indices of a cell, its access point first."""
    nodes = [index]
    for group in scenario.stations:
        if group.cell == index:
            nodes += nodes_of_group(scenario, group.name)
    return nodes


def senses(scenario: ResolvedScenario, sender: int, listener: int) -> bool:
    """Return True if `listener` senses the frames of `sender`."""
    power = _received(scenario, sender, listener)
    assert scenario.air is not None, "cells and [air] come together"
    return power is not None and power >= scenario.air.sense_dbm


def hear(scenario: ResolvedScenario, one: int, other: int) -> bool:
    """Return True if two nodes sense each other. Access points have the first indices."""
    return senses(scenario, one, other) and senses(scenario, other, one)


def reaches(scenario: ResolvedScenario, cell: int, other: int) -> bool:
    """Return True if any node of `other` receives any power from a node of `cell`."""
    return any(
        _received(scenario, one, two) is not None
        for one in nodes_of_cell(scenario, cell)
        for two in nodes_of_cell(scenario, other)
    )


def are_isolated(scenario: ResolvedScenario) -> bool:
    """Return True if the nodes of each cell all hear each other, and hear no other cell.

    The scenario must have `[air]` or cells.
    """
    return are_even(scenario) and not any(meeting(scenario))


def are_even(scenario: ResolvedScenario) -> bool:
    """Return True if each node hears all nodes of its own cell, and of each other cell all or none.

    Cells that hear each other are one medium then. The scenario must have `[air]` or cells.
    """
    air = scenario.air
    assert air is not None, "cells and [air] come together"
    if air.powers_known or (air.capture_db is not None and air.capture_db <= 0.0):
        return False
    if air.detect_ns >= scenario.phy.slot_time_ns and any(meeting(scenario)):
        return False
    heard = [
        {other for other, power in enumerate(row) if power is not None} for row in air.received_dbm
    ]
    return all(
        own in others and all(heard[other] == others for other in others)
        for own, others in enumerate(heard)
    )


def meeting(scenario: ResolvedScenario) -> list[set[int]]:
    """Return for each cell the others that disturb it or that one of its nodes senses."""
    cells = range(len(scenario.cells or ()))
    nodes = [nodes_of_cell(scenario, one) for one in cells]
    found = [set(others) for others in disturbers(scenario)]
    for one, other in itertools.permutations(cells, 2):
        if other not in found[one] and any(
            senses(scenario, sender, listener) for sender in nodes[other] for listener in nodes[one]
        ):
            found[one].add(other)
    return found


def disturbers(scenario: ResolvedScenario) -> list[list[int]]:
    """Return for each cell the others whose single frame may disturb its own, the loudest first.

    If powers are not known, return the cells that any of its nodes hears.
    """
    cells = range(len(scenario.cells or ()))
    if scenario.air is not None and not scenario.air.powers_known:
        return [
            [other for other in cells if other != one and reaches(scenario, other, one)]
            for one in cells
        ]
    margins = disturbances_db(scenario, most=True)
    return [
        sorted(
            (other for other in cells if margins[one, other] > 0.0), key=lambda x: -margins[one, x]
        )
        for one in cells
    ]


def disturbances_db(scenario: ResolvedScenario, *, most: bool) -> NDArray[np.float64]:
    """Return by how much frames of one cell (column) are too strong for another cell (row).

    With `most`, compare the loudest node with the weakest link of the cell. Otherwise compare the
    quietest node with the strongest link. Values are in dB, and minus infinity for the cell itself.
    Powers must be known.
    """
    import numpy as np

    cells, air = scenario.cells or (), scenario.air
    assert air is not None, "cells and [air] come together"
    received = np.array(
        [[-np.inf if power is None else power for power in row] for row in air.received_dbm]
    )
    extreme = np.max if most else np.min
    classes = np.array(air.classes)
    of_cells = np.array(
        [extreme(received[classes[nodes_of_cell(scenario, one)]], 0) for one in range(len(cells))]
    )
    disturbing = 10.0 * np.log10(10.0 ** (of_cells / 10.0) + 10.0 ** (air.noise_dbm / 10.0))
    found = np.full((len(cells), len(cells)), -np.inf if most else np.inf)
    merge = np.maximum if most else np.minimum
    for group in scenario.stations:
        assert group.needs is not None, "powers are known"
        cell = group.cell or 0
        ap, own = air.classes[cell], classes[nodes_of_group(scenario, group.name)]
        down = disturbing[:, own] - received[ap, own]
        up = disturbing[:, [ap]] - received[own, ap]
        found[cell] = merge(found[cell], extreme(merge(down, up), 1) + group.needs.data_db)
    np.fill_diagonal(found, -np.inf)
    return found


def deaf_groups(scenario: ResolvedScenario, index: int) -> Iterator[tuple[str, str]]:
    """Yield pairs of groups of a cell (or a group twice) that contain hidden stations."""
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
    assert air is not None, "cells and [air] come together"
    power: float | None = air.received_dbm[air.classes[sender]][air.classes[listener]]
    return power

"""A cell of several, or some of them, alone: groups, flows and air, and nothing of the others.

Knows the resolved form. Nodes keep their names, and so their random streams.
"""

from __future__ import annotations

from collections.abc import Sequence

from .resolved import ResolvedScenario


def cell_alone(scenario: ResolvedScenario, index: int) -> ResolvedScenario:
    """The scenario of one of its cells with no other about, by the place of the cell.

    Raises:
        ValueError: the scenario has no cells.
    """
    return cells_alone(scenario, (index,))


def cells_alone(scenario: ResolvedScenario, places: Sequence[int]) -> ResolvedScenario:
    """The scenario of some of its cells with no other about, by their places in ascending order.

    Raises:
        ValueError: the scenario has no cells.
    """
    cells, air = scenario.cells, scenario.air
    if cells is None or air is None:
        raise ValueError("a scenario of one cell has no cells to take one out")
    nodes = list(places)
    first = len(cells)
    groups = []
    for group in scenario.stations:
        if group.cell in places:
            nodes += range(first, first + group.count)
            groups.append(group.model_copy(update={"cell": places.index(group.cell)}))
        first += group.count
    kept = sorted({air.classes[node] for node in nodes})
    place = {old: new for new, old in enumerate(kept)}
    names = {group.name for group in groups}
    plain = ResolvedScenario.model_validate(dict(scenario))
    return plain.model_copy(
        update={
            "ap": cells[places[0]].ap,
            "cells": tuple(cells[one] for one in places),
            "air": air.model_copy(
                update={
                    "classes": tuple(place[air.classes[node]] for node in nodes),
                    "received_dbm": tuple(
                        tuple(air.received_dbm[one][other] for other in kept) for one in kept
                    ),
                }
            ),
            "stations": tuple(groups),
            "flows": tuple(flow for flow in scenario.flows if flow.stations in names),
        }
    )

"""Take some of several cells out of a scenario, with their groups, flows and received powers.

Nodes keep their names, and so their random streams.
"""

from __future__ import annotations

from collections.abc import Sequence

from .resolved import ResolvedScenario


def cell_alone(scenario: ResolvedScenario, index: int) -> ResolvedScenario:
    """Return the scenario with only one of its cells, given by its index.

    Raises:
        ValueError: the scenario has no cells.
    """
    return cells_alone(scenario, (index,))


def cells_alone(scenario: ResolvedScenario, places: Sequence[int]) -> ResolvedScenario:
    """Return the scenario with only some of its cells, given by their indices in ascending order.

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

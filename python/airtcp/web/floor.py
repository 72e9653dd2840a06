"""The map of a scenario of several cells, or of stations that do not all hear each other.

Knows places, who senses whom, and the shares of a chain of cells. Does not know how it is drawn,
and simulates nothing.
"""

from __future__ import annotations

from typing import Any, Final

from airtcp.predict.cells import declined
from airtcp.scenario import Scenario
from airtcp.scenario.hearing import hear
from airtcp.scenario.resolve_air import places

#: The share of time in which a cell of the chain sends that is alone: it always has something.
BUSY: Final = 0.9
#: The most nodes of which all pairs are told.
_MOST_NODES: Final = 60
#: The most cells of which the chain answers while somebody drags one of them.
_MOST_CELLS: Final = 24


def told(scenario: Scenario) -> dict[str, Any] | None:
    """The cells, nodes, walls and who hears whom; None where all hear each other.

    `nodes` are access points in the order of cells, then stations in that of groups, with `x` and
    `y` in metres where the file says so, else null. `hears` are pairs of nodes of which each senses
    the other, `deaf` pairs of one cell of which one does not. `share` of a cell is its time on the
    air over what it has alone, by the chain of independent sets, if each sends `busy` of the time
    alone; null where there is one cell, and where `silence` says why the chain has no number.
    """
    cells = scenario.cells
    if cells is None or scenario.air is None:
        return None
    where = places(scenario)
    nodes: list[dict[str, Any]] = [
        {"name": cell.name, "cell": place, "ap": True} for place, cell in enumerate(cells)
    ]
    for group in scenario.stations:
        nodes += [
            {"name": f"{group.name}/{one}", "cell": group.cell or 0, "ap": False}
            for one in range(group.count)
        ]
    for place, node in enumerate(nodes):
        node["x"], node["y"] = (None, None) if where is None else where[place]

    hears, deaf = [], []
    listed = range(min(len(nodes), _MOST_NODES))
    for one in listed:
        for other in listed[one + 1 :]:
            both = hear(scenario, one, other)
            if nodes[one]["ap"] and nodes[other]["ap"]:
                hears += [[one, other]] * both
            elif nodes[one]["cell"] == nodes[other]["cell"] and not both:
                deaf.append([one, other])
    silence = _silence(scenario)
    shares: list[float | None] = [None] * len(cells)
    if len(cells) > 1 and silence is None:
        shares[:] = _shares(scenario)
    walls = scenario.written.get("air", {}).get("path_loss", {}).get("walls", [])
    return {
        "cells": [
            {"name": cell.name, "channel": cell.channel, "share": share}
            for cell, share in zip(cells, shares, strict=True)
        ],
        "nodes": nodes,
        "hears": hears,
        "deaf": deaf,
        "walls": [[*wall["from"], *wall["to"]] for wall in walls],
        "placed": where is not None,
        "busy": BUSY,
        "silence": silence,
    }


def _silence(scenario: Scenario) -> str | None:
    """The reason for which the chain has no shares of several cells; None where it has."""
    cells = scenario.cells or ()
    if len(cells) > _MOST_CELLS:
        return f"the chain answers at once for {_MOST_CELLS} cells at most; here are {len(cells)}"
    return declined(scenario) if len(cells) > 1 else None


def _shares(scenario: Scenario) -> list[float]:
    """The share of each cell by the chain, on the channels that the cells have."""
    from airtcp.plan.shares import Chain, Graph

    cells = scenario.cells or ()
    # Cells on channels that do not overlap hear nothing of each other in the resolved form.
    shares = Chain(Graph(scenario), [BUSY] * len(cells)).shares([0] * len(cells))
    return [float(share) for share in shares]

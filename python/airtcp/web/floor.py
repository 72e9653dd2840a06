"""The map of a scenario with several cells or hidden stations.

Contains positions, who senses whom, and the shares of cells by a Markov chain.
"""

from __future__ import annotations

from typing import Any, Final

from airtcp.predict.cells import declined
from airtcp.scenario import Scenario
from airtcp.scenario.hearing import hear
from airtcp.scenario.resolve_air import places

#: The share of time that a cell sends when alone, in the chain: it always has packets to send.
BUSY: Final = 0.9
#: The most nodes for which all pairs are listed.
_MOST_NODES: Final = 60
#: The most cells for which the chain answers while a cell is being dragged.
_MOST_CELLS: Final = 24


def told(scenario: Scenario) -> dict[str, Any] | None:
    """Return cells, nodes, walls and who hears whom; None if all nodes hear each other.

    `nodes` are access points in the order of cells, then stations in the order of groups, with `x`
    and `y` in metres if the file sets them, else null. `hears` are pairs of nodes that sense each
    other, and `deaf` pairs of one cell in which one does not sense the other. `share` of a cell is
    its airtime divided by that of the isolated cell, by the chain of independent sets, if each
    isolated cell sends `busy` of the time. It is null for a single cell, and if the chain has no
    value; `silence` then says why.
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
        "walls": [[*wall["from"], *wall["to"], wall.get("loss")] for wall in walls],
        "placed": where is not None,
        "busy": BUSY,
        "silence": silence,
    }


def _silence(scenario: Scenario) -> str | None:
    """Return why the chain has no shares of several cells; None if it has."""
    cells = scenario.cells or ()
    if len(cells) > _MOST_CELLS:
        return f"the chain answers at once for {_MOST_CELLS} cells at most; here are {len(cells)}"
    return declined(scenario) if len(cells) > 1 else None


def _shares(scenario: Scenario) -> list[float]:
    """Return the share of each cell by the chain, on the cells' channels."""
    from airtcp.plan.shares import Chain, Graph

    cells = scenario.cells or ()
    # In the resolved form, cells on channels that do not overlap do not hear each other.
    shares = Chain(Graph(scenario), [BUSY] * len(cells)).shares([0] * len(cells))
    return [float(share) for share in shares]

"""The map of a scenario with several cells or hidden stations.

Contains positions, who senses whom, and the shares of cells by a Markov chain.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
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
#: The most pairs of access points that are named.
_MOST_PAIRS: Final = 6
#: The usual width of the picture in pixels.
_WIDTH: Final = 560


def told(scenario: Scenario) -> dict[str, Any] | None:
    """Return cells, nodes, walls and who hears whom; None if all nodes hear each other.

    `nodes` are access points in the order of cells, then stations in the order of groups, with `x`
    and `y` in metres if the file sets them, else null. `hears` are pairs of nodes that sense each
    other, and `deaf` pairs of one cell in which one does not sense the other. `share` of a cell is
    its airtime divided by that of the isolated cell, from the Markov chain of the model of cells;
    an isolated cell transmits `busy` of the time. `share` is null for a single cell, and if the
    chain has no value; `silence` then says why.
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
    map_ = {
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
    return map_ | {"about": _about(map_), "spots": None if map_["placed"] else _spots(map_)}


def _about(told: Mapping[str, Any]) -> str:
    """Describe who hears whom, and what can be done with the map."""
    cells, deaf, silence = told["cells"], len(told["deaf"]), told["silence"]
    name = [one["name"] for one in told["nodes"]]
    pairs = [f"{name[one]} and {name[other]}" for one, other in told["hears"]]
    words = []
    if pairs:
        rest = len(pairs) - _MOST_PAIRS
        more = f", and {rest} more pairs" if rest > 0 else ""
        listed = "; ".join(pairs[:_MOST_PAIRS])
        words.append(f"Access points that hear each other: {listed}{more}.")
    elif len(cells) > 1:
        words.append("No access point hears another one.")
    if deaf:
        do = "pair of one cell does" if deaf == 1 else "pairs of one cell do"
        words.append(f"{deaf} {do} not hear each other.")
    follows = "" if silence else " and update the shares"
    words.append(
        f"Drag an access point to move it{follows}; stations drawn around it move with it."
        if told["placed"]
        else "The file says who hears whom, but has no positions; the picture chooses them."
    )
    if any(one["share"] is not None for one in cells):
        busy = f"{100 * told['busy']:g} %"
        words.append(f"The Markov chain assumes that each isolated cell sends {busy} of the time.")
    elif silence:
        words.append(f"The Markov chain does not apply: {silence}. Simulate to get the shares.")
    return " ".join(words)


def _spots(told: Mapping[str, Any]) -> list[list[float]]:
    """Return places in a picture for nodes without positions: cells in a row, stations around.

    Each is `x` as a fraction of the width, and offsets in pixels from there and from the middle.
    """
    cells, nodes = len(told["cells"]), told["nodes"]
    # Shift cells, so that a line between two cells does not cross a third one.
    crosses = cells > 2 and any(abs(one - other) > 1 for one, other in told["hears"])
    far = min(_WIDTH / cells / 3, 62.0)
    many = Counter(node["cell"] for node in nodes if not node["ap"])
    seen: Counter[int] = Counter()
    spots = []
    for node in nodes:
        cell = node["cell"]
        middle, lift = (cell + 0.5) / cells, (-30 if cell % 2 else 30) if crosses else 0
        if node["ap"]:
            spots.append([middle, 0.0, lift])
            continue
        index, seen[cell] = seen[cell], seen[cell] + 1
        # Two stations are not in line with their access point.
        turn = math.tau * index / many[cell] + math.pi / 2
        if many[cell] == 2:
            turn = math.pi * (5 if index else 1) / 6
        spots.append([middle, far * math.cos(turn), lift + far * math.sin(turn)])
    return spots


def _silence(scenario: Scenario) -> str | None:
    """Return why the chain has no shares of several cells; None if it has."""
    cells = scenario.cells or ()
    if len(cells) > _MOST_CELLS:
        return f"the model takes at most {_MOST_CELLS} cells; this scenario has {len(cells)}"
    return declined(scenario) if len(cells) > 1 else None


def _shares(scenario: Scenario) -> list[float]:
    """Return the share of each cell by the chain, on the cells' channels."""
    from airtcp.plan.shares import Chain, Graph

    cells = scenario.cells or ()
    # In the resolved form, cells on channels that do not overlap do not hear each other.
    shares = Chain(Graph(scenario), [BUSY] * len(cells)).shares([0] * len(cells))
    return [float(share) for share in shares]

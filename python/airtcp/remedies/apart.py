"""Channels of their own for cells that hear each other, and what else changes with a channel.

Knows which channels a band has, which share spectrum, and who hears whom. Does not know which of
several ways is best: that is `airtcp.plan`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from airtcp import channels
from airtcp.scenario.hearing import meeting
from airtcp.scenario.keys.traffic import is_endless
from airtcp.scenario.resolve_air import band_and_width

if TYPE_CHECKING:
    from airtcp.scenario import Scenario


def apart(scenario: Scenario) -> tuple[int, ...] | None:
    """Return a channel for each cell, so that none shares spectrum with one that it meets.

    Cells meet where some node of one senses one of the other, or is disturbed by it.

    Cells in the order of the scenario keep the channel that they have wherever they can. None where
    the band has too few channels, or there is one cell.
    """
    cells = scenario.cells or ()
    if len(cells) < 2:
        return None
    band, width = band_and_width(scenario)
    known = channels.channels(band, width)
    met = meeting(scenario)
    chosen: list[int] = []
    for index, cell in enumerate(cells):
        others = [
            number
            for other, number in enumerate(chosen)
            # Of cells on two channels nothing may say whether they would hear each other on one.
            if cells[other].channel != cell.channel or other in met[index] or index in met[other]
        ]
        present = [] if cell.channel is None else [cell.channel]
        free = (
            number
            for number in (*present, *known)
            if all(channels.share(band, width, number, one) is False for one in others)
        )
        number = next(free, None)
        if number is None:
            return None
        chosen.append(number)
    return tuple(chosen)


def spread(scenario: Scenario) -> tuple[int, ...] | None:
    """Return a channel for each cell, so that fewer of them share spectrum with one that they meet.

    Cells move one by one, each time the one by whose move most is gained; whoever shares with a
    cell that has an endless flow, which takes all air that it gets, counts more. None where no move
    gains anything, or there is one cell.
    """
    cells = scenario.cells or ()
    if len(cells) < 2:
        return None
    chosen = [cell.channel for cell in cells if cell.channel is not None]
    band, width = band_and_width(scenario)
    known: list[int] = []
    for number in (*chosen, *channels.channels(band, width)):
        if all(channels.share(band, width, number, one) is False for one in known):
            known.append(number)
    if len(chosen) < len(cells):
        chosen = known[:1] * len(cells)
    met = meeting(scenario)
    restless = {scenario.group(flow.stations).cell for flow in scenario.flows if is_endless(flow)}

    def shared(one: int, channel: int) -> int:
        return sum(
            1 + (one in restless) + (other in restless)
            for other, number in enumerate(chosen)
            # Of cells on two channels nothing may say whether they would hear each other on one.
            if cells[other].channel != cells[one].channel or other in met[one] or one in met[other]
            if other != one and channels.share(band, width, number, channel)
        )

    moved = False
    while True:
        moves = (
            (shared(one, number) - shared(one, present), one, number)
            for one, present in enumerate(chosen)
            for number in known
        )
        gained, one, number = min(moves, default=(0, 0, 0))
        if gained >= 0:
            return tuple(chosen) if moved else None
        chosen[one] = number
        moved = True


def channel_changes(scenario: Scenario, plan: Sequence[int]) -> dict[str, Any]:
    """Return the changes, by key path, that give cells other channels than they have."""
    return {
        f"cells.{cell.name}.channel": number
        for cell, number in zip(scenario.cells or (), plan, strict=True)
        if cell.channel != number
    }

"""Choose channels so that cells that hear each other do not share spectrum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from airtcp import channels
from airtcp.scenario.hearing import meeting
from airtcp.scenario.keys.traffic import is_endless
from airtcp.scenario.resolve_channels import band_and_width

if TYPE_CHECKING:
    from airtcp.scenario import Scenario


def apart(scenario: Scenario) -> tuple[int, ...] | None:
    """Return a channel for each cell, so that no two cells that meet share spectrum.

    Two cells meet if a node of one senses or disturbs a node of the other.

    Cells keep their channel if possible, in the order of the scenario. None if the band has too few
    channels, or if there is only one cell.
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
            # For cells on different channels, the file may not say whether they would hear each
            # other.
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
    """Return a channel for each cell, so that fewer cells in range of each other share spectrum.

    Cells move one at a time, each time the one with the largest gain. Sharing with a cell that has
    an endless flow counts more, because such a flow takes all airtime that it gets. None if no move
    helps, or if there is only one cell.
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
            # For cells on different channels, the file may not say whether they would hear each
            # other.
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
    """Return the changes of channels, by key path, that turn the scenario into `plan`."""
    return {
        f"cells.{cell.name}.channel": number
        for cell, number in zip(scenario.cells or (), plan, strict=True)
        if cell.channel != number
    }

"""Shares of cells by a chain: who hears whom, and what each keeps of what it has alone.

Knows received powers between cells as they are and with other powers and places of their access
points, and the graph that follows. Does not know channels, nor which plan is wanted.

The chain of independent sets (`airtcp.models.cells`) is asked for the share of time of each cell,
with the odds of sending that the cell has alone: so a cell that is not saturated stays so. Stations
that are hidden, frames that fail, and cells of which only one hears the other are not in it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from airtcp.plan.settings import Setting, today
from airtcp.scenario.hearing import nodes_of_cell
from airtcp.scenario.resolve_air import places, powers_between

if TYPE_CHECKING:
    from airtcp.scenario import Scenario

#: The most of its time that a cell alone sends.
_MOST_BUSY: Final = 0.999
#: Below this part of the pairs of nodes of two cells that hear each other they are no neighbours.
_NEIGHBOURS: Final = 0.5
#: A part of milliwatts for what is heard where no powers are known (-50 dBm).
_HEARD_MW: Final = 1e-5

_Point = tuple[float, float]


class Graph:
    """The cells that hear each other if they are on one channel, and how loud."""

    def __init__(self, scenario: Scenario, settings: Sequence[Sequence[Setting]] = ()) -> None:
        """Take what nodes receive of each other.

        `settings` are those that each cell may have; without any it has that of the scenario.
        """
        cells = scenario.cells
        assert cells is not None
        self.cells = len(cells)
        self._settings = settings or [[one] for one in today(scenario)]
        self._heard = _Heard(scenario, self._settings)
        self._pair = cache(self._seen)

    @property
    def neighbours(self) -> list[list[bool]]:
        """The cells that hear each other, each with the first of its settings."""
        cells = range(self.cells)
        return [[a != b and self.hear(a, 0, b, 0) for b in cells] for a in cells]

    def hear(self, one: int, setting: int, other: int, its: int) -> bool:
        """Tell whether two cells hear each other, each with one of its settings."""
        return self._pair(one, setting, other, its)[0] or self._pair(other, its, one, setting)[0]

    def louder(self, channels: Sequence[int | None], settings: Sequence[int]) -> float:
        """Add the powers, in mW, that cells of one channel receive of each other."""
        return sum(
            self._pair(one, settings[one], other, settings[other])[1]
            for one, other in itertools.permutations(range(self.cells), 2)
            if channels[one] == channels[other]
        )

    def _seen(self, one: int, setting: int, other: int, its: int) -> tuple[bool, float]:
        """Tell whether a cell hears another, and how loud, in mW, over the pairs of nodes."""
        seen = self._heard.powers(one, setting, other, its)
        heard = [self._heard.senses(power) for power in seen]
        loud = sum(
            (10.0 ** (power / 10.0) if self._heard.known else _HEARD_MW)
            for power in seen
            if power is not None
        )
        # The access points are the first nodes of both.
        return heard[0] or sum(heard) >= _NEIGHBOURS * len(heard), loud / len(seen)


class Chain:
    """The shares that cells keep of what they have alone, by the chain of independent sets."""

    def __init__(self, graph: Graph, busy: Sequence[float | Sequence[float]]) -> None:
        """Take of each cell the share of time in which it sends alone, or one for each setting."""
        self._graph = graph
        each = [[one] if isinstance(one, float) else one for one in busy]
        self._busy = [[min(max(share, 1e-6), _MOST_BUSY) for share in one] for one in each]
        self._of_set = cache(self._shares_of)

    def shares(
        self, channels: Sequence[int | None], settings: Sequence[int] | None = None
    ) -> list[float]:
        """Return of each cell its time on the air over what it has alone."""
        has = [0] * len(channels) if settings is None else settings
        found = [0.0] * len(channels)
        for channel in set(channels):
            members = tuple(
                (place, has[place]) for place, one in enumerate(channels) if one == channel
            )
            for (place, _), share in zip(members, self._of_set(members), strict=True):
                found[place] = share
        return found

    def _shares_of(self, members: tuple[tuple[int, int], ...]) -> list[float]:
        from airtcp.models.cells import independent_sets

        heard = [[a != b and self._graph.hear(*a, *b) for b in members] for a in members]
        busy = [self._busy[place][setting] for place, setting in members]
        shares = independent_sets(heard, busy, [1.0 - one for one in busy])
        return [float(share) / one for share, one in zip(shares, busy, strict=True)]


class _Heard:
    """The powers that nodes of cells receive of each other, whatever setting each cell has."""

    def __init__(self, scenario: Scenario, settings: Sequence[Sequence[Setting]]) -> None:
        cells, air = scenario.cells, scenario.air
        assert cells is not None
        self._settings = settings
        self._nodes = [nodes_of_cell(scenario, place) for place in range(len(cells))]
        self.known = air is not None and air.powers_known
        self._sense_dbm = -82.0
        count = sum(map(len, self._nodes))
        #: The place of each cell's access point among those that powers are known of.
        self._access_points: dict[tuple[int, _Point], int] = {}
        self._louder_dbm: list[float | None] = [None] * len(cells)
        if air is None:
            # All hear all alike.
            self._powers: Sequence[Sequence[float | None]] = [[-50.0] * count] * count
            return
        self._sense_dbm = max(air.sense_dbm, -200.0 if air.obss_pd_dbm is None else air.obss_pd_dbm)
        self._louder_dbm = [one.power_dbm for one in today(scenario)]
        moved = [
            (place, one.position)
            for place, of_cell in enumerate(settings)
            for one in of_cell
            if one.position is not None and one.position != of_cell[0].position
        ]
        if not moved:
            self._powers = [
                [air.received_dbm[one][other] for other in air.classes] for one in air.classes
            ]
            return
        where = places(scenario)
        assert where is not None, "access points move where there is a path loss"
        for key in dict.fromkeys(moved):
            self._access_points[key] = len(where)
            where.append(key[1])
        self._powers = powers_between(scenario, where)
        self._louder_dbm = [air.power_dbm] * len(cells)

    def senses(self, power: float | None) -> bool:
        """Tell whether frames are sensed at a power."""
        return power is not None and (not self.known or power >= self._sense_dbm)

    def powers(self, one: int, setting: int, other: int, its: int) -> list[float | None]:
        """List what the nodes of a cell are received with by those of another, in dBm."""
        found = []
        for sender in self._nodes_of(one, setting):
            louder = 0.0
            if sender == self._nodes_of(one, setting)[0]:
                power, usual = self._settings[one][setting].power_dbm, self._louder_dbm[one]
                louder = 0.0 if power is None or usual is None else power - usual
            for listener in self._nodes_of(other, its):
                received = self._powers[sender][listener]
                found.append(None if received is None else received + louder)
        return found

    def _nodes_of(self, cell: int, setting: int) -> list[int]:
        nodes = self._nodes[cell]
        where = self._settings[cell][setting].position
        moved = None if where is None else self._access_points.get((cell, where))
        return [nodes[0] if moved is None else moved, *nodes[1:]]

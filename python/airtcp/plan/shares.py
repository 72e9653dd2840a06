"""Estimate by a Markov chain which share of its isolated goodput each cell keeps.

Uses the received powers between cells, also for other powers and positions of access points, and
the graph of which cells hear each other.

The chain of independent sets (`airtcp.models.cells`) gives the share of time of each cell, from the
odds of sending that the cell has alone, so that an unsaturated cell stays unsaturated. Hidden
stations, frame errors, and one-way hearing between cells are not modelled.
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

#: The largest share of time that an isolated cell sends.
_MOST_BUSY: Final = 0.999
#: Two cells are neighbours if at least this fraction of their pairs of nodes hear each other.
_NEIGHBOURS: Final = 0.5
#: The power assumed for heard nodes if no powers are known, in mW (-50 dBm).
_HEARD_MW: Final = 1e-5

_Point = tuple[float, float]


class Graph:
    """The cells that would hear each other on one channel, and how loudly."""

    def __init__(self, scenario: Scenario, settings: Sequence[Sequence[Setting]] = ()) -> None:
        """Compute the graph from the received powers of nodes.

        `settings` are the allowed settings of each cell, by default those of the scenario.
        """
        cells = scenario.cells
        assert cells is not None
        self.cells = len(cells)
        self._settings = settings or [[one] for one in today(scenario)]
        self._heard = _Heard(scenario, self._settings)
        self._pair = cache(self._seen)

    @property
    def neighbours(self) -> list[list[bool]]:
        """Whether cells hear each other, each with the first of its settings."""
        cells = range(self.cells)
        return [[a != b and self.hear(a, 0, b, 0) for b in cells] for a in cells]

    def hear(self, one: int, setting: int, other: int, its: int) -> bool:
        """Whether two cells hear each other, each with one of its settings."""
        return self._pair(one, setting, other, its)[0] or self._pair(other, its, one, setting)[0]

    def louder(self, channels: Sequence[int | None], settings: Sequence[int]) -> float:
        """Return the sum of the powers in mW that cells on one channel receive from each other."""
        return sum(
            self._pair(one, settings[one], other, settings[other])[1]
            for one, other in itertools.permutations(range(self.cells), 2)
            if channels[one] == channels[other]
        )

    def _seen(self, one: int, setting: int, other: int, its: int) -> tuple[bool, float]:
        """Return whether `other` hears `one`, and the mean received power over node pairs in mW."""
        seen = self._heard.powers(one, setting, other, its)
        heard = [self._heard.senses(power) for power in seen]
        loud = sum(
            (10.0 ** (power / 10.0) if self._heard.known else _HEARD_MW)
            for power in seen
            if power is not None
        )
        # The access points are the first nodes of both cells.
        return heard[0] or sum(heard) >= _NEIGHBOURS * len(heard), loud / len(seen)


class Chain:
    """The shares of their isolated goodput that cells keep, by the chain of independent sets."""

    def __init__(self, graph: Graph, busy: Sequence[float | Sequence[float]]) -> None:
        """Initialize with each isolated cell's share of time sending, or one per setting."""
        self._graph = graph
        each = [[one] if isinstance(one, float) else one for one in busy]
        self._busy = [[min(max(share, 1e-6), _MOST_BUSY) for share in one] for one in each]
        self._of_set = cache(self._shares_of)

    def shares(
        self, channels: Sequence[int | None], settings: Sequence[int] | None = None
    ) -> list[float]:
        """Return each cell's airtime divided by the isolated cell's airtime."""
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
    """The powers that nodes receive from each other, for any settings of the cells."""

    def __init__(self, scenario: Scenario, settings: Sequence[Sequence[Setting]]) -> None:
        cells, air = scenario.cells, scenario.air
        assert cells is not None
        self._settings = settings
        self._nodes = [nodes_of_cell(scenario, place) for place in range(len(cells))]
        self.known = air is not None and air.powers_known
        self._sense_dbm = -82.0
        count = sum(map(len, self._nodes))
        #: The index of each cell's access point, by position, in the table of powers.
        self._access_points: dict[tuple[int, _Point], int] = {}
        self._louder_dbm: list[float | None] = [None] * len(cells)
        if air is None:
            # All nodes hear each other equally.
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
        """Whether frames with this received power are sensed."""
        return power is not None and (not self.known or power >= self._sense_dbm)

    def powers(self, one: int, setting: int, other: int, its: int) -> list[float | None]:
        """Return the powers in dBm at which nodes of `other` receive nodes of `one`."""
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

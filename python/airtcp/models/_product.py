"""Sum products over the independent sets of a graph, and compute quotients of these sums.

This is the product form of cells that never collide (`airtcp.models.cells`). It solves much larger
graphs than a list of states.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from airtcp.models._clusters import Unaligned
from airtcp.models.checks import Values


class Product:
    """The product form: pi(s) = product of the ratios of the cells in s, s independent.

    Z(V) is the sum over all subsets of the cells V, Z(V) = Z(V - i) + ratio_i Z(V - i - its
    neighbors). The share that neighbors leave to a cell is a quotient of two sums. The cells are
    ordered so that neighbors are close, which keeps the number of sums small.
    """

    def __init__(self, neighbours: NDArray[np.bool_]) -> None:
        self._cells = len(neighbours)
        self._order = _near_each_other(neighbours)
        self.graph = neighbours[np.ix_(self._order, self._order)].astype(float)
        masks = [sum(1 << int(j) for j in np.flatnonzero(row)) for row in self.graph]
        closed = [mask | 1 << cell for cell, mask in enumerate(masks)]
        everything = (1 << self._cells) - 1
        cells = range(self._cells)
        self.edges = np.argwhere(self.graph)
        # Two neighbors of a cell that do not hear each other.
        self.forks = np.array(
            [
                (cell, one, other)
                for cell in cells
                for one in np.flatnonzero(self.graph[cell])
                for other in np.flatnonzero(self.graph[cell][:one])
                if not self.graph[one, other]
            ],
            dtype=int,
        ).reshape(-1, 3)
        wanted = [
            everything,
            *(everything & ~one for one in closed),
            *(everything & ~(closed[i] | closed[j]) for i, j in self.edges),
            *(everything & ~(closed[i] | closed[j] | closed[k]) for i, j, k in self.forks),
        ]
        places = {0: 0}
        levels: list[list[int]] = [[] for _ in cells]
        for mask in wanted:
            self._place(mask, places, levels)
        for cell in reversed(cells):
            for mask in levels[cell]:
                for child in (mask & ~(1 << cell), mask & ~closed[cell]):
                    self._place(child, places, levels)
        self._sums = np.ones(len(places))
        self._levels = [
            (
                np.array([places[mask] for mask in level], dtype=int),
                np.array([places[mask & ~(1 << cell)] for mask in level], dtype=int),
                np.array([places[mask & ~closed[cell]] for mask in level], dtype=int),
            )
            for cell, level in enumerate(levels)
        ]
        found = np.array([places[mask] for mask in wanted])
        self._whole, self._open = found[0], found[1 : 1 + self._cells]
        self._pairs = found[1 + self._cells : 1 + self._cells + len(self.edges)]
        self._threes = found[1 + self._cells + len(self.edges) :]

    @staticmethod
    def _place(mask: int, places: dict[int, int], levels: list[list[int]]) -> None:
        if mask not in places:
            places[mask] = len(places)
            levels[mask.bit_length() - 1].append(mask)

    def inward(self, of_cells: Values) -> Values:
        """Convert values per cell to the internal order."""
        return np.asarray(of_cells[self._order])

    def outward(self, of_cells: Values) -> Values:
        """Convert values per cell to the caller's order."""
        found = np.empty(self._cells)
        found[self._order] = of_cells
        return found

    def solve(self, ratios: Values) -> None:
        """Compute the sums for the ratios of all cells."""
        for cell, (at, without, apart) in enumerate(self._levels):
            self._sums[at] = self._sums[without] + ratios[cell] * self._sums[apart]

    def may_begin(self) -> Values:
        """Return the fraction of time in which a cell and all its neighbors are silent."""
        return np.asarray(self._sums[self._open] / self._sums[self._whole])

    def free_beside(self) -> Values:
        """Return the probability that neighbor j may start, given that cell i may."""
        found = np.zeros((self._cells, self._cells))
        one, other = self.edges.T
        found[one, other] = self._sums[self._pairs] / self._sums[self._open[one]]
        return found

    def kept(self, begins: Values, free: Values, slot_s: float, waits: Unaligned) -> Values:
        """Return the fraction of its slots that a cell keeps, as in the chain of clusters."""
        closed = self.graph + np.eye(self._cells)
        others = self.graph * (closed[:, None] != closed[None]).any(axis=2)
        interrupted = (others * free) @ begins
        kept = np.ones(self._cells)
        np.divide(interrupted, np.expm1(interrupted), out=kept, where=interrupted > 0.0)
        if len(self.forks):
            cell, one, other = self.forks.T
            ends = 2.0 * waits.window_s * begins[one] * begins[other] / slot_s**2
            both = self._sums[self._threes] / self._sums[self._open[cell]]
            overlaps = np.bincount(cell, ends * both, self._cells)
            busy = np.maximum((self.graph * free) @ begins / slot_s, 1e-9)
            kept *= np.maximum(1.0 - overlaps * -np.expm1(-busy * waits.longer_s) / busy, 0.02)
        return kept


def _near_each_other(neighbours: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Order cells so that neighbors are close (E. Cuthill and J. McKee, 1969)."""
    degrees = neighbours.sum(axis=1)
    order: list[int] = []
    seen: set[int] = set()
    for start in np.argsort(degrees, kind="stable"):
        waiting = [] if int(start) in seen else [int(start)]
        seen.update(waiting)
        while waiting:
            cell = waiting.pop(0)
            order.append(cell)
            found = [int(one) for one in np.flatnonzero(neighbours[cell]) if int(one) not in seen]
            waiting += sorted(found, key=lambda one: int(degrees[one]))
            seen.update(found)
    return np.array(order, dtype=np.intp)

"""Compute the positions of nodes, and received powers from distances and walls."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Final

from .errors import Path, invalid
from .quantities import Written

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Free-space loss at 2.44, 5 and 5.95 GHz over a metre: 20 log10(4 pi d f / c).
AT_1M_DB: Final[dict[float, float]] = {2.4: 40.2, 5: 46.4, 6: 47.9}
#: Powers are rounded to this number of decimals, because logarithms differ slightly by machine.
DIGITS: Final = 2
_GOLDEN_ANGLE: Final = math.pi * (3.0 - math.sqrt(5.0))
_Place = tuple[float, float]


def positions(scenario: Written, cells: dict[str, Written], cell_of: list[str]) -> list[_Place]:
    """Return the positions of all nodes: access points in order of cells, then stations by group.

    Raises:
        InvalidError: a cell or a group has no position, or a group lacks one for some station.
    """
    places: list[_Place] = []
    for name, cell in cells.items():
        if (
            cell.position is None
            and len(cells) == 1
            and any(group.distance is not None for group in scenario.stations)
        ):
            places.append((0.0, 0.0))
            continue
        if cell.position is None:
            raise invalid(("cells", name, "position"), "floor.no_position")
        places.append((cell.position[0], cell.position[1]))
    centres = dict(zip(cells, places, strict=True))
    for index, group in enumerate(scenario.stations):
        where = group.positions
        here: Path = ("stations", index, "positions")
        if group.distance is not None:
            if where is not None:
                raise invalid(here, "floor.position_and_distance")
            places += _around(group, f"{cell_of[index]}/{group.name}", centres[cell_of[index]])
            continue
        if where is None:
            raise invalid(here, "floor.no_place", cell=cell_of[index])
        if not isinstance(where, list):
            places += _drawn(
                where, f"{cell_of[index]}/{group.name}", centres[cell_of[index]], group
            )
            continue
        if len(where) != group.count:
            raise invalid(
                here, "floor.places", places=len(where), name=group.name, count=group.count
            )
        places += [(point[0], point[1]) for point in where]
    return places


def _drawn(disc: Written, name: str, centre: _Place, group: Written) -> list[_Place]:
    """Return random positions in a disc, two draws per station from the group's own stream."""
    stream = random.Random(f"{disc.seed}/{name}")
    if disc.centre is not None:
        centre = (disc.centre[0], disc.centre[1])
    places = []
    for _ in range(group.count):
        radius, angle = disc.disc * math.sqrt(stream.random()), math.tau * stream.random()
        places.append((centre[0] + radius * math.cos(angle), centre[1] + radius * math.sin(angle)))
    return places


def _around(group: Written, name: str, centre: _Place) -> list[_Place]:
    """Return positions on a circle, one golden angle apart.

    Adding stations moves no earlier one.
    """
    first = math.tau * random.Random(name).random()
    angles = (first + _GOLDEN_ANGLE * station for station in range(group.count))
    return [
        (
            centre[0] + group.distance * math.cos(angle),
            centre[1] + group.distance * math.sin(angle),
        )
        for angle in angles
    ]


def received_dbm(
    places: list[_Place], path_loss: Written, power_dbm: float, band_ghz: float
) -> list[list[float | None]]:
    """Return the power in dBm that each node receives from each other; rows are senders.

    It is the transmit power minus the loss over the first metre, minus `10 exponent log10` of the
    distance in metres, minus the loss of the walls that the straight line crosses.
    """
    import numpy as np

    points = np.array(places)
    apart = points[:, None, :] - points[None, :, :]
    distance = np.maximum(np.hypot(apart[..., 0], apart[..., 1]), 1.0)
    at_1m = AT_1M_DB[band_ghz] if path_loss.at_1m is None else path_loss.at_1m
    power = power_dbm - at_1m - 10.0 * path_loss.exponent * np.log10(distance)
    for wall in path_loss.walls or ():
        power -= wall.loss * _crosses(points, np.array(getattr(wall, "from")), np.array(wall.to))
    rounded: list[list[float | None]] = np.round(power, DIGITS).tolist()
    return rounded


def _crosses(
    points: NDArray[np.float64], end: NDArray[np.float64], other: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return for each pair of points whether the line between them crosses a wall."""
    along = other - end
    # The side of the wall's line for each point, and the side of the line of sight for each end.
    side = along[0] * (points[:, 1] - end[1]) - along[1] * (points[:, 0] - end[0])
    parted = side[:, None] * side[None, :] < 0.0
    sight = points[None, :, :] - points[:, None, :]

    def side_of(one: NDArray[np.float64]) -> NDArray[np.float64]:
        to = one - points
        found: NDArray[np.float64] = sight[..., 0] * to[:, None, 1] - sight[..., 1] * to[:, None, 0]
        return found

    crossed: NDArray[np.bool_] = parted & (side_of(end) * side_of(other) <= 0.0)
    return crossed

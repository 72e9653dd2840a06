"""The powers and positions of access points that a plan may try.

Excludes settings that leave a station without a signal, and translates settings into file keys.
Stations stay where they are.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from airtcp.exceptions import QuestionError, ScenarioError
from airtcp.phrases import phrase
from airtcp.scenario.hearing import nodes_of_cell
from airtcp.scenario.resolve_air import places
from airtcp.units import parse_power_dbm

if TYPE_CHECKING:
    from airtcp.scenario import Scenario

Point = tuple[float, float]

#: The default powers to try, in dB below the current power.
_BELOW_DB: Final = (0.0, 3.0, 6.0, 9.0)
#: The most settings of all cells; checking one takes about 10 ms.
_MOST: Final = 400
#: The default spacing of the grid, in metres.
GRID_M: Final = 5.0
_DIGITS: Final = 3


class Setting(NamedTuple):
    """The power of an access point and its position; None if the scenario does not define it."""

    power_dbm: float | None
    position: Point | None


def today(scenario: Scenario) -> list[Setting]:
    """Return the current setting of each cell."""
    cells, air = scenario.cells or (), scenario.air
    where = places(scenario)
    tables = scenario.written.get("cells", {})
    found = []
    for place, cell in enumerate(cells):
        power = None
        if air is not None and air.powers_known:
            own = tables.get(cell.name, {}).get("power")
            power = air.power_dbm if own is None else parse_power_dbm(own)
        found.append(Setting(power, None if where is None else where[place]))
    return found


def setting_changes(scenario: Scenario, place: int, setting: Setting) -> dict[str, Any]:
    """Return the changes, by key path, that apply a setting to a cell.

    Stations drawn around their access point stay where they are when it moves.
    """
    cell, now = (scenario.cells or ())[place], today(scenario)[place]
    changes: dict[str, Any] = {}
    if setting.power_dbm is not None and setting.power_dbm != now.power_dbm:
        changes[f"cells.{cell.name}.power"] = power_text(setting.power_dbm)
    if setting.position is None or now.position is None or setting.position == now.position:
        return changes
    changes[f"cells.{cell.name}.position"] = list(setting.position)
    for group in scenario.written["stations"]:
        where = group.get("positions")
        drawn = isinstance(where, dict) and "centre" not in where
        if drawn and group.get("cell", cell.name) == cell.name:
            changes[f"stations.{group['name']}.positions.centre"] = list(now.position)
    return changes


class Settings:
    """The settings of each cell, with the current one first.

    `allowed` has indices of valid settings. `left_out` has the reason for each invalid one, such as
    a station without a signal.
    """

    def __init__(
        self, scenario: Scenario, powers_dbm: Sequence[float] | None, grid_m: float | None
    ) -> None:
        """Check every power of every cell at every point of the grid.

        With `powers_dbm` None, powers do not vary; an empty sequence means the default powers below
        the current one. `grid_m` is the spacing of the grid; with None nothing moves.

        Raises:
            QuestionError: the scenario has no powers or positions, there is nothing to choose from,
                too much, or a rule excludes all settings of a cell.
        """
        air, now = scenario.air, today(scenario)
        if powers_dbm is not None and (air is None or not air.powers_known):
            raise QuestionError(phrase("plan.settings.no_powers"))
        if powers_dbm is not None and air is not None and air.obss_pd_dbm is not None:
            raise QuestionError(phrase("plan.settings.obss_pd"))
        if grid_m is not None and now[0].position is None:
            raise QuestionError(phrase("plan.settings.no_positions"))
        self.each = [[one] for one in now]
        self.allowed: list[list[int]] = []
        self.left_out: dict[str, str] = {}
        wanted = [
            list(_wanted(one, powers_dbm, _points(scenario, place, grid_m)))
            for place, one in enumerate(now)
        ]
        several = sum(map(len, wanted))
        if several > _MOST:
            raise QuestionError(phrase("plan.settings.too_many", several=several, most=_MOST))
        for place, settings in enumerate(wanted):
            self.allowed.append(self._taken(scenario, place, settings))
        varied = powers_dbm is not None or grid_m is not None
        if varied and all(one == [0] for one in self.allowed):
            what = "powers (--powers)" if grid_m is None else phrase("plan.settings.denser_grid")
            raise QuestionError(
                phrase("plan.settings.no_alternative")
                + what
                + "".join(f"; left out: {name}: {why}" for name, why in self._first_left_out())
            )

    def _taken(self, scenario: Scenario, place: int, wanted: Sequence[Setting]) -> list[int]:
        """Return the indices of the wanted settings that give a valid scenario."""
        of_cell, name = self.each[place], (scenario.cells or ())[place].name
        allowed, reasons = [], {}
        for setting in wanted:
            if setting == of_cell[0]:
                allowed.append(0)
                continue
            text = f"{name} {setting_text(setting, of_cell[0])}"
            try:
                changed = scenario.vary(setting_changes(scenario, place, setting))
            except ScenarioError as error:
                reasons[text] = f"{error.key}: {error.message}"
                continue
            out = _out_of_range(changed) - _out_of_range(scenario)
            if out:
                sense = 0.0 if changed.air is None else changed.air.sense_dbm
                reasons[text] = phrase("plan.settings.out_of_range", out=min(out), sense=sense)
            else:
                allowed.append(len(of_cell))
                of_cell.append(setting)
        self.left_out.update(reasons)
        if not allowed:
            least = list(reasons.items())[-1]
            raise QuestionError(
                phrase("plan.settings.none_left", name=name, first=least[0], message=least[1])
            )
        return allowed

    def _first_left_out(self) -> list[tuple[str, str]]:
        return list(self.left_out.items())[:1]


def _out_of_range(scenario: Scenario) -> set[str]:
    return {
        f"{group.name}/{place}" for group in scenario.stations for place in group.out_of_range or ()
    }


def power_text(power_dbm: float) -> str:
    """Format a power as in a file."""
    return f"{power_dbm:g} dBm"


def setting_text(setting: Setting, of: Setting) -> str:
    """Describe how a setting differs from another: "14 dBm, at (4, 0)"."""
    parts = []
    if setting.power_dbm != of.power_dbm and setting.power_dbm is not None:
        parts.append(power_text(setting.power_dbm))
    if setting.position != of.position and setting.position is not None:
        parts.append(f"at ({setting.position[0]:g}, {setting.position[1]:g})")
    return ", ".join(parts)


def _wanted(
    now: Setting, powers_dbm: Sequence[float] | None, points: Sequence[Point | None]
) -> Iterator[Setting]:
    """Iterate over powers, lowest first, at each point."""
    powers: list[float | None] = [now.power_dbm]
    if powers_dbm is not None and now.power_dbm is not None:
        powers = [*sorted(powers_dbm or (now.power_dbm - below for below in _BELOW_DB))]
    for point, power in itertools.product(points, powers):
        yield Setting(power, point)


def _points(scenario: Scenario, place: int, grid_m: float | None) -> list[Point | None]:
    """List the points of the grid within the rectangle around the nodes of a cell.

    One of them is the current position of the access point.
    """
    where = places(scenario)
    if where is None:
        return [None]
    here = where[place]
    if grid_m is None:
        return [here]
    nodes = [where[node] for node in nodes_of_cell(scenario, place)]
    ranges = []
    for axis in (0, 1):
        low, high = min(one[axis] for one in nodes), max(one[axis] for one in nodes)
        first = math.ceil((low - here[axis]) / grid_m)
        last = math.floor((high - here[axis]) / grid_m)
        if last - first > _MOST:
            raise QuestionError(phrase("plan.settings.fine_grid", grid_m=grid_m, most=_MOST))
        ranges.append(
            [round(here[axis] + step * grid_m, _DIGITS) for step in range(first, last + 1)]
        )
    return [here if (x, y) == here else (x, y) for x, y in itertools.product(*ranges)]

"""Resolve who hears whom, from `heard`, received powers or positions, to one matrix of powers.

`received` handles `heard` and `hears`, `floor` handles path loss, and `resolve_signal` derives
rates from powers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Final

from ..amendments import AMENDMENTS
from .declare import written
from .errors import InvalidError, Path, invalid, phrase, quoted
from .floor import DIGITS, positions, received_dbm
from .hearing import RULES_ELSEWHERE
from .keys.air import Air, Cell, PathLoss
from .keys.phy import Phy
from .quantities import Written
from .received import Matrix, by_words, check_size, received_powers
from .resolve_channels import overlaps
from .resolve_high_rate import channel_width_mhz, receiver_of
from .resolve_pair import band_of

if TYPE_CHECKING:
    from .scenario import Scenario

#: The name of the access point in a scenario without cells.
_ONLY: Final = "ap"
#: IEEE 802.11-2020, 17.3.10.6, for a signal whose preamble was missed.
_ENERGY_DBM: Final = -62.0
_WAYS: Final = ("heard", "received", "path_loss")


@dataclass(frozen=True)
class Hearing:
    """Who hears whom, before rates are known.

    `cells` are the written cells by name. `cell_of` has the name of each group's cell. `air` is the
    resolved table. `signals_dbm` has, for each station of each group, the weaker of the powers that
    it and its access point receive from each other. It is None if powers are not known.
    """

    cells: dict[str, Written]
    cell_of: list[str]
    air: Air
    signals_dbm: list[list[float]] | None
    signal_dbm: list[float] | None = None
    """By group: the signal of its weakest station within range. `resolve_signal` sets it."""
    out_of_range: tuple[tuple[int, ...], ...] = ()

    def index_of(self, group: int) -> int:
        """Return the index of a group's cell."""
        return list(self.cells).index(self.cell_of[group])


def resolve_hearing(scenario: Written, base: FilePath) -> Hearing | None:
    """Resolve who hears whom; None if there is one access point and all nodes hear each other.

    Raises:
        InvalidError: two ways of hearing at once or none, cells or groups that do not exist, a cell
            without stations, channels that do not fit, or too many classes.
    """
    cells, cell_of = _cells(scenario)
    scenario = _with_path_loss(scenario)
    air = scenario.air
    ways = [] if air is None else [way for way in _WAYS if air.given(way)]
    if len(ways) > 1:
        raise invalid(("air", ways[1]), "air.hearing_twice", ways=ways[0], all_ways=_WAYS)
    way = ways[0] if ways else ""
    _check_places(scenario, cells, way)
    overlap = overlaps(scenario, cells)
    if air is None and len(cells) == 1 and all(group.hears is None for group in scenario.stations):
        return None  # All nodes hear each other, however many groups there are.
    powers: Matrix
    if way == "path_loss":
        _check_walls(air.path_loss.walls)
        places = positions(scenario, cells, cell_of)
        check_size(len(places))
        classes = list(range(len(places)))
        phy = scenario.phy
        powers = received_dbm(places, air.path_loss, air.power, band_of(phy))
    elif way == "received":
        classes, powers = received_powers(scenario, cells, air.received, base)
    else:
        _check_said(scenario, cells, overlap, way)
        classes, powers = by_words(scenario, cells, cell_of)
    _take_powers(cells, powers, air)
    cell_of_class = _cells_of_classes(scenario, cells, cell_of, classes)
    apart = [
        [other for other, cell in enumerate(cell_of_class) if not overlap[own][cell]]
        for own in range(len(cells))
    ]
    for one, row in enumerate(powers):
        for other in apart[cell_of_class[one]]:
            row[other] = None
    if not way and len(cells) == 1 and all(power is not None for row in powers for power in row):
        if air is not None:
            raise invalid(("air",), "air.hearing_of_one")
        return None
    if way == "heard" and len(cells) == 1 and all(None not in row for row in powers):
        return None
    return _hearing(
        scenario, cells, cell_of, classes, powers, known=way in ("received", "path_loss")
    )


def _with_path_loss(scenario: Written) -> Written:
    """Return the scenario with the default path loss if stations have a distance without one."""
    air = scenario.air
    if all(group.distance is None for group in scenario.stations) or (
        air is not None and any(air.given(way) for way in _WAYS)
    ):
        return scenario
    air = Air.written_default() if air is None else air.model_copy()
    air.__dict__["path_loss"] = PathLoss.written_default()
    air.__pydantic_fields_set__.add("path_loss")
    return scenario.model_copy(update={"air": air})


def _check_walls(walls: Sequence[Written] | None) -> None:
    for index, wall in enumerate(walls or ()):
        if getattr(wall, "from") == wall.to:
            raise invalid(("air", "path_loss", "walls", index), "air.wall")


def check_detection(air: Air | None, phy: Phy) -> None:
    """Reject a preamble detection that takes longer than the preamble.

    Raises:
        InvalidError: it takes longer than a preamble with its header, so that a frame may be over.
    """
    if air is None:
        return
    timings = [one for one in (phy.dsss, phy.ofdm) if one is not None]
    least = min(one.preamble_time_ns + one.plcp_header_time_ns for one in timings)
    if air.detect_ns > least:
        raise invalid(("air", "detect"), "air.detection", detect=air.detect_ns, least=least)


def _take_powers(cells: dict[str, Written], powers: Matrix, air: Written | None) -> None:
    """Adjust received powers for access points with a transmit power of their own."""
    for place, cell in enumerate(cells.values()):
        if cell.power is not None and air is not None:
            louder = cell.power - air.power
            powers[place] = [
                None if power is None else round(power + louder, DIGITS) for power in powers[place]
            ]


def _hearing(
    scenario: Written,
    cells: dict[str, Written],
    cell_of: list[str],
    classes: list[int],
    powers: Matrix,
    *,
    known: bool,
) -> Hearing:
    air = scenario.air if scenario.air is not None else Air.written_default()
    as_ns3 = scenario.mac.rules.preset == "ns-3"
    air = air.filled(energy=air.sense if as_ns3 else _ENERGY_DBM)
    _check_thresholds(scenario, air, known=known)
    width = channel_width_mhz(scenario.phy) if scenario.phy.standard in AMENDMENTS else 20
    loss_db = receiver_of(scenario.phy, scenario.mac.rules).loss_db
    resolved = Air.of(
        air,
        classes=tuple(classes),
        received_dbm=tuple(map(tuple, powers)),
        powers_known=known,
        noise_dbm=round(air.noise + 10.0 * math.log10(width / 20) + (loss_db if known else 0.0), 2),
    )
    signals = None
    if known:
        signals = _signals(scenario, cells, cell_of, classes, powers)
    return Hearing(cells, cell_of, resolved, signals)


def places(scenario: Scenario) -> list[tuple[float, float]] | None:
    """Return x and y of all nodes in metres; None if the file has no path loss.

    Access points come first, in the order of cells. Stations follow, in the order of groups.
    """
    from .resolved import ResolvedScenario

    if "path_loss" not in scenario.written.get("air", {}):
        return None
    form = written(ResolvedScenario).model_validate(scenario.written)
    return positions(form, *_cells(form))


def powers_between(scenario: Scenario, where: list[tuple[float, float]]) -> Matrix:
    """Return the power in dBm that nodes at given positions receive from each other.

    The transmit power is `air.power`. The scenario must have a path loss.
    """
    from .resolved import ResolvedScenario

    form = written(ResolvedScenario).model_validate(scenario.written)
    return received_dbm(where, form.air.path_loss, form.air.power, band_of(form.phy))


def check_cells(scenario: Written) -> None:
    """Reject what is modelled only for a single cell in which all nodes hear each other.

    Raises:
        InvalidError: contention-free periods, bursts, beacons, or a rule that has no effect.
    """
    for rule, fit in RULES_ELSEWHERE.items():
        value = getattr(scenario.mac.rules, rule)
        if scenario.mac.rules.given(rule) and value not in fit:
            raise InvalidError(
                ("mac", "rules", rule),
                phrase("air.not_in_cells", value=value) + " or ".join(f'"{one}"' for one in fit),
            )
    unfit: list[tuple[Path, bool, str]] = [
        (("mac", "pcf"), scenario.mac.pcf is not None, "contention-free periods"),
        (("mac", "beacon"), scenario.mac.beacon is not None, "beacons"),
        (("ap", "access", "scheme"), scenario.ap.access.scheme != "standard", "adaptive bursts"),
    ]
    unfit += [
        (("cells", name, "ap", "access", "scheme"), cell.ap.access.scheme != "standard", "bursts")
        for name, cell in scenario.cells.items()
    ]
    for path, found, what in unfit:
        if found:
            raise invalid(path, "air.only_in_one_cell", what=what)


def _cells(scenario: Written) -> tuple[dict[str, Written], list[str]]:
    """Return the written cells by name, and the cell of each group."""
    cells: dict[str, Written] = scenario.cells
    groups = [group.name for group in scenario.stations]
    for index, group in enumerate(scenario.stations):
        if group.cell is not None and group.cell not in cells:
            allowed = quoted(cells) or "without this key, or a table [cells.NAME]"
            raise invalid(
                ("stations", index, "cell"), "air.unknown_cell", cell=group.cell, allowed=allowed
            )
        if group.cell is None and len(cells) > 1:
            raise InvalidError(
                ("stations", index, "cell"),
                f'is missing: "{group.name}" is in one of {len(cells)} cells; allowed: '
                + quoted(cells),
            )
    if not cells:
        return {_ONLY: Cell.written_default()}, [_ONLY] * len(groups)
    first = next(iter(cells))
    cell_of = [group.cell or first for group in scenario.stations]
    for name in cells:
        if name in groups:
            raise invalid(("cells", name), "air.name_twice", name=name)
        if name not in cell_of:
            raise invalid(("cells", name), "air.empty_cell", name=name)
    return cells, cell_of


def _check_places(scenario: Written, cells: dict[str, Written], way: str) -> None:
    """Reject positions and powers that have no effect, and `hears` together with powers."""
    for index, group in enumerate(scenario.stations):
        if group.hears is not None and way in ("received", "path_loss"):
            raise invalid(("stations", index, "hears"), "air.place_and_way", way=way)
        for key in ("positions", "distance"):
            if getattr(group, key) is not None and way != "path_loss":
                raise InvalidError(("stations", index, key), _unused_place(way))
    for name, cell in cells.items():
        if cell.position is not None and way != "path_loss":
            raise InvalidError(("cells", name, "position"), _unused_place(way))
        if cell.power is None:
            continue
        if way not in ("received", "path_loss"):
            raise invalid(("cells", name, "power"), "air.place_without_power")
        if scenario.air.obss_pd is not None:
            raise invalid(("cells", name, "power"), "air.place_and_obss_pd")


def _unused_place(way: str) -> str:
    if way:
        return phrase("air.place_and_way_of_stations", way=way)
    return phrase("air.place_without_loss")


def _check_said(
    scenario: Written, cells: dict[str, Written], overlap: list[list[bool]], way: str
) -> None:
    """Reject cells on one channel if nothing says who hears whom, and invalid pairs."""
    names = list(cells)
    if not way:
        for one, row in enumerate(overlap):
            for other in range(one + 1, len(row)):
                if row[other]:
                    raise invalid(("air", "heard"), "air.no_hearing", a=names[one], b=names[other])
        return
    for place, pair in enumerate(scenario.air.heard):
        for name in pair:
            if name not in names:
                raise InvalidError(
                    ("air", "heard", place),
                    phrase("air.unknown_pair", name=name)
                    + (quoted(scenario.cells) or "a table [cells.NAME]"),
                )


def _cells_of_classes(
    scenario: Written, cells: dict[str, Written], cell_of: list[str], classes: list[int]
) -> list[int]:
    names = list(cells)
    of_nodes = list(range(len(names)))
    for index, group in enumerate(scenario.stations):
        of_nodes += [names.index(cell_of[index])] * group.count
    found = dict(zip(classes, of_nodes, strict=True))
    return [found[one] for one in range(len(found))]


def _check_thresholds(scenario: Written, air: Written, *, known: bool) -> None:
    """Reject thresholds without powers, in the wrong order, or of another standard."""
    if not known:
        for name in ("power", "sense", "energy", "noise", "capture", "obss_pd"):
            if air.given(name):
                raise invalid(("air", name), "air.threshold_without_power")
    if air.energy < air.sense:
        raise invalid(
            ("air", "energy" if air.given("energy") else "sense"),
            "air.sense_and_energy",
            sense=air.sense,
            energy=air.energy,
        )
    if air.obss_pd is None:
        return
    if scenario.phy.standard not in ("802.11ax", "802.11be"):
        raise invalid(("air", "obss_pd"), "air.no_spatial_reuse", standard=scenario.phy.standard)
    if not -82.0 <= air.obss_pd <= -62.0:
        raise invalid(("air", "obss_pd"), "air.obss_pd", obss_pd=air.obss_pd)


def _signals(
    scenario: Written,
    cells: dict[str, Written],
    cell_of: list[str],
    classes: list[int],
    powers: Matrix,
) -> list[list[float]]:
    """Return, by group and station, the weaker of the powers to and from the access point."""
    names = list(cells)
    found, first = [], len(names)
    for index, group in enumerate(scenario.stations):
        ap = classes[names.index(cell_of[index])]
        own = classes[first : first + group.count]
        found.append(
            [
                min(-math.inf if one is None else one for one in (powers[ap][to], powers[to][ap]))
                for to in own
            ]
        )
        first += group.count
    return found

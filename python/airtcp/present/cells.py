"""Several cells side by side, and why a cell gets less than it would alone.

`airtcp.results.cells` holds the measurements; the scenario defines which nodes hear each other.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from airtcp.amounts import percent, quantity_with_interval
from airtcp.document import Column, Table
from airtcp.scenario.hearing import deaf_groups, disturbers, hear

if TYPE_CHECKING:
    from airtcp.results import Simulation
    from airtcp.results.cells import CellResult
    from airtcp.scenario import ResolvedScenario
    from airtcp.stats import Interval

#: The least share of time, or of transmissions, reported as a cause.
_CAUSE: Final = 0.1
#: The least share of transmissions reported if there is no other cause.
_ONLY_CAUSE: Final = 0.02
#: Largest half width of a share shown as one number, and of a share shown for a quick simulation.
_NARROW: Final = 0.1
_WIDEST: Final = 0.5
#: A share of the isolated goodput below which the loss is explained: two cells that share a channel
#: get a half each.
_LITTLE_SHARE: Final = 0.4
#: The share of transmissions lost to hidden stations from which it is reported.
_MANY_HIDDEN: Final = 0.25
#: The number of cells and of pairs of groups listed by name.
_NAMED: Final = 3

#: The parts of airtime with their names, in the order of a bar.
AIRTIME: Final = {
    "data": "data",
    "tcp_ack": "TCP ACKs",
    "control": "control frames",
    "collision": "collisions",
    "heard": "frames of other cells",
    "idle": "idle and backoff",
}
_SHARES: Final = ("of isolated", "own airtime", "others'", "idle", "failed")


def by_cell(cells: Mapping[str, CellResult], *, glanced: bool = False) -> Table | None:
    """Return the cells with what their access points sense; None for a single cell."""
    if len(cells) < 2:
        return None
    rows = [
        [name, quantity_with_interval(cell.goodput_bps, "b/s"), *_shares(cell).values()]
        for name, cell in cells.items()
    ]
    if glanced:
        place = 2 + _SHARES.index("of isolated")
        for row, cell in zip(rows, cells.values(), strict=True):
            row[place] = glanced_share(cell) or "–"
    return _table(["cell", "goodput", *_SHARES], rows)


def by_cell_of_both(a: Simulation, b: Simulation) -> Table | None:
    """Return the shares of the cells in A and in B; None if they have no cells in common.

    The idle share is left out: it follows from the others, and the table would be too wide.
    """
    heads = [head for head in _SHARES if head != "idle"]
    rows = []
    for name, cell in a.cells.items():
        if name in b.cells:
            one, other = _shares(cell), _shares(b.cells[name])
            moved = [
                one[head] if one[head] == other[head] else f"{one[head]} → {other[head]}"
                for head in heads
            ]
            rows.append([name, *moved])
    return _table(["cell", *heads], rows) if rows else None


def airtime_parts(simulation: Simulation) -> dict[str, float]:
    """Return the shares of airtime.

    With several cells these are means, and `heard` is split off `idle`.
    """
    parts = dict(simulation.airtime)
    cells = simulation.cells.values()
    if len(cells) > 1:
        parts["heard"] = math.fsum(cell.airtime.heard for cell in cells) / len(cells)
        parts["idle"] -= parts["heard"]
    return parts


def _shares(cell: CellResult) -> dict[str, str]:
    """Return a cell's shares: of its isolated goodput, of time, and of failed transmissions."""
    alone = cell.share_of_alone
    shown = [
        "–" if alone is None else known_share(alone),
        percent(cell.airtime.own),
        percent(cell.airtime.heard),
        percent(cell.airtime.idle),
        percent(cell.failures.total),
    ]
    return dict(zip(_SHARES, shown, strict=True))


def failures(cells: Mapping[str, CellResult]) -> str:
    """Describe the share of transmissions that each cell loses, by cause, the worst cells first.

    Returns "" if there are no losses.
    """
    losing = [(name, one.failures) for name, one in cells.items() if one.failures.total > 0.0]
    losing.sort(key=lambda one: -one[1].total)
    told = []
    for name, lost in losing[:_NAMED]:
        causes = (
            ("in the same slot", lost.same_slot),
            ("by hidden stations", lost.hidden),
            ("by other cells", lost.neighbour),
        )
        said = ", ".join(f"{percent(share)} {cause}" for cause, share in causes if share)
        told.append(f"{name} {said}" if len(cells) > 1 else said)
    if len(losing) > _NAMED:
        told.append(f"and {len(losing) - _NAMED} more")
    return "; ".join(told)


def glanced_share(cell: CellResult) -> str:
    """Describe the share of its isolated goodput that a cell has in a quick simulation.

    Returns "" if it is unknown or very imprecise.
    """
    share = cell.share_of_alone
    if share is None or share.mean is None or (share.half_width or 0.0) > _WIDEST:
        return ""
    return known_share(share)


def known_share(share: Interval) -> str:
    """Format a share; as a range if its interval is wide."""
    low, high = share.low, share.high
    if low is None or high is None or high - low < 2.0 * _NARROW:
        return percent(share.mean)
    return f"{percent(max(0.0, low))} to {percent(high)}"


def _table(head: list[str], rows: list[list[str]]) -> Table:
    """Return the table of cells, without the column "of isolated" if no cell has a value."""
    place = head.index("of isolated")
    if all(row[place] == "–" for row in rows):
        for row in (head, *rows):
            del row[place]
    columns = [
        Column(one, right=at > 0, rank=0 if one == "of isolated" else at)
        for at, one in enumerate(head)
    ]
    return Table(columns, rows)


def sentences(
    scenario: ResolvedScenario, cells: Mapping[str, CellResult], *, glanced: bool = False
) -> list[str]:
    """Explain which cells get little, why and because of which cells; report hidden stations.

    In a quick simulation, a cell is skipped if its interval reaches above the limit.
    """
    told = []
    for index, (name, cell) in enumerate(cells.items()):
        share = cell.share_of_alone
        most = None if share is None else share.mean
        if share is not None and glanced and share.high is not None:
            most = share.high
        if share is not None and most is not None and most < _LITTLE_SHARE:
            causes = list(_causes(scenario, list(cells), index, cell))
            why = f": {', and '.join(causes)}" if causes else ""
            # Of cells that block each other, another one may starve in the next simulation.
            where = "In this quick simulation cell" if glanced and share.high is None else "Cell"
            told.append(f"{where} {name} gets {known_share(share)} of its isolated goodput{why}.")
        pairs = list(itertools.islice(deaf_groups(scenario, index), _NAMED))
        worst = cell.worst_hidden or 0.0
        if pairs and cell.failures.hidden and worst >= _MANY_HIDDEN:
            told.append(_hidden(scenario, name, worst, pairs))
    return told


def _causes(
    scenario: ResolvedScenario, names: Sequence[str], index: int, cell: CellResult
) -> Iterator[str]:
    """Yield the relevant causes, each with the cells or groups responsible."""
    failures = cell.failures.neighbour
    waited_for = [name for name, share in cell.waits_for.items() if share >= _CAUSE]
    longest = sorted(waited_for, key=lambda one: -cell.waits_for[one])[:_NAMED]
    waits = [name for name in waited_for if name in longest]
    more = len(waited_for) - len(waits)
    does_wait = bool(waits) and cell.airtime.heard >= failures / 2
    if does_wait:
        words = f"it defers to {_and([*waits, f'{more} more'] if more else waits)}"
        deaf = [
            (one, other)
            for one, other in itertools.combinations(waits, 2)
            if not hear(scenario, names.index(one), names.index(other))
        ]
        if len(waits) > 1 and len(deaf) == len(list(itertools.combinations(waits, 2))):
            whom = f"of which {_and(waits)}" if more else "which"
            words += f", {whom} do not hear each other"
        elif deaf:
            words += f", of which {_and(deaf[0])} do not hear each other"
        yield words
    if failures >= (_CAUSE if does_wait else _ONLY_CAUSE):
        culprits = [names[other] for other in disturbers(scenario)[index]]
        yield (
            f"frames of {_and(culprits[:_NAMED]) or 'other cells'} destroy {percent(failures)} of "
            "its transmissions"
        )


def _hidden(
    scenario: ResolvedScenario, name: str, worst: float, pairs: list[tuple[str, str]]
) -> str:
    who = "; ".join(_and(dict.fromkeys(pair)) for pair in pairs)
    where = f"In cell {name}, hidden" if len(scenario.cells or ()) > 1 else "Hidden"
    return (
        f"{where} stations ({who} do not hear each other): collisions destroy up to "
        f"{percent(worst)} of a station's transmissions."
    )


def _and(names: Sequence[str] | dict[str, None]) -> str:
    """Join names as in a sentence."""
    *most, last = names or [""]
    return f"{', '.join(most)} and {last}" if most else last

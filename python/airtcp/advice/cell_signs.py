"""Signs of trouble between cells, and of stations that do not hear each other.

Knows what a cell has beside others and alone, and which transmissions failed for what. Does not
know who waits for whom in words (`airtcp.present.cells`).
"""

from __future__ import annotations

from collections.abc import Iterator

from airtcp.advice.complaints import Sign, complaint
from airtcp.advice.reading import Reading, Scope
from airtcp.advice.thresholds import of
from airtcp.amounts import percent
from airtcp.results.advice import Goal
from airtcp.scenario.hearing import deaf_groups
from airtcp.scenario.keys.traffic import is_endless


def starved_cell(reading: Reading) -> Iterator[Sign]:
    """Finds the cell that gets least beside others, if that is little of what it has alone."""
    shares = {
        name: cell.share_of_alone.mean
        for name, cell in reading.cells.items()
        if cell.share_of_alone is not None and cell.share_of_alone.mean is not None
    }
    starved = [name for name, share in shares.items() if is_starved(share)]
    for name in sorted(starved, key=lambda one: shares[one])[:1]:
        scopes = list(reading.of_cell(name).scopes)
        if scopes:
            evidence = f"cell {name} gets {percent(shares[name])} of what it has alone"
            yield Sign(scopes, evidence)


def busy_neighbours(reading: Reading) -> Iterator[Sign]:
    """Finds complaints in a cell whose air is full and, for a good part, in use by others.

    One that starves is another problem.
    """
    if reading.cell is None or not reading.air_is_full:
        return
    cell = reading.cells[reading.cell]
    heard = cell.airtime.heard
    share = None if cell.share_of_alone is None else cell.share_of_alone.mean
    if heard < of("others' air") * (cell.airtime.own + heard) or is_starved(share):
        return
    scopes = [scope for scope in reading.scopes if complaint(reading, scope)]
    if scopes:
        first = min(scopes, key=lambda scope: not scope.live)
        told = f"cell {reading.cell} hears frames of others for {percent(heard)} of the time"
        yield Sign([first, *scopes], f"{complaint(reading, first)}; {told}")


def is_starved(share: float | None) -> bool:
    """Tell whether a cell gets little of what it has alone, as far as that is known."""
    return share is not None and share < of("cell share")


def hidden_stations(reading: Reading) -> Iterator[Sign]:
    """Finds stations that lose much under the frames of others, which they do not hear."""
    for index, (name, cell) in enumerate(reading.cells.items()):
        deaf = {name for pair in deaf_groups(reading.scenario, index) for name in pair}
        worst = cell.worst_hidden or 0.0
        if not deaf or not cell.failures.hidden or worst < of("hidden loss"):
            continue
        scopes = [scope for scope in reading.of_cell(name).scopes if scope.group in deaf]
        if scopes:
            evidence = (
                f"a station loses {percent(worst)} of its transmissions under those of "
                "stations that it does not hear"
            )
            own = tuple(group.name for group in reading.scenario.stations if group.cell == index)
            beside = [scope for scope in reading.of_cell(name).scopes if scope.group in own]
            if not all(map(_is_endless, beside)):
                # Shares of what is not alike are not even: who has a complaint feels it, else who
                # takes what there is.
                worst_off = sorted(
                    scopes,
                    key=lambda one: (not complaint(reading, one), not one.endless, one.part),
                )
                yield Sign(worst_off, evidence)
                continue
            # One of them may have all, another in each run: of all runs each has as much. Shares of
            # other cells are another question.
            among = own if len(own) < len(reading.scenario.stations) else ()
            yield Sign(scopes, evidence, Goal("jain_index", "", "all", among))


def _is_endless(scope: Scope) -> bool:
    """Tell whether all flows of a scope take what they can get."""
    return all(map(is_endless, scope.flows))

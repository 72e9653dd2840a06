"""Channels of cells: which may be given, in how many ways, and which ways look best to a chain.

Knows who hears whom if all are on one channel, and that cells on channels that do not overlap do
not. Plans that differ by names of equal channels alone are one. Does not run anything.

The chain of independent sets (`airtcp.models.cells`) is asked for the share of time of each cell,
with the odds of sending that the cell has alone: so a cell that is not saturated stays so. Stations
that are hidden, and frames that fail, are not in it: among plans that it holds for equal those come
first in which co-channel cells receive less of each other.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from airtcp import channels as numbers
from airtcp.exceptions import QuestionError
from airtcp.remedies.apart import channel_changes
from airtcp.scenario.resolve_air import band_and_width

if TYPE_CHECKING:
    from airtcp.scenario import Scenario

#: The channels of a plan by their cells, in the order of the scenario.
Plan = tuple[int, ...]

#: The number of channels that are allowed unless somebody says which.
_USUAL: Final = 4
#: The most plans that are looked at, about a minute's work of the chain.
_MOST_PLANS: Final = 100_000
#: The most cells whose access points do not sleep: the share of a cell that sends all the time.
_MOST_BUSY: Final = 0.999
#: Below this part of the pairs of nodes of two cells that hear each other they are no neighbours.
_NEIGHBOURS: Final = 0.5
#: A part of milliwatts for what is heard where no powers are known (-50 dBm).
_HEARD_MW: Final = 1e-5


def allowed_channels(scenario: Scenario, given: Sequence[int] | None) -> list[int]:
    """Return the channels that cells may have, no two of which share spectrum.

    Without any given the first four of the band: of 2.4 GHz as many as are far enough apart.

    Raises:
        QuestionError: numbers that the band does not have, that overlap, or fewer than two.
    """
    band, width = band_and_width(scenario)
    known = numbers.channels(band, width)
    of = f"{width} MHz in {band:g} GHz, the band of [phy]"
    if given is None:
        usual: list[int] = []
        for number in known:
            if all(numbers.share(band, width, number, one) is False for one in usual):
                usual.append(number)
        if len(usual) < 2:
            raise QuestionError(f"--vary channels: there is one channel of {of}; allowed: narrower")
        return usual[:_USUAL]
    for place, number in enumerate(given):
        if number not in known:
            raise QuestionError(
                f"--channels {number}: is no channel of {of}; allowed: {_listed(known)}"
            )
        for other in given[:place]:
            shared = numbers.share(band, width, other, number)
            if shared is None:
                raise QuestionError(
                    f"--channels {other},{number}: share a part of their spectrum, which is not "
                    "modelled; allowed: channels as far apart as 1, 6 and 11 are"
                )
            if shared:
                raise QuestionError(
                    f"--channels {other},{number}: are one channel of {width} MHz; allowed: "
                    "one of them"
                )
    if len(given) < 2:
        raise QuestionError(
            f"--channels {','.join(map(str, given))}: leaves no choice; allowed: two or more "
            f"channels of {of}"
        )
    return list(given)


def present_channels(scenario: Scenario) -> Plan | None:
    """Return the channels of the cells as they are; None where all are on one without a number."""
    cells = scenario.cells or ()
    found = tuple(cell.channel for cell in cells if cell.channel is not None)
    return found if len(found) == len(cells) else None


def with_channels(scenario: Scenario, plan: Plan) -> Scenario:
    """Return the scenario on other channels. Raises ScenarioError."""
    return scenario.vary(channel_changes(scenario, plan))


def on_one_channel(scenario: Scenario, channel: int) -> Scenario:
    """Return the scenario with all cells on a channel: it says who could hear whom.

    Raises:
        QuestionError: there is one cell, or nothing says of some whether they would hear each
            other.
    """
    cells = scenario.cells or ()
    if len(cells) < 2:
        raise QuestionError(
            "--vary channels: there is one cell; allowed: a scenario with two or more tables "
            "[cells.NAME]"
        )
    air = scenario.written.get("air", {})
    present = present_channels(scenario)
    if not {"heard", "received", "path_loss"} & set(air) and present is not None:
        band, width = band_and_width(scenario)
        for one, other in itertools.combinations(range(len(cells)), 2):
            if not numbers.share(band, width, present[one], present[other]):
                raise QuestionError(
                    f'--vary channels: "{cells[one].name}" and "{cells[other].name}" are on '
                    "channels that do not overlap, and nothing says whether they would hear each "
                    "other on one; allowed: air.heard, air.received or air.path_loss"
                )
    return with_channels(scenario, (channel,) * len(cells))


class Graph:
    """The cells that hear each other if they are on one channel, and how loud."""

    def __init__(self, scenario: Scenario) -> None:
        cells, air = scenario.cells, scenario.air
        assert cells is not None
        self.cells = len(cells)
        nodes: list[list[int]] = [[place] for place in range(self.cells)]
        if air is None:
            # All hear all alike.
            powers: Sequence[Sequence[float | None]] = [[-50.0] * self.cells] * self.cells
            sense, known = -82.0, False
        else:
            powers, known = air.received_dbm, air.powers_known
            sense = max(air.sense_dbm, -200.0 if air.obss_pd_dbm is None else air.obss_pd_dbm)
            nodes = [[air.classes[place]] for place in range(self.cells)]
            first = self.cells
            for group in scenario.stations:
                nodes[group.cell or 0] += air.classes[first : first + group.count]
                first += group.count
        self.neighbours = [[False] * self.cells for _ in range(self.cells)]
        self.between_mw = [[0.0] * self.cells for _ in range(self.cells)]
        for one, other in itertools.permutations(range(self.cells), 2):
            seen = [powers[a][b] for a in nodes[one] for b in nodes[other]]
            heard = [power is not None and (not known or power >= sense) for power in seen]
            if heard[0] or sum(heard) >= _NEIGHBOURS * len(heard):
                self.neighbours[one][other] = self.neighbours[other][one] = True
            self.between_mw[one][other] = sum(
                (10.0 ** (power / 10.0) if known else _HEARD_MW)
                for power in seen
                if power is not None
            ) / len(seen)

    def louder(self, plan: Sequence[int]) -> float:
        """Add the powers, in mW, that cells of one channel receive of each other."""
        return sum(
            self.between_mw[one][other]
            for one, other in itertools.permutations(range(self.cells), 2)
            if plan[one] == plan[other]
        )


class Chain:
    """The shares that cells keep of what they have alone, by the chain of independent sets."""

    def __init__(self, graph: Graph, busy: Sequence[float]) -> None:
        self._graph = graph
        self._busy = [min(max(share, 1e-6), _MOST_BUSY) for share in busy]
        self._of_set = cache(self._shares_of)

    def shares(self, plan: Sequence[int]) -> list[float]:
        """Return of each cell its time on the air over what it has alone."""
        found = [0.0] * len(plan)
        for channel in set(plan):
            members = tuple(place for place, one in enumerate(plan) if one == channel)
            for place, share in zip(members, self._of_set(members), strict=True):
                found[place] = share
        return found

    def _shares_of(self, members: tuple[int, ...]) -> list[float]:
        from airtcp.models.cells import independent_sets

        heard = [[self._graph.neighbours[a][b] for b in members] for a in members]
        busy = [self._busy[place] for place in members]
        shares = independent_sets(heard, busy, [1.0 - one for one in busy])
        return [float(share) / one for share, one in zip(shares, busy, strict=True)]


def plans(cells: int, channels: Sequence[int], present: Plan | None) -> list[Plan]:
    """List all ways of giving channels to cells that are not alike up to names of channels.

    Of those that are alike it is the one that moves fewest cells.

    Raises:
        QuestionError: there are more than anybody can look at.
    """
    found: list[Plan] = []
    for groups in _partitions(cells, len(channels)):
        if len(found) == _MOST_PLANS:
            raise QuestionError(
                f"--vary channels: {cells} cells on {len(channels)} channels are more than "
                f"{_MOST_PLANS} plans; allowed: fewer channels (--channels) or cells"
            )
        found.append(_named(groups, channels, present))
    return found


def _partitions(cells: int, most: int) -> Iterator[tuple[int, ...]]:
    """Iterate over the ways to part cells into at most `most` sets, as numbers of their sets."""
    groups = [0] * cells

    def extend(place: int, used: int) -> Iterator[tuple[int, ...]]:
        if place == cells:
            yield tuple(groups)
            return
        for group in range(min(used + 1, most)):
            groups[place] = group
            yield from extend(place + 1, max(used, group + 1))

    yield from extend(0, 0)


def _named(groups: tuple[int, ...], channels: Sequence[int], present: Plan | None) -> Plan:
    if present is None:
        return tuple(channels[group] for group in groups)
    from scipy.optimize import linear_sum_assignment

    stay = [
        [
            sum(one == group and now == channel for one, now in zip(groups, present, strict=True))
            for channel in channels
        ]
        for group in range(max(groups) + 1)
    ]
    rows, columns = linear_sum_assignment(stay, maximize=True)
    of: Mapping[int, int] = {
        int(row): channels[int(column)] for row, column in zip(rows, columns, strict=True)
    }
    return tuple(of[group] for group in groups)


def _listed(known: Sequence[int]) -> str:
    if len(known) <= 30:
        return ", ".join(map(str, known))
    return f"{', '.join(map(str, known[:4]))}, ..., {known[-1]}"

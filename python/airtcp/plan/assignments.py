"""The ways to assign channels to cells.

Cells on channels that do not overlap do not hear each other. Assignments that differ only in the
names of equivalent channels count as one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from airtcp import channels as numbers
from airtcp.exceptions import QuestionError
from airtcp.phrases import phrase
from airtcp.remedies.apart import channel_changes
from airtcp.scenario.resolve_channels import band_and_width

if TYPE_CHECKING:
    from airtcp.scenario import Scenario

#: The channels of cells, in the order of the scenario.
Channels = tuple[int, ...]

#: The number of channels to use by default.
_USUAL: Final = 4


def allowed_channels(scenario: Scenario, given: Sequence[int] | None) -> list[int]:
    """Return the channels that cells may have. No two of them share spectrum.

    The default is the first four of the band, or in 2.4 GHz as many as do not overlap.

    Raises:
        QuestionError: a number is not in the band, channels overlap, or there are fewer than two.
    """
    band, width = band_and_width(scenario)
    known = numbers.channels(band, width)
    of = phrase("plan.channels.of_band", width=width, band=band)
    if given is None:
        usual: list[int] = []
        for number in known:
            if all(numbers.share(band, width, number, one) is False for one in usual):
                usual.append(number)
        if len(usual) < 2:
            raise QuestionError(phrase("plan.channels.one_channel", of=of))
        return usual[:_USUAL]
    for place, number in enumerate(given):
        if number not in known:
            raise QuestionError(
                phrase("plan.channels.not_a_channel", number=number, of=of, known=_listed(known))
            )
        for other in given[:place]:
            shared = numbers.share(band, width, other, number)
            if shared is None:
                raise QuestionError(phrase("plan.channels.partly", other=other, number=number))
            if shared:
                raise QuestionError(
                    phrase("plan.channels.same", other=other, number=number, width=width)
                )
    if len(given) < 2:
        raise QuestionError(
            phrase("plan.channels.no_choice", given=",".join(map(str, given)), of=of)
        )
    return list(given)


def present_channels(scenario: Scenario) -> Channels | None:
    """Return the current channels of the cells; None if all share one without a number."""
    cells = scenario.cells or ()
    found = tuple(cell.channel for cell in cells if cell.channel is not None)
    return found if len(found) == len(cells) else None


def with_channels(scenario: Scenario, plan: Channels) -> Scenario:
    """Return the scenario on other channels. Raises ScenarioError."""
    return scenario.vary(channel_changes(scenario, plan))


def on_one_channel(scenario: Scenario, channel: int) -> Scenario:
    """Return the scenario with all cells on one channel, to find which could hear each other.

    Raises:
        QuestionError: there is only one cell, or the scenario does not define whether some cells
            would hear each other.
    """
    cells = scenario.cells or ()
    if len(cells) < 2:
        raise QuestionError(phrase("plan.channels.one_cell"))
    air = scenario.written.get("air", {})
    present = present_channels(scenario)
    if not {"heard", "received", "path_loss"} & set(air) and present is not None:
        band, width = band_and_width(scenario)
        for one, other in itertools.combinations(range(len(cells)), 2):
            if not numbers.share(band, width, present[one], present[other]):
                raise QuestionError(
                    phrase("plan.channels.no_hearing", a=cells[one].name, b=cells[other].name)
                )
    return with_channels(scenario, (channel,) * len(cells))


def plans(cells: int, channels: Sequence[int], present: Channels | None) -> list[Channels]:
    """List all assignments of channels to cells, up to the names of channels.

    Of equivalent assignments it returns the one that moves the fewest cells.
    """
    return [_named(sets, channels, present) for sets in _partitions(cells, len(channels))]


def count(cells: int, channels: int) -> int:
    """Count the assignments in `plans`: a sum of Stirling numbers of the second kind.

    >>> count(6, 3), count(20, 4)
    (122, 45813246635)
    """
    ways = [1] + [0] * channels
    for _ in range(cells):
        ways = [0] + [ways[used - 1] + used * ways[used] for used in range(1, channels + 1)]
    return sum(ways)


def moving_fewest(plan: Channels, channels: Sequence[int], present: Channels | None) -> Channels:
    """Return the equivalent assignment that moves the fewest cells."""
    number: dict[int, int] = {}
    return _named(tuple(number.setdefault(one, len(number)) for one in plan), channels, present)


def _partitions(cells: int, most: int) -> Iterator[tuple[int, ...]]:
    """Iterate over the partitions of cells into at most `most` sets, as set numbers per cell."""
    groups = [0] * cells

    def extend(place: int, used: int) -> Iterator[tuple[int, ...]]:
        if place == cells:
            yield tuple(groups)
            return
        for group in range(min(used + 1, most)):
            groups[place] = group
            yield from extend(place + 1, max(used, group + 1))

    yield from extend(0, 0)


def _named(groups: tuple[int, ...], channels: Sequence[int], present: Channels | None) -> Channels:
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

"""Resolve the channels of cells: the band and width of a PHY, and which cells share a channel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import channels
from ..amendments import AMENDMENTS
from .declare import written
from .errors import invalid, phrase
from .keys.phy import Phy
from .quantities import Written
from .resolve_high_rate import channel_width_mhz
from .resolve_pair import band_of, cell_phy

if TYPE_CHECKING:
    from .scenario import Scenario


def band_and_width(scenario: Scenario) -> tuple[float, int]:
    """Return the band in GHz and the width in MHz of the channels of a scenario."""
    phy = written(Phy).model_validate(scenario.written["phy"])
    return band_of(phy), _width(phy)


def overlaps(scenario: Written, cells: dict[str, Written]) -> list[list[bool]]:
    """Return which cells share their channel. Cells without channels all do.

    Raises:
        InvalidError: a channel that the band does not have, or one that overlaps another in part.
    """
    names = list(cells)
    given = {name: cell.channel for name, cell in cells.items() if cell.channel is not None}
    if not given:
        return [[True] * len(names) for _ in names]
    missing = next((name for name in names if name not in given), None)
    if missing is not None:
        raise invalid(("cells", missing, "channel"), "channels.missing")
    band = band_of(scenario.phy)
    widths = {
        name: _width(cell_phy(scenario.phy, cell, ("cells", name))) for name, cell in cells.items()
    }
    for name, channel in given.items():
        width = widths[name]
        known = channels.channels(band, width)
        if channel not in known:
            raise invalid(
                ("cells", name, "channel"),
                "channels.unknown",
                channel=channel,
                width=width,
                band=band,
                known=_listed(known),
                standard=_elsewhere(scenario.phy.standard, width, channel),
            )
    shared = []
    for one in names:
        row = []
        for other in names:
            # Of two widths, the narrower channel lies within the wider one, or does not overlap it.
            width = max(widths[one], widths[other])
            both = channels.share(band, width, given[one], given[other])
            if both is None:
                raise invalid(
                    ("cells", other, "channel"),
                    "channels.partly",
                    given=given[other],
                    channel=given[one],
                    other=one,
                )
            row.append(both)
        shared.append(row)
    return shared


def _listed(numbers: list[int]) -> str:
    """List numbers for a message, a long list by its ends."""
    if len(numbers) <= 30:
        return ", ".join(map(str, numbers))
    return f"{', '.join(map(str, numbers[:4]))}, ..., {numbers[-1]}"


def _elsewhere(standard: str, width_mhz: int, channel: int) -> str:
    """Suggest the other bands of a standard that have such a channel."""
    widest = AMENDMENTS[standard].widest_mhz if standard in AMENDMENTS else {}
    bands = [
        ghz
        for ghz, most in widest.items()
        if width_mhz <= most and channel in channels.channels(ghz, width_mhz)
    ]
    return "".join(phrase("channels.elsewhere", ghz=ghz) for ghz in bands)


def _width(phy: Written) -> int:
    return channel_width_mhz(phy) if phy.standard in AMENDMENTS else 20

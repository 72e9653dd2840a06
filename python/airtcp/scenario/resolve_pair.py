"""Stations with another standard than their access point: the capabilities that the two share.

Frames between two stations have the newest format that both support (IEEE 802.11-2020, 10.6). So
the older standard of the two decides on rates, preambles, guard intervals, aggregation and Block
ACKs.
"""

from __future__ import annotations

from typing import Any, Final

from ..airtime import Rate
from ..amendments import AMENDMENTS, Amendment
from ..standards import STANDARDS, Standard, in_band
from .errors import InvalidError, Path, invalid, phrase, quoted
from .keys.mac import Aggregation
from .keys.radio_links import Pair
from .quantities import Written
from .resolve_high_rate import (
    band_ghz,
    channel_width_mhz,
    high_rate_timing,
    limited_aggregation,
)

#: Standards from the oldest to the newest. 802.11a and 802.11g never share a band.
_AGES: Final = tuple(STANDARDS)
#: Bands in GHz of the standards before 802.11n.
_LEGACY_GHZ: Final = {"802.11b": 2.4, "802.11g": 2.4, "802.11a": 5}
#: Keys of `[phy]` that apply only to PPDUs, or to Block ACKs, of its own standard.
_OF_FORMAT: Final = ("preamble_time", "plcp_header_time", "block_ack_bits")


def band_of(phy: Written) -> float:
    """Return the band of the access point, in GHz."""
    return _LEGACY_GHZ[phy.standard] if phy.standard in _LEGACY_GHZ else band_ghz(phy)


def check_standards(phy: Written, groups: list[Written], *, first: int = 0) -> None:
    """Reject stations that have no channel in the band of the access point.

    Args:
        phy: the written `[phy]`.
        groups: the written groups.
        first: the place of the first of them in the file.

    Raises:
        InvalidError: such a station.
    """
    band = band_of(phy)
    for index, group in enumerate(groups, first):
        if group.standard is None or has_band(group.standard, band):
            continue
        allowed = quoted(name for name in _AGES if has_band(name, band))
        raise invalid(
            ("stations", index, "standard"),
            "pair.no_channel",
            standard=group.standard,
            band=band,
            allowed=allowed,
        )


def within_cells(scenario: Written) -> Written:
    """Return the scenario with standards and widths of stations limited by their cells.

    Raises:
        InvalidError: a cell that is newer or wider than `[phy]`, or not in its band.
    """
    cells: dict[str, Written] = scenario.cells
    if all(cell.standard is None and cell.channel_width is None for cell in cells.values()):
        return scenario
    phys = {name: cell_phy(scenario.phy, cell, ("cells", name)) for name, cell in cells.items()}
    groups = []
    for group in scenario.stations:
        phy = phys.get(group.cell or next(iter(cells)))
        if phy is not None and phy is not scenario.phy:
            pair = pair_standard(phy, group)
            changes: dict[str, Any] = {"standard": pair}
            if pair in AMENDMENTS and group.channel_width is None:
                changes["channel_width"] = channel_width_mhz(phy_of(phy, group))
            group = group.model_copy(update=changes)
        groups.append(group)
    return scenario.model_copy(update={"stations": groups})


def cell_phy(phy: Written, cell: Written, path: Path) -> Written:
    """Return `[phy]` for frames of the access point of a cell.

    Raises:
        InvalidError: a cell that is newer or wider than `[phy]`, or not in its band.
    """
    if cell.standard is not None:
        band = band_of(phy)
        known = _AGES[: _AGES.index(phy.standard) + 1]
        allowed = [name for name in known if has_band(name, band)]
        if cell.standard not in allowed:
            why = (
                phrase("pair.no_channel_in_band", band=band)
                if cell.standard in known
                else phrase("pair.newer", standard=phy.standard)
            )
            names = quoted(allowed)
            raise InvalidError((*path, "standard"), f"{cell.standard} {why}; allowed: {names}")
        phy = phy_of(phy, cell)
    if cell.channel_width is None:
        return phy
    widths = AMENDMENTS[phy.standard].subcarriers if phy.standard in AMENDMENTS else ()
    fit = [width for width in widths if width <= channel_width_mhz(phy)]
    if cell.channel_width not in fit:
        allowed_widths = ", ".join(f'"{width} MHz"' for width in fit) or "no such key"
        raise invalid(
            (*path, "channel_width"),
            "pair.width",
            channel_width=cell.channel_width,
            standard=phy.standard,
            allowed=allowed_widths,
        )
    return phy.model_copy(update={"channel_width": cell.channel_width})


def pair_standard(phy: Written, group: Written) -> str:
    """Return the standard of frames between the access point and the stations of a group."""
    of_cell: str = phy.standard
    own: str = group.standard or of_cell
    return min(own, of_cell, key=_AGES.index)


def phy_of(phy: Written, group: Written) -> Written:
    """Return `[phy]` for frames between the access point and a group.

    A value that an older standard does not have is replaced by the nearest one that it has: the
    widest channel, the highest MCS, its own guard interval.
    """
    standard = pair_standard(phy, group)
    if standard == phy.standard:
        return phy
    amendment = AMENDMENTS.get(standard)
    limited = phy.model_copy()
    limited.__dict__["standard"] = standard
    changes: dict[str, Any] = dict.fromkeys(_OF_FORMAT)
    if amendment is None:
        changes |= dict.fromkeys(("band", "channel_width", "mcs", "guard_interval", "coding"))
        changes |= _without_others_rates(phy, standard)
    else:
        changes |= _limits(phy, amendment)
    limited.__dict__.update(changes)
    gone = [name for name, value in changes.items() if value is None]
    limited.__pydantic_fields_set__.difference_update(gone)
    return limited


def resolve_pair(
    phy: Written, rules: Written, own: Aggregation | None, group: Written, control_rate: Rate
) -> Pair | None:
    """Return the capabilities that access point and group share; None means all of `[phy]`.

    Args:
        phy: the written `[phy]`.
        rules: the written rules of the MAC.
        own: the access point's aggregation.
        group: the written group.
        control_rate: the rate of its control frames.
    """
    shared = phy_of(phy, group)
    if shared is phy or own is None:
        return None
    if shared.standard not in AMENDMENTS:
        return Pair(standard=shared.standard, high_rate=None, aggregation=None)
    return Pair(
        standard=shared.standard,
        high_rate=high_rate_timing(shared, rules),
        aggregation=limited_aggregation(own, shared, rules, control_rate),
    )


def standard_of(phy: Written) -> Standard:
    """Return the PHY standard of the access point, in its band."""
    return in_band(phy.standard, band_of(phy))


def _without_others_rates(phy: Written, standard: str) -> dict[str, None]:
    known = STANDARDS[standard].all_rates_bps
    return {name: None for name in ("data_rate", "control_rate") if getattr(phy, name) not in known}


def usual_band(standard: str) -> float:
    """Return the default band in GHz of an access point."""
    return _LEGACY_GHZ.get(standard, 5)


def has_band(standard: str, band: float) -> bool:
    """Whether a standard has channels in a band, given in GHz."""
    if standard in AMENDMENTS:
        return band in AMENDMENTS[standard].widest_mhz
    return _LEGACY_GHZ[standard] == band


def _limits(phy: Written, amendment: Amendment) -> dict[str, Any]:
    """Return the keys of `[phy]` within the limits of an older amendment."""
    band = band_ghz(phy)
    guard, mcs, streams = phy.guard_interval, phy.mcs, phy.spatial_streams
    return {
        "band": band,
        "channel_width": min(channel_width_mhz(phy), amendment.widest_mhz[band]),
        "mcs": None if mcs is None or mcs > amendment.highest_mcs else mcs,
        "spatial_streams": None if streams is None else min(streams, amendment.most_streams),
        "guard_interval": guard if guard in amendment.guard_intervals_ns else None,
    }

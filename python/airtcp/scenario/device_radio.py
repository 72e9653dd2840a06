"""What a device of a profile can do in a written network: its standard, width and links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..amendments import AMENDMENTS
from ..standards import STANDARDS
from .errors import InvalidError, Path
from .profiles import Device
from .resolve_pair import has_band


def with_widest_link(data: Mapping[str, Any], group: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return `[phy]`, with the width of the widest link of a group if its cell has several."""
    phy = data.get("phy")
    phy = phy if isinstance(phy, Mapping) else {}
    widths = [width for link in links_of(data, group) if (width := _link_mhz(link))]
    return {**phy, "channel_width": f"{max(widths)} MHz"} if widths else phy


def links_of(data: Mapping[str, Any], group: Mapping[str, Any]) -> list[Any]:
    """Return the links of a group as its file writes them; none if its access point has one."""
    ap = data.get("ap")
    links = ap.get("links") if isinstance(ap, Mapping) else None
    own = group.get("links", links)
    return own if isinstance(links, list) and isinstance(own, list) else []


def check_links(device: Device, widest: int, links: list[Any], here: Path) -> None:
    """Reject links that are wider than a device can use.

    Raises:
        InvalidError: the device has no channels so wide.
    """
    narrow = [link for link in links if (_link_mhz(link) or 0) <= widest]
    if len(narrow) < len(links):
        fit = ", ".join(f'"{link}"' for link in narrow)
        raise InvalidError(
            (*here, "profile"),
            f"{device.name} has channels of {widest} MHz at most, and a link is wider; allowed: "
            + (f"links = [{fit}] for these stations, or " if fit else "")
            + f"links of {widest} MHz and less",
        )


def _link_mhz(link: object) -> int | None:
    return mhz(str(link).partition("/")[2])


def own_standard(device: Device, of_cell: Mapping[str, Any]) -> str | None:
    """Return the standard that a device uses in a cell, None for the cell's standard.

    In 2.4 GHz that is the newest one with channels there, because devices of 802.11ac know 802.11n.
    """
    ages, newest = list(STANDARDS), str(of_cell.get("standard")).lower()
    if device.standard is None or newest not in ages:
        return None
    fit = ages[: ages.index(device.standard) + 1]
    if of_cell.get("band") == "2.4 GHz":
        fit = [one for one in fit if has_band(one, 2.4)]
    return fit[-1] if ages.index(fit[-1]) < ages.index(newest) else None


def limits_of_cell(data: Mapping[str, Any], group: Mapping[str, Any]) -> dict[str, Any]:
    """Return the standard and the channel width of a group's cell, if the cell gives them."""
    cells = data.get("cells")
    cell = cells.get(group.get("cell")) if isinstance(cells, Mapping) else None
    keys = ("standard", "channel_width")
    return {key: cell[key] for key in keys if key in cell} if isinstance(cell, Mapping) else {}


def has_powers(data: Mapping[str, Any]) -> bool:
    """Return whether `[air]` has received powers, or what they follow from."""
    air = data.get("air")
    return isinstance(air, Mapping) and bool({"received", "path_loss"} & air.keys())


def width_mhz(phy: Mapping[str, Any], group: Mapping[str, Any]) -> int | None:
    """Return the channel width of a group, or None if the standard does not have it."""
    of_cell = AMENDMENTS[str(phy["standard"]).lower()]
    amendment = AMENDMENTS[older(phy, group)]
    written = group.get("channel_width", phy.get("channel_width"))
    width = of_cell.default_width_mhz if written is None else mhz(written)
    if width and amendment is not of_cell and "channel_width" not in group:
        width = min(width, max(amendment.subcarriers))
    return width if width in amendment.subcarriers else None


def older(phy: Mapping[str, Any], group: Mapping[str, Any]) -> str:
    """Return the older standard of access point and group; `[phy]`'s if one is unknown."""
    of_cell, ages = str(phy.get("standard")).lower(), list(STANDARDS)
    own = str(group.get("standard", of_cell)).lower()
    return min(of_cell, own, key=ages.index) if {of_cell, own} <= set(ages) else of_cell


def mhz(written: object) -> int | None:
    """Return the number of a width such as "40 MHz", None for anything else."""
    number, _, unit = str(written).partition(" ")
    return int(number) if number.isdecimal() and unit.lower() == "mhz" else None

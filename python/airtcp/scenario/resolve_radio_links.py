"""Resolve `links` of the access point and of stations: several links of 802.11be at once (STR)."""

from __future__ import annotations

from typing import Final

from ..choices import DISCIPLINES
from .errors import Path, invalid, quoted
from .keys.mac import Aggregation
from .keys.phy import Phy
from .keys.radio_links import CHANNELS_MHZ, STANDARD, LinkRates, RadioLink, link_text
from .quantities import Written
from .resolve_pair import check_standards, pair_standard, resolve_pair
from .resolve_phy import beacon_rate, resolve_phy, station_rates

_HERE: Final[Path] = ("ap", "links")
_FEWEST: Final = 2
_Link = tuple[float, int]


def with_links(scenario: Written) -> Written:
    """Return the scenario with the first link of the access point as its `[phy]`.

    Raises:
        InvalidError: links that do not fit together, or that airtcp does not simulate.
    """
    links: list[_Link] | None = scenario.ap.links
    _unfit(scenario, links)
    return scenario if links is None else _on_link(scenario, links[0])


def on_first_link(scenario: Written, group: Written) -> Written:
    """Return the scenario as a group sees it: `[phy]` is that of its first link."""
    links: list[_Link] | None = scenario.ap.links
    return scenario if links is None else _on_link(scenario, _links_of(scenario, group)[0])


def check_hearing(scenario: Written, *, is_heard: bool) -> None:
    """Reject several links together with positions, powers or hearing.

    Raises:
        InvalidError: both are given.
    """
    if is_heard and scenario.ap.links is not None:
        raise invalid(_HERE, "links.hearing")


def phy_on_first_link(scenario: Written, mac: Written) -> Phy:
    """Return the resolved `[phy]` of the only link or of the first one."""
    links: list[_Link] | None = scenario.ap.links
    return _phy_on(scenario, mac, None if links is None else links[0])


def _phy_on(scenario: Written, mac: Written, link: _Link | None) -> Phy:
    places = [
        place
        for place, group in enumerate(scenario.stations)
        if link is None or link in _links_of(scenario, group)
    ]
    groups = [scenario.stations[place] for place in places]
    edca = mac.edca is not None
    return resolve_phy(scenario.phy, groups, mac.rules, edca=edca, places=places)


def resolve_links(
    scenario: Written, mac: Written, own: Aggregation | None
) -> tuple[RadioLink, ...] | None:
    """Return the links of the access point; None if it has one.

    Args:
        scenario: the written scenario.
        mac: its `[mac]`, with access categories.
        own: the access point's aggregation.
    """
    links: list[_Link] | None = scenario.ap.links
    if links is None:
        return None
    return tuple(_resolve_link(_on_link(scenario, link), mac, link, own) for link in links)


def _resolve_link(
    scenario: Written, mac: Written, link: _Link, own: Aggregation | None
) -> RadioLink:
    rates: list[LinkRates | None] = []
    for index, group in enumerate(scenario.stations):
        if link not in _links_of(scenario, group):
            rates.append(None)
            continue
        data, control = station_rates(scenario.phy, group, mac.rules, ("stations", index))
        pair = resolve_pair(scenario.phy, mac.rules, own, group, control)
        rates.append(LinkRates(data_rate=data, control_rate=control, pair=pair))
    return RadioLink(
        phy=_phy_on(scenario, mac, link),
        channel_mhz=CHANNELS_MHZ[link[0]],
        cf_end_rate=beacon_rate(scenario.phy, None, ("phy",)),
        stations=tuple(rates),
    )


def _on_link(scenario: Written, link: _Link) -> Written:
    """Return the scenario with the band and the channel of a link in `[phy]`."""
    band, width = link
    phy = scenario.phy.model_copy(update={"band": band, "channel_width": width})
    return scenario.model_copy(update={"phy": phy})


def _links_of(scenario: Written, group: Written) -> list[_Link]:
    links: list[_Link] = scenario.ap.links
    return links if group.links is None else [one for one in links if one in group.links]


def _unfit(scenario: Written, links: list[_Link] | None) -> None:
    """Return the first key that does not fit, why, and what is allowed."""
    if links is None:
        for index, group in enumerate(scenario.stations):
            if group.links is not None:
                raise invalid(("stations", index, "links"), "links.one_link")
            if group.emlsr is not None:
                raise invalid(
                    ("stations", index, "emlsr"), "links.one_link_radio", standard=STANDARD
                )
        for name, cell in scenario.cells.items():
            if cell.ap.links is not None:
                raise invalid(("cells", name, "ap", "links"), "links.several_cells")
        return
    if scenario.phy.standard != STANDARD:
        raise invalid(_HERE, "links.standard", standard=scenario.phy.standard, standard_=STANDARD)
    if len(links) < _FEWEST:
        raise invalid(
            _HERE, "links.number", what=f"is {len(links)} link" + ("" if len(links) == 1 else "s")
        )
    bands = [band for band, _ in links]
    for place, band in enumerate(bands):
        if band in bands[:place]:
            raise invalid((*_HERE, place), "links.same_band", band=band)
    for key in ("band", "channel_width"):
        if scenario.phy.given(key):
            raise invalid(("phy", key), "links.band_and_width")
    if scenario.cells:
        raise invalid(_HERE, "links.several_cells")
    for path, is_used, what in (
        (("mac", "ofdma"), scenario.mac.ofdma is not None, "PPDUs to several stations"),
        (("mac", "beacon"), scenario.mac.beacon is not None, "beacons"),
        (("mac", "pcf"), scenario.mac.pcf is not None, "contention-free periods"),
        (("ap", "access", "scheme"), scenario.ap.access.scheme != "standard", "bursts"),
        (("ap", "queue", "mac_limit"), scenario.ap.queue.mac_limit is not None, "a driver's ring"),
    ):
        if is_used:
            raise invalid(path, "links.unsupported", what=what)
    _unfit_groups(scenario, links)


def _unfit_groups(scenario: Written, links: list[_Link]) -> None:
    known = quoted(link_text(link) for link in links)
    for index, group in enumerate(scenario.stations):
        here: Path = ("stations", index)
        own: list[_Link] = links if group.links is None else group.links
        for place, link in enumerate(own):
            if link not in links:
                found = f'"{link_text(link)}" is not a link of the access point'
                raise invalid((*here, "links", place), "links.unknown", what=found, allowed=known)
        if not own:
            raise invalid((*here, "links"), "links.no_link", allowed=known)
        standard = pair_standard(scenario.phy, group)
        if standard != STANDARD and len(own) > 1:
            raise invalid(
                (*here, "standard") if group.links is None else (*here, "links"),
                "links.several",
                standard=standard,
                own=len(own),
                link=link_text(own[0]),
            )
        if group.emlsr is not None and len(own) < _FEWEST:
            found = "these stations have one link, and a radio for it"
            raise invalid((*here, "emlsr"), "links.one_radio", what=found)
        if group.channel_width is not None:
            raise invalid((*here, "channel_width"), "links.channel_width")
        if group.rate_control != "fixed":
            raise invalid((*here, "rate_control"), "links.rate_control")
        if group.queue.mac_limit is not None:
            raise invalid((*here, "queue", "mac_limit"), "links.ring")
        if own and all(link in links for link in own):
            check_standards(_on_link(scenario, own[0]).phy, [group], first=index)
    queue = scenario.ap.queue.discipline
    if queue in DISCIPLINES and not DISCIPLINES[queue].leaves_stations:
        leaving = [f'"{name}"' for name, one in DISCIPLINES.items() if one.leaves_stations]
        raise invalid(
            ("ap", "queue", "discipline"),
            "links.discipline",
            name=DISCIPLINES[queue].in_file,
            allowed=leaving,
        )

"""Site surveys: access points with channels and received powers at each place.

A CSV file of a planner or scanner has one line for each access point at each place. A scan
(`scans`) covers one place. Names of networks and places are not kept.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from airtcp.importer.draft import Draft, Said
from airtcp.importer.scans import (
    MAC,
    Reading,
    band_of,
    channel_of,
    generation_of,
    is_scan,
    power_note,
    scanned,
    width_of,
    width_of_channel,
)
from airtcp.importer.source import Source, phrase, shown

#: Names of columns in exports of NetSpot, Ekahau, WiFi Explorer, inSSIDer and others.
_COLUMNS: Final = {
    "ssid": r"e?ssid|network( name)?",
    "bssid": r"bssid|mac( address)?|ap mac|address|access point",
    "channel": r"channel|chan|ch|primary channel|channel number|kanal|canale?",
    "band": r"band|frequency band|frequency( ?[\[(]?[mg]hz[\])]?)?|freq\.?( ?[\[(]?[mg]hz[\])]?)?",
    "rssi": r"(rssi|(best)?signal( strength| level)?|level|power)( ?[\[(]?dbm[\])]?)?|dbm|"
    r"avg\.? signal",
    "place": r"place|location|point|sample|survey point|zone|room|position",
    "x": r"x|x ?[\[(]m[\])]|pos ?x",
    "y": r"y|y ?[\[(]m[\])]|pos ?y",
    "width": r"(channel )?width( ?[\[(]?mhz[\])]?)?|bandwidth",
    "mode": r"(phy )?modes?|(phy )?type|protocol|standard|802\.11",
}
#: Weaker access points are ignored; the noise in 20 MHz is at -94 dBm.
_WEAKEST_DBM: Final = -92.0
_NEAR_DBM: Final = -50.0
_MOST_COLUMNS: Final = 200
_MOST_APS: Final = 12
_MOST_PLACES: Final = 24
_STANDARDS: Final = ("802.11n", "802.11ac", "802.11ax", "802.11be")


def _head(source: Source) -> tuple[str, dict[str, list[int]]]:
    """Return the delimiter, and the positions of the known columns, from the first two lines."""
    lines = source.text.lstrip().splitlines()[:2]
    first = lines[0].strip()
    if " / " in first:
        # wpa_cli: a head with slashes, and rows with tabs.
        first = first.replace(" / ", "\t")
    delimiter = max(",;\t", key=first.count)
    columns = first.split(delimiter, _MOST_COLUMNS)[:_MOST_COLUMNS]
    names = [name.strip().strip('"').lower() for name in columns]
    found: dict[str, list[int]] = {}
    for key, pattern in _COLUMNS.items():
        if places := [n for n, name in enumerate(names) if re.fullmatch(pattern, name)]:
            found[key] = places
    # A column of powers in dBm may be next to one in percent.
    found.get("rssi", []).sort(key=lambda place: not re.search("rssi|dbm", names[place]))
    # "Access point" may be a name, next to a column of addresses.
    cells = lines[1].split(delimiter, _MOST_COLUMNS) if len(lines) > 1 else []
    known = [n for n in found.get("bssid", ()) if n < len(cells) and _is_mac(cells[n].strip(' "'))]
    return delimiter, found | ({"bssid": known} if known else {})


def _is_mac(text: str) -> bool:
    return re.fullmatch(MAC, text.replace("-", ":")) is not None


def is_survey(source: Source) -> bool:
    """Whether a text is a table of access points with powers, or a scan."""
    columns = _head(source)[1]
    return is_scan(source) or (
        {"bssid", "rssi"} <= columns.keys() and bool({"channel", "band"} & columns.keys())
    )


def _readings(source: Source) -> list[Reading]:
    """Return all readings. Raises ScenarioError with the line of an invalid one."""
    if is_scan(source):
        return scanned(source)
    delimiter, columns = _head(source)
    found = []
    reader = csv.reader(source.text.lstrip().splitlines(), delimiter=delimiter)
    try:
        next(reader)
        for row in reader:
            if row and row[0].strip().lower() == "station mac":
                # airodump-ng: stations follow the access points.
                break
            if any(map(str.strip, row)):
                found.append(_row(source, reader.line_num, row, columns))
    except csv.Error as error:
        raise source.error(
            f"line {reader.line_num}", phrase("survey.not_csv", error=error)
        ) from error
    return [one for one in found if one is not None]


def _row(
    source: Source, line: int, row: Sequence[str], columns: dict[str, list[int]]
) -> Reading | None:
    """Return a reading; None if the access point is not received."""
    place = f"line {line}"

    def texts(key: str) -> list[str]:
        cells = (row[at].strip() for at in columns.get(key, ()) if at < len(row))
        return list(filter(None, cells))

    def text(key: str) -> str:
        return next(iter(texts(key)), "")

    bssid = text("bssid").lower().replace("-", ":")
    if not _is_mac(bssid):
        raise source.error(f"{place}: bssid", phrase("survey.not_an_address"))
    rssi = text("rssi").lower().removesuffix("dbm").strip().replace(",", ".")
    # airodump-ng writes -1 for a driver without powers.
    if rssi in ("", "-", "n/a", "-1"):
        return None
    number = re.search(r"\d+(?:\.\d+)?", text("band"))
    # In GHz, or MHz.
    ghz = float(number[0]) if number else 0.0
    ghz = ghz / 1000.0 if ghz > 100.0 else ghz
    first = re.match(r"\d{1,3}", text("channel"))
    channel = int(first[0]) if first else 0
    if "channel" not in columns and ghz:
        channel = channel_of(round(ghz * 1000.0))
    if not 1 <= channel <= 233:
        raise source.error(
            f"{place}: channel",
            phrase("survey.not_a_channel", value=shown(text("channel"))),
        )
    if not re.fullmatch(r"-?\d{1,3}(\.\d+)?", rssi) or not -120.0 <= float(rssi) <= 0.0:
        raise source.error(
            f"{place}: rssi", phrase("survey.not_a_power", value=shown(text("rssi")))
        )
    where = ", ".join((*texts("place"), *texts("x"), *texts("y"))) or "here"
    return Reading(
        where,
        bssid,
        text("ssid"),
        channel,
        float(rssi),
        width_of(text("width")) or width_of_channel(text("channel")),
        generation_of(text("mode")),
        band_of(channel, ghz),
    )


def _means(readings: Sequence[Reading]) -> list[Reading]:
    """Return one reading of each access point at each place, with the mean power in dBm."""
    by_place: dict[tuple[str, str, int], list[Reading]] = {}
    for one in readings:
        by_place.setdefault((one.place, one.bssid, one.channel), []).append(one)
    return [
        replace(same[0], rssi_dbm=round(sum(one.rssi_dbm for one in same) / len(same), 1))
        for same in by_place.values()
    ]


def add_survey(source: Source, draft: Draft) -> None:
    """Write a cell for each access point, and a group at each place. Raises ScenarioError."""
    readings = [one for one in _means(_readings(source)) if one.rssi_dbm >= _WEAKEST_DBM]
    if not readings:
        raise source.error("", phrase("survey.too_weak", weakest_dbm=_WEAKEST_DBM))
    name = source.short
    draft.names.append(name)
    strongest = max(readings, key=lambda one: one.rssi_dbm)
    # Access points that hide the name of their network may be of different ones.
    names = {strongest.ssid} - {""}
    own = [one for one in readings if one.ssid in names or one.bssid == strongest.bssid]
    _say_phy(name, own, draft)
    aps, left = _access_points(readings, own)
    for reason, count in left.items():
        draft.unread.append(phrase("survey.left_out", name=name, count=count, reason=reason))
    cells = {bssid: f"ap-{number}" for number, bssid in enumerate(aps, 1)}
    heard = {(one.place, one.bssid): one for one in readings if one.bssid in cells}
    places = list(dict.fromkeys(one.place for one in own if one.bssid in cells))
    if len(places) > _MOST_PLACES:
        draft.unread.append(
            phrase(
                "survey.more_places",
                name=name,
                places=len(places) - _MOST_PLACES,
                most=_MOST_PLACES,
            )
        )
    groups = {place: f"place-{n}" for n, place in enumerate(places[:_MOST_PLACES], 1)}
    channels = {one.bssid: one.channel for one in readings}
    for bssid, cell in cells.items():
        ssid = next(one.ssid for one in readings if one.bssid == bssid)
        kept = draft.names_of(cell, [f"{ssid} ({bssid})" if ssid else bssid])
        draft.say(f"cells.{cell}", "channel", channels[bssid], kept)
    draft.tables.setdefault("stations", {})
    mine = {one.bssid for one in own}
    for place, group in groups.items():
        best = max(
            (heard[place, bssid] for bssid in cells if (place, bssid) in heard and bssid in mine),
            key=lambda one: one.rssi_dbm,
        )
        kept = draft.names_of(group, [place])
        about = f"{name}: a guess{f', at {kept}' if kept else ''}"
        draft.groups.append(
            {
                "name": Said(group, ""),
                "count": Said(1, about),
                "cell": Said(cells[best.bssid], phrase("survey.strongest", rssi_dbm=best.rssi_dbm)),
            }
        )
    # A cell needs a station, so add one nearby that sends nothing until it gets a flow.
    used = {table["cell"].value for table in draft.groups}
    silent = {cell: f"{cell}-station" for cell in cells.values() if cell not in used}
    for cell, group in silent.items():
        draft.groups.append(
            {
                "name": Said(group, ""),
                "count": Said(1, phrase("survey.guess")),
                "cell": Said(cell, ""),
            }
        )
    rows = [
        [cell, groups[place], one.rssi_dbm]
        for (place, bssid), one in heard.items()
        if (cell := cells[bssid]) and place in groups
    ]
    guessed = _guessed(cells, groups, heard)
    guessed += [[cell, group, _NEAR_DBM] for cell, group in silent.items()]
    draft.say(
        "air",
        "received",
        rows + guessed,
        phrase("survey.guesses", name=name, guessed=len(guessed)),
    )
    if note := power_note(source):
        draft.unknown.append(f"{name}: {note}")
    draft.unknown += [
        phrase("survey.assumed_powers", name=name),
        phrase("survey.no_traffic", name=name),
    ]


def _say_phy(name: str, own: Sequence[Reading], draft: Draft) -> None:
    generation = max(one.generation for one in own)
    strongest = max(own, key=lambda one: one.rssi_dbm)
    is_low = strongest.is_low
    why = phrase("survey.radio_of", name=name)
    if generation < 0:
        draft.unknown.append(phrase("survey.no_standard", name=name))
    # 802.11ac is not defined in 2.4 GHz.
    standard = _STANDARDS[0] if is_low and generation == 1 else _STANDARDS[generation]
    draft.say("phy", "standard", "802.11ax" if generation < 0 else standard, why)
    draft.say("phy", "band", strongest.band, why)
    there = [one.width_mhz for one in own if one.band == strongest.band]
    width = min(max(there), {"2.4 GHz": 40, "5 GHz": 160}.get(strongest.band, 320))
    if not width:
        draft.unknown.append(phrase("survey.no_width", name=name))
    draft.say("phy", "channel_width", f"{width or 20} MHz", why)


def _access_points(
    readings: Sequence[Reading], own: Sequence[Reading]
) -> tuple[list[str], dict[str, int]]:
    """Return the access points that become cells, own ones first, and counts of the others.

    The counts are by the reason for leaving out an access point. If own access points are on
    partially overlapping channels, only the strongest of them stays.
    """
    strongest = max(own, key=lambda one: one.rssi_dbm)
    is_low = strongest.is_low
    mine: set[int] = set()
    best: dict[str, Reading] = {}
    for one in sorted(readings, key=lambda one: -one.rssi_dbm):
        best.setdefault(one.bssid, one)
    own_bssids = {one.bssid for one in own}
    order = sorted(best.values(), key=lambda one: (one.bssid not in own_bssids, -one.rssi_dbm))
    found: list[str] = []
    left: dict[str, int] = {}
    for one in order:
        reason = ""
        if one.band != strongest.band:
            reason = "in another band"
        elif is_low and any(0 < abs(one.channel - channel) < 5 for channel in mine):
            reason = phrase("survey.partly_overlapping")
        elif one.bssid not in own_bssids and is_low and one.channel not in mine:
            reason = phrase("survey.not_overlapping")
        elif len(found) >= _MOST_APS:
            reason = f"weaker than the {_MOST_APS} strongest"
        if reason:
            left[reason] = left.get(reason, 0) + 1
        else:
            found.append(one.bssid)
            if one.bssid in own_bssids:
                mine.add(one.channel)
    return found, left


def _guessed(
    cells: dict[str, str], groups: dict[str, str], heard: dict[tuple[str, str], Reading]
) -> list[list[object]]:
    """Return guesses of powers that a survey lacks: between access points, between stations."""
    rows: list[list[object]] = []
    near = {
        bssid: max(
            (place for place, other in heard if other == bssid),
            key=lambda place, bssid=bssid: heard[place, bssid].rssi_dbm,  # type: ignore[misc]
        )
        for bssid in cells
    }
    for one, other in itertools.combinations(cells, 2):
        known = [
            heard[place, far].rssi_dbm
            for place, far in ((near[one], other), (near[other], one))
            if (place, far) in heard
        ]
        if known:
            rows.append([cells[one], cells[other], max(known)])
    for first, second in itertools.combinations(groups, 2):
        both = [
            min(heard[first, bssid].rssi_dbm, heard[second, bssid].rssi_dbm)
            for bssid in cells
            if (first, bssid) in heard and (second, bssid) in heard
        ]
        if both:
            rows.append([groups[first], groups[second], max(both)])
    return rows

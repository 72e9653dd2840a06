"""Output of `iw` about associated stations and channels: rates, retries and airtime."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from airtcp.high_rate import HighRate, NoSuchRateError
from airtcp.importer.draft import Draft, Said
from airtcp.importer.scans import band_of
from airtcp.importer.source import Source, phrase
from airtcp.results.measured import Measurement
from airtcp.stats import Interval

#: A station of an access point, or the access point of `iw link`.
_STATION: Final = re.compile(r"^(Station|Connected to) ([0-9a-fA-F:]{17})\b")
_SURVEY: Final = re.compile(r"^Survey data from ")
_VALUE: Final = re.compile(r"^\s+([\w ./]+?):\s*(.*\S)?\s*$")
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?")
_RATE: Final = re.compile(
    r"^(?P<mbps>\d+(?:\.\d+)?) MBit/s"
    r"(?=(?:.*\b(?P<width>20|40|80|80P80|160|320) ?MHz)?)"
    r"(?=(?:.*\b(?P<form>EHT|HE|VHT)-MCS (?P<mcs>\d+))?)"
    r"(?=(?:.* (?:EHT|HE|VHT)-NSS (?P<streams>\d+))?)"
    r"(?=(?:.*(?:^| )MCS (?P<ht>\d+))?)"
    r"(?=(?:.*(?P<short>short GI))?)"
    r"(?=(?:.* (?:HE|EHT)-GI (?P<guard>[012]))?)"
)
_STANDARDS: Final = {"HT": "802.11n", "VHT": "802.11ac", "HE": "802.11ax", "EHT": "802.11be"}
_ORDER: Final = ("", *_STANDARDS)
#: Four streams in 40 MHz, in Mb/s; 802.11ad begins above.
_FASTEST_HT: Final = 600.0
#: Formats of data frames that a band does not have. "" is the format without HT.
_LACKS: Final = {"2.4 GHz": ("VHT",), "6 GHz": ("", "HT", "VHT")}
#: Only 6 GHz has channels of this width, in MHz.
_WIDEST: Final = 320
_MOST_CHANNELS: Final = 4
_DSSS: Final = (1.0, 2.0, 5.5, 11.0)
#: The largest error of a rate by its parameters, from rounding in Linux.
_ROUNDING: Final = 0.02
#: The guard interval by the number that iw prints.
_GUARD_NS: Final = (800, 1600, 3200)


@dataclass
class _Station:
    name: str
    line: int
    values: dict[str, str] = field(default_factory=dict)

    def number(self, key: str) -> float | None:
        """Return the first number of a value, None without one."""
        match = _NUMBER.search(self.values.get(key, ""))
        return None if match is None else float(match[0])


def is_iw(source: Source) -> bool:
    """Whether a text is from `iw station dump`, `station get`, `link` or `survey dump`."""
    first = source.text.lstrip().partition("\n")[0]
    return bool(_STATION.match(first) or _SURVEY.match(first))


def _sections(source: Source) -> list[_Station]:
    """Return the values of each station, or of each channel. Raises ScenarioError."""
    found: list[_Station] = []
    for number, line in source.lines():
        if match := _STATION.match(line):
            found.append(_Station(match[2].lower(), number))
        elif _SURVEY.match(line):
            found.append(_Station("", number))
        elif (match := _VALUE.match(line)) and found:
            found[-1].values[match[1].strip()] = match[2] or ""
        elif not (found and line[:1].isspace()):
            raise source.error(f"line {number}", phrase("iw.not_a_dump"))
    return found


def measurement(source: Source) -> Measurement:
    """Return retries, rates and airtime of each station, by the group names of the import."""
    values: dict[str, dict[str, Interval]] = {}
    others: list[str] = []
    for group, stations in _groups(source).items():
        for one in stations:
            others += _told(group, one)
        shares = [share for one in stations if (share := _airtime(one)) is not None]
        if shares:
            values[group] = {"airtime_share": Interval(sum(shares), None, None, 1)}
    channels = [one for one in _sections(source) if not one.name and _channel(one)]
    # Without a channel in use: where it listened for longest.
    channels.sort(key=lambda one: one.number("channel active time") or 0.0, reverse=True)
    in_use = [one for one in channels if "[in use]" in one.values.get("frequency", "")]
    shown = in_use or channels[:_MOST_CHANNELS]
    others += [_channel(one) for one in shown]
    if len(channels) > len(shown) and not in_use:
        others.append(phrase("iw.channels", channels=len(channels) - len(shown)))
    return Measurement(source.short, values, others=tuple(others))


def _airtime(one: _Station) -> float | None:
    """Return the share of time since association that its frames took, in both directions.

    None if it is unknown: most drivers print 0.
    """
    seconds = one.number("connected time")
    spent = sum(one.number(f"{way} duration") or 0.0 for way in ("tx", "rx"))
    return spent / 1e6 / seconds if spent and seconds else None


def _told(group: str, one: _Station) -> list[str]:
    sent, again, failed = (one.number(f"tx {key}") for key in ("packets", "retries", "failed"))
    lines = []
    if sent and again is not None:
        failures = "" if failed is None else f", {failed:.0f} given up"
        lines.append(
            phrase("iw.retries", group=group, again=again / (sent + again), failures=failures)
        )
    for key in ("signal", "tx bitrate", "rx bitrate", "expected throughput"):
        if key in one.values:
            lines.append(f"{group}: {key} {one.values[key]}")
    return lines


def _channel(one: _Station) -> str:
    """Describe the utilization of a channel; "" if it is unknown."""
    active, busy = one.number("channel active time"), one.number("channel busy time")
    if not active or busy is None:
        return ""
    parts = [f"busy {busy / active:.1%}"]
    for key, word in (("transmit", "transmits"), ("receive", "receives")):
        if (value := one.number(f"channel {key} time")) is not None:
            parts.append(f"{word} {value / active:.1%}")
    return phrase("iw.channel", value=one.values.get("frequency", "?"), parts=parts)


def _groups(source: Source) -> dict[str, list[_Station]]:
    """Return stations with the same rate by the name of their group."""
    found: dict[tuple[object, ...], list[_Station]] = {}
    for one in _sections(source):
        if one.name:
            found.setdefault(_rate(one)[:2], []).append(one)
    names = ["station", *(f"station-{number}" for number in range(2, len(found) + 1))]
    return dict(zip(names, found.values(), strict=False))


class _Rate(NamedTuple):
    """The format of a rate ("" for 802.11a, b and g), and the values that define it.

    `keys` are MCS, streams, width and guard interval, or Mb/s; empty if there is no rate.
    """

    form: str
    keys: tuple[int, int, int, int] | tuple[float] | tuple[()]
    why: str
    mbps: float = 0.0

    @property
    def width_mhz(self) -> int:
        """The channel width, 0 for rates of 802.11a, b and g."""
        return self.keys[2] if len(self.keys) == 4 else 0


def _rate(one: _Station) -> _Rate:
    """Return the last transmit rate; the receive rate if only that has an MCS.

    The last frame of an idle station is often one of management, at the lowest rate.
    """
    found = [_parsed(key, one.values.get(key, "")) for key in ("tx bitrate", "rx bitrate")]
    return next((rate for rate in found if rate.form), found[0])


def _parsed(key: str, text: str) -> _Rate:
    match = _RATE.match(text)
    why = f"{key} {text or 'unknown'}"
    if match is None:
        return _Rate("", (), why)
    mbps = float(match["mbps"])
    width = int((match["width"] or "20").replace("80P80", "160"))
    guard_ns = _GUARD_NS[int(match["guard"])] if match["guard"] else 400 if match["short"] else 800
    if match["form"]:
        keys = (int(match["mcs"]), int(match["streams"] or 1), width, guard_ns)
        return _Rate(match["form"], keys, why, mbps)
    if match["ht"]:
        # MCS 0 to 7 have one stream, 8 to 15 two, and so on.
        mcs = int(match["ht"])
        return _Rate("HT", (mcs % 8, mcs // 8 + 1, width, guard_ns), why, mbps)
    return _Rate("", (mbps,), why, mbps)


def _is_other(rate: _Rate) -> bool:
    """Whether a rate is not the one that its parameters give."""
    if len(rate.keys) != 4:
        return False
    mcs, streams, width, guard_ns = rate.keys
    try:
        bps = HighRate(
            format=rate.form.lower(),
            mcs=mcs,
            spatial_streams=streams,
            channel_width_mhz=width,
            guard_interval_ns=guard_ns,
        ).bps
    except NoSuchRateError:
        return False
    return abs(rate.mbps * 1e6 / bps - 1.0) > _ROUNDING


def _is_dsss(rate: _Rate) -> bool:
    return len(rate.keys) == 1 and rate.keys[0] in _DSSS


def add_stations(source: Source, draft: Draft) -> None:
    """Write groups of stations with their rates. Raises ScenarioError without any station."""
    groups = _groups(source)
    if not groups:
        raise source.error("", phrase("iw.no_station"))
    name = source.short
    draft.names.append(name)
    _check_modelled(source, groups)
    rates = [_rate(one) for stations in groups.values() for one in stations]
    mhz = next((mhz for of in groups.values() for one in of if (mhz := one.number("freq"))), None)
    _say_radio(name, rates, band_of(0, mhz / 1000.0) if mhz else "", draft)
    draft.tables.setdefault("stations", {})
    for group, stations in groups.items():
        names = draft.names_of(group, [one.name for one in stations])
        line = f"{name}:{stations[0].line}"
        draft.groups.append(
            {
                "name": Said(group, ""),
                "count": Said(len(stations), f"{line}: {names}" if names else line),
                **_keys(_rate(stations[0]), group, name, draft),
            }
        )
        if rates := [rate for one in stations if _is_other(rate := _rate(one))]:
            draft.unread.append(phrase("iw.other_rate", group=group, why=rates[0].why))
    if any("mesh plink" in one.values for of in groups.values() for one in of):
        draft.unread.append(phrase("iw.mesh", name=name))
    draft.unknown.append(phrase("iw.last_frames", name=name))
    told = measurement(source)
    draft.measured += list(told.others)


def _check_modelled(source: Source, groups: dict[str, list[_Station]]) -> None:
    """Raise ScenarioError for rates of other radios: 802.11ah, and 802.11ad, whose MCS is plain."""
    for one in itertools.chain.from_iterable(groups.values()):
        text = one.values.get("tx bitrate", "")
        rate = _parsed("", text)
        is_fast = rate.form == "HT" and float(text.split()[0]) > _FASTEST_HT
        if "S1G-MCS" in text or is_fast:
            other = "802.11ad (60 GHz)" if is_fast else "802.11ah"
            raise source.error(
                f"line {one.line}: tx bitrate {text}",
                phrase("iw.not_modelled", other=other),
            )


def _say_radio(name: str, rates: Sequence[_Rate], band: str, draft: Draft) -> None:
    """Write the standard, band and width of the newest rate. `band` is "" if no file tells it."""
    if draft.has("phy", "standard"):
        return
    newest = max((rate.form for rate in rates), key=_ORDER.index)
    widest = max(rate.width_mhz for rate in rates)
    has_dsss = any(map(_is_dsss, rates))
    if not any(rate.keys for rate in rates):
        draft.unknown.append(phrase("iw.no_standard", name=name))
        newest = "HE"
    guess = "5 GHz" if newest else "2.4 GHz"
    why = f"{name}: freq"
    if not band and widest == _WIDEST:
        band, why = "6 GHz", f"{name}: the widest rate"
    elif not band and has_dsss and newest != "VHT":
        band, why = "2.4 GHz", f"{name}: a rate of 802.11b"
    if not band:
        draft.unknown.append(phrase("iw.no_band", name=name, guess=guess))
    if not newest:
        is_b = all(map(_is_dsss, rates))
        old = "802.11a" if band == "5 GHz" else "802.11b" if is_b else "802.11g"
        draft.say("phy", "standard", old, f"{name}: rates")
        return
    draft.say("phy", "standard", _STANDARDS[newest], phrase("iw.newest", name=name))
    if band:
        draft.say("phy", "band", band, why)
    draft.say("phy", "channel_width", f"{widest or 20} MHz", phrase("iw.widest", name=name))


def _keys(rate: _Rate, group: str, name: str, draft: Draft) -> dict[str, Said]:
    """Return the keys of a group with its standard, if it is older, and its rate."""
    phy = draft.tables["phy"]
    standard = phy["standard"].value
    known = next((form for form, one in _STANDARDS.items() if one == standard), "")
    why = f"{name}: {rate.why}"
    band = phy["band"].value if "band" in phy else ""
    is_low = band == "2.4 GHz"
    is_newer = _ORDER.index(rate.form) > _ORDER.index(known)
    lacks = (known and _is_dsss(rate) and not is_low) or rate.form in _LACKS.get(band, ())
    widest = int(phy["channel_width"].value.split()[0]) if "channel_width" in phy else _WIDEST
    if not rate.keys or is_newer or lacks or rate.width_mhz > widest:
        draft.unread.append(phrase("iw.not_a_rate", group=group, why=why))
        return {}
    if len(rate.keys) == 4:
        mcs, streams, width, guard_ns = rate.keys
        older = {} if rate.form == known else {"standard": Said(_STANDARDS[rate.form], why)}
        return older | {
            "mcs": Said(mcs, why),
            "spatial_streams": Said(streams, ""),
            "channel_width": Said(f"{width} MHz", ""),
            "guard_interval": Said(f"{guard_ns} ns", ""),
        }
    table = {"data_rate": Said(f"{rate.keys[0]:g} Mb/s", why)}
    if not known:
        return table
    older_name = "802.11b" if _is_dsss(rate) else "802.11g" if is_low else "802.11a"
    draft.unknown.append(phrase("iw.older_station", group=group, why=rate.why, older=older_name))
    return {"standard": Said(older_name, why), **table}

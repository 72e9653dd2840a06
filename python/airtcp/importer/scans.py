"""Scans: the access points that a computer receives, with their channels and powers.

`iw scan`, `iwlist scan` and `airport -s` (macOS) print powers in dBm. `netsh wlan show networks
mode=bssid` of Windows and `nmcli device wifi list` of NetworkManager print them in percent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from airtcp.importer.source import Source, phrase, shown

#: A MAC address.
MAC: Final = r"[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5}"
_BSS: Final = re.compile(r"^BSS ([0-9a-fA-F:]{17})\b")
#: Windows translates names, but neither their order nor values.
_SSID: Final = re.compile(r"^SSID \d+ *: ?(.*)$")
_NETSH: Final = re.compile(rf"^ *BSSID \d+ *: ({MAC})\s*$")
_NMCLI: Final = re.compile(r"^(?=.*\bBSSID\b)(?=.*\bSIGNAL\b) *[^\s,;]+(?: {2,}\S+)+ *$")
#: A line of `nmcli -t`, which escapes the colons of an address.
_TERSE: Final = re.compile(r"^(?:[^:]*:)*[0-9A-F]{2}(?:\\:[0-9A-F]{2}){5}(?::|$)")
#: The first cell of `iwlist scan`, and the head of `airport -s` of macOS.
_IWLIST: Final = re.compile(rf"(?m)^ *Cell \d+ - Address: {MAC}")
_AIRPORT: Final = re.compile(r"SSID BSSID +RSSI CHANNEL\b")
_COUNT: Final = re.compile(r"\d{1,3}")
#: Fields of `nmcli -t` that are not the name of a network: mode, rate, width, bars, security.
_NO_NAME: Final = re.compile(
    r"[*▂▄▆█_ ]*|Infra|Ad-Hoc|Mesh|N/A|--|yes|no|\d+ M(bit/s|Hz)|(WPA\d?|WEP|OWE|802\.1X)\b.*"
)
_WIDTHS: Final = (20, 40, 80, 160, 320)
_MODES: Final = {"n": 0, "ac": 1, "ax": 2, "be": 3, "4": 0, "5": 1, "6": 2, "7": 3}


@dataclass(frozen=True)
class Reading:
    """An access point as received at a place; `generation` is an index of standards.

    `band` is "2.4 GHz", "5 GHz" or "6 GHz". A width of 0 is unknown.
    """

    place: str
    bssid: str
    ssid: str
    channel: int
    rssi_dbm: float
    width_mhz: int
    generation: int
    band: str

    @property
    def is_low(self) -> bool:
        """Whether it is in 2.4 GHz, where channels overlap."""
        return self.band == "2.4 GHz"


def band_of(channel: int, ghz: float = 0.0) -> str:
    """Return the band of a frequency; by the channel if it is 0.

    6 GHz has channels 1, 5, 9 ... 233 of 20 MHz, and 5 GHz others but for 149 to 177 (IEEE
    802.11-2020, Annex E).
    """
    if ghz:
        return "2.4 GHz" if ghz < 3.0 else "5 GHz" if ghz < 5.93 else "6 GHz"
    is_high = channel > 196 or (channel % 4 == 1 and channel not in range(149, 178))
    return "2.4 GHz" if channel <= 14 else "6 GHz" if is_high else "5 GHz"


def channel_of(mhz: int) -> int:
    """Return the channel of a frequency."""
    low = 14 if mhz == 2484 else (mhz - 2407) // 5 if mhz < 3000 else (mhz - 5000) // 5
    return (mhz - 5950) // 5 if mhz > 5950 else low


def width_of(text: str) -> int:
    """Return the channel width in MHz in a text; 0 if it has none."""
    found = re.search(r"\d{2,3}", text)
    return int(found[0]) if found and int(found[0]) in _WIDTHS else 0


def width_of_channel(text: str) -> int:
    """Return the width in MHz of a channel such as `36,+1`, `6+10` or `149@80`; 0 if not told."""
    if found := re.search(r"[@,/( ] ?(20|40|80|160|320)( ?MHz\b|\)?$)", text):
        return int(found[1])
    if re.search(r"[, ][+-]1\b", text):
        return 40
    listed = re.fullmatch(r"\d+((?: ?[+-] ?\d+)+)", text)
    return width_of(str(20 * (1 + len(re.findall(r"\d+", listed[1]))))) if listed else 0


def generation_of(text: str) -> int:
    """Return the newest standard in a text such as `a/n/ac`, as an index; -1 without one."""
    words = re.findall(r"[a-z]+|\d", text.lower().replace("802.11", " "))
    return max((_MODES[word] for word in words if word in _MODES), default=-1)


def _kind(source: Source) -> str:
    """Return the program that printed a scan, of nmcli with `-t` terse; "" for another text."""
    text = source.text.lstrip()
    if _BSS.match(text):
        return "iw"
    if _IWLIST.search(text[:2000]):
        return "iwlist"
    if _AIRPORT.match(text):
        return "airport"
    first = text.partition("\n")[0].rstrip()
    if _NMCLI.match(first):
        return "nmcli"
    if _TERSE.match(first):
        return "terse"
    return "netsh" if any(map(_SSID.match, text.splitlines()[:40])) else ""


def is_scan(source: Source) -> bool:
    """Whether a text is the output of iw, iwlist, netsh, nmcli or airport."""
    return _kind(source) != ""


def power_note(source: Source) -> str:
    """Explain the unit of a scan's powers; "" if they are in dBm."""
    kind = _kind(source)
    if kind == "netsh":
        return phrase("scans.percent_windows")
    if kind in ("nmcli", "terse"):
        return phrase("scans.percent_nmcli")
    return ""


def scanned(source: Source) -> list[Reading]:
    """Return the readings of a scan. Raises ScenarioError with the line of an invalid one."""
    kind = _kind(source)
    if kind == "iw":
        return _of_iw(source)
    if kind == "iwlist":
        return list(_of_iwlist(source))
    if kind == "airport":
        return list(_of_airport(source))
    if kind == "netsh":
        return list(_of_netsh(source))
    return [_of_nmcli(source, *row) for row in (_rows if kind == "nmcli" else _terse_rows)(source)]


def _percent(source: Source, place: str, text: str) -> int:
    found = re.fullmatch(r"(\d{1,3}) ?%?", text.strip())
    if found is None or int(found[1]) > 100:
        raise source.error(f"{place}: signal", phrase("scans.not_a_percentage", text=shown(text)))
    return int(found[1])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _of_netsh(source: Source) -> Iterator[Reading]:
    """Yield the readings of netsh: the first values of each kind after a BSSID are its own."""
    lines = source.text.splitlines()
    starts = [place for place, line in enumerate(lines) if _NETSH.match(line)]
    if not starts:
        raise source.error("", phrase("scans.no_access_point"))
    ssid = ""
    for number, line in enumerate(lines):
        ssid = name[1].strip() if (name := _SSID.match(line)) else ssid
        if (bssid := _NETSH.match(line)) is None:
            continue
        place = f"line {number + 1}"
        end = next(
            (n for n in range(number + 1, len(lines)) if _NETSH.match(lines[n]) or not lines[n]),
            len(lines),
        )
        # Lines with a larger indent are about stations and load.
        own = [one for one in lines[number + 1 : end] if _indent(one) <= _indent(lines[number + 1])]
        values = [one.partition(":")[2].strip() for one in own]

        def first(pattern: str, values: list[str] = values) -> str:
            return next((one for one in values if re.fullmatch(pattern, one)), "")

        signal = _percent(source, place, first(r"\d+ ?%"))
        channel = int(first(r"\d{1,3}") or 0)
        if not 1 <= channel <= 233:
            raise source.error(f"{place}: channel", phrase("scans.no_channel"))
        rssi = first(r"-\d{1,3}( ?dBm)?")
        ghz = first(r"\d([.,]\d)? GHz").replace(",", ".")
        yield Reading(
            "here",
            bssid[1].lower(),
            ssid,
            channel,
            float(rssi.split("d")[0]) if rssi else signal / 2 - 100.0,
            0,
            generation_of(first(r"802\.11\w+")),
            band_of(channel, float(ghz.split()[0]) if ghz else 0.0),
        )


#: A line of nmcli: its number, and values by the name of their column.
_Row = tuple[int, dict[str, str]]


def _rows(source: Source) -> Iterator[_Row]:
    """Yield the lines of the table of nmcli: columns are two spaces apart."""
    head: list[str] = []
    for number, line in source.lines():
        cells = re.split(r" {2,}", line.strip())
        if _NMCLI.match(line.rstrip()):
            head = cells
            continue
        # Only the network in use has a mark, and only some have a security.
        if head[0] in ("IN-USE", "*") and cells[0] != "*":
            cells.insert(0, "")
        if len(cells) < head.index("SIGNAL") + 1:
            raise source.error(f"line {number}", phrase("scans.few_columns"))
        yield number, dict(zip(head, cells, strict=False))


def _terse_rows(source: Source) -> Iterator[_Row]:
    """Yield the lines of `nmcli -t`, which names no column: each value has a form of its own."""
    for number, line in source.lines():
        cells = [one.replace("\\:", ":") for one in re.split(r"(?<!\\):", line)]
        counts = [one for one in cells if _COUNT.fullmatch(one)]
        addresses = [one for one in cells if re.fullmatch(r"[0-9A-F:]{17}", one)]
        if len(counts) < 2 or not addresses:
            raise source.error(f"line {number}", phrase("scans.lacks_columns"))
        freq = next((one for one in cells if re.fullmatch(r"\d{4} MHz", one)), "")
        if freq and int(counts[1]) == channel_of(int(freq[:4])) != int(counts[0]):
            counts = [counts[1], counts[0]]
        others = (one for one in cells if one not in (*counts, *addresses))
        ssid = next((one for one in others if not _NO_NAME.fullmatch(one)), "")
        row = {"BSSID": addresses[0], "SSID": ssid, "CHAN": counts[0], "SIGNAL": counts[1]}
        yield number, row | {"FREQ": freq}


def _of_nmcli(source: Source, number: int, row: dict[str, str]) -> Reading:
    place = f"line {number}"
    if not re.fullmatch(MAC, row["BSSID"]):
        raise source.error(f"{place}: bssid", phrase("scans.not_an_address"))
    signal = _percent(source, place, row["SIGNAL"])
    freq = re.match(r"\d{4}", row.get("FREQ", ""))
    mhz = int(freq[0]) if freq else 0
    text = next((row[name] for name in ("CHAN", "KANAL", "CANAL") if name in row), "")
    channel = channel_of(mhz) if mhz else int(text) if _COUNT.fullmatch(text) else 0
    if not 1 <= channel <= 233:
        raise source.error(f"{place}: channel", phrase("scans.not_a_channel", text=shown(text)))
    return Reading(
        "here",
        row["BSSID"].lower(),
        "" if row.get("SSID", "--") == "--" else row["SSID"],
        channel,
        round(0.6 * signal - 100.0, 1),
        width_of(row.get("BANDWIDTH", "")),
        -1,
        band_of(channel, mhz / 1000.0),
    )


def _of_airport(source: Source) -> Iterator[Reading]:
    """Yield the readings of `airport -s`, which right-aligns the names of networks."""
    for number, line in source.lines():
        if _AIRPORT.match(line.lstrip()):
            continue
        row = re.match(rf" *(.*?) *({MAC}) +(-\d{{1,3}}) +(\d{{1,3}})(\S*)", line)
        if row is None or not 1 <= int(row[4]) <= 233:
            raise source.error(f"line {number}", phrase("scans.not_airport"))
        band = band_of(int(row[4]))
        width = width_of_channel(row[4] + row[5])
        yield Reading("here", row[2].lower(), row[1], int(row[4]), float(row[3]), width, -1, band)


def _of_iwlist(source: Source) -> Iterator[Reading]:
    """Yield the readings of `iwlist scan`; a power may be a share of 100."""
    line = 1
    for block in re.split(r"(?m)^(?= *Cell \d+ - )", source.text):
        place, line = f"line {line}", line + block.count("\n")
        bssid = re.search(rf"Address: ({MAC})", block)
        if bssid is None:
            continue
        power = re.search(r"Signal level[=:](-\d+) dBm|Signal level[=:](\d{1,3})/100", block)
        ghz = re.search(r"Frequency:(\d\.\d+) GHz", block)
        if power is None or ghz is None:
            raise source.error(place, phrase("scans.no_signal"))
        mhz = round(float(ghz[1]) * 1000.0)
        rssi = float(power[1]) if power[1] else int(power[2]) / 2 - 100.0
        ssid = re.search(r'ESSID:"(.*)"', block)
        channel, band = channel_of(mhz), band_of(0, mhz / 1000.0)
        yield Reading("here", bssid[1].lower(), ssid[1] if ssid else "", channel, rssi, 0, -1, band)


def _of_iw(source: Source) -> list[Reading]:
    """Return the readings of `iw scan`. Raises ScenarioError for an unknown line."""
    found = []
    blocks = re.split(r"(?m)^(?=BSS [0-9a-fA-F:]{17})", source.text.lstrip())
    line = 1
    for block in filter(str.strip, blocks):
        match = _BSS.match(block)
        signal = re.search(r"(?m)^[ \t]*signal: (-?\d+(?:\.\d+)?) dBm", block)
        mhz = re.search(r"(?m)^[ \t]*freq: (\d{4})", block)
        if match is None:
            raise source.error(f"line {line}", phrase("scans.not_iw"))
        if signal is not None and mhz is not None:
            found.append(_of_bss(match[1], block, int(mhz[1]), float(signal[1])))
        line += block.count("\n")
    return found


def _of_bss(bssid: str, block: str, mhz: int, rssi_dbm: float) -> Reading:
    ssid = re.search(r"(?m)^[ \t]*SSID: (.*)$", block)
    generation = max(
        (n for n, word in enumerate(("HT", "VHT", "HE", "EHT"))
         if re.search(rf"(?m)^[ \t]*{word} (capabilities|operation|MAC Cap)", block)),
        default=-1,
    )  # fmt: skip
    wide = re.search(r"(?m)^[ \t]*\* channel width: (\d)", block)
    second = re.search(r"(?m)^[ \t]*\* secondary channel offset: (above|below)", block)
    number = int(wide[1]) if wide else 0
    # In 6 GHz the width is unknown without an operation element.
    narrow = 20 if mhz < 5930 else 0
    width = {1: 80, 2: 160, 3: 160}.get(number, 40 if second else narrow)
    centers = [
        int(one) for one in re.findall(r"(?m)^[ \t]*\* center freq segment [12]: (\d+)", block)
    ]
    if width == 80 and len(centers) == 2 and abs(centers[0] - centers[1]) == 8:
        # IEEE 802.11-2020, Table 9-274: 160 MHz around the second segment.
        width = 160
    channel = channel_of(mhz)
    return Reading(
        "here",
        bssid.lower(),
        ssid[1] if ssid else "",
        channel,
        rssi_dbm,
        width,
        generation,
        band_of(channel, mhz / 1000.0),
    )

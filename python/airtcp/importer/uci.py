"""OpenWrt's /etc/config/wireless: one radio of it.

Knows UCI's lines, and the options of `wifi-device` that say something of airtime. No value of an
option of a `wifi-iface` is kept but its mode: there are passwords among them.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from typing import Final

from airtcp.importer import radio
from airtcp.importer.draft import Draft
from airtcp.importer.source import Source, shown, whole, word

_BANDS: Final = {"2g": "2.4 GHz", "5g": "5 GHz", "6g": "6 GHz"}
_MODES: Final = {"11b": "2g", "11g": "2g", "11a": "5g", "11n": "2g", "11ng": "2g", "11na": "5g"}
_HTMODE: Final = re.compile(r"(HT|VHT|HE|EHT)(20|40|80|160|320)([+-])?")
_STANDARDS: Final = {"HT": "802.11n", "VHT": "802.11ac", "HE": "802.11ax", "EHT": "802.11be"}
#: Options of airtime of which a scenario has no key.
_TOLD: Final = frozenset(
    {"frag", "txpower", "distance", "noscan", "cell_density", "mu_beamformer", "maxassoc"}
    | {
        "airtime_mode",
        "he_bss_color",
        "ldpc",
        "max_ampdu_length_exp",
        "antenna_gain",
        "require_mode",
    }
)


@dataclass
class _Section:
    kind: str
    name: str
    line: int
    options: dict[str, tuple[str, int]] = field(default_factory=dict)


def read_uci(source: Source, wanted: str | None = None) -> Draft:
    """The draft of a scenario of one radio: `wanted`, or the first that is not disabled.

    Raises ScenarioError for lines that UCI would not take, and for a radio that is not there.
    """
    sections = _sections(source)
    radios = [one for one in sections if one.kind == "wifi-device"]
    if not radios:
        raise source.error("", "has no radio; allowed: config wifi-device NAME, with its options")
    names = [one.name for one in radios]
    if wanted is not None and wanted not in names:
        raise source.error("", f"has no radio {shown(wanted)}; allowed: {', '.join(names)}")
    on = [one for one in radios if one.options.get("disabled", ("0", 0))[0] != "1"] or radios
    chosen = next((one for one in radios if one.name == wanted), on[0])
    draft = Draft(names=[source.short])
    others = [name for name in names if name != chosen.name]
    if others:
        draft.unknown.append(
            f"other radios, which are networks of their own: {', '.join(others)}; this is "
            f"{chosen.name}, and --radio takes another"
        )
    _radio(source, chosen, draft)
    for key, write, least in (("rts", radio.rts_threshold, 0), ("beacon_int", radio.beacons, 15)):
        if key in chosen.options:
            value, line = chosen.options[key]
            number = whole(source, f"line {line}: {key}", value, least, 65535)
            write(draft, number, _why(source, chosen, key))
    draft.unread += [
        f"{key} ({source.short}:{line})"
        for key, (_, line) in chosen.options.items()
        if key in _TOLD
    ]
    why = "OpenWrt's mac80211 does so; drivers with queues of their own do not"
    draft.say("ap", "queue", {"discipline": "fq-codel"}, why)
    draft.say("ap", "scheduler", {"kind": "airtime"}, why)
    radio.close(draft)
    return draft


def _sections(source: Source) -> list[_Section]:
    sections: list[_Section] = []
    for number, line in enumerate(source.text.splitlines(), 1):
        try:
            words = shlex.split(line, comments=True)
        except ValueError as error:
            raise source.error(f"line {number}", "is no line of UCI: a quote is open") from error
        match words:
            case []:
                continue
            case ["config", kind]:
                sections.append(_Section(kind, f"@{kind}[{len(sections)}]", number))
            case ["config", kind, name]:
                sections.append(_Section(kind, name, number))
            case ["option" | "list", key, value] if sections:
                sections[-1].options[key] = (value, number)
            case ["package", _]:
                continue
            case _:
                raise source.error(
                    f"line {number}",
                    "is no line of UCI; allowed: config TYPE NAME, then option NAME VALUE",
                )
    return sections


def _why(source: Source, section: _Section, key: str) -> str:
    value, line = section.options[key]
    return f"{source.short}:{line}: option {key} {value}"


def _radio(source: Source, section: _Section, draft: Draft) -> None:
    """Write standard, band and width."""
    options = section.options
    band, why = "", ""
    if "band" in options:
        value, line = options["band"]
        band = word(source, f"line {line}: band", value, tuple(_BANDS))
        why = _why(source, section, "band")
    elif "hwmode" in options:
        value, line = options["hwmode"]
        band = _MODES[word(source, f"line {line}: hwmode", value, tuple(_MODES))]
        why = _why(source, section, "hwmode")
    elif "channel" in options and options["channel"][0] != "auto":
        value, line = options["channel"]
        band = "2g" if whole(source, f"line {line}: channel", value, 1, 233) <= 14 else "5g"
        why = _why(source, section, "channel")
    else:
        raise source.error(
            f"line {section.line}: {section.name}", "has no band; allowed: option band 2g, 5g or 6g"
        )
    mode, line = options.get("htmode", ("NOHT", section.line))
    match = _HTMODE.fullmatch(mode)
    if match is None:
        word(source, f"line {line}: htmode", mode, ("NOHT", "NONE", "HT20", "VHT80", "HE80"))
        old = "802.11g" if band == "2g" else "802.11a"
        standard = "802.11b" if options.get("hwmode", ("", 0))[0] == "11b" else old
        draft.say("phy", "standard", standard, f"{why}; no htmode")
        return
    said = _why(source, section, "htmode")
    draft.say("phy", "standard", _STANDARDS[match[1]], said)
    draft.say("phy", "band", _BANDS[band], why)
    draft.say("phy", "channel_width", f"{match[2]} MHz", said)

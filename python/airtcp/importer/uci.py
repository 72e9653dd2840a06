"""OpenWrt's /etc/config/wireless: one of its radios, with mac80211 or a vendor's driver.

Values are stored only for options that become keys, because other options hold passwords.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from airtcp.importer.draft import Draft
from airtcp.importer.options import is_off, unfollowed
from airtcp.importer.source import Source, phrase, shown, whole, word
from airtcp.importer.uci_sections import Section, sections_of

_BANDS: Final = {"2g": "2.4 GHz", "2.4g": "2.4 GHz", "5g": "5 GHz", "6g": "6 GHz"}
#: Band codes of Qualcomm's drivers.
_CODES: Final = {"1": "2g", "2": "5g", "3": "6g"}
#: `hwmode`: OpenWrt's values have one letter, those of Qualcomm and MediaTek drivers several, such
#: as 11bgn, 11anac, 11axg or 11bea.
_HWMODE: Final = re.compile(r"11((?:be|ac|ax|[abgn])+)", re.IGNORECASE)
#: The widest channel in 2.4 GHz, in MHz.
_WIDEST_LOW: Final = 40
_HTMODE: Final = re.compile(r"(HT|VHT|HE|EHT)(20|40|80|160|320)(?:[+-]|[_+]80)?", re.IGNORECASE)
_AMENDMENTS: Final = {"HT": "n", "VHT": "ac", "HE": "ax", "EHT": "be"}
#: Option `bw` of vendors, next to which there is no htmode.
_VENDOR_WIDTHS: Final = ("20", "40", "80", "160", "320")
_ORDER: Final = ("", "n", "ac", "ax", "be")
_MODES: Final = ("ap", "sta", "adhoc", "mesh", "monitor", "wds", "mesh_point")
_NO_MODEL: Final = {
    "sta": phrase("uci.client"),
    "adhoc": phrase("uci.adhoc"),
    "monitor": phrase("uci.monitor"),
}
_NO_MESH: Final = phrase("uci.mesh")
#: mac80211's burst limit for best effort if OpenWrt enables VHT.
_BURST: Final = "2.0"


def read_uci(source: Source, wanted: str | None = None) -> Draft:
    """Return the draft of a scenario of one radio: `wanted`, or the first access point.

    Raises ScenarioError for lines that UCI rejects, for a radio that does not exist, and for one
    without an access point.
    """
    sections = sections_of(source)
    radios = [one for one in sections if one.kind == "wifi-device"]
    if not radios:
        raise source.error("", phrase("uci.no_radio"))
    names = [one.name for one in radios]
    if wanted is not None and wanted not in names:
        raise source.error("", phrase("uci.unknown_radio", wanted=shown(wanted), names=names))
    ifaces = {name: _of_radio(sections, name) for name in names}
    on = [one for one in radios if one.is_on] or radios
    first = next((one for one in on if _has_ap(ifaces[one.name])), on[0])
    chosen = next((one for one in radios if one.name == wanted), first)
    draft = Draft(names=[source.short])
    others = [name for name in names if name != chosen.name]
    if others:
        draft.unknown.append(phrase("uci.other_radios", others=others, name=chosen.name))
    own = ifaces[chosen.name]
    if not chosen.is_on:
        draft.unread.append(phrase("uci.radio_off", source=_why(source, chosen, "disabled")))
    elif not own and any(chosen.name in one.text("device").split() for one in sections):
        draft.unread.append(phrase("uci.all_disabled", name=chosen.name))
    _tell_interfaces(source, own, draft)
    standard = _radio(source, chosen, own, draft)
    for name, write, least in (("rts", draft.rts_threshold, 0), ("beacon_int", draft.beacons, 10)):
        found = chosen.get(name, "rts_threshold" if name == "rts" else name)
        if found is not None:
            number = whole(source, f"line {found[1]}: {name}", found[0], least, 65535)
            write(number, _why(source, chosen, name))
    _rates(source, chosen, draft, standard)
    for kind, section in (("uci-device", chosen), *(("uci-iface", one) for one in own)):
        seen = [
            (key, f"{source.short}:{line}")
            for key, (value, line) in section.options.items()
            if not is_off(kind, key, value)
        ]
        draft.unread += unfollowed(kind, seen)
    _queue(source, chosen, draft, standard)
    draft.close()
    return draft


def _of_radio(sections: Sequence[Section], name: str) -> list[Section]:
    """Return the enabled interfaces of a radio."""
    return [
        one
        for one in sections
        if one.kind == "wifi-iface" and name in one.text("device").split() and one.is_on
    ]


def _has_ap(ifaces: Sequence[Section]) -> bool:
    """Whether an interface is an access point, or there is none yet."""
    return not ifaces or any((one.text("mode") or "ap") == "ap" for one in ifaces)


def _why(source: Source, section: Section, key: str) -> str:
    value, line = section.options.get(key, ("", section.line))
    return f"{source.short}:{line}: option {key} {value}"


def _tell_interfaces(source: Source, ifaces: Sequence[Section], draft: Draft) -> None:
    """List the interfaces that are not in the scenario. Raises ScenarioError if none is."""
    aps = 0
    for one in ifaces:
        mode, line = one.options.get("mode", ("ap", one.line))
        word(source, f"line {line}: mode", mode, _MODES)
        aps += mode == "ap"
        if mode == "ap":
            continue
        message = f"is {_NO_MODEL.get(mode, _NO_MESH)}"
        if not _has_ap(ifaces):
            raise source.error(f"line {line}: mode {mode}", message)
        draft.unread.append(
            phrase("uci.interface", mode=mode, short=source.short, line=line, message=message)
        )
    if aps > 1:
        draft.unknown.append(phrase("uci.more_networks", aps=aps))


def _is_vendor(section: Section) -> bool:
    return section.text("type") not in ("", "mac80211")


def _radio(source: Source, section: Section, ifaces: Sequence[Section], draft: Draft) -> str:
    """Write standard, band and width. Return the standard."""
    is_vendor = _is_vendor(section)
    band, asked, why = _band(source, section)
    value, line = section.get("htmode") or ("", section.line)
    match = _HTMODE.fullmatch(value)
    if match is None and value and not (is_vendor and value.lower() == "auto"):
        word(source, f"line {line}: htmode", value, ("NOHT", "NONE", "HT20", "VHT80", "HE80"))
    amendment, width = asked, 20
    if match is not None:
        own = _AMENDMENTS[match[1].upper()]
        width = int(match[2])
        if value.endswith(("_80", "+80")):
            width = 160
            draft.unknown.append(phrase("uci.two_channels"))
        amendment = max(own, asked, key=_ORDER.index)
        if width > 40 and amendment == "n":
            if not is_vendor:
                word(source, f"line {line}: htmode", value, ("HT20", "HT40", "VHT80", "HE80"))
            amendment = "ac"
    elif value.upper() in ("NOHT", "NONE"):
        amendment = ""
    elif is_vendor and section.text("bw") in _VENDOR_WIDTHS:
        width = int(section.text("bw"))
        amendment = "ac" if width > 40 and amendment == "n" else amendment
    elif amendment:
        draft.unknown.append(phrase("uci.no_width"))
    if is_vendor:
        draft.unknown.append(phrase("uci.vendor", source=_why(source, section, "type")))
    if band == "2.4 GHz" and amendment == "ac":
        amendment = "n"
        draft.unknown.append(phrase("uci.vht_in_24", source=_why(source, section, "htmode")))
    if band == "2.4 GHz" and width > _WIDEST_LOW:
        width = _WIDEST_LOW
        draft.unknown.append(
            phrase("uci.not_in_24", source=_why(source, section, "htmode"), width=width)
        )
    off = _off(source, ifaces) if amendment and band != "6 GHz" else ""
    if not amendment or off:
        is_b = section.text("hwmode") == "11b" and "band" not in section.options
        old = "802.11a" if band == "5 GHz" else "802.11b" if is_b else "802.11g"
        draft.say("phy", "standard", old, off or f"{why}; no htmode")
        if off:
            draft.unknown.append(phrase("uci.amendment_off", amendment=amendment, off=off))
        return old
    of_width = "htmode" if match else "bw" if width > 20 else ""
    said = _why(source, section, of_width) if of_width else f"{why}; no width is given"
    about = said if not match or _AMENDMENTS[match[1].upper()] == amendment else f"{why}; {said}"
    draft.say("phy", "standard", f"802.11{amendment}", about)
    draft.say("phy", "band", band, why)
    draft.say("phy", "channel_width", f"{width} MHz", said)
    if width == 40 and band == "2.4 GHz" and section.text("noscan") != "1":
        draft.unknown.append(phrase("uci.scan_of_40"))
    short = f"short_gi_{width}"
    if amendment in ("n", "ac") and section.text(short) == "0":
        draft.say("phy", "guard_interval", "800 ns", _why(source, section, short))
    return f"802.11{amendment}"


def _band(source: Source, section: Section) -> tuple[str, str, str]:
    """Return the band, the amendment of hwmode ("" for none), and the line of the band."""
    asked, of_mode = "", ""
    found = section.get("hwmode", "hw_mode")
    if found is not None:
        value, line = found
        match = _HWMODE.fullmatch(value)
        letters = re.findall("be|ac|ax|[abgn]", match[1].lower()) if match else []
        asked = max((one for one in letters if one in _ORDER), key=_ORDER.index, default="")
        bands = {"2g" if one in "bg" else "5g" for one in letters if one in ("a", "b", "g", "ac")}
        # 11n alone is OpenWrt's in 2.4 GHz.
        of_mode = bands.pop() if len(bands) == 1 else "2g" if letters == ["n"] else ""
        if not match and "band" not in section.options and value.lower() != "auto":
            word(source, f"line {line}: hwmode", value, ("11b", "11g", "11a", "11bgn", "11axa"))
    why = _why(source, section, "hwmode")
    if "band" in section.options:
        value, line = section.options["band"]
        value = _CODES.get(value, value) if _is_vendor(section) else value
        band = word(source, f"line {line}: band", value.lower(), tuple(_BANDS))
        return _BANDS[band], asked, _why(source, section, "band")
    channel = section.text("channel")
    if not of_mode and channel not in ("", "auto", "0"):
        line = section.options["channel"][1]
        number = whole(source, f"line {line}: channel", channel, 1, 233)
        of_mode, why = ("2g" if number <= 14 else "5g"), _why(source, section, "channel")
    if not of_mode:
        raise source.error(f"line {section.line}: {section.name}", phrase("uci.no_band"))
    return _BANDS[of_mode], asked, why


def _off(source: Source, ifaces: Sequence[Section]) -> str:
    """Return why stations of the first access point use neither HT nor later; "" if they do."""
    for one in ifaces:
        if (one.text("mode") or "ap") != "ap":
            continue
        encryption = one.text("encryption").lower()
        if encryption.startswith("wep"):
            return phrase("uci.wep", source=_cipher(source, one))
        if one.text("wmm") == "0":
            return phrase("uci.no_wmm", source=_why(source, one, "wmm"))
        if encryption.endswith("+tkip") and not re.search("ccmp|aes|gcmp", encryption):
            return phrase("uci.tkip", source=_cipher(source, one))
        return ""
    return ""


def _cipher(source: Source, section: Section) -> str:
    return f"{source.short}:{section.options['encryption'][1]}: option encryption"


def _rates(source: Source, section: Section, draft: Draft, standard: str) -> None:
    """Write the highest basic rate for control frames, and the highest rate for data."""
    is_old = standard in ("802.11a", "802.11b", "802.11g")
    for names, key in ((("basic_rate", "basic_rates"), "control_rate"),
                       (("supported_rates",), "data_rate")):  # fmt: skip
        found = section.get(*names)
        if found is None or (key == "data_rate" and not is_old):
            continue
        place = f"line {found[1]}: {names[0]}"
        rates = [whole(source, place, one, 100, 10**6) for one in re.split(r"[\s,]+", found[0])]
        name = next(one for one in names if one in section.options)
        draft.say("phy", key, f"{max(rates) / 1000:g} Mb/s", _why(source, section, name))
    density = whole(source, "cell_density", section.text("cell_density") or "0", 0, 9)
    if density == 3 and not draft.has("phy", "control_rate"):
        draft.say("phy", "control_rate", "24 Mb/s", _why(source, section, "cell_density"))
    if section.text("legacy_rates") == "1" and standard != "802.11b":
        draft.unknown.append(phrase("uci.b_rates", source=_why(source, section, "legacy_rates")))


def _queue(source: Source, section: Section, draft: Draft, standard: str) -> None:
    """Write the queue and the burst of OpenWrt's own driver stack."""
    if _is_vendor(section):
        draft.unknown.append(phrase("uci.vendor_queue"))
        return
    why = phrase("uci.mac80211")
    is_modern = standard not in ("802.11a", "802.11b", "802.11g")
    is_vht = is_modern and draft.tables["phy"]["band"].value == "5 GHz" and standard != "802.11n"
    burst = section.text("tx_burst") or (_BURST if is_vht else "0")
    if not re.fullmatch(r"\d{1,3}(\.\d{1,3})?", burst, re.ASCII):
        place = f"line {section.options['tx_burst'][1]}: tx_burst"
        raise source.error(place, phrase("uci.not_a_time", burst=shown(burst)))
    if float(burst) and is_modern:
        given = "tx_burst" in section.options
        said = _why(source, section, "tx_burst") if given else phrase("uci.vht_default")
        draft.say("mac.edca.ap", "AC_BE", {"txop_limit": f"{float(burst):g} ms"}, said)
    draft.say("ap", "queue", {"discipline": "fq-codel"}, why)
    draft.say("ap", "scheduler", {"kind": "airtime"}, why)

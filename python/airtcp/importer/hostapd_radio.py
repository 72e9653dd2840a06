"""Radios of hostapd: the standard, width and guard interval that hostapd really uses.

For some combinations of options, hostapd turns HT and later off, or exits. Without WMM, stations do
not use HT. The reference for both is hostapd itself (`validation/peers/hwsim.py`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from airtcp.importer.draft import Draft
from airtcp.importer.source import phrase, word

if TYPE_CHECKING:
    from airtcp.importer.hostapd import Options

#: The operating classes of 6 GHz and their widths in MHz (IEEE 802.11-2020, Table E-4, with
#: 802.11ax-2021 and 802.11be).
_SIX_GHZ: Final = {131: 20, 132: 40, 133: 80, 134: 160, 135: 160, 136: 20, 137: 320}
#: Widths by the value of `*_oper_chwidth`; 0 is 20 or 40 MHz, 9 only in 802.11be.
_WIDTHS: Final = {1: 80, 2: 160, 3: 160, 9: 320}
#: The lower channel of each pair of 40 MHz in 5 GHz (IEEE 802.11-2020, Table E-4).
_PAIRS: Final = (
    *(36, 44, 52, 60, 100, 108, 116, 124, 132, 140, 149, 157, 165, 173),
    *(184, 192),
)
_STRONG: Final = frozenset({"CCMP", "GCMP", "CCMP-256", "GCMP-256"})
#: Capabilities that change what is sent; those of widths and guard intervals are followed.
_AIR: Final = re.compile(
    r"\[(MAX-(?:AMSDU|MPDU|A-MPDU)[\w-]*|(?:RX)?LDPC|(?:TX|RX)-STBC[\w-]*|GF|DELAYED-BA|SMPS-\w+|"
    r"(?:SU|MU)-BEAMFORME[ER]|VHT-TXOP-PS|40-INTOLERANT)\]"
)
_MODES: Final = ("a", "b", "g", "any", "ad")
_KEY_OF_WIDTH: Final = {
    "ieee80211be": "eht_oper_chwidth",
    "ieee80211ax": "he_oper_chwidth",
    "ieee80211ac": "vht_oper_chwidth",
}


def has_wmm(options: Options) -> bool:
    """Whether the access point has WMM: by its option, else with 802.11n and 802.11ax."""
    if options.has("wmm_enabled"):
        return options.flag("wmm_enabled")
    return any(options.flag(f"ieee80211{one}") for one in ("n", "ax", "be"))


def write(options: Options, draft: Draft) -> str:
    """Write standard, band, width and guard interval. Return the standard.

    Raises ScenarioError for a radio that hostapd does not start.
    """
    mode, channel = _mode(options), _channel(options)
    band, why = _band(options, mode, channel)
    if options.flag("ieee80211be") and not options.flag("ieee80211ax"):
        raise options.source.error(options.place("ieee80211be"), phrase("hostapd.be_without_ax"))
    if band == "6 GHz" and not options.flag("ieee80211ax"):
        raise options.source.error(options.place("op_class"), phrase("hostapd.six_without_ax"))
    asked = _amendment(options, band)
    off = _off(options, mode, band) if asked else ""
    if asked and not off:
        key, standard = asked
        draft.say("phy", "standard", standard, options.why(key))
        draft.say("phy", "band", band, why)
        width = _width(options, draft, band, channel)
        if standard in ("802.11n", "802.11ac"):
            _guard_interval(options, draft, width)
        _tell(options, draft, band, standard)
        return standard
    standard = {"5 GHz": "802.11a"}.get(band, "802.11b" if mode == "b" else "802.11g")
    draft.say("phy", "standard", standard, off or why)
    if asked:
        draft.unread.append(phrase("hostapd.no_effect", asked=asked[0], off=off))
    return standard


def _mode(options: Options) -> str:
    if not options.has("hw_mode"):
        is_six = options.whole("op_class", 0, 255) in _SIX_GHZ
        return "a" if is_six else "b"
    place = options.place("hw_mode")
    mode = word(options.source, place, options.value("hw_mode"), _MODES)
    if mode == "ad":
        raise options.source.error(place, phrase("hostapd.ad"))
    return mode


def _channel(options: Options) -> int:
    """Return the channel number; 0 if hostapd chooses it."""
    if options.value("channel") in ("", "acs_survey"):
        return 0
    return options.whole("channel", 0, 233) or 0


def _band(options: Options, mode: str, channel: int) -> tuple[str, str]:
    """Return the band, and the line that sets it."""
    if options.whole("op_class", 0, 255) in _SIX_GHZ:
        return "6 GHz", options.why("op_class")
    why = options.why("hw_mode") if options.has("hw_mode") else phrase("hostapd.no_mode")
    is_low = mode in ("b", "g") or (mode == "any" and 0 < channel <= 14)
    if channel and mode != "any" and is_low != (channel <= 14):
        raise options.source.error(
            options.place("channel"),
            phrase("hostapd.no_channel", mode=mode, channel=channel),
        )
    return "2.4 GHz" if is_low else "5 GHz", why


def _amendment(options: Options, band: str) -> tuple[str, str] | None:
    """Return the newest configured amendment: option and standard."""
    allowed = {"2.4 GHz": ("be", "ax", "n"), "5 GHz": ("be", "ax", "ac", "n")}
    for name in allowed.get(band, ("be", "ax")):
        without = name == "be" and options.flag("disable_11ax")
        if options.flag(f"ieee80211{name}") and not (without or options.flag(f"disable_11{name}")):
            return f"ieee80211{name}", f"802.11{name}"
    if options.flag("ieee80211n"):
        # `_off` reports disable_11n.
        return "ieee80211n", "802.11n"
    # 802.11ac in 2.4 GHz, or without 802.11n.
    return ("ieee80211ac", "802.11ac") if options.flag("ieee80211ac") else None


def _off(options: Options, mode: str, band: str) -> str:
    """Return why HT and all later amendments are off; "" if they are on."""
    if band == "6 GHz":
        return ""
    if mode == "b":
        return phrase("hostapd.mode_b")
    wpa = options.whole("wpa", 0, 3) or 0
    if not wpa and any(options.has(f"wep_key{index}") for index in range(4)):
        return phrase("hostapd.wep")
    pairwise = set((options.value("wpa_pairwise") or "TKIP").split())
    rsn = set(options.value("rsn_pairwise").split()) or (pairwise if wpa & 2 else set())
    if wpa & 1 and not pairwise & {"CCMP", "TKIP"}:
        raise options.source.error(options.place("wpa_pairwise"), phrase("hostapd.wpa_cipher"))
    if wpa and "CCMP" not in pairwise and not rsn & _STRONG:
        given = options.has("wpa_pairwise") or options.has("rsn_pairwise")
        what = phrase("hostapd.no_ccmp")
        default = "" if given else phrase("hostapd.default_tkip")
        return phrase("hostapd.ht_off", what=what, default=default)
    if options.flag("disable_11n"):
        return phrase("hostapd.disabled_11n", reason=options.why("disable_11n"))
    if not options.flag("ieee80211n"):
        return phrase("hostapd.no_11n")
    if not has_wmm(options):
        return phrase("hostapd.no_wmm", reason=options.why("wmm_enabled"))
    return ""


def _width(options: Options, draft: Draft, band: str, channel: int) -> int:
    """Write the channel width in MHz, and return it. Raises ScenarioError."""
    source = options.source
    key = next((_KEY_OF_WIDTH[one] for one in _KEY_OF_WIDTH if options.flag(one)), "")
    number = options.whole(key, 0, 9) or 0 if key else 0
    offset = _secondary(options, band, channel)
    width, why = 20, f"{source.short} sets no wider channel"
    if band == "6 GHz":
        width, why = _width_of_6_ghz(options, key, number)
    elif band == "5 GHz" and number in _WIDTHS:
        width, why = _WIDTHS[number], options.why(key)
        if not offset:
            raise source.error(options.place(key), phrase("hostapd.no_secondary", width=width))
        _check_center(options, key, number, channel)
    elif offset:
        width, why = 40, options.why("ht_capab")
    if band == "5 GHz" and number == 0 and key:
        _check_center_of_40(options, key, channel, offset)
    if band == "2.4 GHz" and number in _WIDTHS:
        draft.unknown.append(phrase("hostapd.not_in_24", key=options.why(key), width=width))
    if width == 40 and band == "2.4 GHz":
        draft.unknown.append(phrase("hostapd.scan_of_40"))
    if number == 3:
        draft.unknown.append(phrase("hostapd.two_channels"))
    draft.say("phy", "channel_width", f"{width} MHz", why)
    return width


def _width_of_6_ghz(options: Options, key: str, number: int) -> tuple[int, str]:
    if number in _WIDTHS:
        return _WIDTHS[number], options.why(key)
    center = key.replace("chwidth", "centr_freq_seg0_idx")
    index = options.whole(center, 0, 233)
    if index:
        # Centers of channels in 6 GHz: 20 MHz at 1, 5, 9 ..., 40 MHz at 3, 11 ..., 80 MHz at 7 ...
        for width, period in ((20, 4), (40, 8), (80, 16), (160, 32)):
            if index % period == period // 2 - 1:
                return width, options.why(center)
        if index % 32 == 31:
            # Channels of 320 MHz, which overlap by half: 31, 63 ...
            return 320, options.why(center)
    return _SIX_GHZ[options.whole("op_class", 0, 255) or 131], options.why("op_class")


def _secondary(options: Options, band: str, channel: int) -> int:
    """Return the offset of the secondary channel, 0 for none. Raises ScenarioError."""
    capabilities = options.value("ht_capab")
    offset = 4 if "[HT40+]" in capabilities else -4 if "[HT40-]" in capabilities else 0
    if not offset or not channel or band == "6 GHz":
        return offset
    other = channel + offset
    allowed = 1 <= other <= 13 if band == "2.4 GHz" else min(channel, other) in _PAIRS
    if not allowed:
        raise options.source.error(
            options.place("ht_capab"),
            phrase(
                "hostapd.not_paired",
                offset="+" if offset > 0 else "-",
                channel=channel,
                other=other,
            ),
        )
    return offset


def _check_center(options: Options, key: str, number: int, channel: int) -> None:
    """Check that the wide channel contains the channel.

    Raises ScenarioError if hostapd would exit.
    """
    source = options.source
    center = key.replace("chwidth", "centr_freq_seg0_idx")
    index = options.whole(center, 0, 233) or 0
    second = options.whole(key.replace("chwidth", "centr_freq_seg1_idx"), 0, 233) or 0
    if number == 9:
        raise source.error(options.place(key), phrase("hostapd.width_320"))
    if (number == 3) != bool(second):
        raise source.error(options.place(key), phrase("hostapd.width_80_80"))
    if number == 2 and key.startswith("vht") and "[VHT160" not in options.value("vht_capab"):
        raise source.error(options.place(key), phrase("hostapd.width_160"))
    most = 14 if number == 2 else 6
    if channel and abs(index - channel) not in range(2, most + 1, 4):
        place = options.place(center) if options.has(center) else options.place(key)
        raise source.error(
            place,
            phrase("hostapd.not_within", channel=channel, widths=_WIDTHS[number], index=index),
        )


def _check_center_of_40(options: Options, key: str, channel: int, offset: int) -> None:
    """Check that a center given for 20 or 40 MHz is theirs. Raises ScenarioError."""
    center = key.replace("chwidth", "centr_freq_seg0_idx")
    index = options.whole(center, 0, 233)
    if channel and index and index != channel + offset // 2:
        raise options.source.error(
            options.place(center),
            phrase("hostapd.not_the_center", key=key, index=index, offset=40 if offset else 20),
        )


def _guard_interval(options: Options, draft: Draft, width: int) -> None:
    """Write the guard interval of 802.11n and 802.11ac: short if it is offered at this width."""
    key = "ht_capab" if width <= 40 else "vht_capab"
    flag = f"[SHORT-GI-{width}]"
    if flag in options.value(key):
        why = f"{options.source.short}:{options.known[key].line}: {key} has {flag}"
        draft.say("phy", "guard_interval", "400 ns", phrase("hostapd.assumed_support", why=why))
    else:
        draft.say(
            "phy",
            "guard_interval",
            "800 ns",
            phrase("hostapd.no_flag", key=key, flag=flag),
        )


def _tell(options: Options, draft: Draft, band: str, standard: str) -> None:
    """List options that have no effect in this band, and a band that hostapd chooses."""
    if options.value("hw_mode") == "any" and not _channel(options):
        draft.unknown.append(phrase("hostapd.any_band", reason=options.why("hw_mode"), band=band))
    if band == "2.4 GHz" and options.flag("ieee80211ac"):
        draft.unknown.append(
            phrase("hostapd.vht_in_24", reason=options.why("ieee80211ac"), standard=standard)
        )
    for key in ("ht_capab", "vht_capab"):
        listed = " ".join(f"[{one}]" for one in _AIR.findall(options.value(key)))
        if listed and (key == "ht_capab" or standard != "802.11n"):
            draft.unread.append(
                phrase(
                    "hostapd.not_followed",
                    short=options.source.short,
                    line=options.known[key].line,
                    key=key,
                    listed=listed,
                )
            )
    if band == "6 GHz" and not (options.whole("wpa", 0, 3) or 0) & 2:
        draft.unknown.append(phrase("hostapd.no_rsn"))

"""hostapd.conf: the radio, and what the access point announces.

Knows the options of hostapd 2.10 that say something of airtime, each as `hostapd.conf` of its
documentation explains it. No value of any other option is kept: there are passwords among them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from airtcp.importer import radio
from airtcp.importer.draft import Draft
from airtcp.importer.source import Source, shown, whole, word
from airtcp.units import format_time_ns

_LINE: Final = re.compile(r"[\w.-]+")
_FLAG: Final = (0, 1)
#: By the index of a transmit queue, and by the name of a category.
_QUEUES: Final = ("AC_VO", "AC_VI", "AC_BE", "AC_BK")
_CATEGORIES: Final = {"be": "AC_BE", "bk": "AC_BK", "vi": "AC_VI", "vo": "AC_VO"}
_TXOP_UNIT_NS: Final = 32_000
#: The operating classes of 6 GHz (IEEE 802.11-2020, Table E-4, with 802.11ax-2021 and 802.11be).
_SIX_GHZ: Final = range(131, 138)
#: Widths by the number of `*_oper_chwidth`; 0 is 20 or 40 MHz, 9 only in 802.11be.
_WIDTHS: Final = {1: 80, 2: 160, 3: 160, 9: 320}
_AMENDMENTS: Final = (
    ("ieee80211be", "802.11be", "eht_oper_chwidth"),
    ("ieee80211ax", "802.11ax", "he_oper_chwidth"),
    ("ieee80211ac", "802.11ac", "vht_oper_chwidth"),
    ("ieee80211n", "802.11n", ""),
)
_USED: Final = re.compile(
    r"hw_mode|channel|op_class|ieee80211(n|ac|ax|be)|(vht|he|eht)_oper_chwidth|ht_capab|vht_capab|"
    r"rts_threshold|beacon_int|preamble|basic_rates|supported_rates|wmm_enabled|"
    r"wmm_ac_(be|bk|vi|vo)_(aifs|cwmin|cwmax|txop_limit)|tx_queue_data[0-3]_(aifs|cwmin|cwmax|burst)"
)
#: Options of airtime of which a scenario has no key.
_TOLD: Final = re.compile(
    r"fragm_threshold|dtim_period|max_num_sta|airtime_mode|airtime_.*|multicast_to_unicast|"
    r"he_.*|eht_.*|vht_.*|ht_.*|beacon_rate|require_.*|uapsd_.*|wmm_ac_.*_acm|obss_interval|"
    r"(ap|sta)_max_.*|acs_.*|chanlist|.*puncturing.*|bss_load_.*|proxy_arp|wds_sta|noscan"
)


@dataclass(frozen=True)
class _Option:
    value: str
    line: int


class _Options:
    """The options of a file; of one that is there twice the last holds, as in hostapd."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.known: dict[str, _Option] = {}
        for number, line in enumerate(source.text.splitlines(), 1):
            text = line.strip()
            if not text or text.startswith("#"):
                continue
            key, equals, value = text.partition("=")
            if not equals or not _LINE.fullmatch(key):
                raise source.error(
                    f"line {number}", "is no option of hostapd; allowed: NAME=VALUE, or # in front"
                )
            # A second BSS of the same radio begins here: what follows is of it alone.
            if key == "bss":
                break
            self.known[key] = _Option(value.strip(), number)

    def why(self, key: str) -> str:
        """The line of an option, as a comment has it."""
        one = self.known[key]
        return f"{self.source.short}:{one.line}: {key}={one.value}"

    def place(self, key: str) -> str:
        """The line and name of an option, as a message has them."""
        return f"line {self.known[key].line}: {key}"

    def whole(self, key: str, least: int, most: int) -> int | None:
        """A whole number. Raises ScenarioError."""
        if key not in self.known:
            return None
        return whole(self.source, self.place(key), self.known[key].value, least, most)

    def flag(self, key: str) -> bool:
        """Tell whether an option is 1. Raises ScenarioError."""
        return bool(self.whole(key, *_FLAG))


def read_hostapd(source: Source) -> Draft:
    """The draft of a scenario. Raises ScenarioError for lines that hostapd would not take."""
    options = _Options(source)
    if not any(_USED.fullmatch(key) for key in options.known):
        raise source.error(
            "", "has no option of a radio; allowed: hostapd.conf with hw_mode, channel and the like"
        )
    draft = Draft(names=[source.short])
    standard, is_modern = _radio(options, draft)
    for key, write in (("rts_threshold", radio.rts_threshold), ("beacon_int", radio.beacons)):
        least, most = (-1, 65535) if key == "rts_threshold" else (15, 65535)
        value = options.whole(key, least, most)
        if value is not None:
            write(draft, value, options.why(key))
    if options.flag("preamble") and standard in ("802.11b", "802.11g"):
        draft.say("phy", "preamble", "short", options.why("preamble"))
    _rates(options, draft, is_modern=is_modern)
    _edca(options, draft, is_modern=is_modern)
    draft.unread += [
        f"{key} ({source.short}:{one.line})"
        for key, one in options.known.items()
        if _TOLD.fullmatch(key) and not _USED.fullmatch(key) and "centr_freq" not in key
    ]
    radio.close(draft)
    return draft


def _radio(options: _Options, draft: Draft) -> tuple[str, bool]:
    """Write standard, band and width; give the standard, and whether it is 802.11n or later."""
    source, known = options.source, options.known
    channel = known.get("channel")
    number = 0
    if channel is not None and channel.value != "acs_survey":
        number = options.whole("channel", 0, 233) or 0
    mode, why = "b", "hw_mode is not given: hostapd takes b"
    if "hw_mode" in known:
        allowed = ("a", "b", "g", "any")
        mode = word(source, options.place("hw_mode"), known["hw_mode"].value, allowed)
        why = options.why("hw_mode")
    band = {"a": "5 GHz", "any": "2.4 GHz" if 0 < number <= 14 else "5 GHz"}.get(mode, "2.4 GHz")
    op_class = options.whole("op_class", 0, 255)
    if op_class in _SIX_GHZ:
        band, why = "6 GHz", options.why("op_class")
    for key, standard, width_key in _AMENDMENTS:
        if not options.flag(key):
            continue
        draft.say("phy", "standard", standard, options.why(key))
        draft.say("phy", "band", band, why)
        _width(options, draft, width_key)
        _guard_interval(options, draft, standard)
        return standard, True
    standard = {"5 GHz": "802.11a", "6 GHz": "802.11a"}.get(band, f"802.11{mode}")
    standard = "802.11g" if standard == "802.11any" else standard
    draft.say("phy", "standard", standard, why)
    return standard, False


def _width(options: _Options, draft: Draft, key: str) -> None:
    """Write the width of the channel."""
    if key and (number := options.whole(key, 0, 9)) in _WIDTHS:
        width, why = _WIDTHS[number], options.why(key)
        if number == 3:
            draft.unknown.append("80+80 MHz: stands as one channel of 160 MHz")
        draft.say("phy", "channel_width", f"{width} MHz", why)
        return
    wide = "ht_capab" in options.known and "[HT40" in options.known["ht_capab"].value
    # Over 6 GHz there is no HT: the operating class says how wide a channel is.
    by_class = {131: 20, 132: 40, 133: 80, 134: 160, 135: 160, 137: 320}
    op_class = options.whole("op_class", 0, 255)
    if op_class in by_class:
        draft.say("phy", "channel_width", f"{by_class[op_class]} MHz", options.why("op_class"))
    elif wide:
        draft.say("phy", "channel_width", "40 MHz", options.why("ht_capab"))
    else:
        draft.say("phy", "channel_width", "20 MHz", f"{options.source.short} has no wider one")


def _guard_interval(options: _Options, draft: Draft, standard: str) -> None:
    """Write the short guard interval of 802.11n and 802.11ac, if it is offered at this width."""
    if standard not in ("802.11n", "802.11ac"):
        return
    width = draft.tables["phy"]["channel_width"].value.removesuffix(" MHz")
    key = "ht_capab" if width in ("20", "40") else "vht_capab"
    if key in options.known and f"[SHORT-GI-{width}]" in options.known[key].value:
        why = f"{options.source.short}:{options.known[key].line}: {key} has [SHORT-GI-{width}]"
        draft.say("phy", "guard_interval", "400 ns", f"{why}; if stations have it too")


def _rates(options: _Options, draft: Draft, *, is_modern: bool) -> None:
    """Write the highest basic rate for control frames, and the highest rate of all for data."""
    for key, name in (("basic_rates", "control_rate"), ("supported_rates", "data_rate")):
        if key not in options.known or (name == "data_rate" and is_modern):
            continue
        place, value = options.place(key), options.known[key].value
        rates = [whole(options.source, place, one, 1, 10_000) for one in value.split()]
        if not rates:
            raise options.source.error(place, "is empty; allowed: rates in 100 kb/s, such as 60")
        draft.say("phy", name, f"{max(rates) / 10:g} Mb/s", options.why(key))


def _edca(options: _Options, draft: Draft, *, is_modern: bool) -> None:
    """Write the access categories of the access point and of its stations, if there is WMM."""
    has_wmm = options.flag("wmm_enabled") if "wmm_enabled" in options.known else is_modern
    if not has_wmm:
        if not is_modern:
            return
        draft.unknown.append(
            f"{options.why('wmm_enabled')}: not followed, for 802.11n and later have WMM"
        )
    elif not is_modern:
        draft.say("mac.edca", "preset", "wmm", options.why("wmm_enabled"))
    for index, category in enumerate(_QUEUES):
        _category(options, draft, "ap", category, f"tx_queue_data{index}_")
    for word_, category in _CATEGORIES.items():
        _category(options, draft, "stations", category, f"wmm_ac_{word_}_")


def _category(options: _Options, draft: Draft, side: str, category: str, prefix: str) -> None:
    """Write one category of one side, with the lines that it is from."""
    found: dict[str, Any] = {}
    lines = []
    exponents = side == "stations"
    for end, name in (("aifs", "aifsn"), ("cwmin", "cw_min"), ("cwmax", "cw_max")):
        key = prefix + end
        most = 15 if end == "aifs" or exponents else 32767
        value = options.whole(key, 1 if end == "aifs" else 0, most)
        if value is None:
            continue
        if end != "aifs" and exponents:
            value = 2**value - 1
        elif end != "aifs" and value & (value + 1):
            raise options.source.error(
                options.place(key), f"{value} is none; allowed: 1, 3, 7, 15 ... 32767"
            )
        found[name] = value
        lines.append(options.known[key].line)
    limit = _txop_limit_ns(options, prefix)
    if limit is not None:
        found["txop_limit"] = format_time_ns(limit[0])
        lines.append(limit[1])
    if found:
        where = f"{min(lines)}" if min(lines) == max(lines) else f"{min(lines)}-{max(lines)}"
        why = f"{options.source.short}:{where}: {prefix}*"
        draft.say(f"mac.edca.{side}", category, found, why)


def _txop_limit_ns(options: _Options, prefix: str) -> tuple[int, int] | None:
    """The limit of a TXOP and its line: in units of 32 us, or as a burst in milliseconds."""
    key = f"{prefix}txop_limit"
    units = options.whole(key, 0, 65535)
    if units is not None:
        return units * _TXOP_UNIT_NS, options.known[key].line
    key = f"{prefix}burst"
    if key not in options.known:
        return None
    one = options.known[key]
    if not re.fullmatch(r"\d{1,3}(\.\d{1,3})?", one.value, re.ASCII):
        raise options.source.error(
            options.place(key),
            f"{shown(one.value)} is no time in milliseconds; allowed: such as 1.5",
        )
    return round(float(one.value) * 1e6), one.line

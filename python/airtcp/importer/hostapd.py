"""hostapd.conf: the radio and the announced parameters, as hostapd 2.10 and 2.11 read them.

Values are stored only for options that become keys, because other options hold passwords.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from airtcp.importer import hostapd_radio
from airtcp.importer.draft import Draft
from airtcp.importer.options import is_off, options_of, unfollowed
from airtcp.importer.source import Source, phrase, shown, whole
from airtcp.units import format_time_ns

_NAME: Final = re.compile(r"[\w.-]+")
#: The access category by the index of a transmit queue, and by its name in options.
_QUEUES: Final = ("AC_VO", "AC_VI", "AC_BE", "AC_BK")
_CATEGORIES: Final = {"be": "AC_BE", "bk": "AC_BK", "vi": "AC_VI", "vo": "AC_VO"}
_TXOP_UNIT_NS: Final = 32_000
#: Options of the whole radio: hostapd also reads them after the `bss` of another BSS.
_OF_RADIO: Final = re.compile(
    r"hw_mode|channel|op_class|ieee80211\w+|(vht|he|eht)_oper_\w+|ht_capab|vht_capab|"
    r"rts_threshold|beacon_int|preamble|basic_rates|supported_rates|wm[em]_ac_\w+|"
    r"tx_queue_\w+"
)
#: The shortest beacon interval that hostapd accepts, in time units.
_LEAST_BEACON: Final = 10


@dataclass(frozen=True)
class _Option:
    name: str
    value: str
    line: int


class Options:
    """The options of a file. The last of repeated options counts, as in hostapd."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.known: dict[str, _Option] = {}
        self.others: list[int] = []
        for number, line in source.lines():
            text = line.strip()
            if text.startswith("#"):
                continue
            key, equals, value = text.partition("=")
            if not equals or not _NAME.fullmatch(key):
                raise source.error(f"line {number}", phrase("hostapd.not_an_option"))
            if key == "bss":
                self.others.append(number)
            elif not self.others or _OF_RADIO.fullmatch(key):
                # wme_ is the old name of wmm_.
                self.known[key.replace("wme_", "wmm_")] = _Option(key, value.strip(), number)

    def has(self, key: str) -> bool:
        """Whether the file has the option."""
        return key in self.known

    def value(self, key: str) -> str:
        """Return the text of an option; "" if it is not set."""
        return self.known[key].value if key in self.known else ""

    def why(self, key: str) -> str:
        """Return the line of an option for a comment."""
        one = self.known[key]
        return f"{self.source.short}:{one.line}: {one.name}={one.value}"

    def place(self, key: str) -> str:
        """Return the line and name of an option for a message."""
        return f"line {self.known[key].line}: {self.known[key].name}"

    def whole(self, key: str, least: int, most: int) -> int | None:
        """Return an integer, None if it is not set. Raises ScenarioError."""
        if key not in self.known:
            return None
        # hostapd reads a number up to the first other character, so a comment may follow it.
        value = re.sub(r"(?<=\d)\s+#.*", "", self.known[key].value)
        return whole(self.source, self.place(key), value, least, most)

    def flag(self, key: str) -> bool:
        """Return whether an option is 1. Raises ScenarioError."""
        return bool(self.whole(key, 0, 1))


def read_hostapd(source: Source) -> Draft:
    """Return the draft of a scenario. Raises ScenarioError for a file that hostapd rejects."""
    options = Options(source)
    table = options_of("hostapd")
    if not any(table[key].verdict == "followed" for key in options.known if key in table):
        raise source.error("", phrase("hostapd.no_radio"))
    for key in options.known:
        if key in table and table[key].verdict == "refused" and options.value(key) != "0":
            raise source.error(options.place(key), table[key].reason)
    draft = Draft(names=[source.short])
    standard = hostapd_radio.write(options, draft)
    is_modern = standard not in ("802.11a", "802.11b", "802.11g")
    for key, write in (("rts_threshold", draft.rts_threshold), ("beacon_int", draft.beacons)):
        least = -1 if key == "rts_threshold" else _LEAST_BEACON
        value = options.whole(key, least, 65535)
        if value is not None:
            write(value, options.why(key))
    if options.flag("preamble") and standard in ("802.11b", "802.11g"):
        draft.say("phy", "preamble", "short", options.why("preamble"))
    _rates(options, draft, is_modern=is_modern)
    _edca(options, draft, is_modern=is_modern)
    if options.others:
        lines = ", ".join(map(str, options.others))
        draft.unknown.append(
            phrase(
                "hostapd.more_bss",
                others=len(options.others),
                short=source.short,
                lines=lines,
            )
        )
    seen = (
        (one.name, f"{source.short}:{one.line}")
        for one in options.known.values()
        if not is_off("hostapd", one.name, one.value)
    )
    draft.unread += unfollowed("hostapd", seen)
    draft.close()
    return draft


def _rates(options: Options, draft: Draft, *, is_modern: bool) -> None:
    """Write the highest basic rate for control frames, and the highest rate for data."""
    for key, name in (("basic_rates", "control_rate"), ("supported_rates", "data_rate")):
        if not options.has(key) or (name == "data_rate" and is_modern):
            continue
        place = options.place(key)
        rates = [whole(options.source, place, one, 1, 10_000) for one in options.value(key).split()]
        if not rates:
            raise options.source.error(place, phrase("hostapd.no_rates"))
        draft.say("phy", name, f"{max(rates) / 10:g} Mb/s", options.why(key))


def _edca(options: Options, draft: Draft, *, is_modern: bool) -> None:
    """Write the access categories of the access point and the stations, if WMM is on."""
    if not hostapd_radio.has_wmm(options):
        return
    if not is_modern:
        why = (
            options.why("wmm_enabled")
            if options.has("wmm_enabled")
            else phrase("hostapd.wmm_default")
        )
        draft.say("mac.edca", "preset", "wmm", why)
    for index, category in enumerate(_QUEUES):
        _category(options, draft, "ap", category, f"tx_queue_data{index}_")
    for word_, category in _CATEGORIES.items():
        _category(options, draft, "stations", category, f"wmm_ac_{word_}_")


def _category(options: Options, draft: Draft, side: str, category: str, prefix: str) -> None:
    """Write one category of one side, with the lines it comes from."""
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
                options.place(key), phrase("hostapd.contention_window", value=value)
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


def _txop_limit_ns(options: Options, prefix: str) -> tuple[int, int] | None:
    """Return a TXOP limit and its line: in units of 32 us, or a burst in milliseconds."""
    key = f"{prefix}txop_limit"
    units = options.whole(key, 0, 65535)
    if units is not None:
        return units * _TXOP_UNIT_NS, options.known[key].line
    key = f"{prefix}burst"
    if not options.has(key):
        return None
    one = options.known[key]
    if not re.fullmatch(r"\d{1,3}(\.\d{1,3})?", one.value, re.ASCII):
        raise options.source.error(
            options.place(key), phrase("hostapd.not_a_time", value=shown(one.value))
        )
    return round(float(one.value) * 1e6), one.line

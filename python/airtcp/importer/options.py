"""The options of other programs, and how airtcp treats each (`options.toml`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final, Literal, NamedTuple

from airtcp.data import beside
from airtcp.importer.source import phrase

#: No frame is longer.
_NO_FRAGMENTS: Final = 2346

Verdict = Literal["followed", "named", "unseen", "refused", "harmless"]


class Option(NamedTuple):
    """The verdict on an option, and its reason."""

    verdict: Verdict
    reason: str


#: The programs, with the versions whose options the table covers.
PROGRAMS: Final[Mapping[str, str]] = {
    "hostapd": "hostapd 2.10 and 2.11",
    "iperf3": "iperf3 3.12 to 3.21",
    "iperf3-command": phrase("iperf3.command_line"),
    "flent": "flent 2.2",
    "uci-device": "OpenWrt's wifi-device",
    "uci-iface": "OpenWrt's wifi-iface",
}


@cache
def options_of(program: str) -> Mapping[str, Option]:
    """Return all options of a program by name."""
    found: dict[str, Option] = {}
    for verdict, reasons in beside(__file__)[program].items():
        for reason, names in reasons.items():
            found |= dict.fromkeys(names.split(), Option(verdict, reason))
    return found


def unfollowed(program: str, seen: Iterable[tuple[str, str]]) -> list[str]:
    """Return one line per reason for the options that are not reproduced.

    Args:
        program: a key of `PROGRAMS`.
        seen: names of options with their places in the file.
    """
    known = options_of(program)
    by_reason: dict[str, list[str]] = {}
    for name, place in seen:
        option = known.get(name)
        if option is None:
            reason = f"unknown to {PROGRAMS[program]}"
        elif option.verdict == "named":
            reason = option.reason
        else:
            continue
        by_reason.setdefault(reason, []).append(f"{name} ({place})" if place else name)
    return [f"{', '.join(names)}: {reason}" for reason, names in by_reason.items()]


def is_off(program: str, name: str, value: str) -> bool:
    """Whether a value switches a known option off, so that it need not be named.

    Thresholds are off from 2346 on (`fragm_threshold`), or below 0.
    """
    if name not in options_of(program):
        return False
    if "frag" in name and value.strip().isdigit():
        return int(value) >= _NO_FRAGMENTS
    return value.strip() in ("0", "-1", "off")

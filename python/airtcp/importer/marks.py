"""DSCP marks of packets, and the access category that Linux assigns to them.

Linux uses the first three bits of the DSCP as the user priority (IEEE 802.11-2020, Table 10-1).
Since 6.8 it makes the exceptions of RFC 8325, section 4.
"""

from __future__ import annotations

import re
from typing import Final

from airtcp.importer.draft import Draft
from airtcp.importer.source import phrase

_CATEGORIES: Final = (
    *("AC_BE", "AC_BK", "AC_BK", "AC_BE"),
    *("AC_VI", "AC_VI", "AC_VO", "AC_VO"),
)
#: The first three bits of classes by name (RFC 2474, RFC 2597, RFC 3246, RFC 8622).
_BY_NAME: Final = {"BK": 1, "VI": 5, "VO": 6, "EF": 5, "VA": 5, "LE": 0}
#: User priorities by DSCP that differ from the first three bits, since Linux 6.8
#: (`cfg80211_classify8021d`): AF1x and CS2, AF2x, CS3, AF3x (6.11), voice admit and EF, CS6.
_NEWER: Final = {
    **dict.fromkeys((10, 12, 14, 16), 0),
    **dict.fromkeys((18, 20, 22), 3),
    **dict.fromkeys((24, 26, 28, 30), 4),
    **dict.fromkeys((44, 46), 6),
    48: 7,
}


def priority_of(tos: int) -> int:
    """Return the user priority for an octet of the IP header (TOS, or traffic class)."""
    return tos >> 5 & 7


def category_of(mark: int | str) -> str:
    """Return the access category for a TOS octet, or for the name of a class such as CS5."""
    if isinstance(mark, int):
        return _CATEGORIES[priority_of(mark)]
    match = re.fullmatch(r"(?:CS|AF)([0-7])[1-3]?", mark)
    return _CATEGORIES[int(match[1]) if match else _BY_NAME.get(mark.rstrip("0123456789"), 0)]


def tell_newer(tos: int, place: str, draft: Draft) -> None:
    """List a mark whose access category depends on the version of Linux."""
    newer = _CATEGORIES[_NEWER.get(tos >> 2, priority_of(tos))]
    if newer != (older := category_of(tos)):
        draft.unread.append(phrase("marks.newer_kernel", place=place, older=older, newer=newer))

"""DSCP marks of packets, and the access category that Linux assigns to them.

Linux uses the first three bits of the DSCP as the user priority (IEEE 802.11-2020, Table 10-1).
"""

from __future__ import annotations

import re
from typing import Final

_CATEGORIES: Final = (
    *("AC_BE", "AC_BK", "AC_BK", "AC_BE"),
    *("AC_VI", "AC_VI", "AC_VO", "AC_VO"),
)
#: The first three bits of classes by name (RFC 2474, RFC 2597, RFC 3246, RFC 8622).
_BY_NAME: Final = {"BK": 1, "VI": 5, "VO": 6, "EF": 5, "VA": 5, "LE": 0}


def priority_of(tos: int) -> int:
    """Return the user priority for an octet of the IP header (TOS, or traffic class)."""
    return tos >> 5 & 7


def category_of(mark: int | str) -> str:
    """Return the access category for a TOS octet, or for the name of a class such as CS5."""
    if isinstance(mark, int):
        return _CATEGORIES[priority_of(mark)]
    match = re.fullmatch(r"(?:CS|AF)([0-7])[1-3]?", mark)
    return _CATEGORIES[int(match[1]) if match else _BY_NAME.get(mark.rstrip("0123456789"), 0)]

"""The keys of `[phy]` and `[mac]` that both hostapd.conf and UCI determine."""

from __future__ import annotations

from typing import Final

from airtcp.importer.draft import Draft
from airtcp.units import format_time_ns

#: From this value on, an RTS threshold exceeds every frame.
_NO_RTS: Final = 2347
_TIME_UNIT_NS: Final = 1_024_000

UNKNOWN_PLACE: Final = (
    "the rates of stations: the highest rate of the standard with one spatial stream is assumed, "
    "unless keys below set another; to change it, set mcs, spatial_streams or place of a group"
)
UNKNOWN_AIR: Final = "losses, neighbours on the channel and the wired path: none are assumed"


def rts_threshold(draft: Draft, size: int, why: str) -> None:
    """Write the RTS threshold, unless it exceeds every frame."""
    if 0 <= size < _NO_RTS:
        draft.say("mac", "rts_threshold", f"{size} B", why)


def beacons(draft: Draft, units: int, why: str) -> None:
    """Write the beacon interval; configurations have it in units of 1.024 ms."""
    interval = format_time_ns(units * _TIME_UNIT_NS)
    draft.say("mac", "beacon", {"interval": interval}, why)


def close(draft: Draft) -> None:
    """Write what every configuration leaves open."""
    draft.unknown += [UNKNOWN_PLACE, UNKNOWN_AIR]

"""Data frames of a capture that are not in the scenario, by reason."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from airtcp.importer.capture.stations import ServiceSet

TOO_SHORT: Final = "too short, or cut off by the capture"
WITHOUT_AP: Final = "between stations without an access point (mesh, ad-hoc, four addresses)"
TO_GROUPS: Final = "multicast and broadcast, which are not modelled"
WRONG_FCS: Final = "with a wrong FCS"
EMPTY: Final = "without data (null frames)"
TOO_MANY: Final = "of stations beyond the maximum"
OTHER_SETS: Final = "of other access points"


class Account:
    """Numbers of data frames that were left out of the scenario."""

    def __init__(self) -> None:
        self.left: dict[str, int] = {}

    def leave(self, reason: str, count: int = 1) -> None:
        """Count data frames that are left out."""
        self.left[reason] = self.left.get(reason, 0) + count

    def lines(self) -> list[str]:
        """Return one line per reason."""
        return [f"{n} data frame{'s'[: n > 1]} {reason}" for reason, n in self.left.items()]


def frames_of(one: ServiceSet) -> int:
    """Return the number of data frames of the stations of a set."""
    return sum(sum(station.frames) for station in one.stations.values())


def leave_others(account: Account, sets: Iterable[ServiceSet], chosen: ServiceSet) -> None:
    """Count the frames of all sets except the one that becomes the scenario."""
    count = sum(frames_of(one) for one in sets if one is not chosen and not one.is_wired)
    if count:
        account.leave(OTHER_SETS, count)

"""A wire as it is read: the part of it in use, who crowds it, and what it loses.

Knows a link and numbers of it. Does not know whose packets wait there (`reading`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from airtcp.advice.thresholds import of

if TYPE_CHECKING:
    from airtcp.scenario.keys.traffic import Link


@dataclass(frozen=True)
class Wire:
    """A wired link in use: its name in words, its rate, and the part of it in use, by direction.

    `queue` is the number of packets for which there is room at each end, None without a limit.
    `crowded` has the group of endless flows that has more than half of what goes in a direction,
    with its part of that.
    """

    name: str
    rate_bps: int
    queue: int | None
    used: Mapping[str, float]
    crowded: Mapping[str, tuple[str, float]]

    def most(self, parts: Iterable[str]) -> float:
        """Return the most that is in use in some directions."""
        return max(self.used.get(part, 0.0) for part in parts)

    def full(self, part: str) -> bool:
        """Tell whether it is full in a direction."""
        return self.most([part]) > of("wire use")


def lost_share(link: Link) -> float:
    """Return the share of packets with payload that a link loses beside those of its queue."""
    if link.loss is None:
        return 0.0
    if link.loss.rate is not None:
        return link.loss.rate
    return 1.0 / link.loss.every if link.loss.every else 0.0

"""The accounts of a replication: sums per flow and block of time, and transfers in progress.

The core fills these tables. `Accounts` reads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The sums of a block, in the order of the core. A unit is a page, or a transfer of traffic without
#: pages. A pause is a think time or the time between two arrivals.
SUMS: Final = (
    "units",
    "unit_bytes",
    "pauses",
    "paused_s",
    "begun",
    "ended",
    "ended_s",
    "delivered_bytes",
    "active_s",
    "loaded",
    "loading_s",
    "pageless_s",
)


#: The last three sums are about pages. They are zero without pages.
_OF_PAGES: Final = 3


@dataclass(frozen=True, slots=True, eq=False)
class Lasting:
    """Transfers or pages that ended in the measured time, ordered by end, and those in progress.

    `times_s` and `scopes` have one number for each that ended. `carried_over_index` are the indices
    of those that began before the measured time. `under_way_entry` and `under_way_age_s` are the
    entry and age of each one in progress at the end.
    """

    times_s: NDArray[np.float64]
    scopes: NDArray[np.uint32]
    carried_over_index: NDArray[np.int64]
    under_way_entry: NDArray[np.int64]
    under_way_age_s: NDArray[np.float64]


#: The kinds of delays that the core counts, by the metric whose percentiles they give.
_KINDS: Final = {
    "rtt": (0, 2),
    "path_rtt": (0, 1),
    "ap_queue_delay": (3,),
    "reorder_delay": (4,),
    "packet_delay": (5,),
}
#: A bin number is the upper bits of a float32, without its lowest 16 bits. Bin 1 begins at 1 ns.
_DROPPED_BITS: Final = 16
_BEFORE_FIRST: Final = (0x3F80_0000 >> _DROPPED_BITS) - 1
#: Below this, each whole number of nanoseconds is a bin.
_WHOLE_NS: Final = 128.0


@dataclass(frozen=True, slots=True, eq=False)
class Delays:
    """Histograms of delays: scope, kind, bin and count of each bin that is not empty.

    The scope is twice the index of a station group, plus one for uploads. The relative width of a
    bin is 1/128.
    """

    scopes: NDArray[np.int64]
    kinds: NDArray[np.int64]
    bins: NDArray[np.int64]
    counts: NDArray[np.int64]

    def of(self, metric: str, scopes: Sequence[int] | None) -> NDArray[np.float64]:
        """Return the count in each bin of a metric such as `rtt`, over all or some scopes."""
        first, *others = _KINDS[metric]
        kept = self.kinds == first
        for kind in others:
            kept |= self.kinds == kind
        if scopes is not None and len(self.scopes):
            own = np.zeros(int(self.scopes.max()) + 1, dtype=bool)
            own[[one for one in scopes if one < len(own)]] = True
            kept &= own[self.scopes]
        return np.bincount(self.bins[kept], weights=self.counts[kept]).astype(np.float64)


def bin_bounds_s(bins: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lower and upper bounds of bins of `Delays`, in seconds."""

    def begin(bins: NDArray[np.int64]) -> NDArray[np.float64]:
        bits = ((bins + _BEFORE_FIRST) << _DROPPED_BITS).astype(np.uint32)
        return bits.view(np.float32).astype(np.float64)

    low = np.where(bins == 0, 0.0, begin(bins))
    return low / 1e9, np.where(low < _WHOLE_NS, low, begin(bins + 1)) / 1e9


@dataclass(frozen=True, slots=True, eq=False)
class Accounts:
    """The accounts of one replication, over its measured time.

    `sums` has the shape (blocks, entries, `SUMS`). An entry is a resolved flow of the scenario. A
    block is one of several equal parts of the measured time. `carried_over_index` are the indices,
    among the transfers that ended, of those that began before the measured time.
    `carried_over_age_s` are their ages in seconds when measuring began. `under_way_entry` and
    `under_way_age_s` are the entry and the age in seconds of each transfer in progress at the end.
    `scopes` has, for each transfer that ended, twice the index of its station group, plus one for
    uploads. `pages` are the pages that ended or are in progress. `delays` has the histograms. Both
    are None if the core did not record them.
    """

    sums: NDArray[np.float64]
    carried_over_index: NDArray[np.int64]
    carried_over_age_s: NDArray[np.float64]
    under_way_entry: NDArray[np.int64]
    under_way_age_s: NDArray[np.float64]
    scopes: NDArray[np.uint32]
    pages: Lasting | None = None
    delays: Delays | None = None

    @classmethod
    def of_core(cls, columns: Mapping[str, bytes]) -> Accounts:
        """Parse the core's tables.

        The core's sums accumulate from the beginning of the measured time.
        """

        def numbers(name: str) -> NDArray[np.float64]:
            return np.frombuffer(columns[name], dtype="<f8")

        entries = int(numbers("entries")[0])
        widths = {"sums": len(SUMS) - _OF_PAGES, "pages": _OF_PAGES}
        # Without entries, as in an idle cell, the core writes no blocks.
        blocks = -1 if entries else 0
        parts = [numbers(name).reshape(blocks, entries, width) for name, width in widths.items()]
        added = np.concatenate(parts, axis=2)
        return cls(
            np.diff(added, axis=0, prepend=0.0),
            numbers("carried_over_index").astype(np.int64),
            numbers("carried_over_age_s"),
            numbers("under_way_entry").astype(np.int64),
            numbers("under_way_age_s"),
            np.frombuffer(columns["scopes"], dtype="<u4"),
            Lasting(
                numbers("page_times_s"),
                np.frombuffer(columns["page_scopes"], dtype="<u4"),
                numbers("page_carried_over_index").astype(np.int64),
                numbers("page_under_way_entry").astype(np.int64),
                numbers("page_under_way_age_s"),
            ),
            Delays(
                *(
                    np.frombuffer(columns[f"delay_{name}"], dtype="<u8").astype(np.int64)
                    for name in ("scopes", "kinds", "bins", "counts")
                )
            ),
        )

    def column(self, name: str) -> NDArray[np.float64]:
        """Return one of `SUMS` as an array of blocks by entries."""
        return self.sums[:, :, SUMS.index(name)]

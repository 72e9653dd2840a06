"""The books of a replication: sums over what was drawn, begun, received and in progress, in blocks.

Knows the columns that the core writes down. Knows no law and no estimator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The sums of a block, in the order of the core. A unit is a page, or a transfer where there are no
#: pages; a pause is a time to think, or between arrivals.
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


#: So many of them, the last, are of pages: zero where there are none.
_OF_PAGES: Final = 3


@dataclass(frozen=True, slots=True, eq=False)
class Lasting:
    """Transfers or pages that ended in the measured time, in this order, and those in progress.

    `times_s` and `scopes` have one number for each; `carried_over_index` are the places of those
    that had begun before. `under_way_entry` and `under_way_age_s` are those in progress at the end.
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
#: The bits of a float32 below those that number a bin, and those of 1 ns, less one bin.
_DROPPED_BITS: Final = 16
_BEFORE_FIRST: Final = (0x3F80_0000 >> _DROPPED_BITS) - 1
#: Whole nanoseconds below have a bin each.
_WHOLE_NS: Final = 128.0


@dataclass(frozen=True, slots=True, eq=False)
class Delays:
    """Histograms of delays: a scope, a kind, a bin and a count for each bin that has any.

    A scope is twice the number of a station group, and one more for an upload. A bin is 1/128 wide.
    """

    scopes: NDArray[np.int64]
    kinds: NDArray[np.int64]
    bins: NDArray[np.int64]
    counts: NDArray[np.int64]

    def of(self, metric: str, scopes: Sequence[int] | None) -> NDArray[np.float64]:
        """Count a metric such as `rtt` by bins, from bin 0 on; of all scopes, or of some."""
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
    """Return where bins of `Delays` begin and end, in seconds."""

    def begin(bins: NDArray[np.int64]) -> NDArray[np.float64]:
        bits = ((bins + _BEFORE_FIRST) << _DROPPED_BITS).astype(np.uint32)
        return bits.view(np.float32).astype(np.float64)

    low = np.where(bins == 0, 0.0, begin(bins))
    return low / 1e9, np.where(low < _WHOLE_NS, low, begin(bins + 1)) / 1e9


@dataclass(frozen=True, slots=True, eq=False)
class Books:
    """The books of one replication, over its measured time.

    `sums` has the shape (blocks, entries, `SUMS`): what each resolved flow of the scenario (an
    entry) has added in each of equal blocks of the measured time. `carried_over_index` are the
    places among the transfers that ended of those which had begun before, `carried_over_age_s`
    their ages in seconds when measuring began. `under_way_entry` and `under_way_age_s` are the
    transfers in progress at the end: entry, and age in seconds. `scopes` has of each transfer that
    ended twice the number of its station group, and one more for an upload. `pages` are those that
    were loaded, and those in progress, and `delays` histograms; None where these are not kept.
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
    def of_core(cls, columns: Mapping[str, bytes]) -> Books:
        """Take what the core wrote down apart: there it has added up since measuring began."""

        def numbers(name: str) -> NDArray[np.float64]:
            return np.frombuffer(columns[name], dtype="<f8")

        entries = int(numbers("entries")[0])
        widths = {"sums": len(SUMS) - _OF_PAGES, "pages": _OF_PAGES}
        # Without entries, as of a cell that is idle, there is nothing to write down in any block.
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
        """One of `SUMS`: an array of blocks by entries."""
        return self.sums[:, :, SUMS.index(name)]

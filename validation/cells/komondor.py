"""Compare chains and a star of Komondor with the models of cells, and with a simple slot count.

Komondor at commit 5471b36e2: saturated 802.11ax access points with RTS/CTS and a constant window
of 16 slots, 20 s. `komondor.csv` has the throughput of each cell in Mb/s with 1 or 64 frames of
12,000 bits per exchange. Neighbors that start in the same slot both succeed there, because the
wanted frame is the stronger one. The count and the cluster model therefore take starts as
successes. A single cell has 24.33 and 132.08 Mb/s.
"""

from __future__ import annotations

import csv
import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from airtcp.models.bianchi import SlotTimes
from airtcp.models.cells import clusters, independent_sets
from numpy.typing import NDArray

SLOT_S, WINDOW = 9e-6, 16
BACKOFF_S: Final = (WINDOW - 1) / 2 * SLOT_S
FRAME_BITS: Final = 12_000
ALONE_BPS: Final = {1: 24.33e6, 64: 132.08e6}
#: Counted seconds by number of frames.
_COUNTED_S: Final = {1: 5.0, 64: 60.0}


@dataclass(frozen=True)
class Rows:
    """The cells of a graph: frames per exchange, Komondor's throughput, and who hears whom."""

    graph: str
    frames: int
    heard: NDArray[np.bool_]
    mbps: tuple[float, ...]

    @property
    def bits(self) -> int:
        """Bits of an exchange."""
        return self.frames * FRAME_BITS

    @property
    def exchange_s(self) -> float:
        """Duration of an exchange with the interframe spaces after it."""
        return self.bits / ALONE_BPS[self.frames] - BACKOFF_S

    def independent_sets(self) -> list[float]:
        """Return the throughput by the Markov chain of independent sets, in Mb/s."""
        busy = independent_sets(self.heard, self.exchange_s, BACKOFF_S)
        return [float(one) for one in busy * self.bits / self.exchange_s / 1e6]

    def winners(self) -> list[float]:
        """Return the throughput by the cluster model without failures, in Mb/s."""
        times = SlotTimes(SLOT_S, self.exchange_s, self.exchange_s, 0.0)
        found = clusters(self.heard, times, w0=WINDOW, m=0, retries=0).starts_per_s
        return [float(one) for one in found * self.bits / 1e6]

    def counted(self, seed: int = 1) -> list[float]:
        """Return the throughput by a slot count in which all starts succeed, in Mb/s."""
        seconds = _COUNTED_S[self.frames]
        lasts = round(self.exchange_s / SLOT_S)
        won = _count(self.heard, lasts, int(seconds / SLOT_S), random.Random(seed))
        # The count rounds exchanges to whole slots; scale back to their exact duration.
        longer = self.exchange_s / (lasts * SLOT_S)
        return [one * self.bits / seconds / longer / 1e6 for one in won]


@cache
def rows() -> tuple[Rows, ...]:
    """Read Komondor's rows, one element per graph."""
    with (Path(__file__).parent / "komondor.csv").open(encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    found = []
    for key, group in itertools.groupby(read, key=lambda row: (row["graph"], row["frames"])):
        cells = list(group)
        names = [row["cell"] for row in cells]
        heard = np.zeros((len(names), len(names)), dtype=bool)
        for pair in cells[0]["heard"].split():
            a, b = (names.index(name) for name in pair)
            heard[a, b] = heard[b, a] = True
        mbps = tuple(float(row["mbps"]) for row in cells)
        found.append(Rows(key[0], int(key[1]), heard, mbps))
    return tuple(found)


def _count(heard: NDArray[np.bool_], lasts: int, slots: int, stream: random.Random) -> list[int]:
    """Count exchanges, skipping slots in which nothing starts or ends."""
    cells = range(len(heard))
    beside = [[cell, *(int(other) for other in np.flatnonzero(heard[cell]))] for cell in cells]
    left = [stream.randrange(WINDOW) for _ in cells]
    end, won, now = [0 for _ in cells], [0 for _ in cells], 0
    while now < slots:
        free = [cell for cell in cells if all(end[other] <= now for other in beside[cell])]
        at = min([now + left[cell] for cell in free] + [one for one in end if one > now])
        for cell in free:
            left[cell] -= at - now
        now = at
        for cell in free:
            if left[cell] == 0:
                end[cell], left[cell] = now + lasts, stream.randrange(WINDOW)
                won[cell] += 1
    return won


def markdown() -> tuple[Sequence[str], list[list[str]]]:
    """Return heading and rows of a table with one graph per row."""

    def shown(values: Sequence[float]) -> str:
        return ", ".join(f"{one:.2f}" for one in values)

    head = ["graph", "frames", "Komondor", "independent sets", "clusters, all succeed", "counted"]
    lines = [
        [
            one.graph,
            str(one.frames),
            shown(one.mbps),
            shown(one.independent_sets()),
            shown(one.winners()),
            shown(one.counted()),
        ]
        for one in rows()
    ]
    return head, lines

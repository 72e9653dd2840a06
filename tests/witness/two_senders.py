"""Two saturated senders with backoff stages, exactly: the Markov chain of the DCF, solved.

There are no assumptions: no decoupling, and no slot that all may use. Both wait equally long after
a success and a collision (the rules "bianchi"), so that slots are common to both.

Just before the countdown resumes, the state is one of
- (s, r): the last transmission succeeded; its sender draws anew from stage 0, the other is at stage
  s with r >= 1 slots left (with none, the two would have collided);
- (s, s'): the last transmission was a collision; both draw, from the stages s and s'.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse


@dataclass(frozen=True)
class TwoSenders:
    """Per transmission: the probability of a collision, and the mean idle slots before it."""

    collision: float
    idle_slots: float

    @property
    def collision_probability(self) -> float:
        """Collisions per attempt: a collision is two attempts, a success one."""
        return 2.0 * self.collision / (1.0 + self.collision)


def windows(cw_min: int, cw_max: int, retry_limit: int) -> list[int]:
    """Return the CW of each transmission of a frame."""
    stages = [cw_min]
    while len(stages) < retry_limit:
        stages.append(min(2 * stages[-1] + 1, cw_max))
    return stages


def two_senders(stages: list[int]) -> TwoSenders:
    """Solve the chain for CW = `stages`; a frame that collides at the last one is dropped."""
    count = len(stages)
    start = np.concatenate(([0], np.cumsum(stages))).astype(int)
    both = int(start[-1])
    size = both + count * count
    collision, idle = np.zeros(size), np.zeros(size)
    rows: list[int] = []
    columns: list[int] = []
    chances: list[float] = []

    def go(state: int, to: int, chance: float) -> None:
        rows.append(state)
        columns.append(to)
        chances.append(chance)

    def left(stage: int, slots: int) -> int:
        return int(start[stage]) + slots - 1

    def collided(one: int, other: int) -> int:
        return both + ((one + 1) % count) * count + (other + 1) % count

    fresh = 1.0 / (stages[0] + 1)
    for stage, cw in enumerate(stages):
        for slots in range(1, cw + 1):
            state = left(stage, slots)
            for draw in range(stages[0] + 1):
                idle[state] += fresh * min(draw, slots)
                if draw < slots:
                    go(state, left(stage, slots - draw), fresh)
                elif draw > slots:
                    go(state, left(0, draw - slots), fresh)
                else:
                    collision[state] += fresh
                    go(state, collided(0, stage), fresh)
    for one in range(count):
        for other in range(count):
            state = both + one * count + other
            a = np.arange(stages[one] + 1)[:, None]
            b = np.arange(stages[other] + 1)[None, :]
            chance = 1.0 / (a.size * b.size)
            idle[state] = np.minimum(a, b).mean()
            collision[state] = chance * min(a.size, b.size)
            go(state, collided(one, other), float(collision[state]))
            for gap, times in zip(*np.unique(b - a, return_counts=True), strict=True):
                if gap > 0:
                    go(state, left(other, int(gap)), chance * int(times))
                elif gap < 0:
                    go(state, left(one, -int(gap)), chance * int(times))
    transition = sparse.csr_array((chances, (columns, rows)), shape=(size, size))
    shares = np.full(size, 1.0 / size)
    for _ in range(10_000):
        previous, shares = shares, transition @ shares
        if np.abs(shares - previous).sum() < 1e-13:
            return TwoSenders(float(shares @ collision), float(shares @ idle))
    raise RuntimeError("the chain has not settled")

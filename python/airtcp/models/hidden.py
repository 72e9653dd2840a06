"""Model two saturated hidden stations that send to the same receiver.

Inputs are stages, remaining slots, and the durations of a frame and of an exchange in slots. There
is no TCP, no RTS, no capture and no third station.

The state at each start of a frame: the stages of the starting station and of the other, and the
slots left until the other starts or until its frame ends. Overlapping frames all fail. A frame
without overlap gets an ACK, which both hear, so the other's backoff freezes during it. Independent
two-dimensional windows would be far off, because a station that has failed leaves the other
undisturbed for longer.

Frames and gaps are whole slots, except the duration of a success. The distribution of the state is
computed by iteration, in which a uniform draw is a sum over a window.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from airtcp.exceptions import ConvergenceError
from airtcp.models import checks
from airtcp.models.checks import Values
from airtcp.phrases import phrase

__all__ = ["HiddenPair", "hidden_pair"]

_MOST_STEPS: Final = 5_000
_NEAR: Final = 1e-6


@dataclass(frozen=True, slots=True)
class HiddenPair:
    """Two hidden stations: successes of both together, the fraction of failed frames, drops.

    `successes_per_s` and `drops_per_s` are of both; `failed` is the fraction of attempts without
    ACK.
    """

    successes_per_s: float
    drops_per_s: float
    failed: float


def hidden_pair(
    *, slot_s: float, frame_s: float, exchange_s: float, w0: int, m: int, retries: int
) -> HiddenPair:
    """Solve the joint chain of two identical stations.

    Args:
        slot_s: an idle slot.
        frame_s: the frame, which must not be overlapped.
        exchange_s: frame, ACK and spaces, until the countdown continues; a failed frame takes as
            long.
        w0: the slots of the first window, CWmin + 1.
        m: how often the window doubles.
        retries: a frame is sent at most `retries` + 1 times.

    Raises:
        ValueError: an argument out of range.
        ConvergenceError: the distribution of the state does not converge.

    >>> pair = hidden_pair(
    ...     slot_s=9e-6, frame_s=248e-6, exchange_s=326e-6, w0=16, m=6, retries=7
    ... )
    >>> round(pair.failed, 2)
    0.28
    """
    checks.scalar("slot_s", slot_s, above=0.0)
    checks.scalar("frame_s", frame_s, above=0.0)
    checks.scalar("exchange_s", exchange_s, at_least=frame_s)
    least = int(checks.scalar("w0", w0, at_least=2.0, at_most=1024.0, whole=True))
    doublings = int(checks.scalar("m", m, at_least=0.0, at_most=10.0, whole=True))
    stages = 1 + int(checks.scalar("retries", retries, at_least=0.0, at_most=30.0, whole=True))
    chain = _Chain(
        [least << min(stage, doublings) for stage in range(stages)],
        max(round(frame_s / slot_s), 1),
        round((exchange_s - frame_s) / slot_s),
        exchange_s / slot_s,
    )
    for _ in range(_MOST_STEPS):
        if chain.step() < _NEAR:
            time_s = chain.slots * slot_s
            return HiddenPair(chain.successes / time_s, chain.drops / time_s, 1.0 - chain.successes)
    raise ConvergenceError(phrase("models.solver.hidden"))


class _Chain:
    """The distribution at starts of frames, and the mean results of one start.

    Arrays by the stage of the starting station, that of the other, and slots: `waits` until the
    other starts, `sends` until its frame ends. `slots` is the time from a start to the next.
    """

    def __init__(self, windows: list[int], frame: int, gap: int, exchange: float) -> None:
        self._windows = windows
        self._frame = frame
        self._gap = gap
        self._exchange = exchange
        stages = len(windows)
        self._length = max(windows) + frame + gap + 1
        self._slots = np.arange(self._length)
        self._waits = np.zeros((stages, stages, self._length))
        self._waits[0, 0, frame : frame + windows[0]] = 1.0 / windows[0]
        self._sends = np.zeros((stages, stages, frame + 1))
        self.slots = self.successes = self.drops = 0.0

    def step(self) -> float:
        """Advance from one start to the next. Returns the change in the distribution."""
        stages, frame, gap = len(self._windows), self._frame, self._gap
        waits, sends = np.zeros_like(self._waits), np.zeros_like(self._sends)
        slots = self._slots
        # The other starts during the frame, which fails.
        early = self._waits[:, :, :frame]
        sends[:, :, 1:] += early[:, :, ::-1].transpose(1, 0, 2)
        self.slots = float((early * slots[:frame]).sum())
        # It does not: the frame gets its ACK, and the next one draws from the first window.
        late = np.zeros_like(self._waits)
        late[:, :, : self._length - frame] = self._waits[:, :, frame:]
        self.successes = float(late.sum())
        self.slots += self.successes * self._exchange
        self._draw(late.sum(axis=0), 0, 0, waits, sends)
        # It starts during a frame of the other, which ends first, draws, and perhaps starts first.
        self.drops = 0.0
        ended = np.zeros_like(self._waits)
        for other in range(stages):
            again = (other + 1) % stages
            until = self._uniform(self._sends[:, other, 1:], 1 + gap, self._windows[again])
            self.slots += float((until[:, :frame] * slots[:frame]).sum())
            self.slots += float(until[:, frame:].sum()) * frame
            sends[again, :, 1:] += until[:, :frame][:, ::-1]
            ended[:, again, : self._length - frame] += until[:, frame : self._length]
            if again == 0:
                self.drops += float(self._sends[:, other].sum())
        for own in range(stages):
            self._draw(ended[own], (own + 1) % stages, gap, waits, sends)
        moved = float(np.abs(waits - self._waits).sum() + np.abs(sends - self._sends).sum())
        total = waits.sum() + sends.sum()
        # Mix in part of the old distribution to damp periodic behavior of the chain.
        self._waits = 0.9 * waits / total + 0.1 * self._waits
        self._sends = 0.9 * sends / total + 0.1 * self._sends
        return moved

    def _uniform(self, law: Values, first: int, window: int) -> Values:
        """Add a draw from a window, and a constant, to a number of slots; along the last axis."""
        found = np.zeros((*law.shape[:-1], self._length + self._frame))
        added = np.zeros_like(found)
        added[..., first : first + law.shape[-1]] = law
        sums = np.cumsum(added, axis=-1)
        found[:] = sums
        found[..., window:] -= sums[..., :-window]
        return np.asarray(found / window)

    def _draw(self, left: Values, own: int, gap: int, waits: Values, sends: Values) -> None:
        """Draw a backoff of stage `own` against others with `left` slots, and start the first.

        The backoff begins after `gap` slots, during which the other already counts down. `left` is
        by the stage of the other, and slots.
        """
        window, length = self._windows[own], self._length
        sums = np.concatenate([np.zeros((len(left), 1)), np.cumsum(left, axis=1)], axis=1)
        slots = self._slots
        # Our start is z slots away, gap <= z < gap + window; the other's y.
        low, high = np.minimum(slots + gap, length), np.minimum(slots + gap + window, length)
        waits[own, :, 1:] += ((sums[:, high] - sums[:, low]) / window)[:, 1:]
        low = np.clip(gap - slots, 0, length)
        high = np.clip(gap + window - slots, 0, length)
        waits[:, own, 1:] += ((sums[:, high] - sums[:, low]) / window)[:, 1:]
        # Both start in the same slot: the other's frame overlaps all of ours.
        both = sums[:, min(gap + window, length)] - sums[:, gap]
        sends[own, :, self._frame] += both / window
        # The minimum of y and z, averaged over z.
        drawn = np.clip(slots - gap, 0, window)
        below = drawn * gap + drawn * (drawn - 1) / 2.0
        least = np.where(slots <= gap, slots, (below + (window - drawn) * slots) / window)
        self.slots += float(left.sum(axis=0) @ least)

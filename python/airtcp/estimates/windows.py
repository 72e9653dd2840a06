"""The windows of endless connections in a short run: whether they still grow, and their sawtooth.

Waits, losses and what follows from them are in the long run what windows make of them: until these
have reached a receive window, or have been cut by losses a few times, a run shows less than that.
What is under way is goodput times round trip (Little's law), batch by batch.

Knows flows, goodputs and round trips of batches. Does not know what is told of them (`batches`).

The sawtooth of CUBIC lasts K = cbrt(W (1 - beta) / C) seconds (RFC 9438, 4.2), or as long as that
of the additive increase that it imitates, if it is shorter (4.3).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from airtcp.choices import CONGESTION
from airtcp.scenario.keys.traffic import is_endless

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from airtcp.estimates.traffic import Run
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.tcp import Tcp

#: So much more under way in the second half of a run than in the first is growth; a window that is
#: full to this part of the receive window does not grow.
_GROWTH: Final = 1.25
_FULL: Final = 0.75
#: The fewest sawteeth in a run by which it shows what there is in the mean.
_TEETH: Final = 2.0
#: C and beta of CUBIC, and its additive increase, 3 (1 - beta) / (1 + beta) (RFC 9438, 4.6, 4.3).
_CUBIC: Final = 0.4
_CUT: Final = 0.3
_CUBIC_INCREASE: Final = 3.0 * _CUT / (2.0 - _CUT)


@dataclass(frozen=True)
class _Kind:
    """The endless connections of a group in one direction: all that a window is made of."""

    tcp: Tcp
    #: The bytes under way of one of them, batch by batch, and the mean round trip.
    under_way: NDArray[np.float64]
    rtt_s: float

    @property
    def is_full(self) -> bool:
        """Tell whether receive windows bound it."""
        return float(np.mean(self.under_way)) >= _FULL * self.tcp.receive_window_bytes

    @property
    def grows(self) -> bool:
        """Tell whether more is under way in the second half."""
        half = len(self.under_way) // 2
        first, second = np.mean(self.under_way[:half]), np.mean(self.under_way[half:])
        return bool(second > _GROWTH * first)

    @property
    def tooth_s(self) -> float:
        """The time that a sawtooth lasts; 0 where losses do not make one."""
        segments = float(np.mean(self.under_way)) / self.tcp.mss_bytes
        law = CONGESTION[self.tcp.congestion].loss_window
        if law == "aimd":
            cut, increase = 1.0 - self.tcp.aimd.decrease, self.tcp.aimd.increase
            return cut * segments / increase * self.rtt_s
        if law == "cubic":
            as_reno_s = _CUT * segments / _CUBIC_INCREASE * self.rtt_s
            return min(math.cbrt(segments * _CUT / _CUBIC), as_reno_s)
        return 0.0


@dataclass(frozen=True, eq=False)
class Windows:
    """The windows of endless connections in consecutive `runs`, whose measured time is a batch."""

    runs: Sequence[Run]
    scenario: ResolvedScenario

    @cached_property
    def grow(self) -> bool:
        """Tell whether windows of some become larger in the run."""
        return any(kind.grows for kind in self._kinds)

    @cached_property
    def are_cut_seldom(self) -> bool:
        """Tell whether the run is too short for the sawtooth of some windows."""
        measured_s = len(self.runs) * self.scenario.run.duration_ns / 1e9
        return any(_TEETH * kind.tooth_s > measured_s for kind in self._kinds)

    @cached_property
    def _kinds(self) -> list[_Kind]:
        """The kinds of connections whose windows nothing but losses and models bound."""
        return [kind for kind in self._all() if not kind.is_full]

    def _all(self) -> Iterator[_Kind]:
        for place, group in enumerate(self.scenario.stations):
            for part in ("download", "upload"):
                endless = [
                    flow.tcp
                    for flow in self.scenario.flows
                    if (flow.stations, flow.direction) == (group.name, part)
                    and is_endless(flow)
                    and flow.tcp is not None
                ]
                if endless:
                    told = [run.answer["groups"][place][part] for run in self.runs]
                    rates = np.array([one["goodput_bps"] or 0.0 for one in told])
                    trips = np.array([one["path_rtt_s"] or 0.0 for one in told])
                    each = rates * trips / (8.0 * group.count * len(endless))
                    yield _Kind(endless[0], each, float(np.mean(trips)))

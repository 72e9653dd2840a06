"""Congestion windows of endless connections in a short run: whether they grow, and their sawtooth.

In the long run, windows determine queueing delays and losses. A run shows too little of both until
the windows have reached the receive window, or losses have cut them a few times. The bytes in
flight are goodput times round trip (Little's law), in each half of the measured time.

The sawtooth of CUBIC lasts K = cbrt(W (1 - beta) / C) seconds (RFC 9438, 4.2), or as long as that
of the additive increase that it imitates, if that is shorter (4.3).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from airtcp.amounts import duration
from airtcp.choices import CONGESTION
from airtcp.phrases import phrase
from airtcp.scenario.keys.traffic import is_endless

if TYPE_CHECKING:
    from airtcp.estimates.traffic import Run
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.tcp import Tcp

#: Windows are growing if the second half of a run has more than this many times the bytes in
#: flight of the first half, unless they fill this part of the receive window.
_GROWTH: Final = 1.25
_FULL: Final = 0.75
#: The fewest sawteeth in a run that show the mean over a sawtooth.
_TEETH: Final = 2.0
#: The fewest sawteeth in a run that show how connections of several kinds share in the long run.
#: They begin with the windows of slow start, and each cut by 30 % closes 30 % of the gaps between
#: them (D. Chiu, R. Jain, 1989). After three sawteeth of warm-up, the mean over nine more has a
#: tenth of the initial gap.
_TEETH_TO_SHARE: Final = 9.0
#: C and beta of CUBIC, and its additive increase, 3 (1 - beta) / (1 + beta) (RFC 9438, 4.6, 4.3).
_CUBIC: Final = 0.4
_CUT: Final = 0.3
_CUBIC_INCREASE: Final = 3.0 * _CUT / (2.0 - _CUT)


@dataclass(frozen=True)
class _Kind:
    """The endless connections of a group in one direction, and what determines their windows."""

    tcp: Tcp
    #: Bytes in flight per connection in the first half, the second half and overall; mean round
    #: trip.
    first: float
    second: float
    under_way: float
    rtt_s: float

    @property
    def is_full(self) -> bool:
        """True if the receive window limits the connections."""
        return self.under_way >= _FULL * self.tcp.receive_window_bytes

    @property
    def grows(self) -> bool:
        """True if more is in flight in the second half."""
        return self.second > _GROWTH * self.first

    @property
    def tooth_s(self) -> float:
        """The duration of a sawtooth in seconds; 0 if losses cause none."""
        segments = self.under_way / self.tcp.mss_bytes
        law = CONGESTION[self.tcp.congestion].loss_window
        if law == "aimd":
            cut, increase = 1.0 - self.tcp.aimd.decrease, self.tcp.aimd.increase
            return cut * segments / increase * self.rtt_s
        if law == "cubic":
            as_reno_s = _CUT * segments / _CUBIC_INCREASE * self.rtt_s
            return min(math.cbrt(segments * _CUT / _CUBIC), as_reno_s)
        return 0.0


#: An answer of the core, with the whole network and each group, for a half or a batch.
_Answer = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Windows:
    """The windows of endless connections, from the first `part` of runs and the whole runs.

    `first` and `whole` are the core's answers for these. Their means are used.
    """

    scenario: ResolvedScenario
    measured_s: float
    part: float
    first: Sequence[_Answer]
    whole: Sequence[_Answer]
    groups: Collection[str] | None = None

    @classmethod
    def of_replications(
        cls, runs: Sequence[Run], scenario: ResolvedScenario, groups: Collection[str] | None = None
    ) -> Windows:
        """Create this from replications whose first half the core has recorded.

        `groups` restricts it to some groups.
        """
        answers = [run.answer for run in runs]
        halves = [answer["halfway"] for answer in answers]
        measured_s = scenario.run.duration_ns / 1e9
        return cls(scenario, measured_s, 0.5, halves, answers, groups)

    @cached_property
    def growth(self) -> str:
        """Say in words how much more is in flight in the second half."""
        growing = [kind for kind in self._kinds if kind.grows]
        most = max((one.second / one.first - 1.0 for one in growing if one.first), default=None)
        half = phrase("estimates.windows.half")
        if most is None:
            grown = phrase("estimates.windows.idle", half=half)
        else:
            grown = phrase("estimates.windows.more", most=most, half=half)
        return phrase("estimates.windows.grow", grown=grown)

    @cached_property
    def tooth_s(self) -> float:
        """The longest duration of a sawtooth in seconds; 0 without any."""
        return max((kind.tooth_s for kind in self._kinds), default=0.0)

    @property
    def sawtooth(self) -> str:
        """Say in words how long the sawtooth lasts."""
        return phrase("estimates.windows.sawtooth", tooth_s=duration(self.tooth_s))

    @cached_property
    def grow(self) -> bool:
        """True if the windows of some connections grow in the run."""
        return any(kind.grows for kind in self._kinds)

    @cached_property
    def are_cut_seldom(self) -> bool:
        """True if the run is too short for the sawtooth of some windows."""
        return _TEETH * self.tooth_s > self.measured_s

    @cached_property
    def shares_move(self) -> bool:
        """True if the run is too short for the shares of several kinds of connections to settle."""
        return len(self._kinds) > 1 and _TEETH_TO_SHARE * self.tooth_s > self.measured_s

    @cached_property
    def _kinds(self) -> list[_Kind]:
        """The kinds of connections whose windows are not limited by the receive window."""
        return [kind for kind in self._all() if not kind.is_full]

    def _all(self) -> Iterator[_Kind]:
        for place, group in enumerate(self.scenario.stations):
            if self.groups is not None and group.name not in self.groups:
                continue
            for part in ("download", "upload"):
                endless = [
                    flow.tcp
                    for flow in self.scenario.flows
                    if (flow.stations, flow.direction) == (group.name, part)
                    and is_endless(flow)
                    and flow.tcp is not None
                ]
                if endless:
                    connections = group.count * len(endless)
                    told = [one["groups"][place][part] for one in self.whole]
                    before = [one["groups"][place][part] for one in self.first]
                    whole, first = (
                        _mean(map(_under_way, one)) / connections for one in (told, before)
                    )
                    second = (whole - self.part * first) / (1.0 - self.part)
                    rtt_s = _mean(one["path_rtt_s"] or 0.0 for one in told)
                    yield _Kind(endless[0], first, second, whole, rtt_s)


def _under_way(metrics: Mapping[str, float | None]) -> float:
    """Return the bytes in flight by Little's law."""
    return (metrics["goodput_bps"] or 0.0) * (metrics.get("path_rtt_s") or 0.0) / 8.0


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))

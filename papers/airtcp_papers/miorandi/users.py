"""Shared by items about web users: how scenarios vary, and how times are averaged.

A transfer ends with the last ACK at the server, as in the paper. With heavy tails, most noise of a
mean time comes from the drawn sizes. So the mean of each replication is scaled to the expected
packets per file, a ratio estimate of the same mean. Differences between two settings are estimated
by regression on the packets per file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from airtcp.results import Simulation
from airtcp.scenario import ResolvedScenario
from airtcp.stats import Interval, student_interval, student_quantile

from airtcp_papers.common.bench import Bench

TIME: Final = "transfer_time_to_last_ack_s"
MEAN_BYTES: Final = 30_000
LARGE: Final = 1000

#: The paper's size distributions, both with a mean of 30 kB.
PARETO: Final[Mapping[str, Any]] = {
    "flows.laptop.application.size": {"distribution": "pareto", "mean": "30 kB", "shape": 1.5}
}
EXPONENTIAL: Final[Mapping[str, Any]] = {
    "flows.laptop.application.size": {"distribution": "exponential", "mean": "30 kB"}
}

#: The dynamic scheme of paper M's reference [5]: [first segment, segments per ACK].
_DYNAMIC: Final = [[0, 1], [2, 2], [5, 3], [9, 4]]


@dataclass(frozen=True, slots=True)
class Users:
    """The web users of one simulation."""

    scenario: ResolvedScenario
    simulation: Simulation

    @property
    def _expected_packets(self) -> float:
        """Return the expected packets of a transfer under the size distribution."""
        (flow, *_) = self.scenario.flows
        if flow.application.kind != "web" or flow.tcp is None:
            raise ValueError("the first flow is not that of the web users")
        return float(flow.application.size.expected_segments(flow.tcp.mss_bytes))

    def _packets(self) -> list[float]:
        """Return the packets of a transfer in each replication; NaN without a transfer."""
        (flow, *_), run = self.scenario.flows, self.scenario.run
        assert flow.tcp is not None
        counted = []
        for one in self.simulation.runs:
            mine = [
                record
                for record in one.answer["flows"]
                if record["station"].startswith(flow.stations)
            ]
            bits = sum(record["goodput_bps"] for record in mine) * run.duration_ns / 1e9
            transfers = sum(record["transfers"] for record in mine)
            packets = bits / (8.0 * flow.tcp.mss_bytes)
            counted.append(packets / transfers if transfers else math.nan)
        return counted

    @property
    def times_s(self) -> list[float | None]:
        """Return the mean transfer time in each replication, scaled; None without a transfer."""
        expected = self._expected_packets
        times = [one.answer["metrics"][TIME] for one in self.simulation.runs]
        return [
            None if time is None else time * expected / packets
            for time, packets in zip(times, self._packets(), strict=True)
        ]

    def longer_than(self, other: Users) -> Interval:
        """Return how much longer a transfer takes than the same one of `other`, seconds.

        Both simulations have the same files. The effect of a file's size on the difference is
        nearly linear. So the mean differences of replications are regressed on packets per
        transfer, and evaluated at the expected number. This removes the noise of the drawn sizes
        from the interval. There must be no other stations than the web users.
        """
        import numpy as np

        pairs = zip(self.simulation.runs, other.simulation.runs, strict=True)
        y = np.array([a.answer["metrics"][TIME] - b.answer["metrics"][TIME] for a, b in pairs])
        x = np.array(self._packets()) - self._expected_packets
        n, spread = len(x), float(((x - x.mean()) ** 2).sum())
        if n < 3:
            return Interval(float(y.mean()), None, None, n)
        slope = float(((x - x.mean()) * (y - y.mean())).sum()) / spread
        mean = float(y.mean() - slope * x.mean())
        left = y - mean - slope * x
        error = (
            float((left**2).sum()) / (n - 2) * (1.0 / n + float(x.mean()) ** 2 / spread)
        ) ** 0.5
        half = student_quantile(self.simulation.confidence, n - 2) * error
        return Interval(mean, mean - half, mean + half, n)

    @property
    def time_s(self) -> Interval:
        """Return the mean transfer time, scaled, in seconds."""
        return student_interval(self.times_s, self.simulation.confidence)

    def over(self, other: Users) -> Interval:
        """Return the ratio of this mean time to another's, over pairs of replications."""
        pairs = zip(self.times_s, other.times_s, strict=True)
        return student_interval(
            [mine / its for mine, its in pairs if mine is not None and its is not None],
            self.simulation.confidence,
        )


def web(
    bench: Bench,
    stations: int,
    window: int,
    *variations: Mapping[str, Any],
    file: str = "web",
    quick: Mapping[str, Any] | None = None,
) -> Users:
    """Simulate web users: their number, advertised window in packets, and further varied keys.

    `quick` gives the keys of a short run if it differs from the default.
    """
    changes: dict[str, Any] = {
        "stations.laptop.count": stations,
        "flows.laptop.tcp.receive_window.segments": window,
    }
    for variation in variations:
        changes |= variation
    return Users(bench.scenario(file, changes, quick), bench.simulate(file, changes, quick=quick))


def every(d: int, timeout: str) -> dict[str, Any]:
    """Return the keys for an ACK every d segments; the first window is d segments, as in M."""
    return {
        "flows.laptop.tcp.delayed_ack": {"every": d, "timeout": timeout},
        "flows.laptop.tcp.initial_window": d,
    }


def dynamic(timeout: str) -> dict[str, Any]:
    """Return the keys for the dynamic scheme."""
    return {"flows.laptop.tcp.delayed_ack": {"thresholds": _DYNAMIC, "timeout": timeout}}


def acks(values: Mapping[str, float]) -> dict[str, Any]:
    """Return the keys of an ACK for every `acks` segments, or of the dynamic scheme for 0."""
    return every(int(values["acks"]), "40 ms") if values["acks"] else dynamic("40 ms")

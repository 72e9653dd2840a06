"""What the items about web users share: how the scenario is varied, and how times are averaged.

Times run to the last ACK at the server, the paper's clock. With heavy tails most of the noise of a
mean time is that of the sizes that were drawn, so the mean of each replication is scaled to the
expected number of packets of a file: a ratio estimate of the same mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from airtcp.reproduce.bench import Bench
from airtcp.results import Simulation
from airtcp.scenario import ResolvedScenario
from airtcp.stats import Interval, student_interval

TIME: Final = "transfer_time_to_last_ack_s"
MEAN_BYTES: Final = 30_000
LARGE: Final = 1000

#: The laws of sizes of the paper, both with a mean of 30 kB.
PARETO: Final[Mapping[str, Any]] = {
    "flows.laptop.application.size": {"distribution": "pareto", "mean": "30 kB", "shape": 1.5}
}
EXPONENTIAL: Final[Mapping[str, Any]] = {
    "flows.laptop.application.size": {"distribution": "exponential", "mean": "30 kB"}
}

#: The dynamic scheme of paper M's reference [5]: from which segment on how many for an ACK.
_DYNAMIC: Final = [[0, 1], [2, 2], [5, 3], [9, 4]]


@dataclass(frozen=True, slots=True)
class Users:
    """The web users of one simulation."""

    scenario: ResolvedScenario
    simulation: Simulation

    @property
    def times_s(self) -> list[float | None]:
        """The mean time of a transfer in each replication, scaled; None without a transfer."""
        (flow, *_), run = self.scenario.flows, self.scenario.run
        if flow.application.kind != "web" or flow.tcp is None:
            raise ValueError("the first flow is not that of the web users")
        mss_bytes = flow.tcp.mss_bytes
        expected = flow.application.size.expected_segments(mss_bytes)
        scaled: list[float | None] = []
        for one in self.simulation.runs:
            mine = [
                record
                for record in one.answer["flows"]
                if record["station"].startswith(flow.stations)
            ]
            bits = sum(record["goodput_bps"] for record in mine) * run.duration_ns / 1e9
            transfers = sum(record["transfers"] for record in mine)
            time = one.answer["metrics"][TIME]
            packets = bits / (8.0 * mss_bytes)
            scaled.append(None if time is None else time * expected * transfers / packets)
        return scaled

    @property
    def time_s(self) -> Interval:
        """The mean time of a transfer, seconds."""
        return student_interval(self.times_s, self.simulation.confidence)

    @property
    def plain_time_s(self) -> Interval:
        """The mean time of a transfer as it was measured, not scaled."""
        return self.simulation.metrics[TIME]

    def over(self, other: Users) -> Interval:
        """The ratio of this mean time to another's, over pairs of replications."""
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
) -> Users:
    """Web users: how many, their advertised window in packets, and further keys that are varied."""
    changes: dict[str, Any] = {
        "stations.laptop.count": stations,
        "flows.laptop.tcp.receive_window.segments": window,
    }
    for variation in variations:
        changes |= variation
    return Users(bench.scenario(file, changes), bench.simulate(file, changes))


def every(d: int, timeout: str) -> dict[str, Any]:
    """The keys for an ACK every d segments; the first window is d segments, as in the paper."""
    return {
        "flows.laptop.tcp.delayed_ack": {"every": d, "timeout": timeout},
        "flows.laptop.tcp.initial_window": d,
    }


def dynamic(timeout: str) -> dict[str, Any]:
    """The keys for the dynamic scheme."""
    return {"flows.laptop.tcp.delayed_ack": {"thresholds": _DYNAMIC, "timeout": timeout}}

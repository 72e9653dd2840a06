"""Measure points of paper H with this machine's kernel TCP, ProFTPD and FTP clients.

It selects the paper's points for `airtcp testbed`, compares runs of a minute with simulations of
hours, and evaluates the models with the counted packets. Real time and a real kernel give different
numbers each time, and none on a machine without testbed support. Measurements are kept like
simulations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
from airtcp.results.testbed import TestbedResult
from airtcp.run.simulate import simulate
from airtcp.scenario import Scenario
from airtcp.stats import Interval, student_interval

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.measure import mean
from airtcp_papers.common.store import code_digest, key_of
from airtcp_papers.hoekstra.exchanges import Packets, packets_of
from airtcp_papers.hoekstra.model import Parameters, effective_service_time
from airtcp_papers.hoekstra.testbed import (
    LAWS,
    STATED,
    FloatArray,
    Point,
    every,
    gaps,
    mean_size,
    observe,
    tail,
)

#: The client of paper H with the kernel's TCP: windows of six segments, as in Table II.
LINUX: Final[Mapping[str, Any]] = {
    "flows.client.tcp": {
        "preset": "linux",
        "congestion": "reno",
        "mss": "1460 B",
        "receive_window": "8760 B",
        "timestamps": False,
        "window_scaling": False,
    }
}
#: Two laws of sizes, and three of the eight loads, including the stated one. Linux has no
#: measurable mean at the two heaviest: now and then more than 80 downloads are in progress, round
#: trips exceed the first timeout of 1 s, and spurious retransmissions keep it so for long.
REAL_LAWS: Final = ("exponential", "hyperexponential")
REAL_PLACES: Final = (0, STATED, 5)
CONFIDENCE: Final = 0.95
#: A run with late packets is measured once again; the one with less lateness counts.
_MOST_RUNS: Final = 2
#: At the third load one of seven simulations has spurious timeouts, which weigh heavily.
_OFTEN: Final = 40
#: Files of 1 MB take five times as long.
_RUN: Final = {"run.warmup": "6 s", "run.duration": "30 s", "run.replications": 4}
_LONG_RUN: Final = {"run.warmup": "20 s", "run.duration": "100 s", "run.replications": 4}
_QUICK: Final = {"run.duration": "10 s", "run.replications": 3}
#: IP and TCP headers, and the first bytes on a control connection.
_SNAPLEN: Final = 80
_MSS_BYTES: Final = 1460


@dataclass(frozen=True)
class Both:
    """One run of the testbed, and the simulation of the same transfers."""

    real_s: float
    simulated_s: float
    real_times_s: FloatArray
    simulated_times_s: FloatArray
    real_active: Sequence[float]
    simulated_active: Sequence[float]
    late_p99_s: float
    trusted: bool
    packets: Packets


@dataclass(frozen=True)
class RealPoint:
    """A law at one load: a long simulation, and testbed runs of half a minute with several seeds.

    Half a minute has a few hundred transfers, whose random times and sizes add noise. The
    simulation of the same transfers has the same noise. The difference between the testbed and that
    simulation, added to the long simulation, is free of most of it.
    """

    point: Point
    runs: tuple[Both, ...]

    @property
    def over_simulation(self) -> Interval:
        """The testbed's mean transfer time over that of the simulation of its transfers."""
        ratios = [one.real_s / one.simulated_s for one in self.runs]
        return student_interval(ratios, CONFIDENCE)

    @property
    def mean_s(self) -> Interval:
        """The testbed's mean transfer time, scaled to the long simulation."""
        ratio, long = self.over_simulation, self.point.adjusted
        middle = mean(ratio) * mean(long)
        if ratio.half_width is None or long.half_width is None:
            return Interval(middle, None, None, ratio.n)
        parts = (ratio.half_width / mean(ratio), long.half_width / mean(long))
        half = middle * float(np.hypot(*parts))
        return Interval(middle, middle - half, middle + half, ratio.n)

    def tail(self, at: FloatArray) -> list[Interval]:
        """Return P(R > t) of the testbed at each t, adjusted to the long simulation."""
        more = np.array(
            [
                _share_above(one.real_times_s, at) - _share_above(one.simulated_times_s, at)
                for one in self.runs
            ]
        )
        return _onto(self.long_tail(at), more)

    def long_tail(self, at: FloatArray) -> list[float]:
        """Return P(R > t) of the long simulation."""
        times = [run.transfer_times_s for run in self.point.packets.runs]
        return [mean(value) for value in tail(times, at, CONFIDENCE)]

    def at_least(self, numbers: Sequence[int]) -> list[Interval]:
        """Return P(N >= n) of the testbed at each n, adjusted to the long simulation."""
        more = np.array(
            [
                _at_least(one.real_active, numbers) - _at_least(one.simulated_active, numbers)
                for one in self.runs
            ]
        )
        return _onto(self.long_at_least(numbers), more)

    def long_at_least(self, numbers: Sequence[int]) -> list[float]:
        """Return P(N >= n) of the long simulation."""
        runs = [run.answer["active_flows_distribution"] for run in self.point.packets.runs]
        found: list[float] = np.mean([_at_least(one, numbers) for one in runs], axis=0).tolist()
        return found

    @property
    def packets(self) -> Packets:
        """The counts of all runs."""
        return Packets.together([one.packets for one in self.runs])

    def refined_s(self, *, further: bool = True) -> float:
        """Return (29) of the refined model with the counted ACKs, in seconds.

        It uses the segments per ACK and, with `further`, the packets without data that are not in
        the paper's dialogue.
        """
        counted = self.packets
        parameters = replace(
            Parameters.testbed(),
            segments_per_ack=counted.segments_per_ack,
            further_acks=max(0.0, counted.further) if further else 0.0,
        )
        service = effective_service_time(mean_size(self.point.law), parameters)
        beta_s = float(service.est_with_beacons_s)
        return beta_s / (1.0 - beta_s / self.point.gap_s)

    @property
    def trusted(self) -> int:
        """The number of trustworthy runs."""
        return sum(one.trusted for one in self.runs)

    @property
    def late_p99_s(self) -> float:
        """The 99th percentile of packet lateness, in the run where it is largest."""
        return max(one.late_p99_s for one in self.runs)


def _share_above(times_s: FloatArray, at: FloatArray) -> FloatArray:
    share: FloatArray = 1.0 - np.searchsorted(np.sort(times_s), at, side="right") / times_s.size
    return share


def _at_least(distribution: Sequence[float], numbers: Sequence[int]) -> FloatArray:
    return np.array([float(sum(distribution[n:])) for n in numbers])


def _onto(long: Sequence[float], more: FloatArray) -> list[Interval]:
    """Add differences by run and point to the long simulation."""
    return [
        student_interval((base + column).tolist(), CONFIDENCE)
        for base, column in zip(long, more.T, strict=True)
    ]


def measured(bench: Bench, law: str, place: int = STATED) -> RealPoint:
    """Measure a law at one of the eight loads.

    Raises QuestionError if this machine does not support a testbed, SimulationError if a program
    fails.
    """
    _see_that_there_is_one(bench)
    gap_s = gaps(law)[place]
    is_long = mean_size(law) > 200e3
    varied = dict(LINUX) if is_long else {**LINUX, "run.replications": _OFTEN}
    point = observe(bench, law, gap_s, varied=varied, transfer_times=place == STATED)
    scenario = bench.scenario(
        "downloads",
        {
            **LINUX,
            **every(gap_s),
            "flows.client.application.size": LAWS[law],
            **(_LONG_RUN if is_long else _RUN),
        },
        _QUICK,
    )
    seeds = range(scenario.run.seed, scenario.run.seed + (scenario.run.replications or 1))
    return RealPoint(point, tuple(_both(bench, scenario.with_run(seed=seed)) for seed in seeds))


def _see_that_there_is_one(bench: Bench) -> None:
    """Check for a testbed before anything is simulated. Raises QuestionError."""
    from airtcp.testbed.network import Network, check_machine
    from airtcp.testbed.site import site_of
    from airtcp.testbed.transfers import Ftp

    check_machine(Ftp.packages)
    with Network(site_of(bench.scenario("downloads", LINUX), name="downloads").nodes):
        pass


def _both(bench: Bench, scenario: Scenario) -> Both:
    code = code_digest("airtcp.testbed", "airtcp_papers.hoekstra.exchanges")
    key = key_of("testbed", code, scenario.hash())
    kept = bench.finished.answer(key, lambda: _real(bench, scenario))
    simulated = simulate(scenario, replications=1, threads=1).simulation.runs[0]
    return Both(
        real_s=kept["mean_s"],
        simulated_s=simulated.answer["metrics"]["transfer_time_s"],
        real_times_s=np.array(kept["times_s"]),
        simulated_times_s=simulated.transfer_times_s,
        real_active=kept["active"],
        simulated_active=simulated.answer["active_flows_distribution"],
        late_p99_s=kept["late_p99_s"],
        trusted=kept["trusted"],
        packets=Packets(**kept["packets"]),
    )


def _real(bench: Bench, scenario: Scenario) -> dict[str, Any]:
    """Return the stored results of a testbed run."""
    from airtcp.testbed.bench import measure

    def tell(share: float, _: Mapping[str, Any]) -> None:
        if bench.on_run is not None:
            bench.on_run(share)

    warmup_s = (scenario.run.warmup_ns or 0) / 1e9
    results: list[tuple[TestbedResult, Packets]] = []
    while len(results) < _MOST_RUNS and not (results and results[-1][0].lag.trusted):
        with TemporaryDirectory() as folder:
            capture = Path(folder, "nodes.pcapng")
            result = measure(
                scenario, name="downloads", progress=tell, pcap=capture, snaplen=_SNAPLEN
            )
            results.append((result, packets_of(capture, warmup_s, _MSS_BYTES)))
    best, packets = min(results, key=lambda one: (not one[0].lag.trusted, one[0].lag.share_above))
    run = best.testbed.runs[0]
    return {
        "mean_s": run.answer["metrics"]["transfer_time_s"],
        "times_s": run.transfer_times_s.tolist(),
        "active": run.answer["active_flows_distribution"],
        "late_p99_s": best.lag.p99_s,
        "trusted": best.lag.trusted,
        "packets": asdict(packets),
    }

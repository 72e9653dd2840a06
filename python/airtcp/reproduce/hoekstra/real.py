"""Paper H, Fig. 1 to 3 and 5, with the TCP of this machine's kernel, ProFTPD and clients of FTP.

Knows which of the paper's points the testbed of `airtcp testbed` measures, and how runs of a minute
are set beside simulations of hours. Real time and a real kernel: other numbers each time, and none
where there can be no testbed. What was measured is kept as simulations are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from airtcp.models.processor_sharing import sojourn_tail
from airtcp.reproduce.bench import Bench
from airtcp.reproduce.chart import Series, chart, table_of
from airtcp.reproduce.hoekstra.testbed import (
    LAWS,
    STATED,
    FloatArray,
    Point,
    gaps,
    observe,
    service_s,
    tail,
)
from airtcp.reproduce.item import Data, Outcome, Value, item
from airtcp.reproduce.measure import changed, mean
from airtcp.results.store import code_digest, key_of
from airtcp.results.testbed import TestbedResult
from airtcp.run.simulate import simulate
from airtcp.scenario import Scenario
from airtcp.stats import Interval, student_interval

__all__ = ["LINUX", "REAL_LAWS", "REAL_PLACES"]

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
#: Two laws of sizes, and three of the eight loads, the stated one among them. At the heaviest two
#: no mean of Linux is to be measured: now and then more than 80 downloads are in progress, round
#: trips take longer than the first timeout of 1 s, and what is sent in vain keeps it so for long.
REAL_LAWS: Final = ("exponential", "hyperexponential")
REAL_PLACES: Final = (0, STATED, 5)
_CONFIDENCE: Final = 0.95
#: A run that came too late is measured once again; the one that was less late counts.
_MOST_RUNS: Final = 2
_MOST_FLOWS: Final = 15


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


@dataclass(frozen=True)
class RealPoint:
    """A law at one load: simulated for long, and measured for half a minute with several seeds.

    Half a minute has some hundred transfers, and the noise of their times and sizes is in all that
    is measured; it is in the simulation of the same transfers, too. What the testbed has over that
    simulation, put onto the long simulation, is free of most of it.
    """

    point: Point
    runs: tuple[Both, ...]

    @property
    def over_simulation(self) -> Interval:
        """The mean transfer time of the testbed over that of the simulation of its transfers."""
        ratios = [one.real_s / one.simulated_s for one in self.runs]
        return student_interval(ratios, _CONFIDENCE)

    @property
    def mean_s(self) -> Interval:
        """The mean transfer time of the testbed, as over the time of the long simulation."""
        ratio, long = self.over_simulation, self.point.adjusted
        middle = mean(ratio) * mean(long)
        if ratio.half_width is None or long.half_width is None:
            return Interval(middle, None, None, ratio.n)
        parts = (ratio.half_width / mean(ratio), long.half_width / mean(long))
        half = middle * float(np.hypot(*parts))
        return Interval(middle, middle - half, middle + half, ratio.n)

    def tail(self, at: FloatArray) -> list[Interval]:
        """P(R > t) of the testbed at each t, put onto the long simulation."""
        more = np.array(
            [
                _share_above(one.real_times_s, at) - _share_above(one.simulated_times_s, at)
                for one in self.runs
            ]
        )
        return _onto(self.long_tail(at), more)

    def long_tail(self, at: FloatArray) -> list[float]:
        """P(R > t) of the long simulation."""
        times = [run.transfer_times_s for run in self.point.packets.runs]
        return [mean(value) for value in tail(times, at, _CONFIDENCE)]

    def at_least(self, numbers: Sequence[int]) -> list[Interval]:
        """P(N >= n) of the testbed at each n, put onto the long simulation."""
        more = np.array(
            [
                _at_least(one.real_active, numbers) - _at_least(one.simulated_active, numbers)
                for one in self.runs
            ]
        )
        return _onto(self.long_at_least(numbers), more)

    def long_at_least(self, numbers: Sequence[int]) -> list[float]:
        """P(N >= n) of the long simulation."""
        runs = [run.answer["active_flows_distribution"] for run in self.point.packets.runs]
        found: list[float] = np.mean([_at_least(one, numbers) for one in runs], axis=0).tolist()
        return found

    @property
    def trusted(self) -> int:
        """How many of the runs are to be trusted."""
        return sum(one.trusted for one in self.runs)

    @property
    def late_p99_s(self) -> float:
        """So late were 99 % of the packets at most, in the run that was latest."""
        return max(one.late_p99_s for one in self.runs)


def _share_above(times_s: FloatArray, at: FloatArray) -> FloatArray:
    share: FloatArray = 1.0 - np.searchsorted(np.sort(times_s), at, side="right") / times_s.size
    return share


def _at_least(distribution: Sequence[float], numbers: Sequence[int]) -> FloatArray:
    return np.array([float(sum(distribution[n:])) for n in numbers])


def _onto(long: Sequence[float], more: FloatArray) -> list[Interval]:
    """Differences by run and point, put onto what was simulated for long."""
    return [
        student_interval((base + column).tolist(), _CONFIDENCE)
        for base, column in zip(long, more.T, strict=True)
    ]


def measured(bench: Bench, law: str, place: int) -> RealPoint:
    """A law at one of the eight loads.

    Raises QuestionError if this machine can have no testbed, SimulationError if a program fails.
    """
    _see_that_there_is_one(bench)
    gap_s = gaps(law)[place]
    point = observe(bench, law, gap_s, varied=LINUX, transfer_times=place == STATED)
    scenario = bench.scenario(
        "downloads",
        {
            **LINUX,
            "flows.client.application.interarrival": {
                "distribution": "exponential",
                "mean": f"{gap_s} s",
            },
            "flows.client.application.size": LAWS[law],
            "run.warmup": "6 s",
            "run.duration": "30 s",
            "run.replications": 4,
        },
        {"run.duration": "10 s", "run.replications": 3},
    )
    seeds = range(scenario.run.seed, scenario.run.seed + (scenario.run.replications or 1))
    return RealPoint(point, tuple(_both(bench, scenario.with_run(seed=seed)) for seed in seeds))


def _see_that_there_is_one(bench: Bench) -> None:
    """Before anybody waits for a simulation. Raises QuestionError."""
    from airtcp.testbed.network import Network, check_machine
    from airtcp.testbed.site import site_of
    from airtcp.testbed.transfers import Ftp

    check_machine(Ftp.packages)
    with Network(site_of(bench.scenario("downloads", LINUX), name="downloads").nodes):
        pass


def _both(bench: Bench, scenario: Scenario) -> Both:
    code = code_digest("airtcp.testbed.bench", follow=("testbed",))
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
    )


def _real(bench: Bench, scenario: Scenario) -> dict[str, Any]:
    """What is kept of a run of the testbed."""
    from airtcp.testbed.bench import measure

    def tell(share: float, _: Mapping[str, Any]) -> None:
        if bench.on_run is not None:
            bench.on_run(share)

    results: list[TestbedResult] = []
    while len(results) < _MOST_RUNS and not (results and results[-1].lag.trusted):
        results.append(measure(scenario, name="downloads", progress=tell))
    best = min(results, key=lambda one: (not one.lag.trusted, one.lag.share_above))
    run = best.testbed.runs[0]
    return {
        "mean_s": run.answer["metrics"]["transfer_time_s"],
        "times_s": run.transfer_times_s.tolist(),
        "active": run.answer["active_flows_distribution"],
        "late_p99_s": best.lag.p99_s,
        "trusted": best.lag.trusted,
    }


def _trust(points: Sequence[RealPoint]) -> str:
    """How far the runs are to be trusted, in a sentence."""
    runs = sum(len(one.runs) for one in points)
    late_us = 1e6 * max(one.late_p99_s for one in points)
    return (
        f"{sum(one.trusted for one in points)} of {runs} runs are to be trusted; 99 % of the "
        f"packets of the latest were at most {late_us:.0f} us late."
    )


@item(
    "H.testbed-means",
    title="Fig. 1 with real TCP: mean transfer times",
    caption="Mean time of an FTP download in units of beta_eff, against rho_eff, by the kernel's "
    "TCP, ProFTPD and clients of FTP over the simulated air in real time: the simulation of hours "
    "times what the testbed took for the same transfers over what they took in the simulation, of "
    "runs of half a minute. Beside it that simulation, with Linux at both ends, and the models.",
    states="Both models match a test bed of real machines that ran for 140 hours.",
)
def means(bench: Bench) -> Outcome:
    points = {law: [measured(bench, law, place) for place in REAL_PLACES] for law in REAL_LAWS}
    rhos = np.linspace(points[REAL_LAWS[0]][0].point.rho, points[REAL_LAWS[0]][-1].point.rho, 25)
    refined, basic = (
        service_s("exponential"),
        service_s("exponential", model="basic", beacons=False),
    )
    series = [
        Series("refined model (29)", rhos.tolist(), (1.0 / (1.0 - rhos)).tolist(), "model", 0),
        Series("basic model", rhos.tolist(), _basic(rhos, refined, basic), "dotted", 1),
    ]
    for number, (law, mine) in enumerate(points.items(), 2):
        at = [one.point.rho for one in mine]
        simulated: list[Value] = [_scaled(one.point.adjusted) for one in mine]
        series.append(Series(f"{law}, simulation", at, simulated, "simulation", number))
    for number, (law, mine) in enumerate(points.items(), 2):
        at = [one.point.rho for one in mine]
        real: list[Value] = [_scaled(one.mean_s) for one in mine]
        series.append(Series(f"{law}, testbed", at, real, "points", number))
    every = [one for mine in points.values() for one in mine]
    x, y = "effective load rho_eff", "E[R] / beta_eff"
    return Outcome(
        data=_rows(points),
        found="So much longer than the simulation of the same transfers the testbed takes: "
        + "; ".join(
            f"{law} "
            + ", ".join(
                f"{_percent(one.over_simulation)} (rho_eff {one.point.rho:.2f})" for one in mine
            )
            for law, mine in points.items()
        )
        + f". {_trust(every)}",
        values={
            f"over_simulation_{law}_{place + 1}": one.over_simulation
            for law, mine in points.items()
            for place, one in zip(REAL_PLACES, mine, strict=True)
        },
        figure=chart(series, x=x, y=y, from_zero=True, columns=2),
    )


def _basic(rhos: FloatArray, refined_s: float, basic_s: float) -> list[float]:
    """(29) of the basic model at loads of the refined one, in units of its beta_eff."""
    gaps_s = refined_s / rhos
    found: list[float] = (basic_s / (1.0 - basic_s / gaps_s) / refined_s).tolist()
    return found


def _scaled(value: Interval) -> Interval:
    unit_s = service_s("exponential")
    return changed(value, lambda time_s: time_s / unit_s)


def _percent(ratio: Interval) -> str:
    """A ratio less one."""
    half = "" if ratio.half_width is None else f" ± {100 * ratio.half_width:.1f}"
    return f"{100 * (mean(ratio) - 1):+.1f}{half} %"


def _rows(points: Mapping[str, Sequence[RealPoint]]) -> Data:
    """The numbers of the figure, a point a row."""
    columns = ["sizes", "1/lambda (s)", "rho_eff", "basic model (s)", "refined model (s)"]
    columns += ["simulation (s)", "low", "high", "testbed (s)", "low ", "high "]
    columns += ["testbed / simulation of its transfers", "low  ", "high  "]
    columns += ["runs", "trusted", "99 % of packets late by at most (us)"]
    rows = []
    for law, mine in points.items():
        for one in mine:
            basic = service_s(law, model="basic", beacons=False)
            basic_s = basic / (1.0 - basic / one.point.gap_s)
            long, real, ratio = one.point.adjusted, one.mean_s, one.over_simulation
            rows.append(
                [
                    *(law, one.point.gap_s, one.point.rho, basic_s, one.point.model_s),
                    *(long.mean, long.low, long.high, real.mean, real.low, real.high),
                    *(ratio.mean, ratio.low, ratio.high),
                    *(len(one.runs), one.trusted, 1e6 * one.late_p99_s),
                ]
            )
    return Data(columns, rows)


@item(
    "H.testbed-tails",
    title="Fig. 2 and 3 with real TCP: tails of transfer times",
    caption="Probability that a download takes longer than t, exponential and hyperexponential "
    "sizes, one every 0.40 s: dotted lines are the simulation of hours with Linux at both ends, "
    "markers that and what the testbed has over the simulation of its own transfers; the line is "
    "(26) of the refined model, which is for exponential sizes.",
    states="Model and test bed are extremely close for exponential sizes, and match closely for "
    "hyperexponential ones.",
)
def tails(bench: Bench) -> Outcome:
    points = {law: measured(bench, law, STATED) for law in REAL_LAWS}
    at = np.linspace(0.0, 8.0, 33)
    first = points[REAL_LAWS[0]].point
    model = np.asarray(sojourn_tail(at, first.rho, first.beta_s)).tolist()
    series = [Series("(26), exponential", at.tolist(), model, "model", 0)]
    apart = {}
    for number, (law, one) in enumerate(points.items(), 2):
        # Two laws are not marked at the same times.
        places = slice(number - 1, None, 3)
        real, simulated = one.tail(at), one.long_tail(at)
        apart[law] = _farthest(real, simulated)
        series += [
            Series(f"{law}, simulation", at.tolist(), simulated, "dotted", number),
            Series(f"{law}, testbed", at[places].tolist(), list(real[places]), "points", number),
        ]
    x, y = "t (s)", "P(R > t)"
    return Outcome(
        data=table_of(series, x=x, y=y),
        found=_found(points, apart),
        values={f"apart_{law}": value for law, value in apart.items()},
        figure=chart(series, x=x, y=y, x_limits=(0.0, 8.0), y_limits=(0.0, 1.02), columns=2),
    )


@item(
    "H.testbed-number",
    title="Fig. 5 with real TCP: downloads in progress",
    caption="Probability that at least n downloads are in progress with one every 0.40 s: dotted "
    "lines are the simulation of hours with Linux at both ends, markers that and what the testbed "
    "has over the simulation of its own transfers; the line is rho_eff^n of (30).",
    states="The number is nearly geometric with rho_eff, whatever the law of sizes.",
)
def numbers(bench: Bench) -> Outcome:
    points = {law: measured(bench, law, STATED) for law in REAL_LAWS}
    at = list(range(_MOST_FLOWS + 1))
    rho = points[REAL_LAWS[0]].point.rho
    series = [Series("(30)", at, [rho**n for n in at], "model", 0)]
    apart = {}
    for number, (law, one) in enumerate(points.items(), 2):
        real, simulated = one.at_least(at), one.long_at_least(at)
        apart[law] = _farthest(real, simulated)
        series += [
            Series(f"{law}, simulation", at, simulated, "dotted", number),
            Series(
                f"{law}, testbed",
                at[number - 1 :: 2],
                list(real[number - 1 :: 2]),
                "points",
                number,
            ),
        ]
    x, y = "downloads in progress n", "P(N >= n)"
    return Outcome(
        data=table_of(series, x="n", y=y),
        found=_found(points, apart),
        values={f"apart_{law}": value for law, value in apart.items()},
        figure=chart(series, x=x, y=y, y_limits=(0.0, 1.02), columns=2, whole_x=True),
    )


def _farthest(real: Sequence[Interval], simulated: Sequence[float]) -> float:
    """The largest distance of two curves, on the points that were looked at."""
    return max(abs(mean(one) - other) for one, other in zip(real, simulated, strict=True))


def _found(points: Mapping[str, RealPoint], apart: Mapping[str, float]) -> str:
    """How far the testbed is from the simulation of its transfers, in words."""
    count = {law: sum(run.real_times_s.size for run in one.runs) for law, one in points.items()}
    return (
        "Testbed and simulation of the same transfers are "
        + " and ".join(
            f"{value:.3f} apart at most ({law}, {count[law]} transfers)"
            for law, value in apart.items()
        )
        + f". {_trust(list(points.values()))}"
    )

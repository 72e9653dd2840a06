"""Reproduce paper H, section V: traffic split over two cells, at flow level.

Each cell is a processor-sharing server with beta_eff of the testbed; a download is assigned to one
of them and stays there. For comparison there is one server with the capacity of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from airtcp.distributions import Exponential
from airtcp.stats import Interval, student_interval

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.chart import Series
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.flows import processor_sharing
from airtcp_papers.common.item import Value
from airtcp_papers.common.measure import changed, least, most, off
from airtcp_papers.common.servers import concurrent_processor_sharing
from airtcp_papers.hoekstra.testbed import mean_size, service_s

_LAW: Final = "exponential"
#: The load of a cell if each takes half of the traffic.
_LOADS: Final = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9)
_JOBS: Final = 2_000_000
#: Quick runs: only at the heaviest load does the distance from the model need many jobs.
_QUICK_JOBS: Final = 150_000
_QUICK_HEAVY_JOBS: Final = 1_500_000
_REPLICATIONS: Final = 10
_SEED: Final = 1
_CELLS: Final = 2
_WAYS: Final = 3
_EVENTS_OF_A_JOB: Final = 2


@dataclass(frozen=True)
class Splits:
    """Mean transfer times by replication, in units of beta_eff, of the same downloads."""

    static: list[float]
    least: list[float]
    pooled: list[float]

    def interval(self, name: str) -> Interval:
        """Return the mean of one way to split."""
        return student_interval(getattr(self, name))

    def ratio(self, above: str, below: str) -> Interval:
        """Return the ratio of two ways, over pairs of replications."""
        pairs = zip(getattr(self, above), getattr(self, below), strict=True)
        return student_interval([one / other for one, other in pairs])


def split(bench: Bench, load: float, jobs: int | None = None) -> Splits:
    """Simulate two equal cells at this load each, and one pooled server; `jobs` per replication."""
    beta_s = service_s(_LAW)
    sizes, capacity = Exponential(mean=mean_size(_LAW)), mean_size(_LAW) / beta_s
    seed = _SEED if bench.settings.seed is None else bench.settings.seed
    quick = _QUICK_HEAVY_JOBS if load == _LOADS[-1] else _QUICK_JOBS
    jobs = jobs or (quick if bench.quick else _JOBS)
    replications = bench.settings.replications or bench.settings.times * _REPLICATIONS
    cells = [capacity] * _CELLS
    static, fewest = (
        concurrent_processor_sharing(
            sizes,
            capacities=cells,
            split=rule,
            load=load,
            jobs=jobs,
            seed=seed,
            replications=replications,
            threads=bench.settings.threads,
        ).sojourns_s
        for rule in ([1.0 / _CELLS] * _CELLS, "least")
    )
    pooled = processor_sharing(
        sizes,
        capacity=_CELLS * capacity,
        load=load,
        jobs=jobs,
        seed=seed,
        replications=replications,
        threads=bench.settings.threads,
    )
    bench.events += _EVENTS_OF_A_JOB * _WAYS * jobs * replications
    return Splits(
        [time_s / beta_s for time_s in static],
        [time_s / beta_s for time_s in fewest],
        [run.answer["mean_sojourn_s"] / beta_s for run in pooled.runs],
    )


def split_at_random(*, share: float = 0.5) -> list[Series]:
    """Return the mean time over beta_eff if one cell gets `share` of the downloads.

    The other cell gets the rest, and both are independent processor sharing. The result is over the
    mean load of both, as long as both are stable.
    """
    parts = (share, 1.0 - share)
    loads = [load for load in _LOADS if _CELLS * load * max(parts) < 1.0]
    means = [sum(part / (1.0 - _CELLS * load * part) for part in parts) for load in loads]
    label = "1 / (1 - load), each cell" if share == 0.5 else f"{100 * share:g} % to one cell"
    return [Series(label, loads, means, "model")]


@item("H.concurrent")
def concurrent(bench: Bench) -> Found:
    points = {load: split(bench, load) for load in _LOADS}
    ways = {
        "static": "split at random",
        "least": "to the fewest downloads",
        "pooled": "one server of both",
    }
    series = split_at_random()
    for name, label in ways.items():
        values: list[Value] = [one.interval(name) for one in points.values()]
        series.append(Series(label, _LOADS, values, "simulation"))
    # One cell with all the traffic of two cells at load 0.4 each: 0.8, by (29).
    alone = 1.0 / (1.0 - _CELLS * 0.4)
    spread = changed(split(bench, 0.4).interval("static"), lambda time: time / alone)
    gain = [one.ratio("least", "static") for one in points.values()]
    beyond = [one.ratio("least", "pooled") for one in points.values()]
    return Found(
        series,
        values={
            "static_over_one": spread,
            "least_over_static": most(gain),
            "least_over_pooled": least(beyond),
            "static_off": most(
                off(one.interval("static"), 1.0 / (1.0 - load)) for load, one in points.items()
            ),
        },
        told={"gain": gain, "loads": _LOADS, "beyond": beyond},
    )

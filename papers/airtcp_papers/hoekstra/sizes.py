"""Reproduce paper H, (25): transfer time by file size."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from airtcp.run.simulate import simulate
from airtcp.stats import student_interval
from numpy.typing import NDArray

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.chart import Series
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.flows import processor_sharing
from airtcp_papers.common.item import Value
from airtcp_papers.common.measure import most, off, words
from airtcp_papers.hoekstra.testbed import (
    LAWS,
    STATED,
    FloatArray,
    every,
    gaps,
    mean_size,
    service_of,
    service_s,
)

#: Upper ends of the size classes in bytes; the last class has all larger files.
_ENDS: Final = (10e3, 25e3, 50e3, 100e3, 200e3, 400e3, 800e3)
_LAW: Final = "exponential"
#: Smaller files count as short: a tenth of the mean.
_SHORT: Final = 25e3
#: Jobs of a replication of processor sharing.
_JOBS: Final = 200_000


def _means(size: NDArray[Any], time: FloatArray) -> list[list[float]]:
    """Return the mean size and the mean time of each class of sizes."""
    place = np.searchsorted(_ENDS, size, side="right")
    return [
        [float(some[place == one].mean()) for some in (size, time)] for one in range(len(_ENDS) + 1)
    ]


@item("H.sizes")
def sizes(bench: Bench) -> Found:
    gap_s, beta_s = gaps(_LAW)[STATED], service_s(_LAW, beacons=False)
    keys = {"flows.client.application.size": LAWS[_LAW], **every(gap_s)}
    scenario = bench.scenario("downloads", keys)

    def by_class() -> Any:
        table = simulate(scenario, threads=bench.settings.threads, transfers=True)
        means = []
        for run in table.simulation.runs:
            # Transfers were requested.
            assert run.transfers is not None
            means.append(_means(run.transfers.size_bytes, run.transfers.time_s))
        return means

    def jobs_by_class() -> Any:
        application = scenario.flows[0].application
        assert application.kind == "ftp"
        shared = processor_sharing(
            application.size,
            capacity=mean_size(_LAW) / beta_s,
            arrival_rate=1.0 / gap_s,
            jobs=_JOBS,
            seed=scenario.run.seed,
            threads=bench.settings.threads,
            keep_jobs=True,
        )
        return [_means(run.sizes, run.sojourns_s) for run in shared.runs]

    found = np.array(bench.kept("sizes", by_class, scenario.hash()))
    jobs = np.array(bench.kept("jobs of sizes", jobs_by_class, scenario.hash()))
    kilobytes = (found[:, :, 0].mean(axis=0) / 1e3).tolist()
    alone = np.vectorize(lambda size: service_of(size, beacons=False))
    shared = alone(found[:, :, 0]) / (1.0 - beta_s / gap_s)
    over = [student_interval(ratios) for ratios in (found[:, :, 1] / shared).T]
    # In processor sharing a job of a size alone takes beta_eff times its part of the mean size.
    linear = beta_s * jobs[:, :, 0] / mean_size(_LAW) / (1.0 - beta_s / gap_s)
    of_jobs = [student_interval(ratios) for ratios in (jobs[:, :, 1] / linear).T]
    times: list[Value] = [student_interval(runs[:, 1]) for runs in found.swapaxes(0, 1)]
    series = [
        Series("(25)", kilobytes, shared.mean(axis=0).tolist(), "model", 0),
        Series("packets", kilobytes, times, "simulation", 1),
    ]
    short = [one for one, end in zip(over, _ENDS, strict=False) if end <= _SHORT]
    return Found(
        series,
        values={
            "off": most(map(off, over)),
            "linear_off": most(map(off, of_jobs)),
            "short": most(short),
            "long_off": off(over[-1]),
        },
        told={"each": ", ".join(words(one) for one in over)},
    )

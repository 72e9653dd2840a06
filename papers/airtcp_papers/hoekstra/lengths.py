"""Reproduce paper H, section IV: how well 40,000 files of a law determine a mean.

It uses processor sharing of jobs, and samples of sizes.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

import numpy as np
from airtcp import distributions
from airtcp.stats import Interval, student_interval

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.chart import table_with_ends
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.flows import processor_sharing
from airtcp_papers.common.item import Cell, Data, Value
from airtcp_papers.common.measure import mean, most
from airtcp_papers.hoekstra.testbed import LAWS, gaps, service_s

_FILES: Final = 40_000
_SAMPLES: Final = 400
_MEAN: Final = 200e3
#: P(B > x) = 1 / (4 x^2) from half the mean on.
_SHAPE: Final = 2.0
_HYPEREXPONENTIAL_SCV: Final = 4.0
#: The most observations of a run, and the hours that the longest took.
_OBSERVATIONS: Final = 1_450_000
_RUNS: Final = 40
_QUICK_RUNS: Final = 15
_HALF_WIDTHS: Final = 1.96
_LAWS: Final = ("exponential", "hyperexponential", "Pareto-2, 40,000 files")


def samples(seed: int, count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Draw lists of 40,000 Pareto-2 file sizes in bytes: one row per list."""
    random = np.random.default_rng(seed)
    drawn = _MEAN / _SHAPE * (1.0 + random.pareto(_SHAPE, (count, _FILES)))
    return np.asarray(drawn, dtype=np.float64)


@item("H.files")
def files(bench: Bench) -> Found:
    drawn = samples(bench.settings.seed or 1, _SAMPLES)
    means = drawn.mean(axis=1)
    varied = drawn.var(axis=1) / means**2
    laws = [_law(bench, name).scv() for name in LAWS]
    off = student_interval(np.abs(means / _MEAN - 1.0).tolist())
    above = student_interval((varied > _HYPEREXPONENTIAL_SCV).astype(float).tolist())
    quartiles = np.quantile(varied, (0.25, 0.5, 0.75))
    rows: list[list[Cell]] = [
        [f"squared coefficient of variation of the law: {name}", scv]
        for name, scv in zip(LAWS, laws, strict=True)
        if np.isfinite(scv)
    ]
    rows += [
        ["distance of a list's mean size from 200 kB, mean", mean(off)],
        ["squared coefficient of variation, median of lists", float(quartiles[1])],
        ["the same, lower quartile", float(quartiles[0])],
        ["the same, upper quartile", float(quartiles[2])],
        ["share of lists that vary more than the hyperexponential law", mean(above)],
    ]
    return Found(
        data=Data(["what", "value"], rows),
        values={
            "mean_off": off,
            "more_varied": above,
            # A step to infinity is a step.
            "least_step": min(more - less for less, more in pairwise(laws)),
        },
        told={
            "scvs": ", ".join(f"{scv:g}" for scv in laws),
            "quartiles": quartiles,
            "samples": _SAMPLES,
        },
    )


@item("H.intervals")
def intervals(bench: Bench) -> Found:
    gap_s, beta_s = gaps("exponential")[-1], service_s("exponential", beacons=False)

    def run() -> Any:
        return [[float(time) for time in _means(bench, name, gap_s, beta_s)] for name in _LAWS]

    found = bench.kept("intervals", run, bench.settings.seed or 1, _runs(bench))
    widths = [_width(times) for times in found]
    halves = [_width(times, ends=1.0) for times in found]
    hours = _OBSERVATIONS * gap_s / 3600.0
    rows: dict[str, Value] = {
        f"{name}: width of the interval over the mean": one
        for name, one in zip(_LAWS, widths, strict=True)
    }
    rows["hours for 1,450,000 arrivals at the heaviest load"] = hours
    values: dict[str, Value] = {
        "width": most(widths),
        "half_width": most(halves),
        "width_exponential": widths[0],
        "half_width_exponential": halves[0],
        "hours": hours,
    }
    return Found(
        data=table_with_ends(["what", "value", "low", "high"], rows),
        values=values,
        told={
            "widths": dict(zip(_LAWS, widths, strict=True)),
            "hours": hours,
        },
    )


def _law(bench: Bench, name: str) -> distributions.Distribution:
    """Return the distribution of file sizes of a name."""
    changes = {"flows.client.application.size": LAWS[name]}
    application = bench.scenario("downloads", changes).flows[0].application
    assert application.kind == "ftp"
    return application.size


def _runs(bench: Bench) -> int:
    return _QUICK_RUNS if bench.quick else _RUNS


def _means(bench: Bench, name: str, gap_s: float, beta_s: float) -> list[float]:
    """Simulate runs of this many jobs; return the mean time of each in seconds."""
    seed = bench.settings.seed or 1
    sizes: distributions.Distribution
    if name in LAWS:
        sizes = _law(bench, name)
    else:
        (drawn,) = samples(seed, 1)
        whole, counts = np.unique(np.round(drawn * _MEAN / drawn.mean()), return_counts=True)
        sizes = distributions.Empirical(
            values=tuple(map(float, whole)), counts=tuple(map(int, counts))
        )
    shared = processor_sharing(
        sizes,
        capacity=_MEAN / beta_s,
        arrival_rate=1.0 / gap_s,
        jobs=_OBSERVATIONS,
        warmup_jobs=_OBSERVATIONS // 20,
        seed=seed,
        replications=_runs(bench),
        threads=bench.settings.threads,
    )
    return [float(run.answer["mean_sojourn_s"]) for run in shared.runs]


def _width(times: list[float], ends: float = 2.0) -> Interval:
    """Return the width of a 95 % interval from one run, over the mean; `ends` 1: half of it.

    The result has an interval itself, that of the deviation of normal runs (chi-squared).
    """
    from scipy.special import chdtri

    n = len(times)
    wide = ends * _HALF_WIDTHS * float(np.std(times, ddof=1)) / float(np.mean(times))
    low, high = (wide * float(((n - 1) / chdtri(n - 1, tail)) ** 0.5) for tail in (0.025, 0.975))
    return Interval(wide, low, high, n)

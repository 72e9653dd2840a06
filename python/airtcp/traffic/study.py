"""Statistics of the requests in a log: quantiles, tail index, fitted distributions, and pauses.

Sizes are in bytes and times in seconds. Fits are by maximum likelihood (log-normal, Pareto) or by
mean and variance (hyperexponential with balanced means, exponential). Their quality is the
Kolmogorov-Smirnov distance, the largest difference of the distribution functions. The tail index is
Hill's (Ann. Statist. 3, 1975) of the largest twentieth.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from airtcp.distributions import Exponential, Hyperexponential, Lognormal
from airtcp.results import canonical_json

if TYPE_CHECKING:
    from airtcp.scenario.requests import Requests

QUANTILES: Final = (0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999)
_TAIL: Final = 0.05
_LEAST_TAIL: Final = 10
#: A longer pause of a client is think time; a shorter one separates parts of the same page.
THOUGHT_S: Final = 1.0
#: A longer pause separates two visits.
VISIT_S: Final = 1800.0


@dataclass(frozen=True)
class Fit:
    """A fitted distribution, its parameters, and its Kolmogorov-Smirnov distance to the sizes."""

    law: str
    parameters: dict[str, float]
    distance: float


@dataclass(frozen=True)
class Study:
    """The statistics of a log: sizes in bytes, pauses in seconds; None if the log has no data."""

    form: str
    lines: int
    used: int
    skipped: dict[str, int]
    mean: float
    scv: float
    quantiles: dict[str, float]
    tail_index: float | None
    fits: list[Fit]
    clients: int | None
    requests_per_client: float | None
    span_s: float | None
    think_times: int
    think_mean_s: float | None
    think_median_s: float | None

    def to_json(self) -> str:
        """Return the study as canonical JSON."""
        return canonical_json(asdict(self))


def study(requests: Requests) -> Study:
    """Compute the statistics of at least one request."""
    sizes = np.sort(np.array(requests.sizes))
    mean, variance = float(sizes.mean()), float(sizes.var())
    known = {client for client in requests.clients if client}
    times = [time_s for time_s in requests.times_s if time_s is not None]
    pauses = np.array(_pauses(requests))
    return Study(
        form=requests.form,
        lines=requests.lines,
        used=len(sizes),
        skipped=dict(requests.skipped.most_common()),
        mean=mean,
        scv=variance / mean**2,
        quantiles={f"p{100 * q:g}": float(np.quantile(sizes, q)) for q in QUANTILES},
        tail_index=_hill(sizes),
        fits=sorted(_fits(sizes, mean, variance), key=lambda fit: fit.distance),
        clients=len(known) or None,
        requests_per_client=len(sizes) / len(known) if known else None,
        span_s=max(times) - min(times) if times else None,
        think_times=len(pauses),
        think_mean_s=float(pauses.mean()) if len(pauses) else None,
        think_median_s=float(np.median(pauses)) if len(pauses) else None,
    )


def survivals(found: Study) -> dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]]:
    """Return the survival functions P(size > x) of the fitted distributions, by name."""
    return {fit.law: _survival(fit) for fit in found.fits}


def _survival(fit: Fit) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    given = fit.parameters
    match fit.law:
        case "exponential":
            return Exponential(mean=given["mean"]).survival
        case "lognormal":
            return Lognormal(mu=given["mu"], sigma=given["sigma"]).survival
        case "pareto":
            # Its shape may be below 1; such a Pareto law has no mean and cannot be used in a
            # scenario.
            return lambda x: (given["least"] / x) ** given["shape"]
    # Balanced means: both branches carry half of the bytes.
    mean, scv = given["mean"], given["scv"]
    first = (1.0 + math.sqrt((scv - 1.0) / (scv + 1.0))) / 2.0
    return Hyperexponential(
        probability=first, mean_1=mean / (2.0 * first), mean_2=mean / (2.0 * (1.0 - first))
    ).survival


def _pauses(requests: Requests) -> list[float]:
    """Return the pauses of clients between the requests of one visit."""
    asked: dict[str, list[float]] = defaultdict(list)
    for client, time_s in zip(requests.clients, requests.times_s, strict=True):
        if client and time_s is not None:
            asked[client].append(time_s)
    pauses = []
    for times in asked.values():
        ordered = sorted(times)
        pauses += [b - a for a, b in pairwise(ordered)]
    return [pause for pause in pauses if THOUGHT_S <= pause < VISIT_S]


def _hill(sizes: NDArray[np.float64]) -> float | None:
    """Return Hill's index of the largest sizes; None if they are too few or all equal."""
    count = int(_TAIL * len(sizes))
    if count < _LEAST_TAIL:
        return None
    mean_log = float(np.mean(np.log(sizes[-count:] / sizes[-count - 1])))
    return 1.0 / mean_log if mean_log > 0.0 else None


def _fits(sizes: NDArray[np.float64], mean: float, variance: float) -> list[Fit]:
    logs = np.log(sizes)
    laws = {"exponential": {"mean": mean}}
    sigma = float(logs.std())
    if sigma > 0.0:
        laws["lognormal"] = {"mu": float(logs.mean()), "sigma": sigma}
        shape = 1.0 / float(np.mean(logs - logs[0]))
        laws["pareto"] = {"shape": shape, "least": float(sizes[0])}
    scv = variance / mean**2
    if scv > 1.0:
        laws["hyperexponential"] = {"mean": mean, "scv": scv}
    fits = [Fit(name, given, 0.0) for name, given in laws.items()]
    return [replace(fit, distance=_distance(_survival(fit), sizes)) for fit in fits]


def _distance(
    survival: Callable[[NDArray[np.float64]], NDArray[np.float64]], sizes: NDArray[np.float64]
) -> float:
    """Return the largest difference of the distribution functions, on either side of each step."""
    values, counts = np.unique(sizes, return_counts=True)
    after = np.cumsum(counts) / len(sizes)
    before = np.concatenate([[0.0], after[:-1]])
    fitted = 1.0 - survival(values)
    return float(max(np.max(np.abs(after - fitted)), np.max(np.abs(before - fitted))))


#: The think time if the log has no pauses: the value of the hot spot example.
_THINK_S: Final = 10.0


def scenario_text(path: Path, study: Study) -> str:
    """Return the TOML text of web users with the requests of the log at `path`."""
    think_s = study.think_mean_s or _THINK_S
    think = f"{round(think_s * 1000)} ms"
    why = (
        f"mean of {study.think_times} pauses between 1 s and 30 min"
        if study.think_mean_s
        else "the log has no client times: this is a guess"
    )
    column = ', column = "size"' if study.form == "CSV" else ""
    name = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f"""\
# Web users with the traffic of {path.name}: {study.used} of {study.lines} lines were used.
title = "Traffic of {path.name}"

[phy]
standard = "802.11g"

[ap]
queue = {{ limit = 100 }}

[[stations]]
name = "laptop"
count = {min(max(study.clients or 10, 1), 10)}

[[flows]]
stations = "laptop"
direction = "download"

    [flows.application]
    kind = "web"
    size = {{ distribution = "empirical", file = "{name}"{column} }}
    think_time = {{ distribution = "exponential", mean = "{think}" }}   # {why}
    request = "300 B"

[run]
warmup = "60 s"
duration = "600 s"
replications = 10
"""

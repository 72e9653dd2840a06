"""The test bed of paper H: loads and size distributions, as packets and as processor sharing.

Turns a point of the paper's figures into a scenario. Compares packets and flows on the same
transfers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

import numpy as np
from airtcp.results import Simulation
from airtcp.scenario import ResolvedScenario
from airtcp.stats import Interval, student_interval
from numpy.typing import NDArray

from airtcp_papers.common.bench import Bench, Changes
from airtcp_papers.common.flows import FlowReplication, processor_sharing
from airtcp_papers.common.measure import changed
from airtcp_papers.hoekstra.model import Parameters, effective_service_time

FloatArray = NDArray[np.float64]

#: File sizes of section IV.A by name. Pareto-2 has P(B > x) = 1 / (4 x^2) in units of the mean.
LAWS: Final[dict[str, dict[str, Any]]] = {
    "deterministic": {"distribution": "deterministic", "value": "1 MB"},
    "exponential": {"distribution": "exponential", "mean": "200 kB"},
    "hyperexponential": {"distribution": "hyperexponential", "mean": "200 kB", "scv": 4.0},
    "Pareto-2": {"distribution": "pareto", "mean": "200 kB", "shape": 2.0},
}
#: Mean times between downloads in seconds, Table II: eight loads, by mean size in bytes.
GAPS_S: Final[dict[float, tuple[float, ...]]] = {
    200e3: (0.48, 0.46, 0.44, 0.42, 0.40, 0.38, 0.36, 0.35),
    1e6: (2.34, 2.22, 2.12, 2.02, 1.93, 1.85, 1.77, 1.70),
}
#: The load of Fig. 2 to 5: the fifth of the eight.
STATED: Final = 4
#: Files of 1 MB take five times as long.
_LONG: Final = {"run.warmup": "1000 s", "run.duration": "10000 s"}
_QUICK: Final = {"run.duration": "1000 s", "run.replications": 10}
#: With files of 1 MB, the effect of the initial state at a load of 0.9 fades after two and a half
#: minutes. Processor sharing of the same transfers shows the same effect.
_QUICK_LONG: Final = {"run.warmup": "400 s", "run.duration": "2000 s", "run.replications": 10}
#: For the heaviest loads, where 1 % of the service time is 10 % of the transfer time. Also for the
#: load of all other figures.
_HEAVY: Final = 3
_OFTEN: Final = {"run.replications": 100}
#: For exponential sizes at the heaviest load. They differ by 6 % from the model, near the allowed
#: bound.
_NEAREST: Final = {"run.replications": 800}


def _often(law: str, gap_s: float) -> Changes:
    """Return the replications of points that decide a claim; {} leaves the file's number."""
    if mean_size(law) > 200e3:
        return {}
    if law == "Pareto-2":
        # Pareto sizes scatter so much that no single load decides which of two models is nearer.
        return _OFTEN
    place = GAPS_S[200e3].index(gap_s)
    if law == "exponential" and place == len(GAPS_S[200e3]) - 1:
        return _NEAREST
    return _OFTEN if place == STATED or place >= len(GAPS_S[200e3]) - _HEAVY else {}


def mean_size(law: str) -> float:
    """Return the mean size of a distribution in bytes."""
    return 1e6 if law == "deterministic" else 200e3


def gaps(law: str) -> tuple[float, ...]:
    """Return eight mean times between downloads in seconds, from the lightest load on."""
    return GAPS_S[mean_size(law)]


def service_s(
    law: str, *, model: Literal["basic", "refined"] = "refined", beacons: bool = True
) -> float:
    """Return beta_eff of (27) in seconds: EST'' of (22), or EST' without beacons.

    The paper prints 0.312 s and 0.78 beside Fig. 2 and 5. These are the values without beacons
    (erratum H5).
    """
    return service_of(mean_size(law), model=model, beacons=beacons)


def service_of(
    size: float, *, model: Literal["basic", "refined"] = "refined", beacons: bool = True
) -> float:
    """Return beta_eff of (27) in seconds for files of a mean size in bytes, as `service_s`."""
    llc = 64 if model == "refined" else 0
    service = effective_service_time(size, Parameters.testbed(llc_bits=llc), model=model)
    return float(service.est_with_beacons_s if beacons else service.est_s)


@dataclass(frozen=True)
class Point:
    """A size distribution at one load: packets, and the same transfers under processor sharing.

    `gap_s` is the mean time between downloads. In `flows` a file's service time is proportional to
    its size; its mean is beta_eff of the refined model: EST'' of (22), or EST' of (19) without
    `beacons`.
    """

    law: str
    gap_s: float
    packets: Simulation
    flows: tuple[FlowReplication, ...]
    beacons: bool = True

    @property
    def beta_s(self) -> float:
        """Return beta_eff of (27) for the refined model."""
        return service_s(self.law, beacons=self.beacons)

    @property
    def rho(self) -> float:
        """Return rho_eff of (28)."""
        return self.beta_s / self.gap_s

    @property
    def model_s(self) -> float:
        """Return E[R] of (29)."""
        return self.beta_s / (1.0 - self.rho)

    @property
    def adjusted(self) -> Interval:
        """Return the mean transfer time, seconds, corrected for the sample of transfers.

        It is (29) times the ratio of packets to processor sharing on the same transfers. (29) is
        exact for processor sharing. The sample of arrivals and sizes moves both means alike, so the
        ratio has most of that noise removed. The interval is for a ratio of means over replications
        (linearised).
        """
        return student_interval(self.adjusted_s.tolist(), self.packets.confidence)

    @cached_property
    def adjusted_s(self) -> FloatArray:
        """Return the samples behind `adjusted`, one per replication."""
        return self.model_s * over_flows(self.packets, self.flows)

    @property
    def over_beacons(self) -> Interval:
        """Return the adjusted mean time over (29) with the beacon factor of (22)."""
        beta = service_s(self.law, beacons=True)
        model_s = beta / (1.0 - beta / self.gap_s)
        return changed(self.adjusted, lambda time_s: time_s / model_s)

    @property
    def service_over_model(self) -> Interval:
        """Return the service time at which (29) gives the adjusted mean time, over beta_eff.

        From E[R] = beta / (1 - lambda beta) follows beta = E[R] / (1 + lambda E[R]). At a load of
        0.9, 1 % of beta is 10 % of the transfer time.
        """
        return changed(
            self.adjusted, lambda time_s: time_s / (1.0 + time_s / self.gap_s) / self.beta_s
        )

    @property
    def over_model(self) -> Interval:
        """Return the adjusted mean time over (29)."""
        return changed(self.adjusted, lambda time_s: time_s / self.model_s)


def law(values: Mapping[str, float]) -> Changes:
    """Return the keys of a law of sizes, by number."""
    return {"flows.client.application.size": LAWS[tuple(LAWS)[int(values["law"])]]}


def every(gap_s: float) -> Changes:
    """Return the keys of downloads that start on average every `gap_s` seconds, independently."""
    law = {"distribution": "exponential", "mean": f"{gap_s} s"}
    return {"flows.client.application.interarrival": law}


def observe(
    bench: Bench,
    law: str,
    gap_s: float,
    *,
    transfer_times: bool = False,
    varied: Changes | None = None,
    beacons: bool = True,
) -> Point:
    """Simulate a distribution at one load, with the same seed and transfers for packets and flows.

    `varied` changes further keys of the scenario, for the packets only. `beacons` says whether the
    flows have the factor of (22).
    """
    long = mean_size(law) > 200e3
    changes = {
        **(_often(law, gap_s) if varied is None else {}),
        **every(gap_s),
        "flows.client.application.size": LAWS[law],
        **(_LONG if long else {}),
        **(varied or {}),
    }
    quick = _QUICK_LONG if long else _QUICK
    packets = bench.simulate("downloads", changes, quick=quick, transfer_times=transfer_times)
    scenario = bench.scenario("downloads", changes, quick)
    capacity = mean_size(law) / service_s(law, beacons=beacons)
    run = scenario.run
    assert run.warmup_ns is not None
    jobs, warmup = math.ceil(run.duration_ns / 1e9 / gap_s), round(run.warmup_ns / 1e9 / gap_s)
    flows = same_transfers(
        bench, scenario, packets, capacity, jobs, warmup, keep_jobs=transfer_times
    )
    return Point(law, gap_s, packets, flows, beacons)


def same_transfers(
    bench: Bench,
    scenario: ResolvedScenario,
    packets: Simulation,
    capacity: float,
    jobs: int,
    warmup_jobs: int,
    *,
    keep_jobs: bool = False,
) -> tuple[FlowReplication, ...]:
    """Simulate the downloads of `packets` as jobs that share a capacity in bytes per second."""
    application = scenario.flows[0].application
    assert application.kind == "ftp"
    return processor_sharing(
        application.size,
        capacity=capacity,
        interarrival=application.interarrival,
        jobs=jobs,
        warmup_jobs=warmup_jobs,
        seed=scenario.run.seed,
        replications=len(packets.runs),
        threads=bench.settings.threads,
        keep_jobs=keep_jobs,
        transfers_of="client/0",
    ).runs


def over_flows(packets: Simulation, flows: Sequence[FlowReplication]) -> FloatArray:
    """Return samples of the mean time of packets over that of flows of the same transfers.

    Ratios of means over replications, linearised.
    """
    times = np.array([run.answer["metrics"]["transfer_time_s"] for run in packets.runs])
    shared = np.array([run.answer["mean_sojourn_s"] for run in flows])
    ratio = float(times.mean() / shared.mean())
    return ratio + (times - ratio * shared) / float(shared.mean())


def observe_clients(
    bench: Bench, count: int, gap_s: float, *, quick_replications: int = 10
) -> Simulation:
    """Simulate exponential sizes with `count` clients that together ask as often as one."""
    return bench.simulate(
        "downloads",
        {
            "stations.client.count": count,
            "flows.client.application.interarrival": {
                "distribution": "exponential",
                "mean": f"{count * gap_s:g} s",
            },
            "flows.client.application.size": LAWS["exponential"],
            "run.replications": 200,
        },
        quick={**_QUICK, "run.replications": quick_replications},
    )


def quotient(above: Interval, below: Interval) -> Interval:
    """Return the ratio of two independent means (linearised)."""
    assert above.mean is not None
    assert below.mean is not None
    ratio, n = above.mean / below.mean, min(above.n, below.n)
    if above.half_width is None or below.half_width is None:
        return Interval(ratio, None, None, n)
    width = ratio * math.hypot(above.half_width / above.mean, below.half_width / below.mean)
    return Interval(ratio, ratio - width, ratio + width, n)


def tail(times: list[FloatArray], at: FloatArray, confidence: float) -> list[Interval]:
    """Return P(R > t) at each t, from the transfer times of replications."""
    shares = [1.0 - np.searchsorted(np.sort(one), at, side="right") / one.size for one in times]
    return [
        student_interval([float(share[index]) for share in shares], confidence)
        for index in range(at.size)
    ]

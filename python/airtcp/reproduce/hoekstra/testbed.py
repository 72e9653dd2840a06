"""The test bed of paper H: its loads and laws, simulated as packets and as processor sharing.

Knows how a point of the paper's figures becomes a scenario, and how packets and flows are set side
by side on the same transfers. Draws nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from airtcp.models.hoekstra import Parameters, effective_service_time
from airtcp.reproduce.bench import Bench, Changes
from airtcp.reproduce.measure import changed
from airtcp.results import Simulation
from airtcp.run.flows import FlowReplication, processor_sharing
from airtcp.stats import Interval, student_interval

FloatArray = NDArray[np.float64]

#: File sizes of section IV.A by name: Pareto-2 has P(B > x) = 1 / (4 x^2) in units of the mean.
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
#: The load of Fig. 2 to 5, the fifth of the eight.
STATED: Final = 4
#: Files of 1 MB take five times as long.
_LONG: Final = {"run.warmup": "1000 s", "run.duration": "10000 s"}
_QUICK: Final = {"run.duration": "1000 s", "run.replications": 10}
#: With files of 1 MB what a load of 0.9 keeps from its beginning fades in two and a half minutes;
#: and processor sharing of the same transfers has it, too.
_QUICK_LONG: Final = {"run.warmup": "400 s", "run.duration": "2000 s", "run.replications": 10}
#: At the last loads, where a per cent of the service time is ten of the transfer time, and at the
#: load that all other figures are of.
_HEAVY: Final = 3
_OFTEN: Final = {"run.replications": 100}
#: Exponential sizes at the heaviest load are near a bound: 6 % from the model, of 5 % allowed.
_NEAREST: Final = {"run.replications": 800}


def _often(law: str, gap_s: float) -> Changes:
    """How often a point is run that decides what the paper states; else as the file says."""
    if mean_size(law) > 200e3:
        return {}
    if law == "Pareto-2":
        # Its sizes scatter so much that no load alone decides which of two models is nearer.
        return _OFTEN
    place = GAPS_S[200e3].index(gap_s)
    if law == "exponential" and place == len(GAPS_S[200e3]) - 1:
        return _NEAREST
    return _OFTEN if place == STATED or place >= len(GAPS_S[200e3]) - _HEAVY else {}


def mean_size(law: str) -> float:
    """The mean size of a law in bytes."""
    return 1e6 if law == "deterministic" else 200e3


def gaps(law: str) -> tuple[float, ...]:
    """The eight mean times between downloads of a law in seconds, from the lightest load on."""
    return GAPS_S[mean_size(law)]


def service_s(
    law: str, *, model: Literal["basic", "refined"] = "refined", beacons: bool = True
) -> float:
    """beta_eff of (27) in the test bed, seconds: EST'' of (22), or EST' without beacons.

    The paper's 0.312 s and 0.78 beside Fig. 2 and 5 are those without (erratum H5).
    """
    return service_of(mean_size(law), model=model, beacons=beacons)


def service_of(
    size: float, *, model: Literal["basic", "refined"] = "refined", beacons: bool = True
) -> float:
    """The same for files of a mean size in bytes."""
    llc = 64 if model == "refined" else 0
    service = effective_service_time(size, Parameters.testbed(llc_bits=llc), model=model)
    return float(service.est_with_beacons_s if beacons else service.est_s)


@dataclass(frozen=True)
class Point:
    """A law at one load: packets, and the same transfers as processor sharing.

    `gap_s` is the mean time between downloads. `flows` have beta_eff of the refined model as the
    mean service time of a file, in proportion to its size: EST'' of (22), or EST' of (19) without
    `beacons`.
    """

    law: str
    gap_s: float
    packets: Simulation
    flows: tuple[FlowReplication, ...]
    beacons: bool = True

    @property
    def beta_s(self) -> float:
        """beta_eff (27) of the refined model."""
        return service_s(self.law, beacons=self.beacons)

    @property
    def rho(self) -> float:
        """rho_eff (28)."""
        return self.beta_s / self.gap_s

    @property
    def model_s(self) -> float:
        """E[R] (29)."""
        return self.beta_s / (1.0 - self.rho)

    @property
    def plain(self) -> Interval:
        """The mean transfer time of the packets, seconds, as it was measured."""
        return self.packets.metrics["transfer_time_s"]

    @property
    def adjusted(self) -> Interval:
        """The same, as far as it differs from processor sharing of these very transfers.

        (29) is exact for processor sharing. What the sample of arrivals and sizes does to the mean,
        it does to both; their ratio times (29) is free of most of it. The interval is that of a
        ratio of means over replications (linearised).
        """
        return student_interval(self.adjusted_s.tolist(), self.packets.confidence)

    @cached_property
    def adjusted_s(self) -> FloatArray:
        """What `adjusted` is the mean of, by replication."""
        times = np.array([run.answer["metrics"]["transfer_time_s"] for run in self.packets.runs])
        shared = np.array([run.answer["mean_sojourn_s"] for run in self.flows])
        ratio = float(times.mean() / shared.mean())
        ratios = ratio + (times - ratio * shared) / float(shared.mean())
        return self.model_s * ratios

    @property
    def over_beacons(self) -> Interval:
        """The adjusted mean time over (29) with the beacon factor of (22)."""
        beta = service_s(self.law, beacons=True)
        model_s = beta / (1.0 - beta / self.gap_s)
        return changed(self.adjusted, lambda time_s: time_s / model_s)

    @property
    def service_over_model(self) -> Interval:
        """The service time that (29) has for the adjusted mean time, over beta_eff.

        From E[R] = beta / (1 - lambda beta): beta = E[R] / (1 + lambda E[R]). At a load of 0.9 a
        hundredth of it is a tenth of the transfer time.
        """
        return changed(
            self.adjusted, lambda time_s: time_s / (1.0 + time_s / self.gap_s) / self.beta_s
        )

    @property
    def over_model(self) -> Interval:
        """The adjusted mean time over (29)."""
        return changed(self.adjusted, lambda time_s: time_s / self.model_s)


def observe(
    bench: Bench,
    law: str,
    gap_s: float,
    *,
    transfer_times: bool = False,
    varied: Changes | None = None,
    beacons: bool = True,
) -> Point:
    """A law at one load, of the same seed and transfers as packets and as flows.

    `varied` are further changes of the scenario, to what the packets do; `beacons` says whether the
    flows have the factor of (22).
    """
    long = mean_size(law) > 200e3
    changes = {
        **(_often(law, gap_s) if varied is None else {}),
        "flows.client.application.interarrival": {
            "distribution": "exponential",
            "mean": f"{gap_s} s",
        },
        "flows.client.application.size": LAWS[law],
        **(_LONG if long else {}),
        **(varied or {}),
    }
    quick = _QUICK_LONG if long else _QUICK
    packets = bench.simulate("downloads", changes, quick=quick, transfer_times=transfer_times)
    run = (scenario := bench.scenario("downloads", changes, quick)).run
    application = scenario.flows[0].application
    assert application.kind == "ftp"
    assert run.warmup_ns is not None
    result = processor_sharing(
        application.size,
        capacity=mean_size(law) / service_s(law, beacons=beacons),
        interarrival=application.interarrival,
        jobs=math.ceil(run.duration_ns / 1e9 / gap_s),
        warmup_jobs=round(run.warmup_ns / 1e9 / gap_s),
        seed=run.seed,
        replications=len(packets.runs),
        threads=bench.settings.threads,
        keep_jobs=transfer_times,
        transfers_of="client/0",
    )
    return Point(law, gap_s, packets, result.runs, beacons)


def observe_clients(
    bench: Bench, count: int, gap_s: float, *, quick_replications: int = 10
) -> Simulation:
    """Exponential sizes by so many clients, which together ask as often as the one does."""
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
    """The ratio of two independent means (linearised)."""
    assert above.mean is not None
    assert below.mean is not None
    ratio, n = above.mean / below.mean, min(above.n, below.n)
    if above.half_width is None or below.half_width is None:
        return Interval(ratio, None, None, n)
    width = ratio * math.hypot(above.half_width / above.mean, below.half_width / below.mean)
    return Interval(ratio, ratio - width, ratio + width, n)


def tail(times: list[FloatArray], at: FloatArray, confidence: float) -> list[Interval]:
    """P(R > t) at each t, over replications' times."""
    shares = [1.0 - np.searchsorted(np.sort(one), at, side="right") / one.size for one in times]
    return [
        student_interval([float(share[index]) for share in shares], confidence)
        for index in range(at.size)
    ]

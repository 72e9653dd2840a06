"""Simulate transfers of a scenario at flow level: jobs that share one or several networks.

It combines the network capacities of models (C_k of `miorandi.predict.jobs`) with the
processor-sharing simulator (`airtcp.run`). There are no packets: opening windows, queues and
collisions are included in the capacities or not at all.

Source: paper M, section 4.2, for stations that think between transfers; paper H, section III, for a
Poisson process of transfers, and section V for several networks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Unpack, cast

from airtcp.distributions import Deterministic, Distribution, Exponential
from airtcp.exceptions import QuestionError
from airtcp.predict import predict
from airtcp.predict.access import as_dcf
from airtcp.results import Predicted, Prediction, Provenance
from airtcp.scenario import ResolvedScenario
from airtcp.scenario.keys.traffic import Application, Flow
from airtcp.stats import Interval

from airtcp_papers.common.flow_arguments import Length
from airtcp_papers.common.flows import FlowResult, closed_processor_sharing, processor_sharing
from airtcp_papers.common.servers import ServerResult, ServersResult, concurrent_processor_sharing
from airtcp_papers.common.sharing.results import Part, Shared, SizeClass, Split, Way
from airtcp_papers.miorandi.predict.jobs import Jobs, of_arrivals, of_sources
from airtcp_papers.miorandi.predict.transfers import Transfers

#: Jobs that a replication measures by default.
JOBS: Final = 200_000

#: Scale interarrival times by this factor to query a network without load.
_SELDOM: Final = 1e6
#: The models whose transfer times follow from C_k.
_SOURCES: Final = ("M (17), corrected", "M (14), corrected", "M (16), Poisson arrivals")


@dataclass(frozen=True, slots=True)
class Traffic:
    """The transfers of a scenario, all of one law, from thinking sources or an open stream."""

    sizes: Distribution
    count: int
    think_time: Distribution | None
    interarrival: Distribution | None

    @property
    def rate_per_s(self) -> float | None:
        """Transfers that start per second, or None if they wait for each other."""
        return None if self.interarrival is None else self.count / self.interarrival.mean()


@dataclass(frozen=True, slots=True)
class Network:
    """A network as transfers see it, in payload bytes per second and seconds.

    `capacities` are C_1, C_2, ... of goodput; `setup_s` is the time before the data, `last_ack_s`
    the time from a transfer's last byte to the end of its service; `by` is the source of the
    capacities.
    """

    capacities: tuple[float, ...]
    setup_s: float
    last_ack_s: float
    by: str
    broken: tuple[str, ...] = ()

    @property
    def added_s(self) -> float:
        """The time of a transfer outside its service."""
        return self.setup_s - self.last_ack_s

    def alone_s(self, sizes: Distribution) -> float:
        """Return the mean time of a transfer without others."""
        return self.added_s + sizes.mean() / self.capacities[0]


def share(
    scenario: ResolvedScenario,
    *,
    capacity_bps: float | None = None,
    **length: Unpack[Length],
) -> Shared:
    """Simulate the transfers of a scenario as jobs that share its network equally.

    Args:
        scenario: web flows without pages, or FTP, all with one law of sizes.
        capacity_bps: the goodput of the network in bit/s, however many transfers share it; replaces
            the C_k of paper M, (12), corrected. Transfers then have no setup.
        length: how much to simulate; see `Length`. The defaults are 200,000 jobs, and the
            scenario's seed and confidence.

    Raises:
        QuestionError: the transfers are not such jobs, no model has a capacity, or the load is 1 or
            more.
        SimulationError: a conservation law is violated, so the counts cannot be trusted.

    For several cells use `airtcp_papers.common.sharing.cells.share_cells`.

    >>> shared = share(cafe, jobs=20_000)
    >>> shared.metrics["transfer_time_s"].mean > shared.alone_s
    True
    """
    traffic = traffic_of(scenario)
    network = network_of(scenario, scenario.flows[0], capacity_bps)
    load = _load(traffic, [network])
    added = network.added_s
    model = _of_capacities(predict(scenario))
    lasts = length_of(scenario, length)
    if traffic.think_time is not None:
        think_times = longer(traffic.think_time, network.setup_s)
        found = closed_processor_sharing(
            traffic.sizes,
            sources=traffic.count,
            think_times=think_times,
            capacity=network.capacities,
            **lasts,
        )
    else:
        found = processor_sharing(
            traffic.sizes, interarrival=arrivals(traffic), capacity=network.capacities, **lasts
        )
    return Shared(
        **about(scenario, lasts, found.generator),
        metrics=metrics_of(
            found,
            network,
            {
                f"transfer_time_p{percent}_s": found.sojourn_quantile_s(percent / 100.0)
                for percent in (50, 90, 99)
            },
        ),
        load=load,
        alone_s=network.alone_s(traffic.sizes),
        capacities_bps=tuple(8.0 * one for one in network.capacities),
        by=network.by,
        model_s=None if model is None or capacity_bps is not None else cast(float, model.value),
        broken=network.broken,
        active_flows_distribution=found.active_distribution.tolist(),
        by_size=tuple(
            SizeClass(one.low, one.high, one.jobs, one.sojourn_s.shifted(added), one.slowdown)
            for one in found.by_size
        ),
    )


def split(
    scenarios: Mapping[str, ResolvedScenario],
    *,
    shares: Sequence[float] | None = None,
    capacity_bps: float | None = None,
    **length: Unpack[Length],
) -> Split:
    """Simulate transfers that are split among several networks, in several ways.

    The transfers are those of the first scenario; each scenario is a network, with the capacity
    that it has for them. Each transfer is assigned to one network on arrival and stays there: at
    random in proportion to the capacities, at random by `shares`, or to the network with the fewest
    transfers. Each way has transfers of the same sizes at the same times.

    Args:
        scenarios: the networks by name, at least two.
        shares: the share of each network, adding up to 1; None for only those of the capacities.
        capacity_bps: the goodput of each network in bit/s, as in `share`.
        length: how much to simulate, as in `share`; jobs are over all networks, and seed and
            confidence are the first scenario's.

    Raises:
        QuestionError: as for `share`; also for transfers that wait for each other, which cannot be
            split, and for shares that do not fit or overload a network.
    """
    if len(scenarios) < 2:
        raise QuestionError("one network has nothing to split; allowed: two scenarios or more")
    first = next(iter(scenarios.values()))
    traffic = traffic_of(first)
    if traffic.interarrival is None:
        raise QuestionError(
            "web flows wait for their transfers; only transfers that come whether others have "
            'ended are split; allowed: flows with application.kind = "ftp"'
        )
    networks = []
    for name, one in scenarios.items():
        try:
            networks.append(network_of(one, first.flows[0], capacity_bps))
        except QuestionError as error:
            raise QuestionError(f"network {name}: {error}") from error
    load = _load(traffic, networks)
    served = math.fsum(one.capacities[-1] for one in networks)
    proportional = [one.capacities[-1] / served for one in networks]
    ways: dict[str, Literal["least"] | Sequence[float]] = {"in proportion": proportional}
    if shares is not None:
        ways["by shares"] = _checked(shares, traffic, networks, list(scenarios))
    ways["fewest"] = "least"
    lasts = length_of(first, length)
    found = {
        way: concurrent_processor_sharing(
            traffic.sizes,
            capacities=[one.capacities for one in networks],
            split=rule,
            interarrival=arrivals(traffic),
            **lasts,
        )
        for way, rule in ways.items()
    }
    added = [one.added_s for one in networks]
    return Split(
        **about(first, lasts, found["fewest"].generator),
        networks=tuple(scenarios),
        load=load,
        capacities_bps=tuple(8.0 * one.capacities[-1] for one in networks),
        ways={way: _way(result, added) for way, result in found.items()},
        broken=tuple(dict.fromkeys(told for one in networks for told in one.broken)),
    )


def length_of(scenario: ResolvedScenario, length: Length) -> Length:
    """Return how much to simulate: what is given, else the defaults and the scenario's."""
    run = scenario.run
    lasts: Length = {"jobs": JOBS, "replications": 10, "confidence": run.confidence}
    lasts.update(length)
    lasts["seed"] = run.seed if length.get("seed") is None else length["seed"]
    return lasts


def about(scenario: ResolvedScenario, length: Length, generator: str) -> dict[str, Any]:
    """Return the fields that all results have: scenario, provenance, and size of the simulation."""
    return {
        "scenario": scenario,
        "provenance": Provenance.of(scenario, seed=length["seed"], generator=generator),
        "jobs": length["jobs"],
        "replications": length["replications"],
        "confidence": length["confidence"],
    }


def traffic_of(scenario: ResolvedScenario) -> Traffic:
    """Return the transfers of a scenario as jobs. Raises QuestionError if they are not."""
    kinds = {flow.application.kind for flow in scenario.flows}
    laws: list[tuple[Distribution, Distribution | None, Distribution | None]] = []
    for flow in scenario.flows:
        application = flow.application
        if application.kind == "web" and application.page is None:
            laws.append((application.size, application.think_time, None))
        elif application.kind == "ftp":
            laws.append((application.size, None, application.interarrival))
        else:
            what = "web with pages" if application.kind == "web" else application.kind
            raise QuestionError(
                f"flow {flow.name} ({what}) has no transfers that share the air as jobs; allowed: "
                "web without pages, and ftp"
            )
    if len(set(laws)) > 1 or len(kinds) > 1:
        raise QuestionError(
            "flows differ in their law of sizes or of pauses; transfers at the level of flows have "
            "one; allowed: flows that are alike, or one flow at a time"
        )
    count = sum(scenario.group(flow.stations).count for flow in scenario.flows)
    return Traffic(laws[0][0], count, *laws[0][1:])


def network_of(scenario: ResolvedScenario, flow: Flow, capacity_bps: float | None) -> Network:
    """Return the scenario's network for transfers like those of `flow`.

    The capacity does not depend on the arrival rate, so the models are evaluated at a light
    load. Raises QuestionError if no model has a capacity.
    """
    if capacity_bps is not None:
        return Network((capacity_bps / 8.0,), 0.0, 0.0, "as given")
    light = _with(scenario, _seldom(flow.application))
    said = predict(light)
    value = _of_capacities(said)
    contending = as_dcf(light).scenario
    if value is None or contending is None:
        reasons = [said.uncovered, *said.unanswered.values()]
        why = next((one for one in reasons if one), "none is about such transfers")
        raise QuestionError(f"no model has the capacity: {why}; allowed: a capacity of your own")
    transfers = Transfers(contending)
    jobs = of_sources(transfers) if flow.application.kind == "web" else of_arrivals(transfers)
    return Network(
        _payload(jobs, transfers),
        jobs.setup_s,
        transfers.last_ack_s,
        f"C_k of {value.source}",
        tuple(value.broken),
    )


def _of_capacities(said: Prediction) -> Predicted | None:
    """Return the mean transfer time that follows from paper M's capacities, or None."""
    values = said.model.get("transfer_time_s", [])
    return next((one for one in values if one.source in _SOURCES), None)


def _seldom(application: Application) -> Application:
    """Return the application with transfers that hardly ever overlap, unless they wait."""
    if application.kind != "ftp":
        return application
    law = application.interarrival.scaled(_SELDOM)
    return application.model_copy(update={"interarrival": law})


def _with(scenario: ResolvedScenario, application: Application) -> ResolvedScenario:
    """Return the scenario with this application in each of its TCP flows."""
    flows = tuple(
        flow.model_copy(update={"application": application}) if flow.tcp is not None else flow
        for flow in scenario.flows
    )
    return scenario.model_copy(update={"flows": flows})


def _payload(jobs: Jobs, transfers: Transfers) -> tuple[float, ...]:
    """Return C_k in payload bytes per second: the part of whole segments that is payload."""
    filled = 8.0 * transfers.mean_size_bytes / jobs.service_bits
    return tuple(float(one) * filled / 8.0 for one in jobs.capacities_bps)


def load_of(traffic: Traffic, networks: Sequence[Network]) -> float | None:
    """Return the load of all networks together, or None for thinking sources."""
    rate = traffic.rate_per_s
    if rate is None:
        return None
    return rate * traffic.sizes.mean() / math.fsum(one.capacities[-1] for one in networks)


def _load(traffic: Traffic, networks: Sequence[Network]) -> float | None:
    """Return the same load; raises QuestionError if it is 1 or more."""
    load = load_of(traffic, networks)
    if load is not None and load >= 1.0:
        raise QuestionError(
            f"the load (arrivals times size over capacity) is {load:.4g}, and times grow without "
            "end; allowed: below 1, by fewer or smaller transfers, or more capacity"
        )
    return load


def _checked(
    shares: Sequence[float], traffic: Traffic, networks: Sequence[Network], names: Sequence[str]
) -> list[float]:
    """Check that the shares fit the networks and return them. Raises QuestionError."""
    if len(shares) != len(networks):
        raise QuestionError(f"{len(shares)} shares for {len(networks)} networks; allowed: one each")
    if min(shares) < 0 or not math.isclose(math.fsum(shares), 1.0, abs_tol=1e-6):
        raise QuestionError(
            f"shares add up to {math.fsum(shares):g}; allowed: numbers of 0 or more that add up "
            "to 1"
        )
    work = (traffic.rate_per_s or 0.0) * traffic.sizes.mean()
    for name, part, network in zip(names, shares, networks, strict=True):
        load = part * work / network.capacities[-1]
        if load >= 1.0:
            raise QuestionError(
                f"a share of {part:g} loads {name} with {load:.3g}; allowed: a load below 1"
            )
    return list(shares)


def arrivals(traffic: Traffic) -> Distribution:
    """Return the law of the times between transfers: one station's, or Poisson for several."""
    law = traffic.interarrival
    if law is None:
        raise ValueError("sources that wait have no law of arrivals")
    return law if traffic.count == 1 else Exponential(mean=law.mean() / traffic.count)


def longer(law: Distribution, by_s: float) -> Distribution:
    """Return the law of a think time, scaled so that its mean includes the setup.

    Beyond its mean the law of this time does not matter (paper M, section 4.2).
    """
    mean = law.mean()
    return law.scaled((mean + by_s) / mean) if mean > 0 else Deterministic(value=by_s)


def _way(found: ServersResult, added_s: Sequence[float]) -> Way:
    """Return the result of one way to split; `added_s` is each network's time outside service."""
    parts = tuple(
        Part(server.share, server.sojourn_s.shifted(added), server.active)
        for server, added in zip(found.servers, added_s, strict=True)
    )
    mean = math.fsum(
        (part.share.mean or 0.0) * added for part, added in zip(parts, added_s, strict=True)
    )
    goodput = math.fsum(server.work_per_s.mean or 0.0 for server in found.servers)
    return Way(found.sojourn_s.shifted(mean), 8.0 * goodput, parts)


def metrics_of(
    found: FlowResult | ServerResult, network: Network, quantiles: Mapping[str, Interval]
) -> dict[str, Interval]:
    """Return the measurements by metric name, including the setup, up to the last byte.

    `quantiles` are the known ones of the sojourn time.
    """
    rate = found.completed_per_s.mean or 0.0
    times = {"transfer_time_s": found.sojourn_s, **quantiles}
    return {name: one.shifted(network.added_s) for name, one in times.items()} | {
        "goodput_bps": found.work_per_s.scaled(8.0),
        "active_flows": found.active.shifted(rate * network.added_s),
    }

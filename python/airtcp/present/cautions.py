"""Cautions about simulated numbers, such as too short or too few runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from airtcp.amounts import duration, percent, quantity
from airtcp.choices import APPLICATIONS
from airtcp.estimates.limits import flows_of, offered_bps
from airtcp.labels import spoken
from airtcp.metrics import metric
from airtcp.present.silence import silences
from airtcp.results import Comparison, SimulationResult
from airtcp.scenario import ResolvedScenario
from airtcp.scenario.hearing import RULES_ELSEWHERE
from airtcp.scenario.keys.traffic import Udp
from airtcp.stats import WIDE

ONE_RUN: Final = "one replication has no confidence interval; use --replications 5"

#: If the 99th percentile of transfer times exceeds this fraction of the measured time, many
#: transfers do not end in it.
LONG_TRANSFERS: Final = 0.05
#: Below this fraction of all exchanges, contention-free periods have hardly any effect.
_HARDLY: Final = 0.01
#: Above this fraction of unanswered polls, most of a contention-free period is wasted.
_MOSTLY: Final = 0.9
#: Standards with OFDMA, and the number of stations with small packets from which it matters.
_WITH_OFDMA: Final = ("802.11ax", "802.11be")
_MANY: Final = 10
#: Report unfinished transfers if the mean time of all transfers exceeds that of the finished ones
#: by this factor.
_MISSING_TIME: Final = 1.1


def cautions(result: Comparison | SimulationResult) -> list[str]:
    """Return what a reader should know before trusting the simulated numbers; usually nothing."""
    simulation, run = result.simulation, result.scenario.run
    sentences = [
        f"{silence}; {silence.hint} may help" if silence.hint else str(silence)
        for silence in silences(result)
    ]
    measured_s = run.duration_ns / 1e9
    if simulation.steadiness is not None:
        sentences.append(_not_steady(simulation.steadiness, measured_s))
    # A run that ends with its transfers has no unfinished ones.
    if not simulation.is_done:
        sentences += _unfinished(result, measured_s)
    if result.scenario.mac.pcf is not None:
        sentences += _polling(simulation.counts)
    if simulation.replications == 1:
        sentences.append(ONE_RUN)
    wide = [
        f"{spoken(metric(name))} (±{percent(width)})"
        for name in ("goodput_bps", "transfer_time_s")
        if (interval := simulation.metrics.get(name)) is not None
        and (width := interval.relative_half_width) is not None
        and width > WIDE
    ]
    if wide:
        sentences.append(
            f"wide intervals: {', '.join(wide)}. Use a longer run or more replications."
        )
    sentences += _beyond_the_load(result.scenario)
    sentences += _unused_links(result.scenario)
    sentences += _rules_elsewhere(result.scenario)
    sentences += _without_ofdma(result.scenario)
    return sentences


def _beyond_the_load(scenario: ResolvedScenario) -> list[str]:
    """Report targets for a goodput that is more than all flows, or some of them, send."""
    counts = {one.name: one.count for one in scenario.stations}
    sentences = []
    for target in scenario.targets:
        is_mean = target.metric == "flow_goodput_bps"
        is_goodput = is_mean or target.metric == "goodput_bps"
        if not (is_goodput and target.above) or target.cell is not None:
            continue
        sent = [
            math.inf if (one := offered_bps(flow)) is None else one
            for flow in flows_of(scenario, target.group, target.part)
            for _ in range(counts[flow.stations])
        ]
        most_bps = sum(sent) / (len(sent) if is_mean else 1)
        less = sum(one < target.bound for one in sent)
        if most_bps <= target.bound:
            told = f"No network meets {target.text}: the flows send {quantity(most_bps, 'b/s', 3)}."
            sentences.append(told)
        elif is_mean and less:
            sentences.append(
                f"Target {target.text} is a mean over {len(sent)} flows, of which {less} send less."
            )
    return sentences


def _unused_links(scenario: ResolvedScenario) -> list[str]:
    """Report links that no flow crosses."""
    crossed = {element for flow in scenario.flows for element in flow.path}
    return [
        f'No flow crosses link {name}. Add path = ["{name}"] to the stations or flows that do.'
        for name in scenario.links
        if name not in crossed
    ]


def _without_ofdma(scenario: ResolvedScenario) -> list[str]:
    """Report that there is no OFDMA, if many stations send small packets at once."""
    if scenario.phy.standard not in _WITH_OFDMA or scenario.mac.ofdma is not None:
        return []
    having = {
        flow.stations
        for flow in scenario.flows
        if isinstance(flow.application, Udp) and flow.application.rate_bps is not None
    }
    stations = sum(one.count for one in scenario.stations if one.name in having)
    if stations < _MANY:
        return []
    return [
        f"No OFDMA: {scenario.phy.standard} may send the small packets of {stations} stations in "
        "shared PPDUs. If your access point does, add [mac.ofdma]; its key uplink is for uploads."
    ]


def _rules_elsewhere(scenario: ResolvedScenario) -> list[str]:
    """Report rules of a preset that have no effect if some stations are hidden from each other."""
    mac = scenario.mac
    rules, needs = mac.rules, {"delivery": mac.aggregation, "txop_protection": mac.edca}
    unfit = [
        f'{rule} = "{getattr(rules, rule)}"'
        for rule, fit in RULES_ELSEWHERE.items()
        if scenario.air is not None
        and getattr(rules, rule) not in fit
        and needs.get(rule, rules) is not None
    ]
    if not unfit:
        return []
    return [
        f"several cells, hears or powers: {', '.join(unfit)} of the preset "
        f'"{rules.preset}" of mac.rules is not modelled; the rest of the preset is'
    ]


def _unfinished(result: Comparison | SimulationResult, measured_s: float) -> list[str]:
    """Report that transfers take too long for the measured time; empty if they do not."""
    simulation = result.simulation
    slow = simulation.metrics.get("transfer_time_p99_s")
    # Estimates account for unfinished transfers.
    is_plain = "transfer_time_s" not in simulation.estimates
    if slow and slow.mean is not None and slow.mean > LONG_TRANSFERS * measured_s:
        missing = "Unfinished transfers are missing, so times are too low."
        told = missing if is_plain else "Too few such transfers end for a steady state."
        return [
            f"run too short ({duration(measured_s)}): the 99th percentile of transfer times is "
            f"{quantity(slow.mean, 's', 3)}. {told} Use a longer run."
        ]
    expected = _time_by_littles_law(result) if is_plain else None
    if expected is None:
        return []
    ended = simulation.metrics["transfer_time_s"].mean
    return [
        f"finished transfers took {quantity(ended, 's', 3)} on average, but Little's law gives "
        f"{quantity(expected, 's', 3)} for all: the longest did not finish and are missing. Use a "
        "longer run, or percentiles."
    ]


def _polling(counts: Mapping[str, int]) -> list[str]:
    """Report that contention-free periods carry almost nothing, or that most polls are in vain."""
    carried, exchanges = counts["contention_free_exchanges"], counts["mac_exchanges"]
    if not exchanges or carried < _HARDLY * exchanges:
        return [
            f"only {carried} of {exchanges} exchanges are in contention-free periods: mac.pcf has "
            "hardly any effect. Use a shorter interval or a longer max_duration."
        ]
    polls, vain = counts["polls"], counts["polls_without_data"]
    if vain > _MOSTLY * polls:
        return [
            f"{percent(vain / polls)} of polls find a station with nothing to send: "
            "contention-free periods waste airtime here"
        ]
    return []


def _not_steady(record: Mapping[str, Any], measured_s: float) -> str:
    """Return why the run is too short, and which duration would suffice."""
    enough_s = record["simulate_s"]
    bounds = " Values marked ≥ are lower bounds." if record["at_least"] else ""
    longer = (
        "Use a longer run and a longer warm-up."
        if enough_s is None
        else f"Use --set run.duration={math.ceil(enough_s)}s."
    )
    return f"run too short ({duration(measured_s)}): {record['reason']}.{bounds} {longer}"


def _time_by_littles_law(result: Comparison | SimulationResult) -> float | None:
    """Return the mean time in seconds of all transfers, finished or not.

    By Little's law (1961), it is the number in progress over the arrival rate. None if some flows
    never end, or if the finished transfers represent all.
    """
    simulation, run = result.simulation, result.scenario.run
    if any(not APPLICATIONS[flow.application.kind].ends for flow in result.scenario.flows):
        return None
    ended = simulation.metrics.get("transfer_time_s")
    active = simulation.metrics.get("active_flows")
    transfers = simulation.counts["transfers"]
    if ended is None or not ended.mean or active is None or not active.mean or not transfers:
        return None
    measured_s = simulation.replications * run.duration_ns / 1e9
    expected = active.mean * measured_s / transfers
    return expected if expected > _MISSING_TIME * ended.mean else None

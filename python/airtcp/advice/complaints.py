"""Complaints: what users of a group feel of a network, and by which metric.

Knows waits, losses and times of transfers beyond their thresholds. Does not know what causes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from airtcp.advice.profiles import profile_of, targets_of
from airtcp.advice.reading import Reading, Scope, known
from airtcp.advice.thresholds import of
from airtcp.amounts import percent, quantity
from airtcp.results.advice import Goal

#: The beginnings of the metrics of round trips.
ROUND_TRIPS: Final = ("path_rtt", "rtt")
#: The metrics of what endless flows get.
_GOODPUTS: Final = ("goodput_bps", "flow_goodput_bps", "share_of_alone")


@dataclass(frozen=True)
class Sign:
    """A sign of a problem: the scopes that feel it, the one that does most first, and evidence.

    A remedy betters `goal`; without one the metric by which the first scope feels how it is served.
    """

    scopes: list[Scope]
    evidence: str
    goal: Goal | None = None


def felt(reading: Reading, scope: Scope) -> Goal:
    """Return the metric by which the users of a scope feel how they are served.

    Of datagrams it is the delay, or the loss where that alone is too much.
    """
    metric = felt_metrics(scope)[0]
    if scope.live and loses(reading, scope) and not comes_late(reading, scope):
        metric = "packet_loss"
    return Goal(metric, scope.group, scope.part)


def felt_metrics(scope: Scope) -> tuple[str, ...]:
    """Return all metrics by which the users of a scope may feel how they are served.

    People wait for whole pages where these are known, else for transfers, where any has ended.
    """
    if scope.live:
        return "packet_delay_p95_s", "packet_loss"
    if scope.waits_for_pages:
        for metric in ("page_time_p90_s", "transfer_time_p90_s"):
            if scope.mean(metric) is not None:
                return (metric,)
    return ("flow_goodput_bps",)


def is_felt(metric: str, *values: float) -> bool:
    """Tell whether a change of a metric between these values may be felt: few losses are not."""
    return metric != "packet_loss" or max(values) > of("call loss")


def suffers(reading: Reading, scope: Scope) -> str:
    """Tell losses and delays of the datagrams of a scope; "" if nothing.

    A written target on a metric stands in place of the threshold.
    """
    told = []
    if comes_late(reading, scope):
        delay = scope.mean("packet_delay_p95_s")
        told.append(f"take up to {quantity(delay, 's', 2)} (95th percentile)")
    if loses(reading, scope):
        told.append(f"lose {percent(scope.mean('packet_loss'))} of their packets")
    return f"{scope} {' and '.join(told)}" if told else ""


def comes_late(reading: Reading, scope: Scope) -> bool:
    """Tell whether the datagrams of a scope take too long."""
    delay = scope.mean("packet_delay_p95_s") if scope.live else None
    if delay is None:
        return False
    beyond = delay - reading.base_delay_s(scope)
    return _is_beyond(reading, scope, "packet_delay", beyond, "call delay")


def loses(reading: Reading, scope: Scope) -> bool:
    """Tell whether too many datagrams of a scope are lost."""
    lost = scope.mean("packet_loss") if scope.live else None
    return lost is not None and _is_beyond(reading, scope, "packet_loss", lost, "call loss")


def _is_beyond(reading: Reading, scope: Scope, metric: str, value: float, threshold: str) -> bool:
    """Tell whether a written target on a metric is missed, or without one the threshold passed."""
    wanted = reading.targets(scope, metric)
    return any(map(scope.misses, wanted)) if wanted else value > of(threshold)


def suffering(reading: Reading) -> list[Scope]:
    """Return the scopes whose datagrams come late or are lost."""
    return [scope for scope in reading.scopes if suffers(reading, scope)]


def waits(reading: Reading, scope: Scope) -> str:
    """Tell the wait of segments of a scope; "" if it is no longer than is all right.

    A written target on round trips stands in place of the threshold, unless the wires alone miss
    it.
    """
    wait = reading.excess_rtt_s(scope)
    bound = of("page wait") if scope.waits_for_pages else of("bulk wait")
    wanted = [one for one in reading.targets(scope, *ROUND_TRIPS) if not one.above]
    missed = any(
        scope.misses(one) and reading.base_rtt_s(scope) <= of("way") * one.bound for one in wanted
    )
    # Segments that wait for the receiver's timer are in no queue.
    if wait is None or reading.waits_for_timer(scope) or not (missed if wanted else wait > bound):
        return ""
    return f"segments of {scope} wait {quantity(wait, 's', 2)} in queues and for the air"


def complaint(reading: Reading, scope: Scope) -> str:
    """Tell the complaint that users of a scope have; "" if they have none."""
    told = suffers(reading, scope) or waits(reading, scope) or too_little(reading, scope)
    return told or slow_pages(reading, scope)


def too_little(reading: Reading, scope: Scope) -> str:
    """Tell the target on goodput that endless flows of a scope miss; "" if they miss none."""
    wanted = (target.condition for target in targets_of(reading.scenario)[0] if scope.endless)
    for target in wanted:
        is_asked = target.above and target.metric in _GOODPUTS and reading.is_about(target, scope)
        if is_asked and reading.misses(target):
            got = known(reading.measured(target))
            unit = target.about.unit
            told = quantity(got, unit, 3) if unit else percent(got)
            return f"{target.label} is {told}, wanted > {target.bound_text}"
    return ""


def slow_pages(reading: Reading, scope: Scope) -> str:
    """Tell that people of a scope wait too long for the slowest pages or transfers; "" if not.

    Of pages and files these are one in ten, of segments of a film one in twenty.
    """
    metric = "transfer_time" if scope.mean("page_time_p90_s") is None else "page_time"
    threshold, percentile, share = _allowed(reading, scope)
    time = scope.mean(f"{metric}_{percentile}_s")
    if not scope.waits_for_pages or time is None:
        return ""
    if not _is_beyond(reading, scope, metric, time, threshold):
        return ""
    what = "pages" if metric == "page_time" else "transfers"
    return f"one in {share} {what} of {scope} takes more than {quantity(time, 's', 2)}"


def _allowed(reading: Reading, scope: Scope) -> tuple[str, str, str]:
    """Return the threshold of what a scope waits for, the percentile held to it, and its share."""
    purposes = reading.scenario.purposes
    profiles = {profile_of(flow, purpose=purposes.get(flow.name)) for flow in scope.flows}
    if profiles & {"web", "web page"}:
        return "page time", "p90", "ten"
    if "video segments" in profiles:
        return "segment time", "p95", "twenty"
    return "file time", "p90", "ten"


def gets_nothing(scope: Scope) -> bool:
    """Tell whether people of a scope wait, and nothing that they wait for arrives."""
    waiting = scope.mean("active_flows") or 0.0
    return scope.waits_for_pages and scope.mean("flow_goodput_bps") == 0.0 and waiting > 0.0


def wanting(reading: Reading) -> list[Scope]:
    """Return the scopes that could use more: those with endless flows of TCP, else all."""
    return [scope for scope in reading.scopes if scope.endless] or list(reading.scopes)

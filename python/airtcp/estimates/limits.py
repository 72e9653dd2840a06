"""Keep intervals within the limits of each metric, and bound events that never occurred.

No time, rate or count is below 0, no share is above 1, and no goodput is above the PHY rate. An
interval that comes close to such a limit is computed on the metric's own scale: the logarithm of
times, rates and counts, log p / (1 - p) of shares. For times, rates and counts its ends are mean
exp(+-h), where h is the half width over the mean. A narrow interval is the same on all scales, so
it stays unchanged.

If none of N independent trials shows an event, its probability is at most 3 / N at 95 % (J. Hanley
and A. Lippman-Hand, "If nothing goes wrong, is everything all right?", JAMA 249, 1983).
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from airtcp.estimates.percentiles import PERCENTILES, in_order
from airtcp.scenario.keys.traffic import Flow, has_end
from airtcp.stats import Interval

if TYPE_CHECKING:
    from airtcp.estimates.traffic import Run
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.queue import AccessPoint, Queue

#: An arm longer than this part of the distance to a limit is computed on the scale of the metric.
#: At this length the two scales differ by a thirtieth of the mean.
_FAR: Final = 0.25
#: The longest arm on that scale, a factor of 55. Two replications with almost no agreement give
#: such an arm. It means that next to nothing is known.
LONGEST_ARM: Final = 4.0
_PARTS: Final = re.compile(r"probability|ratio|loss$|jain_index|contention_free_share|^drop_")
_BUSY: Final = re.compile(r"utilization|airtime_share|^data$|^tcp_ack$|^control$")
_COUNTS: Final = frozenset({"tcp_retransmissions", "tcp_timeouts"})
#: Metrics that are zero without traffic. Such a zero carries no information.
_OF_TRAFFIC: Final = ("goodput_bps", "flow_goodput_bps", "channel_utilization", "airtime_share")
#: R of the E-model is at most 100 for the bandwidth of a telephone (ITU-T G.107, 7.1).
_MOST_R: Final = 100.0


def confined(metric: str, interval: Interval, most: float = math.inf) -> Interval:
    """Return an interval within the limits of its metric, on its scale, and up to `most`.

    The given arms belong to a mean of samples.
    """
    return widened(metric, interval, 0.0, most, are_linear=True)


def of_category(metric: str, interval: Interval) -> Interval:
    """Return an interval of an access category within the limits of its metric.

    Transmissions of a category are not counted. There was at least one in each replication with a
    value, so an event that never occurred has a probability of at most 3 over their number.
    """
    if interval.n > 1 and interval.high == 0.0 and _PARTS.search(metric):
        return Interval(0.0, 0.0, min(1.0, 3.0 / interval.n), interval.n)
    return confined(metric, interval)


def widened(
    metric: str, interval: Interval, by: float, most: float = math.inf, *, are_linear: bool = False
) -> Interval:
    """Add an independent error, in the unit of the metric, to both arms of an interval.

    The sum is computed on the scale of the metric. `are_linear` says that the given arms are not on
    that scale yet.
    """
    if metric == "r_factor":
        mean, low, high = interval.mean, interval.low, interval.high
        if mean is not None and low is not None and high is not None:
            low, high = mean - math.hypot(mean - low, by), mean + math.hypot(high - mean, by)
        return _clipped(Interval(mean, low, high, interval.n), -math.inf, _MOST_R)
    top = 1.0 if _PARTS.search(metric) else math.inf
    mean, low, high = interval.mean, interval.low, interval.high
    if mean is None or mean <= 0.0 or mean >= top:
        return _clipped(interval, 0.0, min(top, most))
    error = by / (mean * (1.0 if math.isinf(top) else 1.0 - mean))

    def stays(end: float) -> bool:
        return not error and _arm(mean, top, end, True) <= _FAR

    if low is not None and not stays(low):
        low = _at(mean, top, -math.hypot(_arm(mean, top, low, are_linear), error))
    if high is not None and not stays(high):
        high = _at(mean, top, math.hypot(_arm(mean, top, high, are_linear), error))
    return _clipped(Interval(mean, low, high, interval.n), 0.0, min(top, most))


def _arm(mean: float, top: float, end: float, is_linear: bool) -> float:
    """Return the distance of an end from the mean on the scale of the metric."""
    arm = abs(end - mean) / (mean * (1.0 if math.isinf(top) else 1.0 - mean))
    if is_linear or arm <= _FAR:
        return arm
    if not 0.0 < end < top:
        return LONGEST_ARM
    arm = math.log(end / mean)
    if not math.isinf(top):
        arm -= math.log((top - end) / (top - mean))
    return abs(arm)


def _at(mean: float, top: float, by: float) -> float:
    """Return the number at distance `by` from `mean` on the scale of the metric."""
    if abs(by) <= _FAR:
        return mean * (1.0 + by * (1.0 if math.isinf(top) else 1.0 - mean))
    by = max(-LONGEST_ARM, min(LONGEST_ARM, by))
    if math.isinf(top):
        return mean * math.exp(by)
    odds = mean / (1.0 - mean) * math.exp(by)
    return odds / (1.0 + odds)


def _clipped(interval: Interval, least: float, most: float) -> Interval:
    mean, low, high = interval.mean, interval.low, interval.high
    most = max(most, -math.inf if mean is None else mean)
    return Interval(
        mean,
        None if low is None else min(max(low, least), most),
        None if high is None else min(max(high, least), most),
        interval.n,
    )


def within_limits(
    metrics: Mapping[str, Interval],
    runs: Sequence[Run],
    scenario: ResolvedScenario | None,
    group: str | None = None,
    part: str = "all",
    *,
    are_linear: bool = True,
) -> dict[str, Interval]:
    """Limit the intervals of the whole network, or of a part of a group, to the metrics' ranges.

    `are_linear` says that the given arms are not on the scales of their metrics yet.
    """
    found = {}
    is_once = scenario is not None and all(map(has_end, flows_of(scenario, group, part)))
    for name, interval in metrics.items():
        if interval.n and scenario is not None and never_happens(name, scenario, group, part):
            found[name] = Interval(0.0, 0.0, 0.0, interval.n)
            continue
        if interval.low is None and interval.high is None:
            # A mean without an interval says nothing about other runs.
            found[name] = interval if len(runs) <= 1 else Interval(None, None, None, interval.n)
            continue
        if not (is_once and name in _OF_TRAFFIC):
            interval = unseen(name, interval, runs, group, part)
        most = math.inf if scenario is None else most_of(name, scenario, group, part)
        limited = widened(name, interval, 0.0, most, are_linear=are_linear)
        if name in PERCENTILES and limited.low is not None and interval.low is not None:
            # The lower end is a percentile of samples, which the scale must not bring nearer.
            limited = replace(limited, low=min(limited.low, max(interval.low, 0.0)))
        found[name] = limited
    in_order(found)
    return found


def never_happens(
    metric: str, scenario: ResolvedScenario, group: str | None = None, part: str = "all"
) -> bool:
    """Whether a scenario rules out the event that a metric counts, however long it runs.

    An unlimited queue drops nothing, without Block ACKs no packet is out of order, and only TCP
    retransmits.
    """
    if metric in _COUNTS:
        return all(flow.tcp is None for flow in flows_of(scenario, group, part))
    if metric.startswith("reorder_delay"):
        return scenario.mac.aggregation is None
    if metric == "ap_queue_drop_probability":
        return all(_drops_nothing(ap.queue) for ap in _access_points(scenario))
    if metric == "station_queue_drop_probability":
        return all(
            _drops_nothing(one.queue) for one in scenario.stations if group in (None, one.name)
        )
    return False


def _access_points(scenario: ResolvedScenario) -> list[AccessPoint]:
    return [cell.ap for cell in scenario.cells] if scenario.cells else [scenario.ap]


def _drops_nothing(queue: Queue) -> bool:
    return queue.discipline == "fifo" and queue.limit is None and queue.ack_filter is None


def stretched(metric: str, interval: Interval, down: float, up: float) -> Interval:
    """Add independent errors to the two arms of an interval, on the scale of the metric."""
    top = 1.0 if _PARTS.search(metric) else math.inf
    mean, low, high = interval.mean, interval.low, interval.high
    if mean is None or low is None or high is None or not 0.0 < mean < top:
        return interval
    low = _at(mean, top, -math.hypot(_arm(mean, top, low, False), down))
    high = _at(mean, top, math.hypot(_arm(mean, top, high, False), up))
    return Interval(mean, low, high, interval.n)


def most_of(
    metric: str, scenario: ResolvedScenario, group: str | None = None, part: str = "all"
) -> float:
    """Return an upper bound of a metric in a scenario, infinite if no limit is known."""
    if _BUSY.search(metric):
        # A group belongs to one cell.
        return float(max(1, len(scenario.cells or ()))) if group is None else 1.0
    own = flows_of(scenario, group, part)
    counts = {one.name: one.count for one in scenario.stations}
    flows = sum(counts[flow.stations] for flow in own)
    if metric == "active_flows":
        # Users of other applications may have several transfers in progress.
        own = [flow for flow in own if flow.application.kind != "udp"]
        few = all(flow.application.kind == "bulk" for flow in own)
        return float(sum(counts[flow.stations] for flow in own)) if few else math.inf
    if metric not in ("goodput_bps", "flow_goodput_bps"):
        return math.inf
    rates: dict[int, int] = {}
    for one in scenario.stations:
        if group in (None, one.name):
            rates[one.cell or 0] = max(rates.get(one.cell or 0, 0), one.data_rate.bps)
    most = float(sum(rates.values()))
    offered = [offered_bps(flow) for flow in own]
    if all(one is not None for one in offered):
        asked = zip(own, offered, strict=True)
        most = min(most, sum(counts[flow.stations] * (one or 0.0) for flow, one in asked))
    return most / max(1, flows) if metric == "flow_goodput_bps" else most


def most_of_cell(scenario: ResolvedScenario, groups: Collection[str]) -> float:
    """Return an upper bound of the goodput of a cell: the fastest rate of its `groups`."""
    rates = [float(one.data_rate.bps) for one in scenario.stations if one.name in groups]
    return max(rates, default=0.0)


def flows_of(scenario: ResolvedScenario, group: str | None, part: str) -> list[Flow]:
    """Return the flows of a group in a direction; None means every group, "all" both directions."""
    return [
        flow
        for flow in scenario.flows
        if group in (None, flow.stations) and part in ("all", flow.direction)
    ]


def offered_bps(flow: Flow) -> float | None:
    """Return the rate in bits per second at which each station sends; None if TCP decides it."""
    application: Any = flow.application
    rate = getattr(application, "rate_bps", None) if application.kind == "udp" else None
    return None if rate is None else float(rate)


def unseen(
    metric: str, interval: Interval, runs: Sequence[Run], group: str | None, part: str
) -> Interval:
    """Return an interval for a metric that is 0 in all replications, or an equal count in all.

    A probability is at most 3 over the number of trials, a count of events 3 over the number of
    replications. Equal counts have the exact interval of a Poisson mean (Garwood 1936), 95 %. A
    metric that is 0 because there was no traffic gets no interval.
    """
    if metric in _COUNTS and interval.mean and interval.low == interval.high:
        from scipy.special import gammaincinv

        events = interval.n * interval.mean
        low, high = (float(gammaincinv(*at)) for at in ((events, 0.025), (events + 1.0, 0.975)))
        return Interval(interval.mean, low / interval.n, high / interval.n, interval.n)
    if interval.mean != 0.0 or interval.high != 0.0:
        return interval
    if metric in _COUNTS:
        return Interval(0.0, 0.0, 3.0 / interval.n, interval.n)
    if _PARTS.search(metric):
        number = _trials(metric, runs, group, part)
        return Interval(0.0, 0.0, min(1.0, 3.0 / number), interval.n) if number else interval
    if metric in _OF_TRAFFIC:
        return Interval(None, None, None, interval.n)
    return interval


def _trials(metric: str, runs: Sequence[Run], group: str | None, part: str) -> float:
    """Return the number of independent trials behind a share: packets, or transmissions.

    For aggregated data, transmissions count, which are fewer than MPDUs. 0 if no count is known.
    """
    if metric == "packet_loss":
        return float(sum(_delays(run, "packet_delay", group, part) for run in runs))
    if metric == "ap_queue_drop_probability":
        return float(sum(_delays(run, "ap_queue_delay", group, part) for run in runs))
    return float(sum(_sent(run.answer, metric, group) for run in runs))


def _delays(run: Run, base: str, group: str | None, part: str) -> int:
    accounts = run.accounts
    if accounts is None or accounts.delays is None:
        return 0
    scopes = None
    if group is not None:
        place = [one["name"] for one in run.answer["groups"]].index(group)
        scopes = [2 * place + way for way in {"download": (0,), "upload": (1,)}.get(part, (0, 1))]
    return int(np.sum(accounts.delays.of(base, scopes)))


def _sent(answer: Mapping[str, Any], metric: str, group: str | None) -> int:
    names = {one["name"] for one in answer["groups"]}

    def counts(node: Mapping[str, Any]) -> bool:
        own, _, _ = node["name"].rpartition("/")
        of_station = own in names
        if metric.endswith("_ap"):
            return not of_station
        if metric.endswith("_stations") or metric.startswith("station_"):
            return of_station and group in (None, own)
        return group in (None, own)

    return sum(int(node["attempts"]) for node in answer["stations"] if counts(node))

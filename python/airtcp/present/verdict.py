"""A verdict in words and rows, for the terminal and for the report.

Knows how targets, their intervals and what fails first are told to somebody who wants to know
whether a network will do. Judges nothing.
"""

from __future__ import annotations

import math
import re
import shlex
from typing import TYPE_CHECKING, Final

from airtcp.amounts import percent, quantity, scaled
from airtcp.labels import flows_of
from airtcp.results.cells import SHARE_OF_ALONE
from airtcp.scenario.keys.traffic import is_endless
from airtcp.stats import WIDE

if TYPE_CHECKING:
    from airtcp.conditions import Condition
    from airtcp.metrics import Metric
    from airtcp.results import Comparison, Simulation, SimulationResult
    from airtcp.results.verdict import Judged, State, Verdict
    from airtcp.stats import Interval

STATES: Final = {"holds": "Holds", "fails": "Fails", "unknown": "Cannot tell yet"}
HEAD: Final = ("target", "wanted", "measured", "")
#: Columns for the name of a target, at least.
LEAST_NAME: Final = 18
#: The number of rows beyond which those with the most room are folded.
MOST_ROWS: Final = 8
#: More replications than this are not proposed.
_MOST_RUNS: Final = 1000
#: Replications that are proposed where there is no interval yet.
_FIRST_RUNS: Final = 5
#: From this many times its bound on, a metric is told in times and no longer in per cent.
_TIMES: Final = 2.0
#: The part of a wanted goodput below which a flow gets next to nothing of it; chosen.
_STARVED: Final = 0.5


def headline(verdict: Verdict) -> str:
    """Tell the verdict, and of the target that decides by how much."""
    nearest = verdict.nearest
    if nearest is None:
        return f"{STATES[verdict.state]}."
    told = f"{about(nearest)} is {_measured(nearest)}, wanted {wanted_text(nearest)}"
    count = sum(one.state == verdict.state for one in verdict.targets)
    if verdict.state == "holds":
        which = (
            ""
            if count == 1
            else f"{'both' if count == 2 else f'all {count}'} targets do; nearest to its bound, "
        )
        return f"Holds: {which}{told}: {_by(nearest)}."
    more = f" ({count - 1} more {'fails' if count == 2 else 'fail'})" if count > 1 else ""
    if verdict.state == "fails":
        return f"Fails: {told}: {_by(nearest)}{more}."
    return f"Cannot tell yet: {told}."


def basis(verdict: Verdict) -> str | None:
    """Tell what the targets are if a file has none; None if it has."""
    if verdict.written:
        return None
    profiles = dict.fromkeys(one.target.profile for one in verdict.targets)
    return (
        f"No [targets] in the file: usual ones for this traffic ({', '.join(profiles)}) are used."
    )


def growth_lines(verdict: Verdict) -> list[str]:
    """Tell which target fails first as the network grows, and at about how many stations.

    Then the way to the exact number.
    """
    growth, nearest = verdict.growth, verdict.nearest
    if nearest is None or verdict.state == "unknown":
        return []
    exact = ""
    if verdict.state == "holds":
        first = nearest if growth is None else _of(verdict, growth.target)
        if first.target.condition.metric != SHARE_OF_ALONE:
            exact = f"How far it carries: airtcp plan FILE --until {shlex.quote(_broken(first))}"
    if growth is None or (not growth.holds_at and growth.fails_at >= growth.present):
        # Unknown, or no network that is smaller was looked at.
        return [exact] if exact else []
    target, now = about(_of(verdict, growth.target)), f"(now {growth.present})"
    if growth.holds_at >= growth.present:
        told = f"As it grows it holds up to some {_stations(growth.holds_at)} {now}; at "
        told += f"{growth.fails_at} {target} fails first, by short looks."
    elif growth.holds_at:
        told = f"It holds with some {_stations(growth.holds_at)} {now}, by short looks; at "
        told += f"{growth.fails_at} {target} fails."
    else:
        told = (
            f"Fewer stations are no way out: with {growth.fails_at} {now} {target} fails as well,"
        )
        told += " by short looks."
    return [told, exact] if exact else [told]


def _of(verdict: Verdict, text: str) -> Judged:
    return next(one for one in verdict.targets if one.target.text == text)


def _broken(one: Judged) -> str:
    """Return the condition that plan shall stop at: the bound is passed."""
    sign, other = (">", "<") if one.target.condition.above else ("<", ">")
    return one.target.text.replace(sign, other)


def next_step(verdict: Verdict, simulation: Simulation) -> str | None:
    """Say what would tell more where the runs do not tell, or whose pages never come; else None."""
    waiting = [
        f" of {flows_of(one.target.condition.group, one.target.condition.part)}"
        if one.target.condition.group
        else ""
        for one in verdict.targets
        if one.target.condition.metric.startswith("page_time")
        and one.interval.n == 0
        and one.interval.low is not None
    ]
    if waiting:
        whose = " and".join(dict.fromkeys(waiting))
        return f"No page{whose} comes in any of the runs: see what is wrong."
    if verdict.state != "unknown":
        return None
    unknown = [one for one in verdict.targets if one.state == "unknown"]
    unmeasured = [one for one in unknown if one.interval.mean is None]
    if any(_nothing_comes(one.target.condition, simulation) for one in unmeasured):
        return "Nothing gets through in any of the runs: see what is wrong."
    # Transfers that are long beside the runs have no estimate, however many were seen; and runs
    # that all drift alike do so, however many there are.
    too_short = simulation.steadiness is not None
    if too_short or any(one.interval.low is not None for one in unmeasured):
        return "The runs are too short for this traffic: a longer run.duration tells."
    if unmeasured:
        return "Nothing of it was seen: a longer run.duration tells."
    wanted = [_runs_wanted(one, simulation.replications) for one in unknown]
    if max(wanted) <= _MOST_RUNS:
        return f"What may tell: --replications {max(wanted)}."
    if any((one.interval.relative_half_width or 0.0) > WIDE for one in unknown):
        return (
            "The intervals are too wide for more replications alone: a longer run.duration tells."
        )
    return "It is at its bound: no number of replications that is worth its time tells."


def lines(verdict: Verdict, result: Comparison | SimulationResult | None) -> list[str]:
    """Tell what stands below the headline: on what it is based, as of a glance, without a result.

    Of a simulation whom a mean hides stands before that, and what may tell more behind it.
    """
    said = [basis(verdict)]
    if result is not None:
        hidden, step = starved_lines(verdict, result), next_step(verdict, result.simulation)
        said = [*hidden, *said, step]
    return [line for line in said if line is not None]


def starved_lines(verdict: Verdict, result: Comparison | SimulationResult) -> list[str]:
    """Tell of goodputs per flow that are not missed in the mean how many flows get next to nothing.

    Less than half of what is wanted, in half of the runs or more, of flows that take all they get.
    """
    told = []
    for one in verdict.targets:
        condition = one.target.condition
        if condition.metric != "flow_goodput_bps" or not condition.above or one.state == "fails":
            continue
        entries = [
            flow.name
            for flow in result.scenario.flows
            if is_endless(flow)
            and condition.group in (None, flow.stations)
            and condition.part in ("all", flow.direction)
        ]
        runs = [
            [
                flow["goodput_bps"]
                for flow in run.answer["flows"]
                if flow["name"].rpartition("/")[0] in entries
            ]
            for run in result.simulation.runs
        ]
        poor = [sum(got < _STARVED * condition.bound for got in run) for run in runs]
        found = sorted(filter(None, poor))
        if found and 2 * len(found) >= len(runs):
            least = quantity(min(map(min, runs)), "b/s", 2)
            some, of = found[len(found) // 2], len(runs[0])
            who = "the flow gets" if of == 1 else f"{some} of {of} flows get{'s' * (some == 1)}"
            told.append(
                f"{about(one)} is a mean: in {len(found)} of {len(runs)} runs {who} less than half "
                f"of {condition.bound_text}, the least {least}."
            )
    return [line[0].upper() + line[1:] for line in told]


def _nothing_comes(condition: Condition, simulation: Simulation) -> bool:
    """Tell whether the flows that a target is about wait for timers of TCP, and get nothing."""
    flows = [
        flow
        for flow in simulation.flows
        if condition.group in (None, flow.station.rpartition("/")[0])
        and condition.part in ("all", flow.direction)
    ]
    nothing = all(flow.goodput_bps == 0.0 and flow.transfers == 0 for flow in flows)
    return nothing and any(flow.timeouts > 0.0 for flow in flows)


def rows(verdict: Verdict) -> list[tuple[str, str, str, str]]:
    """Return a row for each target under `HEAD`, those that fail first, then by their room."""
    order: dict[State, int] = {"fails": 0, "unknown": 1, "holds": 2}
    shown = sorted(verdict.targets, key=lambda one: (order[one.state], one.margin or 0.0))
    return [
        (
            about(one),
            wanted_text(one),
            _measured(one),
            f"{STATES[one.state].lower()}{', ' + _by(one) if one.state != 'unknown' else ''}",
        )
        for one in shown
    ]


def about(one: Judged) -> str:
    """Name what a target is about: "p95 packet delay of call downloads"."""
    condition = one.target.condition
    if condition.group is not None or condition.cell is not None:
        return condition.label
    label, _, statistic = condition.about.label.partition(", ")
    quantile = re.search(r"_(p\d+)_", condition.metric)
    if quantile is not None:
        label = f"{quantile[1]} {label}"
    elif statistic not in ("mean", "all flows", ""):
        label = f"{label}, {statistic}"
    return label


def wanted_text(one: Judged) -> str:
    """Return the bound with its sign: "< 50 ms"."""
    condition = one.target.condition
    return f"{'>' if condition.above else '<'} {condition.bound_text}"


def _measured(one: Judged) -> str:
    """Tell a mean with its interval in one unit: "74.3 ms (68.5 to 80.0)"."""
    interval, condition = one.interval, one.target.condition
    if interval.mean is None:
        # That something is at least nothing says nothing.
        at_least = interval.low
        return f"at least {amount(at_least, condition.about)}" if at_least else "not known"
    told = amount(interval.mean, condition.about)
    if interval.low is None or interval.high is None:
        return told
    factor, _ = scaled(interval.mean, condition.about.read_in)
    spread = f"{interval.half_width or 0.0:.1e}"
    decimals = max(0, 1 - int(spread.partition("e")[2]) + round(math.log10(factor)))
    low, high = (f"{end / factor:.{decimals}f}" for end in (max(0.0, interval.low), interval.high))
    return f"{told} ({low} to {high})" if interval.half_width else told


def amount(value: float | None, metric: Metric) -> str:
    """Tell a value of a metric with its unit: parts of one in per cent."""
    return percent(value) if metric.is_part else quantity(value, metric.unit, 3)


def _stations(number: int) -> str:
    """Tell a number of stations."""
    return f"{number} station{'s' if number > 1 else ''}"


def _by(one: Judged) -> str:
    """Tell by how much a target holds or fails."""
    condition, margin = one.target.condition, one.margin
    if margin is None:
        return "at its bound"
    value = one.interval.low if one.interval.mean is None else one.interval.mean
    assert value is not None, "a margin has a value"
    ratio = value / condition.bound if condition.bound else math.inf
    if condition.above and ratio >= _TIMES:
        return f"{quantity(ratio, '', 2)} times as much"
    if condition.above and ratio > 0.0 and 1.0 / ratio >= _TIMES:
        return f"{quantity(1.0 / ratio, '', 2)} times too little"
    if not condition.above and ratio >= _TIMES:
        return f"{quantity(ratio, '', 2)} times too much"
    room = f"{100.0 * abs(margin):.0f} %"
    if margin >= 0.0:
        return f"{room} to spare"
    return f"{room} too little" if condition.above else f"{room} too much"


def _runs_wanted(one: Judged, runs: int) -> int:
    """Count the replications with which an interval would be as narrow as its mean is far."""
    interval = one.interval
    if interval.mean is None or interval.half_width is None:
        return max(_FIRST_RUNS, 2 * runs)
    return _needed(interval, abs(interval.mean - one.target.condition.bound), runs)


def _needed(interval: Interval, distance: float, runs: int) -> int:
    half = interval.half_width or 0.0
    if distance <= half / math.sqrt(_MOST_RUNS):
        return _MOST_RUNS + 1
    # A half more, for the mean is not known either.
    return max(2 * runs, math.ceil(1.5 * runs * (half / distance) ** 2))

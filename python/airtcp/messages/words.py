"""Words that several screens share: metrics, groups, targets, causes, costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from airtcp.amounts import scaled
from airtcp.conditions import Condition, read_condition
from airtcp.judge.counterfactual import PROBLEMS
from airtcp.metrics import METRICS, Metric

if TYPE_CHECKING:
    from airtcp.results.advice import Cause, Effect
    from airtcp.scenario import ResolvedScenario
    from airtcp.stats import Interval

MARKS: Final = {"holds": "✓", "fails": "✗", "unknown": "?"}
ARROWS: Final = {"download": "↓", "upload": "↑", "all": ""}

COSTS: Final = {
    "setting": "",
    "spectrum": "spectrum",
    "hardware": "hardware",
    "usage": "changes the traffic",
    "research": "research idea, no product has it",
}


def scope(group: str | None, part: str) -> str:
    """Return a group with an arrow for its direction: "caller ↓"."""
    if group is None:
        return "all"
    return f"{group} {ARROWS[part]}".rstrip()


def target_about(condition: Condition) -> str:
    """Return the subject of a target: "caller ↓ packet delay, p95"."""
    about = metric_label(condition.about)
    if condition.cell is not None:
        return f"cell {condition.cell}  {about}"
    if condition.group is None:
        return about
    return f"{scope(condition.group, condition.part)}  {about}"


def metric_label(metric: Metric) -> str:
    """Return a metric with its statistic after a comma: "packet delay, p95"."""
    more = metric.quantile or (metric.of if metric.of != "all flows" else "")
    return f"{metric.what}, {more}" if more else metric.what


def short(metric: Metric) -> str:
    """Return a metric as in a table head: "RTT"."""
    return "RTT" if metric.name == "path_rtt_s" else metric_label(metric)


def wanted(condition: Condition) -> str:
    """Return the bound of a target with its sign: "< 50 ms"."""
    return f"{'>' if condition.above else '<'} {condition.bound_text}"


def measured(interval: Interval, metric: Metric) -> str:
    """Return a mean, or a lower bound if there is no upper one: "169 ms", "≥ 7.1 s"."""
    if interval.low and interval.high is None:
        return f"≥ {metric.format(interval.low)}"
    return metric.format(interval.mean)


def spread(interval: Interval, metric: Metric) -> str:
    """Return the ends of an interval in the unit of its mean: "159–179"."""
    mean, low, high = interval.mean, interval.low, interval.high
    if mean is None or low is None or high is None or not interval.half_width:
        return ""
    factor, _ = scaled(mean, metric.read_in)
    if mean == 0.0:
        return f"0–{high / factor:.2g}"
    width = (high - low) / 2.0 / factor
    decimals = max(0, 1 - math.floor(math.log10(width))) if width > 0.0 else 0
    decimals = min(decimals, max(0, 2 - math.floor(math.log10(max(abs(mean / factor), 1e-9)))))
    floor = 0.0 if low >= 0.0 or mean >= 0.0 else low
    return f"{max(low, floor) / factor:.{decimals}f}–{high / factor:.{decimals}f}"


def _inside(name: str) -> str:
    """Return a name as it is written inside a sentence: without its capital, except for "TCP"."""
    return name[:1].lower() + name[1:] if name[1:2].islower() else name


def cause_label(one: Cause) -> str:
    """Return the label of a cause: "Limit" if it is about transfers without a target."""
    return "Cause" if one.of else "Limit"


def cause(one: Cause) -> str:
    """Return a cause with its evidence in one sentence."""
    told = (PROBLEMS[part] for part in one.problem.split(" + "))
    parts = [(part["is"], part["without"]) for part in told]
    first, *rest = dict.fromkeys(
        name.format(groups=", ".join(groups))
        for (name, _), groups in zip(parts, one.each, strict=True)
    )
    named = " and ".join((first, *map(_inside, rest)))
    how = parts[0][1] if len(parts) == 1 else "without both"
    if len(set(parts)) == 1 and len(parts) > 1:
        how = "without them"
    if not one.of:
        change_bps = change(one.goodput_before_bps, one.goodput_after_bps, "goodput_bps")
        return f"{named}: {how}, goodput {change_bps}"
    if one.met > one.met_before:
        of = f"{one.met} of {one.of}" if one.of > 1 else "the"
        many = one.of > 1
        return f"{named}: {how}, {of} target{'s' if many else ''} {'are' if many else 'is'} met"
    return f"{named}: {how}, the worst target is {times(one.gain)} nearer to its bound"


def times(factor: float) -> str:
    """Return a factor: "2.3 times"."""
    return f"{factor:.0f} times" if factor >= 10.0 else f"{factor:.1f} times"


def about(text: str) -> str:
    """Return the subject of a target given as text: "caller ↓ packet delay, p95"."""
    return " ".join(target_about(read_condition(text)).split())


def lost(effects: Sequence[Effect]) -> str:
    """Return which group loses most of its goodput: "backup −31 %"; "" if none does."""
    kept = [
        (one.after / one.before if one.before else 1.0, one.group)
        for one in effects
        if one.metric == "goodput_bps"
    ]
    if not kept:
        return ""
    share, group = min(kept, key=lambda pair: pair[0])
    return f"{group} −{100.0 * (1.0 - share):.0f} %"


def change(before: float | None, after: float | None, metric: str) -> str:
    """Return a value before and after, in one unit: "151 → 128 Mb/s"."""
    about = METRICS[metric]
    old, new = about.format(before), about.format(after)
    number, _, unit = old.rpartition(" ")
    return f"{number} → {new}" if number and new.endswith(f" {unit}") else f"{old} → {new}"


def listed(names: Sequence[str], most: int = 3) -> str:
    """Join names, and count the names beyond `most`."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def plural(number: int, noun: str) -> str:
    """Return a count with its noun: "1 target", "8 targets"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def out_of_range(scenario: ResolvedScenario) -> list[str]:
    """Return a sentence for each group with stations that are out of range."""
    told = []
    for group in scenario.stations:
        out = group.out_of_range
        if not out:
            continue
        who = group.name if len(out) == group.count else listed([f"{group.name}/{n}" for n in out])
        are = "is" if len(out) == 1 else "are"
        told.append(
            f"{who} {are} out of range of the access point: the signal is too weak for the lowest "
            "rate, or below air.sense"
        )
    return told

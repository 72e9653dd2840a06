"""Estimates of groups and directions that add up to those of everything.

Knows which metrics of parts add up, and how a difference is shared. Does not know how an estimate
is made (`estimate`), nor records of single flows.

Each part has an estimate from its own draws, which tell more of it than those of all others. Their
sum is another estimate of the whole than that from all draws together. The gap between the two is
near zero and has mean zero; each replication's is shared among the parts by the variances of their
values: a part that is known well, such as calls at a constant rate, takes hardly any. These are the
weights of least squares for numbers that are known to add up, and are measured independently of
each other. The intervals come from the values that result, so that they are those of what is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from airtcp.estimates.estimate import IMPROVED, Estimate, Estimates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from airtcp.estimates.traffic import Run
    from airtcp.scenario import ResolvedScenario

    Array = NDArray[np.float64]

#: The metrics of parts that add up to that of the whole.
_ADD_UP: Final = ("goodput_bps", "active_flows")
_DIRECTIONS: Final = ("download", "upload")
#: A gap of this part of the values is rounding.
_NOTHING: Final = 1e-12

#: Of each group the parts "all", "download" and "upload" where it has them, by metric.
GroupEstimates = dict[str, dict[str, dict[str, Estimate]]]


def improved_groups(
    runs: Sequence[Run], scenario: ResolvedScenario | None, confidence: float
) -> GroupEstimates:
    """Estimate what has another estimator than the plain one, of each group and its directions.

    Goodputs and transfers in progress of groups add up to those of everything, and those of the
    directions of a group to the group's. Empty without a scenario or books.
    """
    if scenario is None or not runs or any(run.books is None for run in runs):
        return {}

    def of(group: str | None, part: str) -> Estimates:
        return Estimates(runs, scenario, group=group, part=part, confidence=confidence)

    whole = of(None, "all").of
    has = {
        record["name"]: [part for part in ("all", *_DIRECTIONS) if record[part] is not None]
        for record in runs[0].answer["groups"]
    }
    parts = {name: {part: of(name, part) for part in known} for name, known in has.items()}
    if not any(one.can_improve for of_group in parts.values() for one in of_group.values()):
        return {}
    found: GroupEstimates = {
        name: {
            part: {metric: one.of(metric) for metric in IMPROVED} if one.can_improve else {}
            for part, one in of_group.items()
        }
        for name, of_group in parts.items()
    }
    for metric in _ADD_UP:
        together = {name: of_group["all"] for name, of_group in parts.items()}
        for name, one in added_up(whole(metric), together, metric).items():
            found[name]["all"][metric] = one
            ways = {part: one for part, one in parts[name].items() if part != "all"}
            for part, way in added_up(one, ways, metric).items():
                found[name][part][metric] = way
    for name, of_group in found.items():
        for part, known in of_group.items():
            flows = parts[name][part].flows
            if "goodput_bps" in known and flows:
                values = np.array(known["goodput_bps"].values, dtype=float) / flows
                known["flow_goodput_bps"] = parts[name][part].of_values("flow_goodput_bps", values)
    return found


def added_up(whole: Estimate, parts: Mapping[str, Estimates], metric: str) -> dict[str, Estimate]:
    """Return the estimates of a metric of `parts`, whose values add up to those of `whole`.

    Their own where one of them has no mean. Where shares of the gap would take a part below zero,
    each has its plain values and a share of the correction of the whole in proportion to these.
    """
    own = {name: part.of(metric) for name, part in parts.items()}
    if any(None in (one.interval.mean, *one.values) for one in (whole, *own.values())):
        return {name: one for name, one in own.items() if one.estimator != "plain"}
    values = _shared(_row(whole), np.array([one.values for one in own.values()], dtype=float))
    if values is None:
        return own
    if (values.mean(axis=1) < 0.0).any():
        plain = np.array([part.samples(metric) for part in parts.values()], dtype=float)
        shares = plain.mean(axis=1) / plain.mean(axis=1).sum()
        values = plain + shares[:, None] * (_row(whole) - plain.sum(axis=0))
    return {
        name: part.of_values(metric, row)
        for (name, part), row in zip(parts.items(), values, strict=True)
    }


def _shared(whole: Array, parts: Array) -> Array | None:
    """Share the gap between a whole and the sum of its parts; None where there is nothing to share.

    `parts` has a row for each, with a value for each replication, as `whole` has.
    """
    gap = whole - parts.sum(axis=0)
    if not len(parts) or len(whole) < 2 or np.abs(gap).max() <= _NOTHING * np.abs(parts).max():
        return None
    spread = parts.var(axis=1, ddof=1)
    if not spread.sum() > 0.0:
        return None
    return np.asarray(parts + (spread / spread.sum())[:, None] * gap)


def _row(estimate: Estimate) -> Array:
    return np.array(estimate.values, dtype=float)

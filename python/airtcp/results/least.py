"""The endless flow with the lowest goodput, which a mean over flows hides."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from airtcp.amounts import quantity, quantity_with_interval
from airtcp.metrics import METRICS
from airtcp.scenario.keys.traffic import is_endless

if TYPE_CHECKING:
    from airtcp.results.objects import Replication
    from airtcp.scenario import ResolvedScenario
    from airtcp.stats import Interval

#: The text between a mean and the lowest flow.
LEAST: Final = ", least "
#: Flows differ if the lowest one gets less than this fraction of the mean.
_UNLIKE: Final = 0.5


def endless_goodputs(
    answer: Mapping[str, Any],
    scenario: ResolvedScenario,
    group: str | None = None,
    part: str = "all",
) -> list[float]:
    """Return the goodput in b/s of each endless flow of a replication, or of a group and part."""
    entries = {
        flow.name
        for flow in scenario.flows
        if is_endless(flow) and group in (None, flow.stations) and part in ("all", flow.direction)
    }
    return [
        float(flow["goodput_bps"])
        for flow in answer["flows"]
        if flow["name"].rpartition("/")[0] in entries
    ]


def least_bps(runs: Sequence[Replication], scenario: ResolvedScenario | None) -> float | None:
    """Return the goodput of the lowest endless flow, averaged over replications.

    It may be another flow in each replication. None if flows hardly differ.
    """
    if scenario is None:
        return None
    goodputs = [endless_goodputs(run.answer, scenario) for run in runs]
    if not goodputs or len(goodputs[0]) < 2:
        return None
    least = math.fsum(map(min, goodputs)) / len(goodputs)
    mean = math.fsum(map(math.fsum, goodputs)) / len(goodputs) / len(goodputs[0])
    return least if least < _UNLIKE * mean else None


def metric_text(
    name: str,
    interval: Interval,
    runs: Sequence[Replication],
    scenario: ResolvedScenario | None,
) -> str:
    """Format the interval of a metric.

    Goodput per flow includes the lowest flow, if flows differ.
    """
    text = quantity_with_interval(interval, METRICS[name].unit)
    least = None
    if name == "flow_goodput_bps" and interval.is_known:
        least = least_bps(runs, scenario)
    return text if least is None else f"{text}{LEAST}{quantity(least, 'b/s', 2)}"

"""Metrics that can exist in a scenario, for the whole network, a group, or one of its directions.

A metric may need transfers that end, pages, TCP, datagrams, speech, aggregates or polling. Whether
a run is long enough to measure it is another question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..conditions import Condition, ConditionError, read_condition
from ..metrics import METRICS
from .errors import InvalidError, invalid, phrase

if TYPE_CHECKING:
    from .keys.traffic import Flow
    from .resolved import ResolvedScenario

_NEEDS = (
    (r"transfer_time_", "transfers that end"),
    (r"page_time_", "pages"),
    (r"rtt_|path_rtt_|tcp_", "TCP"),
    (r"packet_delay_|packet_loss|jitter_", "datagrams"),
    (r"r_factor", "speech"),
    (r"ap_queue_delay_", "packets that pass through the access point's queue"),
    (r"mpdus_per_ack_ppdu", "aggregates of TCP ACKs"),
    (r"reorder_delay_|mpdus_per_ppdu", "aggregates"),
    (r"contention_free_share", "polling"),
    (r"active_flows", "transfers"),
)


def measurable_of_cells(scenario: ResolvedScenario) -> list[str]:
    """Return the metrics that each of several cells can have; none with a single cell."""
    several = len(scenario.cells or ()) > 1
    return [name for name, metric in METRICS.items() if several and "cell" in metric.scopes]


def measurable(
    scenario: ResolvedScenario, group: str | None = None, part: str = "all"
) -> list[str]:
    """Return the metrics that can have a value, for the whole network or for a part of a group."""
    scope = "all" if group is None else "group" if part == "all" else "direction"
    there = _there(scenario, group, part)
    return [
        name
        for name, metric in METRICS.items()
        if scope in metric.scopes and _needed(name) in ("", *there)
    ]


def check(scenario: ResolvedScenario, condition: Condition) -> None:
    """Check that a condition is about an existing group, and a metric that the group can have.

    Raises ConditionError with what is allowed.
    """
    group, part = condition.group, condition.part
    if condition.cell is not None:
        _check_cell(scenario, condition.cell)
        return
    if group is not None:
        names = [one.name for one in scenario.stations]
        if group not in names:
            cells = {cell.name: index for index, cell in enumerate(scenario.cells or ())}
            is_what = "no group"
            if group in cells:
                is_what = phrase("targets.not_a_group")
                own = [one.name for one in scenario.stations if one.cell == cells[group]]
                of_cell = [f"cell {group}"] if "cell" in METRICS[condition.metric].scopes else []
                names = of_cell + (own or names)
            raise ConditionError(
                phrase("targets.unknown_group", group=group, is_what=is_what, names=names)
            )
        directions = sorted({f.direction for f in scenario.flows if f.stations == group})
        if part != "all" and part not in directions:
            allowed = ", ".join(directions) or "another group"
            raise ConditionError(
                phrase("targets.no_direction", group=group, part=part, allowed=allowed)
            )
    can = measurable(scenario, group, part)
    if condition.metric not in can:
        of = "" if group is None else f" of {group}" if part == "all" else f" of {group}/{part}"
        known = [METRICS[name] for name in can]
        means = [one.short for one in known if not (one.detail or one.quantile)]
        raise ConditionError(
            phrase(
                "targets.no_metric",
                short=condition.about.short,
                of=of,
                there=_are_no(_needed(condition.metric)),
                means=means,
            )
        )


def _check_cell(scenario: ResolvedScenario, name: str) -> None:
    """Check that there are several cells, one of them named `name`. Raises ConditionError."""
    names = [cell.name for cell in scenario.cells or ()]
    groups = ", ".join(one.name for one in scenario.stations)
    if len(names) < 2:
        raise ConditionError(phrase("targets.one_cell", name=name, groups=groups))
    if name not in names:
        is_what = phrase("targets.not_a_cell") if name in groups.split(", ") else "no cell"
        raise ConditionError(
            phrase("targets.unknown_cell", name=name, is_what=is_what, names=names)
        )


def read_targets(targets: Mapping[str, str], scenario: ResolvedScenario) -> tuple[Condition, ...]:
    """Return the conditions of `[targets]`. Raises InvalidError."""
    found = []
    for name, bound in targets.items():
        if not re.match(r"\s*[<>]\s*[^<>=\s]", bound) or re.search("[<>]", name):
            raise invalid(("targets", name), "targets.not_a_bound", bound=bound)
        try:
            condition = read_condition(f"{name} {bound}")
            check(scenario, condition)
        except ConditionError as error:
            raise InvalidError(("targets", name), str(error)) from None
        found.append(condition)
    return tuple(found)


def _are_no(what: str) -> str:
    return f"is no {what}" if what in ("TCP", "speech", "polling") else f"are no {what}"


def _needed(metric: str) -> str:
    """Return what a metric needs; "" if nothing."""
    return next((what for pattern, what in _NEEDS if re.match(pattern, metric)), "")


def _there(scenario: ResolvedScenario, group: str | None, part: str) -> set[str]:
    """Return the things that metrics need and that these flows have."""
    flows = [
        flow
        for flow in scenario.flows
        if group in (None, flow.stations) and part in ("all", flow.direction)
    ]
    there = {what for flow in flows for what in _of_flow(flow)}
    if scenario.mac.aggregation is not None:
        there.add("aggregates")
        if "TCP" in there:
            there.add("aggregates of TCP ACKs")
    if scenario.mac.pcf is not None:
        there.add("polling")
    return there


def _of_flow(flow: Flow) -> set[str]:
    app: Any = flow.application
    if app.kind == "udp":
        found = {"datagrams"} if app.voice is None else {"datagrams", "speech"}
        if flow.direction == "download":
            found.add("packets that pass through the access point's queue")
        return found
    found = {"TCP", "transfers", "packets that pass through the access point's queue"}
    if app.kind != "bulk" or app.size is not None:
        found.add("transfers that end")
    if app.kind == "web" and app.page is not None:
        found.add("pages")
    return found

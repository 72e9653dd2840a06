"""A simulation as its groups feel it: waits beyond the wires, by place; losses; airtime.

Of several cells each has a reading of its own, as they do not share the air, beside one of all.

Knows the quantities of a result and of its scenario from which a cause can be told. Does not know
what is too much of any of them (`problems`), nor what helps.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from airtcp.advice.thresholds import of
from airtcp.advice.wires import Wire, lost_share
from airtcp.results import Comparison, SimulationResult
from airtcp.results.cells import CellResult, interval_of, of_simulation
from airtcp.scenario.keys.traffic import is_endless

if TYPE_CHECKING:
    from airtcp.conditions import Condition
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.queue import AccessPoint
    from airtcp.scenario.keys.stations import StationGroup
    from airtcp.scenario.keys.traffic import Flow, Link
    from airtcp.stats import Interval

Simulated = Comparison | SimulationResult

#: Segments in a window without which a receiver cannot wait for a second one.
_THINNED: Final = 4

#: The access categories, the one that waits longest first.
ORDER: Final = ("AC_BK", "AC_BE", "AC_VI", "AC_VO")


def is_missed(measured: Mapping[str, Interval], target: Condition) -> bool:
    """Tell whether a target's metric is beyond its bound: its mean, or what it is at least."""
    interval = measured.get(target.metric)
    value = known(interval)
    if interval is None or value is None or (interval.mean is None and target.above):
        return False
    return (value > target.bound) is not target.above


def known(interval: Interval | None) -> float | None:
    """Return a mean, or what is known of it where runs are too short: how much it is at least.

    None where nothing is known.
    """
    if interval is None:
        return None
    return interval.low if interval.mean is None else interval.mean


@dataclass(frozen=True)
class Scope:
    """The flows of a group in one direction, with what was measured of them.

    `flows` are the entries of the resolved scenario, each of which every station of the group has.
    """

    group: str
    part: str
    count: int
    flows: tuple[Flow, ...]
    measured: dict[str, Interval]

    def __str__(self) -> str:
        return f"{self.group} {self.part}s"

    def mean(self, metric: str) -> float | None:
        """Return the mean of a metric, or how much it is at least; None where neither is known."""
        return known(self.measured.get(metric))

    def misses(self, target: Condition) -> bool:
        """Tell whether the mean of the target's metric lies on the wrong side of its bound."""
        return is_missed(self.measured, target)

    @property
    def endless(self) -> bool:
        """Tell whether a flow of TCP takes all that it can get."""
        return any(is_endless(flow) and flow.tcp is not None for flow in self.flows)

    @property
    def waits_for_pages(self) -> bool:
        """Tell whether people wait for transfers of these flows to end."""
        return any(flow.application.kind in ("web", "ftp", "replay") for flow in self.flows)

    @property
    def live(self) -> bool:
        """Tell whether the flows are datagrams at a rate of their own, as calls are."""
        return any(is_live(flow) for flow in self.flows)


def is_live(flow: Flow) -> bool:
    """Tell whether a flow has datagrams at a rate of its own."""
    app = flow.application
    return app.kind == "udp" and app.rate_bps is not None


class Reading:
    """The reading of a simulation: what each group feels, and where packets wait or are lost.

    `cell` is the name of the cell whose groups alone are read; None where all are.
    """

    def __init__(self, result: Simulated, cell: str | None = None) -> None:
        self.result = result
        self.scenario: ResolvedScenario = result.scenario
        self.simulation = result.simulation
        self.cell = cell

    @cached_property
    def by_cell(self) -> tuple[Reading, ...]:
        """The reading of each of several cells, or this one where there are not several."""
        if len(self.cells) < 2:
            return (self,)
        return tuple(map(self.of_cell, self.cells))

    def of_cell(self, name: str) -> Reading:
        """Return the reading of a cell, with the results of cells that are known here."""
        one = Reading(self.result, name)
        one.cells = self.cells
        return one

    @cached_property
    def cells(self) -> dict[str, CellResult]:
        """The results of cells, of a simulation that does not know its scenario as well."""
        return self.simulation.cells or of_simulation(self.scenario, self.simulation)

    @cached_property
    def stations(self) -> tuple[StationGroup, ...]:
        """The groups of stations that are read."""
        if self.cell is None:
            return self.scenario.stations
        return tuple(group for group in self.scenario.stations if group.cell == self._place)

    @property
    def ap(self) -> AccessPoint:
        """The access point of the cell that is read; that of the first where all are."""
        return self.scenario.access_points[self._place]

    @property
    def _place(self) -> int:
        """The place of the cell that is read among all, of the first where all are."""
        return 0 if self.cell is None else list(self.cells).index(self.cell)

    @cached_property
    def scopes(self) -> tuple[Scope, ...]:
        """The groups by direction, those without a flow left out."""
        return tuple(self._scopes())

    def _scopes(self) -> Iterator[Scope]:
        for group in self.stations:
            for part in ("download", "upload"):
                flows = tuple(
                    flow
                    for flow in self.scenario.flows
                    if flow.stations == group.name and flow.direction == part
                )
                if flows:
                    measured = self.simulation.groups[group.name][part]
                    yield Scope(group.name, part, group.count, flows, measured)

    def mean(self, metric: str) -> float | None:
        """Return the mean of a metric of everything."""
        interval = self.simulation.metrics.get(metric)
        return None if interval is None else interval.mean

    def targets(self, scope: Scope, *metrics: str) -> list[Condition]:
        """Return the written targets of a scope on metrics whose names begin with one of these."""
        return [
            target
            for target in self.scenario.targets
            if target.cell is None
            and self.is_about(target, scope)
            and target.metric.startswith(metrics)
        ]

    def measured(self, target: Condition) -> Interval | None:
        """Return what was measured of a target's metric; None if nothing was."""
        if target.cell is not None:
            return interval_of(self.cells, target.cell, target.metric)
        metrics = self.simulation.metrics
        if target.group is not None:
            metrics = self.simulation.groups[target.group][target.part]
        return metrics.get(target.metric)

    def misses(self, target: Condition) -> bool:
        """Tell whether the mean of a target's metric lies on the wrong side of its bound."""
        found = self.measured(target)
        return found is not None and is_missed({target.metric: found}, target)

    def is_about(self, target: Condition, scope: Scope) -> bool:
        """Tell whether a target is about what the flows of a scope get, alone or with others."""
        if target.cell is not None:
            return self.scenario.access_point(scope.group) == target.cell
        return target.group in (None, scope.group) and target.part in ("all", scope.part)

    @property
    def air_is_full(self) -> bool:
        """Tell whether some node has something to send at nearly any time."""
        return self._air_is_used(of("full air"), of("cell air"))

    @property
    def air_has_room(self) -> bool:
        """Tell whether the air could carry more."""
        return not self._air_is_used(of("wire air"), of("cell air"))

    def _air_is_used(self, backlogged: float, heard: float) -> bool:
        """Tell whether so many nodes have a packet, or a cell hears frames for such a part.

        Nodes that do not hear each other have packets to send again while the air is idle.
        """
        name = next(iter(self.cells)) if len(self.cells) == 1 else self.cell
        if name is not None:
            return 1.0 - self.cells[name].airtime.idle > heard
        nodes = self.mean("mean_backlogged_nodes")
        return nodes is not None and nodes > backlogged

    @property
    def air_in_use(self) -> float:
        """The part of the measured time in which exchanges take the air, those of others too."""
        if self.cell is not None:
            return 1.0 - self.cells[self.cell].airtime.idle
        return sum(self.airtime_share(group.name) for group in self.stations)

    @property
    def air(self) -> str:
        """The air by its cell, if there are several."""
        return "the air" if self.cell is None else f"the air of cell {self.cell}"

    @property
    def ap_queue(self) -> str:
        """The access point's queue with its limit, by its cell, if there are several."""
        limit = self.ap.queue.limit
        size = "" if limit is None else f" of {limit} packets"
        if self.cell is None:
            return f"the access point's queue{size}"
        return f"the queue{size} of access point {self.cell}"

    # Of the path.

    def links(self, flow: Flow) -> list[Link]:
        """The wired links of a flow's path."""
        return [self.scenario.links[one] if isinstance(one, str) else one for one in flow.path]

    def base_rtt_s(self, scope: Scope) -> float:
        """The round trip of the wires alone, of the longest path among its flows."""
        return max(2e-9 * sum(link.delay_ns for link in self.links(one)) for one in scope.flows)

    def base_delay_s(self, scope: Scope) -> float:
        """The way in one direction over the wires alone."""
        return self.base_rtt_s(scope) / 2.0

    def excess_rtt_s(self, scope: Scope) -> float | None:
        """The mean time for which segments and their ACKs wait in queues and for the air."""
        rtt = scope.mean("path_rtt_s")
        return None if rtt is None else max(0.0, rtt - self.base_rtt_s(scope))

    def wires(self, scope: Scope) -> list[Wire]:
        """The wires with a rate on the paths of a scope, each once."""
        found: dict[str, Wire] = {}
        for flow in scope.flows:
            for place, one in enumerate(flow.path):
                name = one if isinstance(one, str) else f"{flow.name}.path.{place}"
                link = self.scenario.links[one] if isinstance(one, str) else one
                if link.rate_bps is not None:
                    flows = self._flows_over(one) if isinstance(one, str) else [flow]
                    # One that has no name is there for each station.
                    lines = 1 if isinstance(one, str) else scope.count
                    used = self._carried_bps(flows, lines)
                    parts = {part: min(1.0, bps / link.rate_bps) for part, bps in used.items()}
                    told = f"the wire {one}" if isinstance(one, str) else f"a wire of {scope.group}"
                    crowded = self._crowded(flows, lines, used)
                    found[name] = Wire(told, link.rate_bps, link.queue.limit, parts, crowded)
        return list(found.values())

    def _crowded(
        self, flows: Iterable[Flow], lines: int, used: Mapping[str, float]
    ) -> dict[str, tuple[str, float]]:
        """The group of endless flows with more than half of what is `used` of a wire, each way."""
        endless: dict[str, list[Flow]] = {}
        for flow in flows:
            if flow.tcp is not None and is_endless(flow):
                endless.setdefault(flow.stations, []).append(flow)
        return {
            part: (group, bps / used[part])
            for group, own in endless.items()
            for part, bps in self._carried_bps(own, lines).items()
            if bps > 0.5 * used[part]
        }

    def _flows_over(self, link: str) -> list[Flow]:
        return [flow for flow in self.scenario.flows if link in flow.path]

    def _carried_bps(self, flows: Iterable[Flow], lines: int) -> dict[str, float]:
        """The bits a second, headers included, that a wire carries of these flows, by direction."""
        carried: dict[str, float] = {}
        for flow in flows:
            overhead, size = 28.0, 1_000.0
            if flow.tcp is not None:
                size, overhead = float(flow.tcp.mss_bytes), flow.tcp.header_bits / 8.0
            elif flow.application.kind == "udp":
                size = flow.application.packet_bytes - overhead
            goodput = self._goodput_of.get((flow.name, flow.direction), 0.0) / lines
            before = carried.get(flow.direction, 0.0)
            carried[flow.direction] = before + goodput * (size + overhead) / size
        return carried

    @cached_property
    def _goodput_of(self) -> dict[tuple[str, str], float]:
        """The goodput of each entry of the resolved scenario, all its stations together."""
        found: dict[tuple[str, str], float] = {}
        for one in self.simulation.flows:
            key = (one.name.rpartition("/")[0], one.direction)
            found[key] = found.get(key, 0.0) + one.goodput_bps
        return found

    def full_wire(self, scope: Scope) -> Wire | None:
        """The wire that is full with what goes the scope's way; None if none is."""
        return next((one for one in self.wires(scope) if one.full(scope.part)), None)

    def wire_waited_for(self, scope: Scope) -> Wire | None:
        """The wire in which packets of a scope wait, or their ACKs and requests; None if none is.

        What a group has to send itself may wait at its stations as well.
        """
        if not self.waits_at_wire(scope):
            return None
        parts = [scope.part]
        if (
            not scope.live
            and scope.part == "download"
            and not self.has_endless(scope.group, "upload")
        ):
            parts.append("upload")
        found = [one for one in self.wires(scope) if one.most(parts) > of("wire queue")]
        return max(found, key=lambda one: one.most(parts), default=None)

    def wire_loss(self, scope: Scope) -> float:
        """The share of packets with payload that wires lose on the way, of the worst path.

        What a full queue drops is not among them.
        """
        return max(
            1.0 - math.prod(1.0 - lost_share(link) for link in self.links(flow))
            for flow in scope.flows
        )

    @property
    def datagrams(self) -> float:
        """The datagrams that live flows sent, over all replications."""
        run, count = self.scenario.run, 0.0
        for flow in self.scenario.flows:
            app = flow.application
            if app.kind == "udp" and app.rate_bps is not None:
                stations = next(g.count for g in self.scenario.stations if g.name == flow.stations)
                count += stations * app.rate_bps / 8.0 / app.packet_bytes
        return count * run.duration_ns / 1e9 * self.simulation.replications

    # Of queues.

    def waits_at_ap_s(self, scope: Scope) -> float:
        """The mean wait of a packet of these flows at the access point, its data or its ACKs."""
        return scope.mean("ap_queue_delay_s") or 0.0

    def waits_at_wire(self, scope: Scope) -> bool:
        """Tell whether packets wait longer elsewhere than at the access point."""
        waits = self.excess_rtt_s(scope)
        if waits is None:
            waits = (scope.mean("packet_delay_s") or 0.0) - self.base_delay_s(scope)
        return waits > 2.0 * self.waits_at_ap_s(scope)

    def category(self, flow: Flow) -> str:
        """The access category of the packets with payload of a flow."""
        classify = self.scenario.classify
        return classify.udp if flow.tcp is None else classify.tcp_data

    def below_others(self, scope: Scope) -> bool:
        """Tell whether these datagrams have a lower category than the data of others."""
        if self.scenario.mac.edca is None or not scope.live:
            return False
        own = ORDER.index(self.scenario.classify.udp)
        others = [flow for flow in self.scenario.flows if flow.tcp is not None]
        return any(ORDER.index(self.category(flow)) > own for flow in others)

    @property
    def shares_category(self) -> bool:
        """Tell whether datagrams and TCP have one category, or none is told apart."""
        if self.scenario.mac.edca is None:
            return True
        return self.scenario.classify.udp == self.scenario.classify.tcp_data

    def has_endless(self, group: str, part: str) -> bool:
        """Tell whether a group has an endless flow of TCP in a direction."""
        return any(
            scope.endless for scope in self.scopes if scope.group == group and scope.part == part
        )

    def window_bytes(self, scope: Scope) -> int | None:
        """The least receive window among its flows of TCP."""
        return min(
            (flow.tcp.receive_window_bytes for flow in scope.flows if flow.tcp is not None),
            default=None,
        )

    def window_use(self, scope: Scope) -> float | None:
        """The part of the receive window that is in flight, in the mean; None without TCP."""
        window, rtt = self.window_bytes(scope), scope.mean("path_rtt_s")
        goodput = scope.mean("flow_goodput_bps")
        return None if not window or rtt is None or goodput is None else goodput * rtt / 8 / window

    def window_is_full(self, scope: Scope) -> bool:
        """Tell whether the receive window is what bounds the flows of a scope."""
        return (self.window_use(scope) or 0.0) > of("window use")

    def waits_for_timer(self, scope: Scope) -> bool:
        """Tell whether windows of a scope end by the timer of delayed ACKs."""
        return any(flow.tcp is not None and flow.tcp.waits_for_timer for flow in scope.flows)

    # Of airtime.

    def airtime_share(self, group: str) -> float:
        """The part of the measured time that exchanges for a group take."""
        share = self.simulation.groups[group]["all"].get("airtime_share")
        return 0.0 if share is None or share.mean is None else share.mean

    def air_while_waiting(self, scope: Scope) -> float | None:
        """The part of the time with a page of these flows in progress in which they have the air.

        None where the group has other traffic, or books of pages are not kept. Of several flows
        whose pages come at once it is more than what is told.
        """
        own = [one for one in self.scenario.flows if one.stations == scope.group]
        alike = all(
            one in scope.flows
            and one.application.kind == "web"
            and one.application.page is not None
            for one in own
        )
        books = [run.books for run in self.simulation.runs if run.books is not None]
        if not books or not alike:
            return None
        places = [place for place, one in enumerate(self.scenario.flows) if one in scope.flows]
        measured_s = self.scenario.run.duration_ns / 1e9
        without_s = sum(one.column("pageless_s")[:, places].sum(axis=0) for one in books)
        waiting = float(np.sum(1.0 - without_s / len(books) / measured_s))
        return self.airtime_share(scope.group) / min(waiting, 1.0) if waiting > 0.0 else None

    def goodput_bps(self, group: str) -> float:
        """The goodput of a group in both directions."""
        return self.simulation.groups[group]["all"]["goodput_bps"].mean or 0.0

    def goodputs_bps(self, scope: Scope) -> list[float]:
        """The goodput of each flow of a scope."""
        names = {flow.name for flow in scope.flows}
        return [
            one.goodput_bps
            for one in self.simulation.flows
            if one.name.rpartition("/")[0] in names and one.direction == scope.part
        ]

    def acks_each(self, scope: Scope) -> bool:
        """Tell whether receivers of these flows acknowledge each segment."""
        return any(
            flow.tcp is not None
            and flow.tcp.ack_skip is None
            and flow.tcp.tack is None
            and flow.tcp.receive_window_bytes >= _THINNED * flow.tcp.mss_bytes
            and all(every == 1 for _, every in flow.tcp.delayed_ack.thresholds)
            for flow in scope.flows
        )

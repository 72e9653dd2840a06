"""Targets of traffic that has none of its own: of calls, videos, web pages, backups and games.

`EXPECTED` is a table: of each profile the metrics by which its users feel how they are served, and
the thresholds (`thresholds`, which have values and sources) that these are held to. Knows flows as
a scenario has them and recognises a profile by what a file calls its purpose, else by the traffic;
does not know what was measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from airtcp.advice.reading import is_live
from airtcp.advice.thresholds import THRESHOLDS
from airtcp.conditions import bound_text, read_condition
from airtcp.results.verdict import Target

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.traffic import Flow


@dataclass(frozen=True)
class Expected:
    """A metric, with its statistic as `[targets]` has it, and the threshold it is held to.

    The metric has to be below the value of the threshold, or with `above` above it.
    """

    metric: str
    threshold: str
    above: bool = False

    @property
    def bound(self) -> str:
        """The bound as `[targets]` has it: "< 100 ms"."""
        threshold = THRESHOLDS[self.threshold]
        value, unit = threshold.value, threshold.unit
        shown = bound_text(value, unit) if unit else f"{100.0 * value:g} %"
        return f"{'>' if self.above else '<'} {shown}"

    @property
    def source(self) -> str:
        """The reason for the value of the threshold."""
        return THRESHOLDS[self.threshold].reason


#: The expectations of each profile; a `web page` is of several objects, a `web` of one, and a
#: `video` is of datagrams.
EXPECTED: Final[Mapping[str, Sequence[Expected]]] = {
    "call": (
        Expected("p95 packet_delay", "call delay"),
        Expected("packet_loss", "call loss"),
    ),
    "video": (
        Expected("p95 packet_delay", "video delay"),
        Expected("packet_loss", "video loss"),
    ),
    "video segments": (Expected("p95 transfer_time", "segment time"),),
    "game": (
        Expected("p95 packet_delay", "game delay"),
        Expected("packet_loss", "game loss"),
    ),
    "web": (Expected("p90 transfer_time", "page time"),),
    "web page": (Expected("p90 page_time", "page time"),),
    "file": (Expected("p90 transfer_time", "file time"),),
    "backup": (Expected("flow_goodput", "backup rate", above=True),),
}


def profile_of(flow: Flow, *, purpose: str | None = None, both_ways: bool = False) -> str | None:
    """Return the profile of a flow, a word of `EXPECTED`; None for traffic nobody waits for.

    By its `purpose`, if its file says one, else by its traffic. `both_ways`: its group has
    datagrams at a rate in the other direction, too.
    """
    app = flow.application
    if purpose == "ping":
        return None
    if app.kind == "udp":
        if purpose in ("call", "game", "video"):
            return purpose
        if app.rate_bps is None:
            return None
        return "call" if both_ways or app.voice is not None else "video"
    if purpose == "video":
        return "video segments" if _ends(flow) else "backup"
    if app.kind == "web":
        return "web" if app.page is None else "web page"
    if app.kind == "replay" or (purpose == "web" and _ends(flow)):
        return "web"
    return "file" if _ends(flow) else "backup"


def targets_of(scenario: ResolvedScenario) -> tuple[tuple[Target, ...], bool]:
    """Return the targets of a scenario, and True if they are those of its file."""
    written = tuple(map(Target, scenario.targets))
    return written or tuple(expected(scenario)), bool(written)


def expected(scenario: ResolvedScenario) -> list[Target]:
    """Return the targets of the profiles of all groups, one direction after the other.

    A metric to which flows of several profiles contribute has none: its values are of all of them.
    """
    return list(_expected(scenario))


def _expected(scenario: ResolvedScenario) -> Iterator[Target]:
    purposes = scenario.purposes
    for group in scenario.stations:
        flows = [flow for flow in scenario.flows if flow.stations == group.name]
        both_ways = len({flow.direction for flow in flows if is_live(flow)}) == 2
        for part in ("download", "upload"):
            profiles = [
                (
                    flow,
                    profile_of(flow, purpose=purposes.get(flow.name), both_ways=both_ways),
                )
                for flow in flows
                if flow.direction == part
            ]
            yield from _of_scope(f"{group.name}/{part}", profiles)


def _of_scope(scope: str, flows: Sequence[tuple[Flow, str | None]]) -> Iterator[Target]:
    for word, expectations in EXPECTED.items():
        for one in expectations:
            contributes = _CONTRIBUTES[one.metric.rpartition(" ")[2]]
            if {profile for flow, profile in flows if contributes(flow)} == {word}:
                condition = read_condition(f"{scope} {one.metric} {one.bound}")
                yield Target(condition, word, one.source)


def _ends(flow: Flow) -> bool:
    app = flow.application
    return app.kind in ("web", "ftp", "replay") or (app.kind == "bulk" and app.size is not None)


def _has_pages(flow: Flow) -> bool:
    app = flow.application
    return app.kind == "web" and app.page is not None


#: The flows of which each metric of `EXPECTED` is measured.
_CONTRIBUTES: Final[Mapping[str, Callable[[Flow], bool]]] = {
    "packet_delay": lambda flow: flow.tcp is None,
    "packet_loss": lambda flow: flow.tcp is None,
    "transfer_time": _ends,
    "page_time": _has_pages,
    "flow_goodput": lambda flow: True,
}

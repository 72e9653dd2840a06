"""Targets of a scenario: from its file, or the defaults for calls, videos, pages, games and files.

The kind of traffic follows from the purpose in the file, else from the traffic itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from airtcp.conditions import bound_text, read_condition
from airtcp.data import beside
from airtcp.results.verdict import Target

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.traffic import Flow


@dataclass(frozen=True)
class Expected:
    """A default target: a metric with its statistic, as in `[targets]`, and its bound.

    The metric has to be below `value`. `unit` is "" for a ratio. `reason` is the source of the
    bound.
    """

    metric: str
    value: float
    reason: str
    unit: str = ""

    @property
    def bound(self) -> str:
        """The bound as written in `[targets]`: "< 100 ms"."""
        shown = bound_text(self.value, self.unit) if self.unit else f"{100.0 * self.value:g} %"
        return f"< {shown}"


#: Default targets by kind of traffic (`targets.toml`).
EXPECTED: Final[Mapping[str, Sequence[Expected]]] = {
    kind: tuple(Expected(**one) for one in targets) for kind, targets in beside(__file__).items()
}


def profile_of(flow: Flow, *, purpose: str | None = None, both_ways: bool = False) -> str | None:
    """Return the profile of a flow, a word of `EXPECTED`; None for traffic that no user waits for.

    The profile follows from `purpose`, if the file gives one, else from the traffic. `both_ways`
    says whether its group also has datagrams at a rate in the other direction.
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
    """Return the targets of a scenario, and True if they come from its file."""
    written = tuple(map(Target, scenario.targets))
    return written or tuple(expected(scenario)), bool(written)


def expected(scenario: ResolvedScenario) -> list[Target]:
    """Return the default targets of all groups, one direction after the other.

    A metric that mixes flows of several profiles gets no target.
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
                yield Target(condition, word, one.reason)


def is_live(flow: Flow) -> bool:
    """Return True if a flow is datagrams at a rate of its own, such as a call."""
    app = flow.application
    return app.kind == "udp" and app.rate_bps is not None


def _ends(flow: Flow) -> bool:
    app = flow.application
    return app.kind in ("web", "ftp", "replay") or (app.kind == "bulk" and app.size is not None)


def _has_pages(flow: Flow) -> bool:
    app = flow.application
    return app.kind == "web" and app.page is not None


#: The flows that contribute to each metric of `EXPECTED`.
_CONTRIBUTES: Final[Mapping[str, Callable[[Flow], bool]]] = {
    "packet_delay": lambda flow: flow.tcp is None,
    "packet_loss": lambda flow: flow.tcp is None,
    "transfer_time": _ends,
    "page_time": _has_pages,
}

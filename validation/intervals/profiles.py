"""Define cells of typical use: readers of today's pages, alone and in an office with calls.

Scenarios, windows and metrics are those of airtcp's examples. They were fixed before any of them
ran, except the percentile, which was added when page times came to be pooled. Rules
and loads are those of `cells`.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import airtcp
from airtcp.estimates.laws import pause_s, unit_bytes
from airtcp.scenario import ResolvedScenario
from intervals.cells import PLACES, REPLICATIONS, Place, System, Window

METRICS: Final = ("page_time_s", "page_time_p90_s", "goodput_bps", "transfer_time_s")
#: The law of these systems, named after their setting, and their loads.
LOADS: Final = {"readers": (0.3, 0.7, 1.0), "office": (0.3, 0.7)}
#: The mean page of `web-2025`, and the mean reading time.
_PAGE_BYTES: Final = 4_087_000.0
_THINK_S: Final = 30.0
_AX: Final = PLACES["802.11ax"]
_PLACE: Final = Place(
    "802.11ax",
    _AX.bulk_bps,
    _PAGE_BYTES,
    dict.fromkeys(LOADS, Window(10.0, 40.0)),
    phy=_AX.phy,
)
_READERS: Final = """
[phy]
{phy}
[[stations]]
name = "reader"
count = {readers}
[[flows]]
stations = "reader"
direction = "download"
application = {{ profile = "web-2025" }}
tcp = {{ preset = "linux" }}
path = [{{ delay = "10 ms" }}]
"""
_CALLS: Final = """
[[stations]]
name = "caller"
count = 6
[[flows]]
stations = "caller"
direction = "both"
application = { kind = "call", codec = "G.711", video = "1.2 Mb/s", video_packet = "1200 B" }
path = [{ delay = "10 ms" }]
[ap]
queue = { discipline = "fq-codel" }
"""
_RUN: Final = """
[run]
warmup = "{warmup_s!r} s"
duration = "{measured_s!r} s"
replications = {replications}
seed = {seed}
"""


class Profiled(System):
    """Readers whose number sets the load; the law is their setting."""

    __slots__ = ()

    @property
    def metrics(self) -> tuple[str, ...]:
        return METRICS

    @property
    def laptops(self) -> int:
        return round(self.load * self.place.bulk_bps / (8.0 * _PAGE_BYTES / _THINK_S))

    def scenario(
        self, block: int, *, replications: int = REPLICATIONS[-1], window: Window | None = None
    ) -> ResolvedScenario:
        warmup_s, measured_s = window or self.window
        text = _READERS.format(phy=self.place.phy, readers=self.laptops)
        text += _CALLS if self.law == "office" else ""
        return airtcp.load(
            text
            + _RUN.format(
                warmup_s=warmup_s,
                measured_s=measured_s,
                replications=replications,
                seed=self.seed(block),
            )
        )

    def loop_bps(self, times: dict[str, float]) -> float | None:
        """Return the goodput of a closed loop with this mean page time, or None with calls."""
        if self.law == "office":
            return None
        flow = self.scenario(0).flows[0]
        page_bytes, think_s = unit_bytes(flow), pause_s(flow)
        assert page_bytes is not None
        assert think_s is not None
        return 8.0 * self.laptops * page_bytes / (think_s + times["page_time_s"])


@cache
def profiles() -> dict[str, Profiled]:
    """Return all of these systems by name; their indices follow those of `cells`."""
    found = [(law, load) for law, loads in LOADS.items() for load in loads]
    made = (Profiled(100 + index, _PLACE, *of) for index, of in enumerate(found))
    return {system.name: system for system in made}

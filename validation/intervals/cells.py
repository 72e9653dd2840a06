"""Define the cells in which the coverage of confidence intervals is measured.

All this was fixed before any estimate was judged by it. A system is a Wi-Fi cell or a processor,
a size distribution (law) and a load. A block of it is one user's run: 20 replications with their
own seed; the first 5 are the block of 5. A cell is a system, 5 or 20 replications,
and a metric. Its coverage is the fraction of blocks whose interval contains the truth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import airtcp
from airtcp.distributions import Distribution
from airtcp.scenario import ResolvedScenario

METRICS: Final = ("transfer_time_s", "goodput_bps", "transfer_time_p90_s")
REPLICATIONS: Final = (5, 20)
LOADS: Final = (0.3, 0.7, 1.0, 1.2)
BLOCKS: Final = 400
CONFIDENCE: Final = 0.95

#: Required range of the coverage, pooled by law and load.
POOLED: Final = (0.93, 0.98)
#: Minimum coverage of a cell of 400 blocks.
LEAST: Final = 0.90
#: Maximum fraction of cells in which half of the blocks or more print no interval.
DECLINED: Final = 1 / 3
#: Maximum half width of a truth relative to the median half width of a cell that it judges.
TRUTH: Final = 1 / 5

_LOG: Final = (
    Path(airtcp.__file__).parent / "examples" / "semicomplete-2015-05.access.log.gz"
).as_posix()
#: Size distributions by mean in bytes. The log of the README's demo has its own mean.
LAWS: Final = {
    "exponential": '{{ distribution = "exponential", mean = "{mean:.0f} B" }}',
    "pareto": '{{ distribution = "pareto", mean = "{mean:.0f} B", shape = 1.5 }}',
    "log": f'{{{{ distribution = "empirical", file = "{_LOG}" }}}}',
}


class Window(NamedTuple):
    """Warm-up and measured time of a replication."""

    warmup_s: float
    measured_s: float


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A resource whose capacity transfers share.

    `bulk_bps` is the total goodput of ten endless downloads there (measured; for the processor, its
    capacity). Loads are relative to it. `phy` and `tcp` are tables of a scenario; the
    processor has none and is simulated by `sharing`.
    """

    name: str
    bulk_bps: float
    mean_bytes: float
    windows: dict[str, Window]
    phy: str = ""
    tcp: str = ""


PLACES: Final = {
    place.name: place
    for place in (
        Place(
            "processor",
            8e6,
            100_000.0,
            {
                "exponential": Window(20.0, 200.0),
                "pareto": Window(20.0, 200.0),
                "log": Window(60.0, 600.0),
            },
        ),
        Place(
            "802.11b",
            5.15e6,
            100_000.0,
            {
                "exponential": Window(60.0, 600.0),
                "pareto": Window(60.0, 1200.0),
                "log": Window(60.0, 3600.0),
            },
            phy='standard = "802.11b"',
        ),
        Place(
            "802.11ax",
            67.1e6,
            500_000.0,
            {
                "exponential": Window(5.0, 20.0),
                "pareto": Window(5.0, 40.0),
                "log": Window(5.0, 120.0),
            },
            phy='standard = "802.11ax"\nband = "5 GHz"\nchannel_width = "20 MHz"\nmcs = 7',
            tcp='[flows.tcp]\npreset = "linux"',
        ),
    )
}

#: Mean response size of the demo's log in bytes.
LOG_MEAN_BYTES: Final = 306_906.3
#: Number of laptops; their think time sets the load. The log's responses are three times as large.
_LAPTOPS: Final = {"exponential": 10, "pareto": 10, "log": 20}
#: On 802.11b the log has the demo's think time, and the number of laptops sets the load.
_DEMO_THINK_S: Final = 10.0

_SCENARIO: Final = """
[phy]
{phy}
[[stations]]
name = "laptop"
count = {laptops}
[[flows]]
stations = "laptop"
direction = "download"
[flows.application]
kind = "web"
size = {size}
think_time = {{ distribution = "exponential", mean = "{think_s!r} s" }}
{tcp}
[run]
warmup = "{warmup_s!r} s"
duration = "{measured_s!r} s"
replications = {replications}
seed = {seed}
"""


@dataclass(frozen=True, slots=True)
class System:
    """A place, a law and a load; `index` determines its seeds."""

    index: int
    place: Place
    law: str
    load: float

    @property
    def name(self) -> str:
        return f"{self.place.name}-{self.law}-{self.load:g}"

    @property
    def metrics(self) -> tuple[str, ...]:
        return METRICS

    @property
    def window(self) -> Window:
        return self.place.windows[self.law]

    @property
    def is_processor(self) -> bool:
        return not self.place.phy

    @property
    def mean_bytes(self) -> float:
        return LOG_MEAN_BYTES if self.law == "log" else self.place.mean_bytes

    @property
    def laptops(self) -> int:
        if self.law == "log" and self.place.name == "802.11b":
            per_laptop_bps = 8.0 * self.mean_bytes / _DEMO_THINK_S
            return round(self.load * self.place.bulk_bps / per_laptop_bps)
        return _LAPTOPS[self.law]

    @property
    def think_s(self) -> float:
        """The mean think time, which gives the load if responses took no time."""
        asked_bps = self.load * self.place.bulk_bps
        return round(self.laptops * 8.0 * self.mean_bytes / asked_bps, 6)

    def loop_bps(self, times: dict[str, float]) -> float | None:
        """Return the goodput of a closed loop with these mean times, or None for open systems."""
        sizes, thinks = self.laws()
        cycle_s = thinks.mean() + times["transfer_time_s"]
        return 8.0 * self.laptops * sizes.mean() / cycle_s

    def seed(self, block: int) -> int:
        """Return the seed of a block; blocks below 0 are those of truths."""
        return (self.index + 1) * 1_000_003 + 10_000 + block

    def scenario(
        self, block: int, *, replications: int = REPLICATIONS[-1], window: Window | None = None
    ) -> ResolvedScenario:
        """Return the scenario of a block for `airtcp.simulate`, optionally over another window.

        A processor has the scenario of 802.11b with its laptops, for the estimators; its
        radio is not simulated.
        """
        warmup_s, measured_s = window or self.window
        text = _SCENARIO.format(
            phy=self.place.phy or PLACES["802.11b"].phy,
            tcp=self.place.tcp,
            laptops=self.laptops,
            size=LAWS[self.law].format(mean=self.mean_bytes),
            think_s=self.think_s,
            warmup_s=warmup_s,
            measured_s=measured_s,
            replications=replications,
            seed=self.seed(block),
        )
        return airtcp.load(text)

    @cache  # noqa: B019, for there are few systems
    def laws(self) -> tuple[Distribution, Distribution]:
        """Return the distributions of sizes and think times."""
        application = self.scenario(0).flows[0].application
        assert application.kind == "web"
        return application.size, application.think_time


class Cell(NamedTuple):
    """A system, the number of replications per block, and a metric."""

    system: System
    replications: int
    metric: str


@cache
def systems() -> dict[str, System]:
    """Return all systems by name, those of the processor first."""
    found = [(place, law, load) for place in PLACES.values() for law in LAWS for load in LOADS]
    made = (System(index, *of) for index, of in enumerate(found))
    return {system.name: system for system in made}


def cells() -> Iterator[Cell]:
    """Yield all cells of the 36 systems."""
    for system in systems().values():
        for replications in REPLICATIONS:
            for metric in METRICS:
                yield Cell(system, replications, metric)

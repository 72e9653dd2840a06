"""The result of a testbed: its measurements, and how reliable they are."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from airtcp.results.objects import Simulation
from airtcp.results.plain import Record
from airtcp.results.provenance import Provenance, Result, head

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario
    from airtcp.stats import Interval

#: A result is trusted if 99 % of the packets were less late than this: half of the time of a frame
#: of 1500 bytes at 11 Mb/s with its backoff and its MAC ACK. [us]
LAG_BOUND_US: Final = 500
_TRUSTED_SHARE: Final = 0.01


@dataclass(frozen=True)
class Lag:
    """The lateness of packets when they left, relative to the simulation clock."""

    packets: int
    p50_s: float | None
    p99_s: float | None
    max_s: float
    bound_s: float
    share_above: float
    #: Whether the thread had real-time priority.
    real_time: bool
    #: Packets that were for no node, and packets that a device rejected.
    strays: int
    refused: int

    @property
    def trusted(self) -> bool:
        """Whether there were packets, and few enough of them too late."""
        return self.packets > 0 and self.share_above <= _TRUSTED_SHARE and self.refused == 0

    @classmethod
    def of(cls, told: dict[str, Any], *, real_time: bool) -> Lag:
        """Create it from the core's counters."""
        return cls(
            packets=told["packets"],
            p50_s=told["lag_p50_s"],
            p99_s=told["lag_p99_s"],
            max_s=told["lag_max_s"],
            bound_s=LAG_BOUND_US / 1e6,
            share_above=told["lag_share_above"],
            real_time=real_time,
            strays=told["strays"],
            refused=told["refused"],
        )


@dataclass(frozen=True, slots=True)
class Beside(Record):
    """A metric measured by a testbed, next to the simulation.

    `difference` is the relative difference of the testbed from the simulation; None if the
    simulated mean is zero.
    """

    metric: str
    testbed: float
    simulation: Interval
    difference: float | None
    verdict: str


@dataclass(frozen=True, repr=False)
class TestbedResult(Result):
    """The result of `airtcp testbed`.

    `testbed` has the same values as a simulation, measured with real packets in one run. `lag` is
    their lateness, and `deviations` lists how the kernel differs from the scenario. `comparison` is
    set if there was also a simulation.
    """

    __test__ = False  # for pytest, which would collect a class with this name

    scenario: ResolvedScenario
    provenance: Provenance
    testbed: Simulation
    lag: Lag
    deviations: tuple[str, ...]
    comparison: tuple[Beside, ...] = ()

    def __repr__(self) -> str:
        trust = "trusted" if self.lag.trusted else "not trusted"
        return f"<TestbedResult of {self.scenario.title!r}: {trust}>"

    @property
    def metrics(self) -> dict[str, Interval]:
        """Short for `testbed.metrics`."""
        return self.testbed.metrics

    def measured(self) -> dict[str, Any]:
        """Return the value of the key `testbed` in results.json."""
        told = self.testbed.to_dict() | {
            "lag": asdict(self.lag) | {"trusted": self.lag.trusted},
            "deviations": list(self.deviations),
        }
        if self.comparison:
            told["comparison"] = [row.to_dict() for row in self.comparison]
        return told

    def to_dict(self) -> dict[str, Any]:
        """Return the keys `scenario`, `provenance`, `testbed`."""
        return head(self.scenario, self.provenance) | {"testbed": self.measured()}

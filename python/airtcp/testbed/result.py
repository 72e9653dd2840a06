"""What a testbed answers: what was measured, and how far it is to be trusted."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from airtcp.results.objects import Provenance, Simulation, canonical_json
from airtcp.testbed.air import Lag

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario
    from airtcp.stats import Interval

__all__ = ["TestbedResult"]


@dataclass(frozen=True, repr=False)
class TestbedResult:
    """The answer of `airtcp testbed`.

    `testbed` has what a simulation has, measured of real packets in one run; `lag` says how late
    they were, `deviations` what the kernel does otherwise than the scenario says.
    """

    __test__ = False  # for pytest, which takes the name for that of tests

    scenario: ResolvedScenario
    provenance: Provenance
    testbed: Simulation
    lag: Lag
    deviations: tuple[str, ...]

    def __repr__(self) -> str:
        trust = "trusted" if self.lag.trusted else "not trusted"
        return f"<TestbedResult of {self.scenario.title!r}: {trust}>"

    @property
    def metrics(self) -> dict[str, Interval]:
        """Short for `testbed.metrics`."""
        return self.testbed.metrics

    def to_dict(self) -> dict[str, Any]:
        """Keys `scenario`, `provenance`, `testbed`."""
        return {
            "scenario": json.loads(self.scenario.to_json()),
            "provenance": asdict(self.provenance),
            "testbed": self.testbed.to_dict()
            | {
                "lag": asdict(self.lag) | {"trusted": self.lag.trusted},
                "deviations": list(self.deviations),
            },
        }

    def to_json(self) -> str:
        """The result as canonical JSON."""
        return canonical_json(self.to_dict())

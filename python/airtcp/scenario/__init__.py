"""Scenario files: the written form (TOML, units, defaults), the resolved form (all explicit).

    load, loads, resolve      the written form in, a `ResolvedScenario` out, or a `ScenarioError`
    schema                    JSON Schema of the written form
    resolved.*                the resolved form; its shape is fixed in docs/resolved-form.md
    distributions.*           its distributions, with moments and tails

Knows the scenario format. Does not know models or the simulator, which both start from here.
"""

from .distributions import (
    Deterministic,
    Distribution,
    Empirical,
    Exponential,
    Hyperexponential,
    Lognormal,
    Pareto,
    Uniform,
)
from .load import load, loads, resolve
from .resolved import (
    AccessPoint,
    Application,
    Bulk,
    DelayedAck,
    DsssPhy,
    Flow,
    Link,
    Mac,
    OfdmPhy,
    Phy,
    Queue,
    Rate,
    ResolvedScenario,
    Rules,
    Run,
    StationGroup,
    Tcp,
    Udp,
    Web,
)
from .schema import schema

__all__ = [
    "AccessPoint",
    "Application",
    "Bulk",
    "DelayedAck",
    "Deterministic",
    "Distribution",
    "DsssPhy",
    "Empirical",
    "Exponential",
    "Flow",
    "Hyperexponential",
    "Link",
    "Lognormal",
    "Mac",
    "OfdmPhy",
    "Pareto",
    "Phy",
    "Queue",
    "Rate",
    "ResolvedScenario",
    "Rules",
    "Run",
    "StationGroup",
    "Tcp",
    "Udp",
    "Uniform",
    "Web",
    "load",
    "loads",
    "resolve",
    "schema",
]

"""Scenario files: the written form (TOML, units, defaults), the resolved form (all explicit).

    load, loads, resolve      the written form in, a `Scenario` out, or a `ScenarioError`
    Scenario                  both forms of a scenario, and how it is varied
    schema                    JSON Schema of the written form
    resolved.*                the resolved form; docs/resolved-form.md shows it
    distributions.*           its distributions, with moments and tails

Knows the scenario format. Does not know models or the simulator, which both start from here.
"""

from ..distributions import (
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
    AccessParameters,
    AccessPoint,
    AdaptiveBurst,
    Application,
    Beacon,
    Bulk,
    Classify,
    DelayedAck,
    DsssPhy,
    Edca,
    Flow,
    Ftp,
    FtpMessages,
    Link,
    Loss,
    Mac,
    OfdmPhy,
    Phy,
    PlainQueue,
    Queue,
    Rate,
    Red,
    RedQueue,
    ResolvedScenario,
    Rules,
    Run,
    StandardAccess,
    StationGroup,
    Tcp,
    TcpRules,
    Udp,
    Web,
)
from .scenario import Scenario
from .schema import schema

__all__ = [
    "AccessParameters",
    "AccessPoint",
    "AdaptiveBurst",
    "Application",
    "Beacon",
    "Bulk",
    "Classify",
    "DelayedAck",
    "Deterministic",
    "Distribution",
    "DsssPhy",
    "Edca",
    "Empirical",
    "Exponential",
    "Flow",
    "Ftp",
    "FtpMessages",
    "Hyperexponential",
    "Link",
    "Lognormal",
    "Loss",
    "Mac",
    "OfdmPhy",
    "Pareto",
    "Phy",
    "PlainQueue",
    "Queue",
    "Rate",
    "Red",
    "RedQueue",
    "ResolvedScenario",
    "Rules",
    "Run",
    "Scenario",
    "StandardAccess",
    "StationGroup",
    "Tcp",
    "TcpRules",
    "Udp",
    "Uniform",
    "Web",
    "load",
    "loads",
    "resolve",
    "schema",
]

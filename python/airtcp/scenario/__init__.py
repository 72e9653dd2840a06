"""Scenario files: the written form (TOML, units, defaults), the resolved form (all explicit).

    load, loads, resolve      the written form in, a `Scenario` out, or a `ScenarioError`
    Scenario                  both forms of a scenario, and how it is varied
    ResolvedScenario          the resolved form; docs/reference/resolved-form.md shows it
    schema                    JSON Schema of the written form
    keys.*                    the tables of both forms, by the part of a file that they stand in

Knows the scenario format. Does not know models or the simulator, which both start from here.
"""

from .load import as_scenario, load, loads, resolve
from .resolved import ResolvedScenario
from .scenario import Scenario
from .schema import schema

__all__ = ["ResolvedScenario", "Scenario", "as_scenario", "load", "loads", "resolve", "schema"]

"""Scenario files: the written form (TOML, units, defaults) and the resolved form (all explicit).

    load, loads, resolve      turn the written form into a `Scenario`, or raise a `ScenarioError`
    Scenario                  both forms of a scenario, and how to vary it
    ResolvedScenario          the resolved form; docs/reference/resolved-form.md describes it
    schema                    JSON Schema of the written form
    keys.*                    the tables of both forms, by part of a file

Models and the simulator use the resolved form.
"""

from .load import as_scenario, load, loads, resolve
from .resolved import ResolvedScenario
from .scenario import Scenario
from .schema import schema

__all__ = ["ResolvedScenario", "Scenario", "as_scenario", "load", "loads", "resolve", "schema"]

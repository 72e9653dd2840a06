"""The answer of `airtcp.plan` for cells: what each is to have, and what that was seen to give.

Knows the shape of the answer, whose attributes are the keys of its JSON. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airtcp.amounts import quantity, quantity_with_interval
from airtcp.pictured import Pictured
from airtcp.results.notebook import frame, html_table
from airtcp.results.plans import PlanStopped
from airtcp.results.provenance import Provenance, canonical_json, head
from airtcp.stats import Interval

if TYPE_CHECKING:
    import pandas as pd

    from airtcp.scenario import Scenario


@dataclass(frozen=True, slots=True)
class TriedPlan:
    """A plan that was simulated.

    `channels` by cell; None is one channel of all, without a number. `powers_dbm` and `positions`
    are those of its access point, in metres; None where the scenario has no such thing. `guess` is
    what the chain says, None where it has no number, `value` the objective over replications, and
    `behind` the paired difference of the best plan from this one, positive where the best is
    better. `cells` are the goodputs in b/s.
    """

    channels: dict[str, int | None]
    powers_dbm: dict[str, float | None]
    positions: dict[str, tuple[float, float] | None]
    guess: float | None
    value: Interval
    behind: Interval
    cells: dict[str, Interval]

    def to_dict(self) -> dict[str, Any]:
        """The plan as it stands in the JSON."""
        return {
            "channels": self.channels,
            "powers_dbm": self.powers_dbm,
            "positions": {
                name: None if one is None else list(one) for name, one in self.positions.items()
            },
            "guess": self.guess,
            "value": self.value.to_dict(),
            "behind": self.behind.to_dict(),
            "cells": {name: one.to_dict() for name, one in self.cells.items()},
        }


@dataclass(frozen=True, repr=False)
class ChannelPlan(Pictured):
    """The best channels, powers and positions of cells among those that were allowed.

    `objective` is what was asked for, in `unit`, and `better` says which of its values are good.
    `vary` is what was free, `allowed` the channels that cells might have, `left_out` the powers and
    positions that they might not, with the reason. `plans` counts those that are not alike up to
    names of channels, of which the chain ranked `ranked`; `silence` says why it has no number of
    some, None if it has of all; `tried` are those that were simulated, the best first, today's
    (`today`) among them. `real` tells whether the best is better than the
    second for sure. `changes` are the key paths of a file, with their values, that make the best
    plan of the scenario. `apply` has of each cell that changes its channel or power the lines of
    equipment.
    """

    scenario: Scenario
    provenance: Provenance
    objective: str
    label: str
    unit: str
    better: str
    vary: tuple[str, ...]
    allowed: tuple[int, ...]
    plans: int
    ranked: int
    silence: str | None
    left_out: Mapping[str, str]
    tried: tuple[TriedPlan, ...]
    today: TriedPlan
    real: bool
    changes: Mapping[str, Any]
    alone: Mapping[str, float]
    apply: Mapping[str, Mapping[str, tuple[str, ...]]]
    notes: tuple[str, ...]
    runs: int
    simulated_s: float
    wall_s: float
    cpu_s: float
    stopped: PlanStopped

    def __repr__(self) -> str:
        told = ", ".join(f"{name} {number}" for name, number in self.best.channels.items())
        value = quantity(self.best.value.mean, self.unit)
        return f"<ChannelPlan of {self.scenario.title!r}: {told}: {self.label} {value}>"

    @property
    def best(self) -> TriedPlan:
        """The best plan."""
        return self.tried[0]

    @property
    def second(self) -> TriedPlan | None:
        """The plan that is second best; None if only one was simulated."""
        return self.tried[1] if len(self.tried) > 1 else None

    def to_pandas(self) -> pd.DataFrame:
        """A row for each plan that was simulated. Needs pandas, which airtcp does not."""
        names = list(self.best.channels)
        rows = [
            (*one.channels.values(), one.guess, *one.value.to_dict().values()) for one in self.tried
        ]
        return frame((*names, "guess", "mean", "low", "high", "n"), rows)

    def _repr_html_(self) -> str:
        """As notebooks show it: the plans that were simulated."""
        rows = [
            (
                *(str(number or "–") for number in one.channels.values()),
                quantity_with_interval(one.value, self.unit),
            )
            for one in self.tried
        ]
        return html_table(repr(self)[1:-1], (*self.best.channels, self.label), rows)

    def to_dict(self) -> dict[str, Any]:
        """Keys `best`, `second`, `today`, `tried` and what is beside them."""
        second = self.second
        return {
            **head(self.scenario, self.provenance),
            "objective": {
                "name": self.objective,
                "label": self.label,
                "unit": self.unit,
                "better": self.better,
            },
            "vary": list(self.vary),
            "allowed": list(self.allowed),
            "left_out": dict(self.left_out),
            "plans": self.plans,
            "ranked": self.ranked,
            "silence": self.silence,
            "best": self.best.to_dict(),
            "second": None if second is None else second.to_dict(),
            "today": self.today.to_dict(),
            "real": self.real,
            "alone": dict(self.alone),
            "tried": [one.to_dict() for one in self.tried],
            "set": dict(self.changes),
            "apply": {
                name: {tool: list(lines) for tool, lines in tools.items()}
                for name, tools in self.apply.items()
            },
            "notes": list(self.notes),
            "runs": self.runs,
            "simulated_s": self.simulated_s,
            "wall_s": self.wall_s,
            "cpu_s": self.cpu_s,
            "stopped": self.stopped,
        }

    def to_json(self) -> str:
        """The plan as canonical JSON: equal plans are equal bytes, `wall_s`, `cpu_s` aside."""
        return canonical_json(self.to_dict())

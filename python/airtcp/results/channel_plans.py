"""The result of `airtcp.plan` for cells: the settings of each cell, and their simulated effect.

Attributes are the keys of the JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airtcp.amounts import quantity, quantity_with_interval
from airtcp.pictured import Pictured
from airtcp.results.notebook import frame, html_table
from airtcp.results.plain import Record, of_fields, plain
from airtcp.results.plans import PlanStopped
from airtcp.results.provenance import Provenance, Result, head
from airtcp.stats import Interval

if TYPE_CHECKING:
    import pandas as pd

    from airtcp.scenario import Scenario


@dataclass(frozen=True, slots=True)
class TriedPlan(Record):
    """A simulated plan.

    `channels` by cell; None means that all cells share one unnumbered channel. `powers_dbm` and
    `positions` (in metres) are those of its access point; None if the scenario does not define
    them. `guess` is the chain's value of the objective, None if it has none. `value` is the
    objective over replications. `behind` is the paired difference of the best plan from this one,
    positive if the best is better. `cells` are the goodputs in b/s.
    """

    channels: dict[str, int | None]
    powers_dbm: dict[str, float | None]
    positions: dict[str, tuple[float, float] | None]
    guess: float | None
    value: Interval
    behind: Interval
    cells: dict[str, Interval]


@dataclass(frozen=True, repr=False)
class ChannelPlan(Pictured, Result):
    """The best channels, powers and positions of cells among the allowed ones.

    `objective` is the requested objective, in `unit`, and `better` says which of its values are
    good. `vary` lists what was varied, `allowed` the allowed channels, and `left_out` the excluded
    powers and positions with the reason. `plans` counts the plans up to the names of channels, of
    which the chain ranked `ranked`. `silence` says why the chain has no value for some, None if it
    has all values. `tried` are the simulated plans, best first, including the current one
    (`today`). `real` tells whether the best is significantly better than the second. `changes` are
    the key paths of a file, with values, that turn the scenario into the best plan. `apply` has the
    device settings of each cell whose channel or power changes.
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
        text = ", ".join(f"{name} {number}" for name, number in self.best.channels.items())
        value = quantity(self.best.value.mean, self.unit)
        return f"<ChannelPlan of {self.scenario.title!r}: {text}: {self.label} {value}>"

    @property
    def best(self) -> TriedPlan:
        """The best plan."""
        return self.tried[0]

    @property
    def second(self) -> TriedPlan | None:
        """The second-best plan; None if only one was simulated."""
        return self.tried[1] if len(self.tried) > 1 else None

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each simulated plan. Needs pandas, which airtcp does not require."""
        names = list(self.best.channels)
        rows = [
            (*one.channels.values(), one.guess, *one.value.to_dict().values()) for one in self.tried
        ]
        return frame((*names, "guess", "mean", "low", "high", "n"), rows)

    def _repr_html_(self) -> str:
        """Return the simulated plans as HTML for notebooks."""
        rows = [
            (
                *(str(number or "–") for number in one.channels.values()),
                quantity_with_interval(one.value, self.unit),
            )
            for one in self.tried
        ]
        return html_table(repr(self)[1:-1], (*self.best.channels, self.label), rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the keys `best`, `second`, `today`, `tried` and the others."""
        objective = ("objective", "label", "unit", "better")
        return {
            **head(self.scenario, self.provenance),
            **of_fields(self, "scenario", "provenance", *objective, "changes"),
            "objective": {
                "name": self.objective,
                "label": self.label,
                "unit": self.unit,
                "better": self.better,
            },
            "best": plain(self.best),
            "second": plain(self.second),
            "set": dict(self.changes),
        }

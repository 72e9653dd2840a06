"""The catalogue of metrics (`metrics.toml`): names, labels, units, definitions and scopes.

The simulator (`airtcp.run`) measures them and the models (`airtcp.predict`) compute them. The
documentation page on results is generated from this catalogue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from airtcp.data import beside

#: What a metric can be measured for: all flows, a station group, one direction of its flows, the
#: queues of an access category, or a cell.
Scope = Literal["all", "group", "direction", "category", "cell"]

#: Which values are better; None if that depends on the goal.
Better = Literal["higher", "lower"] | None

_PARTS_OF_ONE: Final = re.compile("probability|share|ratio|loss|utilization")

#: Suffixes of names, by unit. Users may omit them.
_SUFFIXES: Final = {"s": "_s", "b/s": "_bps"}


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: `name` is the key in results, `label` the name for people, `unit` its unit.

    `meaning` defines it, `better` says which values are better, and `scopes` lists what it is
    measured for; the list is empty for metrics that only models have. A `detail` appears in results
    but not in the tables for people.
    """

    name: str
    label: str
    unit: str = ""
    meaning: str = ""
    better: Better = None
    scopes: tuple[Scope, ...] = ("all",)
    detail: bool = False

    @property
    def is_part(self) -> bool:
        """Whether the value is a fraction, which is shown as a percentage."""
        return not self.unit and bool(_PARTS_OF_ONE.search(self.name))

    @property
    def read_in(self) -> str:
        """The unit for display: "%" for fractions."""
        return "%" if self.is_part else self.unit

    @property
    def short(self) -> str:
        """The name without its unit suffix, as conditions use it: `transfer_time`."""
        return self.name.removesuffix(_SUFFIXES.get(self.unit, ""))


#: The quantiles of a delay, in words.
_QUANTILES: Final = {"p50": "median"} | {f"p{n}": f"{n}th percentile" for n in (90, 95, 99)}


def _catalogue() -> Iterator[Metric]:
    """Iterate over the metrics of `metrics.toml`."""
    data = beside(__file__)
    for name, record in data["metric"].items():
        scopes = record.pop("scopes", ("all",))
        record["scopes"] = tuple(data["measured"][scopes] if isinstance(scopes, str) else scopes)
        shown, within = record.pop("quantiles", None), record.pop("within", "")
        label = record.pop("label")
        if shown is None:
            yield Metric(name, label, **record)
            continue
        yield Metric(name, f"{label}, mean", **record)
        for short, word in _QUANTILES.items():
            own = {
                "meaning": f"{word} of the times of `{name}`{within}",
                "detail": short not in shown,
            }
            yield Metric(f"{name.removesuffix('_s')}_{short}_s", f"{label}, {word}", **record | own)


#: Every metric by its name, in the order of tables.
METRICS: Final[dict[str, Metric]] = {metric.name: metric for metric in _catalogue()}


def metrics_of(scope: Scope) -> dict[str, Metric]:
    """Return the metrics that are measured for `scope`."""
    return {name: metric for name, metric in METRICS.items() if scope in metric.scopes}


def metric(name: str) -> Metric:
    """Return the metric with this name. Unknown metrics get their name as the label."""
    return METRICS.get(name) or Metric(name, name.replace("_", " "))

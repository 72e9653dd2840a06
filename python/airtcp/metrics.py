"""The catalogue of metrics (`metrics.toml`): names, labels, units, definitions and scopes.

The simulator (`airtcp.run`) measures them and the models (`airtcp.predict`) compute them. The
documentation page on results is generated from this catalogue.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from airtcp.amounts import percent, quantity
from airtcp.data import beside

#: What a metric can be measured for: all flows, a station group, one direction of its flows, the
#: queues of an access category, or a cell.
Scope = Literal["all", "group", "direction", "category", "cell"]

#: Which values are better; None if that depends on the goal.
Better = Literal["higher", "lower"] | None

Kind = Literal["rate", "duration", "ratio", "index", "count"]

#: Suffixes of names, by unit. Users may omit them.
_SUFFIXES: Final = {"s": "_s", "b/s": "_bps"}


#: The quantiles of a delay, in words.
_QUANTILES: Final = {"p50": "median"} | {f"p{n}": f"{n}th percentile" for n in (90, 95, 99)}
_KINDS: Final[dict[str, Kind]] = {"b/s": "rate", "s": "duration"}


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: `name` is the key in results, `what` its name for people, `unit` its unit.

    `statistic` is "mean" or a percentile such as "p90", and `of` says whose values they are, if
    there is a choice. `kind` decides how a value is shown, and `most` is its upper bound, if it has
    one. `meaning` defines it, `better` says which values are better, and `scopes` lists what it is
    measured for; the list is empty for metrics that only models have. A `detail` appears in results
    but not in the tables for people.
    """

    name: str
    what: str
    unit: str = ""
    meaning: str = ""
    better: Better = None
    scopes: tuple[Scope, ...] = ("all",)
    detail: bool = False
    kind: Kind = "count"
    statistic: str = ""
    of: str = ""
    most: float | None = None

    @property
    def label(self) -> str:
        """The full name for people: "transfer time, 90th percentile"."""
        more = _QUANTILES.get(self.statistic, self.statistic) or self.of
        return f"{self.what}, {more}" if more else self.what

    @property
    def quantile(self) -> str:
        """The percentile: "p90"; empty if it is none."""
        return self.statistic if self.statistic in _QUANTILES else ""

    @property
    def read_in(self) -> str:
        """The unit for display: "%" for ratios."""
        return "%" if self.kind == "ratio" else self.unit

    @property
    def short(self) -> str:
        """The name without its unit suffix, as conditions use it: `transfer_time`."""
        return self.name.removesuffix(_SUFFIXES.get(self.unit, ""))

    def with_statistic(self, statistic: str) -> Metric | None:
        """Return the metric of the same values with another statistic, if there is one."""
        base = self.short.removesuffix(f"_{self.quantile}")
        name = base if statistic == "mean" else f"{base}_{statistic}"
        return METRICS.get(f"{name}{self.name.removeprefix(self.short)}")

    def format(self, value: float | None) -> str:
        """Format a value with its unit, ratios as percentages: "8.5 %"."""
        if value is not None and self.kind == "ratio":
            return percent(value)
        return quantity(value, self.unit, 3)


def _catalogue() -> Iterator[Metric]:
    """Iterate over the metrics of `metrics.toml`."""
    data = beside(__file__)
    for name, record in data["metric"].items():
        scopes = record.pop("scopes", ("all",))
        record["scopes"] = tuple(data["measured"][scopes] if isinstance(scopes, str) else scopes)
        kind = record.setdefault("kind", _KINDS.get(record.get("unit", ""), "count"))
        record.setdefault("most", 1.0 if kind == "ratio" else None)
        record["what"] = record.pop("label")
        shown, within = record.pop("quantiles", None), record.pop("within", "")
        if shown is None:
            yield Metric(name, **record)
            continue
        yield Metric(name, **record, statistic="mean")
        for short, word in _QUANTILES.items():
            own = {
                "meaning": f"{word} of the times of `{name}`{within}",
                "detail": short not in shown,
            }
            yield Metric(f"{name.removesuffix('_s')}_{short}_s", statistic=short, **(record | own))


#: Every metric by its name, in the order of tables.
METRICS: Final[dict[str, Metric]] = {metric.name: metric for metric in _catalogue()}


def metrics_of(scope: Scope) -> dict[str, Metric]:
    """Return the metrics that are measured for `scope`."""
    return {name: metric for name, metric in METRICS.items() if scope in metric.scopes}


def metric(name: str) -> Metric:
    """Return the metric with this name. Unknown metrics get their name as the label."""
    return METRICS.get(name) or Metric(name, name.replace("_", " "))

"""Results of flow-level sharing: one network, several cells, or transfers split among networks.

`airtcp_papers.common.sharing` computes them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from airtcp.results.provenance import Provenance, canonical_json, head
from airtcp.stats import Interval

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario


@dataclass(frozen=True, slots=True)
class SizeClass:
    """The transfers with sizes from `low` bytes, a power of two, to below `high`, the next one.

    `slowdown` is the time of a transfer divided by its time without other transfers. Under
    processor sharing its mean is equal in every class.
    """

    low: float
    high: float
    jobs: int
    transfer_time_s: Interval
    slowdown: Interval


@dataclass(frozen=True, repr=False)
class Shared:
    """The result of `airtcp_papers.share`.

    `metrics` has an interval for each metric. `load` is None if stations wait for their transfers,
    since such a system is always stable. `alone_s` is the mean time of a transfer without others.
    `capacities_bps` is the goodput of 1, 2, ... transfers, and `by` the source of these values.
    `model_s` is the closed form of the mean transfer time. `broken` lists the violated assumptions.
    """

    scenario: ResolvedScenario
    provenance: Provenance
    metrics: dict[str, Interval]
    load: float | None
    alone_s: float
    capacities_bps: tuple[float, ...]
    by: str
    model_s: float | None
    broken: tuple[str, ...]
    active_flows_distribution: list[float]
    by_size: tuple[SizeClass, ...]
    jobs: int
    replications: int
    confidence: float

    def __repr__(self) -> str:
        mean = self.metrics["transfer_time_s"].mean
        return f"<Shared {self.scenario.title!r}: mean transfer time {mean:.4g} s>"

    def to_dict(self) -> dict[str, Any]:
        """Return the keys `scenario`, `provenance`, `sharing`."""
        return head(self.scenario, self.provenance) | {
            "sharing": {
                "metrics": {name: one.to_dict() for name, one in self.metrics.items()},
                "load": self.load,
                "alone_s": self.alone_s,
                "capacities_bps": list(self.capacities_bps),
                "by": self.by,
                "model_s": self.model_s,
                "broken": list(self.broken),
                "active_flows_distribution": self.active_flows_distribution,
                "by_size": [asdict(one) for one in self.by_size],
                "jobs": self.jobs,
                "replications": self.replications,
                "confidence": self.confidence,
            }
        }

    def to_json(self) -> str:
        """Return the result as canonical JSON: equal results are equal bytes."""
        return canonical_json(self.to_dict())


@dataclass(frozen=True, slots=True)
class SharedCell:
    """A cell of several: `metrics`, and the values of the isolated cell, as in `Shared`."""

    metrics: dict[str, Interval]
    load: float | None
    alone_s: float
    capacities_bps: tuple[float, ...]
    by: str

    def to_dict(self) -> dict[str, Any]:
        """Return the cell as in the JSON."""
        return {
            "metrics": {name: one.to_dict() for name, one in self.metrics.items()},
            "load": self.load,
            "alone_s": self.alone_s,
            "capacities_bps": list(self.capacities_bps),
            "by": self.by,
        }


@dataclass(frozen=True, repr=False)
class CellsShared:
    """The result of `airtcp_papers.common.sharing.cells.share_cells`.

    `transfer_time_s` is the mean over the transfers of all cells, and `model_s` the same by the
    Markov chain of the numbers of transfers. `cells` is by name. `broken` lists the violated
    assumptions.
    """

    scenario: ResolvedScenario
    provenance: Provenance
    transfer_time_s: Interval
    cells: dict[str, SharedCell]
    model_s: float | None
    broken: tuple[str, ...]
    jobs: int
    replications: int
    confidence: float

    def __repr__(self) -> str:
        mean = self.transfer_time_s.mean
        return f"<CellsShared {self.scenario.title!r}: mean transfer time {mean:.4g} s>"

    def to_dict(self) -> dict[str, Any]:
        """Return the keys `scenario`, `provenance`, `sharing`."""
        return head(self.scenario, self.provenance) | {
            "sharing": {
                "metrics": {"transfer_time_s": self.transfer_time_s.to_dict()},
                "cells": {name: one.to_dict() for name, one in self.cells.items()},
                "model_s": self.model_s,
                "broken": list(self.broken),
                "jobs": self.jobs,
                "replications": self.replications,
                "confidence": self.confidence,
            }
        }

    def to_json(self) -> str:
        """Return the result as canonical JSON: equal results are equal bytes."""
        return canonical_json(self.to_dict())


@dataclass(frozen=True, slots=True)
class Part:
    """A network's part in a split: its `share` of the transfers, their mean time, and number."""

    share: Interval
    transfer_time_s: Interval
    active_flows: Interval


@dataclass(frozen=True, slots=True)
class Way:
    """One way to split: the mean time of all transfers, their goodput, and each network's part."""

    transfer_time_s: Interval
    goodput_bps: float
    parts: tuple[Part, ...]


@dataclass(frozen=True, repr=False)
class Split:
    """The result of `airtcp_papers.split`: the same transfers, split in several ways.

    `load` is that of all networks together. `capacities_bps` is the goodput of each network under
    many transfers. The parts of each way are in the order of `networks`.
    """

    scenario: ResolvedScenario
    provenance: Provenance
    networks: tuple[str, ...]
    load: float | None
    capacities_bps: tuple[float, ...]
    ways: dict[str, Way]
    broken: tuple[str, ...]
    jobs: int
    replications: int
    confidence: float

    def __repr__(self) -> str:
        told = [f"{way} {one.transfer_time_s.mean:.4g} s" for way, one in self.ways.items()]
        return f"<Split over {len(self.networks)} networks: {'; '.join(told)}>"

    def to_dict(self) -> dict[str, Any]:
        """Return the keys `scenario`, `provenance`, `split`."""
        return head(self.scenario, self.provenance) | {
            "split": {
                "networks": list(self.networks),
                "load": self.load,
                "capacities_bps": list(self.capacities_bps),
                "ways": {way: asdict(one) for way, one in self.ways.items()},
                "broken": list(self.broken),
                "jobs": self.jobs,
                "replications": self.replications,
                "confidence": self.confidence,
            }
        }

    def to_json(self) -> str:
        """Return the result as canonical JSON: equal results are equal bytes."""
        return canonical_json(self.to_dict())

"""Results of flow-level sharing: one network, several cells, or transfers split among networks.

`airtcp_papers.common.sharing` computes them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import Any, ClassVar

from airtcp.results.provenance import Provenance, canonical_json, head
from airtcp.scenario import ResolvedScenario
from airtcp.stats import Interval


@dataclass(frozen=True, repr=False)
class _Result:
    """A result: a scenario, its provenance, violated assumptions, and the size of the simulation.

    `broken` lists the violated assumptions. Replications measured `jobs` transfers each.
    """

    #: The key of the result in its JSON.
    key: ClassVar[str] = "sharing"

    scenario: ResolvedScenario
    provenance: Provenance
    broken: tuple[str, ...]
    jobs: int
    replications: int
    confidence: float

    def to_dict(self) -> dict[str, Any]:
        """Return the keys `scenario`, `provenance`, and `sharing` or `split`."""
        names = {one.name for one in fields(self)} - {"scenario", "provenance"}
        told = {name: _plain(getattr(self, name)) for name in names}
        return head(self.scenario, self.provenance) | {self.key: told}

    def to_json(self) -> str:
        """Return the result as canonical JSON: equal results are equal bytes."""
        return canonical_json(self.to_dict())


def _plain(value: Any) -> Any:
    """Return a field as in the JSON."""
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, tuple | list) else value


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
class Shared(_Result):
    """The result of `airtcp_papers.share`.

    `metrics` has an interval for each metric. `load` is None if stations wait for their transfers,
    since such a system is always stable. `alone_s` is the mean time of a transfer without others.
    `capacities_bps` is the goodput of 1, 2, ... transfers, and `by` the source of these values.
    `model_s` is the closed form of the mean transfer time.
    """

    metrics: dict[str, Interval]
    load: float | None
    alone_s: float
    capacities_bps: tuple[float, ...]
    by: str
    model_s: float | None
    active_flows_distribution: list[float]
    by_size: tuple[SizeClass, ...]

    def __repr__(self) -> str:
        mean = self.metrics["transfer_time_s"].mean
        return f"<Shared {self.scenario.title!r}: mean transfer time {mean:.4g} s>"


@dataclass(frozen=True, slots=True)
class SharedCell:
    """A cell of several: `metrics`, and the values of the isolated cell, as in `Shared`."""

    metrics: dict[str, Interval]
    load: float | None
    alone_s: float
    capacities_bps: tuple[float, ...]
    by: str


@dataclass(frozen=True, repr=False)
class CellsShared(_Result):
    """The result of `airtcp_papers.common.sharing.cells.share_cells`.

    `metrics` has the mean transfer time over all cells, and `model_s` the same by the Markov chain
    of the numbers of transfers. `cells` is by name.
    """

    metrics: dict[str, Interval]
    cells: dict[str, SharedCell]
    model_s: float | None

    @property
    def transfer_time_s(self) -> Interval:
        """The mean over the transfers of all cells."""
        return self.metrics["transfer_time_s"]

    def __repr__(self) -> str:
        mean = self.transfer_time_s.mean
        return f"<CellsShared {self.scenario.title!r}: mean transfer time {mean:.4g} s>"


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
class Split(_Result):
    """The result of `airtcp_papers.split`: the same transfers, split in several ways.

    `load` is that of all networks together. `capacities_bps` is the goodput of each network under
    many transfers. The parts of each way are in the order of `networks`.
    """

    key: ClassVar[str] = "split"

    networks: tuple[str, ...]
    load: float | None
    capacities_bps: tuple[float, ...]
    ways: dict[str, Way]

    def __repr__(self) -> str:
        told = [f"{way} {one.transfer_time_s.mean:.4g} s" for way, one in self.ways.items()]
        return f"<Split over {len(self.networks)} networks: {'; '.join(told)}>"

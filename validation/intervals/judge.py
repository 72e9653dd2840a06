"""Judge the coverage of the cells: how often intervals contain the truth, and why they miss."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from airtcp.estimates import estimate
from airtcp.results import Replication
from airtcp.scenario import ResolvedScenario
from airtcp.stats import Interval
from intervals.cells import (
    CONFIDENCE,
    DECLINED,
    LEAST,
    METRICS,
    POOLED,
    REPLICATIONS,
    TRUTH,
    Cell,
    System,
)
from intervals.truths import Truth
from numpy.typing import NDArray


class Estimate(NamedTuple):
    """The reported interval of a metric in a block, and Student's from the same replications."""

    said: Interval
    plain: Interval


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result for a cell.

    Coverage and `bias` are over the blocks that print an interval. `bias` is the mean estimate
    minus the truth, relative to the standard deviation of estimates. `width_over_sd` compares the
    root mean square of the half widths, as standard errors, with that deviation: 1 if accurate.
    `half_width` and `plain_half_width` are medians over these blocks. `truth_over_half_width` is
    the truth's own half width relative to `half_width`.
    """

    system: str
    replications: int
    metric: str
    blocks: int
    printed: int
    held: int
    plain_held: int
    truth: float
    truth_over_half_width: float | None
    half_width: float | None
    plain_half_width: float | None
    bias: float | None
    width_over_sd: float | None

    @property
    def declined(self) -> float:
        """Fraction of blocks that print no interval."""
        return 1.0 - self.printed / self.blocks

    @property
    def is_declined(self) -> bool:
        return self.declined >= 0.5

    @property
    def is_judged(self) -> bool:
        """True if the truth is known well enough."""
        return self.truth_over_half_width is not None and self.truth_over_half_width <= TRUTH

    @property
    def coverage(self) -> float | None:
        return self.held / self.printed if self.printed else None

    @property
    def plain_coverage(self) -> float:
        return self.plain_held / self.blocks

    @property
    def gain(self) -> float | None:
        """Factor by which intervals are narrower than Student's."""
        if not self.half_width or self.plain_half_width is None:
            return None
        return self.plain_half_width / self.half_width


@dataclass(frozen=True, slots=True)
class Pool:
    """The judged cells of a law and a load together.

    `low` and `high` are a 95 % interval of the coverage. Blocks are independent, but cells of a
    block are not, so each block counts as one number.
    """

    law: str
    load: float
    cells: int
    coverage: float
    low: float
    high: float

    @property
    def is_met(self) -> bool:
        return POOLED[0] <= self.coverage <= POOLED[1]


def estimates(
    runs: Sequence[Replication], scenario: ResolvedScenario, metrics: Sequence[str] = METRICS
) -> dict[str, Estimate]:
    """Return the estimates of the metrics of a block."""
    found = {metric: estimate(runs, scenario, metric) for metric in metrics}
    return {metric: Estimate(one.interval, one.plain) for metric, one in found.items()}


def told(runs: Sequence[Replication], system: System) -> dict[tuple[int, str], Estimate]:
    """Return the estimates of a block by number of replications and metric."""
    scenario = system.scenario(0)
    return {
        (count, metric): one
        for count in REPLICATIONS
        if count <= len(runs)
        for metric, one in estimates(runs[:count], scenario, system.metrics).items()
    }


def verdict(cell: Cell, found: Sequence[Estimate], truth: Truth) -> Verdict:
    """Judge a cell by the estimates of its blocks."""
    printed = [one for one in found if one.said.half_width is not None]
    widths = np.array([one.said.half_width for one in printed], dtype=float)
    plain = np.array([one.plain.half_width or math.nan for one in printed], dtype=float)
    means = np.array([one.said.mean for one in printed], dtype=float)
    some = len(printed) > 1
    spread = float(means.std(ddof=1)) if some else math.nan
    # The quantile factor of Student's interval for this number of replications, approximately.
    factor = _factor(cell.replications)
    half_width = float(np.median(widths)) if some else None
    return Verdict(
        system=cell.system.name,
        replications=cell.replications,
        metric=cell.metric,
        blocks=len(found),
        printed=len(printed),
        held=sum(_holds(one.said, truth) for one in printed),
        plain_held=sum(_holds(one.plain, truth) for one in found),
        truth=truth.value,
        truth_over_half_width=truth.half_width / half_width if half_width else None,
        half_width=half_width,
        plain_half_width=float(np.median(plain)) if some else None,
        bias=(float(means.mean()) - truth.value) / spread if some and spread > 0 else None,
        width_over_sd=float(np.sqrt(np.mean(widths**2))) / factor / spread
        if some and spread > 0
        else None,
    )


def held(found: Sequence[Estimate], truth: Truth) -> NDArray[np.float64]:
    """Return for each block 1 if its interval contains the truth, 0 if not, NaN without one."""
    return np.array(
        [
            math.nan if one.said.half_width is None else float(_holds(one.said, truth))
            for one in found
        ]
    )


def pools(of_cells: Iterable[tuple[Cell, Verdict, NDArray[np.float64]]]) -> Iterator[Pool]:
    """Pool the judged cells that print intervals by law and load."""
    by: dict[tuple[str, float], dict[str, list[NDArray[np.float64]]]] = {}
    for cell, one, each in of_cells:
        if one.is_judged and not one.is_declined:
            of_pool = by.setdefault((cell.system.law, cell.system.load), defaultdict(list))
            of_pool[cell.system.name].append(each)
    for (law, load), systems in by.items():
        # Rows are blocks: intervals that contain the truth, and printed intervals.
        rows = np.concatenate(
            [
                np.column_stack([np.nansum(table, axis=0), np.isfinite(table).sum(axis=0)])
                for table in map(np.array, systems.values())
            ]
        )
        coverage = float(rows[:, 0].sum() / rows[:, 1].sum())
        off = rows[:, 0] - coverage * rows[:, 1]
        error = float(np.sqrt((off**2).sum())) / float(rows[:, 1].sum())
        cells = sum(map(len, systems.values()))
        yield Pool(law, load, cells, coverage, coverage - 1.96 * error, coverage + 1.96 * error)


def failures(verdicts: Sequence[Verdict], of_pools: Sequence[Pool]) -> list[str]:
    """Describe each violation of the rules of `cells`, and each cell that cannot be judged."""
    lines = [
        f"{pool.law}, load {pool.load:g}: {pool.coverage:.1%} of all intervals hold the truth"
        for pool in of_pools
        if not pool.is_met
    ]
    for one in verdicts:
        name = f"{one.system}, {one.replications} replications, {one.metric}"
        if one.is_declined:
            continue
        if not one.is_judged:
            lines.append(f"{name}: cannot be judged, for its truth is not known well enough")
        elif one.coverage is not None and one.coverage < LEAST:
            lines.append(f"{name}: {one.coverage:.1%} hold the truth")
        if one.gain is not None and one.gain < 0.995:
            lines.append(f"{name}: intervals are {1.0 / one.gain:.2f} times as wide as plain ones")
    declined = sum(one.is_declined for one in verdicts)
    if declined and declined >= DECLINED * len(verdicts):
        lines.append(f"{declined} of {len(verdicts)} cells print no interval")
    return lines


def to_dict(one: Verdict | Pool) -> dict[str, Any]:
    """Return a record for storing, its numbers to five digits."""
    return {
        key: float(f"{value:.5g}") if isinstance(value, float) else value
        for key, value in asdict(one).items()
    }


def rounded(one: Estimate) -> list[float | None]:
    """Return mean and ends of the reported interval to five digits."""
    said = (one.said.mean, one.said.low, one.said.high)
    return [None if value is None else float(f"{value:.5g}") for value in said]


def verdict_of(record: Mapping[str, Any]) -> Verdict:
    return Verdict(**record)


def pool_of(record: Mapping[str, Any]) -> Pool:
    return Pool(**record)


def _holds(interval: Interval, truth: Truth) -> bool:
    if interval.low is None or interval.high is None:
        return False
    return interval.low <= truth.value <= interval.high


def _factor(replications: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(replications - 1, 0.5 + CONFIDENCE / 2.0))

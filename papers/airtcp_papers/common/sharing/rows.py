"""Results of flow-level sharing models in rows of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from airtcp.amounts import percent, quantity, quantity_with_interval
from airtcp.metrics import METRICS

from airtcp_papers.common.sharing.results import CellsShared, Shared, Split

CELLS_HEAD: Final = ("cell", "mean transfer time", "alone", "under way", "goodput")
#: The load from which a caution is shown: at 0.9, 1 % of capacity is 9 % of time.
_NEAR: Final = 0.9


def lines(shared: Shared) -> list[tuple[str, str]]:
    """Return names and texts for one network, the answer first."""
    shown = [
        (METRICS[name].label, quantity_with_interval(one, METRICS[name].unit))
        for name, one in shared.metrics.items()
    ]
    if shared.model_s is not None:
        source = shared.by.removeprefix("C_k of ")
        shown.insert(1, (f"  {source}", quantity(shared.model_s, "s")))
    shown.append(("alone", f"{quantity(shared.alone_s, 's')}, mean time of a lone transfer"))
    first, last = shared.capacities_bps[0], shared.capacities_bps[-1]
    many = "" if len(shared.capacities_bps) == 1 else f", {quantity(last, 'b/s')} for many"
    shown.append(("capacity", f"{quantity(first, 'b/s')} for one transfer{many} ({shared.by})"))
    if shared.load is not None:
        shown.append(("load", f"{shared.load:.3g}"))
    return shown


def rows(split: Split) -> list[tuple[str, ...]]:
    """Return a row per way to split: mean time, then share and time of each network."""
    return [
        (
            way,
            quantity_with_interval(one.transfer_time_s, "s"),
            *(
                f"{percent(part.share.mean)}, {quantity(part.transfer_time_s.mean, 's')}"
                for part in one.parts
            ),
        )
        for way, one in split.ways.items()
    ]


def cell_rows(shared: CellsShared) -> list[tuple[str, ...]]:
    """Return a row per cell, and the totals as the last row.

    The columns are transfer time, time without other transfers, transfers in progress, and goodput.
    """
    rows: list[tuple[str, ...]] = [
        (
            name,
            quantity_with_interval(one.metrics["transfer_time_s"], "s"),
            quantity(one.alone_s, "s"),
            quantity_with_interval(one.metrics["active_flows"], ""),
            quantity_with_interval(one.metrics["goodput_bps"], "b/s"),
        )
        for name, one in shared.cells.items()
    ]
    rows.append(("all", quantity_with_interval(shared.transfer_time_s, "s"), "", "", ""))
    if shared.model_s is not None:
        rows.append(("  coupled queues", quantity(shared.model_s, "s"), "", "", ""))
    return rows


def cautions(found: Shared | CellsShared | Split) -> Iterator[str]:
    """Yield cautions: a load near 1, broken assumptions."""
    if isinstance(found, CellsShared):
        yield from found.broken
        return
    if found.load is not None and found.load >= _NEAR:
        longer = 0.01 * found.load / (1.0 - found.load)
        yield (
            f"the load is {found.load:.3g}, close to 1: times grow as 1 / (1 - load), so 1 % "
            f"less capacity makes them {percent(longer)} longer"
        )
    yield from found.broken

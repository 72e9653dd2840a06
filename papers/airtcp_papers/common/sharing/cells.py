"""Simulate transfers of several cells at flow level: queues that slow each other down.

Cells are networks with their own transfers. While others are busy, a cell has the part of its
capacity that the chain of clusters predicts. There are no packets.
"""

from __future__ import annotations

import math
from typing import Unpack

from airtcp.exceptions import ModelError, QuestionError
from airtcp.predict import cells, predict
from airtcp.scenario import ResolvedScenario
from airtcp.stats import student_interval

from airtcp_papers.common.flow_arguments import Length
from airtcp_papers.common.servers import FlowQueue, coupled_processor_sharing
from airtcp_papers.common.sharing import (
    Network,
    Traffic,
    about,
    arrivals,
    length_of,
    load_of,
    longer,
    metrics_of,
    network_of,
    traffic_of,
)
from airtcp_papers.common.sharing.results import CellsShared, SharedCell
from airtcp_papers.miorandi.predict import cells as cell_transfers


def share_cells(
    scenario: ResolvedScenario,
    *,
    capacity_bps: float | None = None,
    **length: Unpack[Length],
) -> CellsShared:
    """Simulate the transfers of cells as jobs that share each cell equally.

    While other cells are busy, a cell has the part of its capacity that the chain of clusters
    predicts for endless transfers.

    Args:
        scenario: several cells; in each the transfers have one law, as in `share`.
        capacity_bps: the goodput of each cell alone, as in `share`.
        length: how much to simulate, as in `share`; jobs are over all cells.

    Raises:
        QuestionError: as for `share`; also if the chain does not apply to these cells.
        SimulationError: a conservation law is violated, so the counts cannot be trusted.
    """
    known = cells.cells_of(scenario)
    if isinstance(known, str):
        raise QuestionError(f"{known}; allowed: cells of which the chain has the shares")
    each, graph = known
    if len(each) > cell_transfers.MOST_CELLS:
        raise QuestionError(f"there are {len(each)} cells; allowed: {cell_transfers.MOST_CELLS}")
    names = [cell.name for cell in scenario.cells or ()]
    traffic, networks = [], []
    for name, one in zip(names, each, strict=True):
        try:
            traffic.append(traffic_of(one))
            networks.append(network_of(one, one.flows[0], capacity_bps))
        except QuestionError as error:
            raise QuestionError(f"cell {name}: {error}") from error
    loads = [load_of(one, [network]) for one, network in zip(traffic, networks, strict=True)]
    if any(load is not None and load >= 1.0 for load in loads):
        name, load = next(both for both in zip(names, loads, strict=True) if (both[1] or 0) >= 1)
        raise QuestionError(f"cell {name} alone has a load of {load:.4g}; allowed: below 1")
    lasts = length_of(scenario, length)
    try:
        found = coupled_processor_sharing(
            [_queue(*both) for both in zip(traffic, networks, strict=True)],
            cell_transfers.speeds_of(scenario, each, graph),
            **lasts,
        )
    except ModelError as error:
        raise QuestionError(f"the shares of the cells are not known: {error}") from error
    means = []
    for run in found.runs:
        jobs = math.fsum(cell["completed"] for cell in run)
        means.append(
            math.fsum(
                cell["completed"] / jobs * (cell["mean_sojourn_s"] + network.added_s)
                for cell, network in zip(run, networks, strict=True)
                if cell["completed"]
            )
        )
    model = None if capacity_bps is not None else predict(scenario).best("transfer_time_s")
    return CellsShared(
        **about(scenario, lasts, found.generator),
        metrics={"transfer_time_s": student_interval(means, lasts["confidence"])},
        cells={
            name: SharedCell(
                metrics=metrics_of(queue, network, {}),
                load=load,
                alone_s=network.alone_s(one.sizes),
                capacities_bps=tuple(8.0 * each for each in network.capacities),
                by=network.by,
            )
            for name, queue, network, one, load in zip(
                names, found.servers, networks, traffic, loads, strict=True
            )
        },
        model_s=None if model is None or isinstance(model.value, list) else model.value,
        broken=tuple(dict.fromkeys(told for one in networks for told in one.broken)),
    )


def _queue(traffic: Traffic, network: Network) -> FlowQueue:
    if traffic.think_time is None:
        return FlowQueue(traffic.sizes, network.capacities, interarrival=arrivals(traffic))
    return FlowQueue(
        traffic.sizes,
        network.capacities,
        sources=traffic.count,
        think_times=longer(traffic.think_time, network.setup_s),
    )

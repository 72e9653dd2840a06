"""Predict transfers in several cells as queues that slow each other down while busy.

Paper M gives the transfers and capacities of each cell alone; the chain of clusters gives the part
that is left while other cells are busy. It ignores that windows open gradually, and that a cell
does not send all the time while its transfers wait for round trips.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from airtcp.predict import cells
from airtcp.predict.access import as_dcf
from airtcp.predict.answers import Answers

from airtcp_papers.miorandi.coupled_sharing import (
    MOST_QUEUES,
    MOST_STATES,
    Speeds,
    coupled_queues,
    coupled_sources,
)
from airtcp_papers.miorandi.predict import CARDS, assumed_windows, assumptions, sentence
from airtcp_papers.miorandi.predict.jobs import Jobs, of_arrivals, of_sources
from airtcp_papers.miorandi.predict.transfers import Transfers, arrival_rate, think_time

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario

_SOURCE: Final = "coupled queues"
#: The most cells; the speeds are tabulated for each set of busy cells.
MOST_CELLS: Final = 8
_CARD: Final = CARDS["cells"]


@dataclass(frozen=True, slots=True)
class CellTimes:
    """The transfers of a cell: mean time to the last byte, number in progress, and rate."""

    transfer_time_s: float
    active: float
    rate_per_s: float
    mean_size_bytes: float


def predict(scenario: ResolvedScenario, answers: Answers) -> str | None:
    """Predict the mean transfer time and goodputs, or return why there is no such chain."""
    found = cells.cells_of(scenario)
    if isinstance(found, str):
        return found
    each, graph = found
    if any(flow.application.kind == "web" and flow.application.page for flow in scenario.flows):
        return sentence("pages")
    if len(each) > MOST_CELLS:
        return sentence("many_cells", most_cells=MOST_CELLS)
    contending = [as_dcf(one) for one in each]
    reason = next((one.reason for one in contending if one.scenario is None), None)
    if reason:
        return reason
    alone = [one.scenario for one in contending if one.scenario is not None]
    with answers.attempt(_SOURCE):
        said = times(scenario, alone, graph)
        rate = math.fsum(one.rate_per_s for one in said)
        goodputs = [8.0 * one.rate_per_s * one.mean_size_bytes for one in said]
        answers.add(
            _CARD.origin(_SOURCE, _broken(alone)),
            {
                "transfer_time_s": math.fsum(one.rate_per_s * one.transfer_time_s for one in said)
                / rate,
                "active_flows": math.fsum(one.active for one in said),
                "goodput_bps": math.fsum(goodputs),
                "cell_goodput_bps": goodputs,
            },
        )
    return None


def times(
    scenario: ResolvedScenario,
    each: Sequence[ResolvedScenario],
    graph: Sequence[Sequence[bool]],
) -> list[CellTimes]:
    """Solve the queues of cells; each cell is given as a scenario of its own.

    Raises:
        ModelError: the queues are unstable, or a chain does not converge.
        ValueError: there are too many cells or stations.
    """
    speeds = speeds_of(scenario, each, graph)
    transfers = [Transfers(one) for one in each]
    waits = scenario.flows[0].application.kind == "web"
    jobs = [(of_sources if waits else of_arrivals)(one) for one in transfers]
    paces = [one.capacities_bps / one.capacities_bps[0] for one in jobs]
    service_s = [one.service_s for one in jobs]
    if waits:
        away_s = [
            one.over_flows(lambda flow: think_time(flow).mean()) + of.setup_s
            for one, of in zip(transfers, jobs, strict=True)
        ]
        sources = [one.connections.count for one in transfers]
        if math.prod(one + 1 for one in sources) > MOST_STATES:
            raise ValueError(
                f"{' x '.join(str(one) for one in sources)} stations make more than "
                f"{MOST_STATES} states of transfers in progress, the maximum of the chain"
            )
        law = coupled_sources(sources, away_s, service_s, speeds, paces=paces)
    else:
        if len(each) > MOST_QUEUES:
            raise ValueError(
                f"transfers that start independently of others: at most {MOST_QUEUES} cells"
            )
        rates = [arrival_rate(one) for one in transfers]
        law = coupled_queues(rates, service_s, speeds, paces=paces)
    return [
        _of_cell(one, of, float(active), float(sojourn))
        for one, of, active, sojourn in zip(
            transfers, jobs, law.mean_jobs, law.mean_sojourn_s, strict=True
        )
    ]


def speeds_of(
    scenario: ResolvedScenario,
    each: Sequence[ResolvedScenario],
    graph: Sequence[Sequence[bool]],
) -> Speeds:
    """Return the speeds of cells, relative to each alone, for each set of busy cells."""
    shares = cells.shares_of(scenario, each, graph)

    @cache
    def speeds(busy: tuple[bool, ...]) -> list[float]:
        members = [place for place, one in enumerate(busy) if one]
        found = [1.0] * len(busy)
        for place, share in zip(members, shares(members), strict=True):
            found[place] = min(share, 1.0)
        return found

    return speeds


def _of_cell(transfers: Transfers, jobs: Jobs, active: float, sojourn_s: float) -> CellTimes:
    rate = active / sojourn_s
    time_s = sojourn_s + jobs.setup_s - transfers.last_ack_s
    return CellTimes(
        transfer_time_s=time_s,
        active=rate * time_s,
        rate_per_s=rate,
        mean_size_bytes=transfers.mean_size_bytes,
    )


def _broken(each: Sequence[ResolvedScenario]) -> list[str]:
    """Report which assumptions of paper M the cells break, and sizes of several laws."""
    told: list[str] = []
    for one in each:
        transfers = Transfers(one)
        told += assumptions.network(transfers.connections)
        told += assumed_windows.web_first_ack(transfers.connections)
        told += assumed_windows.window_opens(transfers.connections)
        if abs(transfers.scv - 1.0) > 0.05:
            told.append(sentence("other_sizes"))
    return list(dict.fromkeys(told))

"""Predict the share of each of several cells on one channel, by the chain of clusters.

Inputs are which cells hear each other, the goodput of each cell alone (by the models of one cell),
and its mean exchange. It declines hidden stations within a cell. For finite transfers it gives the
shares of cells while some are busy, and asks installed packages for their times. 802.11a, b and g.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from airtcp.exceptions import ModelError
from airtcp.models.airtime import Phy
from airtcp.models.bianchi import SlotTimes
from airtcp.models.cells import (
    MOST_CELLS,
    Clusters,
    Unaligned,
    approximate_clusters,
    clusters,
)
from airtcp.phrases import phrase
from airtcp.predict.air import jain
from airtcp.predict.answers import Answers
from airtcp.predict.card import card
from airtcp.predict.families import IN_PAPERS, families_of
from airtcp.predict.replies import contention, mean
from airtcp.predict.senders import counts_of, doublings, senders_of
from airtcp.scenario.hearing import (
    deaf_groups,
    disturbances_db,
    disturbers,
    meeting,
    nodes_of_cell,
)

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario

_MOST_CELLS: Final = 60
#: A cell starves below this fraction of its goodput alone.
_STARVES: Final = 0.2
_NAMED: Final = 4
_CARD: Final = card(__file__)
CARDS: Final = (_CARD,)


def cells_of(
    scenario: ResolvedScenario,
) -> tuple[list[ResolvedScenario], list[list[bool]]] | str:
    """Return each cell as its own scenario and which cells hear each other, or why not."""
    cells = scenario.cells or ()
    if len(cells) < 2:
        if cells and not any(True for _ in deaf_groups(scenario, 0)):
            return phrase("predict.cells.powers")
        return phrase("predict.cells.hearing")
    if len(cells) > _MOST_CELLS:
        return phrase("predict.cells.many", most=_MOST_CELLS, cells=len(cells))
    if scenario.mac.aggregation is not None:
        return phrase("predict.cells.aggregates", standard=scenario.phy.standard)
    if scenario.mac.edca is not None:
        return phrase("predict.cells.categories")
    graph = _neighbours(scenario)
    if isinstance(graph, str):
        return graph
    if told := _of_powers(scenario, graph):
        return told
    each = [_alone(scenario, place) for place in range(len(cells))]
    if not all(one.flows for one in each):
        return phrase("predict.cells.silent")
    return each, graph


def predict(scenario: ResolvedScenario, answers: Answers) -> str | None:
    """Predict the goodput of each cell and of all, or return why the chain does not apply."""
    found = cells_of(scenario)
    if isinstance(found, str):
        return found
    each, graph = found
    kinds = {flow.application.kind for flow in scenario.flows}
    if kinds in ({"web"}, {"ftp"}):
        families = families_of("cells", scenario)
        if not families:
            return phrase("predict.cells.endless", in_papers=IN_PAPERS)
        reasons = [family.ask(scenario, answers) for family in families]
        return next((reason for reason in reasons if reason), None)
    if kinds - {"bulk", "udp"} or len(kinds) > 1 or _not_endless(scenario):
        return phrase("predict.cells.other_traffic")
    name = "chain of clusters" if len(each) <= MOST_CELLS else "product form of the chain"
    with answers.attempt(name):
        _tell(scenario, each, graph, name, answers)
    return None


def _tell(
    scenario: ResolvedScenario,
    each: Sequence[ResolvedScenario],
    graph: Sequence[Sequence[bool]],
    name: str,
    answers: Answers,
) -> None:
    from airtcp.predict import predict as ask

    alone_bps, broken = [], []
    for one in each:
        best = ask(one).best("goodput_bps")
        if best is None or isinstance(best.value, list):
            raise ModelError(phrase("predict.cells.no_alone"))
        alone_bps.append(best.value)
        broken += [f"for an isolated cell: {sentence}" for sentence in best.broken]
    shares = shares_of(scenario, each, graph)(range(len(each)))
    goodputs = [share * bps for share, bps in zip(shares, alone_bps, strict=True)]
    broken = [*dict.fromkeys(broken), *_starving(scenario, shares)]
    if len(each) > MOST_CELLS:
        broken.append(phrase("predict.cells.product_form", most=MOST_CELLS))
    flows = [sum(one.group(flow.stations).count for flow in one.flows) for one in each]
    of_flows = np.repeat([bps / n for bps, n in zip(goodputs, flows, strict=True)], flows)
    answers.add(
        _CARD.origin(name, broken),
        {
            "cell_goodput_bps": goodputs,
            "goodput_bps": float(sum(goodputs)),
            "flow_goodput_bps": float(of_flows.mean()),
            "jain_index": jain(of_flows),
        },
    )


def shares_of(
    scenario: ResolvedScenario,
    each: Sequence[ResolvedScenario],
    graph: Sequence[Sequence[bool]],
) -> Callable[[Sequence[int]], list[float]]:
    """Return a function from backlogged cells to their shares, relative to each cell alone."""
    phy = scenario.phy
    times, senders, failing = zip(*(_contention(one) for one in each), strict=True)
    waits = Unaligned(
        sifs_s=phy.sifs_ns / 1e9,
        eifs_s=max(phy.eifs_ns - phy.difs_ns, 0) / 1e9,
        detect_s=(0 if scenario.air is None else scenario.air.detect_ns) / 1e9,
    )

    def solved(
        solve: Callable[..., Clusters],
        neighbours: Sequence[Sequence[bool]],
        busy: Sequence[int],
        unaligned: Unaligned | None,
    ) -> list[float]:
        found = solve(
            neighbours,
            [times[place] for place in busy],
            w0=phy.cw_min + 1,
            m=doublings(phy.cw_min + 1, phy.cw_max),
            retries=scenario.mac.short_retry_limit - 1,
            contenders=[senders[place] for place in busy],
            failing=[failing[place] for place in busy],
            unaligned=unaligned,
        )
        return [float(rate) for rate in found.successes_per_s]

    def shares(busy: Sequence[int]) -> list[float]:
        solve = clusters if len(busy) <= MOST_CELLS else approximate_clusters
        rates = solved(solve, [[graph[a][b] for b in busy] for a in busy], busy, waits)
        # The product form for isolated cells is exact and costs nothing.
        alone = solved(approximate_clusters, [[False] * len(busy) for _ in busy], busy, None)
        return [rate / of for rate, of in zip(rates, alone, strict=True)]

    return shares


def _starving(scenario: ResolvedScenario, shares: Sequence[float]) -> list[str]:
    cells = scenario.cells or ()
    starving = [cell.name for cell, share in zip(cells, shares, strict=True) if share < _STARVES]
    if not starving or not any(flow.tcp is not None for flow in scenario.flows):
        return []
    named = ", ".join(starving[:_NAMED]) + (", ..." if len(starving) > _NAMED else "")
    return [phrase("predict.cells.starving", named=named)]


def _not_endless(scenario: ResolvedScenario) -> bool:
    for flow in scenario.flows:
        app = flow.application
        if (app.kind == "bulk" and app.size is not None) or (
            app.kind == "udp" and app.rate_bps is not None
        ):
            return True
    return False


def declined(scenario: ResolvedScenario) -> str | None:
    """Return why no chain predicts the shares of the cells, or None if one does.

    Also returns None for cells that do not hear each other: each keeps all its capacity.
    """
    if scenario.air is not None and not any(meeting(scenario)):
        return None
    found = cells_of(scenario)
    return found if isinstance(found, str) else None


def _neighbours(scenario: ResolvedScenario) -> list[list[bool]] | str:
    """Return which cells hear each other, or why that is not a graph of cells."""
    cells, air = scenario.cells or (), scenario.air
    if air is None:
        return [[one != other for other in range(len(cells))] for one in range(len(cells))]
    nodes: list[list[int]] = [[air.classes[place]] for place in range(len(cells))]
    first = len(cells)
    for group in scenario.stations:
        nodes[group.cell or 0] += air.classes[first : first + group.count]
        first += group.count
    sense = max(air.sense_dbm, -200.0 if air.obss_pd_dbm is None else air.obss_pd_dbm)

    def hears(one: int, other: int) -> bool:
        power = air.received_dbm[one][other]
        return power is not None and (not air.powers_known or power >= sense)

    graph = [[False] * len(cells) for _ in cells]
    for a, b in itertools.product(range(len(cells)), repeat=2):
        pairs = [hears(*pair) for one in nodes[a] for two in nodes[b] for pair in [(one, two)]]
        if a == b:
            if not all(hears(one, two) for one, two in itertools.combinations(nodes[a], 2)):
                return phrase("predict.cells.hidden_within", name=cells[a].name)
        elif any(pairs) and not all(pairs):
            return phrase("predict.cells.partly_heard", a=cells[a].name, b=cells[b].name)
        else:
            graph[a][b] = all(pairs)
    if any(graph[a][b] != graph[b][a] for a in range(len(cells)) for b in range(a)):
        return phrase("predict.cells.one_sided")
    return graph


def _of_powers(scenario: ResolvedScenario, graph: Sequence[Sequence[bool]]) -> str:
    """Return the effects of received powers that a graph of cells cannot express, or ""."""
    air = scenario.air
    if air is None or not air.powers_known:
        return ""
    cells = scenario.cells or ()
    heard = [
        pair for pair in itertools.permutations(range(len(cells)), 2) if graph[pair[0]][pair[1]]
    ]
    if heard:
        stood = disturbances_db(scenario, most=False)
        if any(stood[pair] <= 0.0 for pair in heard):
            return phrase("predict.cells.capture")
        if _may_be_missed(scenario, heard):
            return phrase("predict.cells.energy")
    for index, others in enumerate(disturbers(scenario)):
        if any(not graph[index][other] for other in others):
            return phrase("predict.cells.interference", name=cells[index].name)
    return ""


def _may_be_missed(scenario: ResolvedScenario, heard: Sequence[tuple[int, int]]) -> bool:
    """Return whether nodes of cells in range hear each other below the energy threshold."""
    air = scenario.air
    assert air is not None, "cells and [air] come together"
    nodes = [nodes_of_cell(scenario, place) for place in range(len(scenario.cells or ()))]
    return any(
        (air.received_dbm[air.classes[a]][air.classes[b]] or 0.0) < air.energy_dbm
        for one, other in heard
        for a in nodes[one]
        for b in nodes[other]
    )


def _alone(scenario: ResolvedScenario, place: int) -> ResolvedScenario:
    """Return one cell as a scenario of one cell in which all nodes hear each other."""
    groups = tuple(
        group.model_copy(update={"cell": None})
        for group in scenario.stations
        if group.cell == place
    )
    names = {group.name for group in groups}
    cells = scenario.cells or ()
    return scenario.model_copy(
        update={
            "cells": None,
            "air": None,
            "ap": cells[place].ap,
            "stations": groups,
            "flows": tuple(flow for flow in scenario.flows if flow.stations in names),
        }
    )


def _contention(cell: ResolvedScenario) -> tuple[SlotTimes, float, float]:
    """Return a cell's mean exchange, its contenders, and the fraction of failing frames."""
    phy = Phy.of(cell.phy)
    wait = cell.mac.rules.after_collision
    senders = senders_of(cell)
    if senders:
        counts = counts_of(senders)
        each = [sender.times(cell, phy, wait) for sender in senders]
        return mean(each, [float(count) for count in counts]), float(sum(counts)), 0.0
    found = contention(cell)
    return found.times, found.contenders, found.failing

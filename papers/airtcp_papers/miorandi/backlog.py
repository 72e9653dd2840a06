"""Paper M, section 3.2: how many nodes are backlogged, counted in Bianchi's slots.

The paper counts slots as its reference [7] does. A slot runs from one step of the backoff counters
to the next, however long it lasts: it is idle, or it holds a transmission. The share of time with a
backlog is a different number. The slotted DCF here is separate from the simulator's. It has no
frame lengths, and of TCP only the number of packets in flight.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import comb
from typing import Final

from airtcp.results import Simulation
from airtcp.stats import Interval, student_interval

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.chart import Series
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.item import Value
from airtcp_papers.common.measure import ap_share, most, off, over_runs
from airtcp_papers.miorandi.contention import EQUATIONS

_DOWNLOADS: Final = (1, 2, 3, 5, 7, 10, 15, 20)
_EVERY: Final = (1, 2, 3, 5)
_TEN: Final = 10
_AP: Final = 0
#: Table 1: values of the first backoff, stages that double the window, transmissions of a frame.
_W0: Final = 32
_STAGES: Final = 5
_ATTEMPTS: Final = 7
_RUNS: Final = 10
#: Transmissions of a run, of a quick run, and those at the start that are not counted, while the
#: backlog settles.
_TRANSMISSIONS: Final = 20_000
_QUICK_TRANSMISSIONS: Final = 8_000
_SETTLING: Final = 500


@dataclass
class _Cell:
    """Access point and stations that download with W* = d, slot by slot.

    `waiting` has the remaining idle slots of the backoff of each backlogged node. `stage` counts
    its successive collisions. The access point's queue holds the destination station of each
    packet. `received` counts each station's unacknowledged segments.
    """

    stations: int
    every: int
    draw: random.Random
    slots: Counter[int] = field(default_factory=Counter)
    waiting: dict[int, int] = field(default_factory=dict)
    stage: Counter[int] = field(default_factory=Counter)
    received: Counter[int] = field(default_factory=Counter)
    queue: deque[int] = field(default_factory=deque)

    def __post_init__(self) -> None:
        """Put a full window for each station into the access point's queue."""
        self.queue.extend(station for station in self._ids for _ in range(self.every))
        self._back_off(_AP)

    @property
    def _ids(self) -> range:
        return range(1, self.stations + 1)

    def _back_off(self, node: int) -> None:
        self.waiting[node] = self.draw.randrange(_W0 << min(self.stage[node], _STAGES))

    def transmit(self) -> None:
        """Advance to the end of the next transmission, and count its slots by backlog."""
        idle = min(self.waiting.values())
        self.slots[len(self.waiting)] += idle + 1
        senders = [node for node, left in self.waiting.items() if left == idle]
        for node in self.waiting:
            # A slot with a transmission is also a step of the counters.
            self.waiting[node] -= idle + 1
        if len(senders) == 1:
            self._deliver(senders[0])
            return
        for node in senders:
            # TCP sends a frame again that the MAC gave up, so the stage restarts at 0.
            self.stage[node] = (self.stage[node] + 1) % _ATTEMPTS
            self._back_off(node)

    def _deliver(self, sender: int) -> None:
        self.stage[sender] = 0
        del self.waiting[sender]
        if sender == _AP:
            station = self.queue.popleft()
            self.received[station] += 1
            if self.received[station] == self.every:
                self._back_off(station)
        else:
            self.received[sender] = 0
            self.queue.extend(sender for _ in range(self.every))
        if self.queue and _AP not in self.waiting:
            self._back_off(_AP)


def _shares(
    stations: int, every: int, seed: int, transmissions: int = _TRANSMISSIONS
) -> list[list[float]]:
    """Return for each run the shares of slots with 1, 2, ..., n_c + 1 backlogged nodes."""
    found = []
    for run in range(_RUNS):
        cell = _Cell(stations, every, random.Random(f"{seed} {stations} {every} {run}"))
        for _ in range(_SETTLING):
            cell.transmit()
        cell.slots.clear()
        for _ in range(transmissions):
            cell.transmit()
        total = cell.slots.total()
        found.append([cell.slots[nodes] / total for nodes in range(1, stations + 2)])
    return found


def _mean_nodes(shares: Sequence[Sequence[float]]) -> Interval:
    return student_interval(
        sum(nodes * share for nodes, share in enumerate(run, 1)) for run in shares
    )


def _printed(stations: int, every: int) -> list[float]:
    """(9), and (11) with d > 1: the probability of 1, 2, ..., n_c + 1 backlogged nodes."""
    p = 1.0 / (every * stations)
    return [comb(stations, k) * p**k * (1.0 - p) ** (stations - k) for k in range(stations + 1)]


def _apart(shares: Sequence[Sequence[float]], printed: Sequence[float]) -> Interval:
    """Return the total variation distance of each run's shares from the printed distribution."""
    return student_interval(
        sum(abs(a - b) for a, b in zip(run, printed, strict=True)) / 2.0 for run in shares
    )


@item("M.backlog")
def backlog(bench: Bench) -> Found:
    seed = 1 if bench.settings.seed is None else bench.settings.seed
    count = _QUICK_TRANSMISSIONS if bench.quick else _TRANSMISSIONS
    plain = {n: _shares(n, 1, seed, count) for n in _DOWNLOADS}
    delayed = {d: _shares(_TEN, d, seed, count) for d in _EVERY}
    nodes = {n: _mean_nodes(shares) for n, shares in plain.items()}
    nodes_of_d = {d: _mean_nodes(shares) for d, shares in delayed.items()}
    cells = {d: _cell(bench, d) for d in _EVERY}
    ap = {d: over_runs(one, ap_share) for d, one in cells.items()}
    series = [
        Series("the paper, 2", _DOWNLOADS, [2.0] * len(_DOWNLOADS), "model"),
        Series("slotted DCF", _DOWNLOADS, [*nodes.values()], "simulation"),
    ]
    off_two = {n: off(value, 2.0) for n, value in nodes.items()}
    apart = {n: _apart(shares, _printed(n, 1)) for n, shares in plain.items() if n > 1}
    apart_of_d = {d: _apart(shares, _printed(_TEN, d)) for d, shares in delayed.items() if d > 1}
    values: dict[str, Value] = {
        "nodes_off": most(off_two[n] for n in _DOWNLOADS[1:]),
        "nodes_off_from_three": most(off_two[n] for n in _DOWNLOADS[2:]),
        "nodes_one": nodes[1],
        "nodes_delayed_off": most(
            off(value, 1.0 + 1.0 / d) for d, value in nodes_of_d.items() if d > 1
        ),
        "ap_half": ap[1],
        "ap_delayed_off": most(off(ap[d], d / (d + 1.0)) for d in _EVERY[1:]),
        "fair_off": _unfairness(cells[1]),
        "distribution_apart": most(apart.values()),
        "distribution_delayed_apart": most(apart_of_d.values()),
    }
    return Found(
        series,
        values=values,
        told={
            "nodes": nodes,
            "delayed": {f"d = {d}": value for d, value in nodes_of_d.items()},
            "ap": {f"d = {d}": value for d, value in ap.items()},
        },
    )


def _cell(bench: Bench, every: int) -> Simulation:
    """Simulate ten downloads with W* = d, packet by packet."""
    changes = {
        "stations.laptop.count": _TEN,
        "flows.laptop.tcp.receive_window.segments": every,
        "flows.laptop.tcp.initial_window": every,
        "flows.laptop.tcp.delayed_ack.every": every,
        **EQUATIONS,
    }
    return bench.simulate("persistent", changes)


def _unfairness(simulation: Simulation) -> Interval:
    """Return the largest relative distance of a station's share from 1/(2 n_c)."""
    shares = []
    for run in simulation.runs:
        counts = [node["successes"] for node in run.answer["stations"]]
        shares.append([count / sum(counts) for count in counts])
    # The access point comes first.
    _, *stations = zip(*shares, strict=True)
    return most(off(student_interval(2.0 * _TEN * one for one in some)) for some in stations)

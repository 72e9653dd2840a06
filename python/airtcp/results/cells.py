"""The results of each cell: goodput, share of its isolated goodput, airtime, failures.

A cell's isolated goodput is simulated with all other cells silent.

The core's results are described in docs/reference/resolved-form.md. Results of cells alone are
passed in.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from airtcp.estimates.limits import confined, most_of_cell
from airtcp.results.averages import Answer
from airtcp.results.plain import Record
from airtcp.stats import Interval, ratio_interval, student_interval

if TYPE_CHECKING:
    from airtcp.estimates import Estimate
    from airtcp.results.objects import Simulation
    from airtcp.scenario import ResolvedScenario

#: The values of a cell in one replication, by their path in results.json below the cell's name.
CELL_METRICS: Final = (
    "goodput_bps",
    *(f"airtime.{part}" for part in ("own", "heard", "idle")),
    *(f"failures.{cause}" for cause in ("same_slot", "hidden", "neighbour")),
)
#: The goodput divided by the isolated goodput, which needs runs of its own.
SHARE_OF_ALONE: Final = "share_of_alone"
#: The isolated goodput is known if its half width is at most this fraction of it.
_MOST_DOUBT: Final = 0.5
#: A cell that nothing disturbs has a share of 1 up to rounding.
_ROUNDING: Final = 1e-9
#: The isolated goodput of each cell, one value per replication.
Alone = Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class CellAirtime:
    """Shares of the measured time at the access point. They add up to 1.

    `own`: frames of its own cell. `heard`: only frames of other cells. `idle`: no frames that it
    hears.
    """

    own: float
    heard: float
    idle: float


@dataclass(frozen=True, slots=True)
class CellFailures:
    """Shares of all transmissions of a cell that failed, by cause.

    `same_slot`: another sender in hearing range began within the detection time. Of the others,
    `hidden` collided with a frame of the own cell, and `neighbour` with a frame of another cell.
    """

    same_slot: float
    hidden: float
    neighbour: float

    @property
    def total(self) -> float:
        """The share of transmissions that failed."""
        return self.same_slot + self.hidden + self.neighbour


@dataclass(frozen=True, slots=True)
class CellResult(Record):
    """The results of one cell over replications.

    `share_of_alone` is its goodput divided by its goodput with all other cells silent, on common
    random numbers; None if that was not simulated. `waits_for` has the share of time in which its
    access point senses frames of each other cell, in the order of the scenario. `worst_hidden` is
    the highest share of its transmissions that one of its stations loses to frames of hidden nodes
    of its cell. It is a mean of the maximum per replication, because one of two such stations may
    capture the channel and have few failures, most of all transmissions. A quick simulation has
    none, because it does not distinguish stations.
    """

    goodput_bps: Interval
    share_of_alone: Interval | None
    airtime: CellAirtime
    failures: CellFailures
    waits_for: dict[str, float]
    worst_hidden: float | None


def cells(
    scenario: ResolvedScenario | None,
    answers: Sequence[Answer],
    confidence: float,
    alone: Alone,
    goodputs: Mapping[str, Estimate] | None = None,
) -> dict[str, CellResult]:
    """Return the cells by name, in the order of the scenario.

    Without estimates, `goodputs` are means over replications. Empty if the results have no cells,
    as for a single cell without hidden stations.
    """
    if scenario is None or scenario.cells is None or not answers or not answers[0].get("cells"):
        return {}
    names = [cell.name for cell in scenario.cells]
    through = {group.name: scenario.access_point(group.name) for group in scenario.stations}
    records = zip(*(answer["cells"] for answer in answers), strict=True)
    found = {}
    for name, of in zip(names, records, strict=True):
        goodput = student_interval([record["goodput_bps"] for record in of], confidence)
        if goodputs and name in goodputs:
            goodput = goodputs[name].interval
        most = most_of_cell(scenario, [group for group, ap in through.items() if ap == name])
        found[name] = _cell(
            confined("goodput_bps", goodput, most),
            alone.get(name, ()),
            of,
            names,
            confidence,
            _worst(name, through, answers),
        )
    return found


def of_simulation(scenario: ResolvedScenario, simulation: Simulation) -> dict[str, CellResult]:
    """Return the cells of a simulation that may lack its scenario, as simulations of trials do."""
    answers = [run.answer for run in simulation.runs]
    return cells(scenario, answers, simulation.confidence, simulation.alone)


def interval_of(cells: Mapping[str, CellResult], name: str, metric: str) -> Interval:
    """Return the goodput of a cell or its share of the isolated one, as conditions name them.

    The interval has no mean if that was not measured.
    """
    found: Interval | None = getattr(cells[name], metric) if name in cells else None
    return Interval(None, None, None, 0) if found is None else found


def cell_value(record: Mapping[str, Any], metric: str) -> float | None:
    """Return a metric of `CELL_METRICS` from the core's record of a cell; None without attempts."""
    table, _, name = metric.rpartition(".")
    value: float = (record[table] if table else record)[name]
    if table != "failures":
        return value
    return value / record["attempts"] if record["attempts"] else None


def _cell(
    goodput: Interval,
    alone: Sequence[float],
    records: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    confidence: float,
    worst_hidden: float | None,
) -> CellResult:
    goodputs = [record["goodput_bps"] for record in records]
    # Isolated cells may have been simulated in only some of the replications.
    both = list(zip(goodputs, alone, strict=False))
    of_alone = ratio_interval([one for one, _ in both], [one for _, one in both], confidence)
    attempts = sum(record["attempts"] for record in records)
    heard: dict[str, float] = {}
    for record in records:
        for other, share in record["waits_for"]:
            heard[names[other]] = heard.get(names[other], 0.0) + share / len(records)
    return CellResult(
        goodput_bps=goodput,
        share_of_alone=known_share(of_alone, student_interval(alone, confidence)),
        airtime=CellAirtime(
            *(_mean(records, "airtime", part) for part in ("own", "heard", "idle"))
        ),
        failures=CellFailures(
            *(
                sum(record["failures"][cause] for record in records) / attempts if attempts else 0.0
                for cause in ("same_slot", "hidden", "neighbour")
            )
        ),
        waits_for={other: heard[other] for other in names if other in heard},
        worst_hidden=worst_hidden,
    )


def known_share(share: Interval, alone: Interval) -> Interval | None:
    """Return the share of the isolated goodput `alone`, at most 1; None if that is hardly known.

    A ratio to a value that may be near zero is meaningless. Other cells take airtime and give none,
    so a share that is surely above 1 comes from windows too short for either goodput.
    """
    if share.mean is None:
        return None
    if alone.half_width is None or alone.mean is None:
        is_chance = share.n == 1 and share.mean <= 1.0 + _MOST_DOUBT
        return Interval(min(share.mean, 1.0), None, None, 1) if is_chance else None
    # Two replications do not determine their own spread.
    if alone.n > 2 and alone.half_width > _MOST_DOUBT * alone.mean:
        return None
    share = confined("share_of_alone", share)
    if share.low is not None and share.low > 1.0 + _ROUNDING:
        return None
    return Interval(_part(share.mean), _part(share.low), _part(share.high), share.n)


def _part(of: float | None) -> float | None:
    return None if of is None else min(of, 1.0)


def _worst(name: str, through: Mapping[str, str], answers: Sequence[Answer]) -> float | None:
    """Return the highest share of a station's transmissions lost to nodes that it does not hear.

    It is a mean over replications.
    """
    if not all(answer["stations"] for answer in answers):
        return None
    worst = []
    for answer in answers:
        own = [
            node["hidden"] / node["attempts"]
            for node in answer["stations"]
            if node["attempts"] and through.get(node["name"].rpartition("/")[0]) == name
        ]
        worst.append(max(own, default=0.0))
    return math.fsum(worst) / len(worst)


def _mean(records: Sequence[Mapping[str, Any]], table: str, key: str) -> float:
    return math.fsum(record[table][key] for record in records) / len(records)

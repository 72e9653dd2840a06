"""Compare airtcp with rows of the real ns-3 3.44 and of the second simulator, within tolerances.

The second simulator is saturated DCF on any graph of who hears whom, written separately.
It is not independent of ns-3: three rules were fitted to ns-3's rows (4 us of deafness at a start,
EIFS after a locked preamble, 8 transmissions). In one slot of nine, a station starts exactly 4 us
after another; it hears that one in the second simulator and not in airtcp. For the middle of
three cells the second simulator has 2.11 Mb/s and a failure ratio of .233. airtcp has 1.93 +- .03
and .243, and with 3.9 us of deafness 2.08 +- .05 and .233. The real ns-3 has 2.00 +- .02 and .244
(five seeds of 60 s).

The 802.11ax pair at -75 dBm with OBSS-PD does not match for another reason. Frames at restricted
power have a SINR of 16 dB; ns-3 then loses some MPDUs and airtcp all. At 15 and at 18 dB both agree
(`tests/witness/test_spatial_reuse.py`).

Of three cells that receive each other at -60 dBm, the middle has 14 % less than in ns-3. When
frames start at the same instant, ns-3 more often processes the middle's frame last. This is an
artifact of its event order, not of the medium.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from airtcp.run.simulate import simulate
from airtcp.stats import student_interval

from cells.floors import FLOORS, HERE, scenario

#: Simulated seconds of each row; four replications.
WARMUP_S, MEASURED_S, REPLICATIONS = 2, 60, 4
#: Relative tolerances of goodput, in addition to the interval: UDP, TCP, the second simulator, and
#: its senders below a tenth of a fair share; and of the ratio of failed frames.
UDP, TCP, GRAPH, STARVED = 0.03, 0.04, 0.02, 0.05
GRAPH_BPS = 100_000.0
FAILED = 0.02
#: Hidden pairs that flip from seed to seed: only the sum, the larger and the smaller are compared.
SYMMETRIC = tuple(name for name in FLOORS if "1+1 tcp up" in name and "-60" not in name)
#: Equivalent stations that do not hear each other, with UDP: their expected goodputs are equal.
#: ns-3's differ by more than their intervals, as batches of such pairs are correlated, so their
#: sum is compared. For the second simulator each is compared.
ALIKE = ("1+1 udp up",)
_FAIR = 0.1


@dataclass(frozen=True)
class Row:
    """A mean from another simulator, with the half width of its 95 % confidence interval."""

    scenario: str
    metric: str
    mean: float
    half_width: float

    @property
    def of(self) -> str:
        """The flow or the sender of the metric."""
        return self.metric.partition(" ")[2]


def _read(name: str) -> list[dict[str, str]]:
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _rows(name: str) -> tuple[Row, ...]:
    return tuple(
        Row(row["scenario"], row["metric"], float(row["mean"]), float(row["half_width"] or "nan"))
        for row in _read(name)
    )


NS3: tuple[Row, ...] = _rows("ns3.csv")
#: Later rows from `validation/ns3/floors.cc`, with intervals over seeds. Kinds and names are as
#: above; powers, margins and levels were drawn at random. Rows that ns-3 does not determine well
#: are left out: flows whose interval exceeds 10 %, sums whose interval exceeds 5 %.
HELD_OUT: tuple[Row, ...] = _rows("held_out.csv")
GRAPHS: tuple[Row, ...] = tuple(
    Row(row["scenario"], f"{metric} {row['sender']}", float(row[metric]), float(half))
    for row in _read("graph.csv")
    for metric, half in (("goodput_bps", row["half_width"]), ("failed_ratio", "nan"))
)


@dataclass(frozen=True)
class Judged:
    """A row compared with airtcp; `beyond` is the excess over the tolerance, 0 within."""

    row: Row
    mean: float
    half_width: float
    allowed: float

    @property
    def beyond(self) -> float:
        """Excess of the difference over the tolerance; 0 within."""
        return max(0.0, abs(self.mean - self.row.mean) - self.allowed)

    @property
    def met(self) -> bool:
        """True if the difference is within the tolerance."""
        return self.beyond == 0.0


Ours = Sequence[Mapping[str, Any]]
"""The result of each replication."""


def ours(name: str, seed: int = 1, replications: int = REPLICATIONS) -> Ours:
    """Simulate a scenario in airtcp, and return the result of each replication."""
    of = scenario(
        name,
        warmup=f"{WARMUP_S} s",
        duration=f"{MEASURED_S} s",
        replications=replications,
        seed=seed,
    )
    return [run.answer for run in simulate(of, threads=1).simulation.runs]


def values(answers: Ours, metric: str) -> list[float]:
    """Return the values of a row's metric in each replication that has one."""
    kind, _, of = metric.partition(" ")
    found = []
    for answer in answers:
        if kind == "flow_goodput_bps":
            name = of.replace(">", "-")
            found.append(_named(answer["flows"], f"{name}/0")["goodput_bps"])
        elif kind == "failed_ratio":
            node = _named(answer["stations"], of if of.isupper() else f"{of}/0")
            if node["attempts"]:
                found.append(1.0 - node["successes"] / node["attempts"])
        elif not of:
            found.append(answer["metrics"][kind])
        else:
            # A sender with a single flow.
            flow = next(one for one in answer["flows"] if _sender(one) == of)
            found.append(flow["goodput_bps"])
    return found


def _named(records: Sequence[Mapping[str, Any]], name: str) -> Mapping[str, Any]:
    return next(record for record in records if record["name"] == name)


def _sender(flow: Mapping[str, Any]) -> str:
    name: str = flow["name"]
    return name.partition("-")[0]


def judge(row: Row, answers: Ours, rows: Sequence[Row] = NS3) -> Judged:
    """Compare a row with airtcp's results, within the tolerance of its simulator."""
    found = values(answers, row.metric)
    known = student_interval(found, 0.95)
    mean = fmean(found) if found else float("nan")
    half = known.half_width or 0.0
    theirs = 0.0 if row.half_width != row.half_width else row.half_width
    if row.metric.startswith("failed_ratio"):
        return Judged(row, mean, half, max(FAILED, theirs + half))
    if row in GRAPHS:
        share = STARVED if _is_starved(row) else GRAPH
        return Judged(row, mean, half, max(share * row.mean, GRAPH_BPS))
    share = TCP if "tcp" in row.scenario else UDP
    return Judged(row, mean, half, max(share * row.mean, theirs + half))


def _is_starved(row: Row) -> bool:
    beside = [
        one.mean for one in GRAPHS if one.scenario == row.scenario and "goodput" in one.metric
    ]
    return row.mean < _FAIR * sum(beside) / len(beside)


def starved(goodputs: Mapping[str, float]) -> frozenset[str]:
    """Return the flows below a tenth of a fair share."""
    fair = sum(goodputs.values()) / len(goodputs)
    return frozenset(name for name, value in goodputs.items() if value < _FAIR * fair)


def starved_apart(found: Sequence[Judged]) -> frozenset[str]:
    """Return the flows that clearly starve in one simulator and clearly not in the other.

    A flow clearly starves if its interval lies below a tenth of a fair share, and clearly does not
    if it lies above. Example of an unclear case: of five equal downloads in a cell with 1.5 Mb/s,
    the last has .22 +- .10 Mb/s in ns-3 and .48 +- .31 in airtcp, around the bound of .31.
    """
    flows = [one for one in found if one.row.metric.startswith("flow_goodput")]
    if not flows:
        return frozenset()
    theirs = _FAIR * sum(one.row.mean for one in flows) / len(flows)
    mine = _FAIR * sum(one.mean for one in flows) / len(flows)

    def side(mean: float, half_width: float, bound: float) -> int:
        return (mean - half_width > bound) - (mean + half_width < bound)

    return frozenset(
        one.row.of
        for one in flows
        if side(one.row.mean, one.row.half_width, theirs) * side(one.mean, one.half_width, mine) < 0
    )


def flows_of(name: str) -> list[Row]:
    """Return the flow rows of an ns-3 scenario, or the row of their sum if flows are equivalent."""
    rows = [row for row in NS3 + HELD_OUT if row.scenario == name]
    flows = [row for row in rows if row.metric.startswith("flow_goodput_bps ")]
    return flows if flows and name not in ALIKE else [r for r in rows if r.metric == "goodput_bps"]


def scenarios(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the scenarios of rows in their order."""
    yield from dict.fromkeys(row.scenario for row in rows)

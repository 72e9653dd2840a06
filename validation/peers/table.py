"""Every stored row of ns-2 and ns-3 beside airtcp on the same point under the peer's rules.

The same is what lies within the joint 95 % interval (the root of the sum of the squares of both
half widths), or, where chance is small, within a part of the quantity. docs/explanation/accuracy.md
has the reasons for differences.
`validation/compare.py` prints them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import NamedTuple

from airtcp.amounts import percent

from peers import ns2, ns3, speed
from peers.references import Point, Reference
from peers.samples import interval

PEERS: dict[str, ModuleType] = {"ns-2": ns2, "ns-3": ns3}


class Line(NamedTuple):
    """One row of a peer and what airtcp says; half widths are those of 95 % intervals.

    If theirs is a single run, ours is the half width for a single run.
    """

    peer: str
    point: Point
    metric: str
    theirs: Reference
    mean: float
    half_width: float

    @property
    def difference(self) -> float:
        """Ours less theirs."""
        return self.mean - self.theirs.mean

    @property
    def joint(self) -> float:
        """Half width of the interval of the difference."""
        theirs = 0.0 if math.isnan(self.theirs.half_width) else self.theirs.half_width
        return math.hypot(theirs, self.half_width)

    @property
    def allowed(self) -> float:
        """How large a difference proves nothing: the joint interval, or what `tolerance` says."""
        return max(self.joint, tolerance(self.metric, self.theirs.mean))

    @property
    def agrees(self) -> bool:
        """Whether the difference is within `allowed`."""
        return abs(self.difference) <= self.allowed


def tolerance(metric: str, mean: float) -> float:
    """What differs by less is taken for equal however narrow the intervals are.

    2 % of goodput, times, windows and active stations; 0.004 in a collision probability; 0.1 in a
    Jain index; half a starved flow, and a tenth of the timeouts, which are few.
    """
    if metric.startswith("collision_probability"):
        return 0.004
    if metric == "jain_index":
        return 0.1
    if metric == "starved_flows":
        return 0.5
    if metric == "finished_flows":
        return 0.1
    if metric == "tcp_timeouts":
        return max(0.1 * mean, 0.5)
    return 0.02 * abs(mean)


def lines(peers: Iterable[str] = PEERS) -> Iterator[Line]:
    """All rows of these peers but those of speed, in the order of their files."""
    for peer in peers:
        module = PEERS[peer]
        for point, metric, theirs in module.TABLE:
            if point.group != "speed":
                sample = module.samples(point)[metric]
                mean, half_width = interval(sample)
                if theirs.runs == 1:
                    # A single run of theirs is judged by how far apart single runs of ours are.
                    half_width *= math.sqrt(len(sample) + 1)
                yield Line(peer, point, metric, theirs, mean, half_width)


HEAD = ("point", "metric", "theirs", "ours", "difference", "joint interval", "")


def cells(line: Line) -> tuple[str, ...]:
    """A line as texts, under `HEAD`."""
    unit, scale, decimals = _unit(line.metric)

    def shown(quantity: float) -> str:
        return f"{quantity / scale:.{decimals}f}"

    def spread(half_width: float) -> str:
        return "" if math.isnan(half_width) else f" ± {shown(half_width)}"

    if scale == 1.0:
        difference, joint = f"{line.difference:+.{decimals}f}", shown(line.joint)
    else:
        difference = percent(line.difference / line.theirs.mean, signed=True)
        joint = percent(line.joint / line.theirs.mean)
    return (
        f"{line.point.group}: {line.point.parameters}",
        line.metric.removesuffix("_bps").removesuffix("_s") + (f", {unit}" if unit else ""),
        shown(line.theirs.mean) + spread(line.theirs.half_width),
        shown(line.mean) + spread(line.half_width),
        difference,
        f"± {joint}",
        "" if line.agrees else "differs",
    )


def _unit(metric: str) -> tuple[str, float, int]:
    """Unit, its size, and decimals that are worth printing."""
    if "goodput" in metric:
        return "Mb/s", 1e6, 4
    if metric.endswith("_s"):
        return "ms", 1e-3, 1
    if metric.startswith("mean_cw"):
        return "", 1.0, 2
    if metric in ("starved_flows", "tcp_timeouts", "finished_flows"):
        return "", 1.0, 1
    return "", 1.0, 4


def markdown(found: Iterable[Line]) -> str:
    """Lines as a Markdown table; a point is named once."""
    rows = [HEAD, ("---",) * len(HEAD)]
    previous = ""
    for line in found:
        first, *rest = cells(line)
        rows.append(("" if first == previous else first, *rest))
        previous = first
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


SPEED_HEAD = ("peer", "point", "metric", "theirs", "ours", "ratio")


def speed_markdown() -> str:
    """CPU time of the peers, as stored, beside ours now on this machine."""
    rows = [SPEED_HEAD, ("---",) * len(SPEED_HEAD)]
    for peer, module in PEERS.items():
        for point, references in module.ROWS.items():
            if point.group == "speed":
                ours = speed.measure(peer, point)
                for metric, theirs in references.items():
                    mine = ours[metric]
                    ratio = mine / theirs.mean if "per_cpu" in metric else theirs.mean / mine
                    rows.append(
                        (
                            peer,
                            point.parameters,
                            metric,
                            f"{theirs.mean:.4g}",
                            f"{mine:.4g}",
                            f"{ratio:.0f}",
                        )
                    )
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)

"""Compare every stored row of ns-2 and ns-3 with airtcp at the same point under the peer's rules.

Values agree if they differ by less than the joint 95 % interval (the root of the sum of squares of
both half widths) or, if variance is small, by a fraction of the quantity.
docs/explanation/accuracy.md explains the remaining differences. `validation/compare.py` prints
them.
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
    """A row of a peer and airtcp's value; half widths are those of 95 % intervals.

    If the peer's value is from a single run, airtcp's half width is for a single run.
    """

    peer: str
    point: Point
    metric: str
    theirs: Reference
    mean: float
    half_width: float

    @property
    def difference(self) -> float:
        """Difference of airtcp's value from the peer's."""
        return self.mean - self.theirs.mean

    @property
    def joint(self) -> float:
        """Half width of the interval of the difference."""
        theirs = 0.0 if math.isnan(self.theirs.half_width) else self.theirs.half_width
        return math.hypot(theirs, self.half_width)

    @property
    def allowed(self) -> float:
        """The largest insignificant difference: the joint interval, or `tolerance` if larger."""
        return max(self.joint, tolerance(self.metric, self.theirs.mean))

    @property
    def agrees(self) -> bool:
        """True if the difference is within `allowed`."""
        return abs(self.difference) <= self.allowed


def tolerance(metric: str, mean: float) -> float:
    """Differences below this value agree however narrow the intervals are.

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
    """Return all rows of these peers except those of speed, in the order of their files."""
    for peer in peers:
        module = PEERS[peer]
        for point, metric, theirs in module.TABLE:
            if point.group != "speed":
                sample = module.samples(point)[metric]
                mean, half_width = interval(sample)
                if theirs.runs == 1:
                    # Judge a single run of the peer by the spread of airtcp's single runs.
                    half_width *= math.sqrt(len(sample) + 1)
                yield Line(peer, point, metric, theirs, mean, half_width)


HEAD = ("point", "metric", "theirs", "ours", "difference", "joint interval", "")


def cells(line: Line) -> tuple[str, ...]:
    """Format a line, under `HEAD`."""
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
    """Return unit, scale, and the number of decimals to print."""
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
    """Format lines as a Markdown table; consecutive lines of a point name it once."""
    rows = [HEAD, ("---",) * len(HEAD)]
    previous = ""
    for line in found:
        first, *rest = cells(line)
        rows.append(("" if first == previous else first, *rest))
        previous = first
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


SPEED_HEAD = ("peer", "point", "metric", "theirs", "ours", "ratio")


def speed_markdown() -> str:
    """Compare the stored CPU time of the peers with airtcp's, measured now on this machine."""
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

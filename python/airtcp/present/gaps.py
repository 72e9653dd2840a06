"""Describe gaps between measurement and simulation in words; `airtcp.gaps` finds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from airtcp.metrics import METRICS
from airtcp.results.measured import EXPLAINS

if TYPE_CHECKING:
    from airtcp.results.measured import Explanation, Gap

#: Explanations whose share differs by less than this from the best count as equally good.
ALIKE: Final = 0.1


def gap_lines(gap: Gap) -> list[str]:
    """Return the lines above the explanations of a gap, or that there is none."""
    if gap.state == "no gap":
        return ["No measured value differs from the simulation beyond both intervals."]
    if not gap.explanations:
        reasons = "; ".join(f"{kind}: {why}" for kind, why in gap.untried.items())
        return [f"Measured and predicted values differ. No explanation was tried: {reasons}."]
    if gap.state == "none of these":
        nearest = gap.explanations[0]
        closes = f"the nearest, {nearest.title}, closes {_percent(nearest.share)}"
        if nearest.share <= 0.0:
            closes = "each makes it wider"
        return [
            f"Measured and predicted values differ ({_rows(gap)}).",
            f"No explanation fits: {_kinds(gap)}; {closes}.",
            *_ruled_out(gap),
            "Not modelled, so not tried: power save, radar, multicast, driver faults.",
        ]
    lines = [f"Measured and predicted values differ ({_rows(gap)})."]
    lines.append("Possible explanations, simulated on the same random numbers:")
    first, *others = gap.best
    if others and first.share - others[0].share < ALIKE:
        lines.append("The first two fit about equally well; another measurement would decide.")
    following = [one for one in gap.explanations if one not in gap.best]
    if len(gap.best) == 1 and following:
        lines.append(f"Next: {explanation_line(following[0])}.")
    return lines


def _ruled_out(gap: Gap) -> list[str]:
    """List explanations that would close enough, but contradict a measured value."""
    return [
        f"Ruled out by {METRICS[one.against[0][0]].label}: {explanation_line(one)}."
        for one in gap.explanations
        if one.against and one.share >= EXPLAINS
    ]


def explanation_line(one: Explanation) -> str:
    """Describe an explanation and the share of the gap that it closes."""
    return f"{one.title}: closes {_percent(one.share)} of the gap"


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f} %"


def _rows(gap: Gap) -> str:
    """List the first metrics of a gap."""
    named = [
        f"{METRICS[metric].label}, {of}" if of else METRICS[metric].label for metric, of in gap.rows
    ]
    shown = "; ".join(named[:3])
    return shown if len(named) <= 3 else f"{shown}; and {len(named) - 3} more"


def _kinds(gap: Gap) -> str:
    """List the kinds that were tried and close too little."""
    titles = [one.title.partition(":")[0] for one in gap.explanations if one.share < EXPLAINS]
    return ", ".join(titles)

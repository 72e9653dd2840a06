"""Report broken assumptions of processor sharing.

These concern arrivals, their laws and loads, and windows that share the access point's queue.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from airtcp.predict import wording

from airtcp_papers.miorandi.predict import assumed_windows
from airtcp_papers.miorandi.predict.transfers import Transfers, interarrival

if TYPE_CHECKING:
    from airtcp.distributions import Distribution

#: At this load an error of 1 % in capacity changes times by 9 % or more.
_NEAR: Final = 0.9
#: This many independent arrival streams together are nearly a Poisson process.
_MANY: Final = 20


def is_exponential(law: Distribution) -> bool:
    """Return whether a law is exponential."""
    return law.kind == "exponential"


def near_one(load: float) -> Iterator[str]:
    """Report that times are unreliable at a load near 1."""
    if load >= _NEAR:
        yield (
            f"the load is well below 1; here it is {load:.3g}: an error of the capacity is "
            f"multiplied by {load / (1.0 - load):.2g} in times; {wording.UNKNOWN}"
        )


def not_poisson(transfers: Transfers) -> Iterator[str]:
    """Report intervals that are not exponential, so arrivals are not Poisson."""
    laws = [interarrival(flow) for flow in transfers.connections.flows]
    if all(is_exponential(law) for law in laws):
        return
    if transfers.connections.count >= _MANY:
        yield (
            "transfers start as a Poisson process; here intervals have another distribution, "
            f"but the sum over {transfers.connections.count} stations is close to a Poisson "
            f"process; {wording.UNKNOWN}"
        )
    elif max(law.scv() for law in laws) < 1.0:
        yield (
            "transfers start as a Poisson process; here intervals are more regular; "
            f"{wording.PESSIMISTIC}"
        )
    elif any(law.kind == "pareto" for law in laws):
        yield (
            "transfers start as a Poisson process; here intervals have a minimum and a heavy "
            f"tail: most are more regular, and a few are far longer; {wording.UNKNOWN}"
        )
    else:
        yield (
            "transfers start as a Poisson process; here intervals are less regular; "
            f"{wording.OPTIMISTIC}"
        )


def unequal_shares(transfers: Transfers) -> Iterator[str]:
    """Report unequal shares of windows in the access point's queue."""
    connections, windows = transfers.connections, transfers.connections.windows
    discipline = connections.scenario.ap.queue.discipline
    turns = discipline in ("per-flow", "per-scenario-flow", "fq-codel") or connections.count == 1
    if turns or max(windows) <= 2:
        return
    if transfers.scv > assumed_windows.SPREAD:
        yield (
            "transfers share the channel equally; here transfers share the access point's "
            "queue in proportion to their windows, and sizes are heavy-tailed: many small "
            "files wait behind a few large ones, and the mean time depends on the "
            f"distribution of sizes; {wording.OF_HEAVY_TAILS}"
        )
    elif transfers.scv < assumed_windows.LITTLE_SPREAD:
        yield (
            "transfers share the channel equally; here all sizes are similar, and the access "
            "point's queue serves transfers nearly one after the other, which is faster for "
            f"all; {wording.PESSIMISTIC}"
        )

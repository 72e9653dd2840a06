"""Report broken assumptions of processor sharing.

These concern arrivals, their laws and loads, and windows that share the access point's queue.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from airtcp_papers.miorandi.predict import assumed_windows, sentence
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
        yield sentence("near_one", load=load, factor=load / (1.0 - load))


def not_poisson(transfers: Transfers) -> Iterator[str]:
    """Report intervals that are not exponential, so arrivals are not Poisson."""
    laws = [interarrival(flow) for flow in transfers.connections.flows]
    if all(is_exponential(law) for law in laws):
        return
    if transfers.connections.count >= _MANY:
        yield sentence("many_streams", count=transfers.connections.count)
    elif max(law.scv() for law in laws) < 1.0:
        yield sentence("regular")
    elif any(law.kind == "pareto" for law in laws):
        yield sentence("pareto_gaps")
    else:
        yield sentence("irregular")


def unequal_shares(transfers: Transfers) -> Iterator[str]:
    """Report unequal shares of windows in the access point's queue."""
    connections, windows = transfers.connections, transfers.connections.windows
    discipline = connections.scenario.ap.queue.discipline
    turns = discipline in ("per-flow", "per-scenario-flow", "fq-codel") or connections.count == 1
    if turns or max(windows) <= 2:
        return
    if transfers.scv > assumed_windows.SPREAD:
        yield sentence("heavy_tails")
    elif transfers.scv < assumed_windows.LITTLE_SPREAD:
        yield sentence("similar_sizes")

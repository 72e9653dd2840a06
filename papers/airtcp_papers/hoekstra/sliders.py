"""Sliders of paper H's figures: file sizes, request rates, clients."""

from __future__ import annotations

from typing import Final

from airtcp_papers.common.sliders import Changes, Point, Values, declared
from airtcp_papers.hoekstra import concurrent, tails, times
from airtcp_papers.hoekstra.testbed import LAWS, gaps, service_s

_FLOW: Final = "flows.client.application"


def law(values: Values) -> Changes:
    """Return the law of sizes with a number."""
    return {f"{_FLOW}.size": LAWS[tuple(LAWS)[int(values["law"])]]}


def clients(values: Values) -> Changes:
    """Return the number of clients, which together request as often as the single one does."""
    gap = {"distribution": "exponential", "mean": f"{0.40 * values['clients']:g} s"}
    return {"stations.client.count": int(values["clients"]), f"{_FLOW}.interarrival": gap}


def loads_of_one_client() -> list[Point]:
    """Return loads, each with the mean time between the downloads of one client."""
    service = service_s("exponential", beacons=False)
    return [(service / gap, f"{gap:g} s") for gap in gaps("exponential")]


FIGURES: Final = declared(
    __file__,
    law,
    clients,
    loads_of_one_client,
    times.mean_times,
    tails.tails,
    tails.numbers,
    concurrent.split_at_random,
)

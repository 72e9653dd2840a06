"""Causes that are told by name, each with its cure tried: rivals, full air, protection, rates."""

from __future__ import annotations

from typing import Any

import airtcp
from airtcp.advice.problems import findings
from airtcp.results import SimulationResult
from airtcp.scenario import loads

RUN = 'run = { warmup = "2 s", duration = "6 s", replications = 4 }'
#: Downloads with windows that fill the air and not the queue.
WINDOWS = f"""
phy = {{ standard = "802.11n", mcs = 7 }}
ap = {{ queue = {{ limit = 1000 }} }}
links = {{ line = {{ delay = "40 ms" }} }}
stations = [{{ name = "desk", count = 12 }}]
{RUN}
[[flows]]
stations = "desk"
direction = "download"
application = {{ kind = "bulk" }}
path = ["line"]
tcp = {{ preset = "linux", receive_window = "64 KiB" }}
"""


def simulated(text: str, **changes: Any) -> SimulationResult:
    scenario = loads(text).vary({key.replace("__", "."): one for key, one in changes.items()})
    return airtcp.simulate(scenario)


def problems(text: str, **changes: Any) -> list[str]:
    return [one.problem for one in findings(simulated(text, **changes))]


def test_windows_are_not_the_cause_where_the_air_is_full() -> None:
    """A quarter of the stations leaves air idle; with all a window of 4 MiB gains nothing."""
    assert problems(WINDOWS) == []
    assert problems(WINDOWS, stations__desk__count=3) == ["window"]

    got, more = (
        simulated(WINDOWS, flows__desk__tcp__receive_window=window)
        .simulation.metrics["goodput_bps"]
        .mean
        for window in ("64 KiB", "4 MiB")
    )
    assert got is not None
    assert more is not None
    assert more < 1.1 * got

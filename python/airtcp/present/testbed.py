"""Describe a testbed run: the lateness of its packets, and whether it is trustworthy."""

from __future__ import annotations

from airtcp.amounts import duration, quantity
from airtcp.present.cautions import ONE_RUN, cautions
from airtcp.present.sense import many, sanity
from airtcp.results import Comparison, SimulationResult
from airtcp.results.testbed import Lag, TestbedResult


def trust(lag: Lag) -> str:
    """Return "trusted" if the simulated network kept up with the clock, else "not trusted"."""
    return "trusted" if lag.trusted else "not trusted"


def lateness(lag: Lag) -> str:
    """Describe how late packets were, in one line."""
    if lag.p99_s is None:
        return "no packet arrived"
    bound = quantity(lag.bound_s, "s", 2)
    latest, later = quantity(lag.max_s, "s", 2), f"{100 * lag.share_above:.2g} %"
    half = "" if lag.p50_s is None else f"half at most {quantity(lag.p50_s, 's', 2)}, "
    return (
        f"99 % of {lag.packets} packets are at most {quantity(lag.p99_s, 's', 2)} late, "
        f"{half}the maximum is {latest}; {later} are later than {bound}"
    ) + ("" if lag.real_time else "; without real-time priority")


def sanity_of(
    real: TestbedResult, measured: Comparison | SimulationResult
) -> list[tuple[str, str]]:
    """Return the plausibility checks of a simulation, adapted to a testbed run."""
    run = real.testbed
    told = {
        "run": (
            f"one run of {duration(run.simulated_s)} in real time, {duration(run.wall_s)} "
            "with set-up of networks and programs"
        )
    }
    # The kernel's timeouts are not visible.
    unseen = f", {many(run.counts['tcp_timeouts'], 'timeout')}"
    return [(name, told.get(name, text).replace(unseen, "")) for name, text in sanity(measured)]


def cautions_of(real: TestbedResult, measured: Comparison | SimulationResult) -> list[str]:
    """Return the cautions for a testbed result."""
    told = {ONE_RUN: "one run has no confidence interval; repeat it to see the spread"}
    return [told.get(one, one) for one in cautions(measured)]

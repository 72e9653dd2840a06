"""Cautions for a reader of simulated numbers.

Knows which numbers say that a run was too short or too few; computes no results.
"""

from __future__ import annotations

from typing import Final

from airtcp.amounts import duration, percent, quantity
from airtcp.choices import APPLICATIONS
from airtcp.metrics import metric
from airtcp.present.silence import silences
from airtcp.results import Comparison, SimulationResult
from airtcp.stats import WIDE

ONE_RUN: Final = "one replication has no interval: nothing says how far chance goes"

#: From this part of the measured time on, transfers are long: many do not end in it.
LONG_TRANSFERS: Final = 0.05
#: All transfers take so many times what those take that ended, before that is said.
_MISSING_TIME: Final = 1.1


def cautions(result: Comparison | SimulationResult) -> list[str]:
    """Say what a reader should know before trusting the simulated numbers; mostly nothing."""
    simulation, run = result.simulation, result.scenario.run
    sentences = [
        f"{silence}; {silence.hint} may help" if silence.hint else str(silence)
        for silence in silences(result)
    ]
    slow = simulation.metrics.get("transfer_time_p99_s")
    measured_s = run.duration_ns / 1e9
    if slow is not None and slow.mean is not None and slow.mean > LONG_TRANSFERS * measured_s:
        sentences.append(
            f"one transfer in a hundred takes more than {quantity(slow.mean, 's', 3)}, and "
            f"{duration(measured_s)} were measured: long transfers that had not ended are missing, "
            "so transfer times are too low; simulate longer"
        )
    elif (expected := _time_by_littles_law(result)) is not None:
        ended = simulation.metrics["transfer_time_s"].mean
        sentences.append(
            f"transfers that ended took {quantity(ended, 's', 3)} on average, but with as many in "
            f"progress as there were a transfer takes {quantity(expected, 's', 3)} (Little's law): "
            "the longest had not ended and are missing; simulate longer, or ask for percentiles"
        )
    if simulation.replications == 1:
        sentences.append(ONE_RUN)
    wide = [
        f"{metric(name).label} (±{percent(width)})"
        for name in ("goodput_bps", "transfer_time_s")
        if (interval := simulation.metrics.get(name)) is not None
        and (width := interval.relative_half_width) is not None
        and width > WIDE
    ]
    if wide:
        sentences.append(
            f"wide intervals: {', '.join(wide)}; simulate longer, or more replications"
        )
    return sentences


def _time_by_littles_law(result: Comparison | SimulationResult) -> float | None:
    """The mean time in seconds of all transfers, ended or not; None if those that ended say it.

    Little (1961): as many are in progress as begin in such a time. Flows that never end have none.
    """
    simulation, run = result.simulation, result.scenario.run
    if any(not APPLICATIONS[flow.application.kind].ends for flow in result.scenario.flows):
        return None
    ended = simulation.metrics.get("transfer_time_s")
    active = simulation.metrics.get("active_flows")
    transfers = simulation.counts["transfers"]
    if ended is None or not ended.mean or active is None or not active.mean or not transfers:
        return None
    measured_s = simulation.replications * run.duration_ns / 1e9
    expected = active.mean * measured_s / transfers
    return expected if expected > _MISSING_TIME * ended.mean else None

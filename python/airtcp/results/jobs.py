"""Jobs: transfers of a given size that each station makes once.

A job has no steady state. Its results are the time when it ends, and its rate until then. A mean
over the measured time would include the idle time after the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from airtcp.estimates.limits import confined
from airtcp.results.plain import Record
from airtcp.scenario.keys.traffic import is_job
from airtcp.stats import Interval, student_interval

if TYPE_CHECKING:
    from airtcp.results.objects import Replication
    from airtcp.scenario import ResolvedScenario

_WAYS: Final = ("download", "upload")
#: Metrics without a meaning once all jobs have ended: their means include the idle time afterwards.
OF_IDLE_TIME: Final = frozenset(
    {
        *("goodput_bps", "flow_goodput_bps", "active_flows", "channel_utilization"),
        *("ap_queue_packets", "mean_backlogged_nodes"),
    }
)


@dataclass(frozen=True, slots=True)
class Jobs(Record):
    """The jobs of a group in one direction, `count` of them per replication.

    `end_s` is the time when the last job ended, from the beginning of the simulation. `goodput_bps`
    is the total rate of all jobs from their start to that time.
    """

    group: str
    part: str
    count: int
    end_s: Interval
    goodput_bps: Interval


def jobs(
    runs: Sequence[Replication], scenario: ResolvedScenario | None, confidence: float
) -> list[Jobs]:
    """Return the jobs of each group and direction whose jobs all ended in every replication.

    Groups and directions with other traffic, or with random start times, are left out.
    """
    if scenario is None or not runs:
        return []
    return list(_jobs(runs, scenario, confidence))


def last_end_s(runs: Sequence[Replication], scenario: ResolvedScenario) -> float | None:
    """Return the time when the last job of all replications ended, from the beginning of each.

    None if a job did not end, or if `jobs` leaves out one with a group's traffic.
    """
    found = list(_jobs(runs, scenario, scenario.run.confidence))
    if sum(one.count for one in found) < sum(
        scenario.group(flow.stations).count for flow in scenario.flows if is_job(flow)
    ):
        return None
    starts = [
        flow.application.start.mean()
        for flow in scenario.flows
        if flow.application.kind == "bulk" and is_job(flow)
    ]
    return max(starts, default=0.0) + max(float(run.transfer_times_s.max()) for run in runs)


def _jobs(
    runs: Sequence[Replication], scenario: ResolvedScenario, confidence: float
) -> Iterator[Jobs]:
    for place, group in enumerate(scenario.stations):
        for way, part in enumerate(_WAYS):
            flows = [
                one for one in scenario.flows if (one.stations, one.direction) == (group.name, part)
            ]
            starts = {
                one.application.start.mean() if one.application.start.scv() == 0.0 else None
                for one in flows
                if one.application.kind == "bulk"
            }
            if not flows or not all(map(is_job, flows)) or len(starts) != 1 or None in starts:
                continue
            (start_s,) = starts
            count = len(flows) * group.count
            scope = 2 * place + way
            found = [_end_and_bits(run, scenario, group.name, part, scope, count) for run in runs]
            known = [one for one in found if one is not None]
            if len(known) < len(runs) or start_s is None:
                continue
            ends_s = [start_s + takes_s for takes_s, _ in known]
            rates = [bits / takes_s for takes_s, bits in known]
            yield Jobs(
                group.name,
                part,
                count,
                confined("transfer_time_s", student_interval(ends_s, confidence)),
                confined("goodput_bps", student_interval(rates, confidence)),
            )


def _end_and_bits(
    run: Replication, scenario: ResolvedScenario, group: str, part: str, scope: int, count: int
) -> tuple[float, float] | None:
    """Return the longest time of a job and the total bits; None unless all jobs ended.

    For jobs that started before the measured time, the bits are only known for a constant size.
    """
    if run.accounts is None:
        return None
    times_s = run.transfer_times_s[run.accounts.scopes == scope]
    if len(times_s) < count:
        return None
    laws = [
        one.application.size
        for one in scenario.flows
        if (one.stations, one.direction) == (group, part) and one.application.kind == "bulk"
    ]
    each = count // len(laws)
    if not scenario.run.warmup_ns:
        record = next(one for one in run.answer["groups"] if one["name"] == group)
        bits = float(record[part]["goodput_bps"]) * scenario.run.duration_ns / 1e9
    elif all(law is not None and law.scv() == 0.0 for law in laws):
        bits = 8.0 * each * sum(law.mean() for law in laws if law is not None)
    else:
        return None
    return float(np.max(times_s)), bits

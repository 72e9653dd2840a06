"""The warm-up that a scenario needs to reach its steady state: MSER-5 on pilot runs.

MSER (K. P. White, "An effective truncation heuristic for bias reduction in simulation output",
Simulation 69(6), 1997) deletes the number of initial observations that minimizes the standard error
of the mean of the rest. MSER-5 uses means of five observations (K. P. White, M. J. Cobb, S. C.
Spratt, "A comparison of five steady-state truncation heuristics for simulation", WSC 2000). The
series is a mean over several pilots, as in K. Hoad, S. Robinson and R. Davies ("Automating warm-up
length estimation", J. Oper. Res. Soc. 61, 2010). The pilots use random streams that no measured
replication uses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from airtcp.choices import has_own
from airtcp.exceptions import SimulationError
from airtcp.phrases import phrase
from airtcp.run import core_of
from airtcp.run.interruption import Interruption
from airtcp.run.memory import refuse_too_large
from airtcp.run.replications import Replications, Runner
from airtcp.stats import FIRST_ROUND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from airtcp.results import Replication
    from airtcp.results.trace import Trace
    from airtcp.scenario import ResolvedScenario

#: Five, as Hoad, Robinson and Davies recommend.
PILOTS = 5
#: Far from the replication numbers of any run.
_FIRST_PILOT = 2**32
#: The number of points in a pilot's series; fewer for very many flows.
_MOST_SAMPLES, _FEWEST_SAMPLES, _MOST_ROWS = 1000, 200, 2_000_000
#: The minimum length of a pilot. Otherwise it is as long as the measured time of a replication.
_SHORTEST_NS = 20_000_000_000
#: If a pilot is too short, its length is multiplied by this, at most twice.
_GROWTH: Final = 4
_FACTORS: Final = (1, _GROWTH, _GROWTH**2)
#: But only while the work of all pilots (as counted in `airtcp.run.glance`; this is 2 s of CPU
#: time) stays below this, or below this multiple of the replications' own work.
_MOST_WORK: Final = 20_000_000
_MOST_TIMES: Final = 16
#: This many batch means are never deleted: a few at the end may agree by chance (White 2000).
_LEAST_LEFT = 5


def mser5(series: ArrayLike, *, batch: int = 5) -> int | None:
    """Return how many observations to delete from the beginning of a series.

    The number is a multiple of `batch`. Let z_1 .. z_n be the means of `batch` consecutive
    observations. The function deletes the first d, where d minimizes the sum over i > d of (z_i -
    mean of those)^2 / (n - d)^2; the smallest d if there are several, so nothing of a constant
    series. None if d exceeds half of n: then the series is too short, or has no steady state.

    Raises ValueError unless the series is one row of at least 10 batches of finite numbers.
    """
    values = np.asarray(series, dtype=np.float64)
    if values.ndim != 1 or batch < 1 or len(values) < 2 * _LEAST_LEFT * batch:
        raise ValueError(phrase("run.warmup.few_batches", least=2 * _LEAST_LEFT, batch=batch))
    if not np.isfinite(values).all():
        raise ValueError("observations must be finite")
    n = len(values) // batch
    means = values[: n * batch].reshape(n, batch).mean(axis=1)
    # Relative to the last mean, so that equal numbers have a spread of exactly zero.
    means = means - means[-1]
    left = np.arange(n, 0, -1.0)
    # Sums from the end: over all means after d.
    sums = np.cumsum(means[::-1])[::-1]
    squares = np.cumsum(means[::-1] ** 2)[::-1]
    spread = np.maximum(squares - sums**2 / left, 0.0) / left**2
    first = int(np.argmin(spread[: n - _LEAST_LEFT + 1]))
    return None if first > n // 2 else first * batch


def with_warmup(
    scenario: ResolvedScenario, *, threads: int, interruption: Interruption | None = None
) -> ResolvedScenario:
    """Return the scenario with a warm-up: its own, or the detected one.

    Raises as `find_warmup_ns`.
    """
    if scenario.run.warmup_ns is not None:
        return scenario
    found = find_warmup_ns(scenario, threads=threads, interruption=interruption)
    return scenario.with_run(warmup_ns=found)


def find_warmup_ns(
    scenario: ResolvedScenario, *, threads: int, interruption: Interruption | None = None
) -> int:
    """Return the warm-up of a scenario: the longest that MSER-5 finds for any of four series.

    The series are goodput, payload in flight, packets in queues, and connections with data to send,
    each summed over all flows or queues, from the start of the run, and averaged over five pilots.
    A pilot is as long as the measured time of a replication, at least 20 s. If a series does not
    settle within half of that, the pilots become longer, up to sixteen times, unless that is far
    more work than the replications. The result is the same for the same scenario and seed, on any
    number of threads.

    Raises SimulationError if a series still does not settle, or a pilot fails.
    """
    run = scenario.run
    asked_ns = (run.replications or min(FIRST_ROUND, run.max_replications)) * run.duration_ns
    for factor in _FACTORS:
        length_ns = factor * max(run.duration_ns, _SHORTEST_NS)
        interval_ns = max(1, length_ns // _samples(scenario))
        pilots = _pilots(scenario, length_ns, interval_ns, threads, interruption)
        traces = [pilot.trace for pilot in pilots if pilot.trace is not None]
        found = [mser5(series) for series in _series(traces)]
        ends = [end for end in found if end is not None]
        if len(ends) == len(found):
            return max(ends) * interval_ns
        next_ns = _GROWTH * PILOTS * length_ns
        if next_ns > _MOST_TIMES * asked_ns and _GROWTH * _work(pilots) > _MOST_WORK:
            break
    raise SimulationError(phrase("run.warmup.not_found", length=length_ns, pilots=PILOTS))


def _pilots(
    scenario: ResolvedScenario,
    length_ns: int,
    interval_ns: int,
    threads: int,
    interruption: Interruption | None,
) -> list[Replication]:
    pilot = scenario.with_run(warmup_ns=0, duration_ns=length_ns)
    refuse_too_large(
        pilot, threads=threads, replications=PILOTS, sample_s=interval_ns / 1e9, samples_only=True
    )
    text = pilot.to_json()
    runner = Runner(
        core=core_of(pilot.for_core()),
        seed=scenario.run.seed,
        trace_interval_ns=interval_ns,
        first=_FIRST_PILOT,
        samples_only=True,
    )
    with Replications(
        runner, threads, None, interruption or Interruption(), None, plugged=has_own(text)
    ) as done:
        done.run_until(PILOTS)
    return done.in_order()


def _work(pilots: Sequence[Replication]) -> int:
    """Return the work of pilots: events, plus twice the attempts and segments."""
    counts = [pilot.answer["counts"] for pilot in pilots]
    return sum(one["events"] + 2 * (one["mac_attempts"] + one["tcp_segments"]) for one in counts)


def _series(traces: Sequence[Trace]) -> list[NDArray[np.float64]]:
    """Return the series that must become steady, each averaged over pilots."""
    means = np.mean([_totals(trace) for trace in traces], axis=0)
    return list(means)


def _totals(trace: Trace) -> NDArray[np.float64]:
    flows = len(trace.flow_names)
    queue = trace.queue_table
    ticks = len(queue["time_ns"]) // len(np.unique(queue["queue"]))
    in_flight = np.maximum(trace.flow_table["flight_size_bytes"], 0)
    return np.array(
        [
            trace.goodput_bps().sum(axis=0),
            in_flight.reshape(-1, flows).sum(axis=1),
            trace.flow_table["connections"].reshape(-1, flows).sum(axis=1),
            queue["packets"].reshape(ticks, -1).sum(axis=1),
        ]
    )


def _samples(scenario: ResolvedScenario) -> int:
    counts = {group.name: group.count for group in scenario.stations}
    series = 1 + sum(counts.values()) + sum(counts[flow.stations] for flow in scenario.flows)
    return int(min(_MOST_SAMPLES, max(_FEWEST_SAMPLES, _MOST_ROWS // series)))

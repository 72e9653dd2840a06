"""Paper L, Fig. 9 to 11: how two flows converge after the second has begun.

A congestion epoch ends when the bottleneck's queue overflows. Drops of one overflow come within a
round trip. Means are ensemble averages over runs. Uses traces only, nothing of the MAC.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from airtcp.results import Simulation
from airtcp.scenario import ResolvedScenario
from airtcp.stats import Interval, student_interval

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.chart import Series
from airtcp_papers.common.described import Found, item, items
from airtcp_papers.common.measure import error_of, mean, off, over_runs
from airtcp_papers.leith.aimd import convergence_epochs, window_history
from airtcp_papers.leith.epochs import Epochs, convergence_interval, epochs_of_flow, epochs_of_queue
from airtcp_papers.leith.fairness import given_up

if TYPE_CHECKING:
    from airtcp.results.trace import Trace

_FLOWS: Final = ("a/0", "b/0")
_WIRE: Final = "wire to server"
_INTERVAL_S: Final = 0.05
#: Longer than a round trip including queues, shorter than a congestion epoch.
_SAME_OVERFLOW_S: Final = 0.4
_MOST_EPOCHS: Final = 60
#: Number of runs in the paper.
_RUNS: Final = 50
#: Quick runs have the same length. Fewer would take a minute, but then epochs are noise.
_QUICK: Final[Mapping[str, Any]] = {"run.replications": 30}
#: Runs over the slower wire of Fig. 10 are cheap. With few of them the jackknife varies wildly.
_QUICK_WIRED: Final[Mapping[str, Any]] = {"run.replications": 150}

#: Start of the second flow, without slow start: the theory covers congestion avoidance only.
_START_S: Final = 60.0
#: Overflows count from the second flow's start on.
_FROM: Final = {"from_s": _START_S, "apart_s": _SAME_OVERFLOW_S}
_SECOND: Final[Mapping[str, Any]] = {
    "flows.b.application.start": f"{_START_S:g} s",
    "flows.b.tcp.initial_ssthresh": {"segments": 2},
    "run.warmup": "0 s",
    "run.duration": "240 s",
    "run.replications": _RUNS,
}
_SLOW: Final[Mapping[str, Any]] = {"flows.b.tcp.aimd": {"increase": 0.2, "decrease": 0.95}}
#: The first flow grows five times as fast.
_EAGER: Final[Mapping[str, Any]] = {"flows.a.tcp.aimd": {"increase": 5.0, "decrease": 0.5}}
#: Both flows grow twice as fast.
_FASTER: Final[Mapping[str, Any]] = {
    f"flows.{flow}.tcp.aimd": {"increase": 2.0, "decrease": 0.5} for flow in ("a", "b")
}
_AIR: Final[Mapping[str, Any]] = {
    "links.wire.rate": "10 Mb/s",
    "links.wire.queue": 100,
    "run.duration": "300 s",
}


def histories(scenario: ResolvedScenario, traces: Sequence[Trace]) -> dict[str, Any]:
    """Return mean windows over time, windows at the ends of epochs, and b's losses in each run.

    Windows in segments. `epochs` has time, window of a and window of b for each run and epoch.
    `one` is the first run alone.
    """
    tcp = scenario.flows[0].tcp
    assert tcp is not None, "the flows are uploads over TCP"
    series = [[trace.flow(flow) for flow in _FLOWS] for trace in traces]
    windows = np.array([[one.cwnd_bytes for one in both] for both in series]) / tcp.mss_bytes
    # A flow has no window before it begins.
    windows = np.nan_to_num(windows)
    return {
        "time_s": series[0][0].time_s.tolist(),
        "mean": windows.mean(axis=0).tolist(),
        "one": windows[0].tolist(),
        "epochs": [
            _peaks(epochs_of_queue(trace, _WIRE, _FLOWS, **_FROM), tcp.mss_bytes, _MOST_EPOCHS)
            for trace in traces
        ],
        "losses_b": [_peaks(epochs_of_flow(trace, _FLOWS[1]), tcp.mss_bytes) for trace in traces],
    }


def _peaks(found: Epochs, mss_bytes: int, most: int | None = None) -> list[list[float]]:
    """Return the end of each epoch, at most so many, with the windows then."""
    rows = np.column_stack([found.end_s, found.cwnd_bytes / mss_bytes])
    peaks: list[list[float]] = rows[:most].tolist()
    return peaks


def _epochs_to_converge(runs: Sequence[Sequence[Sequence[float]]]) -> Interval:
    """Return the epochs to converge; each row of a run is time, window of a, window of b."""
    return convergence_interval([np.array(run)[:, 1:] for run in runs])


def _epoch_s(runs: Sequence[Sequence[Sequence[float]]]) -> Interval:
    """Return the mean length of an epoch over runs, seconds."""
    return student_interval((run[-1][0] - run[0][0]) / (len(run) - 1) for run in runs)


def windows_by_epoch(
    *, increase: float = 1.0, decrease: float = 0.5, share: float = 0.0
) -> list[Series]:
    """Windows of both flows after each epoch since the second began, as shares of the path.

    Section 5.2 for equal RTTs when both lose in every epoch. The first flow has standard AIMD. The
    second has `increase` and `decrease`, and begins with `share` of the path.
    """
    alpha, beta = [1.0, increase], [0.5, decrease]
    history = window_history([1.0 - share, share], _EPOCHS_SHOWN, alpha, beta)
    epochs = list(range(_EPOCHS_SHOWN + 1))
    return [
        Series(f"{name} flow", epochs, [float(w) for w in history[:, place]], "model", place)
        for place, name in enumerate(("first", "second"))
    ]


_EPOCHS_SHOWN: Final = 16


def _history(
    bench: Bench,
    file: str,
    *changes: Mapping[str, Any],
    quick: Mapping[str, Any] = _QUICK,
) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for some in changes:
        merged |= some
    found: dict[str, Any] = bench.traced(
        file, merged, reduce=histories, interval_s=_INTERVAL_S, quick=quick
    )
    return found


def _curves(found: Mapping[str, Any], what: str, until_s: float) -> list[Series]:
    """Return windows over time from 10 s before b begins, thinned to what a picture can show."""
    time = np.array(found["time_s"])
    wanted = np.flatnonzero((time >= _START_S - 10.0) & (time <= until_s))
    kept = wanted[:: max(1, len(wanted) // 600)]
    return [
        Series(f"{name} flow", time[kept].tolist(), np.array(window)[kept].tolist(), "trace", index)
        for index, (name, window) in enumerate(zip(("first", "second"), found[what], strict=True))
    ]


def _marks(runs: Sequence[Sequence[Sequence[float]]], until_s: float) -> list[Series]:
    """Return the ensemble means of both windows at the ends of epochs."""
    count = min(len(run) for run in runs)
    time, *windows = np.array([run[:count] for run in runs]).mean(axis=0).T
    kept = time <= until_s
    return [
        Series(
            f"{name}, ends of epochs", time[kept].tolist(), window[kept].tolist(), "marks", place
        )
        for place, (name, window) in enumerate(zip(("first", "second"), windows, strict=True))
    ]


@item("L.fig9")
def fig9(bench: Bench) -> Found:
    found = _history(bench, "two-flows")
    predicted = float(convergence_epochs([1.0, 1.0], 0.5))
    until = 160.0
    # The curves and the marks are of one run.
    series = [*_curves(found, "one", until), *_marks(found["epochs"][:1], until)]
    epochs = _epochs_to_converge(found["epochs"])
    near = _history(bench, "two-flows", {"links.wire.delay": "50 ms"})
    faster = _history(bench, "two-flows", _FASTER)
    shorter = _quotient(_epoch_s(faster["epochs"]), _epoch_s(found["epochs"]))
    theory = [float(convergence_epochs([1.0, 1.0], beta)) for beta in (0.5, 0.6, 0.7, 0.8, 0.9)]
    return Found(
        series,
        values={
            "epochs": epochs,
            "epoch_shorter": shorter,
            "epochs_round_trip": _epochs_to_converge(near["epochs"]),
            "epochs_error": error_of(epochs, 1),
            "predicted": predicted,
            "grows_with_beta": min(b / a for a, b in pairwise(theory)),
        },
        told={"runs": len(found["epochs"])},
    )


def _wired(bench: Bench, until_s: float, more: Mapping[str, Any]) -> Found:
    found = _history(bench, "wired", _SECOND, more, quick=_QUICK_WIRED)
    increase, decrease = (0.2, 0.95) if more else (1.0, 0.5)
    predicted = float(convergence_epochs([1.0, increase], [0.5, decrease]))
    series = [*_curves(found, "mean", until_s), *_marks(found["epochs"], until_s)]
    epochs = _epochs_to_converge(found["epochs"])
    return Found(
        series,
        values={
            "epochs": epochs,
            "epochs_error": error_of(epochs, _RUNS),
            "predicted": predicted,
        },
        told={"runs": len(found["epochs"])},
    )


items(_wired, {"L.fig10a": {"until_s": 100.0, "more": {}}})


@item("L.fig10b")
def fig10b(bench: Bench) -> Found:
    slow, fast = _wired(bench, 140.0, _SLOW), _wired(bench, 100.0, {})
    slow_epochs, fast_epochs = slow.values["epochs"], fast.values["epochs"]
    assert isinstance(slow_epochs, Interval)
    assert isinstance(fast_epochs, Interval)
    ratio = _quotient(slow_epochs, fast_epochs)
    return replace(slow, values={**slow.values, "slow_over_fast": ratio})


def _quotient(above: Interval, below: Interval) -> Interval:
    """Return the quotient of independent means; its interval is conservative (from the ends)."""
    ratio, n = mean(above) / mean(below), min(above.n, below.n)
    if None in (above.low, above.high, below.low, below.high):
        return Interval(ratio, None, None, n)
    low, high = above.low / below.high, above.high / below.low  # type: ignore[operator]
    return Interval(ratio, low, high, n)


def _wireless(bench: Bench, until_s: float, more: Mapping[str, Any]) -> Found:
    found = _history(bench, "wired", _SECOND, _AIR, more)
    series = _curves(found, "mean", until_s)
    # b's window at its first loss over its windows at later losses; this needs no epochs.
    firsts = student_interval(
        [
            peaks[0][1] / (math.fsum(window for _, window in peaks[1:]) / (len(peaks) - 1))
            for peaks in found["losses_b"]
            if len(peaks) > 1
        ]
    )
    drops = bench.simulate("wired", {**_SECOND, **_AIR, **more}, quick=_QUICK)
    when = student_interval([peaks[0][0] - _START_S for peaks in found["losses_b"] if peaks])
    steady = student_interval([window for peaks in found["losses_b"] for _, window in peaks[1:]])
    return Found(
        series,
        values={
            "first_peak": firsts,
            "first_loss_s": when,
            "given_up": over_runs(drops, given_up),
            "peak_off": _peak_off(drops, found),
        },
        told={"steady": steady},
    )


def _peak_off(simulation: Simulation, found: Mapping[str, Any]) -> Interval:
    """Return the relative distance of b's peak window from its queue plus bandwidth-delay product.

    The product is b's goodput times the round trip without queues (two links of 10 and 40 ms each
    way). The window keeps growing for a round trip until the loss is detected.
    """
    peaks = [fmean(window for _, window in run[1:]) for run in found["losses_b"] if len(run) > 1]
    rates = [
        flow["goodput_bps"]
        for run in simulation.runs
        for flow in run.answer["flows"]
        if flow["station"].startswith("b")
    ]
    # Goodput counts the whole run; the second flow sends only from its start on.
    share = (_RUN_S - _START_S) / _RUN_S
    packets = fmean(rates) / share * 2.0 * 0.05 / (8.0 * 1460)
    return off(student_interval(peaks), _ROOM + packets)


#: Limit of a station's queue in packets, and the duration of a run in seconds (`_AIR`).
_ROOM: Final = 50
_RUN_S: Final = 300.0


@item("L.fig11a")
def fig11a(bench: Bench) -> Found:
    found = _wireless(bench, 150.0, {})
    calm, eager = (
        _first_loss(_history(bench, "wired", _SECOND, _AIR, more)) for more in ({}, _EAGER)
    )
    apart = _quotient(eager, calm)
    return replace(
        found,
        values={**found.values, "independent_off": off(apart)},
        told={**found.told, "apart": apart},
    )


def _first_loss(found: Mapping[str, Any]) -> Interval:
    """Return the new flow's window when it detects its first loss, segments."""
    return student_interval(peaks[0][1] for peaks in found["losses_b"] if peaks)


items(_wireless, {"L.fig11b": {"until_s": 200.0, "more": _SLOW}})

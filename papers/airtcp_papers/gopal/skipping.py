"""Reproduce paper G, Fig. 2 to 6 and A1 to A5: upload goodput over skipped ACKs.

An upload stalls if its window falls below the segments per ACK; see keys.md. In the
figures its goodput is the amount delivered in 1000 s, as in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from airtcp.stats import Interval, student_interval

from airtcp_papers.common.bench import Bench, Changes
from airtcp_papers.common.chart import Series, chart
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.item import Cell, Data, Value
from airtcp_papers.common.measure import (
    changed,
    error_of,
    least,
    mean,
    most,
    off,
    over_runs,
    words,
)
from airtcp_papers.gopal.observed import TO_TELL_FROM_NOTHING, Uploads, gain, observe

_SKIPS: Final = (0, 1, 2, 3, 4)
_DELAYS_MS: Final = (2, 5, 10, 15)
_FLOWS: Final = (1, 3)
#: The paper's "around 1 Mbps" of one flow without retries, with the largest gain from one skipped
#: ACK, by file size in megabytes.
_GAINED_MOST: Final = {1: 1.30, 10: 1.98}
#: The largest gain from skipping for one flow with retries, short or long; none has a stated
#: goodput.
_GAINED_RETRIES: Final = 1.3
#: Each throughput in the paper is an average of this many runs.
_RUNS_OF_THE_PAPER: Final = 5


def _less(one: Interval, other: Interval) -> Interval:
    """Return the difference of two independent numbers."""
    assert one.mean is not None
    assert other.mean is not None
    difference, n = one.mean - other.mean, min(one.n, other.n)
    if one.half_width is None or other.half_width is None:
        return Interval(difference, None, None, n)
    half = math.hypot(one.half_width, other.half_width)
    return Interval(difference, difference - half, difference + half, n)


def _share_above_nothing(gained: Sequence[Interval]) -> Interval:
    """Return the fraction of gains above 0; its ends count gains whose interval ends are."""
    ends = [
        [value > 0.0 for one in gained if (value := getattr(one, end)) is not None]
        for end in ("mean", "low", "high")
    ]
    mean, low, high = (sum(some) / len(gained) for some in ends)
    return Interval(mean, low, high, min(one.n for one in gained))


def _against_flows(bench: Bench, *, megabytes: int, retries: bool) -> Found:
    """Reproduce Fig. 3 to 6: one flow and three, a wired delay of 2 ms."""
    series: list[Series] = []
    values: dict[str, Value] = {}
    parts: list[str] = []
    for number, flows in enumerate(_FLOWS):
        often: Changes = {}
        if flows == 1 and megabytes == 10 and retries:
            often = {"run.replications": TO_TELL_FROM_NOTHING}
        uploads = [
            observe(bench, skip, megabytes=megabytes, flows=flows, retries=retries, varied=often)
            for skip in _SKIPS
        ]
        goodputs: list[Value] = [one.goodputs() for one in uploads]
        label = "one flow" if flows == 1 else f"{flows} flows"
        series.append(Series(label, _SKIPS, goodputs, "simulation", number))
        gained = gain(uploads[1], uploads[0])
        finished = [mean(one.finished()) for one in uploads]
        values |= {
            f"none_{flows}": goodputs[0],
            f"gain_{flows}": gained,
            f"gain_error_{flows}": error_of(gained, _RUNS_OF_THE_PAPER),
            f"gain_more_{flows}": least(gain(one, uploads[0]) for one in uploads[2:]),
            f"gain_more_together_{flows}": least(
                gain(one, uploads[0], Uploads.together) for one in uploads[2:]
            ),
            f"ap_load_{flows}": gain(uploads[1], uploads[0], Uploads.ap_attempts),
            f"most_over_one_{flows}": gain(uploads[-1], uploads[1]),
            f"finished_two_{flows}": uploads[2].finished(),
            f"finished_least_{flows}": least(one.finished() for one in uploads[2:]),
            f"timeouts_{flows}": uploads[0].timeouts(),
            f"simultaneous_{flows}": uploads[0].simulation.metrics["simultaneous_send_probability"],
            f"lost_in_air_{flows}": uploads[0].lost_in_air(),
            f"failing_frames_{flows}": uploads[0].failing_frames(),
            f"ap_off_{flows}": off(over_runs(uploads[0].simulation, uploads[0].ap_over_station)),
            f"ap_over_station_{flows}": over_runs(
                uploads[0].simulation, uploads[0].ap_over_station
            ),
            f"collisions_{flows}": gain(uploads[1], uploads[0], Uploads.collisions),
            f"together_{flows}": gain(uploads[1], uploads[0], Uploads.together),
        }
        if flows > 1:
            values[f"crossed_{flows}"] = student_interval(uploads[0].kinds()["crossed"])
            values[f"crossed_less_{flows}"] = uploads[0].crossed_less_others()
        if retries:
            values[f"overflow_{flows}"] = gain(uploads[1], uploads[0], Uploads.queue_drops)
        parts.append(
            f"With {label} {words(goodputs[0])} Mb/s without skipping; skipping one ACK changes "
            f"that by {100 * mean(gained):+.0f} %; of the uploads that skip 0 to 4 ACKs "
            + ", ".join(f"{100 * share:.0f}" for share in finished)
            + " % end within 1000 s. Without skipping "
            f"{100 * mean(uploads[0].lost_in_air()):.0f} % of what is lost is lost in the air."
        )
    if not retries:
        values["ap_load_1_two"] = _load_of_two(bench, megabytes)
    series.append(_stated_of_one(megabytes, values["none_1"] if retries else None))
    if retries and megabytes == 10:
        window = {"flows.node.tcp.receive_window": "20 kB"}
        small = [
            observe(bench, skip, megabytes=megabytes, flows=_FLOWS[-1], retries=True, varied=window)
            for skip in _SKIPS
        ]
        values["gain_more_small_window"] = least(
            gain(one, small[0], Uploads.together) for one in small[2:]
        )
    of_size = [
        gain(
            observe(bench, 1, megabytes=size, retries=retries),
            observe(bench, 0, megabytes=size, retries=retries),
        )
        for size in (10, 1)
    ]
    values["longer_gains"] = _less(*of_size)
    values["longer_gains_error"] = math.hypot(
        *(error_of(one, _RUNS_OF_THE_PAPER) for one in of_size)
    )
    one_flow, three_flows, each = (values[name] for name in ("gain_1", "together_3", "gain_3"))
    assert isinstance(one_flow, Interval)
    assert isinstance(three_flows, Interval)
    assert isinstance(each, Interval)
    values["one_gains_more"] = _less(one_flow, three_flows)
    values["one_gains_more_each"] = _less(one_flow, each)
    return Found(series, values=values, told={"each": " ".join(parts)})


def _stated_of_one(megabytes: int, ours: Value | None) -> Series:
    """Return the paper's numbers for one flow; with MAC retries relative to `ours` unskipped."""
    if ours is None:
        return Series("paper, about", (0, 1), (1.0, _GAINED_MOST[megabytes]), "paper")
    most_of_one = _GAINED_RETRIES * mean(ours)
    return Series("paper, up to 30 % more than ours", (1,), (most_of_one,), "paper")


def _load_of_two(bench: Bench, megabytes: int) -> Interval:
    """Return what a skipped ACK adds to the access point's attempts with two transmissions."""
    keys = {"mac.short_retry_limit": 2}
    none, one = (observe(bench, skip, megabytes=megabytes, varied=keys) for skip in (0, 1))
    return gain(one, none, Uploads.ap_attempts)


def spread(uploads: Sequence[Uploads]) -> Interval:
    """Return the largest goodput of several cases over the smallest, minus one."""
    ordered = sorted(uploads, key=lambda one: mean(one.goodputs()))
    return gain(ordered[-1], ordered[0])


def _against_delays(bench: Bench, *, megabytes: int, flows: int, retries: bool) -> Found:
    """Reproduce Fig. 2 and A1 to A5: several delays of the wired link."""
    series, plain, gains = [], [], []
    for number, delay_ms in enumerate(_DELAYS_MS):
        uploads = [
            observe(
                bench, skip, megabytes=megabytes, flows=flows, retries=retries, delay_ms=delay_ms
            )
            for skip in _SKIPS
        ]
        goodputs: list[Value] = [one.goodputs() for one in uploads]
        label = f"delay of {delay_ms} ms"
        series.append(Series(label, _SKIPS, goodputs, "simulation", number))
        plain.append(uploads[0])
        gains.append(mean(gain(uploads[1], uploads[0])))
    if flows == 1:
        # The paper's numbers are for the shortest delay, and none is for three flows.
        series.append(_stated_of_one(megabytes, plain[0].goodputs() if retries else None))
    spreads = [mean(one.goodputs()) for one in plain]
    return Found(
        series,
        values={
            "spread": spread(plain),
            "spread_error": error_of(spread(plain), _RUNS_OF_THE_PAPER),
            "least_gain": min(gains),
            "most_gain": max(gains),
        },
        told={"least": min(spreads), "most": max(spreads)},
    )


@item("G.fig2")
def fig2(bench: Bench) -> Found:
    drawn = _against_delays(bench, megabytes=10, flows=1, retries=False)
    delayed = {delay_ms: observe(bench, 0, delay_ms=delay_ms) for delay_ms in _DELAYS_MS}
    collisions = [mean(one.simulation.metrics["collision_probability"]) for one in delayed.values()]
    short_rto = {"flows.node.tcp.min_rto": "200 ms"}
    quick = [
        mean(observe(bench, 0, delay_ms=delay_ms, varied=short_rto).goodputs())
        for delay_ms in _DELAYS_MS
    ]
    told = {"collisions": collisions, "quick_least": min(quick), "quick_most": max(quick)}
    return replace(drawn, told={**drawn.told, **told})


@item("G.fig3")
def fig3(bench: Bench) -> Found:
    return _against_flows(bench, megabytes=1, retries=False)


@item("G.fig4")
def fig4(bench: Bench) -> Found:
    return _against_flows(bench, megabytes=10, retries=False)


@item("G.fig5")
def fig5(bench: Bench) -> Found:
    return _against_flows(bench, megabytes=1, retries=True)


@item("G.fig6")
def fig6(bench: Bench) -> Found:
    return _against_flows(bench, megabytes=10, retries=True)


@item("G.figA1")
def fig_a1(bench: Bench) -> Found:
    return _against_delays(bench, megabytes=10, flows=1, retries=True)


@item("G.figA2")
def fig_a2(bench: Bench) -> Found:
    return _against_delays(bench, megabytes=10, flows=3, retries=False)


@item("G.figA3")
def fig_a3(bench: Bench) -> Found:
    return _against_delays(bench, megabytes=10, flows=3, retries=True)


@item("G.figA4")
def fig_a4(bench: Bench) -> Found:
    return _against_delays(bench, megabytes=1, flows=1, retries=False)


@item("G.figA5")
def fig_a5(bench: Bench) -> Found:
    return _against_delays(bench, megabytes=1, flows=3, retries=False)


@item("G.scenarios")
def scenarios(bench: Bench) -> Found:
    cases = [
        (megabytes, flows, retries)
        for retries in (False, True)
        for flows in _FLOWS
        for megabytes in (1, 10)
    ]
    found, more = [], []
    for size, flows, retries in cases:
        none, one, *others = (
            observe(bench, skip, megabytes=size, flows=flows, retries=retries) for skip in _SKIPS
        )
        found.append(gain(one, none, Uploads.together))
        more += [gain(other, none, Uploads.together) for other in others]
    names = [
        f"{flows} x {size} MB, {'with' if retries else 'no'} retries"
        for size, flows, retries in cases
    ]
    series = [Series("gain of one skip", list(range(1, 9)), [*found], "bars")]
    rows: list[list[Cell]] = [
        [name, one.mean, one.low, one.high] for name, one in zip(names, found, strict=True)
    ]
    return Found(
        data=Data(["scenario", "gain", "low", "high"], rows),
        figure=chart(series, x="scenario", y="gain of one skipped ACK", whole_x=True),
        values={
            "least_gain": least(found),
            "most_gain": most(found),
            "improved": _share_above_nothing([*found, *more]),
        },
        told={
            "each": ", ".join(
                f"{100 * mean(one):+.0f} % ({number}: {name})"
                for number, (name, one) in enumerate(zip(names, found, strict=True), 1)
            )
        },
    )


@item("G.rts")
def rts(bench: Bench) -> Found:
    keys = {"mac.rts_threshold": "0 B"}
    rows: list[list[Cell]] = []
    values: dict[str, Value] = {}
    for retries in (False, True):
        # RTS count as attempts under the short retry limit, data after RTS under the long one.
        long = {"mac.long_retry_limit": 4 if retries else 1}
        plain = observe(bench, 0, retries=retries)
        protected = observe(bench, 0, retries=retries, varied=keys | long)
        name = "retries" if retries else "none"
        values[f"over_plain_{name}"] = changed(gain(protected, plain), lambda more: 1.0 + more)
        rows.append(
            [
                "MAC retries" if retries else "no MAC retries",
                mean(plain.goodputs()),
                mean(protected.goodputs()),
            ]
        )
    return Found(
        data=Data(["", "without RTS/CTS (Mb/s)", "with (Mb/s)"], rows),
        values=values,
        told={"each": " and ".join(f"{words(one)} of that without" for one in values.values())},
    )

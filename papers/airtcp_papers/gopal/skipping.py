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
from airtcp_papers.common.chart import Series, chart, table_with_ends
from airtcp_papers.common.described import Found, item, items
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
from airtcp_papers.gopal.observed import (
    TO_TELL_FROM_NOTHING,
    Uploads,
    ap_attempts,
    ap_over_station,
    gain,
    lost_in_air,
    observe,
    queue_drops,
)

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
        none, one, two, *_, four = uploads
        runs = none.simulation
        more = uploads[2:]
        told = {
            "none": goodputs[0],
            "gain": gained,
            "gain_error": error_of(gained, _RUNS_OF_THE_PAPER),
            "gain_more": least(gain(some, none) for some in more),
            "gain_more_together": least(gain(some, none, none.together) for some in more),
            "ap_load": gain(one, none, ap_attempts),
            "most_over_one": gain(four, one),
            "finished_two": two.finished(),
            "finished_least": least(some.finished() for some in more),
            "timeouts": none.timeouts(),
            "simultaneous": runs.metrics["simultaneous_send_probability"],
            "lost_in_air": over_runs(runs, lost_in_air),
            "failing_frames": runs.metrics["collision_probability"],
            "ap_off": off(over_runs(runs, ap_over_station)),
            "ap_over_station": over_runs(runs, ap_over_station),
            "collisions": gain(one, none, "collisions"),
            "together": gain(one, none, none.together),
        }
        if flows > 1:
            told["crossed"] = student_interval(none.kinds()["crossed"])
            told["crossed_less"] = none.crossed_less_others()
        if retries:
            told["overflow"] = gain(one, none, queue_drops)
        values |= {f"{name}_{flows}": value for name, value in told.items()}
        parts.append(
            f"With {label} {words(goodputs[0])} Mb/s without skipping; skipping one ACK changes "
            f"that by {100 * mean(gained):+.0f} %; of the uploads that skip 0 to 4 ACKs "
            + ", ".join(f"{100 * share:.0f}" for share in finished)
            + " % end within 1000 s. Without skipping "
            f"{100 * mean(told['lost_in_air']):.0f} % of what is lost is lost in the air."
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
            gain(one, small[0], one.together) for one in small[2:]
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
    return gain(one, none, ap_attempts)


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


#: Figures of one flow and three, and of several delays: the file size in MB, flows, and retries.
_OF_FLOWS: Final = {
    "G.fig3": {"megabytes": 1, "retries": False},
    "G.fig4": {"megabytes": 10, "retries": False},
    "G.fig5": {"megabytes": 1, "retries": True},
    "G.fig6": {"megabytes": 10, "retries": True},
}
_OF_DELAYS: Final = {
    "G.figA1": {"megabytes": 10, "flows": 1, "retries": True},
    "G.figA2": {"megabytes": 10, "flows": 3, "retries": False},
    "G.figA3": {"megabytes": 10, "flows": 3, "retries": True},
    "G.figA4": {"megabytes": 1, "flows": 1, "retries": False},
    "G.figA5": {"megabytes": 1, "flows": 3, "retries": False},
}
items(_against_flows, _OF_FLOWS)
items(_against_delays, _OF_DELAYS)


@item("G.scenarios")
def scenarios(bench: Bench) -> Found:
    cases = [
        (megabytes, flows, retries)
        for retries in (False, True)
        for flows in _FLOWS
        for megabytes in (1, 10)
    ]
    gains, more = {}, []
    for size, flows, retries in cases:
        none, one, *others = (
            observe(bench, skip, megabytes=size, flows=flows, retries=retries) for skip in _SKIPS
        )
        name = f"{flows} x {size} MB, {'with' if retries else 'no'} retries"
        gains[name] = gain(one, none, none.together)
        more += [gain(other, none, none.together) for other in others]
    series = [Series("gain of one skip", list(range(1, 9)), [*gains.values()], "bars")]
    return Found(
        data=table_with_ends(["scenario", "gain", "low", "high"], gains),
        figure=chart(series, x="scenario", y="gain of one skipped ACK", whole_x=True),
        values={
            "least_gain": least(gains.values()),
            "most_gain": most(gains.values()),
            "improved": _share_above_nothing([*gains.values(), *more]),
        },
        told={"gains": {f"{n}: {name}": one for n, (name, one) in enumerate(gains.items(), 1)}},
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

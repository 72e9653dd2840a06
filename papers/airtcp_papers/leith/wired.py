"""Paper L, Fig. 6 to 8: goodput shares with the wired link or the air as the bottleneck.

Peak windows are those when a loss is detected (fast retransmits). How often each flow loses is
measured: the paper's formula needs it, and nothing predicts it (erratum L10).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

import numpy as np
from airtcp.results.trace import Trace
from airtcp.scenario import ResolvedScenario
from airtcp.stats import Interval, student_interval

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.chart import Series
from airtcp_papers.common.described import Found, item, items
from airtcp_papers.common.diagram import Edge, Node, diagram
from airtcp_papers.common.item import Cell, Data
from airtcp_papers.common.measure import most, off
from airtcp_papers.leith.aimd import uploads, wired_shares
from airtcp_papers.leith.model import Parameters, throughput

_INTERVAL_S: Final = 0.1
_A, _B = "a/0", "b/0"
_MBPS: Final = 1e6
#: Queue of the wired link in packets per Mb/s: 1e-5 B for B in b/s (erratum L9).
_QUEUE_PER_MBPS: Final = 10

#: The air as the bottleneck.
_AIR: Final[Mapping[str, Any]] = {"links.wire.rate": "10 Mb/s", "links.wire.queue": 100}
_T2_S: Final = 0.040
_WIRE_MS: Final = 10.0
#: Bytes of a packet, including headers.
_PACKET: Final = 1500

_INCREASES: Final = (0.2, 0.5, 1.0, 2.0, 5.0)
_DECREASES: Final = (0.1, 0.3, 0.5, 0.7, 0.9)
_BANDWIDTHS: Final = (1.0, 2.0, 3.0, 4.0, 4.5, 5.0, 5.5, 6.0, 8.0, 10.0)

_ROOMY: Final[Mapping[str, Any]] = {
    f"stations.{name}.queue": {"discipline": "fifo", "limit": 150} for name in "ab"
}


def flows(scenario: ResolvedScenario, traces: Sequence[Trace]) -> list[dict[str, Any]]:
    """Return for each run and flow: goodput, mean smoothed RTT, mean peak window, losses."""
    warmup_s = (scenario.run.warmup_ns or 0) / 1e9
    return [{name: _flow(trace, name, warmup_s) for name in (_A, _B)} for trace in traces]


def _flow(trace: Trace, name: str, warmup_s: float) -> dict[str, float | None]:
    series, losses = trace.flow(name), trace.events("fast_retransmit", flow=name)
    after, lost = series.time_s >= warmup_s, losses.time_s >= warmup_s
    return {
        "goodput_bps": float(np.mean(series.goodput_bps[after])),
        "rtt_s": float(np.nanmean(series.srtt_s[after])),
        "peak_bytes": float(np.mean(losses.cwnd_bytes[lost])) if lost.any() else None,
        "losses": float(lost.sum()),
    }


@dataclass(frozen=True, slots=True)
class _Pair:
    """Both flows of one scenario, run by run."""

    runs: list[dict[str, Any]]

    def ratio(self, what: str) -> Interval:
        """Return a number of b over that of a."""
        return student_interval(
            [
                run[_B][what] / run[_A][what]
                for run in self.runs
                if run[_A][what] and run[_B][what] is not None
            ]
        )

    def goodput_ratios(self) -> list[float]:
        """Return the goodput of b over that of a, for each run."""
        return [run[_B]["goodput_bps"] / run[_A]["goodput_bps"] for run in self.runs]

    def mean(self, flow: str, what: str) -> float:
        return fmean(run[flow][what] for run in self.runs if run[flow][what] is not None)

    def goodput(self, flow: str) -> Interval:
        """Return the goodput of a flow, Mb/s."""
        return student_interval([run[flow]["goodput_bps"] / _MBPS for run in self.runs])

    def predicted_gap(self, increase: float, decrease: float, *, losses: bool) -> Interval:
        """Return the prediction's relative distance from the ratio of peak windows, over runs."""
        gaps = []
        for run in self.runs:
            a, b = run[_A], run[_B]
            if not (a["peak_bytes"] and b["peak_bytes"]):
                continue
            lost = b["losses"] / a["losses"] if losses else 1.0
            said = increase * a["rtt_s"] / b["rtt_s"] / (lost * (1.0 - decrease)) * 0.5
            gaps.append(said / (b["peak_bytes"] / a["peak_bytes"]))
        return off(student_interval(gaps))

    def predicted(self, increase: float, decrease: float, *, losses: bool) -> float:
        """Return the ratio of peak windows of section 5.1, with measured RTTs.

        With `losses` it includes the measured frequencies of losses.
        """
        rtt = self.mean(_B, "rtt_s") / self.mean(_A, "rtt_s")
        lost = self.mean(_B, "losses") / self.mean(_A, "losses") if losses else 1.0
        return peaks_over(increase, decrease, rtt, lost)


def peaks_over(increase: float, decrease: float, rtt: float, lost: float) -> float:
    """Return the second flow's peak window over the first's by section 5.1.

    The first flow has standard AIMD. `rtt` and `lost` are the second flow's RTT and frequency of
    losses over the first's.
    """
    return increase / rtt / (lost * (1.0 - decrease)) * 0.5


def second(values: Mapping[str, float]) -> dict[str, Any]:
    """Return the keys of the second flow's AIMD; 1 and 0.5 without a slider."""
    aimd = {"increase": values.get("increase", 1.0), "decrease": values.get("decrease", 0.5)}
    return {"flows.b.tcp.aimd": aimd}


def peaks_by_increase(
    *, rtt: float = 1.75, lost: float = 1.0, decrease: float = 0.5
) -> list[Series]:
    """Return the formula of Fig. 7a for given RTTs and losses."""
    y = [peaks_over(increase, decrease, rtt, lost) for increase in _INCREASES]
    return [Series("peak windows, section 5.1", _INCREASES, y, "model")]


def peaks_by_decrease(
    *, rtt: float = 1.75, lost: float = 1.0, increase: float = 1.0
) -> list[Series]:
    """Return the formula of Fig. 7b for given RTTs and losses."""
    y = [peaks_over(increase, decrease, rtt, lost) for decrease in _DECREASES]
    return [Series("peak windows, section 5.1", _DECREASES, y, "model")]


def shares_of_bandwidth(
    *, delay: float = 40.0, filled: float = 0.75, lost: float = 1.0, w0: float = 32
) -> list[Series]:
    """Return the prediction of Fig. 8a for a second flow with `delay` ms more behind the link.

    Nothing measures the RTTs here: they are those of the path with the wired link's queue `filled`
    to a fraction. `lost` is how often the second flow loses, over the first.
    """
    rtts = []
    for behind_ms in (0.0, delay):
        # The queue holds ten packets per Mb/s, which take the same time at any rate.
        queue_s = filled * _QUEUE_PER_MBPS * 8 * _PACKET / _MBPS
        rtts.append(2.0 * (_WIRE_MS + behind_ms) / 1e3 + queue_s)
    frequency = [1.0 / max(1.0, lost), lost / max(1.0, lost)]
    share = wired_shares(1.0, 0.5, rtts, frequency).flow_share
    predicted = uploads(_wired_bps(), _air_bps(w0), np.array([share] * len(_BANDWIDTHS)))
    goodputs = predicted.flow_bps / _MBPS
    return [
        Series(f"{name}: prediction", _BANDWIDTHS, [float(v) for v in goodputs[:, place]], "model")
        for place, name in enumerate(("first", f"second, {2 * delay:g} ms more"))
    ]


def all_uploads(*, w0: float = 32) -> list[Series]:
    """Return the total goodput of both uploads in the network of Fig. 6: the slower hop's."""
    narrower = [min(wired, _air_bps(w0)) / _MBPS for wired in _wired_bps()]
    return [Series("wired link or air", _BANDWIDTHS, narrower, "model")]


def _wired_bps() -> list[float]:
    """Return the payload rate of the wired link at each bandwidth."""
    return [rate * _MBPS * (_PACKET - 40) / _PACKET for rate in _BANDWIDTHS]


def _pair(bench: Bench, changes: Mapping[str, Any] | None = None) -> _Pair:
    return _Pair(bench.traced("wired", changes, reduce=flows, interval_s=_INTERVAL_S))


@item("L.fig6")
def fig6(bench: Bench) -> Found:
    scenario = bench.scenario("wired")
    nodes = [
        Node("a", 0.0, 0.55, "a", "box", 0.3),
        Node("b", 0.0, -0.55, "b", "box", 0.3),
        Node("ap", 1.7, 0.0, "AP", "box", 0.35),
        Node("hub", 4.4, 0.0, "router", "box", 0.5),
        Node("d1", 6.5, 0.55, "D1", "box", 0.3),
        Node("d2", 6.5, -0.55, "D2", "box", 0.3),
    ]
    edges = [
        Edge("a", "ap", kind="air"),
        Edge("b", "ap", kind="air"),
        Edge("ap", "hub", "B, T = 10 ms", kind="wire"),
        Edge("hub", "d1", "T1 = 0", kind="wire", offset=0.24),
        Edge("hub", "d2", "T2 = 40 ms", kind="wire", offset=-0.3),
    ]
    rows: list[list[Cell]] = []
    for flow in scenario.flows:
        for hop, link in enumerate(scenario.path_links(flow)):
            rate = None if link.rate_bps is None else link.rate_bps / _MBPS
            rows.append([flow.stations, hop, rate, link.delay_ns / 1e6, link.queue.limit])
    air = _air_bps() / _MBPS
    return Found(
        data=Data(["station", "hop", "rate (Mb/s)", "delay (ms)", "queue (packets)"], rows),
        figure=diagram(nodes, edges, height=2.0),
        values={"crossover_mbps": air * 1500 / 1460},
        told={"air": air},
    )


def _air_bps(w0: float = 32) -> float:
    """Return the total goodput of two saturated stations by the full model of section 4."""
    doublings = round(np.log2(1024 / w0))
    return float(throughput(2, int(w0), doublings, 2, Parameters.of_figures()).goodput_bps)


def _aimd(bench: Bench, key: str, values: Sequence[float]) -> Found:
    """Fig. 7: b's AIMD varied, with the wired and with the wireless bottleneck."""
    path = f"flows.b.tcp.aimd.{key}"
    wired = [_pair(bench, {path: value}) for value in values]
    air = [_pair(bench, {path: value} | dict(_AIR)) for value in values]
    # "Assuming appropriately sized interface queues": a queue that a small beta does not empty.
    roomy = [_pair(bench, {path: value} | dict(_AIR) | dict(_ROOMY)) for value in values]
    steps = [(value, 0.5) if key == "increase" else (1.0, value) for value in values]
    both = list(zip(wired, steps, strict=True))
    measured = [pair.predicted(*step, losses=True) for pair, step in both]
    equal = [pair.predicted(*step, losses=False) for pair, step in both]
    peaks = [pair.ratio("peak_bytes") for pair in wired]
    wired_goodput = [pair.ratio("goodput_bps") for pair in wired]
    air_goodput = [pair.ratio("goodput_bps") for pair in air]
    roomy_goodput = [pair.ratio("goodput_bps") for pair in roomy]
    series = [
        Series("peak windows, wired", values, peaks, "simulation", 0),
        Series("prediction, measured losses", values, measured, "model", 0),
        Series("prediction, equal losses", values, equal, "model", 2),
        Series("goodput, wired", values, wired_goodput, "simulation", 1),
        Series("goodput, air (B = 10 Mb/s)", values, air_goodput, "simulation", 3),
    ]
    gap, equal_gap = (
        most(pair.predicted_gap(*step, losses=losses) for pair, step in both)
        for losses in (True, False)
    )
    standard = values.index(1.0 if key == "increase" else 0.5)
    top = wired_goodput[-1]
    apart = most(map(off, air_goodput))
    spread = [pair.goodput_ratios() for pair in (wired[-1], wired[0])]
    return Found(
        series,
        values={
            "peak_gap": gap,
            "peak_gap_equal": equal_gap,
            "wired_most_over_least": student_interval(
                [high / low for high, low in zip(*spread, strict=True)]
            ),
            "air_off": apart,
            "air_off_roomy": most(map(off, roomy_goodput)),
            # From the standard beta on, the station's queue does not empty after a loss.
            "air_off_filled": most(map(off, air_goodput[standard:])),
        },
        told={
            "peaks": peaks,
            "top": top,
            "often": wired[standard].mean(_B, "losses") / wired[standard].mean(_A, "losses"),
        },
    )


items(
    _aimd,
    {
        "L.fig7a": {"key": "increase", "values": _INCREASES},
        "L.fig7b": {"key": "decrease", "values": _DECREASES},
    },
)


@item("L.fig8a")
def fig8a(bench: Bench) -> Found:
    pairs = [
        _pair(
            bench,
            {
                "links.wire.rate": f"{rate} Mb/s",
                "links.wire.queue": round(rate * _QUEUE_PER_MBPS),
            },
        )
        for rate in _BANDWIDTHS
    ]
    shares = []
    for pair in pairs:
        rtts = [pair.mean(flow, "rtt_s") for flow in (_A, _B)]
        lost = [pair.mean(flow, "losses") for flow in (_A, _B)]
        frequency = [one / max(lost) for one in lost]
        shares.append(wired_shares(1.0, 0.5, rtts, frequency).flow_share)
    predicted = uploads(_wired_bps(), _air_bps(), np.array(shares)).flow_bps / _MBPS
    simulated = [[pair.goodput(flow) for pair in pairs] for flow in (_A, _B)]
    series = []
    for number, name in enumerate(("first", "second, 80 ms more")):
        model = [float(goodput) for goodput in predicted[:, number]]
        series += [
            Series(f"{name}: simulation", _BANDWIDTHS, simulated[number], "simulation", number),
            Series(f"{name}: prediction", _BANDWIDTHS, model, "model", number),
        ]
    ratios = dict(zip(_BANDWIDTHS, (pair.ratio("goodput_bps") for pair in pairs), strict=True))
    four = pairs[_BANDWIDTHS.index(4.0)]
    square = (four.mean(_A, "rtt_s") / four.mean(_B, "rtt_s")) ** 2
    fair_from, jump = _crossover(pairs)
    return Found(
        series,
        values={
            "ratio_4": ratios[4.0],
            "ratio_10": ratios[10.0],
            "ratio_4_over_square": _over_square(four, losses=False),
            "ratio_4_over_measured": _over_square(four, losses=True),
            "fair_from_mbps": fair_from,
            "jump": jump,
        },
        told={"ratios_4_5": ratios[4.5], "ratios_5_0": ratios[5.0], "square": square},
    )


#: Ratio above which goodputs count as equal, and bandwidths around the one that the paper names.
_FAIR: Final = 0.95
_ABOUT: Final = (4.5, 5.5)


def _crossover(pairs: Sequence[_Pair]) -> tuple[Interval, Interval]:
    """Return the bandwidth from which goodputs are equal, and the part of the change near 5 Mb/s.

    Over runs. The first is where the ratio of goodputs passes 0.95, interpolated linearly between
    bandwidths, in Mb/s. The second is its growth from 4.5 to 5.5 Mb/s over that from 1 to 10 Mb/s.
    """
    low, high = (_BANDWIDTHS.index(rate) for rate in _ABOUT)
    crossings: list[float | None] = []
    jumps = []
    for ratios in zip(*(pair.goodput_ratios() for pair in pairs), strict=True):
        jumps.append((ratios[high] - ratios[low]) / (ratios[-1] - ratios[0]))
        below = [place for place, ratio in enumerate(ratios) if ratio < _FAIR]
        after = below[-1] + 1 if below else 0
        if not 0 < after < len(ratios):
            crossings.append(None)
            continue
        before = after - 1
        part = (_FAIR - ratios[before]) / (ratios[after] - ratios[before])
        crossings.append(_BANDWIDTHS[before] + part * (_BANDWIDTHS[after] - _BANDWIDTHS[before]))
    return student_interval(crossings), student_interval(jumps)


def _over_square(pair: _Pair, *, losses: bool) -> Interval:
    """Return the ratio of goodputs over the squared ratio of RTTs (footnote 2).

    With `losses`, also over the ratio of losses.
    """
    found = []
    for run, ratio in zip(pair.runs, pair.goodput_ratios(), strict=True):
        said = (run[_A]["rtt_s"] / run[_B]["rtt_s"]) ** 2
        if losses:
            said *= run[_A]["losses"] / run[_B]["losses"]
        found.append(ratio / said)
    return student_interval(found)


_DELAYS_MS: Final = (0, 10, 20, 40, 80, 120)


@item("L.fig8b")
def fig8b(bench: Bench) -> Found:
    key = "flows.b.path"
    pairs = [
        _pair(bench, dict(_AIR) | {key: ["wire", {"delay": f"{delay} ms"}]}) for delay in _DELAYS_MS
    ]
    series = [
        Series("first, T1 = 0", _DELAYS_MS, [p.goodput(_A) for p in pairs], "simulation"),
        Series("second", _DELAYS_MS, [p.goodput(_B) for p in pairs], "simulation"),
    ]
    ratios = [pair.ratio("goodput_bps") for pair in pairs]
    up_to_40 = [one for one, delay in zip(ratios, _DELAYS_MS, strict=True) if delay <= 1e3 * _T2_S]
    last = pairs[-1]
    return Found(
        series,
        values={
            "far": most(map(off, ratios)),
            "far_to_40": most(map(off, up_to_40)),
            "last": ratios[-1],
        },
        told={
            "ratios": ratios,
            "up_to_40": up_to_40,
            "last_mean__a_rtt_s": last.mean(_A, "rtt_s"),
            "last_mean__b_rtt_s": last.mean(_B, "rtt_s"),
        },
    )

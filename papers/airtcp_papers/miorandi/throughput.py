"""Paper M, Fig. 3, 5, 6, A.2 and A.3: goodput of endless downloads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

from airtcp.models import heusse
from airtcp.results import Simulation
from airtcp.stats import Interval, student_interval

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.chart import Series
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.item import Value
from airtcp_papers.common.measure import (
    largest_gap,
    least,
    mapped,
    mean,
    most,
    off,
    paired,
    ratio,
    samples,
    scaled,
)
from airtcp_papers.miorandi.contention import EQUATIONS, downloads
from airtcp_papers.miorandi.model import (
    PAPER,
    Parameters,
    phi,
    single_station,
    throughput,
    window_throughput,
)
from airtcp_papers.miorandi.moved import W0, parameters, solved
from airtcp_papers.miorandi.users import LARGE

_EVERY = (1, 2, 3, 4, 5, 6, 8, 10)
_MBPS = 1e6


def _mbps(values: Iterable[float]) -> list[float]:
    return [float(value) / _MBPS for value in values]


def _bps(curve: Series) -> list[float]:
    return [mean(value) * _MBPS for value in curve.y]


def _measured(simulations: Sequence[Simulation]) -> list[Value]:
    return [*scaled(simulations, "goodput_bps", _MBPS)]


def _gap(model: Iterable[float], simulations: Sequence[Simulation]) -> Interval:
    return largest_gap(list(model), [one.metrics["goodput_bps"] for one in simulations])


def one_download(*, w0: float = W0, rts: float = 1) -> list[Series]:
    """Fig. 3: the model's curve."""
    radio = parameters(w0=w0, rts=rts)
    found, noted = solved(lambda variant: single_station(_EVERY, radio, variant))
    return [Series(f"model, (8){noted}", _EVERY, _mbps(found.goodput_bps), "model")]


@item("M.fig3")
def fig3(bench: Bench) -> Found:
    (curve,) = one_download()
    large = [downloads(bench, 1, LARGE, d) for d in _EVERY]
    small = [downloads(bench, 1, d, d) for d in _EVERY]
    series = [
        curve,
        Series("simulation, W* = 1000", _EVERY, _measured(large), "simulation"),
        Series("simulation, W* = d", _EVERY, _measured(small), "simulation"),
    ]
    gain = ratio(large[1], large[0], "goodput_bps")
    gap = _gap(_bps(curve), large)
    window = ratio(large[0], small[0], "goodput_bps")
    ideal = [downloads(bench, 1, LARGE, d, EQUATIONS) for d in _EVERY]
    ideal_gap = _gap(_bps(curve), ideal)
    ideal_window = ratio(ideal[0], downloads(bench, 1, 1, more=EQUATIONS), "goodput_bps")
    return Found(
        series,
        values={
            "gain_of_two": gain,
            "gain_of_two_equations": ratio(ideal[1], ideal[0], "goodput_bps"),
            "model_gap": gap,
            "model_gap_equations": ideal_gap,
            "large_over_small": window,
            "large_over_small_equations": ideal_window,
        },
    )


_DOWNLOADS = (1, 2, 3, 5, 7, 10, 15, 20)


def all_downloads(*, d: float = 1, w0: float = W0, rts: float = 1) -> list[Series]:
    """Fig. 5: the model's curve, and the curve of Heusse et al. for d = 1."""
    radio = parameters(w0=w0, rts=rts)
    found, noted = solved(lambda variant: throughput(_DOWNLOADS, radio, variant, d=d))
    others = heusse.tcp_downloads(
        _DOWNLOADS,
        radio.tcp_payload_bits,
        data_s=radio.t_tcp_data_s,
        tcp_ack_s=radio.t_tcp_ack_s,
        cw_min=radio.w0 - 1,
        slot_s=radio.slot_s,
        d=d,
        contenders="all",
        # Without RTS/CTS, the segments and ACKs themselves collide.
        collision_s=radio.difs_s + radio.rts_s if rts else None,
    ).goodput_bps
    return [
        Series(f"model, (10){noted}", _DOWNLOADS, _mbps(found.goodput_bps), "model"),
        Series("after Heusse et al.", _DOWNLOADS, _mbps(others), "model"),
    ]


@item("M.fig5")
def fig5(bench: Bench) -> Found:
    curve, others = all_downloads()
    simulated = [downloads(bench, n, 1) for n in _DOWNLOADS]
    series = [
        curve,
        Series("simulation", _DOWNLOADS, _measured(simulated), "simulation"),
        others,
    ]
    ideal = [downloads(bench, n, 1, more=EQUATIONS) for n in _DOWNLOADS]
    gap, ideal_gap = _gap(_bps(curve), simulated), _gap(_bps(curve), ideal)
    spread = ratio(simulated[-1], simulated[_DOWNLOADS.index(5)], "goodput_bps")
    return Found(
        series,
        values={
            "model_gap": gap,
            "model_gap_equations": ideal_gap,
            "twenty_over_five": spread,
            "spread": _spread(simulated),
            "spread_equations": _spread(ideal),
            "heusse_gap": _gap(_bps(others), simulated),
        },
    )


def _spread(simulations: Sequence[Simulation]) -> Interval:
    """Return the largest relative distance of goodput from the last simulation's."""
    return most(off(ratio(one, simulations[-1], "goodput_bps")) for one in simulations)


_TEN = 10
_KBPS = 1e3


def each_download(*, n: float = _TEN, w0: float = W0, rts: float = 1) -> list[Series]:
    """Fig. 6: the model's curve."""
    radio = parameters(w0=w0, rts=rts)
    found, noted = solved(lambda variant: throughput(int(n), radio, variant, d=_EVERY))
    kilo = [float(value) / _KBPS for value in found.flow_goodput_bps]
    return [Series(f"model, (12){noted}", _EVERY, kilo, "model")]


@item("M.fig6")
def fig6(bench: Bench) -> Found:
    (curve,) = each_download()
    large = [downloads(bench, _TEN, LARGE, d) for d in _EVERY]
    small = [downloads(bench, _TEN, d, d) for d in _EVERY]
    name = "flow_goodput_bps"
    series = [
        curve,
        Series("simulation, W* = 1000", _EVERY, [*scaled(large, name, _KBPS)], "simulation"),
        Series("simulation, W* = d", _EVERY, [*scaled(small, name, _KBPS)], "simulation"),
    ]
    model = [_KBPS * mean(value) for value in curve.y]
    gap = largest_gap(model, [one.metrics[name] for one in small])
    gap_large = largest_gap(model, [one.metrics[name] for one in large])
    gain = ratio(small[1], small[0], name)
    return Found(
        series, values={"model_gap": gap, "model_gap_large": gap_large, "gain_of_two": gain}
    )


_WINDOWS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30)


def waits(*, w0: float = W0, rts: float = 1) -> list[Series]:
    """Fig. A.2: the model's curve."""
    radio = parameters(w0=w0, rts=rts)
    found, noted = solved(lambda variant: phi(_WINDOWS, radio, variant))
    return [Series(f"model, (A.3){noted}", _WINDOWS, [1e6 * float(one) for one in found], "model")]


@item("M.figA2")
def fig_a2(bench: Bench) -> Found:
    table_1 = Parameters.table_1()
    (curve,) = waits()
    model = [mean(value) for value in curve.y]
    goodput = [float(value) for value in window_throughput([1, LARGE], table_1)]
    simulated = {w: downloads(bench, 1, w, more=EQUATIONS) for w in (1, 2, 4, 10, 30)}
    # The time of a segment minus both exchanges.
    exchanges = table_1.t_tcp_data_s + table_1.t_tcp_ack_s
    bits = table_1.tcp_payload_bits
    rest = [
        mapped(one, "goodput_bps", lambda goodput: 1e6 * (bits / goodput - exchanges))
        for one in simulated.values()
    ]
    series = [
        curve,
        Series("simulation", list(simulated), rest, "simulation"),
    ]
    steps = [
        paired(more, less, "goodput_bps", lambda b, a: 1e6 * bits * (1.0 / b - 1.0 / a))
        for less, more in pairwise(simulated.values())
    ]
    gain = ratio(simulated[30], simulated[1], "goodput_bps")
    return Found(
        series,
        values={
            "largest_step": max(right - left for left, right in pairwise(model)),
            "largest_step_simulated": most(steps),
            "one_packet": model[0],
            "one_packet_simulated": rest[0],
            "gain_of_window": gain,
        },
        told={
            "model": model,
            "windows": _WINDOWS,
            "rest": rest,
            "gain": goodput[1] / goodput[0] - 1,
        },
    )


def one_download_by_window(*, w0: float = W0, rts: float = 1) -> list[Series]:
    """Fig. A.3: the model's curves for a large window and for a window of d packets."""
    radio = parameters(w0=w0, rts=rts)
    turns = replace(PAPER, single_connection="alternating")
    large, noted = solved(lambda variant: single_station(_EVERY, radio, variant))
    small, _ = solved(lambda variant: throughput(1, radio, variant, d=_EVERY), turns)
    return [
        Series(f"theory, W* >> d{noted}", _EVERY, _mbps(large.goodput_bps), "model", 0),
        Series("theory, W* = d", _EVERY, _mbps(small.goodput_bps), "model", 1),
    ]


@item("M.figA3")
def fig_a3(bench: Bench) -> Found:
    theory_large, theory_small = one_download_by_window()
    large = [downloads(bench, 1, LARGE, d) for d in _EVERY]
    small = [downloads(bench, 1, d, d) for d in _EVERY]
    series = [
        theory_large,
        Series("simulation, W* = 1000", _EVERY, _measured(large), "simulation", 0),
        theory_small,
        Series("simulation, W* = d", _EVERY, _measured(small), "simulation", 1),
    ]
    gains = [ratio(a, b, "goodput_bps") for a, b in zip(large, small, strict=True)]
    worst = least(gains)
    gap, gap_large = _gap(_bps(theory_small), small), _gap(_bps(theory_large), large)
    return Found(
        series,
        values={"least_gain": worst, "small_gap": gap, "large_gap": gap_large},
        told={"gains": gains},
    )


#: The radio of the scenario file, and two faster ones. 802.11g sends control frames at the paper's
#: 2 Mb/s. 802.11a sends them at its lowest rate, as ns-2 does.
_RADIOS: Mapping[str, Mapping[str, Any]] = {
    "802.11b, 11 Mb/s": {},
    "802.11a, 54 Mb/s": {
        "phy": {"standard": "802.11a", "data_rate": "54 Mb/s", "control_rate": "6 Mb/s"}
    },
    "802.11g, 54 Mb/s": {
        "phy": {"standard": "802.11g", "data_rate": "54 Mb/s", "control_rate": "2 Mb/s"}
    },
}
_FAST: Final[Mapping[str, Any]] = {"data_rate": "54 Mb/s", "control_rate": "24 Mb/s"}
_PLAIN: Final[Mapping[str, Any]] = {"mac": {"rules": {"preset": "ns-2"}, "short_retry_limit": 7}}


@item("M.faster")
def faster(bench: Bench) -> Found:
    runs = {
        radio: [downloads(bench, 1, LARGE, d, phy) for d in (1, 2, 3, 4)]
        for radio, phy in _RADIOS.items()
    }
    gains: dict[str, list[Value]] = {
        radio: [ratio(one, some[0], "goodput_bps") for one in some] for radio, some in runs.items()
    }
    series = [Series(radio, (1, 2, 3, 4), some, "simulation") for radio, some in gains.items()]

    def pair(more: Mapping[str, Any]) -> list[Simulation]:
        return [downloads(bench, 1, LARGE, d, more) for d in (1, 2)]

    slow, *others = runs.values()
    plain = pair(_PLAIN)
    grown = {}
    for name, fast in zip("ag", others, strict=True):
        quick = {"phy": {"standard": f"802.11{name}", **_FAST}}
        grown[f"grown_{name}"] = _grown(fast, slow)
        grown[f"grown_{name}_24"] = _grown(pair(quick), slow)
        grown[f"grown_{name}_plain"] = _grown(pair({**quick, **_PLAIN}), plain)
    return Found(
        series,
        values={**grown},
        told={"of_two": {radio: some[1] for radio, some in gains.items()}, "grown": grown},
    )


def _grown(fast: Sequence[Simulation], slow: Sequence[Simulation]) -> Interval:
    """Return the gain of d = 2 with one radio minus that with another, by replication."""
    runs = zip(*(samples(run, "goodput_bps") for run in (*fast[:2], *slow[:2])), strict=True)
    return student_interval(
        [
            two / one - two_slow / one_slow
            for one, two, one_slow, two_slow in runs
            if one and two and one_slow and two_slow
        ]
    )

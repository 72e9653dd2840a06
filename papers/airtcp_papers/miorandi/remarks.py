"""Paper M: statements of its text on web users that have no figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from airtcp.results import Simulation

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.item import Value
from airtcp_papers.common.measure import Answer, difference, gap, most, off, over_runs
from airtcp_papers.miorandi.model import Parameters, processor_sharing, session_delay
from airtcp_papers.miorandi.users import LARGE, MEAN_BYTES, PARETO, TIME, Users, every, web

_THINK: Final = "flows.laptop.application.think_time"
_THINK_S: Final = 10.0
_LAWS: Final[Mapping[str, Mapping[str, Any]]] = {
    "deterministic": {_THINK: {"distribution": "deterministic", "value": "10 s"}},
    "Pareto": {_THINK: {"distribution": "pareto", "mean": "10 s", "shape": 2.2}},
}
_CROWDS: Final = (10, 40)
_TIMEOUT: Final = "40 ms"
_BUFFER: Final = 30
#: Files of a size with which no d of 1, 2, 3 waits for the delayed-ACK timer.
_WHOLE: Final[Mapping[str, Any]] = {
    "flows.laptop.application.size": {"distribution": "deterministic", "value": "30 kB"}
}
_MANY: Final = 50
#: Quick runs of points that are far from their bound, or that decide nothing.
_SHORT: Final[Mapping[str, Any]] = {"run.duration": "1000 s", "run.replications": 10}


@item("M.remarks")
def remarks(bench: Bench) -> Found:
    return Found(
        values={
            **_first_window(bench),
            **_thinkers(bench),
            **_buffers(bench),
            **_delayed(bench),
            "processor_sharing_off": _constant_capacity(),
        }
    )


def _first_window(bench: Bench) -> dict[str, Value]:
    """Return the extra delay of one station when its server begins with one packet, d = 2."""
    alone = {**_WHOLE, f"{_THINK}.mean": "1 s"}
    one, two = (
        web(bench, 1, LARGE, alone, every(2, _TIMEOUT) | {"flows.laptop.tcp.initial_window": first})
        for first in (1, 2)
    )
    return {"first_window_wait": difference(one.simulation, two.simulation, TIME)}


def _thinkers(bench: Bench) -> dict[str, Value]:
    apart = []
    for stations in _CROWDS:
        usual = web(bench, stations, 1, PARETO)
        apart += [off(web(bench, stations, 1, PARETO, law).over(usual)) for law in _LAWS.values()]
    return {"think_laws_apart": most(apart)}


def _buffers(bench: Bench) -> dict[str, Value]:
    limit = {"ap.queue.limit": _BUFFER}
    far = web(bench, 20, 5, PARETO, limit, quick=_SHORT).over(
        web(bench, 20, 5, PARETO, quick=_SHORT)
    )
    near = _sizes(bench, _BUFFER)
    below, beyond = (_sizes(bench, window, quick=_SHORT) for window in (1, 50))
    return {
        "far_below_apart": off(far),
        "mice_lose": over_runs(near, _retransmissions),
        "mice_lose_below": over_runs(below, _retransmissions),
        "mice_lose_beyond": over_runs(beyond, _retransmissions),
    }


def _sizes(bench: Bench, window: int, quick: Mapping[str, Any] | None = None) -> Simulation:
    groups = ("laptop", "mouse", "elephant")
    changes: dict[str, Any] = {
        f"flows.{name}.tcp.receive_window.segments": window for name in groups
    }
    return bench.simulate("sizes", changes | {"ap.queue.limit": _BUFFER}, quick=quick)


def _retransmissions(answer: Answer) -> float:
    """Return the retransmitted segments per hundred files of the mice."""
    mine = [flow for flow in answer["flows"] if flow["station"].startswith("mouse")]
    again = sum(flow["retransmissions"] for flow in mine)
    return float(100 * again / sum(flow["transfers"] for flow in mine))


def _delayed(bench: Bench) -> dict[str, Value]:
    radio, gaps = Parameters.table_1(), []
    for d in (2, 3):
        for stations in (1, *_CROWDS):
            model = session_delay(
                stations, radio, think_time_s=_THINK_S, mean_size_bytes=MEAN_BYTES, d=d
            )
            users = web(bench, stations, d, _WHOLE, every(d, _TIMEOUT), quick=_SHORT)
            gaps.append(gap(float(model.session_s), users.time_s))
    return {
        "delayed_model_gap": most(gaps),
        "timer_matters": _many(bench, 5, "80 ms").over(_many(bench, 5, "20 ms")),
        "timer_matters_d2": _many(bench, 2, "80 ms", _SHORT).over(_many(bench, 2, "20 ms", _SHORT)),
    }


def _many(bench: Bench, d: int, timeout: str, quick: Mapping[str, Any] | None = None) -> Users:
    return web(bench, _MANY, LARGE, PARETO, every(d, timeout), quick=quick)


def _constant_capacity() -> float:
    """Return the distance of (17) with constant capacity from the mean value analysis.

    The closed network has a station that thinks and a server under processor sharing: R_n = s (1 +
    Q_{n-1}), Q_n = n R_n / (Z + R_n). s is the time of a file alone and Z the mean think time.
    """
    capacity_bps, furthest, queue = 2e6, 0.0, 0.0
    alone_s = 8.0 * MEAN_BYTES / capacity_bps
    for stations in range(1, 41):
        response = alone_s * (1.0 + queue)
        queue = stations * response / (_THINK_S + response)
        model = processor_sharing(stations, [capacity_bps] * stations, _THINK_S, MEAN_BYTES)
        furthest = max(furthest, abs(float(model.session_s) / response - 1.0))
    return furthest

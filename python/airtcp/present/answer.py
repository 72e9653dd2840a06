"""The answer in a few plain lines: goodputs, page times, airtime."""

from __future__ import annotations

from typing import Final

from airtcp.amounts import percent, quantity
from airtcp.metrics import METRICS
from airtcp.results import Comparison, Simulation, SimulationResult

Simulated = Comparison | SimulationResult


#: Groups and directions listed one by one.
_TOLD_SCOPES: Final = 4

#: User satisfaction by the least R factor of a call (ITU-T G.109, table 1).
_SATISFACTION: Final = (
    (90.0, "users are very satisfied"),
    (80.0, "users are satisfied"),
    (70.0, "some users are dissatisfied"),
    (60.0, "many users are dissatisfied"),
    (50.0, "nearly all users are dissatisfied"),
    (0.0, "not recommended"),
)

_PARTS: Final = {
    "data": "data",
    "tcp_ack": "TCP ACKs",
    "control": "control frames",
    "collision": "collisions",
    "idle": "idle and backoff",
}


def experience(result: Simulated) -> list[str]:
    """Describe the times of pages and calls, and the use of airtime."""
    times, airtime = _times(result), _airtime(result.simulation)
    # With several cells, `present.cells` describes the airtime of each.
    told = (times, airtime) if len(result.simulation.cells) < 2 else (times,)
    return [line for line in told if line]


def first_lines(result: Simulated) -> list[str]:
    """Return one sentence each about goodputs, page times and airtime."""
    return [_goodputs(result.simulation), *experience(result)]


def _goodputs(simulation: Simulation) -> str:
    """Describe the goodput of each group and direction."""
    told = []
    for name, group in simulation.groups.items():
        for direction in ("download", "upload"):
            if direction not in group:
                continue
            all_of, each = (
                group[direction][key].mean for key in ("goodput_bps", "flow_goodput_bps")
            )
            words = f"{name} {direction}s {quantity(all_of, 'b/s', 3)}"
            if all_of != each:
                words += f" ({quantity(each, 'b/s', 3)} each)"
            told.append(words)
    if len(told) > _TOLD_SCOPES:
        total = quantity(simulation.metrics["goodput_bps"].mean, "b/s", 3)
        first, more = ", ".join(told[:_TOLD_SCOPES]), len(told) - _TOLD_SCOPES
        return f"All flows get {total}: {first} and {more} more."
    return f"{', '.join(told)}."[0].upper() + f"{', '.join(told)}."[1:]


def _times(result: Simulated) -> str | None:
    """Describe the median and the tail of page or transfer times; None if nothing ends."""
    metrics = result.simulation.metrics
    has_pages = _mean(result.simulation, "page_time_p50_s") is not None
    base = "page_time" if has_pages else "transfer_time"
    typical, bad, worst = (_mean(result.simulation, f"{base}_{q}_s") for q in ("p50", "p90", "p99"))
    if typical is None or bad is None:
        loss = metrics.get("packet_loss")
        if loss is None or loss.mean is None:
            return None
        delay = metrics.get("packet_delay_p95_s")
        late = (
            ""
            if delay is None or delay.mean is None
            else (f", the 95th-percentile delay is {quantity(delay.mean, 's', 3)}")
        )
        return f"Packet loss is {percent(loss.mean)}{late}{_calls(result.simulation)}."
    purposes = result.scenario.purposes
    web = {
        purposes.get(flow.name, "web")
        for flow in result.scenario.flows
        if flow.application.kind == "web"
    }
    what = "page" if has_pages or web - {"ping"} else "ping" if web else "transfer"
    words, said = f"A typical {what} takes {quantity(typical, 's', 3)}", typical
    # With a single sample all quantiles are equal; list only increasing ones.
    for part, time in (("ten", bad), ("a hundred", worst or 0.0)):
        if time > said:
            words, said = f"{words}, one in {part} more than {quantity(time, 's', 3)}", time
    return f"{words}{_calls(result.simulation)}."


def _calls(simulation: Simulation) -> str:
    """Describe call quality in the words of ITU-T G.109."""
    rating = _mean(simulation, "r_factor")
    if rating is None:
        return ""
    words = next(words for least, words in _SATISFACTION if rating >= least)
    return f"; calls have an R factor of {rating:.0f} ({words})"


def _airtime(simulation: Simulation) -> str:
    """List the uses of airtime, largest first."""
    parts = sorted(simulation.airtime.items(), key=lambda part: -part[1])
    told = [f"{_PARTS[name]} {percent(share)}" for name, share in parts if name in _PARTS]
    return f"Airtime: {', '.join(told)}."


def _mean(simulation: Simulation, name: str) -> float | None:
    interval = simulation.metrics.get(name)
    return None if interval is None or name not in METRICS else interval.mean

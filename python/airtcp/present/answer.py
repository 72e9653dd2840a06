"""The answer in at most five plain lines.

The goodput of each, the time a page takes, the use of the airtime, what is wrong, what to try.
Knows what a reader of a simulation asks first, and the limits beyond which something is wrong.
Computes no results: `airtcp plan` finds what to change, and by how much it helps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from airtcp.amounts import percent, quantity
from airtcp.metrics import METRICS
from airtcp.present.silence import silences
from airtcp.results import Comparison, Simulation, SimulationResult

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario

Simulated = Comparison | SimulationResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Values beyond which an answer calls something wrong. Chosen by hand, none has a source."""

    told_scopes: int = 4
    """Groups and directions that are told one by one."""
    queue_delay_s: float = 0.1
    """The mean time for which packets wait in the access point's queue."""
    queue_fill: float = 0.7
    """The mean length of the access point's queue, as a part of its limit."""
    queue_loss: float = 0.01
    """The part of its packets that the access point's queue drops."""
    udp_delivered: float = 0.9
    """The part of its offered payload that constant-rate UDP gets at least."""
    direction_share: float = 0.9
    """The part of the endless flows' goodput that one direction has."""
    collision_probability: float = 0.2
    """The part of the attempts that collide."""
    slow_airtime_share: float = 0.5
    """The part of the airtime in use that one group takes, and"""
    slow_airtime_ratio: float = 1.8
    """that share divided by the group's share of the goodput: beyond both it is slow."""
    jain_index: float = 0.7
    """Jain's index of the goodputs of endless flows, at least."""


LIMITS: Final = Limits()

#: The least R factor at which users of a call feel so (ITU-T G.109, table 1).
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
    "idle": "nothing (idle and backoff)",
}


def first_lines(result: Simulated) -> list[str]:
    """At most five sentences, the most important one first."""
    wrong = list(problems(result))
    lines = [_goodputs(result.simulation), _times(result), _airtime(result.simulation)]
    if wrong:
        told = "; ".join(what for what, _ in wrong[:2])
        lines.append(f"What is wrong: {told}.")
        tries = list(dict.fromkeys(hint for _, hint in wrong if hint))
        lines.append(f"What to try: {'; '.join(tries[:2])}." if tries else None)
    else:
        lines.append("Nothing stands out as wrong.")
        lines.append('How far it carries: airtcp plan FILE --until "CONDITION".')
    return [line for line in lines if line]


def _goodputs(simulation: Simulation) -> str:
    """Tell the goodput of each group and direction."""
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
    if len(told) > LIMITS.told_scopes:
        total = quantity(simulation.metrics["goodput_bps"].mean, "b/s", 3)
        first, more = ", ".join(told[: LIMITS.told_scopes]), len(told) - LIMITS.told_scopes
        return f"All flows get {total}: {first} and {more} more."
    return f"{', '.join(told)}."[0].upper() + f"{', '.join(told)}."[1:]


def _times(result: Simulated) -> str | None:
    """Tell the typical time and the bad one; None where nothing ends."""
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
            else (f", one in twenty takes more than {quantity(delay.mean, 's', 3)}")
        )
        return f"Of the datagrams {percent(loss.mean)} are lost{late}{_calls(result.simulation)}."
    web = any(flow.application.kind == "web" for flow in result.scenario.flows)
    what = "page" if base == "page_time" or web else "transfer"
    words = (
        f"A typical {what} takes {quantity(typical, 's', 3)}, one in ten more than "
        f"{quantity(bad, 's', 3)}"
    )
    if worst:
        words += f", one in a hundred more than {quantity(worst, 's', 3)}"
    return f"{words}{_calls(result.simulation)}."


def _calls(simulation: Simulation) -> str:
    """Tell the worth of speech, in the words of ITU-T G.109."""
    rating = _mean(simulation, "r_factor")
    if rating is None:
        return ""
    words = next(words for least, words in _SATISFACTION if rating >= least)
    return f"; calls have an R factor of {rating:.0f} ({words})"


def _airtime(simulation: Simulation) -> str:
    """Tell the parts of the airtime, the largest first."""
    parts = sorted(simulation.airtime.items(), key=lambda part: -part[1])
    told = [f"{_PARTS[name]} {percent(share)}" for name, share in parts if name in _PARTS]
    return f"The airtime goes to {', '.join(told)}."


def problems(result: Simulated) -> Iterator[tuple[str, str]]:
    """Each thing that is wrong, the worst first, with a remedy to try ("": none is known)."""
    scenario, simulation = result.scenario, result.simulation
    for silence in silences(result):
        yield str(silence), silence.hint
    yield from _starved(result)
    yield from _overload(scenario, simulation)
    yield from _one_direction(scenario, simulation)
    yield from _slow(simulation)
    yield from _queue(scenario, simulation)
    yield from _contention(scenario, simulation)


def _starved(result: Simulated) -> Iterator[tuple[str, str]]:
    flows = result.simulation.flows
    starved = [flow for flow in flows if flow.starved and flow.goodput_bps > 0]
    uploads = any(flow.direction == "upload" for flow in starved)
    hint = (
        "priority for TCP ACKs, --set mac.classify.tcp_ack=AC_VO (EDCA)"
        if uploads
        else "--set ap.queue.discipline=per-flow"
    )
    if starved:
        yield (
            f"{len(starved)} of {len(flows)} flows starve, with less than a tenth of a fair share",
            hint,
        )


def _overload(scenario: ResolvedScenario, simulation: Simulation) -> Iterator[tuple[str, str]]:
    """Datagrams at a rate of which too few arrive."""
    counts = {group.name: group.count for group in scenario.stations}
    for flow in scenario.flows:
        app = flow.application
        if app.kind != "udp" or app.rate_bps is None:
            continue
        offered = counts[flow.stations] * app.rate_bps * (1 - 28 / app.packet_bytes)
        part = simulation.groups[flow.stations].get(flow.direction)
        got = None if part is None else part["goodput_bps"].mean
        if (
            got is not None
            and got < LIMITS.udp_delivered * offered
            and not _shared(scenario, flow.stations)
        ):
            yield (
                (
                    f"offered UDP exceeds the channel: {flow.direction}s of {flow.stations} get "
                    f"{quantity(got, 'b/s', 3)} of {quantity(offered, 'b/s', 3)}"
                ),
                "less of it, or a faster rate",
            )


def _shared(scenario: ResolvedScenario, group: str) -> bool:
    """Tell whether a group has flows of several kinds, whose goodputs are not told apart."""
    return sum(flow.stations == group for flow in scenario.flows) > 1


def _greedy(scenario: ResolvedScenario) -> set[str]:
    """The entries of flows that take all they can get; others get what they ask for."""
    return {
        flow.name
        for flow in scenario.flows
        if (flow.application.kind == "bulk" and flow.application.size is None)
        or (flow.application.kind == "udp" and flow.application.rate_bps is None)
    }


def _one_direction(scenario: ResolvedScenario, simulation: Simulation) -> Iterator[tuple[str, str]]:
    """One direction has nearly all, and both want more."""
    greedy = _greedy(scenario)
    total = {"download": 0.0, "upload": 0.0}
    flows = dict.fromkeys(total, 0)
    for flow in simulation.flows:
        if flow.name.rpartition("/")[0] in greedy:
            total[flow.direction] += flow.goodput_bps
            flows[flow.direction] += 1
    everything = sum(total.values())
    if not everything or not all(flows.values()):
        return
    for direction, share in total.items():
        fair = flows[direction] / sum(flows.values())
        if share / everything > max(LIMITS.direction_share, (1.0 + fair) / 2):
            yield (
                f"{direction}s take {percent(share / everything)} of the goodput of endless flows",
                "EDCA, which lets the access point go first: --set mac.edca.ap.AC_BE.cw_min=7",
            )


def _queue(scenario: ResolvedScenario, simulation: Simulation) -> Iterator[tuple[str, str]]:
    """A queue of the access point that holds too much, or loses too much."""
    waits = _mean(simulation, "ap_queue_delay_s")
    packets = _mean(simulation, "ap_queue_packets")
    limit = scenario.ap.queue.limit
    lost = _mean(simulation, "ap_queue_drop_probability")
    wrong = []
    if waits is not None and waits > LIMITS.queue_delay_s:
        wrong.append(f"holds {quantity(waits, 's', 2)} of packets")
    elif packets is not None and limit is not None and packets > LIMITS.queue_fill * limit:
        wrong.append(f"is full, with {packets:.0f} of {limit} packets")
    if lost is not None and lost > LIMITS.queue_loss:
        wrong.append(f"loses {percent(lost)} of its packets")
    if wrong:
        yield (
            f"the access point's queue {' and '.join(wrong)}",
            "a smaller receive window, or --set ap.queue.discipline=per-flow",
        )


def _slow(simulation: Simulation) -> Iterator[tuple[str, str]]:
    """A group that takes far more airtime than it gets goodput."""
    shares = {}
    for name, group in simulation.groups.items():
        took = group["all"].get("airtime_share")
        got = group["all"]["goodput_bps"].mean
        if took is not None and took.mean and got is not None:
            shares[name] = took.mean, got
    air, carried = (sum(one[at] for one in shares.values()) for at in (0, 1))
    if len(shares) < 2 or not air or not carried:
        return
    for name, (share, goodput) in shares.items():
        if (
            share > LIMITS.slow_airtime_share * air
            and share / air > LIMITS.slow_airtime_ratio * goodput / carried
        ):
            yield (
                f"{name} take {percent(share)} of the airtime for {percent(goodput / carried)} of "
                "the goodput",
                f"a higher rate for {name}, or an access point near them",
            )


def _contention(scenario: ResolvedScenario, simulation: Simulation) -> Iterator[tuple[str, str]]:
    collisions = _mean(simulation, "collision_probability")
    if collisions is not None and collisions > LIMITS.collision_probability:
        yield (
            f"{percent(collisions)} of the attempts collide",
            "fewer TCP ACKs (delayed ACK), or a larger CWmin of the stations",
        )
    jain = _mean(simulation, "jain_index")
    endless = _greedy(scenario) == {flow.name for flow in scenario.flows}
    if jain is not None and jain < LIMITS.jain_index and endless and len(simulation.flows) > 1:
        yield f"shares are uneven: Jain index {quantity(jain, '', 2)}", ""


def _mean(simulation: Simulation, name: str) -> float | None:
    interval = simulation.metrics.get(name)
    return None if interval is None or name not in METRICS else interval.mean

"""Flows, stations and groups averaged over replications, with intervals.

Each field of a record is declared once, with its meaning and its rule for averaging. The core's
results are described in docs/reference/resolved-form.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, TypeVar

from airtcp.stats import Interval, student_interval

#: The core's result for one replication.
Answer = Mapping[str, Any]
Rows = Sequence[Mapping[str, Any]]
Rule = Callable[[Rows, str], Any]

#: For each group, the parts "all", "download", "upload" (if it has such flows) and "airtime"; for
#: each part its metrics, or the airtimes.
Groups = dict[str, dict[str, dict[str, Interval]]]

_Record = TypeVar("_Record")

#: Sums with a smaller relative difference count as equal.
_ROUNDING: Final = 1e-12


def mean_of(records: Rows, key: str) -> float:
    """Return the mean over records that all have a value."""
    return math.fsum(record[key] for record in records) / len(records)


def _first(records: Rows, key: str) -> Any:
    return records[0][key]


def _mean_where_known(records: Rows, key: str) -> float | None:
    known = [record for record in records if record[key] is not None]
    return mean_of(known, key) if known else None


def _mean_over_transfers(records: Rows, key: str) -> float | None:
    transfers = sum(record["transfers"] for record in records)
    total = math.fsum(
        record[key] * record["transfers"] for record in records if record[key] is not None
    )
    return total / transfers if transfers else None


def _majority(records: Rows, key: str) -> bool:
    return 2 * sum(bool(record[key]) for record in records) >= len(records)


def _is(meaning: str, rule: Rule = mean_of) -> Any:
    """Declare a field with its meaning, and the rule that combines the values of replications."""
    return field(metadata={"meaning": meaning, "rule": rule})


@dataclass(frozen=True, slots=True)
class Flow:
    """One flow, averaged over replications."""

    name: str = _is("`flow/index`", _first)
    station: str = _is("`group/index`", _first)
    direction: str = _is('`"download"` or `"upload"`', _first)
    goodput_bps: float = _is("as the metric, for this flow; all add up to it")
    transfers: float = _is("transfers that ended, per replication")
    mean_transfer_time_s: float | None = _is(
        "over all its transfers, each with the same weight; `null` without one",
        _mean_over_transfers,
    )
    retransmissions: float = _is("TCP segments sent again, per replication")
    timeouts: float = _is("expiries of its retransmission timer, per replication")
    starved: bool = _is(
        "an endless flow with less than a tenth of a fair share among endless flows, in half of "
        "the replications or more",
        _majority,
    )


@dataclass(frozen=True, slots=True)
class Station:
    """One node, averaged over replications. The access point is the node `ap`.

    With several cells each access point is a node with the name of its cell.
    """

    name: str = _is("`ap`, or that of a cell, or `group/index`", _first)
    goodput_bps: float = _is("to and from this station; for an access point that of its cell")
    attempts: float = _is(
        "its transmissions, per replication; beacons that do not collide are attempts and no "
        "successes"
    )
    successes: float = _is("those that led to a MAC ACK")
    collisions: float = _is("those that collided")
    hidden: float = _is(
        "those of them that a frame of its own cell met, but for such as began at once; none where "
        "all hear each other"
    )
    mac_drops: float = _is("packets given up at the retry limit, per replication")
    queue_drops: float = _is("packets lost at its full queue, per replication")
    mean_cw: float | None = _is(
        "mean of CW over the backoffs drawn; `null` without any", _mean_where_known
    )


_RULES: Final[Mapping[type, list[tuple[str, Rule]]]] = {
    kind: [(one.name, one.metadata["rule"]) for one in fields(kind)] for kind in (Flow, Station)
}


def combined(kind: type[_Record], answers: Sequence[Answer], key: str) -> list[_Record]:
    """Return one record per entry under `key`, which all replications list in the same order."""
    rules = _RULES[kind]
    return [
        kind(*(rule(records, name) for name, rule in rules))
        for records in zip(*(answer[key] for answer in answers), strict=True)
    ]


def groups(answers: Sequence[Answer], confidence: float) -> Groups:
    """Return the intervals of each station group, in the order of the scenario."""
    return {
        records[0]["name"]: dict(_parts(records, confidence))
        for records in zip(*(answer["groups"] for answer in answers), strict=True)
    }


def categories(answers: Sequence[Answer], confidence: float) -> dict[str, dict[str, Interval]]:
    """Return the intervals of each access category that has a queue; empty with the DCF."""
    return {
        records[0]["name"]: _intervals([record["metrics"] for record in records], confidence)
        for records in zip(*(answer["categories"] for answer in answers), strict=True)
    }


def _parts(records: Rows, confidence: float) -> Iterator[tuple[str, dict[str, Interval]]]:
    for part in ("all", "download", "upload", "airtime"):
        if records[0][part] is not None:
            yield part, _intervals([record[part] for record in records], confidence)


def _intervals(samples: Rows, confidence: float) -> dict[str, Interval]:
    return {
        name: student_interval([sample[name] for sample in samples], confidence)
        for name in samples[0]
    }


def brought_to(told: Groups, flows: Sequence[Flow], random: Container[str]) -> list[Flow]:
    """Scale the goodputs of flows so that they add up to the estimate for group and direction.

    An estimate corrects the mean of the counts for the random draws. So only flows with random
    traffic share the difference, in proportion to their goodputs. If that is impossible, all flows
    share it. If nothing was delivered, nothing changes. `random` has the names of random traffic.
    """
    scopes: dict[tuple[str, str], list[int]] = {}
    for place, flow in enumerate(flows):
        scopes.setdefault((_before(flow.station), flow.direction), []).append(place)
    found = list(flows)
    for (group, direction), places in scopes.items():
        wanted = told[group][direction]["goodput_bps"].mean
        plain = [flows[place].goodput_bps for place in places]
        if wanted is None or math.isclose(wanted, math.fsum(plain), rel_tol=_ROUNDING):
            continue
        drawn = [_before(flows[place].name) in random for place in places]
        for place, goodput_bps in zip(places, _moved(plain, drawn, wanted), strict=True):
            found[place] = replace(flows[place], goodput_bps=goodput_bps)
    return found


def of_flows(
    stations: Sequence[Station], flows: Sequence[Flow], through: Mapping[str, str]
) -> list[Station]:
    """Set the goodput of each station to that of its flows, and of an access point to all of them.

    `through` maps groups of stations to their access points.
    """
    own: dict[str, list[float]] = {}
    for flow in flows:
        group, _, _ = flow.station.rpartition("/")
        own.setdefault(through[group], []).append(flow.goodput_bps)
        own.setdefault(flow.station, []).append(flow.goodput_bps)
    return [replace(one, goodput_bps=math.fsum(own.get(one.name, ()))) for one in stations]


def _moved(values: Sequence[float], may_move: Sequence[bool], wanted: float) -> list[float]:
    """Scale values to the sum `wanted`: only those that may move or, if that fails, all."""
    if not any(values):
        return list(values)
    kept = math.fsum(value for value, moves in zip(values, may_move, strict=True) if not moves)
    movable = math.fsum(values) - kept
    if not movable > 0.0 or wanted < kept:
        return [value * wanted / math.fsum(values) for value in values]
    factor = (wanted - kept) / movable
    return [
        value * factor if moves else value for value, moves in zip(values, may_move, strict=True)
    ]


def _before(name: str) -> str:
    """Return the group or traffic name before the index in a name."""
    return name.rpartition("/")[0]

"""Draw measurements of random networks that differ from their scenario in one property.

If possible, a change is planted by other means than those that airtcp tries: a neighbor is a
separate cell. It is visible: some measured value changes by a factor of 1.4, beyond both intervals;
other changes are drawn again. The seeds of the table are in `SEEDS`, and were fixed before any
network was drawn from them.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import airtcp
from airtcp.stats import Interval, student_interval

Written = dict[str, Any]

#: Seeds of measurements with one change, and of those without a change.
SEEDS = range(1201, 1221)
UNCHANGED_SEEDS = range(1301, 1306)
#: Seed of the simulation that stands for the network; the scenario's own is 1.
MEASURED = 9001
#: Measured runs, and as many simulated runs to compare with.
RUN = {"warmup": "2 s", "duration": "5 s", "replications": 10, "seed": 1}
#: Minimum factor by which a planted change alters some value.
SHOWS = 1.4
#: Relevant metrics, and the size below which changes do not matter.
_LEAST = {"goodput_bps": 1e5, "rtt_s": 0.002, "packet_delay_p95_s": 0.005}


@dataclass(frozen=True)
class Planted:
    """A scenario, a measurement of its network, and the property that differs."""

    kind: str
    seed: int
    told: str
    scenario: Written
    measured: str


Change = Callable[[Written, Random], str]


def _network(draw: Random) -> Written:
    """Draw a network: data in both directions, a call, an access point's queue, a wired link."""
    standard = draw.choice(["802.11ax", "802.11ac", "802.11n", "802.11g"])
    phy: Written = {"standard": standard}
    if standard != "802.11g":
        width = {"802.11n": 20, "802.11ac": 40, "802.11ax": 40}[standard]
        phy |= {"channel_width": f"{width} MHz", "mcs": draw.randint(5, 7), "spatial_streams": 1}
    queue: Written = {"discipline": "fq-codel"}
    if draw.random() < 0.5:
        queue = {"discipline": "fifo", "limit": draw.choice([100, 200])}
    scenario: Written = {
        "title": "A network that was measured",
        "phy": phy,
        "ap": {"queue": queue},
        "links": {"line": {"rate": "500 Mb/s", "delay": f"{draw.randint(4, 15)} ms"}},
        "stations": [
            {"name": "laptop", "count": draw.randint(1, 3)},
            {"name": "camera", "count": 1},
            {"name": "phone", "count": 1},
        ],
        "flows": [
            _flow("laptop", "download", {"kind": "bulk"}),
            _flow("camera", "upload", {"kind": "bulk"}),
            _flow("phone", "both", {"kind": "call", "profile": "call"}),
        ],
        "run": dict(RUN),
    }
    if standard != "802.11g":
        scenario["mac"] = {"classify": {"udp": "AC_VO"}}
    return scenario


def _flow(group: str, direction: str, application: Written) -> Written:
    flow = {
        "name": f"{group}-flow",
        "stations": group,
        "direction": direction,
        "application": application,
        "path": ["line"],
    }
    return flow if group == "phone" else flow | {"tcp": {"preset": "linux"}}


def rate(data: Written, draw: Random) -> str:
    """Lower the rate of a group, or of all."""
    groups = draw.choice([["laptop"], ["camera"], ["laptop", "camera", "phone"]])
    for station in data["stations"]:
        if station["name"] in groups:
            if data["phy"]["standard"] == "802.11g":
                station["data_rate"] = draw.choice(["9 Mb/s", "12 Mb/s", "18 Mb/s"])
            else:
                station["mcs"] = draw.randint(0, 2)
    return f"{', '.join(groups)} at a lower rate"


def neighbour(data: Written, draw: Random) -> str:
    """Add a cell on the same channel in which one to three stations download over UDP."""
    full_bps = airtcp.load(data).phy.data_rate.bps
    data["cells"] = {"own": {}, "next": {}}
    data["air"] = {"heard": [["own", "next"]]}
    for station in data["stations"]:
        station["cell"] = "own"
    count, part = draw.randint(1, 3), draw.uniform(0.3, 0.8)
    rate_bps = f"{part * full_bps / count / 1e6:.2f} Mb/s"
    data["stations"].append({"name": "stranger", "count": count, "cell": "next"})
    application = {"kind": "udp", "packet": "1400 B", "rate": rate_bps}
    data["flows"].append(
        {"name": "alien", "stations": "stranger", "direction": "download"}
        | {"application": application}
    )
    return f"{count} stations of another cell, {rate_bps} each"


def frame_losses(data: Written, draw: Random) -> str:
    """Add frame errors to a group, or to all."""
    groups = draw.choice([["laptop"], ["camera"], ["laptop", "camera", "phone"]])
    lost = f"{draw.randint(12, 45)} %"
    for station in data["stations"]:
        if station["name"] in groups:
            station["frame_errors"] = lost
    return f"{lost} of the frames of {', '.join(groups)}"


def wire_losses(data: Written, draw: Random) -> str:
    """Add packet loss to the wired link."""
    data["links"]["line"]["loss"] = f"{draw.uniform(0.2, 3.0):.2f} %"
    return f"{data['links']['line']['loss']} of the packets"


def slow_wire(data: Written, draw: Random) -> str:
    """Lower the rate of the wired link, with a short queue."""
    line = data["links"]["line"]
    line |= {"rate": _part_of_air(data, draw), "queue": {"discipline": "fq-codel"}}
    return f"{line['rate']}"


def bloated_wire(data: Written, draw: Random) -> str:
    """Lower the rate of the wired link, with a long queue."""
    line = data["links"]["line"]
    limit = draw.randint(400, 3000)
    line |= {"rate": _part_of_air(data, draw), "queue": {"discipline": "fifo", "limit": limit}}
    return f"{line['rate']}, {limit} packets"


def _part_of_air(data: Written, draw: Random) -> str:
    full_bps = airtcp.load(data).phy.data_rate.bps
    return f"{full_bps * draw.uniform(0.06, 0.2) / 1e6:.1f} Mb/s"


def queue(data: Written, draw: Random) -> str:
    """Replace the access point's queue with a long or very short FIFO."""
    limit = draw.choice([draw.randint(3, 12), draw.randint(800, 3000)])
    data["ap"]["queue"] = {"discipline": "fifo", "limit": limit}
    return f"first in, first out, {limit} packets"


KINDS: dict[str, Change] = {
    "rate": rate,
    "neighbour": neighbour,
    "frame-losses": frame_losses,
    "wire-losses": wire_losses,
    "slow-wire": slow_wire,
    "bloated-wire": bloated_wire,
    "queue": queue,
}


#: Kinds of later seeds, separate so that `KINDS` keeps the order in which its seeds were fixed.
LATER_SEEDS = range(1401, 1405)


def window(data: Written, draw: Random) -> str:
    """Limit the receive window of all TCP flows to that of a small or old device."""
    size = draw.choice([12, 24, 48, 64])
    for flow in data["flows"]:
        if "tcp" in flow:
            flow["tcp"] = {"preset": "linux", "receive_window": f"{size} KiB"}
    return f"windows of {size} KiB"


def planted_later(seeds: Iterable[int]) -> Iterator[Planted]:
    """Draw a measurement with small windows for each seed."""
    yield from _planted((seed, "window", window) for seed in seeds)


def planted(seeds: Iterable[int]) -> Iterator[Planted]:
    """Draw a measurement with one change for each seed, cycling through the kinds."""
    names = list(KINDS)
    kinds = ((seed, names[seed % len(names)]) for seed in seeds)
    yield from _planted((seed, kind, KINDS[kind]) for seed, kind in kinds)


def _planted(changes: Iterable[tuple[int, str, Change]]) -> Iterator[Planted]:
    for seed, kind, change in changes:
        draw = Random(1_000 * seed)
        for _ in range(100):
            scenario = _network(draw)
            network = copy.deepcopy(scenario)
            told = change(network, draw)
            values = measure(network)
            if _shows(measure(scenario), values):
                yield Planted(kind, seed, told, scenario, as_table(values))
                break
        else:
            raise ValueError(f"no {kind} of seed {seed} shows")


def unchanged(seeds: Iterable[int]) -> Iterator[Planted]:
    """Draw a measurement of a network without a change for each seed."""
    for seed in seeds:
        scenario = _network(Random(1_000 * seed))
        yield Planted("", seed, "nothing", scenario, as_table(measure(scenario)))


def measure(network: Written, *, seed: int = MEASURED) -> dict[tuple[str, str], Interval]:
    """Measure a network: iperf3 in both directions, a call, and failed frames of stations."""
    simulation = airtcp.simulate(airtcp.load(network), seed=seed).simulation
    transfer = ("goodput_bps", "rtt_s", "rtt_p95_s", "tcp_retransmissions")
    call = ("packet_delay_p95_s", "packet_loss")
    wanted = [
        *(("laptop/download", name) for name in transfer),
        *(("camera/upload", name) for name in transfer),
        *((f"phone/{part}", name) for part in ("download", "upload") for name in call),
        ("laptop", "failed_ppdu_ratio_stations"),
        ("camera", "failed_ppdu_ratio_stations"),
    ]
    found = {}
    for of, name in wanted:
        interval = student_interval([_value(run.answer, of, name) for run in simulation.runs])
        if interval.mean is not None:
            found[of, name] = interval
    return found


def _value(answer: Any, of: str, name: str) -> float | None:
    group, _, part = of.partition("/")
    found = next(one for one in answer["groups"] if one["name"] == group)
    told: float | None = found[part or "all"][name]
    return told


def as_table(values: dict[tuple[str, str], Interval]) -> str:
    """Write values as a CSV file for `airtcp run --measured`."""
    lines = ["metric,value,low,high,runs,of"]
    for (of, name), one in values.items():
        low, high = ("" if end is None else repr(end) for end in (one.low, one.high))
        lines.append(f"{name},{one.mean!r},{low},{high},{one.n},{of}")
    return "\n".join(lines) + "\n"


def _shows(before: dict[tuple[str, str], Interval], after: dict[tuple[str, str], Interval]) -> bool:
    """Return True if some relevant value changes by the factor `SHOWS`, beyond both intervals."""
    for (of, name), one in before.items():
        two = after.get((of, name))
        least = _LEAST.get(name)
        if least is None or two is None or one.mean is None or two.mean is None:
            continue
        apart = abs(math.log((one.mean + least) / (two.mean + least)))
        meet = (one.low or 0.0) <= (two.high or 0.0) and (two.low or 0.0) <= (one.high or 0.0)
        if apart > math.log(SHOWS) and not meet:
            return True
    return False

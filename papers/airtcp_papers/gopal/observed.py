"""Simulate a point of paper G's figures: uploads of files with some ACKs omitted.

It provides goodputs, collisions and losses; `skipping` selects the points of each figure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Final

from airtcp.results import Simulation
from airtcp.stats import Interval, student_interval

from airtcp_papers.common.bench import Bench, Changes
from airtcp_papers.common.measure import Answer, over_runs

#: The most transmissions of a frame: 7 is dot11ShortRetryLimit, 1 is no retry.
_LIMITS: Final = {True: 7, False: 1}
_MBPS: Final = 1e6
#: By file size in MB: short uploads have few losses each. Quick runs have as many, to include rare
#: stalls.
_REPLICATIONS: Final = {1: 160, 10: 80}
#: For one long upload with MAC retries. Some stall, so the gain of skipping has an error of a tenth
#: with 400 runs, and of a thirtieth, which distinguishes it from zero, with this many.
TO_TELL_FROM_NOTHING: Final = 1600


@dataclass(frozen=True)
class Uploads:
    """Files of `megabytes` MB uploaded by `flows` stations, with `skip` ACKs omitted."""

    simulation: Simulation
    megabytes: int

    def goodput(self, answer: Answer) -> float:
        """Return the mean goodput over flows, Mb/s: file size over time, or the amount in 1000 s.

        The second applies to uploads that do not end, as in section III of the paper.
        """
        rates = []
        for flow in answer["flows"]:
            time_s = flow["mean_transfer_time_s"]
            rates.append(flow["goodput_bps"] if time_s is None else 8e6 * self.megabytes / time_s)
        return fmean(rates) / _MBPS

    def goodputs(self) -> Interval:
        """Return the mean of `goodput` over runs."""
        return over_runs(self.simulation, self.goodput)

    def together(self, answer: Answer) -> float:
        """Return the bits of all flows over the time of the last to end, Mb/s, or over 1000 s."""
        flows = answer["flows"]
        times_s = [flow["mean_transfer_time_s"] for flow in flows]
        if None in times_s:
            return float(sum(flow["goodput_bps"] for flow in flows)) / _MBPS
        return 8.0 * self.megabytes * len(flows) / float(max(times_s))

    def kinds(self) -> dict[str, list[float]]:
        """Return the fractions of collisions by participants, run by run.

        `simultaneous`: the access point and the station that its frame is for; `crossed`: the
        access point and other stations; `stations`: only stations.
        """
        shares: dict[str, list[float]] = {"simultaneous": [], "crossed": [], "stations": []}
        for one in self.simulation.runs:
            counts = one.answer["counts"]
            of_ap, both = one.answer["stations"][0]["collisions"], counts["simultaneous_sends"]
            collisions = counts["collisions"]
            if not collisions:
                continue
            shares["simultaneous"].append(both / collisions)
            shares["crossed"].append((of_ap - both) / collisions)
            shares["stations"].append((collisions - of_ap) / collisions)
        return shares

    def crossed_less_others(self) -> Interval:
        """Return the fraction of crossed collisions minus that of the most frequent other kind."""
        kinds = self.kinds()
        others = (fmean(kinds["simultaneous"]), fmean(kinds["stations"]))
        most = kinds["simultaneous" if others[0] > others[1] else "stations"]
        return student_interval(
            [mine - other for mine, other in zip(kinds["crossed"], most, strict=True)],
            self.simulation.confidence,
        )

    def finished(self) -> Interval:
        """Return the fraction of uploads that ended."""
        return over_runs(
            self.simulation, lambda answer: fmean(flow["transfers"] for flow in answer["flows"])
        )

    def timeouts(self) -> Interval:
        """Return the retransmission timeouts per run."""
        return self.simulation.metrics["tcp_timeouts"]


def queue_drops(answer: Answer) -> float:
    """Return packets dropped at full queues of stations, access point and wired link."""
    places = ("station_queue", "ap_queue", "wired")
    return float(sum(answer["counts"][f"{place}_drops"] for place in places))


def lost_in_air(answer: Answer) -> float | None:
    """Return the fraction of lost packets that the MAC gave up."""
    given_up = answer["counts"]["mac_drops"]
    lost = given_up + queue_drops(answer)
    return float(given_up / lost) if lost else None


def ap_attempts(answer: Answer) -> float:
    """Return the access point's attempts per delivered bit."""
    bits = sum(flow["goodput_bps"] for flow in answer["flows"])
    return float(answer["stations"][0]["attempts"] / bits)


def ap_over_station(answer: Answer) -> float:
    """Return the access point's attempts over those of a station, averaged over stations."""
    ap, *stations = answer["stations"]
    return float(ap["attempts"] / fmean(station["attempts"] for station in stations))


def observe(
    bench: Bench,
    skip: int,
    *,
    megabytes: int = 10,
    flows: int = 1,
    retries: bool = False,
    delay_ms: int = 2,
    varied: Changes | None = None,
) -> Uploads:
    """Simulate the uploads of one point of the figures; `varied` has further keys."""
    simulation = bench.simulate(
        "uploads",
        {
            "run.replications": _REPLICATIONS[megabytes],
            "mac.short_retry_limit": _LIMITS[retries],
            "stations.node.count": flows,
            "flows.node.application.size": f"{megabytes} MB",
            "flows.node.path": [{"rate": "100 Mb/s", "delay": f"{delay_ms} ms", "queue": 50}],
            "flows.node.tcp.ack_skip": {"skip": skip, "after_segment": 50},
            **(varied or {}),
        },
        quick={},
    )
    return Uploads(simulation, megabytes)


def gain(more: Uploads, less: Uploads, number: str | Callable[[Answer], float] = "") -> Interval:
    """Return the relative growth of a number: the ratio of the means over runs minus one.

    `number` is a count of a replication, or computed from its record; by default it is the goodput.
    The runs of both are independent, as many as `less` has; each deviation is linearized.
    """
    if isinstance(number, str):
        number = partial(_count, number) if number else less.goodput
    runs = range(len(less.simulation.runs))
    above, below = (
        [number(one.simulation.runs[run].answer) for run in runs] for one in (more, less)
    )
    base = fmean(below)
    ratio = fmean(above) / base
    return student_interval(
        [ratio - 1.0 + (a - ratio * b) / base for a, b in zip(above, below, strict=True)],
        less.simulation.confidence,
    )


def _count(name: str, answer: Answer) -> float:
    return float(answer["counts"][name])

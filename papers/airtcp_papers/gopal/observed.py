"""Simulate a point of paper G's figures: uploads of files with some ACKs omitted.

It provides goodputs, collisions and losses; `skipping` selects the points of each figure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from airtcp.results import Simulation
from airtcp.stats import Interval, student_interval

from airtcp_papers.common.bench import Bench, Changes
from airtcp_papers.common.measure import over_runs

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

    def goodput(self, run: int) -> float:
        """Return the mean goodput over flows, Mb/s: file size over time, or the amount in 1000 s.

        The second applies to uploads that do not end, as in section III of the paper.
        """
        rates = []
        for flow in self.simulation.runs[run].answer["flows"]:
            time_s = flow["mean_transfer_time_s"]
            rates.append(flow["goodput_bps"] if time_s is None else 8e6 * self.megabytes / time_s)
        return fmean(rates) / _MBPS

    def goodputs(self) -> Interval:
        """Return the mean of `goodput` over runs."""
        return over_runs(self.simulation, self.goodput)

    def together(self, run: int) -> float:
        """Return the bits of all flows over the time of the last to end, Mb/s, or over 1000 s."""
        flows = self.simulation.runs[run].answer["flows"]
        times_s = [flow["mean_transfer_time_s"] for flow in flows]
        if None in times_s:
            return float(sum(flow["goodput_bps"] for flow in flows)) / _MBPS
        return 8.0 * self.megabytes * len(flows) / float(max(times_s))

    def collisions(self, run: int) -> float:
        """Return the collisions in a run."""
        return float(self.simulation.runs[run].answer["counts"]["collisions"])

    def queue_drops(self, run: int) -> float:
        """Return packets dropped at full queues of stations, access point and wired link."""
        counts = self.simulation.runs[run].answer["counts"]
        return float(
            sum(counts[f"{place}_drops"] for place in ("station_queue", "ap_queue", "wired"))
        )

    def lost_in_air(self) -> Interval:
        """Return the fraction of lost packets that the MAC gave up."""

        def share(run: int) -> float | None:
            given_up = self.simulation.runs[run].answer["counts"]["mac_drops"]
            lost = given_up + self.queue_drops(run)
            return float(given_up / lost) if lost else None

        return over_runs(self.simulation, share)

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

    def ap_attempts(self, run: int) -> float:
        """Return the access point's attempts per delivered bit."""
        answer = self.simulation.runs[run].answer
        bits = sum(flow["goodput_bps"] for flow in answer["flows"])
        return float(answer["stations"][0]["attempts"] / bits)

    def ap_over_station(self, run: int) -> float:
        """Return the access point's attempts over those of a station, averaged over stations."""
        ap, *stations = self.simulation.runs[run].answer["stations"]
        return float(ap["attempts"] / fmean(station["attempts"] for station in stations))

    def failing_frames(self) -> Interval:
        """Return the fraction of transmitted frames that collide."""
        return self.simulation.metrics["collision_probability"]

    def finished(self) -> Interval:
        """Return the fraction of uploads that ended."""
        return over_runs(
            self.simulation,
            lambda run: fmean(
                flow["transfers"] for flow in self.simulation.runs[run].answer["flows"]
            ),
        )

    def timeouts(self) -> Interval:
        """Return the retransmission timeouts per run."""
        return self.simulation.metrics["tcp_timeouts"]


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


#: A quantity of one replication of uploads.
Number = Callable[[Uploads, int], float]


def gains(more: Uploads, less: Uploads, number: Number = Uploads.goodput) -> list[float]:
    """Return samples of the relative growth of a quantity: the ratio of the means minus one.

    The runs of both are independent; each deviation is linearized.
    """
    runs = range(len(less.simulation.runs))
    base = fmean(number(less, run) for run in runs)
    ratio = fmean(number(more, run) for run in runs) / base
    return [ratio - 1.0 + (number(more, run) - ratio * number(less, run)) / base for run in runs]


def gain(more: Uploads, less: Uploads, number: Number = Uploads.goodput) -> Interval:
    """Return the interval of `gains`."""
    return student_interval(gains(more, less, number), less.simulation.confidence)

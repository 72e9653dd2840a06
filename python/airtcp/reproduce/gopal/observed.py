"""Paper G: uploads of files with some ACKs left out, and what is counted of them.

Knows one point of the figures: how it is simulated, and its goodputs, collisions and losses. Does
not know which points a figure has (`skipping`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from airtcp.reproduce.bench import Bench, Changes
from airtcp.reproduce.measure import over_runs
from airtcp.results import Simulation
from airtcp.stats import Interval, student_interval

#: Transmissions of a frame at most: 7 is dot11ShortRetryLimit, 1 is no retry.
_LIMITS: Final = {True: 7, False: 1}
_MBPS: Final = 1e6
#: By the size of the files: short uploads have few losses each. Quick runs have as many, for rare
#: stalls would be missed without.
_REPLICATIONS: Final = {1: 160, 10: 80}
#: Of one long upload with MAC retries: some stall, so that what skipping gains is known to a tenth
#: only from 400 runs, and to a thirtieth, which tells it from nothing, from these.
TO_TELL_FROM_NOTHING: Final = 1600


@dataclass(frozen=True)
class Uploads:
    """Files of `megabytes` MB uploaded by `flows` stations, with `skip` ACKs left out."""

    simulation: Simulation
    megabytes: int

    def goodput(self, run: int) -> float:
        """Mean over flows, Mb/s: the file over its time; what arrived in 1000 s if it did not end.

        As in section III of the paper.
        """
        rates = []
        for flow in self.simulation.runs[run].answer["flows"]:
            time_s = flow["mean_transfer_time_s"]
            rates.append(flow["goodput_bps"] if time_s is None else 8e6 * self.megabytes / time_s)
        return fmean(rates) / _MBPS

    def goodputs(self) -> Interval:
        """The mean of `goodput` over runs."""
        return over_runs(self.simulation, self.goodput)

    def together(self, run: int) -> float:
        """Give the bits of all flows over the time of the last to end, Mb/s; else over 1000 s."""
        flows = self.simulation.runs[run].answer["flows"]
        times_s = [flow["mean_transfer_time_s"] for flow in flows]
        if None in times_s:
            return float(sum(flow["goodput_bps"] for flow in flows)) / _MBPS
        return 8.0 * self.megabytes * len(flows) / float(max(times_s))

    def collisions(self, run: int) -> float:
        """Collisions in a run."""
        return float(self.simulation.runs[run].answer["counts"]["collisions"])

    def queue_drops(self, run: int) -> float:
        """Packets that found a full queue, at a station, the access point or the wired link."""
        counts = self.simulation.runs[run].answer["counts"]
        return float(
            sum(counts[f"{place}_drops"] for place in ("station_queue", "ap_queue", "wired"))
        )

    def lost_in_air(self) -> Interval:
        """Of the packets that were lost, the share that the MAC gave up."""

        def share(run: int) -> float | None:
            given_up = self.simulation.runs[run].answer["counts"]["mac_drops"]
            lost = given_up + self.queue_drops(run)
            return float(given_up / lost) if lost else None

        return over_runs(self.simulation, share)

    def kinds(self) -> dict[str, list[float]]:
        """Shares of the collisions by who takes part, run by run.

        `simultaneous`: the access point and the station that its frame is for; `crossed`: the
        access point and stations that it is not for; `stations`: stations alone.
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
        """The share of crossed collisions less that of the most frequent other kind."""
        kinds = self.kinds()
        others = (fmean(kinds["simultaneous"]), fmean(kinds["stations"]))
        most = kinds["simultaneous" if others[0] > others[1] else "stations"]
        return student_interval(
            [mine - other for mine, other in zip(kinds["crossed"], most, strict=True)],
            self.simulation.confidence,
        )

    def ap_attempts(self, run: int) -> float:
        """Counts what the access point has sent, for each bit that arrived."""
        answer = self.simulation.runs[run].answer
        bits = sum(flow["goodput_bps"] for flow in answer["flows"])
        return float(answer["stations"][0]["attempts"] / bits)

    def ap_over_station(self, run: int) -> float:
        """Attempts of the access point over those of a station, on average over stations."""
        ap, *stations = self.simulation.runs[run].answer["stations"]
        return float(ap["attempts"] / fmean(station["attempts"] for station in stations))

    def failing_frames(self) -> Interval:
        """Frames that collide, of all that are sent."""
        return self.simulation.metrics["collision_probability"]

    def finished(self) -> Interval:
        """The share of the uploads that came to an end."""
        return over_runs(
            self.simulation,
            lambda run: fmean(
                flow["transfers"] for flow in self.simulation.runs[run].answer["flows"]
            ),
        )

    def timeouts(self) -> Interval:
        """Expiries of TCP's timer in a run."""
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
    """The uploads of one point of the figures; `varied` are further keys."""
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


#: A number of one replication of some uploads.
Number = Callable[[Uploads, int], float]


def gains(more: Uploads, less: Uploads, number: Number = Uploads.goodput) -> list[float]:
    """Give the relative growth of a number: samples of the ratio of the means less one.

    Runs of both are independent; the deviation of each is linearised.
    """
    runs = range(len(less.simulation.runs))
    base = fmean(number(less, run) for run in runs)
    ratio = fmean(number(more, run) for run in runs) / base
    return [ratio - 1.0 + (number(more, run) - ratio * number(less, run)) / base for run in runs]


def gain(more: Uploads, less: Uploads, number: Number = Uploads.goodput) -> Interval:
    """The interval of `gains`."""
    return student_interval(gains(more, less, number), less.simulation.confidence)

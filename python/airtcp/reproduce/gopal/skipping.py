"""Paper G, Fig. 2 to 6 and A1 to A5: goodput of uploads against the number of skipped ACKs.

A stalled upload is one whose window has fallen below what an ACK waits for: docs/scenario-files.md
says how. In the figures its goodput is what arrived in 1000 s, as in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final

from airtcp.reproduce.bench import Bench
from airtcp.reproduce.chart import Series, chart, table_of
from airtcp.reproduce.item import Outcome, Value, item
from airtcp.reproduce.measure import mean, over_runs, words
from airtcp.results import Simulation
from airtcp.stats import Interval, student_interval

_SKIPS: Final = (0, 1, 2, 3, 4)
_DELAYS_MS: Final = (2, 5, 10, 15)
_FLOWS: Final = (1, 3)
#: Transmissions of a frame at most: 7 is dot11ShortRetryLimit, 1 is no retry.
_LIMITS: Final = {True: 7, False: 1}
_MBPS = 1e6
_X, _Y = "skipped ACKs", "goodput per flow (Mb/s)"
#: Runs are short as they are; without enough of them rare stalls are missed.
_QUICK: Final = {"run.replications": 20}


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
    min_rto: str = "1 s",
) -> Uploads:
    """The uploads of one point of the figures."""
    simulation = bench.simulate(
        "uploads",
        {
            "mac.short_retry_limit": _LIMITS[retries],
            "stations.node.count": flows,
            "flows.node.application.size": f"{megabytes} MB",
            "flows.node.path": [{"rate": "100 Mb/s", "delay": f"{delay_ms} ms", "queue": 50}],
            "flows.node.tcp.ack_skip": {"skip": skip, "after_segment": 50},
            "flows.node.tcp.min_rto": min_rto,
        },
        quick=_QUICK,
    )
    return Uploads(simulation, megabytes)


def gain(more: Uploads, less: Uploads) -> Interval:
    """How much more goodput, relative; runs of both are independent."""
    ratio = mean(more.goodputs()) / mean(less.goodputs())
    base = mean(less.goodputs())
    pairs = [
        ratio + (more.goodput(run) - ratio * less.goodput(run)) / base
        for run in range(len(less.simulation.runs))
    ]
    return student_interval([one - 1.0 for one in pairs], less.simulation.confidence)


def _against_flows(bench: Bench, *, megabytes: int, retries: bool) -> Outcome:
    """Fig. 3 to 6: one flow and three, a wired delay of 2 ms."""
    series: list[Series] = []
    values: dict[str, Value] = {}
    parts: list[str] = []
    for number, flows in enumerate(_FLOWS):
        uploads = [
            observe(bench, skip, megabytes=megabytes, flows=flows, retries=retries)
            for skip in _SKIPS
        ]
        goodputs: list[Value] = [one.goodputs() for one in uploads]
        label = "one flow" if flows == 1 else f"{flows} flows"
        series.append(Series(label, _SKIPS, goodputs, "simulation", number))
        gained, best = gain(uploads[1], uploads[0]), max(map(mean, goodputs))
        finished = [mean(one.finished()) for one in uploads]
        values |= {
            f"none_{flows}": goodputs[0],
            f"gain_{flows}": gained,
            f"best_gain_{flows}": best / mean(goodputs[0]) - 1.0,
            f"finished_two_{flows}": uploads[2].finished(),
            f"finished_most_{flows}": min(finished[2:]),
            f"timeouts_{flows}": uploads[0].timeouts(),
        }
        parts.append(
            f"With {label} {words(goodputs[0])} Mb/s without skipping; skipping one ACK changes "
            f"that by {100 * mean(gained):+.0f} %; of the uploads that skip 0 to 4 ACKs "
            + ", ".join(f"{100 * share:.0f}" for share in finished)
            + " % end within 1000 s."
        )
    return Outcome(
        data=table_of(series, x=_X, y=_Y),
        found=" ".join(parts),
        values=values,
        figure=chart(series, x=_X, y=_Y, from_zero=True, whole_x=True),
    )


def _against_delays(bench: Bench, *, megabytes: int, flows: int, retries: bool) -> Outcome:
    """Fig. 2 and A1 to A5: several delays of the wired link."""
    series, spreads, gains = [], [], []
    for number, delay_ms in enumerate(_DELAYS_MS):
        uploads = [
            observe(
                bench, skip, megabytes=megabytes, flows=flows, retries=retries, delay_ms=delay_ms
            )
            for skip in _SKIPS
        ]
        goodputs: list[Value] = [one.goodputs() for one in uploads]
        series.append(Series(f"{delay_ms} ms", _SKIPS, goodputs, "simulation", number))
        spreads.append(mean(goodputs[0]))
        gains.append(mean(gain(uploads[1], uploads[0])))
    return Outcome(
        data=table_of(series, x=_X, y=_Y),
        found=f"Without skipping goodput is {min(spreads):.2f} to {max(spreads):.2f} Mb/s over the "
        f"delays; skipping one ACK changes it by {100 * min(gains):+.0f} to "
        f"{100 * max(gains):+.0f} %.",
        values={
            "spread": max(spreads) / min(spreads) - 1.0,
            "least_gain": min(gains),
            "most_gain": max(gains),
        },
        figure=chart(series, x=_X, y=_Y, from_zero=True, whole_x=True, columns=4),
    )


@item(
    "G.fig2",
    title="One long upload without MAC retries, several link delays",
    caption="Goodput of one upload of 10 MB against the number of ACKs that are left out, without "
    "MAC retries, for delays of the wired link of 2 to 15 ms.",
    states="Results do not change significantly with the delay of the link.",
)
def fig2(bench: Bench) -> Outcome:
    drawn = _against_delays(bench, megabytes=10, flows=1, retries=False)
    delayed = {delay_ms: observe(bench, 0, delay_ms=delay_ms) for delay_ms in _DELAYS_MS}
    collisions = [mean(one.simulation.metrics["collision_probability"]) for one in delayed.values()]
    quick = [
        mean(observe(bench, 0, delay_ms=delay_ms, min_rto="200 ms").goodputs())
        for delay_ms in _DELAYS_MS
    ]
    short_rto = max(quick) / min(quick) - 1.0
    return replace(
        drawn,
        found=f"{drawn.found} On a longer path data and ACKs meet less often: the collision "
        f"probability falls from {collisions[0]:.4f} at {_DELAYS_MS[0]} ms to {collisions[-1]:.4f} "
        f"at {_DELAYS_MS[-1]} ms, and with it the timeouts, each of a second and more. With a "
        f"least timeout of 0.2 s goodput is {min(quick):.2f} to {max(quick):.2f} Mb/s.",
        values={**drawn.values, "spread_short_rto": short_rto, "collisions": collisions[0]},
    )


@item(
    "G.fig3",
    title="Short uploads without MAC retries",
    caption="Goodput of uploads of 1 MB against the number of ACKs that are left out, without MAC "
    "retries; one flow, and three at a time.",
    states="About 1 Mb/s with one flow; skipping one ACK gains up to 30 %; with more ACKs skipped "
    "many sessions fail to complete.",
)
def fig3(bench: Bench) -> Outcome:
    return _against_flows(bench, megabytes=1, retries=False)


@item(
    "G.fig4",
    title="Long uploads without MAC retries",
    caption="As Fig. 3 for files of 10 MB.",
    states="About 1 Mb/s with one flow; skipping one ACK gains up to 98 %; with more ACKs skipped "
    "many sessions fail to complete.",
)
def fig4(bench: Bench) -> Outcome:
    return _against_flows(bench, megabytes=10, retries=False)


@item(
    "G.fig5",
    title="Short uploads with MAC retries",
    caption="As Fig. 3 with up to seven transmissions of a frame.",
    states="Goodput gains consistently with ACK skipping, because slow start overflows the queue "
    "less.",
)
def fig5(bench: Bench) -> Outcome:
    return _against_flows(bench, megabytes=1, retries=True)


@item(
    "G.fig6",
    title="Long uploads with MAC retries",
    caption="As Fig. 4 with up to seven transmissions of a frame.",
    states="Goodput gains up to 30 % with ACK skipping.",
)
def fig6(bench: Bench) -> Outcome:
    return _against_flows(bench, megabytes=10, retries=True)


def _appendix(name: str, *, megabytes: int, flows: int, retries: bool) -> None:
    long = "long" if megabytes > 1 else "short"
    who = f"One {long} upload" if flows == 1 else f"Three {long} uploads"
    how = "with" if retries else "without"

    @item(
        name,
        title=f"{who} {how} MAC retries, several link delays",
        caption=f"Goodput of uploads of {megabytes} MB ({flows} at a time) against the number of "
        f"ACKs that are left out, {how} MAC retries, for several delays of the wired link.",
        states="Results do not change significantly with the delay of the link.",
    )
    def make(bench: Bench) -> Outcome:
        return _against_delays(bench, megabytes=megabytes, flows=flows, retries=retries)


_appendix("G.figA1", megabytes=10, flows=1, retries=True)
_appendix("G.figA2", megabytes=10, flows=3, retries=False)
_appendix("G.figA3", megabytes=10, flows=3, retries=True)
_appendix("G.figA4", megabytes=1, flows=1, retries=False)
_appendix("G.figA5", megabytes=1, flows=3, retries=False)

"""Reproduce paper H, (25): transfer time by file size."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from airtcp.reproduce.bench import Bench
from airtcp.reproduce.chart import Series, chart, table_of
from airtcp.reproduce.hoekstra.testbed import LAWS, STATED, gaps, service_of, service_s
from airtcp.reproduce.item import Outcome, Value, item
from airtcp.reproduce.measure import most, off, words
from airtcp.results.store import code_digest, key_of
from airtcp.run.simulate import simulate
from airtcp.stats import student_interval

#: Upper ends of the size classes in bytes; the last class has all larger files.
_ENDS: Final = (10e3, 25e3, 50e3, 100e3, 200e3, 400e3, 800e3)
_LAW: Final = "exponential"
#: Smaller files count as short: a tenth of the mean.
_SHORT: Final = 25e3


@item(
    "H.sizes",
    title="Mean transfer time against the size of the file",
    caption="Mean time of an FTP download by the size of its file, exponential sizes of 200 kB on "
    "average, one every 0.40 s, and (25) with the service time (19) of each size. A figure of our "
    "own.",
    states="The mean time of a job is linear in its size, (25).",
)
def sizes(bench: Bench) -> Outcome:
    gap_s, beta_s = gaps(_LAW)[STATED], service_s(_LAW, beacons=False)
    scenario = bench.scenario(
        "downloads",
        {
            "flows.client.application.interarrival": {
                "distribution": "exponential",
                "mean": f"{gap_s} s",
            },
            "flows.client.application.size": LAWS[_LAW],
        },
    )

    def by_class() -> Any:
        table = simulate(scenario, threads=bench.settings.threads, transfers=True)
        means = []
        for run in table.simulation.runs:
            # Transfers were requested.
            assert run.transfers is not None
            size, time = run.transfers.size_bytes, run.transfers.time_s
            place = np.searchsorted(_ENDS, size, side="right")
            means.append(
                [
                    [float(some[place == one].mean()) for some in (size, time)]
                    for one in range(len(_ENDS) + 1)
                ]
            )
        return means

    code = code_digest(__name__, follow=("run",))
    found = np.array(bench.finished.answer(key_of("sizes", code, scenario.hash()), by_class))
    kilobytes = (found[:, :, 0].mean(axis=0) / 1e3).tolist()
    alone = np.vectorize(lambda size: service_of(size, beacons=False))
    shared = alone(found[:, :, 0]) / (1.0 - beta_s / gap_s)
    over = [student_interval(ratios) for ratios in (found[:, :, 1] / shared).T]
    times: list[Value] = [student_interval(runs[:, 1]) for runs in found.swapaxes(0, 1)]
    series = [
        Series("(25)", kilobytes, shared.mean(axis=0).tolist(), "model", 0),
        Series("packets", kilobytes, times, "simulation", 1),
    ]
    short = [one for one, end in zip(over, _ENDS, strict=False) if end <= _SHORT]
    x, y = "size (kB)", "mean transfer time (s)"
    return Outcome(
        data=table_of(series, x=x, y=y),
        found="From (25) the classes of sizes are off by factors of "
        + ", ".join(words(one) for one in over)
        + ", from the shortest to the longest: each transfer begins with a dialogue and a "
        "handshake, whose packets wait in the access point's queue, in which a transfer gets no "
        "share; the long ones gain what those leave.",
        values={"off": most(map(off, over)), "short": most(short), "long_off": off(over[-1])},
        figure=chart(series, x=x, y=y, x_scale="log", y_scale="log"),
    )

"""Compare airtcp with ns-3 in an office: laptops that browse over Linux TCP, and calls.

The scenarios are `scenarios/office-ax.toml` and, for ns-3, `validation/ns3/office.cc`: 802.11ax at
80 MHz and MCS 9, 40 laptops that load pages one after another, ten two-way calls, FQ-CoDel at the
access point, and a wired link. Each simulator uses its own TCP with CUBIC, SACK and timestamps:
ns-3 recovers by proportional rate reduction, airtcp by RACK. CPU time (user and system) is that of
a longer run minus that of a shorter one, which removes set-up and warm-up; runs alternate. The
page metrics are compared too; each simulator draws its own page sizes and think times.

    sh validation/ns3/build.sh
    .venv/bin/python benches/office.py            # minutes
    .venv/bin/python benches/office.py --write    # and update the table in README.md
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

import airtcp
from airtcp.stats import Interval, student_interval
from instructions import CASES, OFFICE, PACKETS, ROOT, Checkout, seconds
from readme import processor, replace
from side_by_side import child

NS3 = ROOT / "validation" / "ns3" / "office"
#: Simulated seconds of the shorter run, after the warm-up.
SHORT_S = 1
#: Factor by which airtcp's runs are longer, and the number of replications for its
#: metrics.
LONGER, REPLICATIONS = 20, 40


def ns3(run: int, measured_s: int) -> tuple[dict[str, float], float]:
    """Run ns-3, and return its metrics and its CPU seconds."""
    said, cpu_s = child([str(NS3), f"--seconds={measured_s}", f"--run={run}"])
    answer: dict[str, float] = json.loads(said)
    return answer, cpu_s


def told(interval: Interval, scale: float, digits: int) -> str:
    """Return the mean of several runs and the half width of its confidence interval."""
    assert interval.mean is not None
    assert interval.half_width is not None
    return f"{interval.mean / scale:.{digits}f} ± {interval.half_width / scale:.{digits}f}"


def main() -> None:
    """Measure, print, and with `--write` update the README."""
    parser = argparse.ArgumentParser(description="Compare airtcp with ns-3 in an office")
    parser.add_argument("--seconds", type=int, default=10, help="simulated seconds of an ns-3 run")
    parser.add_argument("--runs", type=int, default=3, help="number of ns-3 runs")
    parser.add_argument("--write", action="store_true", help="update the table in README.md")
    args = parser.parse_args()
    if not NS3.exists():
        sys.exit("ns-3's office is not here: sh validation/ns3/build.sh")
    load = os.getloadavg()[0]
    checkout = Checkout(ROOT)
    case = next(one for one in CASES if one.scenario == OFFICE and not one.changes)
    # `instructions.py` sets the lengths: a fraction for frequent events.
    shares = 100 // seconds(100, case.counted)
    lengths = (shares * SHORT_S, shares * (SHORT_S + LONGER * args.seconds))
    theirs: list[dict[str, float]] = []
    their_s, our_s = [], []
    with tempfile.TemporaryDirectory() as work:
        resolved = checkout.resolved(case, Path(work))
        for run in range(1, args.runs + 1):
            said, long_s = ns3(run, SHORT_S + args.seconds)
            _, short_s = ns3(run, SHORT_S)
            theirs.append(said)
            their_s.append((long_s - short_s) / args.seconds)
            timed = checkout.timed(resolved, PACKETS, lengths)
            our_s.append((timed.long[1] - timed.short[1]) / (LONGER * args.seconds))
    ours = airtcp.simulate(
        airtcp.load(ROOT / OFFICE).vary(
            {"run.duration": f"{args.seconds} s", "run.replications": REPLICATIONS}
        )
    ).simulation
    pages = ours.groups["laptop"]["all"]
    cpu = [sum(one) / len(one) for one in (their_s, our_s)]
    rows = [
        "| | ns-3 | airtcp |",
        "| --- | --- | --- |",
        f"| CPU time for a simulated second | {cpu[0]:.2f} s | {1e3 * cpu[1]:.1f} ms |",
        *(
            f"| {name} | {told(student_interval([one[key] for one in theirs]), scale, digits)} "
            f"| {told(pages[metric], scale, digits)} |"
            for name, key, metric, scale, digits in (
                ("pages, Mb/s", "page_bps", "goodput_bps", 1e6, 1),
                ("a page, s", "transfer_time_s", "transfer_time_s", 1.0, 3),
            )
        ),
        f"| ns-3 over airtcp, CPU time | **{cpu[0] / cpu[1]:.0f} times** | |",
    ]
    text = "\n".join(rows)
    print(text)
    if args.write:
        what = f"{args.runs} runs of {args.seconds} s of ns-3, {REPLICATIONS} of airtcp"
        replace("office", f"{what}, {processor()}, load {load:.1f}.\n\n{text}")


if __name__ == "__main__":
    main()

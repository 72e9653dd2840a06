"""Compare the cost of FQ-CoDel with that of a FIFO queue for 1,000 flows.

One station per flow, downloads only: 1500-byte datagrams at 90 % of the capacity, TCP with windows
of six segments, and TCP with Linux defaults, which fills all queues. As in instructions.py, the
instructions per exchange are those of a longer run minus those of a shorter one. CPU time is the
best of several runs, alternating between the disciplines.

    .venv/bin/python benches/fq_codel.py           # this checkout, built
    .venv/bin/python benches/fq_codel.py --write   # and update the table in README.md
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from instructions import ROOT, Case, Checkout, Timed, cpu_ns
from readme import replace

FLOWS = 1000
SCENARIO = """
[phy]
standard = "802.11g"
[ap]
queue = {{ discipline = "{discipline}", limit = 2000 }}
[[stations]]
name = "laptop"
count = {flows}
[[flows]]
stations = "laptop"
direction = "download"
{traffic}
[run]
warmup = "0 s"
duration = "1 s"
replications = 1
"""
DISCIPLINES = ("fifo", "fq-codel")
TRAFFIC = {
    "datagrams, 0.9 of what is carried": 'application = { kind = "udp", rate = "27 kb/s", '
    'packet = "1500 B" }',
    "TCP, windows of six segments": 'application = { kind = "bulk" }\n'
    "tcp = { receive_window = { segments = 6 } }",
    "TCP of Linux": 'application = { kind = "bulk" }\ntcp = { preset = "linux" }',
}
EXCHANGES = "mac_exchanges"
#: Simulated seconds of the shorter and the longer run, for instructions and for CPU time.
COUNTED_S = (6, 14)
TIMED_S = (6, 46)
ROUNDS = 7


def table(checkout: Checkout) -> str:
    """Return the measurements as a Markdown table."""
    lines = [
        f"| {FLOWS:,} downloads | instructions, FIFO | FQ-CoDel | quotient | CPU time, FIFO | "
        "FQ-CoDel | quotient |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, traffic in TRAFFIC.items():
        with tempfile.TemporaryDirectory() as work:
            resolved = []
            for discipline in DISCIPLINES:
                text = SCENARIO.format(discipline=discipline, flows=FLOWS, traffic=traffic)
                made = checkout.resolved(Case(name, text), Path(work))
                resolved.append(made.rename(Path(work) / f"{discipline}.json"))
            counts = [checkout.instructions(one, EXCHANGES, COUNTED_S) for one in resolved]
            rounds: list[list[Timed]] = [[] for _ in resolved]
            for _ in range(ROUNDS):
                for one, timed in zip(resolved, rounds, strict=True):
                    timed.append(checkout.timed(one, EXCHANGES, TIMED_S))
            times = [cpu_ns(timed) for timed in rounds]
        cells = [f"{count:.0f}" for count in counts] + [f"{counts[1] / counts[0]:.2f}"]
        cells += [f"{spent:.0f} ns" for spent in times] + [f"{times[1] / times[0]:.2f}"]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and with `--write` update the README."""
    parser = argparse.ArgumentParser(description="Count what FQ-CoDel costs")
    parser.add_argument("--write", action="store_true", help="update the table in README.md")
    args = parser.parse_args()
    measured = table(Checkout(ROOT))
    print(measured)
    if args.write:
        replace("fq-codel", measured)


if __name__ == "__main__":
    main()

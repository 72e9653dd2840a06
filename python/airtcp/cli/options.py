"""Options shared by several commands: names, bounds and help texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from airtcp.run import LEAST_SNAPLEN, MOST_SNAPLEN

_SEEDS = 2**63 - 1

Scenario = Annotated[
    Path, typer.Argument(help="The scenario file (TOML), or - for standard input.", allow_dash=True)
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else.")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Write report.html, results.json and pictures into this directory.",
    ),
]
Seed = Annotated[
    int | None, typer.Option(min=0, max=_SEEDS, help="Override the seed of the scenario.")
]
Replications = Annotated[
    int | None, typer.Option(min=1, help="Override the number of replications.")
]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1, help="Replications run in parallel; the result is the same with any number."
    ),
]
Trace = Annotated[
    Path | None,
    typer.Option(
        "--trace",
        metavar="FILE",
        help="Write time series of flows and queues to this file (.parquet or .csv).",
    ),
]
TraceInterval = Annotated[
    str | None,
    typer.Option(
        "--trace-interval",
        metavar="TIME",
        help="Time between two samples of --trace; 100 ms by default.",
    ),
]
Pcap = Annotated[
    Path | None,
    typer.Option(
        "--pcap",
        metavar="FILE",
        help="Write the frames of replication 0 to this file, for Wireshark.",
    ),
]
Snaplen = Annotated[
    int,
    typer.Option(min=LEAST_SNAPLEN, max=MOST_SNAPLEN, help="Bytes kept of each frame in --pcap."),
]
Transfers = Annotated[
    Path | None,
    typer.Option(
        "--transfers",
        metavar="FILE",
        help="Write each transfer to this file: flow, start, size, time (.parquet or .csv).",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that airtcp did not write.")]
Models = Annotated[
    bool, typer.Option("--models", help="Show every model, not only the one that fits best.")
]
Details = Annotated[
    bool,
    typer.Option(
        "--details", help="Show models, their assumptions, counters and the scenario in words, too."
    ),
]
Explain = Annotated[
    bool,
    typer.Option("--explain", help="Print how each broken assumption changes the result."),
]
Glance = Annotated[
    bool | None,
    typer.Option(
        "--glance/--no-glance",
        help="Add a short simulation to the models, or never add one. Default: add it if no model "
        "predicts goodput or transfer times.",
    ),
]
Advice = Annotated[
    str,
    typer.Option(
        "--advice",
        metavar="HOW",
        help="Changes to try if a target is missed: race them (tried), simulate all at length "
        "(all), or none.",
    ),
]
Effort = Annotated[
    float | None,
    typer.Option(
        "--effort",
        metavar="TIMES",
        help="CPU time for trying changes, as a multiple of the run's. Default: 2 (2 to 10 s).",
    ),
]
Check = Annotated[
    bool,
    typer.Option(
        "--check",
        help="Exit with status 3 if a target in [targets] is missed, 4 if one is inconclusive.",
    ),
]
NoAdvice = Annotated[bool, typer.Option("--no-advice", help="Short for --advice none.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress bar and no notes.")]

With = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="WITNESS",
        help="Also measure real TCP: testbed, as airtcp testbed does.",
    ),
]
Measured = Annotated[
    list[Path] | None,
    typer.Option(
        "--measured",
        metavar="FILE",
        help="Compare with measured values: iperf3 -J, flent, iw dumps, ping or CSV. Repeatable.",
    ),
]
Simulated = Annotated[
    list[str] | None,
    typer.Option(
        "--simulated",
        metavar="FLOWS",
        help="In a testbed: simulate these flows, by name, instead of running them. Repeatable.",
    ),
]
Gro = Annotated[
    bool,
    typer.Option("--gro", help="In a testbed: stations merge packets that come together (GRO)."),
]

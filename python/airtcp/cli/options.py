"""Options shared by several commands: names, bounds and help texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from airtcp.cli.declared import argument, option
from airtcp.run import LEAST_SNAPLEN, MOST_SNAPLEN

_SEEDS = 2**63 - 1

Scenario = Annotated[Path, argument("shared.scenario")]
Json = Annotated[bool, option("shared.json")]
Out = Annotated[Path | None, option("shared.out")]
Seed = Annotated[int | None, option("shared.seed", max=_SEEDS)]
Replications = Annotated[int | None, option("shared.replications")]
Threads = Annotated[int | None, option("shared.threads")]
Trace = Annotated[Path | None, option("shared.trace")]
TraceInterval = Annotated[str | None, option("shared.trace_interval")]
Pcap = Annotated[Path | None, option("shared.pcap")]
Snaplen = Annotated[int, option("shared.snaplen", min=LEAST_SNAPLEN, max=MOST_SNAPLEN)]
Transfers = Annotated[Path | None, option("shared.transfers")]
Force = Annotated[bool, option("shared.force")]
Models = Annotated[bool, option("shared.models")]
Details = Annotated[bool, option("shared.details")]
Explain = Annotated[bool, option("shared.explain")]
Glance = Annotated[bool | None, option("shared.glance")]
Advice = Annotated[str, option("shared.advice")]
Effort = Annotated[float | None, option("shared.effort")]
Check = Annotated[bool, option("shared.check")]
NoAdvice = Annotated[bool, option("shared.no_advice")]
Quiet = Annotated[bool, option("shared.quiet")]

With = Annotated[list[str] | None, option("shared.with")]
Measured = Annotated[list[Path] | None, option("shared.measured")]
Simulated = Annotated[list[str] | None, option("shared.simulated")]
Gro = Annotated[bool, option("shared.gro")]

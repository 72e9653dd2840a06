"""Write a scenario with the sizes and pauses of a log.

The scenario names the log file for its sizes. Think times become exponential with the mean of the
log.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from airtcp.traffic.study import Study

#: The think time if the log has no pauses: the value of the hot spot example.
_THINK_S: Final = 10.0


def scenario_text(path: Path, study: Study) -> str:
    """Return the TOML text of web users with the requests of the log at `path`."""
    think_s = study.think_mean_s or _THINK_S
    think = f"{round(think_s * 1000)} ms"
    why = (
        f"mean of {study.think_times} pauses between 1 s and 30 min"
        if study.think_mean_s
        else "the log has no client times: this is a guess"
    )
    column = ', column = "size"' if study.form == "CSV" else ""
    name = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f"""\
# Web users with the traffic of {path.name}: {study.used} of {study.lines} lines were used.
title = "Traffic of {path.name}"

[phy]
standard = "802.11g"

[ap]
queue = {{ limit = 100 }}

[[stations]]
name = "laptop"
count = {min(max(study.clients or 10, 1), 10)}

[[flows]]
stations = "laptop"
direction = "download"

    [flows.application]
    kind = "web"
    size = {{ distribution = "empirical", file = "{name}"{column} }}
    think_time = {{ distribution = "exponential", mean = "{think}" }}   # {why}
    request = "300 B"

[run]
warmup = "60 s"
duration = "600 s"
replications = 10
"""

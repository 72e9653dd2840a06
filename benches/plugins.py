"""Measure the extra CPU time per call of algorithms in Python compared with the core's own.

python benches/plugins.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import airtcp
from airtcp import _core
from airtcp.scenario import loads

TEXT = """
[phy]
standard = "{standard}"

[ap]
queue = {{ limit = 30, discipline = "{discipline}" }}
{scheduler}

[[stations]]
name = "desk"
count = 10

[[flows]]
stations = "desk"
direction = "download"
application = {{ kind = "bulk" }}
tcp = {{ congestion = "{congestion}", receive_window = "64 KiB", delayed_ack = {{ {acks} }} }}
path = [{{ delay = "10 ms" }}]

[run]
warmup = "1 s"
duration = "{duration}"
"""
PLAIN = {
    "standard": "802.11g",
    "discipline": "fifo",
    "scheduler": "",
    "congestion": "reno",
    "acks": "every = 2",
    "duration": "120 s",
}
AGGREGATED = {"standard": "802.11n", "scheduler": 'scheduler = "round-robin"', "duration": "30 s"}
REPEATED = 5
#: Kind; the twin's base class and registration; TOML of both scenarios and of the twin's; methods.
KINDS: tuple[tuple[str, Any, Callable[..., str], dict[str, str], dict[str, str], Any], ...] = (
    (
        "congestion control", airtcp.congestion.Reno, airtcp.congestion.register,
        {}, {"congestion": "twin"}, ("on_ack", "on_loss", "on_timeout", "on_idle"),
    ),
    (
        "ACK policy", airtcp.acks.Delayed, airtcp.acks.register,
        {}, {"acks": 'policy = "twin"'}, ("delay_ns",),
    ),
    (
        "queue discipline", airtcp.queues.Fifo, airtcp.queues.register,
        {}, {"discipline": "twin"}, ("on_arrival", "next", "on_departure"),
    ),
    (
        "scheduler", airtcp.schedulers.RoundRobin, airtcp.schedulers.register,
        AGGREGATED, {"scheduler": 'scheduler = "twin"'}, ("choose", "on_airtime"),
    ),
)  # fmt: skip


def counted(base: type, methods: tuple[str, ...], run: Callable[[], Any]) -> int:
    """Count the calls of these methods while `run` runs."""
    calls = 0

    def counting(plain: Any) -> Any:
        def call(*given: Any) -> Any:
            nonlocal calls
            calls += 1
            return plain(*given)

        return call

    plain = {one: getattr(base, one) for one in methods}
    for one, method in plain.items():
        setattr(base, one, counting(method))
    run()
    for one, method in plain.items():
        setattr(base, one, method)
    return calls


def seconds(words: dict[str, str], repeated: int = REPEATED) -> float:
    """Return the minimum CPU time of a run with these algorithms."""
    core = _core.Simulation(loads(TEXT.format(**PLAIN | words)).to_json())
    took = []
    for _ in range(repeated):
        began = time.process_time()
        core.run(1, 0, _core.RunControl())
        took.append(time.process_time() - began)
    return min(took)


def main() -> None:
    """Print a row for each kind."""
    print("| in Python | calls | core (s) | Python (s) | us a call more |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for kind, base, register, scenario, ours, methods in KINDS:
        register("twin", base)
        calls = counted(base, methods, partial(seconds, scenario | ours, repeated=1))
        core, python = seconds(scenario), seconds(scenario | ours)
        more = 1e6 * (python - core) / calls
        print(f"| {kind} | {calls:,} | {core:.2f} | {python:.2f} | {more:.2f} |")


if __name__ == "__main__":
    main()

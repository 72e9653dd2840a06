"""Measures what a congestion control in Python costs beside the core's own: CPU time an event.

python benches/plugins.py
"""

from __future__ import annotations

import time
from pathlib import Path

import airtcp
from airtcp import _core
from airtcp.scenario import loads

TEXT = """
[phy]
standard = "802.11g"
data_rate = "54 Mb/s"

[ap]
queue = { limit = 30 }

[[stations]]
name = "desk"
count = 10

[[flows]]
stations = "desk"
direction = "download"
application = { kind = "bulk" }
tcp = { congestion = "WORD", receive_window = "64 KiB" }
path = [{ delay = "10 ms" }]

[run]
warmup = "1 s"
duration = "120 s"
"""
REPEATED = 5


class Counted(airtcp.congestion.Reno):
    """Reno, and how often it was told of an ACK."""

    told = 0

    def on_ack(self, window: airtcp.congestion.Window, event: airtcp.congestion.Event) -> None:
        """Counts, and does as Reno."""
        Counted.told += 1
        super().on_ack(window, event)


class Twin(airtcp.congestion.Reno):
    """Reno in Python."""


def seconds(word: str) -> float:
    """The least CPU time of a run with a congestion control."""
    core = _core.Simulation(loads(TEXT.replace("WORD", word)).to_json())
    took = []
    for _ in range(REPEATED):
        began = time.process_time()
        core.run(1, 0, _core.RunControl())
        took.append(time.process_time() - began)
    return min(took)


def main() -> None:
    """Prints a row for each control."""
    for name, control in (("twin", Twin), ("counted", Counted)):
        airtcp.congestion.register(name, control)
    seconds("counted")
    events = Counted.told // REPEATED
    core = seconds("reno")
    python = seconds("twin")
    print(f"{events} ACKs told in {Path(__file__).name}, two minutes of ten downloads")
    print(f"reno of the core    {core:.2f} s")
    print(
        f"reno in Python      {python:.2f} s, {1e6 * (python - core) / events:.2f} us an ACK more"
    )


if __name__ == "__main__":
    main()

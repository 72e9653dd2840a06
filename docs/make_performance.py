"""Measure how cost and memory grow within one run: table and picture of performance.md.

Cells have 10 to 5,000 stations with two flows each. Every cell runs in its own process, for
its peak memory. CPU time is the minimum of several runs, since noise only adds.

    .venv/bin/python docs/make_performance.py
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from airtcp.present.drawing import BLUE, ORANGE, legend_above, new_figure, png, styled
from airtcp.scenario import loads
from tables import markdown, put

PAGE = Path(__file__).parent / "development" / "performance.md"
PICTURE = Path(__file__).parent / "images" / "performance.png"
STATIONS = (10, 100, 1_000, 5_000)
REPEATS = 15
ACTIVE = 10
#: Limit of the cost of an idle flow.
BUDGET_BYTES = 2_000

#: Two flows per station. Ten stations download endlessly; the flows of the others only think.
FEW = """
[phy]
standard = "802.11b"
[[stations]]
name = "active"
count = {active}
[[stations]]
name = "idle"
count = {idle}
[[flows]]
stations = "active"
start_spread = "0 s"
direction = "download"
application = {{ kind = "bulk" }}
[[flows]]
name = "idle-1"
stations = "idle"
direction = "download"
application = {{ kind = "web", size = "30 kB", think_time = "1000 h" }}
[[flows]]
name = "idle-2"
stations = "idle"
direction = "upload"
application = {{ kind = "web", size = "30 kB", think_time = "1000 h" }}
[run]
warmup = "0 s"
duration = "{seconds} s"
replications = 1
"""
#: All stations download and upload endlessly.
ALL = """
[phy]
standard = "802.11b"
[[stations]]
name = "active"
count = {stations}
[[flows]]
name = "down"
stations = "active"
start_spread = "0 s"
direction = "download"
application = {{ kind = "bulk" }}
[[flows]]
name = "up"
stations = "active"
start_spread = "0 s"
direction = "upload"
application = {{ kind = "bulk" }}
[run]
warmup = "0 s"
duration = "{seconds} s"
replications = 1
"""
#: Program that runs a resolved scenario, and prints its costs.
RUN = """
import json, sys, time
from airtcp import _core

def status(name):
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith(name)))

text = sys.stdin.read()
# The peak so far is forgotten: it may be that of the process that this one was started by.
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
took, peak = [], 0
for _ in range(int(sys.argv[1])):
    simulation = _core.Simulation(text)
    begin = time.process_time()
    answer, *_ = simulation.run(1, 0, _core.RunControl())
    took.append(time.process_time() - begin)
    # The first run's: of those that follow, each is made while the one before is still there.
    peak = peak or status("VmHWM")
attempts = json.loads(answer)["counts"]["mac_attempts"]
exchanges = json.loads(answer)["counts"]["mac_exchanges"]
print(json.dumps({"cpu_s": min(took), "bytes": peak - before,
                  "exchanges": exchanges, "attempts": attempts}))
"""


def measured(text: str, repeats: int = REPEATS) -> dict[str, float]:
    """Return the time and memory of a scenario in its own process."""
    command = [sys.executable, "-c", RUN, str(repeats)]
    resolved = loads(text).to_json()
    done = subprocess.run(command, input=resolved, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Measure, and update table and picture."""
    rows = []
    few_ns, all_ns, memory = [], [], {}
    for stations in STATIONS:
        idle = max(1, stations - ACTIVE)
        few = measured(FEW.format(active=ACTIVE, idle=idle, seconds=60))
        every = measured(ALL.format(stations=stations, seconds=60))
        # Exclude work done once per flow, at the start and the end.
        still = measured(FEW.format(active=ACTIVE, idle=idle, seconds=1))
        few_ns.append(
            1e9 * (few["cpu_s"] - still["cpu_s"]) / (few["exchanges"] - still["exchanges"])
        )
        all_ns.append(1e9 * every["cpu_s"] / every["attempts"])
        memory[stations] = few["bytes"]
        rows.append(
            [
                f"{stations:,}",
                f"{2 * stations:,}",
                f"{few_ns[-1]:.0f} ns",
                f"{all_ns[-1]:.0f} ns",
                f"{few['bytes'] / 1e6:.1f} MB",
                f"{every['bytes'] / 1e6:.1f} MB",
            ]
        )
        print(rows[-1], flush=True)
    flow = (memory[STATIONS[-1]] - memory[STATIONS[0]]) / (2 * (STATIONS[-1] - STATIONS[0]))
    table = markdown(
        [
            "stations",
            "flows",
            f"an exchange, {ACTIVE} stations active",
            "an attempt, all active",
            f"memory, {ACTIVE} active",
            "memory, all active",
        ],
        rows,
    )
    share = "its share of an idle station and of the answer included"
    told = f"An idle flow takes {flow:.0f} bytes, {share}."
    page = put(PAGE.read_text(encoding="utf-8"), "scale", f"{table}\n\n{told}")
    PAGE.write_text(page, encoding="utf-8")
    with styled():
        figure, axes = new_figure()
        axes.plot(STATIONS, few_ns, "o-", color=BLUE, label=f"an exchange, {ACTIVE} active")
        axes.plot(STATIONS, all_ns, "o-", color=ORANGE, label="an attempt, all active")
        axes.set_xscale("log")
        axes.set_xticks(STATIONS, [f"{stations:,}" for stations in STATIONS])
        axes.minorticks_off()
        axes.set_ylim(bottom=0)
        axes.set_xlabel("stations, two flows each")
        axes.set_ylabel("CPU time (ns)")
        legend_above(figure, axes)
    PICTURE.write_bytes(png(figure))
    if flow > BUDGET_BYTES:
        sys.exit(f"an idle flow takes {flow:.0f} bytes, more than {BUDGET_BYTES}")


if __name__ == "__main__":
    main()

"""Count instructions per MAC exchange or MPDU, and compare CPU time with that of a bare loop.

Cachegrind counts the instructions of two lengths of each scenario. Their difference excludes
Python's start and the set-up, and does not depend on load (to 0.1 %). CPU time is measured in the
same way without cachegrind, from the best of several runs of each length, alternating with the
bare loop (`bare_contention.rs`): the ratio is comparable across machines, even busy ones. Needs
valgrind and rustc.

    .venv/bin/python benches/instructions.py                  # this checkout, built
    .venv/bin/python benches/instructions.py --checkout DIR   # another, its core in python/airtcp
    .venv/bin/python benches/instructions.py --write after    # and update the table in README.md
    .venv/bin/python benches/instructions.py Linux office     # only lines that contain a word
    .venv/bin/python benches/instructions.py --profiled       # compare with `make wheel`
    .venv/bin/python benches/instructions.py --quotient       # CPU time, 100 / 10 downloads
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from readme import replace

HERE = Path(__file__).parent
ROOT = HERE.parent

DOWNLOADS = """
[phy]
standard = "802.11b"
[[stations]]
name = "laptop"
count = {count}
[[flows]]
stations = "laptop"
start_spread = "0 s"
direction = "download"
application = {{ kind = "bulk" }}
{more}
[run]
warmup = "0 s"
duration = "1 s"
replications = 1
"""
SEGMENTS = "tcp_segments"
#: TCP segments, and the datagrams of UDP flows with a rate.
PACKETS = "packets"
LINUX = 'tcp = { preset = "linux" }'
WIRED = 'path = [{ rate = "100 Mb/s", delay = "5 ms", queue = 100 }]'
#: 10 downloads over 802.11ax.
MODERN = """
[phy]
standard = "802.11ax"
channel_width = "80 MHz"
mcs = 11
{ap}
[[stations]]
name = "laptop"
count = 10
[[flows]]
stations = "laptop"
start_spread = "0 s"
direction = "download"
application = {{ kind = "bulk" }}
{more}
[run]
warmup = "0 s"
duration = "1 s"
replications = 1
"""
FQ_CODEL = '[ap]\nqueue = { discipline = "fq-codel" }'
IDLE = '[[stations]]\nname = "idle"\ncount = 1990'


def floor(rows: int, columns: int, stations: int) -> str:
    """Return a floor of cells that hear their neighbors, each with downloads over a wired link."""
    places = [(row, column) for row in range(rows) for column in range(columns)]
    heard = [
        [f"c{one}", f"c{other}"]
        for other, (row, column) in enumerate(places)
        for one, (row_before, column_before) in enumerate(places[:other])
        if max(abs(row - row_before), abs(column - column_before)) == 1
    ]
    cells = "".join(
        f"""
[cells.c{cell}]
[[stations]]
name = "laptop{cell}"
count = {stations}
cell = "c{cell}"
[[flows]]
stations = "laptop{cell}"
direction = "download"
application = {{ kind = "bulk" }}
path = [{{ rate = "1 Gb/s", delay = "1 ms" }}]
"""
        for cell in range(len(places))
    )
    return f"""
[phy]
standard = "802.11a"
[air]
heard = {json.dumps(heard)}
{cells}
[run]
warmup = "0 s"
duration = "1 s"
replications = 1
"""


#: Turns the downloads of a scenario into uploads; other flows stay.
UPLOADS = {"flows.laptop.direction": "upload"}
OFFICE = Path("benches/scenarios/office-ax.toml")


class Case(NamedTuple):
    """A row of the table: a scenario file or its text, and the outcome's counter or PACKETS."""

    name: str
    scenario: str | Path
    counted: str = "mac_exchanges"
    #: Changed keys by path.
    changes: Mapping[str, str] = {}
    #: Fraction of the default run length.
    part: int = 1

    def of(self, lengths_s: tuple[int, int]) -> tuple[int, int]:
        """Return the lengths of its two runs, given the default lengths."""
        short, long = lengths_s
        return short // self.part, long // self.part


CASES = (
    Case("1 download", DOWNLOADS.format(count=1, more="")),
    Case("10 downloads", DOWNLOADS.format(count=10, more="")),
    Case("100 downloads", DOWNLOADS.format(count=100, more="")),
    Case("10 downloads of 2,000 stations", DOWNLOADS.format(count=10, more=IDLE)),
    Case("10 downloads over a wired link", DOWNLOADS.format(count=10, more=WIRED)),
    Case(
        "50 saturated stations, per transmission",
        Path("benches/scenarios/saturated-50.toml"),
        "mac_attempts",
    ),
    Case("20 flows, EDCA, SACK", Path("benches/scenarios/categories-20.toml")),
    # Each MPDU carries one TCP segment or one datagram.
    Case(
        "1 download over 802.11ax, per MPDU", Path("benches/scenarios/download-ax.toml"), SEGMENTS
    ),
    Case(
        "20 downloads over 802.11n, per MPDU",
        Path("benches/scenarios/downloads-20-n.toml"),
        SEGMENTS,
    ),
    Case("10 downloads, Linux", DOWNLOADS.format(count=10, more=LINUX)),
    Case(
        "10 downloads over 802.11ax and a wired link, per MPDU",
        MODERN.format(ap="", more=WIRED),
        SEGMENTS,
    ),
    Case(
        "10 downloads over 802.11ax, Linux, FQ-CoDel, per MPDU",
        MODERN.format(ap=FQ_CODEL, more=LINUX),
        SEGMENTS,
    ),
    Case("office, per MPDU", OFFICE, PACKETS),
    Case("10 uploads, Linux", DOWNLOADS.format(count=10, more=LINUX), changes=UPLOADS),
    Case(
        "10 uploads over 802.11ax, Linux, FQ-CoDel, per MPDU",
        MODERN.format(ap=FQ_CODEL, more=LINUX),
        SEGMENTS,
        UPLOADS,
    ),
    Case("office with uploads, per MPDU", OFFICE, PACKETS, UPLOADS),
    # Cells that hear some of the others.
    Case("three cells in a row", Path("python/airtcp/examples/three-cells.toml")),
    Case("20 cells of 10 downloads", floor(4, 5, 10), part=10),
)

#: Simulated seconds of the shorter and the longer run, for instructions and for CPU time. Scenarios
#: counted by segments run for a tenth, since segments are more frequent.
COUNTED_S = (20, 220)
TIMED_S = (60, 660)
ROUNDS = 9

#: Run lengths for the ratio of two rows, which is a median over rounds.
QUOTIENT_S = (60, 2460)
QUOTIENT_ROUNDS = 15
MANY_AND_FEW = ("100 downloads", "10 downloads")

#: Shorter run lengths, for judging a profile.
BESIDE_S = (20, 80)

#: Folder into which `make wheel` unpacks the wheel.
WHEEL = "out/wheel"

#: Program that runs only the core. Arguments: core file, scenario, seconds, counter.
#: Prints the count and the CPU time in seconds.
RUN = """
import importlib.util, json, sys, time
spec = importlib.util.spec_from_file_location("_core", sys.argv[1])
core = importlib.util.module_from_spec(spec)
spec.loader.exec_module(core)
scenario = json.load(open(sys.argv[2]))
scenario["run"]["duration_ns"] = int(sys.argv[3]) * 10**9
simulation, control = core.Simulation(json.dumps(scenario)), core.RunControl()
begin = time.process_time()
answer = simulation.run(1, 0, control)[0]
spent = time.process_time() - begin
counts = json.loads(answer)["counts"]
stations = {group["name"]: group["count"] for group in scenario["stations"]}
udp = [flow for flow in scenario["flows"] if flow["application"].get("rate_bps")]
counts["packets"] = counts["tcp_segments"] + sum(
    stations[flow["stations"]] * int(sys.argv[3]) * round(one["rate_bps"] / one["packet_bytes"] / 8)
    for flow in udp for one in [flow["application"]]
)
print(counts[sys.argv[4]], spent)
"""


class Timed(NamedTuple):
    """Counts and CPU seconds of a short and a long run."""

    short: tuple[int, float]
    long: tuple[int, float]


def cpu_ns(rounds: list[Timed]) -> float:
    """Return CPU nanoseconds per counted event, from the fastest run of each length."""
    (few, _), (many, _) = rounds[0]
    spent = min(one.long[1] for one in rounds) - min(one.short[1] for one in rounds)
    return 1e9 * spent / (many - few)


def python(root: Path, arguments: list[str], tool: list[str] | None = None) -> str:
    """Run Python with a checkout's airtcp, and return its output; exit if it fails."""
    environment = os.environ | {"PYTHONPATH": str(root / "python"), "PYTHONHASHSEED": "0"}
    command = [*(tool or []), sys.executable, *arguments]
    finished = subprocess.run(command, env=environment, capture_output=True, text=True)
    if finished.returncode != 0:
        sys.exit(f"{command[0]} ended with {finished.returncode}: {finished.stderr[-2000:]}")
    return finished.stdout


def resolved_form(root: Path, scenario: Path, changes: Mapping[str, str] = {}) -> str:
    """Return the resolved form of a changed scenario, as a checkout's airtcp resolves it."""
    code = "airtcp.load(sys.argv[1]).vary(json.loads(sys.argv[2])).to_json()"
    code = f"import airtcp, json, sys; print({code})"
    return python(root, ["-c", code, str(scenario), json.dumps(dict(changes))])


class Checkout:
    """A checkout with a built airtcp."""

    def __init__(self, root: Path, packages: str = "python") -> None:
        cores = sorted((root / packages / "airtcp").glob("_core*.so"))
        if not cores:
            made = "build" if packages == "python" else "wheel"
            sys.exit(f"{root} has no built core in {packages}: make {made}")
        self.root, self.core = root, cores[0]

    def has(self, case: Case) -> bool:
        """Return True if it has the scenario; old checkouts lack some."""
        return isinstance(case.scenario, str) or (self.root / case.scenario).is_file()

    def resolved(self, case: Case, work: Path) -> Path:
        """Return the resolved form of a scenario, as this airtcp resolves it."""
        path = work / "case.toml"
        if isinstance(case.scenario, Path):
            path = self.root / case.scenario
        else:
            path.write_text(case.scenario, encoding="utf-8")
        resolved = work / "case.json"
        resolved.write_text(resolved_form(self.root, path, case.changes), encoding="utf-8")
        return resolved

    def timed(self, resolved: Path, counted: str, lengths_s: tuple[int, int] = TIMED_S) -> Timed:
        """Time one run of each length."""
        short, long = (
            self._run(resolved, seconds(length, counted), counted) for length in lengths_s
        )
        return Timed(short, long)

    def instructions(
        self, resolved: Path, counted: str, lengths_s: tuple[int, int] = COUNTED_S
    ) -> float:
        """Return the instructions per counted event, from two runs of these lengths."""
        (few, short), (many, long) = (
            self._counted(resolved, seconds(length, counted), counted) for length in lengths_s
        )
        return (long - short) / (many - few)

    def _counted(self, resolved: Path, seconds: int, counted: str) -> tuple[int, int]:
        with tempfile.NamedTemporaryFile("r", suffix=".log") as log:
            tool = ["valgrind", "--tool=cachegrind", "--cache-sim=no", f"--log-file={log.name}"]
            tool.append("--cachegrind-out-file=/dev/null")
            count, _ = self._run(resolved, seconds, counted, tool)
            found = re.search(r"I\s+refs:\s+([\d,]+)", log.read())
        if found is None:
            sys.exit("valgrind does not say how many instructions there were")
        return count, int(found[1].replace(",", ""))

    def _run(
        self, resolved: Path, seconds: int, counted: str, tool: list[str] | None = None
    ) -> tuple[int, float]:
        arguments = ["-IS", "-c", RUN, str(self.core), str(resolved), str(seconds), counted]
        count, spent = python(self.root, arguments, tool or []).split()
        return int(count), float(spent)


def seconds(length: int, counted: str) -> int:
    """Return the run length for this counter in seconds."""
    return length // 10 if counted in (SEGMENTS, PACKETS) else length


def bare_loop() -> Path:
    """Build the bare contention loop, and return the program."""
    program = ROOT / "target" / "bare_contention"
    program.parent.mkdir(exist_ok=True)
    source = HERE / "bare_contention.rs"
    subprocess.run(["rustc", "-O", str(source), "-o", str(program)], check=True)
    return program


def table(checkout: Checkout, cases: Sequence[Case]) -> str:
    """Return the Markdown table of the cases whose scenarios `checkout` has."""
    bare = bare_loop()
    cases = [case for case in cases if checkout.has(case)]
    floor = float("inf")
    instructions: dict[str, float] = {}
    rounds: dict[str, list[Timed]] = {case.name: [] for case in cases}
    with tempfile.TemporaryDirectory() as work:
        for case in cases:
            resolved = checkout.resolved(case, Path(work))
            instructions[case.name] = checkout.instructions(
                resolved, case.counted, case.of(COUNTED_S)
            )
            resolved.rename(Path(work) / f"{case.name}.json")
        for _ in range(ROUNDS):
            floor = min(floor, float(subprocess.check_output([str(bare)])))
            for case in cases:
                resolved = Path(work) / f"{case.name}.json"
                timed = checkout.timed(resolved, case.counted, case.of(TIMED_S))
                rounds[case.name].append(timed)
    cpu = {name: cpu_ns(timed) for name, timed in rounds.items()}
    lines = [
        "| MAC exchange of | instructions | CPU time | over the bare loop |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| {name} | {count:.0f} | {cpu[name]:.0f} ns | {cpu[name] / floor:.1f} |"
        for name, count in instructions.items()
    ]
    lines.append(f"| the bare loop | | {floor:.1f} ns | 1.0 |")
    if {*MANY_AND_FEW} <= cpu.keys():
        lines.append(f"| 100 downloads over 10 | | {quotient(checkout):.2f} times | |")
    return "\n".join(lines)


def quotient(checkout: Checkout) -> float:
    """Return the CPU time per exchange of many connections over that of few, without set-up.

    This is the median over rounds; each round runs both, one after the other.
    """
    cases = [next(case for case in CASES if case.name == name) for name in MANY_AND_FEW]
    with tempfile.TemporaryDirectory() as work:
        resolved = [
            checkout.resolved(case, Path(work)).rename(Path(work) / f"{case.name}.json")
            for case in cases
        ]
        return statistics.median(
            cpu_ns([checkout.timed(resolved[0], cases[0].counted, QUOTIENT_S)])
            / cpu_ns([checkout.timed(resolved[1], cases[1].counted, QUOTIENT_S)])
            for _ in range(QUOTIENT_ROUNDS)
        )


def beside(plain: Checkout, profiled: Checkout, cases: Sequence[Case]) -> tuple[str, list[str]]:
    """Return a table without and with a profile, and the names of rows that the profile slows."""
    lines = ["| MAC exchange of | instructions | with the profile | |", "| --- | --- | --- | --- |"]
    more = []
    for case in cases:
        with tempfile.TemporaryDirectory() as work:
            resolved = plain.resolved(case, Path(work))
            without, with_it = (
                one.instructions(resolved, case.counted, case.of(BESIDE_S))
                for one in (plain, profiled)
            )
        if with_it > without:
            more.append(case.name)
        change = 100 * (with_it / without - 1)
        lines.append(f"| {case.name} | {without:.0f} | {with_it:.0f} | {change:+.0f} % |")
    return "\n".join(lines), more


def main() -> None:
    """Measure, print, and write if asked; exit status 1 if the profile slows a row."""
    parser = argparse.ArgumentParser(description="Count the instructions of a MAC exchange")
    parser.add_argument(
        "--checkout", type=Path, default=ROOT, help="checkout whose built core is measured"
    )
    parser.add_argument("--write", metavar="NAME", help="table to update in README.md")
    other = parser.add_mutually_exclusive_group()
    other.add_argument(
        "--profiled", action="store_true", help="compare with the core of `make wheel`"
    )
    other.add_argument("--quotient", action="store_true", help="only 100 downloads over 10")
    parser.add_argument("names", nargs="*", help="only rows whose name contains one of these")
    args = parser.parse_args()
    cases = [
        case for case in CASES if not args.names or any(name in case.name for name in args.names)
    ]
    if not cases:
        parser.error("no line has such a name")
    if args.quotient and (args.write or args.names):
        parser.error("--quotient is of two lines, and not a table")
    root = args.checkout.resolve()
    more: list[str] = []
    if args.quotient:
        measured = f"100 downloads over 10: {quotient(Checkout(root)):.2f} times"
    elif args.profiled:
        measured, more = beside(Checkout(root), Checkout(root, WHEEL), cases)
    else:
        measured = table(Checkout(root), cases)
    print(measured)
    if args.write is not None:
        replace(f"instructions {args.write}", measured)
    if more:
        sys.exit(f"more instructions with the profile: {', '.join(more)}")


if __name__ == "__main__":
    main()

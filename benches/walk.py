"""Count the functions that a TCP segment and its ACK pass through, from a profile.

One station downloads over 802.11b from a FIFO, with an ACK for each segment. The core is built
from a copy of its source with inlining disabled. Callgrind counts the calls of two run lengths,
and their difference is the cost of the segments. A *hop* is a function of the core that is called
for each segment of a kind (data or ACK) and does some work. Operators are not hops, nor are
accessors: functions that take fewer than `A_LOOK` instructions in the unoptimized build, callees
included.

    .venv/bin/python benches/walk.py                  # this checkout
    .venv/bin/python benches/walk.py --checkout DIR   # the source of another
    .venv/bin/python benches/walk.py --all            # accessors, too

Needs valgrind and cargo.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from instructions import resolved_form

HERE = Path(__file__).parent
ROOT = HERE.parent

SCENARIO = """
[phy]
standard = "802.11b"
[[stations]]
name = "laptop"
count = 1
[[flows]]
stations = "laptop"
direction = "download"
application = { kind = "bulk" }
tcp = { delayed_ack = { every = 1 } }
[run]
warmup = "0 s"
duration = "1 s"
replications = 1
"""

#: Program that runs a resolved scenario.
PROGRAM = """
//! Runs a resolved scenario.
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let json = std::fs::read_to_string(&arguments[1]).unwrap();
    let simulation = airtcp_sim::Simulation::from_json(&json).unwrap();
    let outcome = simulation.run(1, 0, &airtcp_sim::RunControl::default()).unwrap();
    println!("{}", outcome.counts.tcp_segments);
}
"""

CRATES = ("airtcp_kernel", "airtcp_tcp", "airtcp_wlan", "airtcp_net", "airtcp_sim")

#: Simulated seconds of the two runs.
LENGTHS_S = (4, 12)

#: Functions below this many unoptimized instructions, callees included, are accessors. With this
#: limit commit cae1ff7 has 76 hops; 75 were counted by hand.
A_LOOK = 50

#: Minimum calls per TCP segment (data or ACK); half of the segments are of one kind.
OFTEN = 0.45


class Function(NamedTuple):
    """A function of the core, with its calls and instructions per segment."""

    name: str
    file: str
    calls: float
    #: Instructions per call, callees included.
    instructions: float


class Profile(NamedTuple):
    """A callgrind profile: calls, their instructions, and the source file of each function."""

    segments: int
    calls: Counter[str]
    instructions: Counter[str]
    files: dict[str, str]


def copied(checkout: Path, to: Path) -> None:
    """Copy the source of the core, and disable inlining in it."""
    shutil.copytree(checkout / "crates", to / "crates", dirs_exist_ok=True)
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copy(checkout / name, to)
    for path in (to / "crates").rglob("*.rs"):
        text = path.read_text(encoding="utf-8")
        changed = re.sub(r"#\[inline(\(always\))?\]", "#[inline(never)]", text)
        if changed != text:
            path.write_text(changed, encoding="utf-8")
    example = to / "crates" / "sim" / "examples" / "walk.rs"
    example.parent.mkdir(exist_ok=True)
    example.write_text(PROGRAM, encoding="utf-8")


def built(source: Path) -> Path:
    """Build the program from this source without optimization."""
    command = ["cargo", "build", "--quiet", "--package", "airtcp-sim", "--example", "walk"]
    subprocess.run(command, cwd=source, check=True, env=os.environ | {"RUSTFLAGS": "-Copt-level=0"})
    return source / "target" / "debug" / "examples" / "walk"


def resolved(checkout: Path, seconds: int, work: Path) -> Path:
    """Return the resolved form of the scenario, as this airtcp resolves it."""
    written, path = work / "walk.toml", work / "walk.json"
    written.write_text(SCENARIO.replace('"1 s"', f'"{seconds} s"'), encoding="utf-8")
    path.write_text(resolved_form(checkout, written), encoding="utf-8")
    return path


def profiled(program: Path, scenario: Path, work: Path) -> Profile:
    """Run the program under callgrind and return the profile."""
    out = work / "callgrind.out"
    tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--log-file=/dev/null"]
    finished = subprocess.run(
        [*tool, str(program), str(scenario)], check=True, capture_output=True, text=True
    )
    return read(out.read_text(encoding="utf-8"), int(finished.stdout))


def read(text: str, segments: int) -> Profile:
    """Read callgrind's format, which writes each name once and numbers it."""
    names: dict[str, str] = {}
    paths: dict[str, str] = {}

    def name_of(value: str, known: dict[str, str]) -> str:
        number, _, rest = value.partition(" ")
        return known.setdefault(number, rest) if rest else known[number]

    calls: Counter[str] = Counter()
    instructions: Counter[str] = Counter()
    files: dict[str, str] = {}
    function, callee, file = "", "", ""
    after_calls = False
    for line in text.splitlines():
        key, is_key, value = line.partition("=")
        if is_key and key in ("fl", "fi", "fe"):
            file = name_of(value, paths)
        elif is_key and key == "fn":
            function = name_of(value, names)
            files[function] = file
        elif is_key and key in ("cfi", "cfl"):
            name_of(value, paths)
        elif is_key and key == "cfn":
            callee = name_of(value, names)
        elif is_key and key == "calls":
            calls[callee] += int(value.split()[0])
            after_calls = True
        elif after_calls:
            # Position and cost of these calls.
            instructions[callee] += int(line.split()[1])
            after_calls = False
    return Profile(segments, calls, instructions, files)


def is_of_core(name: str) -> bool:
    """Return True if a function belongs to the core, or to a trait that the core implements."""
    return any(crate in name.split("(")[0].split(" as ")[0] for crate in CRATES)


def is_operator(name: str) -> bool:
    """Return True if a function is an operator, conversion or comparison from a trait of std."""
    return OPERATOR.search(name) is not None


def plain(name: str) -> str:
    """Return the name of a function without its hash, type arguments and closures."""
    name = re.sub(r"::h[0-9a-f]{16}$", "", name)
    name = re.sub(r"(::\{\{closure\}\}|::\{closure[^}]*\})+.*$", "", name)
    trait = re.match(r"<(.+?)(<.*>)? as (.+?)(<.*>)?>::(\w+)", name)
    if trait:
        name = f"{trait[1]}::{trait[5]}"
    previous = ""
    while name != previous:
        previous, name = name, re.sub(r"(::)?<[^<>]*>", "", name)
    return name


OPERATOR = re.compile(r"as (std|core)::|core::ops|PartialEq|PartialOrd")


def hops(short: Profile, long: Profile) -> list[Function]:
    """Return the functions of the core that are called for a segment, most frequent first."""
    segments = long.segments - short.segments
    calls: Counter[str] = Counter()
    instructions: Counter[str] = Counter()
    files: dict[str, str] = {}
    for name in long.calls:
        if is_of_core(name) and not is_operator(name) and "{closure" not in name:
            # A generic function counts once.
            calls[plain(name)] += long.calls[name] - short.calls[name]
            instructions[plain(name)] += long.instructions[name] - short.instructions[name]
            files[plain(name)] = long.files.get(name, "?")
    found = [
        Function(name, files[name], number / segments, instructions[name] / number)
        for name, number in calls.items()
        if number >= OFTEN * segments
    ]
    return sorted(found, key=lambda one: (one.name.split("::")[0], one.file, one.name))


def is_look(function: Function) -> bool:
    """Return True if a function is an accessor."""
    return function.instructions < A_LOOK


def main() -> None:
    """Count hops and print them."""
    parser = argparse.ArgumentParser(
        description="Count the functions that a segment passes through"
    )
    parser.add_argument(
        "--checkout", type=Path, default=ROOT, help="checkout whose source is built"
    )
    parser.add_argument("--all", action="store_true", help="include accessors")
    args = parser.parse_args()
    checkout = args.checkout.resolve()
    source = ROOT / "target" / "walk"
    with tempfile.TemporaryDirectory() as work:
        shutil.rmtree(source / "crates", ignore_errors=True)
        source.mkdir(parents=True, exist_ok=True)
        copied(checkout, source)
        program = built(source)
        profiles = [
            profiled(program, resolved(checkout, seconds, Path(work)), Path(work))
            for seconds in LENGTHS_S
        ]
    functions = hops(*profiles)
    walked = [one for one in functions if not is_look(one)]
    for one in functions if args.all else walked:
        mark = " " if not is_look(one) else "-"
        place = one.file.rpartition("crates/")[2]
        print(f"{mark} {one.calls:5.2f} {one.instructions:6.0f}  {one.name}  {place}")
    places = {one.file for one in walked}
    print(f"{len(walked)} hops in {len(places)} files, {len(functions) - len(walked)} looks")


if __name__ == "__main__":
    main()

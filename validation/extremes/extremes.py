"""Check extreme but valid scenarios: each must succeed, stop when interrupted, and be reproducible.

    .venv/bin/python validation/extremes/extremes.py 2000 --seed 1 --interrupted 200 --bits 500
    .venv/bin/python validation/extremes/extremes.py 1 --seed 1 --start 17 --keep DIR

Each of the cases START to START + CASES - 1 of a seed is

    answered        `airtcp run --json`: status 0, no traceback, finite numbers, the laws of
                    judge.py, less than 1 GB, in time. A rejected scenario is counted; its message
                    must name the key and the allowed values.

The first of these are also

    interrupted     `airtcp simulate` of many replications with a trace and a capture, stopped by
                    SIGINT at a random moment: ends within 2 s, status 130, whole files or none.
    compared        one and two threads, with and without trace and capture: bit-identical.

Prints failures, and the CPU seconds and megabytes of the most expensive cases. Exit status 1 if any
case fails. Each case is a process forked from one that has imported everything. On a shared machine
seconds are CPU seconds of the process, and a delay counts only above 20 s.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import NoReturn

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.append(str(Path(__file__).parent))

from judge import broken_laws, broken_words, parsed
from mixtures import mixture

#: Limits of CPU time and memory of a case.
MOST_CPU_S = 120.0
MOST_BYTES = 10**9
#: Limit until an interrupted process has ended, in CPU time and in wall time.
SOON_S = 2.0
PATIENCE_S = 20.0
#: SIGINT comes within this many CPU seconds of the process.
WITHIN_S = 3.0
#: Modules that the commands import lazily.
LATE = (
    *("airtcp.cli.commands", "airtcp.cli.show", "airtcp.cli.outputs", "airtcp.compare"),
    *("airtcp.run.simulate", "airtcp.results.trace_file", "pyarrow.csv", "pyarrow.parquet"),
)
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Ended:
    """How a process ended."""

    status: int
    out: str
    err: str
    cpu_s: float
    wall_s: float
    peak_bytes: int
    #: Seconds since the signal.
    after_s: float = 0.0
    after_cpu_s: float = 0.0


@dataclass
class Found:
    """The totals of all cases."""

    tried: int = 0
    refused: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    #: CPU seconds and bytes, with the case.
    costs: list[tuple[float, int, int]] = field(default_factory=list)
    #: Wall and CPU seconds since the signal.
    ends_s: list[tuple[float, float]] = field(default_factory=list)
    compared: int = 0


def main() -> int:
    """Run the cases; exit status 1 if one fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("cases", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0, help="number of the first case")
    parser.add_argument("--interrupted", type=int, default=0, help="number of cases to interrupt")
    parser.add_argument("--bits", type=int, default=0, help="number of cases to compare bitwise")
    parser.add_argument("--keep", type=Path, help="folder for failing scenarios")
    args = parser.parse_args()
    _import_all()
    found = Found()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="airtcp-extremes-") as work:
        folder = Path(work)
        for number in range(args.cases):
            index = args.start + number
            text = mixture(args.seed, index)
            (folder / "case.toml").write_text(text, encoding="utf-8")
            before = len(found.broken)
            if _answered(folder, index, found):
                if number < args.interrupted:
                    _interrupted(folder, args.seed, index, found)
                if number < args.bits:
                    _compared(folder, index, found)
            if len(found.broken) > before:
                print(*found.broken[before:], sep="\n", flush=True)
                if args.keep is not None:
                    args.keep.mkdir(parents=True, exist_ok=True)
                    (args.keep / f"{args.seed}-{index}.toml").write_text(text, encoding="utf-8")
    _tell(found, time.monotonic() - began)
    return 1 if found.broken else 0


def _tell(found: Found, wall_s: float) -> None:
    print(f"{found.tried} tried, {len(found.refused)} refused, {len(found.broken)} broken")
    for line in found.refused[:5]:
        print(f"  refused: {line}")
    if found.costs:
        total = sum(cost for cost, _, _ in found.costs)
        longest, _, which = max(found.costs)
        most, widest = max((size, index) for _, size, index in found.costs)
        print(
            f"answers: {total / len(found.costs):.2f} s of a processor each, at most {longest:.1f} "
            f"s (case {which}) and {most / 1e6:.0f} MB (case {widest})"
        )
    if found.ends_s:
        late = sum(one > SOON_S for one, _ in found.ends_s)
        print(
            f"interrupted: {len(found.ends_s)}, over after {max(found.ends_s)[0]:.2f} s at most, "
            f"{late} after more than {SOON_S:g} s; at work for at most "
            f"{max(one for _, one in found.ends_s):.2f} s"
        )
    if found.compared:
        print(f"compared: {found.compared} with 1 and 2 threads, with and without trace")
    print(f"{wall_s:.0f} s in all")


def _answered(folder: Path, index: int, found: Found) -> bool:
    """Return True if a scenario is accepted; record a failure if its result is wrong."""
    found.tried += 1
    ended = _forked(folder, lambda: _command("run", "case.toml", "--json", "--threads", "1"))
    found.costs.append((ended.cpu_s, ended.peak_bytes, index))
    bad = broken_words(ended.err)
    if ended.status == 2 and not bad:
        line = ended.err.strip().partition("\n")[0]
        found.refused.append(f"case {index}: {line}")
        if "case.toml" not in line or "allowed" not in ended.err:
            bad.append(f"a refusal that does not say what is allowed: {line}")
    elif ended.status != 0:
        bad.append(f"status {ended.status}: {ended.err.strip()[-300:]}")
    else:
        try:
            bad += broken_laws(parsed(ended.out))
        except ValueError as error:
            bad.append(f"no JSON: {error}")
    if ended.peak_bytes > MOST_BYTES:
        bad.append(f"{ended.peak_bytes / 1e6:.0f} MB")
    if ended.cpu_s > MOST_CPU_S:
        bad.append(f"{ended.cpu_s:.0f} s of a processor")
    found.broken += [f"case {index}: {one}" for one in bad]
    return ended.status == 0


def _interrupted(folder: Path, seed: int, index: int, found: Found) -> None:
    """Send SIGINT to a simulation that would run for minutes."""
    within_s = random.Random(f"{seed} {index}").uniform(0.0, WITHIN_S)
    asked = ("simulate", "case.toml", "--replications", "5000", "--threads", "2")
    files = ("--trace", "trace.csv", "--pcap", "air.pcap")
    ended = _forked(folder, lambda: _command(*asked, *files), interrupt_s=within_s)
    bad = broken_words(ended.err)
    if ended.status != 130:
        bad.append(f"status {ended.status}: {ended.err.strip()[-300:]}")
    if sum(line.startswith("airtcp: interrupted") for line in ended.err.splitlines()) != 1:
        bad.append(f"does not say once that it was interrupted: {ended.err.strip()[-300:]}")
    # On a shared machine, only the CPU time since the signal counts.
    if ended.after_cpu_s > SOON_S or ended.after_s > PATIENCE_S:
        bad.append(f"over {ended.after_s:.1f} s later, {ended.after_cpu_s:.1f} s of them at work")
    left = {path.name for path in folder.iterdir()} - {"case.toml", "trace.csv", "air.pcap"}
    if left:
        bad.append(f"left behind: {sorted(left)}")
    for name in left | {"trace.csv", "air.pcap"}:
        (folder / name).unlink(missing_ok=True)
    found.ends_s.append((ended.after_s, ended.after_cpu_s))
    found.broken += [f"case {index}, interrupted at {within_s:.3f} s: {one}" for one in bad]


def _compared(folder: Path, index: int, found: Found) -> None:
    """Compare runs with one and two threads, and with recording."""
    ended = _forked(folder, lambda: _compare(folder))
    found.compared += 1
    if ended.status != 0 or broken_words(ended.err):
        found.broken.append(f"case {index}, compared: {ended.out}{ended.err.strip()[-300:]}")


def _compare(folder: Path) -> None:
    from airtcp import load, simulate

    scenario = load(folder / "case.toml")
    plain = simulate(scenario, threads=1)
    others = {
        "with two threads": simulate(scenario, threads=2),
        "with a trace": simulate(scenario, threads=1, trace=True),
        "with two threads, a trace and a capture": simulate(
            scenario, threads=2, trace=folder / "bits.parquet", pcap=folder / "bits.pcap"
        ),
    }
    for name in ("bits.parquet", "bits.pcap"):
        (folder / name).unlink()
    for name, other in others.items():
        if _outcome(other.to_json()) != _outcome(plain.to_json()):
            print(f"{name} it is another outcome")
            sys.exit(1)


def _outcome(text: str) -> str:
    """Return a result without its costs."""
    answer = parsed(text)
    for name in ("wall_s", "cpu_s"):
        del answer["simulation"][name]
    return json.dumps(answer, sort_keys=True)


def _command(*words: str) -> NoReturn:
    from airtcp.cli import main as command

    sys.argv = ["airtcp", *words]
    command()
    raise AssertionError("a command exits")


def _import_all() -> None:
    """Import what each case needs once, and leave no thread running."""
    for name in LATE:
        import_module(name)


def _forked(folder: Path, work: Callable[[], None], interrupt_s: float | None = None) -> Ended:
    """Run `work` in a forked process, optionally with a SIGINT after some CPU time."""
    out, err = folder.with_suffix(".out"), folder.with_suffix(".err")
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        _work(folder, out, err, work)
    asked_s = asked_cpu_s = 0.0
    while True:
        ended, status, usage = os.wait4(child, os.WNOHANG)
        if ended:
            break
        now = time.monotonic() - began
        if interrupt_s is not None and not asked_s and _worked_s(child) >= interrupt_s:
            asked_s, asked_cpu_s = now, _worked_s(child)
            os.kill(child, signal.SIGINT)
        if now > 10 * MOST_CPU_S or (asked_s and now - asked_s > 3 * PATIENCE_S):
            os.kill(child, signal.SIGKILL)
        time.sleep(0.002)
    cpu_s, wall_s = usage.ru_utime + usage.ru_stime, time.monotonic() - began
    told, told_wrong = (path.read_text(encoding="utf-8", errors="replace") for path in (out, err))
    for path in (out, err):
        path.unlink()
    return Ended(
        os.waitstatus_to_exitcode(status),
        told,
        told_wrong,
        cpu_s,
        wall_s,
        usage.ru_maxrss * 1024,
        wall_s - asked_s if asked_s else 0.0,
        cpu_s - asked_cpu_s if asked_s else 0.0,
    )


def _work(folder: Path, out: Path, err: Path, work: Callable[[], None]) -> NoReturn:
    status = 99
    try:
        os.chdir(folder)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for path, number in ((out, 1), (err, 2)):
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(handle, number)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        work()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _worked_s(process: int) -> float:
    """Return the CPU time that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


if __name__ == "__main__":
    sys.exit(main())

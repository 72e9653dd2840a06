"""Check by digests that simulations still give the same outcomes, bit for bit.

    make same                                          compare with digests.json, print differences
    make same-store                                    update digests.json (commit marked Results:)
    .venv/bin/python validation/same/same.py --outcomes DIR      write the outcomes, for a diff

Every scenario runs separately with two seeds, and once more with a trace and a capture, which
must not change the outcome.

**What is compared.** An outcome is divided into parts (metrics, counts, flows, ...), and each
part into values under paths such as `flows[].goodput_bps`. digests.json lists the paths that
outcomes had when it was stored. A digest covers the values under these paths, in a fixed
order, with numbers in their shortest exact form. So **additions change no
digest**: a new metric, count, record or column of a trace has a path that is not in the list. It
is reported, not compared, until `make same-store` adds it. (A new kind of event in a
trace does change its rows.) A new key of the resolved scenario does not matter, since scenarios
are resolved again from their text (scenarios.py). A removed or renamed path counts as a difference.

**What is not compared**: the number of events that the simulator handled, which is an
implementation detail, and the list of event names.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scenarios import all_scenarios

DIGESTS = Path(__file__).with_name("digests.json")

#: Seed and replication of each run.
RUNS = ((1, 0), (20_261_121, 3))
SAMPLE_INTERVAL_NS = 50_000_000
SNAPLEN = 96
NOT_COMPARED = frozenset({"counts.events", "trace.event_names[#]", "trace.event_names[]"})

Values = dict[str, list[Any]]


def main() -> int:
    """Compare or store; exit status 1 if anything differs."""
    parser = argparse.ArgumentParser(description="compare outcomes with stored digests")
    parser.add_argument("--store", action="store_true", help="update the stored digests")
    parser.add_argument(
        "--outcomes", type=Path, help="write the compared values into this directory"
    )
    parser.add_argument("names", nargs="*", help="only scenarios whose name contains one of these")
    args = parser.parse_args()
    if args.store and args.names:
        parser.error("--store is for all scenarios")
    stored = {} if args.store else json.loads(DIGESTS.read_text(encoding="utf-8"))
    began = time.process_time()
    found: dict[str, Values] = {}
    with tempfile.TemporaryDirectory() as work:
        for name, resolved in all_scenarios(Path(work)):
            if not args.names or any(part in name for part in args.names):
                found[name] = values(resolved, Path(work) / "capture")
    paths = sorted({path for of_one in found.values() for path in of_one})
    if args.outcomes is not None:
        write(args.outcomes, found)
    known = set(paths if args.store else stored["paths"])
    digests = {name: digest(of_one, known) for name, of_one in found.items()}
    print(f"{len(found)} scenarios in {time.process_time() - began:.0f} s of CPU")
    if args.store:
        store(paths, digests)
        return 0
    return compare(stored, digests, paths, whole=not args.names)


def values(resolved: str, capture: Path) -> Values:
    """Return the values under each path of a scenario's runs, in the order of the runs."""
    from airtcp import _core

    simulation = _core.Simulation(resolved)
    control = _core.RunControl()
    found: Values = {}
    for seed, replication in RUNS:
        try:
            plain = simulation.run(seed, replication, control)
            text, times, accounts, trace, _ = simulation.run_recorded(
                seed,
                replication,
                control,
                sample_interval_ns=SAMPLE_INTERVAL_NS,
                pcap=capture,
                snaplen=SNAPLEN,
                transfers=True,
                samples_only=False,
            )
        except _core.SimulationFailed as error:
            found.setdefault("error", []).append(str(error))
            continue
        if (text, times, accounts) != plain:
            found.setdefault("error", []).append("a trace or capture changes the outcome")
        outcome = json.loads(text)
        for path, value in leaves(outcome, ""):
            found.setdefault(path, []).append(value)
        found.setdefault("transfer_times", []).append(times.hex())
        for path, value in leaves({"books": accounts}, ""):
            found.setdefault(path, []).append(value)
        for path, value in leaves({"trace": trace}, ""):
            found.setdefault(path, []).append(value)
        packets = hashlib.sha256(capture.read_bytes()).hexdigest()
        found.setdefault("capture", []).append(packets)
    return {path: of_one for path, of_one in found.items() if path not in NOT_COMPARED}


def leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield path and value of each number and text; elements of a list share a path."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from leaves(one, f"{path}.{key}" if path else key)
    elif isinstance(value, list | tuple):
        yield f"{path}[#]", len(value)
        for one in value:
            yield from leaves(one, f"{path}[]")
    elif isinstance(value, bytes):
        yield path, hashlib.sha256(value).hexdigest()
    else:
        yield path, value


def digest(found: Values, known: set[str]) -> dict[str, str]:
    """Return one digest per part of the outcomes; a part is the first word of a path."""
    parts: dict[str, Any] = {}
    for path in sorted(found.keys() & known):
        part = path.replace("[", ".").split(".")[0]
        texts = parts.setdefault(part, hashlib.sha256())
        texts.update(json.dumps([path, found[path]]).encode())
    return {part: texts.hexdigest()[:16] for part, texts in parts.items()}


def store(paths: list[str], digests: dict[str, dict[str, str]]) -> None:
    """Write digests.json, one line per scenario."""
    lines = [f"{json.dumps(name)}: {json.dumps(parts)}" for name, parts in digests.items()]
    text = '{\n"paths": ' + json.dumps(paths, indent=0) + ',\n"digests": {\n'
    DIGESTS.write_text(text + ",\n".join(lines) + "\n}\n}\n", encoding="utf-8")
    print(f"stored in {DIGESTS}")


def compare(
    stored: dict[str, Any], digests: dict[str, dict[str, str]], paths: list[str], *, whole: bool
) -> int:
    """Print differences; return 1 if there are any."""
    before: dict[str, dict[str, str]] = stored["digests"]
    differing = 0
    for name, parts in digests.items():
        if name not in before:
            print(f"new, not compared: {name}")
            continue
        changed = sorted(
            part
            for part in parts.keys() | before[name].keys()
            if parts.get(part) != before[name].get(part)
        )
        if changed:
            differing += 1
            print(f"differs: {name}: {', '.join(changed)}")
    if whole:
        for name in before.keys() - digests.keys():
            differing += 1
            print(f"gone: {name}")
        for path in sorted(set(stored["paths"]) - set(paths)):
            differing += 1
            print(f"gone: {path}")
    new = sorted(set(paths) - set(stored["paths"]))
    if new:
        print(f"added since, not compared: {', '.join(new)}")
    print(f"{differing} differ" if differing else "all the same")
    return 1 if differing else 0


def write(folder: Path, found: dict[str, Values]) -> None:
    """Write the compared values, one file per scenario."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, of_one in found.items():
        path = folder / (name.replace("/", "_") + ".json")
        path.write_text(json.dumps(of_one, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())

"""Make the stored resolved forms: for the core's benchmark and tests, and of two whole files.

Knows which scenario files they are of. A test holds that they are up to date: after a change of
keys, `make resolved` makes them again, and what changed is reviewed as code.

    .venv/bin/python benches/resolve.py
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from airtcp.scenario import load

ROOT = Path(__file__).parents[1]


def stored() -> Iterator[tuple[Path, str]]:
    """Each file with what belongs into it."""
    # Read by Rust at compile time: one line each.
    for written in sorted((ROOT / "benches" / "scenarios").glob("*.toml")):
        path = ROOT / "crates" / "sim" / "benches" / "scenarios" / f"{written.stem}.json"
        yield path, load(written).to_json() + "\n"
    # Read by people: what all defaults are, and where every key goes.
    for name in ("minimal", "every_key"):
        scenario = load(ROOT / "tests" / "scenarios" / "valid" / f"{name}.toml")
        path = ROOT / "tests" / "scenarios" / "resolved" / f"{name}.json"
        yield path, json.dumps(scenario.to_dict(), indent=2) + "\n"


if __name__ == "__main__":
    for path, text in stored():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

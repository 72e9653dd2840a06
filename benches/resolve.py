"""Write the resolved forms of the benchmark scenarios, which Rust's benchmark and tests read.

They contain every key as declared now and are not kept in git. `make build` rewrites them after a
change of keys.

    .venv/bin/python benches/resolve.py
"""

from __future__ import annotations

from pathlib import Path

from airtcp.scenario import load

ROOT = Path(__file__).parents[1]
SCENARIOS = ROOT / "benches" / "scenarios"
RESOLVED = ROOT / "target" / "resolved"


if __name__ == "__main__":
    RESOLVED.mkdir(parents=True, exist_ok=True)
    for written in sorted(SCENARIOS.glob("*.toml")):
        path = RESOLVED / f"{written.stem}.json"
        path.write_text(load(written).to_json() + "\n", encoding="utf-8")

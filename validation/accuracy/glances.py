"""Compare quick simulations with long runs of the examples, an office, and random mixtures.

`nice -n 19 .venv/bin/python validation/accuracy/glances.py` repeats the long runs (an hour).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from airtcp import glance, load, simulate
from airtcp.examples import directory, examples
from airtcp.scenario import ResolvedScenario, loads
from airtcp.stats import Interval

sys.path.insert(0, str(Path(__file__).parents[1]))

from accuracy.mixed import MIXED, mixed

STORED: Final = Path(__file__).with_name("glances.json")
METRICS: Final = (
    "goodput_bps",
    "transfer_time_s",
    "rtt_s",
    "ap_queue_delay_s",
    "packet_delay_s",
    "packet_loss",
    "active_flows",
    "collision_probability",
    "ap_queue_drop_probability",
)
OFFICE: Final = Path(__file__).parents[2] / "benches" / "scenarios" / "office-ax.toml"

#: A long run can judge an interval that is at least this many times as wide as its own.
_JUDGES: Final = 5.0
#: Replications of a long run, its seed, and its length relative to a quick simulation.
_REPLICATIONS: Final = 5
_SEED: Final = 977
_TIMES: Final = 50
#: The fraction of a long run that is warm-up, and the maximum warm-up.
_WARMUP: Final = 0.2
_LONGEST_S: Final = 50_000.0


@dataclass(frozen=True, slots=True)
class Point:
    """One metric of one scenario: the quick simulation's interval, and the long run's result."""

    name: str
    metric: str
    seen: Interval
    mean: float
    half_width: float | None

    @property
    def is_judged(self) -> bool:
        """Return True if an interval exists and the long run is precise enough to judge it."""
        width = self.seen.half_width
        return (
            width is not None and self.half_width is not None and _JUDGES * self.half_width <= width
        )

    @property
    def holds(self) -> bool:
        """Return True if the interval contains the long run's mean."""
        assert self.seen.low is not None
        assert self.seen.high is not None
        return self.seen.low <= self.mean <= self.seen.high


def scenarios() -> dict[str, ResolvedScenario]:
    """Return all scenarios by name."""
    found: dict[str, ResolvedScenario] = {
        one.name: load(str(directory() / f"{one.name}.toml")) for one in examples()
    }
    found["office-ax"] = load(OFFICE)
    return found | {f"mixed {number}": loads(mixed(number)) for number in range(MIXED)}


def points(names: list[str] | None = None) -> Iterator[Point]:
    """Simulate scenarios quickly (default: all with a long run), and compare with the long runs."""
    stored = json.loads(STORED.read_text("utf-8"))
    for name, scenario in scenarios().items():
        if name not in (stored if names is None else names):
            continue
        seen = glance(scenario).metrics
        for metric, (mean, half_width) in stored[name]["metrics"].items():
            yield Point(name, metric, seen[metric], mean, half_width)


def long_run(scenario: ResolvedScenario, stored: dict[str, Any] | None = None) -> dict[str, Any]:
    """Run a long simulation, and return warm-up, measured time, and each metric's mean and width.

    Stored values of both times take precedence.
    """
    if stored is None:
        duration_s = min(_LONGEST_S, _TIMES * glance(scenario).simulation.simulated_s)
        warmup_s = max(_WARMUP * duration_s, min(100.0, (scenario.run.warmup_ns or 0) / 1e9))
    else:
        duration_s, warmup_s = stored["duration_s"], stored["warmup_s"]
    longer = scenario.with_run(
        warmup_ns=round(warmup_s * 1e9),
        duration_ns=round(duration_s * 1e9),
        replications=_REPLICATIONS,
        seed=_SEED,
    )
    metrics = simulate(longer, threads=1).metrics
    return {
        "warmup_s": warmup_s,
        "duration_s": duration_s,
        "metrics": {
            name: [metrics[name].mean, metrics[name].half_width]
            for name in METRICS
            if name in metrics and metrics[name].mean is not None
        },
    }


def main() -> None:
    """Run and store all long runs."""
    stored = json.loads(STORED.read_text("utf-8")) if STORED.exists() else {}
    runs = {name: long_run(one, stored.get(name)) for name, one in scenarios().items()}
    STORED.write_text(written(runs), encoding="utf-8")


def written(stored: dict[str, Any]) -> str:
    """Write the stored runs, one scenario per line."""
    lines = (f"{json.dumps(name)}: {json.dumps(one)}" for name, one in stored.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    main()

"""Check the laws that every result must obey, and that its numbers are finite."""

from __future__ import annotations

import json
import math
import re
from typing import Any

#: Metrics between 0 and 1.
SHARES = re.compile(r"probability|share|jain|utilization|fraction")
#: Words that users must never see.
WORDS = re.compile(r"Traceback|panicked|RuntimeWarning|Warning:|internal error")
#: Rounding error of a mean over replications.
ROUNDING = 1e-9


def broken_words(said: str) -> list[str]:
    """Find the words on stderr that reveal a bug."""
    return [f"says: {line.strip()[:200]}" for line in said.splitlines() if WORDS.search(line)]


def parsed(text: str) -> Any:
    """Parse a result. NaN and infinity raise ValueError."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} in JSON")

    return json.loads(text, parse_constant=refuse)


def broken_laws(answer: dict[str, Any]) -> list[str]:
    """Find the laws that the output of `airtcp run --json` breaks."""
    return _of_models(answer) + _of_simulation(answer["scenario"], answer["simulation"])


def _fastest_bps(scenario: dict[str, Any]) -> float:
    return float(max(group["data_rate"]["bps"] for group in scenario["stations"]))


def _of_models(answer: dict[str, Any]) -> list[str]:
    bad = []
    fastest = _fastest_bps(answer["scenario"])
    for name, predictions in answer["model"].items():
        for one in predictions:
            values = one["value"] if isinstance(one["value"], list) else [one["value"]]
            for value in values:
                if value is None:
                    continue
                if value < 0 or (SHARES.search(name) and value > 1 + ROUNDING):
                    bad.append(f"model: {name} = {value} by {one['by']}")
                elif name == "goodput_bps" and value > fastest:
                    bad.append(f"model: {name} = {value} by {one['by']}, at {fastest} b/s")
    return bad


def _of_simulation(scenario: dict[str, Any], simulation: dict[str, Any]) -> list[str]:
    bad = []
    metrics, counts = simulation["metrics"], simulation["counts"]
    for name, found in metrics.items():
        mean, low, high = found["mean"], found["low"], found["high"]
        if mean is None:
            continue
        if mean < 0 or (SHARES.search(name) and mean > 1 + ROUNDING):
            bad.append(f"{name} = {mean}")
        is_above = low is None or low <= mean
        if not is_above or not (high is None or mean <= high):
            bad.append(f"{name}: {mean} is not within {low} to {high}")
    goodput = metrics["goodput_bps"]["mean"] or 0.0
    duration_s = scenario["run"]["duration_ns"] / 1e9
    if goodput > _fastest_bps(scenario) + _held_bits(scenario) / duration_s:
        bad.append(f"goodput {goodput} is above the PHY rate {_fastest_bps(scenario)}")
    airtime = simulation["airtime"]
    if not math.isclose(sum(airtime.values()), 1.0, abs_tol=1e-6) or min(airtime.values()) < 0:
        bad.append(f"airtime {airtime}")
    for parts, whole in (("flows", goodput), ("stations", 2 * goodput)):
        total = sum(one["goodput_bps"] for one in simulation[parts])
        if abs(total - whole) > 1e-6 * max(1.0, whole):
            bad.append(f"goodputs of {parts} add up to {total}, not to {whole}")
    if any(value < 0 for value in counts.values()):
        bad.append(f"counts {counts}")
    # An aggregate is one attempt with many frames, each of which may be dropped.
    if not scenario["mac"].get("aggregation") and counts["mac_drops"] > counts["mac_attempts"]:
        bad.append(f"counts {counts}")
    order = [metrics[f"transfer_time_{q}_s"]["mean"] for q in ("p50", "p90", "p99")]
    if None not in order and order != sorted(order):
        bad.append(f"percentiles of transfer times {order}")
    jain = metrics["jain_index"]["mean"]
    if jain is not None and jain < 1 / len(simulation["flows"]) - ROUNDING:
        bad.append(f"jain_index {jain} of {len(simulation['flows'])} flows")
    return bad


def _held_bits(scenario: dict[str, Any]) -> float:
    """Bits that receivers hold out of order at the end of the warm-up and deliver later."""
    count = {group["name"]: group["count"] for group in scenario["stations"]}
    return float(
        sum(
            8 * flow["tcp"]["receive_window_bytes"] * count[flow["stations"]]
            for flow in scenario["flows"]
            if flow.get("tcp")
        )
    )

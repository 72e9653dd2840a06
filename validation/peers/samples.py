"""Run scenarios, and compute samples and confidence intervals from the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from airtcp.run.simulate import simulate
from airtcp.scenario import loads
from airtcp.stats import student_interval

Answer = Mapping[str, Any]


def answers(text: str, *, seed: int | None = None, replications: int | None = None) -> list[Answer]:
    """Return the result of each replication of a scenario given as text."""
    result = simulate(loads(text), seed=seed, replications=replications, threads=1)
    return [run.answer for run in result.simulation.runs]


def metric(runs: Sequence[Answer], name: str) -> list[float]:
    """Return one metric of all replications; each must have it."""
    return [float(run["metrics"][name]) for run in runs]


def interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float]:
    """Return mean and half width of a sample's Student interval."""
    found = student_interval(values, confidence)
    assert found.mean is not None
    assert found.half_width is not None
    return found.mean, found.half_width


def ratio_adjusted(
    runs: Sequence[Answer], name: str, packets: Callable[[Answer], float], expected: float
) -> list[float]:
    """Return each replication's mean time, scaled to the expected number of packets per transfer.

    With heavy tails, most of the variance of a mean transfer time comes from the drawn sizes.
    Scaling by the sizes of the same run removes it.
    """
    return [run["metrics"][name] * expected / packets(run) for run in runs]


def packets_per_transfer(payload_bytes: int, measured_s: float) -> Callable[[Answer], float]:
    """Return mean packets per transfer, from the bytes delivered and the transfers that ended."""

    def packets(run: Answer) -> float:
        delivered = run["metrics"]["goodput_bps"] * measured_s / 8.0
        return float(delivered) / payload_bytes / int(run["counts"]["transfers"])

    return packets

"""Scenarios run to plain answers, and the samples and intervals that come of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from airtcp.run.simulate import simulate
from airtcp.scenario import loads
from airtcp.stats import student_interval

Answer = Mapping[str, Any]


def answers(text: str, *, seed: int | None = None, replications: int | None = None) -> list[Answer]:
    """The answer of each replication of a scenario in its written form."""
    result = simulate(loads(text), seed=seed, replications=replications, threads=1)
    return [run.answer for run in result.simulation.runs]


def metric(runs: Sequence[Answer], name: str) -> list[float]:
    """One metric of all replications; each must have it."""
    return [float(run["metrics"][name]) for run in runs]


def interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float]:
    """Mean and half width of its Student interval."""
    found = student_interval(values, confidence)
    assert found.mean is not None
    assert found.half_width is not None
    return found.mean, found.half_width


def ratio_adjusted(
    runs: Sequence[Answer], name: str, packets: Callable[[Answer], float], expected: float
) -> list[float]:
    """A mean time of each replication, scaled to the expected number of packets of a transfer.

    With heavy tails most of the noise of a mean transfer time is that of the sizes drawn. Scaled by
    the sizes of the same run it says how long a transfer takes for what it carries.
    """
    return [run["metrics"][name] * expected / packets(run) for run in runs]


def packets_per_transfer(payload_bytes: int, measured_s: float) -> Callable[[Answer], float]:
    """Mean packets of a transfer, from the bytes delivered and the transfers that ended."""

    def packets(run: Answer) -> float:
        delivered = run["metrics"]["goodput_bps"] * measured_s / 8.0
        return float(delivered) / payload_bytes / int(run["counts"]["transfers"])

    return packets

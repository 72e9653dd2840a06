"""Shared by the witnesses, like `peers.samples`: whether samples, or rows of peers, differ."""

from __future__ import annotations

import math
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, variance

import pytest
from peers.references import Reference
from peers.samples import Answer, metric
from scipy.special import stdtrit


def difference(
    left: Sequence[float], right: Sequence[float], confidence: float
) -> tuple[float, float]:
    """Return the difference of two means of independent samples, and its half width.

    Welch: the variances may differ, degrees of freedom after Satterthwaite. Samples without any
    spread (nothing ever collides) give a half width of zero, and then must be equal.
    """
    parts = [variance(values) / len(values) for values in (left, right)]
    spread = sum(parts)
    if spread == 0.0:
        return fmean(left) - fmean(right), 0.0
    sizes = (len(left), len(right))
    degrees = spread**2 / sum(part**2 / (size - 1) for part, size in zip(parts, sizes, strict=True))
    quantile = float(stdtrit(degrees, 0.5 + confidence / 2.0))
    return fmean(left) - fmean(right), quantile * math.sqrt(spread)


def beyond_rows(
    rows: Mapping[str, Reference], runs: list[Answer], bounds: Mapping[str, tuple[str, float]]
) -> Iterator[str]:
    """Yield the metrics that differ from a row by more than allowed.

    `bounds` has by a peer's name of a metric airtcp's name, and the largest relative difference; a
    value may also lie within the interval of the row.
    """
    for theirs, (ours, share) in bounds.items():
        if theirs in rows:
            mean, half_width, _ = rows[theirs]
            found = fmean(metric(runs, ours))
            if abs(found - mean) > max(share * mean, half_width) + 1e-9:
                yield f"{theirs}: {found}, and not {mean}"


needs_tshark = pytest.mark.skipif(
    shutil.which("tshark") is None,
    reason="NOT TESTED: captures against Wireshark, because tshark is not installed "
    "(Debian: apt install tshark)",
)


def tshark(path: Path, *options: str) -> list[str]:
    """Return the lines that tshark prints, with checksums verified, which is not its default."""
    checks = [
        word for name in ("ip", "tcp", "udp") for word in ("-o", f"{name}.check_checksum:TRUE")
    ]
    command = ["tshark", "-n", "-r", str(path), *checks, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def malformed(path: Path, *options: str) -> list[str]:
    """Return frames that tshark calls malformed or warns of, except for the order of segments."""
    unusual = "_ws.expert.severity >= 6291456 && !tcp.analysis.flags"
    only = f"_ws.malformed || _ws.short || ({unusual})"
    return tshark(path, *options, "-Y", only)


def fields(
    path: Path, *names: str, only: str = "", options: tuple[str, ...] = ()
) -> list[list[str]]:
    """Return fields of each frame that passes the display filter `only`."""
    wanted = [word for name in names for word in ("-e", name)]
    chosen = ["-Y", only] if only else []
    lines = tshark(path, *options, *chosen, "-T", "fields", *wanted)
    return [line.split("\t") for line in lines]

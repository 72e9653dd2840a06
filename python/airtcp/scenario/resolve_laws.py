"""Resolve laws of sizes, times or counts: compute their parameters from moments or data files."""

from __future__ import annotations

import math
from pathlib import Path as FilePath

from .. import distributions
from ..units import SIZE, TIME
from .access_log import DataFileError, read_access_log, read_csv_column
from .errors import InvalidError, Path, invalid
from .quantities import MOST_COUNTED, Written


def resolve_distribution(
    written: Written, here: Path, base: FilePath, *, of: str
) -> distributions.Distribution:
    """Return the resolved distribution of a size (bytes), a time (seconds) or a count.

    Raises:
        InvalidError: parameters that do not fit together, or a data file that cannot be used.
    """
    match written.distribution:
        case "deterministic":
            if (written.value is None) == (written.mean is None):
                raise invalid((*here, "value"), "laws.value_or_mean")
            value = written.mean if written.value is None else written.value
            return distributions.Deterministic(value=float(value))
        case "exponential":
            return distributions.Exponential(mean=written.mean)
        case "pareto":
            mean, shape = written.mean, written.shape
            return distributions.Pareto(shape=shape, scale=mean * (shape - 1) / shape)
        case "hyperexponential":
            # Balanced means: p m1 = (1 - p) m2 = mean / 2. With r = sqrt((scv-1)/(scv+1)) it is p =
            # (1 + r) / 2, and 1 - p = 1 / ((scv + 1)(1 + r)) without cancellation.
            mean, scv = written.mean, written.scv
            root = math.sqrt((scv - 1) / (scv + 1))
            return distributions.Hyperexponential(
                probability=(1 + root) / 2,
                mean_1=mean / (1 + root),
                mean_2=mean * (scv + 1) * (1 + root) / 2,
            )
        case "lognormal":
            variance = math.log1p(written.scv)
            return distributions.Lognormal(
                mu=math.log(written.mean) - variance / 2, sigma=math.sqrt(variance)
            )
        case "uniform":
            if written.low >= written.high:
                raise invalid((*here, "high"), "laws.low_and_high")
            return distributions.Uniform(low=float(written.low), high=written.high)
        case _:
            return _empirical(written, here, base, of=of)


def _empirical(written: Written, here: Path, base: FilePath, *, of: str) -> distributions.Empirical:
    file = base / written.file
    try:
        if written.column is not None:
            quantity = TIME if of == "time" else SIZE
            return read_csv_column(
                file,
                written.column,
                zero_allowed=of == "time",
                most=float(MOST_COUNTED if of == "count" else quantity.most),
            )
        if of != "size" or file.name.lower().endswith((".csv", ".csv.gz")):
            raise invalid(
                (*here, "column"),
                "laws.no_column",
                value="a CSV file needs it" if of == "size" else f"an access log has no {of}s",
            )
        return read_access_log(file)
    except DataFileError as error:
        raise InvalidError((*here, error.key), str(error)) from error

"""Distributions of the resolved form: parameters, moments, tails, expected number of segments.

A distribution describes a size in bytes or a time in seconds. The core draws samples and the models
integrate; both use these parameters.

The core rounds a drawn size up to whole bytes, at least 1 byte; `expected_segments` accounts for
that.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Annotated, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

# SciPy is imported only where needed: the import takes as long as reading a scenario.

Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
FloatArray = NDArray[np.float64]

_LOGNORMAL_TERMS = 1_000_000


class _Law(BaseModel):
    """Base class of all distributions. Subclasses define moments and tail."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True
    )

    @abstractmethod
    def mean(self) -> float:
        """E[X]."""

    @abstractmethod
    def second_moment(self) -> float:
        """E[X^2]; infinity if there is none."""

    @abstractmethod
    def survival(self, x: ArrayLike) -> FloatArray:
        """P(X > x) for every element of `x`."""

    @abstractmethod
    def scaled(self, factor: float) -> Self:
        """Return the distribution of `factor` * X, for a factor above 0."""

    def scv(self) -> float:
        """Squared coefficient of variation, Var[X] / E[X]^2; may be infinite; 0 if X = 0."""
        mean = self.mean()
        if mean == 0:
            return 0.0
        return max(0.0, self.second_moment() / mean**2 - 1)

    def expected_segments(self, mss_bytes: int) -> float:
        """E[number of segments] of a transfer of X bytes; a partial last segment counts as one.

        With S = max(1, ceil(X)) bytes this is E[ceil(S/mss)] = 1 + sum_{k>=1} P(X > k mss): for an
        integer mss, rounding to whole bytes first changes nothing.

        Raises:
            ValueError: `mss_bytes` is below 1.
        """
        if mss_bytes < 1:
            raise ValueError(f"mss_bytes must be at least 1, not {mss_bytes}")
        return 1.0 + self._tail_sum(float(mss_bytes))

    @abstractmethod
    def _tail_sum(self, step: float) -> float:
        """sum_{k>=1} P(X > k step)."""


class Deterministic(_Law):
    """Always `value`."""

    kind: Literal["deterministic"] = "deterministic"
    value: NotNegative

    def mean(self) -> float:
        """E[X]."""
        return self.value

    def second_moment(self) -> float:
        """E[X^2]."""
        return self.value**2

    def survival(self, x: ArrayLike) -> FloatArray:
        """P(X > x)."""
        return np.where(np.asarray(x, dtype=float) < self.value, 1.0, 0.0)

    def scaled(self, factor: float) -> Self:
        """Return the distribution of `factor` * X."""
        return type(self)(value=factor * self.value)

    def _tail_sum(self, step: float) -> float:
        # k step < value
        return float(max(0, math.ceil(self.value / step) - 1))


class Exponential(_Law):
    """P(X > x) = exp(-x / mean)."""

    kind: Literal["exponential"] = "exponential"
    mean_: Positive = Field(alias="mean")

    def mean(self) -> float:
        """E[X]."""
        return self.mean_

    def second_moment(self) -> float:
        """E[X^2] = 2 mean^2."""
        return 2 * self.mean_**2

    def survival(self, x: ArrayLike) -> FloatArray:
        """P(X > x)."""
        return _exponential_survival(x, self.mean_)

    def scaled(self, factor: float) -> Self:
        """Return the distribution of `factor` * X."""
        return type(self)(mean=factor * self.mean_)

    def _tail_sum(self, step: float) -> float:
        return _exponential_tail_sum(step, self.mean_)


class Pareto(_Law):
    """P(X > x) = (scale / x)^shape for x >= scale."""

    kind: Literal["pareto"] = "pareto"
    shape: Annotated[float, Field(gt=1)]
    scale: Positive

    def mean(self) -> float:
        """E[X] = shape scale / (shape - 1)."""
        return self.shape * self.scale / (self.shape - 1)

    def second_moment(self) -> float:
        """E[X^2] = shape scale^2 / (shape - 2); infinity for a shape of 2 or less."""
        if self.shape <= 2:
            return math.inf
        return self.shape * self.scale**2 / (self.shape - 2)

    def survival(self, x: ArrayLike) -> FloatArray:
        """P(X > x)."""
        below = np.maximum(np.asarray(x, dtype=float), self.scale)
        return np.asarray((self.scale / below) ** self.shape, dtype=float)

    def scaled(self, factor: float) -> Self:
        """Return the distribution of `factor` * X."""
        return type(self)(shape=self.shape, scale=factor * self.scale)

    def _tail_sum(self, step: float) -> float:
        # The first `certain` terms are 1; the others are (scale/step)^shape / k^shape, a Hurwitz
        # zeta.
        ratio = self.scale / step
        certain = math.floor(ratio)
        first = certain + 1.0
        return certain + math.pow(ratio / first, self.shape) * _scaled_zeta(self.shape, first)


class Hyperexponential(_Law):
    """Exponential with mean `mean_1` with the given probability, otherwise with mean `mean_2`."""

    kind: Literal["hyperexponential"] = "hyperexponential"
    probability: Annotated[float, Field(gt=0, lt=1)]
    mean_1: Positive
    mean_2: Positive

    def mean(self) -> float:
        """E[X]."""
        return self._mix(self.mean_1, self.mean_2)

    def second_moment(self) -> float:
        """E[X^2]."""
        return self._mix(2 * self.mean_1**2, 2 * self.mean_2**2)

    def survival(self, x: ArrayLike) -> FloatArray:
        """P(X > x)."""
        first = _exponential_survival(x, self.mean_1)
        second = _exponential_survival(x, self.mean_2)
        return self.probability * first + (1 - self.probability) * second

    def scaled(self, factor: float) -> Self:
        """Return the distribution of `factor` * X."""
        return type(self)(
            probability=self.probability, mean_1=factor * self.mean_1, mean_2=factor * self.mean_2
        )

    def _tail_sum(self, step: float) -> float:
        return self._mix(
            _exponential_tail_sum(step, self.mean_1),
            _exponential_tail_sum(step, self.mean_2),
        )

    def _mix(self, first: float, second: float) -> float:
        return self.probability * first + (1 - self.probability) * second


class Lognormal(_Law):
    """ln X is normal with mean `mu` and standard deviation `sigma`."""

    kind: Literal["lognormal"] = "lognormal"
    mu: float
    sigma: Positive

    def mean(self) -> float:
        """E[X] = exp(mu + sigma^2/2)."""
        return math.exp(self.mu + self.sigma**2 / 2)

    def second_moment(self) -> float:
        """E[X^2] = exp(2 mu + 2 sigma^2)."""
        return math.exp(2 * self.mu + 2 * self.sigma**2)

    def survival(self, x: ArrayLike) -> FloatArray:
        """P(X > x)."""
        from scipy.special import ndtr

        x = np.asarray(x, dtype=float)
        with np.errstate(divide="ignore", over="ignore"):
            z = (np.log(np.maximum(x, 0.0)) - self.mu) / self.sigma
        return np.asarray(ndtr(-z), dtype=float)

    def scaled(self, factor: float) -> Self:
        """Return the distribution of `factor` * X."""
        return type(self)(mu=self.mu + math.log(factor), sigma=self.sigma)

    def _tail_sum(self, step: float) -> float:
        from scipy.special import ndtr

        # The terms up to the nine-sigma quantile (at most a million) are summed; the rest follows
        # from Euler-Maclaurin: sum_{k>n} g(k) = int_n^inf g - g(n)/2 - g'(n)/12 + ..., whose next
        # term is g'''(n)/720. There g changes over some n sigma/9 steps or more, so the omitted
        # terms are below 1e-9 of the sum as long as n sigma is large, and below one segment in any
        # case.
        last = math.exp(min(self.mu + 9 * self.sigma, 700.0)) / step
        n = int(min(max(100.0, math.ceil(last)), _LOGNORMAL_TERMS))
        terms = float(np.sum(self.survival(step * np.arange(1, n + 1, dtype=float))))
        x = n * step
        log_x = math.log(x)
        z = (log_x - self.mu) / self.sigma
        excess = self.mean() * float(ndtr(self.sigma - z)) - x * float(ndtr(-z))
        density = math.exp(-z * z / 2) / (x * self.sigma * math.sqrt(2 * math.pi))
        rest = excess / step - float(ndtr(-z)) / 2 + step * density / 12
        return terms + max(0.0, rest)


class Uniform(_Law):
    """Uniform between `low` and `high`."""

    kind: Literal["uniform"] = "uniform"
    low: NotNegative
    high: Positive

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low >= self.high:
            raise ValueError("low must be below high")
        return self

    def mean(self) -> float:
        """E[X]."""
        return (self.low + self.high) / 2

    def second_moment(self) -> float:
        """E[X^2]."""
        return (self.low**2 + self.low * self.high + self.high**2) / 3

    def survival(self, x: ArrayLike) -> FloatArray:
        """P(X > x)."""
        inside = (self.high - np.asarray(x, dtype=float)) / (self.high - self.low)
        return np.clip(inside, 0.0, 1.0)

    def scaled(self, factor: float) -> Self:
        """Return the distribution of `factor` * X."""
        return type(self)(low=factor * self.low, high=factor * self.high)

    def _tail_sum(self, step: float) -> float:
        # 1 for each k step <= low, then an arithmetic series up to k step <= high.
        certain = math.floor(self.low / step)
        last = math.floor(self.high / step)
        count = last - certain
        total = count * self.high - step * (certain + 1 + last) * count / 2
        return certain + total / (self.high - self.low)


class Empirical(_Law):
    """Samples from data: `values` in strictly ascending order, each with its count."""

    kind: Literal["empirical"] = "empirical"
    values: Annotated[tuple[NotNegative, ...], Field(min_length=1)]
    counts: Annotated[tuple[Annotated[int, Field(gt=0)], ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if len(self.values) != len(self.counts):
            raise ValueError("values and counts must have the same length")
        if any(a >= b for a, b in zip(self.values, self.values[1:], strict=False)):
            raise ValueError("values must be ascending and different")
        return self

    def mean(self) -> float:
        """E[X]."""
        return float(np.dot(self._values(), self._weights()))

    def second_moment(self) -> float:
        """E[X^2]."""
        return float(np.dot(self._values() ** 2, self._weights()))

    def survival(self, x: ArrayLike) -> FloatArray:
        """P(X > x)."""
        counts = np.asarray(self.counts, dtype=np.int64)
        above = np.concatenate((np.cumsum(counts[::-1])[::-1], [0]))
        first_above = np.searchsorted(self._values(), np.asarray(x, dtype=float), side="right")
        return np.asarray(above[first_above] / counts.sum(), dtype=float)

    def scaled(self, factor: float) -> Self:
        """Return the distribution of `factor` * X."""
        values = tuple(factor * value for value in self.values)
        return type(self)(values=values, counts=self.counts)

    def _tail_sum(self, step: float) -> float:
        segments = np.maximum(np.ceil(self._values() / step) - 1, 0.0)
        return float(np.dot(segments, self._weights()))

    def _values(self) -> FloatArray:
        return np.asarray(self.values, dtype=float)

    def _weights(self) -> FloatArray:
        counts = np.asarray(self.counts, dtype=float)
        return np.asarray(counts / counts.sum(), dtype=float)


Distribution = Annotated[
    Deterministic | Exponential | Pareto | Hyperexponential | Lognormal | Uniform | Empirical,
    Field(discriminator="kind"),
]


def _exponential_survival(x: ArrayLike, mean: float) -> FloatArray:
    return np.asarray(np.exp(-np.maximum(np.asarray(x, dtype=float), 0.0) / mean), dtype=float)


def _exponential_tail_sum(step: float, mean: float) -> float:
    # A geometric series: 1 / (exp(step/mean) - 1). For a mean far below the step it is 0.
    ratio = step / mean
    return 0.0 if ratio > 700 else 1 / math.expm1(ratio)


def _scaled_zeta(s: float, q: float) -> float:
    """Compute q^s zeta(s, q) = sum_{j>=0} (1 + j/q)^-s, even if q^s overflows a float."""
    if s * math.log(q) < 600:
        from scipy.special import zeta

        return math.pow(q, s) * float(zeta(s, q))
    if q > 10 * s:
        # Euler-Maclaurin; the next term is below s^5 / (30240 q^5) < 1e-9.
        return q / (s - 1) + 0.5 + s / (12 * q) - s * (s + 1) * (s + 2) / (720 * q**3)
    # s is above 80 here; the terms from the last one on add up to less than 1e-15.
    last = math.ceil(q * math.expm1(45 / s))
    return float(np.sum((1 + np.arange(last + 1) / q) ** -s))

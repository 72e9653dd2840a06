"""Adjust sums of replications for controls by regression, and compute jackknife pseudo-values.

The inputs are arrays: totals, and controls whose mean is zero, of independent replications.

Each control is subtracted with a least-squares coefficient (S. Lavenberg, P. Welch, "A perspective
on the use of control variables to increase the efficiency of Monte Carlo simulations", Management
Science 27(3), 1981). The fit uses windows, several of each replication, because five replications
would not determine three coefficients. The intervals come only from replications, each left out in
turn with the coefficients fitted anew (R. Miller, "The jackknife: a review", Biometrika 61, 1974).
So windows need not be independent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

#: A control smaller than this relative to the sums is a rounding error.
_NOTHING = 1e-12


@dataclass(frozen=True, slots=True)
class Adjusted:
    """Mean totals of a replication, adjusted for controls.

    `whole` has a number for each column, over all replications. `without` has a row for each
    replication that is left out.
    """

    whole: Array
    without: Array

    def pseudo_values(self, of: Callable[[Array], Array]) -> Array:
        """Return the jackknife's pseudo-values of a function of the columns.

        `of` takes an array whose last axis is the columns, and returns one number for each row. The
        mean of the pseudo-values is the estimate, and their Student interval is its interval.
        """
        n = len(self.without)
        return np.asarray(n * of(self.whole) - (n - 1) * of(self.without))


def adjusted(totals: Array, controls: Array) -> Adjusted:
    """Adjust totals for controls.

    `totals` has the shape (replications, windows, columns), `controls` (replications, windows,
    controls): sums over each window. With one replication, `without` is empty.
    """
    n, windows = totals.shape[:2]
    sums = totals.sum(axis=1)
    if controls.shape[2] == 0 or n * windows < 2 * controls.shape[2] + 4:
        return Adjusted(sums.mean(axis=0), _left_out(sums) / max(n - 1, 1))
    scale = np.abs(controls).max(axis=(0, 1))
    scaled = controls / np.where(scale > 0.0, scale, 1.0)
    drawn = scaled.sum(axis=1)
    # Normal equations of each replication. Leaving one out is a subtraction.
    moments = np.einsum("rwi,rwj->rij", scaled, scaled)
    products = np.einsum("rwi,rwc->ric", scaled, totals)
    every = (n * windows, moments.sum(axis=0), products.sum(axis=0), drawn.sum(0), sums.sum(0))
    others = (
        (n - 1) * windows,
        _left_out(moments),
        _left_out(products),
        _left_out(drawn),
        _left_out(sums),
    )
    return Adjusted(
        _free(*every) / n,
        _free(*others) / (n - 1) if n > 1 else sums[:0],
    )


def _left_out(values: Array) -> Array:
    """Return, for each replication, the sum over all others."""
    return np.asarray(values.sum(axis=0) - values)


def _free(count: int, moments: Array, products: Array, drawn: Array, sums: Array) -> Array:
    """Subtract the controls from the sums, with the coefficients of least squares."""
    centred = moments - drawn[..., :, None] * drawn[..., None, :] / count
    beside = products - drawn[..., :, None] * sums[..., None, :] / count
    inverse = np.linalg.pinv(centred, rcond=_NOTHING, hermitian=True)
    coefficients = inverse @ beside
    return np.asarray(sums - np.einsum("...i,...ic->...c", drawn, coefficients))

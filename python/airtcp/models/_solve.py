"""Roots of monotone functions, many at a time, verified.

Knows no model: the models of contention bring a function that never decreases on an interval.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from airtcp.exceptions import ConvergenceError
from airtcp.models._checks import Values

_MAX_HALVINGS = 1_100
"""Enough to go from 1 down to the smallest double; about 60 do for roots of ordinary size."""


def increasing_root(
    function: Callable[[Values], Values], low: Values, high: Values, *, what: str
) -> Values:
    """The points where `function`, which never decreases, changes its sign.

    `function` maps an array of the shape of `low` and `high` to one of the same shape. Plain
    bisection: the bracket shrinks until no double lies between its ends, so the answer is as
    good as the function itself. The end with the smaller residual is returned.

    Raises `ConvergenceError` (with `what` in the message) where the ends do not bracket a root,
    or where the function is not finite or jumps over zero.
    """
    low, high = np.array(low, dtype=np.float64), np.array(high, dtype=np.float64)
    f_low, f_high = function(low), function(high)
    _require((f_low <= 0.0) & (f_high >= 0.0), f"{what}: no root between the ends of the interval")
    for _ in range(_MAX_HALVINGS):
        middle = low + 0.5 * (high - low)
        if np.all((middle <= low) | (middle >= high) | (f_low == 0.0) | (f_high == 0.0)):
            break
        f_middle = function(middle)
        below = f_middle <= 0.0
        low, f_low = np.where(below, middle, low), np.where(below, f_middle, f_low)
        high, f_high = np.where(below, high, middle), np.where(below, f_high, f_middle)
    else:
        raise ConvergenceError(f"{what}: {_MAX_HALVINGS} halvings did not close the interval")
    root = np.where(-f_low <= f_high, low, high)
    _require(np.minimum(-f_low, f_high) <= 1e-9, f"{what}: the residual does not vanish")
    return root


def _require(good: NDArray[np.bool_], message: str) -> None:
    if not np.all(good):
        raise ConvergenceError(f"{message} ({np.size(good) - np.count_nonzero(good)} of them)")

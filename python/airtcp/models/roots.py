"""Find roots of monotone functions, many at a time, and verify them."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from airtcp.exceptions import ConvergenceError
from airtcp.models.checks import Values
from airtcp.phrases import phrase

_EPSILON = float(np.finfo(np.float64).eps)
_MOST_STEPS = 200
"""Each step halves the bracket or better: from 1 to a part in 10^16 in 55 at worst, in 8 mostly."""


def increasing_root(
    function: Callable[[Values], Values], low: Values, high: Values, *, what: str
) -> Values:
    """Return the points where `function`, which never decreases, changes sign.

    `function` maps an array of the shape of `low` and `high` to one of the same shape. Ridders'
    method (C. Ridders, IEEE Trans. Circuits and Systems 26, 1979) halves the bracket, and cuts it
    again where an exponential through the three points vanishes. A point is done when its residual
    is at rounding error (with a slope of one or more this also bounds the root's error), or when
    its bracket contains hardly another double. The end with the smaller residual is returned.

    Raises `ConvergenceError` (with `what` in the message) if the ends do not bracket a root, or if
    the function is not finite or jumps over zero.
    """
    low, high = np.array(low, dtype=np.float64), np.array(high, dtype=np.float64)
    f_low, f_high = function(low), function(high)
    _require((f_low <= 0.0) & (f_high >= 0.0), "no_root", what)
    for _ in range(_MOST_STEPS):
        close = 16.0 * _EPSILON
        done = (-f_low <= close * low) | (f_high <= close * high) | (high - low <= close * low)
        if done.all():
            break
        middle = low + 0.5 * (high - low)
        f_middle = function(middle)
        with np.errstate(divide="ignore", invalid="ignore"):
            cut = middle - (middle - low) * f_middle / np.sqrt(f_middle**2 - f_low * f_high)
        cut = np.where((cut > low) & (cut < high), cut, middle)
        for point, value in ((middle, f_middle), (cut, function(cut))):
            below, above = (value <= 0.0) & (point > low), (value > 0.0) & (point < high)
            low, f_low = np.where(below, point, low), np.where(below, value, f_low)
            high, f_high = np.where(above, point, high), np.where(above, value, f_high)
    else:
        raise ConvergenceError(phrase("models.solver.open_interval", what=what, most=_MOST_STEPS))
    _require(np.minimum(-f_low, f_high) <= 1e-9, "residual", what)
    return np.where(-f_low <= f_high, low, high)


def _require(good: NDArray[np.bool_], problem: str, what: str) -> None:
    if not np.all(good):
        number = np.size(good) - np.count_nonzero(good)
        raise ConvergenceError(phrase(f"models.solver.{problem}", what=what, number=number))

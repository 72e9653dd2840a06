"""Check the numbers that callers pass to the models.

Each function converts an argument to a float array, or raises `ValueError` with its name.
"""

import math
from typing import Literal, TypeAlias, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import ArrayLike, NDArray

from airtcp.phrases import phrase

Values: TypeAlias = NDArray[np.float64]
"""Results of a model: an array, or a NumPy scalar where every argument was a scalar."""

_LARGEST = 1e15
_SMALLEST = 1e-30


def real(
    name: str,
    value: ArrayLike,
    *,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
    whole: bool = False,
) -> Values:
    """Return `value` as finite floats within bounds; otherwise raise `ValueError` with `name`.

    Values beyond 1e15 and (if `above` is 0) below 1e-30 are meaningless in a network, and products
    of several would overflow; these bounds always apply.
    """
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "iuf":
            raise TypeError
        array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(phrase("models.input.not_real", name=name, value=value)) from None
    if array.size == 0:
        raise ValueError(phrase("models.input.empty", name=name))
    low, high = float(array.min()), float(array.max())
    bounds = (at_least, above, at_most)
    if _between(low, high, *bounds) and not (whole and np.any(array != np.floor(array))):
        return array
    if not np.isfinite(array).all():
        raise ValueError(
            phrase(
                "models.input.not_finite", name=name, array=_offender(array, ~np.isfinite(array))
            )
        )
    _refuse(name, array, np.abs(array) > _LARGEST, f"at most {_LARGEST:g} in size")
    _refuse(name, array, at_least is not None and array < at_least, f"at least {at_least}")
    _refuse(name, array, above is not None and array <= above, f"greater than {above}")
    _refuse(name, array, (above == 0.0) & (array < _SMALLEST), f"at least {_SMALLEST:g}")
    _refuse(name, array, at_most is not None and array > at_most, f"at most {at_most}")
    _refuse(name, array, whole and array != np.floor(array), "a whole number")
    return array


def scalar(
    name: str,
    value: ArrayLike,
    *,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
    whole: bool = False,
) -> float:
    """Check a value like `real`, for an argument that cannot be an array."""
    if isinstance(value, float) or (type(value) is int and abs(value) < 2**53):
        number = float(value)
        inside = _between(number, number, at_least, above, at_most)
        if inside and not (whole and number != math.floor(number)):
            return number
    array = real(name, value, at_least=at_least, above=above, at_most=at_most, whole=whole)
    if array.ndim:
        raise ValueError(phrase("models.input.not_scalar", name=name, shape=array.shape))
    return float(array)


def broadcast(**arguments: Values) -> tuple[Values, ...]:
    """Return the arguments at their common shape; raise `ValueError` if there is none."""
    try:
        return tuple(np.broadcast_arrays(*arguments.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arguments.items())
        raise ValueError(phrase("models.input.shapes", shapes=shapes)) from None


def choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """Raise `ValueError` unless `value` is one of `allowed`."""
    if value not in allowed:
        raise ValueError(
            phrase("models.input.not_one_of", name=name, repr=map(repr, allowed), value=value)
        )


def choices(record: object) -> None:
    """Raise `ValueError` unless each `Literal` field of a dataclass has one of its values."""
    for name, hint in get_type_hints(type(record)).items():
        if get_origin(hint) is Literal:
            choice(name, getattr(record, name), get_args(hint))


def _between(
    low: float, high: float, at_least: float | None, above: float | None, at_most: float | None
) -> bool:
    """Return whether all of `low` to `high` is allowed; `_refuse` describes the limits in words."""
    return (
        low >= (-_LARGEST if at_least is None else at_least)
        and (above is None or low > above)
        and (above != 0.0 or low >= _SMALLEST)
        and high <= (_LARGEST if at_most is None else min(at_most, _LARGEST))
        and low >= -_LARGEST
    )


def _refuse(name: str, array: Values, bad: NDArray[np.bool_] | bool, wanted: str) -> None:
    if np.any(bad):
        raise ValueError(
            phrase(
                "models.input.refused",
                name=name,
                wanted=wanted,
                array=_offender(array, np.asarray(bad)),
            )
        )


def _offender(array: Values, bad: NDArray[np.bool_]) -> float:
    """Return the first wrong value, for the message."""
    return float(array[bad].flat[0]) if array.ndim else float(array)


def different(values: Values) -> list[float]:
    """Return the distinct `values` in ascending order.

    `numpy.unique` imports masked arrays, which takes longer than most predictions.
    """
    return sorted(set(values.ravel().tolist()))

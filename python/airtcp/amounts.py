"""Format amounts for people: values with units, intervals, percentages and durations.

`metrics` defines what is measured; `units` reads quantities that users write.
"""

from __future__ import annotations

import math
from typing import Final

from airtcp.stats import Interval

_DECIMAL_PREFIXES: Final = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_SECOND_PREFIXES: Final = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
#: From this many units on, a half width is shown in a unit of its own: "0 ± 15 kb/s".
_MANY_DIGITS: Final = 10_000


def scaled(value: float, unit: str) -> tuple[float, str]:
    """Return the factor and the prefixed unit to show `value` in: 2.3e6 b/s gives 1e6, "Mb/s".

    Divide values by the factor. Only seconds and bits per second get prefixes. For "%" the factor
    is 0.01.
    """
    size = abs(value)
    if unit == "%":
        return 0.01, unit
    if unit == "b/s":
        for factor, prefix in _DECIMAL_PREFIXES:
            if size >= factor:
                return factor, f"{prefix}b/s"
        return 1.0, "b/s"
    if unit == "s" and size > 0.0:
        for factor, name in _SECOND_PREFIXES:
            if size >= factor:
                return factor, name
        return 1e-9, "ns"
    return 1.0, unit


def quantity(value: float | None, unit: str, significant: int = 4) -> str:
    """Format `value` with its unit: 2312345.0 and "b/s" give "2.312 Mb/s".

    None becomes a dash.
    """
    if value is None:
        return "–"
    factor, name = scaled(value, unit)
    return _join(_plain(value / factor, _decimals(value / factor, significant)), name)


def quantity_with_interval(interval: Interval, unit: str) -> str:
    """Format a mean and its half width, such as "2.312 ± 0.004 Mb/s".

    The half width has two significant digits, and the mean has as many decimals. Both use the
    mean's unit, unless the half width would have five digits in it. Without an interval only the
    mean is shown. The same holds for a zero without spread: replications that never saw an event
    cannot bound its rate. If only a lower bound is known, the text is "at least 17.2 s"; a lower
    bound of zero is shown as a dash.
    """
    mean, half_width = interval.mean, interval.half_width
    if interval.high is None and interval.low is not None:
        return f"at least {quantity(interval.low, unit)}" if interval.low else quantity(None, unit)
    if interval.low is None and interval.high is not None:
        return f"at most {quantity(interval.high, unit)}"
    if mean is None or half_width is None or mean == half_width == 0.0:
        return quantity(mean, unit)
    if mean == 0.0:
        return f"at most {quantity(interval.high, unit, 2)}"
    if half_width > abs(mean) > 0.0 and (interval.low or 0.0) > 0.0:
        # Show bounds instead of "±", because the metric cannot be negative.
        return f"{quantity(interval.low, unit, 2)} to {quantity(interval.high, unit, 2)}"
    factor, name = scaled(mean, unit)
    if half_width >= _MANY_DIGITS * factor:
        factor, name = scaled(half_width, unit)
    mean, half_width = mean / factor, half_width / factor
    if half_width == 0.0:
        return _join(f"{_plain(mean, _decimals(mean, 4))} ± 0", name)
    decimals = min(_decimals(half_width, 2), max(_decimals(mean, 4), 4))
    return _join(f"{_plain(mean, decimals)} ± {_plain(half_width, decimals)}", name)


def percent(fraction: float | None, signed: bool = False) -> str:
    """Format a fraction as a percentage: "0.05 %", "8.5 %", "62 %", or "+3.1 %" if `signed`.

    From 99 to 100 % there is a decimal more, such as "99.8 %": only all is "100 %".
    """
    if fraction is None:
        return "–"
    number = 100.0 * fraction
    # Distances from 0 % or, above 99 %, from 100 %, have about two significant digits.
    size = 10.0 * (100.0 - abs(number)) if 99.0 < abs(number) < 100.0 else abs(number)
    digits = 0 if size >= 9.95 or number == 0.0 else 1 if size >= 0.995 else 2
    # The "z" flag drops the sign of values that round to zero.
    return f"{number:+z.{digits}f} %" if signed else f"{number:z.{digits}f} %"


def duration(seconds: float) -> str:
    """Format a duration: "0.42 s", "1 min 20 s", "2 h 05 min"."""
    if seconds < 10.0:
        return f"{seconds:.2f} s" if seconds >= 0.1 else f"{1e3 * seconds:.1f} ms"
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 120:
        return f"{minutes} min {rest:02d} s" if rest else f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest:02d} min"


def _decimals(value: float, significant: int) -> int:
    if value == 0.0:
        return 0
    return max(0, significant - 1 - math.floor(math.log10(abs(value))))


def _plain(value: float, decimals: int) -> str:
    if value != 0.0 and abs(value) < 1e-4 and decimals > 6:
        return f"{value:.2e}"
    return f"{value:z.{decimals}f}"


def _join(number: str, unit: str) -> str:
    return f"{number} {unit}" if unit else number

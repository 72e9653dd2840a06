"""Quantities with units as text: "20 us", "11 Mb/s", "30 kB", "2 %".

Parses times, rates, sizes, percentages, powers and lengths exactly, without floats, and formats
them for people.

Decimal prefixes are powers of 1000 ("30 kB" is 30000 bytes), binary ones powers of 1024 ("64 KiB"
is 65536 bytes), as in IEC 80000-13. A capital B is a byte, a small b a bit. A quantity always needs
a unit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from .exceptions import UnitError

NS_PER_S = 1_000_000_000


@dataclass(frozen=True, eq=False)
class Quantity:
    """A kind of quantity: its name, units as factors of the base unit, and an example."""

    noun: str
    units: Mapping[str, Fraction]
    shown: tuple[str, ...]
    example: str
    largest: tuple[int, str]
    """The largest accepted quantity as (power of ten, unit). Larger values make no sense in a
    scenario, and sums of nanoseconds or bits would overflow 64-bit integers."""
    signed: bool = False
    """Negative values are allowed, with the same largest magnitude."""

    @property
    def most(self) -> Fraction:
        """The largest accepted quantity in the base unit."""
        exponent, unit = self.largest
        return Fraction(10) ** exponent * self.units[unit]

    @property
    def pattern(self) -> str:
        """A regular expression (JSON Schema dialect) that every accepted text matches."""
        units = "|".join(re.escape(unit) for unit in self.units)
        sign = "-?" if self.signed else ""
        return rf"^\s*{sign}{_NUMBER}\s*({units})\s*$"


_NUMBER = r"\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"
_SPLIT = re.compile(
    r"\s*([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(.*?)\s*", re.DOTALL
)
_NOT_FINITE = re.compile(r"\s*[+-]?(inf|infinity|nan)\b.*", re.IGNORECASE | re.DOTALL)

TIME = Quantity(
    noun="a time",
    units={
        "ns": Fraction(1, NS_PER_S),
        "us": Fraction(1, 1_000_000),
        "µs": Fraction(1, 1_000_000),  # micro sign
        "μs": Fraction(1, 1_000_000),  # Greek mu, which some keyboards produce
        "ms": Fraction(1, 1000),
        "s": Fraction(1),
        "min": Fraction(60),
        "h": Fraction(3600),
        # Other common spellings.
        "sec": Fraction(1),
        "second": Fraction(1),
        "seconds": Fraction(1),
        "minute": Fraction(60),
        "minutes": Fraction(60),
        "hour": Fraction(3600),
        "hours": Fraction(3600),
    },
    shown=("ns", "us", "ms", "s", "min", "h"),
    example="20 us",
    largest=(9, "s"),
)
RATE = Quantity(
    noun="a rate",
    units={
        f"{prefix}{unit}": Fraction(factor)
        for unit in ("b/s", "bit/s", "bps")
        for prefix, factor in (("", 1), ("k", 10**3), ("M", 10**6), ("G", 10**9))
    },
    shown=("b/s", "kb/s", "Mb/s", "Gb/s"),
    example="11 Mb/s",
    largest=(12, "b/s"),
)
SIZE = Quantity(
    noun="a size",
    units={
        "B": Fraction(1),
        "kB": Fraction(10**3),
        "MB": Fraction(10**6),
        "GB": Fraction(10**9),
        "KiB": Fraction(2**10),
        "MiB": Fraction(2**20),
        "GiB": Fraction(2**30),
        "b": Fraction(1, 8),
        "bit": Fraction(1, 8),
        "bits": Fraction(1, 8),
        "byte": Fraction(1),
        "bytes": Fraction(1),
    },
    shown=("B", "kB", "MB", "GB", "KiB", "MiB", "GiB", "b"),
    example="30 kB",
    largest=(15, "B"),
)
PERCENT = Quantity(
    noun="a percentage",
    units={"%": Fraction(1, 100)},
    shown=("%",),
    example="2 %",
    largest=(6, "%"),
)


DECIBELS = Quantity(
    noun="a ratio in decibels",
    units={"dB": Fraction(1)},
    shown=("dB",),
    example="25 dB",
    largest=(2, "dB"),
)
POWER = Quantity(
    noun="a power",
    units={"dBm": Fraction(1)},
    shown=("dBm",),
    example="-82 dBm",
    largest=(2, "dBm"),
    signed=True,
)
LENGTH = Quantity(
    noun="a length",
    units={"m": Fraction(1), "cm": Fraction(1, 100), "km": Fraction(1000)},
    shown=("m", "cm", "km"),
    example="8 m",
    largest=(5, "m"),
)


def parse_time_s(value: object) -> float:
    """Parse a time such as "10 s" or "1.5 ms" into seconds.

    Raises:
        UnitError: not a time, negative, not finite, or above 1e9 s.
    """
    return float(_parse(value, TIME))


def parse_time_ns(value: object) -> int:
    """Parse a time such as "20 us" into nanoseconds.

    Raises:
        UnitError: as `parse_time_s`, and if the time is not a whole number of nanoseconds.
    """
    return _whole(value, _parse(value, TIME) * NS_PER_S, "nanoseconds")


def parse_rate_bps(value: object) -> int:
    """Parse a rate such as "5.5 Mb/s" into bits per second.

    Raises:
        UnitError: not a rate, negative, not finite, above 1e12 b/s, or not a whole number of bits
            per second.
    """
    return _whole(value, _parse(value, RATE), "bits per second")


def parse_size_bytes(value: object) -> int:
    """Parse a size such as "30 kB" (30000) or "64 KiB" (65536) into bytes.

    Raises:
        UnitError: not a size, negative, not finite, above 1e15 bytes, or not a whole number of
            bytes.
    """
    return _whole(value, _parse(value, SIZE), "bytes")


def parse_mean_size_bytes(value: object) -> float:
    """Parse a mean size into bytes, which need not be whole.

    Raises:
        UnitError: not a size, negative, not finite, or above 1e15 bytes.
    """
    return float(_parse(value, SIZE))


def parse_percent(value: object) -> float:
    """Parse a percentage such as "2 %" into a fraction (0.02).

    Raises:
        UnitError: not a percentage, negative, not finite, or above 1e6 %.
    """
    return float(_parse(value, PERCENT))


def parse_decibels(value: object) -> float:
    """Parse decibels such as "25 dB".

    Raises:
        UnitError: not decibels, negative, not finite, or above 100 dB.
    """
    return float(_parse(value, DECIBELS))


def parse_power_dbm(value: object) -> float:
    """Parse a power such as "-82 dBm" into dBm.

    Raises:
        UnitError: not a power, not finite, or further from 0 than 100 dBm.
    """
    return float(_parse(value, POWER))


def parse_length_m(value: object) -> float:
    """Parse a length such as "8 m" into metres.

    Raises:
        UnitError: not a length, negative, not finite, or above 100 km.
    """
    return float(_parse(value, LENGTH))


def format_time_ns(time_ns: int, digits: int | None = None) -> str:
    """Format a time: 1500000 is "1.5 ms". Exact, or rounded to `digits` significant digits."""
    return _format(Fraction(time_ns, NS_PER_S), TIME, ("s", "ms", "us", "ns"), digits)


def format_time_s(time_s: float, digits: int | None = None) -> str:
    """Format a time in seconds. Exact, or rounded to `digits` significant digits."""
    return _format(Fraction(time_s), TIME, ("s", "ms", "us", "ns"), digits)


def format_rate(rate_bps: float, digits: int | None = None) -> str:
    """Format a rate in bits per second: 5500000 is "5.5 Mb/s"."""
    return _format(Fraction(rate_bps), RATE, ("Gb/s", "Mb/s", "kb/s", "b/s"), digits)


def format_size(size_bytes: float, digits: int | None = None) -> str:
    """Format a size in bytes, with decimal prefixes: 30000 is "30 kB"."""
    return _format(Fraction(size_bytes), SIZE, ("GB", "MB", "kB", "B"), digits)


def _parse(value: object, quantity: Quantity) -> Fraction:
    """Return the value in the base unit of `quantity`, exactly."""
    units = ", ".join(quantity.shown)
    if isinstance(value, int | float) and not isinstance(value, bool):
        hint = f'give {quantity.noun} with its unit, such as "{quantity.example}"'
        raise UnitError(f"{value!r} is a bare number; {hint}; allowed units: {units}")
    if not isinstance(value, str):
        raise UnitError(
            f'expected {quantity.noun} as text, such as "{quantity.example}"; '
            f"allowed units: {units}"
        )
    return _read(value, quantity)


# The web page parses the same texts repeatedly, and fractions are slow.
@lru_cache(maxsize=4096)
def _read(value: str, quantity: Quantity) -> Fraction:
    """Return the value of a text in the base unit of `quantity`, exactly."""
    units = ", ".join(quantity.shown)
    if _NOT_FINITE.fullmatch(value):
        raise UnitError(
            f'"{value}" is not finite; allowed: {quantity.noun} such as "{quantity.example}"'
        )
    split = _SPLIT.fullmatch(value)
    if split is None:
        raise UnitError(
            f'"{value}" is not {quantity.noun}; '
            f'allowed: a number and one of {units}, such as "{quantity.example}"'
        )
    number, unit = split.groups()
    if not unit:
        raise UnitError(
            f'"{value}" has no unit; '
            f'allowed: a number and one of {units}, such as "{quantity.example}"'
        )
    if unit not in quantity.units:
        raise UnitError(
            f'"{value}" is not {quantity.noun}: "{unit}" is not one of its units; '
            f'allowed: {units}, such as "{quantity.example}"'
        )
    if number.startswith("-") and not quantity.signed:
        raise UnitError(f'"{value}" is negative; allowed: {quantity.noun} of 0 or more')
    # The exponent is checked first: "1e999999999 s" must not be expanded into that many digits.
    decimal = Decimal(number)
    exponent, largest_unit = quantity.largest
    digits = 0 if decimal == 0 else decimal.adjusted()
    if digits < -40:
        raise UnitError(f'"{value}" is absurdly small; allowed: 0, or more than 1e-40 {unit}')
    if digits > 40 or abs(Fraction(decimal)) * quantity.units[unit] > quantity.most:
        least = f"-1e{exponent} to " if quantity.signed else "up to "
        raise UnitError(
            f'"{value}" is absurdly large; '
            f"allowed: {quantity.noun} of {least}1e{exponent} {largest_unit}"
        )
    return Fraction(decimal) * quantity.units[unit]


def _whole(value: object, number: Fraction, unit: str) -> int:
    if number.denominator != 1:
        raise UnitError(f'"{value}" is not a whole number of {unit}; allowed: whole {unit}')
    return number.numerator


def _format(value: Fraction, quantity: Quantity, units: tuple[str, ...], digits: int | None) -> str:
    # The largest unit in which the number is at least 1, or the smallest unit.
    unit = next((unit for unit in units if abs(value) >= quantity.units[unit]), units[-1])
    if value == 0:
        unit = units[0] if quantity is TIME else units[-1]
    number = value / quantity.units[unit]
    if digits is not None:
        decimal = Decimal(f"{float(number):.{digits}g}")
    else:
        decimal = Decimal(number.numerator) / Decimal(number.denominator)
    text = f"{decimal:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return f"{text} {unit}"

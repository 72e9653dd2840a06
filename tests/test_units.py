"""Quantities: valid and invalid texts, and that written quantities can be read again."""

import re
from collections.abc import Callable
from fractions import Fraction

import pytest
from airtcp import units
from airtcp.exceptions import UnitError
from hypothesis import given
from hypothesis import strategies as st

#: The value of each text, by the function that reads it.
READ: dict[Callable[[object], float], dict[str, float]] = {
    units.parse_time_ns: {
        "20 us": 20_000, "20us": 20_000, "  20   us ": 20_000, "20 µs": 20_000, "20 μs": 20_000,
        "0 s": 0, "1 ns": 1, "0.1 us": 100, "102.4 ms": 102_400_000, "1.5e-3 s": 1_500_000,
        "1e9 s": 10**18, "5 sec": 5 * 10**9, "1 second": 10**9, "10 seconds": 10**10,
        "+3 s": 3 * 10**9, "2 min": 120 * 10**9, "1 minute": 60 * 10**9, ".5 h": 1800 * 10**9,
        "0.5 hours": 1800 * 10**9,
        # 1.1 s is not a binary fraction and still a whole number of nanoseconds.
        "1.1 s": 1_100_000_000, "1.000000001 s": 1_000_000_001,
    },
    units.parse_time_s: {"20 us": 20e-6, "1.1 s": 1.1, "2 min": 120.0},
    units.parse_rate_bps: {
        "11 Mb/s": 11_000_000, "5.5 Mb/s": 5_500_000, "5.5 Mbit/s": 5_500_000, "1 Gb/s": 10**9,
        "300 b/s": 300, "300 bit/s": 300, "64 kb/s": 64_000, "54 Mbps": 54_000_000,
        "300 kbps": 300_000,
    },
    units.parse_size_bytes: {
        "30 kB": 30_000, "64 KiB": 65_536, "1 MB": 10**6, "1 MiB": 2**20, "1 GB": 10**9,
        "1 GiB": 2**30, "1e15 B": 10**15, "0 B": 0, "1.5 kB": 1_500, "1460 bytes": 1_460,
        "160 b": 20, "160 bit": 20, "8 bits": 1, "1 byte": 1,
    },
    # A mean need not be whole.
    units.parse_mean_size_bytes: {"1.5 kB": 1_500, "30.0005 kB": 30_000.5},
    units.parse_percent: {"2 %": 0.02, "2.5%": 0.025},
}  # fmt: skip


@pytest.mark.parametrize("parse", READ, ids=lambda one: one.__name__)
def test_quantities_are_exact(parse: Callable[[object], float]) -> None:
    assert {text: parse(text) for text in READ[parse]} == READ[parse]


@pytest.mark.parametrize(("parse", "value", "message"), [
    (units.parse_time_ns, 20, '20 is a bare number; give a time with its unit, such as "20 us"'),
    (units.parse_time_ns, 0, "0 is a bare number"),
    (units.parse_rate_bps, 11e6, "is a bare number; give a rate with its unit"),
    (units.parse_time_ns, "20", '"20" has no unit'),
    (units.parse_time_ns, "20 kB", '"kB" is not one of its units'),
    (units.parse_rate_bps, "11 mb/s", '"mb/s" is not one of its units'),
    (units.parse_rate_bps, "11 MB/s", '"MB/s" is not one of its units'),
    (units.parse_size_bytes, "30 KB", '"KB" is not one of its units'),
    (units.parse_size_bytes, "10 s", '"s" is not one of its units'),
    (units.parse_percent, 0.02, "0.02 is a bare number"),
    (units.parse_time_ns, "-1 us", '"-1 us" is negative'),
    (units.parse_time_ns, "inf s", '"inf s" is not finite'),
    (units.parse_time_ns, "nan s", '"nan s" is not finite'),
    (units.parse_time_ns, "1e400 s", "absurdly large; allowed: a time of up to 1e9 s"),
    (units.parse_time_ns, "1e999999999999 s", "absurdly large"),
    (units.parse_time_ns, "1e-999999999999 s", "absurdly small"),
    (units.parse_time_ns, "1.000000001e9 s", "absurdly large"),
    (units.parse_size_bytes, "1.1e15 B", "absurdly large; allowed: a size of up to 1e15 B"),
    (units.parse_time_ns, "0.5 ns", "not a whole number of nanoseconds"),
    (units.parse_size_bytes, "3 b", "not a whole number of bytes"),
    (units.parse_rate_bps, "0.5 b/s", "not a whole number of bits per second"),
    (units.parse_time_ns, "twenty us", '"twenty us" is not a time'),
    (units.parse_time_ns, "", '"" is not a time'),
    (units.parse_time_ns, "1,5 s", '"1,5 s" is not a time'),
    (units.parse_time_ns, "1 2 s", '"1 2 s" is not a time'),
    (units.parse_time_ns, True, "expected a time as text"),
    (units.parse_time_ns, None, "expected a time as text"),
    (units.parse_time_ns, ["20 us"], "expected a time as text"),
])  # fmt: skip
def test_what_is_refused(parse, value: object, message: str) -> None:
    with pytest.raises(UnitError, match=re.escape(message)):
        parse(value)


@given(st.integers(0, 10**12))
def test_quantities_round_trip(number: int) -> None:
    assert units.parse_time_ns(units.format_time_ns(10**6 * number)) == 10**6 * number
    assert units.parse_time_ns(units.format_time_ns(number)) == number
    assert units.parse_rate_bps(units.format_rate(number)) == number
    assert units.parse_size_bytes(units.format_size(number)) == number


NANOSECONDS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}


@given(st.decimals(0, 10**6, places=3, allow_nan=False), st.sampled_from([*NANOSECONDS]))
def test_any_decimal_is_read_exactly_or_refused(number, unit: str) -> None:
    exact = Fraction(number) * NANOSECONDS[unit]
    if exact > 10**18 or exact.denominator != 1:
        with pytest.raises(UnitError):
            units.parse_time_ns(f"{number} {unit}")
    else:
        assert units.parse_time_ns(f"{number} {unit}") == exact


@given(st.text(max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Only UnitError is raised, and texts that match the published pattern have the right form."""
    quantities = [
        (units.parse_time_s, units.TIME),
        (units.parse_rate_bps, units.RATE),
        (units.parse_mean_size_bytes, units.SIZE),
        (units.parse_percent, units.PERCENT),
    ]
    for parse, quantity in quantities:
        try:
            parse(text)
        except UnitError:
            continue
        assert re.fullmatch(quantity.pattern, text)


@pytest.mark.parametrize(("shown", "expected"), [
    (units.format_time_ns(0), "0 s"),
    (units.format_time_ns(1_500_000), "1.5 ms"),
    (units.format_time_ns(999), "999 ns"),
    (units.format_time_ns(3_600_000_000_000), "3600 s"),
    (units.format_time_s(0.1095123, digits=3), "110 ms"),
    (units.format_time_s(2.5), "2.5 s"),
    (units.format_rate(5_500_000), "5.5 Mb/s"),
    (units.format_rate(2_327_860.3, digits=3), "2.33 Mb/s"),
    (units.format_rate(0), "0 b/s"),
    (units.format_size(30_000), "30 kB"),
    (units.format_size(1460), "1.46 kB"),
    (units.format_size(12), "12 B"),
])  # fmt: skip
def test_how_quantities_are_shown(shown: str, expected: str) -> None:
    assert shown == expected

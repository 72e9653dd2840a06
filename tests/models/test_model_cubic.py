"""RFC 9438, Tables 1 and 2, to the printed digit."""

import pytest
from airtcp.models.cubic import average_window, reno_window

# p; Reno; CUBIC with C = 0.04, 0.4 and 4, in segments. Some cells are truncated, not rounded.
TABLES = {
    0.1: [
        (1e-2, 12, 12, 12, 12),
        (1e-3, 38, 38, 38, 59),
        (1e-4, 120, 120, 187, 333),
        (1e-5, 379, 593, 1054, 1874),
        (1e-6, 1200, 3332, 5926, 10538),
        (1e-7, 3795, 18740, 33325, 59261),
        (1e-8, 12000, 105383, 187400, 333250),
    ],
    0.01: [
        (1e-2, 12, 12, 12, 12),
        (1e-3, 38, 38, 38, 38),
        (1e-4, 120, 120, 120, 120),
        (1e-5, 379, 379, 379, 379),
        (1e-6, 1200, 1200, 1200, 1874),
        (1e-7, 3795, 3795, 5926, 10538),
        (1e-8, 12000, 18740, 33325, 59261),
    ],
}


@pytest.mark.parametrize("rtt_s", TABLES)
def test_the_mean_windows_are_those_of_the_tables(rtt_s: float) -> None:
    for p, reno, *cubic in TABLES[rtt_s]:
        values = [reno_window(p), *(average_window(p, rtt_s, c) for c in (0.04, 0.4, 4.0))]
        for value, printed in zip(values, [reno, *cubic], strict=True):
            assert printed in (int(value), round(float(value))), (rtt_s, p, printed, value)
